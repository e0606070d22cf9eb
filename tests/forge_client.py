"""A few lines to ask a forge something in process, for the forge's own tests."""

from __future__ import annotations

import json
import re
from typing import Any

from markers.forge import seed
from markers.forge.app import Forge
from markers.forge.values import Answer

THREAD = "/repos/acme/widgets/issues/12/comments"
BY_ID = "/repos/acme/widgets/issues/comments"
HOST = "forge.example"


def ask(
    forge: Forge,
    method: str,
    target: str,
    body: Any = None,
    *,
    token: str | None = seed.BOT_TOKEN,
    raw: bytes | None = None,
    headers: dict[str, str | None] | None = None,
) -> Answer:
    """Send one request; a header of value None is left out."""
    given: dict[str, str | None] = {"User-Agent": "test", "Host": HOST}
    if token:
        given["Authorization"] = f"Bearer {token}"
    given |= headers or {}
    sent = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
    return forge.handle(
        method, target, {name: it for name, it in given.items() if it is not None}, sent
    )


def data(answer: Answer) -> Any:
    """The JSON of an answer."""
    return json.loads(answer.body)


def message(answer: Answer) -> str:
    """What an error document says."""
    return str(data(answer)["message"])


def links(answer: Answer) -> dict[str, str]:
    """The ``Link`` header, by relation."""
    found = re.findall(r'<([^>]+)>; rel="([a-z]+)"', answer.headers.get("Link", ""))
    return {rel: url for url, rel in found}

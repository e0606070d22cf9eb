"""The parts of GitHub's JSON answers, each read into what the model has a word for.

What may live here: pure functions from one parsed value to one of ours; what is not of the expected
shape raises ``Unlike``.  What may not: whole answers (``wire``).  GitHub's oddities are read
leniently where the model has a word for them: no user, no body, no association.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..model import Account, Comment
from .interface import Request
from .quoting import told

LONGEST_NAME = 100
"""How much of an account's or app's name is kept, in characters; GitHub's own are far shorter."""
LONGEST_URL = 2000

_NODE_ID = re.compile(r"[\w=+/:-]{1,200}", re.ASCII)
_SURROGATES = re.compile("[\ud800-\udfff]")


class Unlike(ValueError):
    """The answer is not of the expected shape; the text says where."""


def comment_of(item: Any, request: Request) -> Comment:
    """A comment of a listing or alone."""
    fields = fields_of(item)
    return Comment(
        id=id_of(fields, "id"),
        body=body_of(fields),
        html_url=told(text_of(fields.get("html_url"), "html_url"), request, LONGEST_URL),
        issue_url=text_of(fields.get("issue_url"), "issue_url"),
        created_at=_moment(fields, "created_at"),
        updated_at=_moment(fields, "updated_at"),
        **authorship_of(fields, request),
        minimized=fields["minimized"] not in (None, False) if "minimized" in fields else None,
        node_id=_node_id(fields.get("node_id")),
    )


def authorship_of(fields: Mapping[str, Any], request: Request) -> dict[str, Any]:
    """Whose it is, by the names of the model's fields."""
    return {
        "author": _author(fields.get("user"), request),
        "association": _name(fields.get("author_association"), request) or "",
        "app": _slug(fields.get("performed_via_github_app"), request),
    }


def body_of(fields: Mapping[str, Any]) -> str:
    """The text; what has none is empty."""
    return text_of("" if fields.get("body") is None else fields["body"], "body")


def fields_of(item: Any) -> Mapping[str, Any]:
    """The members of an object."""
    if not isinstance(item, dict):
        raise Unlike(f"{type(item).__name__} where an object belongs")
    return item


def count_of(value: Any) -> int | None:
    """A number that is not negative; None for anything else."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**63 else None


def id_of(fields: Mapping[str, Any], name: str) -> int:
    """A number that names something."""
    value = count_of(fields.get(name))
    if not value:
        raise Unlike(f"{name} is missing or no positive number")
    return value


def text_of(value: Any, name: str) -> str:
    """A string that can be encoded: half a surrogate pair is shown as U+FFFD."""
    if not isinstance(value, str):
        raise Unlike(f"{name} is missing or no text")
    return value if value.isascii() else _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", value)


def _moment(fields: Mapping[str, Any], name: str) -> str:
    """An ISO 8601 time with a zone, as GitHub wrote it."""
    value = fields.get(name)
    try:
        zoned = isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        zoned = False
    if not isinstance(value, str) or not zoned:
        raise Unlike(f"{name} is missing or no time with a zone")
    return value


def _author(user: Any, request: Request) -> Account | None:
    """The author; None for a deleted account, which has no user or one without id."""
    try:
        return account_of(fields_of(user), "id", request)
    except Unlike:
        return None


def account_of(fields: Mapping[str, Any], key: str, request: Request) -> Account:
    """An account whose id is under *key*."""
    login = told(text_of(fields.get("login"), "login"), request, LONGEST_NAME)
    return Account(id=id_of(fields, key), login=login)


def _slug(app: Any, request: Request) -> str | None:
    return _name(app.get("slug"), request) if isinstance(app, dict) else None


def _node_id(value: Any) -> str | None:
    """An opaque name that is only ever sent back; an odd one counts as missing."""
    return value if isinstance(value, str) and _NODE_ID.fullmatch(value) else None


def _name(value: Any, request: Request) -> str | None:
    """A word that is shown and compared, as ``told``: names end up in results and the journal."""
    return told(value, request, LONGEST_NAME) if isinstance(value, str) else None

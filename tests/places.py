"""An issue of its own on some GitHub-like server: what the behaviour suite over all servers needs.

Beside our own eyes there are plain ones: ``told`` reads the thread, and ``say``, ``change`` and
``remove`` act on it, without any of our code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import foreign
import pytest
from worlds import Desk

from markers.forge import Forge, seed, serve
from markers.model import Repo
from markers.testing import ForgeSender
from markers.transport.interface import Sender
from markers.transport.rest import HttpxSender

EMULATE = pytest.param("emulate", marks=pytest.mark.needs("emulate"))
SERVERS = ("forge in process", "forge over REST", EMULATE)
SOCKETS = ("forge over REST", EMULATE)
STRANGERS = {"emulate": foreign.LEE}
NOBODIES = {"emulate": foreign.NOBODY}
TOKENS = {"emulate": foreign.PAT}


class Place(Desk):
    """One fresh issue; time is the machine's own, since a foreign process keeps it."""

    def __init__(self, server: str, url: str, tmp: Path, stack: ExitStack) -> None:
        super().__init__(tmp, stack)
        self.server = server
        self.url = url
        self.repo = Repo(url, *seed.REPO.split("/"))
        self.token = TOKENS.get(server, seed.PAT_TOKEN)
        self.stranger = STRANGERS.get(server, seed.LEE_TOKEN)
        self.nobody = NOBODIES.get(server, "forge-nobody")
        self.issue = self._open()

    def _open(self) -> int:
        status, made, _ = self.ask("POST", self._repository("/issues"), {"title": "A place"})
        assert status == 201
        return int(made["number"])

    def _repository(self, path: str) -> str:
        return f"{self.url}/repos/{seed.REPO}{path}"

    def _comments(self) -> str:
        return self._repository(f"/issues/{self.issue}/comments")

    def ask(
        self, method: str, url: str, document: object = None, *, token: str = ""
    ) -> tuple[int, Any, bytes]:
        """One plain request, as the trusted account unless told otherwise."""
        return foreign.ask(method, url, document, token=token or self.token)

    def sender(self) -> Sender:
        """The real client."""
        return HttpxSender()

    @property
    def plan(self) -> str:
        """The plan's marker on this issue."""
        return f"<!-- plan-issue-{self.issue} -->"

    def told(self) -> list[dict[str, Any]]:
        """The thread as it is now; up to 1,000 comments."""
        found: list[dict[str, Any]] = []
        for page in range(1, 11):
            _, more, _ = self.ask("GET", f"{self._comments()}?per_page=100&page={page}")
            found += more
            if len(more) < 100:
                break
        return found

    def bodies(self) -> list[str]:
        """The texts of the thread."""
        return [comment["body"] for comment in self.told()]

    def say(self, body: str, *, token: str = "") -> int:
        """Somebody comments; the answer is the id."""
        status, made, _ = self.ask("POST", self._comments(), {"body": body}, token=token)
        assert status == 201
        return int(made["id"])

    def change(self, comment_id: int, body: str) -> None:
        """Somebody edits."""
        at = self._repository(f"/issues/comments/{comment_id}")
        assert self.ask("PATCH", at, {"body": body})[0] == 200

    def remove(self, comment_id: int) -> None:
        """Somebody deletes."""
        assert self.ask("DELETE", self._repository(f"/issues/comments/{comment_id}"))[0] == 204


class NearPlace(Place):
    """A place in a forge in this process."""

    def __init__(self, server: str, tmp: Path, stack: ExitStack) -> None:
        self.forge = Forge.open()
        stack.callback(self.forge.close)
        super().__init__(server, "http://forge.invalid", tmp, stack)

    def ask(
        self, method: str, url: str, document: object = None, *, token: str = ""
    ) -> tuple[int, Any, bytes]:
        """One request without a socket."""
        headers = {"Authorization": f"Bearer {token or self.token}", "User-Agent": "test"}
        body = b"" if document is None else json.dumps(document).encode()
        answer = self.forge.handle(method, url, headers, body)
        return answer.status, json.loads(answer.body) if answer.body else None, answer.body

    def sender(self) -> Sender:
        """No socket."""
        return ForgeSender(self.forge)


@pytest.fixture(scope="session")
def emulate_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One emulate for all tests of this process."""
    with foreign.emulate(tmp_path_factory.mktemp("emulate")) as url:
        yield url


def _over_socket(request: pytest.FixtureRequest, tmp: Path, stack: ExitStack) -> Place:
    if request.param == "emulate":
        return Place("emulate", request.getfixturevalue("emulate_url"), tmp, stack)
    forge = Forge.open()
    stack.callback(forge.close)
    url = stack.enter_context(serve(forge)).url
    return Place(request.param, url, tmp, stack)


@pytest.fixture(params=SERVERS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A fresh issue, once on each server."""
    with ExitStack() as stack:
        if request.param == "forge in process":
            yield NearPlace(request.param, tmp_path, stack)
        else:
            yield _over_socket(request, tmp_path, stack)


@pytest.fixture(params=SOCKETS)
def far_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A fresh issue on each server that another process can reach."""
    with ExitStack() as stack:
        yield _over_socket(request, tmp_path, stack)

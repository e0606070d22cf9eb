"""A forge, a way to reach it and a journal: what the behaviour suite runs in.

Each way in ``WAYS`` is a real implementation of the transport: in process without a socket, and
REST over loopback.  Time is a ``FakeClock`` that both ends share.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from markers import clock, reading, writer
from markers.codec import derive
from markers.contract import Contract, load
from markers.errors import MarkersError
from markers.forge import seed
from markers.forge.app import Forge
from markers.forge.server import ForgeServer
from markers.journal.sqlite import SqliteJournal
from markers.model import Marker, ReadResult, Repo, Thread, WriteResult
from markers.setup import Setup, Timing
from markers.testing import ForgeSender
from markers.transport.api import GitHub
from markers.transport.interface import Sender
from markers.transport.rest import HttpxSender
from markers.writer import Order

WAYS = ("in-process", "rest")
REPO = seed.REPO
ISSUE = seed.ISSUE
PULL = seed.PULL
PLAN = f"<!-- plan-issue-{ISSUE} -->"
CONTRACT: Contract = load()


class Desk:
    """As many writers as a test wants, at one issue of one server.

    *issue* is the number meant where a test names none; *token* that of a trusted account.
    """

    url: str
    repo: Repo
    issue: int
    token: str = seed.PAT_TOKEN

    def __init__(self, tmp: Path, stack: ExitStack) -> None:
        self.tmp = tmp
        self.stack = stack
        self._setups: dict[tuple[str, str], Setup] = {}

    def sender(self) -> Sender:
        """A new line to the server."""
        raise NotImplementedError

    def setup(self, token: str | None = None, journal: str = "one", **changes: Any) -> Setup:
        """A writer's pieces; the same *journal* name is the same file."""
        token = token or self.token
        made = self._setups.get((token, journal))
        if made is None:
            made = self._setups[token, journal] = self._make(token, journal)
        return replace(made, **changes)

    def _make(self, token: str, journal: str) -> Setup:
        connection = GitHub(self.sender(), self.url, token, f"fp-{token}")
        self.stack.callback(connection.close)
        opened: list[SqliteJournal] = []

        def open_journal() -> SqliteJournal:
            if not opened:
                opened.append(SqliteJournal(self.tmp / f"{journal}.sqlite3"))
                self.stack.callback(opened[0].close)
            return opened[0]

        timing = Timing(paced=False)
        return Setup(
            contract=CONTRACT, connection=connection, open_journal=open_journal, timing=timing
        )

    def marker(self, family: str = "plan-issue", number: int = 0, **params: str) -> Marker:
        """A marker of the shipped contract."""
        return derive(CONTRACT.family(family), number or self.issue, params)

    def thread(self, number: int = 0) -> Thread:
        """A thread of the repository."""
        return Thread(self.repo, number or self.issue)

    def order(
        self,
        payload: str = "",
        family: str = "plan-issue",
        number: int = 0,
        params: dict[str, str] | None = None,
        **more: Any,
    ) -> Order:
        """An order for the repository."""
        return Order(
            thread=more.pop("thread", self.thread(number)),
            family=CONTRACT.family(family),
            marker=self.marker(family, number, **(params or {})),
            payload=payload,
            **more,
        )

    def write(self, payload: str, *, setup: Setup | None = None, **order: Any) -> WriteResult:
        """Write as the trusted account unless told otherwise."""
        return writer.write(setup or self.setup(), self.order(payload, **order))

    def fails(self, payload: str, *, setup: Setup | None = None, **order: Any) -> MarkersError:
        """Write and expect an error; the answer is that error, with its result."""
        with pytest.raises(MarkersError) as caught:
            self.write(payload, setup=setup, **order)
        return caught.value

    def delete(self, *, setup: Setup | None = None, **order: Any) -> WriteResult:
        """Take back a marker."""
        return writer.delete(setup or self.setup(), self.order(**order))

    def read(self, *, setup: Setup | None = None, **of: Any) -> ReadResult:
        """Read the governing comment."""
        order = self.order(**of)
        return reading.read(setup or self.setup(), order.thread, order.marker)


class World(Desk):
    """One forge and as many writers as a test wants."""

    def __init__(self, way: str, tmp: Path, stack: ExitStack) -> None:
        super().__init__(tmp, stack)
        self.way = way
        self.clock = stack.enter_context(clock.use(clock.FakeClock()))
        self.forge = Forge.open(clock=clock.now)
        stack.callback(self.forge.close)
        self.forge.sleep = lambda _seconds: None
        self.url = "http://forge.invalid"
        if way == "rest":
            self.url = stack.enter_context(ForgeServer(self.forge, hang=0.2)).url
        self.repo = Repo(self.url, *REPO.split("/"))
        self.issue = ISSUE

    def sender(self) -> Sender:
        """Straight into the forge, or over the socket."""
        return ForgeSender(self.forge) if self.way == "in-process" else HttpxSender()

    def bodies(self, number: int = ISSUE) -> list[str]:
        """What is on a thread now."""
        return [comment.body for comment in self.forge.comments(REPO, number)]

    def carrying(self, marker: str = PLAN, number: int = ISSUE) -> list[int]:
        """Ids of the comments whose body begins with *marker*."""
        return [c.id for c in self.forge.comments(REPO, number) if c.body.startswith(marker)]

    def say(self, body: str, author: str | None = "pat", number: int = ISSUE) -> int:
        """Somebody comments; the answer is the id."""
        return self.forge.comment(REPO, number, author, body).id

    @property
    def sent(self) -> list[str]:
        """Methods of the writes that the server saw."""
        return [entry.method for entry in self.forge.writes]


@pytest.fixture(params=WAYS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A fresh world, once for each way to reach it."""
    with ExitStack() as stack:
        yield World(request.param, tmp_path, stack)


@pytest.fixture
def near(tmp_path: Path) -> Iterator[World]:
    """A fresh world in process, for rules that do not depend on the wire."""
    with ExitStack() as stack:
        yield World("in-process", tmp_path, stack)


@contextmanager
def memory_folder() -> Iterator[Path]:
    """A folder in memory where there is one, for tests that make journals by the hundred."""
    shared = Path("/dev/shm")  # noqa: S108 - only the parent of a folder of our own
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as made:
        yield Path(made)

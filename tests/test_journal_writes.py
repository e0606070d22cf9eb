"""A journal that goes away in the middle of a write: what the write says, and what settles it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from databases import DATABASES
from worlds import PLAN, World, near

from bench.postgres import Cluster, cluster
from markers import writer
from markers.clock import Deadline
from markers.errors import MarkersError, NotVerified, Unavailable
from markers.journal import address, postgres, sqlite
from markers.journal.interface import Journal, Kind
from markers.journal.postgres import PostgresJournal
from markers.journal.sqlite import SqliteJournal
from markers.model import Action
from markers.setup import Setup

__all__ = ["near"]
COMMENTS = r"/repos/.*/comments.*"
ENDED = """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""


@pytest.fixture
def ends() -> Iterator[ExitStack]:
    """Closes what a test opened."""
    with ExitStack() as stack:
        yield stack


def journaled(world: World, journal: Journal) -> Setup:
    """A writer's pieces on *journal*."""
    return world.setup(open_journal=lambda: journal)


def settled(setup: Setup) -> list[tuple[str, int | None]]:
    """What ``recover`` makes of the open intents."""
    return [(each.outcome, each.comment_id) for each in writer.recover(setup)]


def outcomes(journal: Journal) -> list[str]:
    """What the log says became of its intents."""
    return [e.record.action for e in journal.entries() if e.record.kind is Kind.OUTCOME]


class TestFile:
    """A SQLite journal that takes the intent and not the outcome."""

    @pytest.mark.parametrize("method", ["PATCH", "POST", "DELETE"])
    def test_what_landed_is_not_said_to_be_unwritten(
        self, near: World, tmp_path: Path, ends: ExitStack, monkeypatch: Any, method: str
    ) -> None:
        """The write says that it landed, its intent stays open, and ``recover`` settles it."""
        monkeypatch.setattr(sqlite, "LEAST_SECONDS", 0.02)
        path = tmp_path / "busy.sqlite3"
        journal = ends.enter_context(closing(SqliteJournal(path, deadline=Deadline(0))))
        setup = journaled(near, journal)
        family = "goal-run-stage" if method == "DELETE" else "plan-issue"
        other = ends.enter_context(closing(sqlite3.connect(path, isolation_level=None)))
        if method != "POST":
            near.say(f"{near.marker(family).text}\n\nBefore.")
        near.forge.on_request(method, COMMENTS, lambda _call: other.execute("BEGIN IMMEDIATE"))
        act = (
            partial(near.delete, family=family) if method == "DELETE" else partial(near.write, "A")
        )
        with pytest.raises(NotVerified) as caught:
            act(setup=setup)
        assert caught.value.result.action is Action.LANDED_UNVERIFIED
        assert "the journal did not take that down" in str(caught.value) or method == "POST"
        assert near.sent == [method]
        other.execute("ROLLBACK")
        assert len(journal.open_intents()) == 1
        near.clock.sleep(60)
        ((outcome, _),) = settled(setup)
        assert outcome == "landed"
        assert journal.verify() == []


@pytest.mark.needs("postgres")
class TestServer:
    """A PostgreSQL that goes away."""

    @pytest.fixture
    def journal(self, tmp_path: Path, ends: ExitStack) -> PostgresJournal:
        """A journal in an empty database."""
        place = address.read(DATABASES.url(tmp_path))
        return ends.enter_context(closing(PostgresJournal(place)))

    @pytest.fixture
    def server(self, ends: ExitStack, monkeypatch: pytest.MonkeyPatch) -> Cluster:
        """A cluster that may be stopped; nobody waits for it."""
        monkeypatch.setattr(postgres, "LEAST_SECONDS", 0.05)
        return ends.enter_context(cluster(fsync="off"))

    def test_a_session_that_ends_under_a_request(
        self, near: World, journal: PostgresJournal, tmp_path: Path
    ) -> None:
        """What became of the request is told to another session: the write ends well."""
        setup = journaled(near, journal)
        near.write("Before.", setup=setup)
        near.forge.on_request("PATCH", COMMENTS, lambda _call: DATABASES.ask(tmp_path, ENDED))
        assert near.write("After.", setup=setup).action is Action.UPDATED
        assert outcomes(journal) == ["created", "updated"]
        assert journal.open_intents() == []

    def test_a_session_that_ends_before_the_request(
        self, near: World, journal: PostgresJournal, tmp_path: Path
    ) -> None:
        """Who lost the lock between intent and request sends nothing, and says so truly."""
        setup = journaled(near, journal)
        near.write("Before.", setup=setup)

        class Cut:
            """The journal, whose session ends right after each intent."""

            def append(self, record: Any, **more: Any) -> Any:
                ref = journal.append(record, **more)
                if record.kind is Kind.INTENT:
                    DATABASES.ask(tmp_path, ENDED)
                return ref

            def __getattr__(self, name: str) -> Any:
                return getattr(journal, name)

        with pytest.raises(Unavailable) as caught:
            near.write("After.", setup=near.setup(open_journal=Cut))
        assert caught.value.reason.code == "lock-lost"
        assert near.sent == ["POST"]
        assert near.bodies() == [f"{PLAN}\n\nBefore."]
        assert (outcomes(journal), journal.open_intents()) == (["created", "unavailable"], [])
        assert near.write("After.", setup=setup).action is Action.UPDATED

    @pytest.mark.parametrize("when", ["before", "under"])
    def test_a_server_that_goes_and_comes_back(
        self, near: World, server: Cluster, ends: ExitStack, when: str
    ) -> None:
        """Without it nothing is written; gone under a write it is settled when it is back."""
        at = address.read(server.url())
        journal = ends.enter_context(closing(PostgresJournal(at, deadline=Deadline(0))))
        setup = journaled(near, journal)
        made = near.write("Before.", setup=setup)
        if when == "before":
            server.stop()
        else:
            near.forge.on_request("PATCH", COMMENTS, lambda _call: server.stop())
        with pytest.raises(MarkersError) as caught:
            near.write("After.", setup=setup)
        landed = when == "under"
        assert (caught.value.action is Action.LANDED_UNVERIFIED) == landed
        assert near.sent == ["POST", "PATCH"][: 1 + landed]
        server.start()
        near.clock.sleep(60)
        assert settled(setup) == [("landed", made.comment_id)][:landed]
        done = near.write("After.", setup=setup).action
        assert done is (Action.UNCHANGED if landed else Action.UPDATED)
        assert journal.verify() == []

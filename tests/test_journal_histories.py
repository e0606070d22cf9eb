"""Any history that a journal can have, step by step."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from journals import ENGINES, INTENT, outcome

from markers import clock
from markers.journal.interface import Record


class Histories(RuleBasedStateMachine):
    """Any history of appends, prunes and reopenings is one whole chain."""

    engine_name = "sqlite"

    @initialize()
    def begin(self) -> None:
        """Start on an empty place."""
        self.ends = ExitStack()
        folder = Path(self.ends.enter_context(tempfile.TemporaryDirectory()))
        self.fake = self.ends.enter_context(clock.use(clock.FakeClock()))
        self.engine = lambda: ENGINES[self.engine_name](folder)
        self.journal = self.engine()
        self.hashes: list[str] = []
        self.open: set[int] = set()

    def teardown(self) -> None:
        """Leave nothing behind."""
        if hasattr(self, "ends"):
            self.journal.close()
            self.ends.close()

    def _append(self, record: Record, body: str | None) -> int:
        ref = self.journal.append(record, replaced=body)
        self.hashes.append(ref.hash)
        assert ref.seq == len(self.hashes)
        self.fake.sleep(1)
        return ref.seq

    @rule(body=st.none() | st.sampled_from(["a", "b"]))
    def intend(self, body: str | None) -> None:
        """Append an intent."""
        self.open.add(self._append(INTENT, body))

    @rule(data=st.data(), body=st.none() | st.sampled_from(["a", "b"]))
    def settle(self, data: st.DataObject, body: str | None) -> None:
        """Append an outcome, of an open intent where there is one."""
        intent = data.draw(st.sampled_from(sorted(self.open) or [99]))
        self._append(outcome(intent), body)
        self.open.discard(intent)

    @rule(age=st.integers(0, 5))
    def prune(self, age: int) -> None:
        """Drop old bodies."""
        self.journal.prune(self.fake.now() - age)

    @rule()
    def reopen(self) -> None:
        """Let go and come back."""
        self.journal.close()
        self.journal = self.engine()

    @invariant()
    def whole(self) -> None:
        """The proof holds, with any head, and the open intents are the open ones."""
        if hasattr(self, "ends"):
            head = self.hashes[len(self.hashes) // 2] if self.hashes else None
            assert self.journal.verify(head) == []
            assert [entry.seq for entry in self.journal.open_intents()] == sorted(self.open)
            assert [entry.hash for entry in self.journal.entries()] == self.hashes


class PostgresHistories(Histories):
    """The same, on PostgreSQL."""

    engine_name = "postgres"


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
TestPostgresHistories = pytest.mark.needs("postgres")(PostgresHistories.TestCase)
TestPostgresHistories.settings = settings(max_examples=10, stateful_step_count=20, deadline=None)

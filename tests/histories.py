"""Histories of a thread: writers, people, faults, lag and deaths, with a model beside them.

The machine runs real writers (with real journals) against the forge in process.  A write may be
disturbed at any of its requests: by a fault before or after its effect, by a person, by another
writer, or by the death of its process.  The model remembers what each write reported; when
everything has settled, what it reported must be true of the server.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from worlds import ISSUE, REPO, World

from markers import writer
from markers.codec import first_line, sha256
from markers.errors import MarkersError
from markers.forge import faults, seed
from markers.forge.faults import Effect
from markers.journal.interface import Journal, Kind
from markers.model import Action, WriteResult
from markers.setup import Setup
from markers.testing import ForgeSender
from markers.transport.api import GitHub
from markers.transport.interface import Request, Response
from markers.writer.recovery import UNKNOWN

UPSERT = "completion-account"
STEPPED = "plan-issue"
RECORD = "design-phase-complete"
FAMILIES = (UPSERT, STEPPED, RECORD)
WRITERS = ("pat on a", "pat on b", "bot on c")
TOKENS = {"pat on a": seed.PAT_TOKEN, "pat on b": seed.PAT_TOKEN, "bot on c": seed.BOT_TOKEN}
UNWRITTEN = frozenset({Action.REFUSED, Action.CONFLICT, Action.DENIED, Action.UNAVAILABLE})
SUCCESS = frozenset({Action.CREATED, Action.UPDATED, Action.POSTED, Action.UNCHANGED})


class Killed(BaseException):
    """The process is dead: nothing of ours catches this."""


@dataclass
class Fate:
    """Counts the steps of one process and ends it at the chosen one; dead processes do nothing."""

    at: int | None = None
    steps: int = 0
    dead: bool = False

    def step(self) -> None:
        """One moment before or after a request or an append."""
        self.steps += 1
        self.dead = self.dead or self.steps == self.at
        if self.dead:
            raise Killed


class MortalSender:
    """A sender whose process may die around each request."""

    def __init__(
        self, real: ForgeSender, fate: Fate, hook: Callable[[], None], journal: Journal
    ) -> None:
        self.real, self.fate, self.hook, self.journal = real, fate, hook, journal

    def send(self, request: Request, *, timeout: float) -> Response:
        """Send one request, with what happens to it; no write goes out without an intent."""
        self.fate.step()
        if request.method != "GET" and not request.url.endswith("/graphql"):
            assert self.journal.open_intents(), f"{request.method} without an intent"
        self.hook()
        answer = self.real.send(request, timeout=timeout)
        self.fate.step()
        return answer

    def close(self) -> None:
        """There is nothing to let go of."""


class MortalJournal:
    """A real journal whose process may die around each append."""

    def __init__(self, real: Any, fate: Fate) -> None:
        self.real, self.fate = real, fate

    def append(self, *args: Any, **named: Any) -> Any:
        """Append, or die before or after it."""
        self.fate.step()
        ref = self.real.append(*args, **named)
        self.fate.step()
        return ref

    def __getattr__(self, name: str) -> Any:
        if self.fate.dead:
            raise Killed
        return getattr(self.real, name)


@dataclass(frozen=True)
class Disturbance:
    """What happens at the *nth* request of a write."""

    nth: int
    kind: str
    detail: int


FAULTS: tuple[Callable[[], Effect], ...] = (
    lambda: faults.status(502),
    lambda: faults.status(502, landed=True),
    lambda: faults.reset(),
    lambda: faults.reset(landed=True),
    lambda: faults.timeout(landed=True),
    lambda: faults.half_json(),
    lambda: faults.secondary(1),
    lambda: faults.secondary(),
    lambda: faults.primary(3),
)
PEOPLE = ("edit", "delete", "plant", "talk", "lock")
DISTURBANCES = st.builds(
    Disturbance,
    st.integers(1, 9),
    st.sampled_from(["fault", "fault", "person", "writer", "death"]),
    st.integers(0, 99),
)


LAGS = (0.0, 0.0, 1.0, 3.0, 5.0)
WAITS = (0.0, 1.0, 20.0, 90.0)
ORDER = {
    "who": st.sampled_from(WRITERS),
    "family": st.sampled_from(FAMILIES),
    "again": st.booleans(),
    "expect": st.sampled_from([None, None, None, "absent", "now"]),
    "take_over": st.booleans(),
}


class Histories(RuleBasedStateMachine):
    """Writers, people and the network; the invariants are checked when all has settled."""

    @initialize()
    def begin(self) -> None:
        """An empty thread, and nobody has written yet."""
        self.stack = ExitStack()
        folder = self.stack.enter_context(tempfile.TemporaryDirectory(dir=_fast_folder()))
        self.world = World("in-process", Path(folder), self.stack)
        self.forge = self.world.forge
        self.texts = 0
        self.depth = 0
        self.reported: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.possible: dict[str, set[str]] = defaultdict(set)
        self.posted: Counter[int] = Counter()
        self.foreign: dict[int, str] = {}
        self.touched: set[int] = set()
        self.interfered: set[str] = set()
        self.edits: Counter[str] = Counter()
        self.overlaps: dict[str, list[str]] = defaultdict(list)

    @rule(**ORDER)
    def write(
        self, who: str, family: str, again: bool, expect: str | None, take_over: bool
    ) -> None:
        """Somebody writes, and nothing comes between."""
        self._write(who, family, again, expect, take_over, [])

    @rule(**ORDER, disturbances=st.lists(DISTURBANCES, min_size=1, max_size=2))
    def disturbed_write(
        self,
        who: str,
        family: str,
        again: bool,
        expect: str | None,
        take_over: bool,
        disturbances: list[Disturbance],
    ) -> None:
        """Somebody writes, and something happens at one of its requests, or at two."""
        self._write(who, family, again, expect, take_over, disturbances)

    @rule(**ORDER, death=st.integers(3, 24), rival=st.integers(1, 4))
    def racing_death(
        self,
        who: str,
        family: str,
        again: bool,
        expect: str | None,
        take_over: bool,
        death: int,
        rival: int,
    ) -> None:
        """A writer dies while another writes the same marker."""
        other = Disturbance(rival, "writer", FAMILIES.index(family))
        self._write(
            who, family, again, expect, take_over, [other, Disturbance(0, "death", death - 1)]
        )

    def _write(
        self,
        who: str,
        family: str,
        again: bool,
        expect: str | None,
        take_over: bool,
        disturbances: list[Disturbance],
    ) -> None:
        text = self._text(again)
        fate = Fate(next((d.detail % 24 + 1 for d in disturbances if d.kind == "death"), None))
        setup = self._mortal(who, fate, disturbances)
        order = self.world.order(
            text, family=family, take_over=take_over, expect=self._expectation(expect, family)
        )
        marker = order.marker.text
        before = {c.id for c in self.forge.comments(REPO, ISSUE)}
        edits, others = self.edits[marker], len(self.overlaps[marker])
        try:
            result = writer.write(setup, order)
        except MarkersError as error:
            self._check_failure(error, before, text)
            if error.action not in UNWRITTEN or error.reason.code == "changed-meanwhile":
                self.possible[marker].add(text)
        except Killed:
            self.possible[marker].add(text)
        else:
            self._believe(result, text, edited=self.edits[marker] != edits, others=others)
        self.overlaps[marker].append(text)
        self.forge.faults.clear()

    def _check_failure(self, error: MarkersError, before: set[int], text: str) -> None:
        """What is said not to be written is not there."""
        assert error.result is not None, error
        assert error.result.action is error.action
        if error.action in UNWRITTEN:
            twins = any("twin-left" in warning for warning in error.result.warnings)
            mine = [
                c.id
                for c in self.forge.comments(REPO, ISSUE)
                if c.id not in before and c.body.endswith(text) and c.id not in self.touched
            ]
            clean = error.reason.code == "changed-meanwhile" or twins or self.depth > 0
            assert clean or not mine or self._by_others(mine), (error.reason, mine)

    def _by_others(self, ids: list[int]) -> bool:
        return all(number in self.posted for number in ids)

    def _believe(self, result: WriteResult, text: str, *, edited: bool, others: int) -> None:
        """Keep what a success said; what others did while it ran may be there as well."""
        marker = str(result.marker)
        assert result.action in SUCCESS
        assert result.comment_id is not None
        assert result.audit is not None
        self.reported[marker].append((text, result.action))
        seen_late = result.action is Action.UNCHANGED and self.forge.lag.seconds > 0
        # "Unchanged" is true of what a lagging listing showed; a write is true of the server.
        kept = self.possible[marker] if seen_late else set()
        self.possible[marker] = {text, *kept, *self.overlaps[marker][others:]}
        if edited:
            self.interfered.add(marker)
        elif not seen_late:
            self.interfered.discard(marker)
            self.touched.discard(result.comment_id)
        if result.family == RECORD:
            self.posted[result.comment_id] += result.action is Action.POSTED

    @rule(what=st.sampled_from(PEOPLE), nth=st.integers(0, 99))
    def person(self, what: str, nth: int) -> None:
        """A person does something between two writes."""
        self._person(what, nth)

    @rule(
        lag=st.sampled_from([0.0, 0.0, 1.0, 3.0, 5.0]), wait=st.sampled_from([0.0, 1.0, 20.0, 90.0])
    )
    def time_passes(self, lag: float, wait: float) -> None:
        """Nothing happens for a while; replicas fall behind, in order, or catch up."""
        self.forge.lag.seconds = lag
        self.world.clock.sleep(wait)

    @rule(who=st.sampled_from(WRITERS), death=st.none() | st.integers(1, 12))
    def recover(self, who: str, death: int | None) -> None:
        """Somebody settles what was left behind on one machine, or dies while at it."""
        with suppress(Killed):
            writer.recover(self._mortal(who, Fate(death), []))

    def _text(self, again: bool) -> str:
        self.texts += not again
        return f"Text {self.texts}.\n"

    def _expectation(self, expect: str | None, family: str) -> str | None:
        if expect != "now":
            return expect
        marker = self.world.marker(family).text
        matching = [
            c.body for c in self.forge.comments(REPO, ISSUE) if first_line(c.body) == marker
        ]
        return sha256(matching[0]) if matching else None

    def _setup(self, who: str) -> Setup:
        return self.world.setup(TOKENS[who], journal=who[-1])

    def _mortal(self, who: str, fate: Fate, disturbances: list[Disturbance]) -> Setup:
        plain = self._setup(who)
        requests = iter(range(1, 10_000))
        todo = {d.nth: d for d in disturbances if d.kind != "death"}

        def hook() -> None:
            found = todo.pop(next(requests), None)
            if found is not None:
                self._disturb(who, found)

        sender = MortalSender(ForgeSender(self.forge), fate, hook, plain.open_journal())
        token = TOKENS[who]
        connection = GitHub(sender, self.world.url, token, f"fp-{token}", max_side_by_side=1)
        self.stack.callback(connection.close)
        journal = MortalJournal(plain.open_journal(), fate)
        return replace(plain, connection=connection, open_journal=lambda: journal)

    def _disturb(self, who: str, what: Disturbance) -> None:
        if what.kind == "fault":
            self.forge.faults.add("*", "", FAULTS[what.detail % len(FAULTS)]())
        elif what.kind == "person":
            self._person(PEOPLE[what.detail % len(PEOPLE)], what.detail)
        elif self.depth == 0:
            other = next(w for w in WRITERS if w[-1] != who[-1])
            self.depth += 1
            self._write(other, FAMILIES[what.detail % 3], False, None, True, [])
            self.depth -= 1

    def _person(self, what: str, nth: int) -> None:
        there = self.forge.comments(REPO, ISSUE)
        if what == "talk":
            self._say(f"Just talk {nth}.\n")
        elif what == "plant":
            self._say(f"{self.world.marker(FAMILIES[nth % 3]).text}\n\nPlanted {nth}.\n")
        elif what == "lock":
            self.forge.lock(REPO, ISSUE, nth % 2 == 0)
        elif there:
            chosen = there[nth % len(there)]
            marker = first_line(chosen.body)
            self.touched.add(chosen.id)
            self.interfered.add(marker)
            self.edits[marker] += 1
            if what == "delete":
                self.forge.delete(chosen.id)
                self.foreign.pop(chosen.id, None)
            else:
                body = f"{marker}\n\nA person wrote {nth}.\n"
                self.forge.edit(chosen.id, body)
                if chosen.id in self.foreign:
                    self.foreign[chosen.id] = body

    def _say(self, body: str) -> None:
        made = self.forge.comment(REPO, ISSUE, "lee", body)
        self.foreign[made.id] = body

    @invariant()
    def nobody_elses_comment_changed(self) -> None:
        """Comments of people who are not ours are as they left them."""
        if hasattr(self, "world"):
            there = {c.id: c.body for c in self.forge.comments(REPO, ISSUE)}
            assert {number: there.get(number) for number in self.foreign} == self.foreign

    def teardown(self) -> None:
        """Let everything settle, then hold the server against what was reported."""
        if not hasattr(self, "world"):
            return
        with self.stack:
            self._settle()
            for family in (UPSERT, STEPPED):
                self._one_match(family)
            self._each_record_once()
            self._each_write_has_its_entries()
            self.nobody_elses_comment_changed()

    def _settle(self) -> None:
        self.forge.faults.clear()
        self.forge.lag.release()
        self.forge.lock(REPO, ISSUE, False)
        for who in WRITERS:
            self.world.clock.sleep(60)
            for settled in writer.recover(self._setup(who)):
                assert settled.outcome != UNKNOWN, settled

    def _own(self, family: str) -> list[tuple[int, str]]:
        marker = self.world.marker(family).text
        return [
            (c.id, c.body)
            for c in self.forge.comments(REPO, ISSUE)
            if first_line(c.body) == marker and c.author is not None and c.author.login != "lee"
        ]

    def _one_match(self, family: str) -> None:
        """One own match, with the text of the write that reported success last."""
        marker = self.world.marker(family).text
        own = self._own(family)
        clean = [pair for pair in own if pair[0] not in self.touched]
        assert len(clean) <= 1, (marker, own)
        if self.reported[marker] and marker not in self.interfered:
            assert len(clean) == 1, (marker, own)
            allowed = {f"{marker}\n\n{text}" for text in self.possible[marker]}
            assert clean[0][1] in allowed, (marker, own, allowed)

    def _each_record_once(self) -> None:
        """Each record that was reported posted is there once."""
        there = {number for number, _ in self._own(RECORD)}
        assert max(self.posted.values(), default=1) <= 1
        for number in self.posted:
            assert number in there or number in self.touched or self.posted[number] == 0

    def _each_write_has_its_entries(self) -> None:
        """Each write that the server took has an intent before it and an outcome after it."""
        for who in WRITERS:
            journal = self._setup(who).open_journal()
            assert journal.verify() == []
            assert journal.open_intents() == []
            entries = list(journal.entries())
            intents = {e.seq for e in entries if e.record.kind is Kind.INTENT}
            closed = {e.record.intent for e in entries if e.record.kind is Kind.OUTCOME} - {None}
            assert closed == intents


def _fast_folder() -> str | None:
    """A folder in memory where there is one: thousands of journals are made."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - only a parent folder

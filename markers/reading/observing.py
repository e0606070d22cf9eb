"""One look at a thread: what is there, who may speak, and what is wrong with what they say.

What may live here: looking, and telling the look's matches apart.  What may not: which comments a
command asks for, and when it looks again (the package itself).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

from .. import readers
from ..memory import Memory
from ..model import Account, Marker, ReadResult, Shape, Thread
from ..payload.problems import Problem
from ..selection import Match, Selection, needs_identity, select, speaking
from ..setup import Setup
from ..thread import Wanted, look
from ..transport import retry
from ..transport.interface import Transport
from .judging import Judge
from .placing import astray
from .results import described

T = TypeVar("T")
Param = Mapping[str, str]

NO_PARAM: Param = MappingProxyType({})


def in_session(setup: Setup, work: Callable[[Transport], T]) -> T:
    """Run *work* with a connection and a deadline of its own; limits are waited out."""
    transport = setup.connection.begin(setup.deadline())
    return retry.rounds(transport.deadline, on_wait=setup.on_wait)(lambda: work(transport))


class Observation:
    """What one look at a thread saw, told apart as it is asked for."""

    def __init__(self, setup: Setup, transport: Transport, thread: Thread, wanted: Wanted) -> None:
        self._setup = setup
        self._thread = thread
        self._judge = Judge(setup.contract, transport.deadline)
        self._memory = Memory(transport, thread, setup.journal_if_any())
        seen = look(transport, thread, wanted)
        self._surface = seen.surface
        self._memory.learn_surface(seen.surface)
        self._memory.learn_repo_id(seen.repo_id)
        self._matches: defaultdict[str, list[Match]] = defaultdict(list)
        for match in sorted(seen.matches, key=lambda match: match.comment.id):
            self._matches[match.marker].append(match)
        self.lines = tuple(sorted(self._matches))
        """The first lines that were found, each once."""
        self._markers = {line: setup.contract.parse(line) for line in self.lines}
        self._selections: dict[str, Selection] = {}
        self._why_not: dict[str, dict[int, str]] = {}

    def selection(self, line: str) -> Selection:
        """Who of those with one first line may speak, and who governs."""
        if line not in self._selections:
            matches = self._matches[line]
            trust = self._setup.trust
            self._selections[line] = select(matches, self._shape(line), trust, self._me(matches))
        return self._selections[line]

    def _shape(self, line: str) -> Shape:
        """How matches are selected; what nothing writes (any more) is read as a log."""
        marker = self._markers.get(line)
        shape = self._setup.contract.family(marker.family).shape if marker else None
        return shape or Shape.POST_NEW

    def _me(self, matches: list[Match]) -> Account | None:
        """Who we are, asked only where it decides what governs, and again before a memory says no.

        One question at most, however many markers depend on it.
        """
        if not needs_identity(matches, self._setup.trust):
            return None
        me = self._memory.me()
        known = {match.comment.author.id for match in matches if match.comment.author}
        return me if me and me.id in known else self._memory.me(fresh=True)

    def view(self, marker: Marker, lines: tuple[str, ...], param: Param = NO_PARAM) -> readers.View:
        """What the family's reader is shown: *marker*, and the further first lines it needs.

        Who may speak is decided once for all of them: we ourselves only where nobody of the first
        tier has any of these lines.
        """
        asked = tuple(dict.fromkeys((marker.text, *lines)))
        matches = [match for line in asked for match in self._matches[line]]
        trusted = _ids(speaking(matches, self._setup.trust, self._me(matches)))
        self._judge_in_order(asked, trusted)
        found = [s for line in asked for s in self._sightings(line, marker, trusted)]
        governing = self.selection(marker.text).governing
        counts = governing is not None and governing.comment.id in trusted
        return readers.View(
            marker=marker,
            contract=self._setup.contract,
            sightings=tuple(sorted(found, key=lambda sighting: sighting.comment.id)),
            governing=governing.comment if governing and counts else None,
            param=param,
        )

    def _sightings(
        self, line: str, marker: Marker, trusted: frozenset[int]
    ) -> Iterator[readers.Sighting]:
        elsewhere = self._astray(self._markers.get(line) or marker)
        for match in self._matches[line]:
            speaks = match.comment.id in trusted
            yield readers.Sighting(
                line=line,
                comment=match.comment,
                trusted=speaks,
                astray=elsewhere,
                problems=self._problems(match, trusted=True) if speaks else None,
            )

    def judge(self, lines: Iterable[str]) -> None:
        """Judge all who may speak under *lines*, before anybody else takes the time for it."""
        asked = tuple(dict.fromkeys(lines))
        trusted = _ids(match for line in asked for match in self.selection(line).trusted)
        self._judge_in_order(asked, trusted)

    def _judge_in_order(self, lines: Iterable[str], trusted: frozenset[int]) -> None:
        """Judge first of each line the one that would govern, then the next one of each."""
        ranked: list[tuple[int, Match]] = []
        for line in lines:
            matches = [match for match in self._matches[line] if match.comment.id in trusted]
            if self._shape(line) is not Shape.UPSERT:
                matches.reverse()
            ranked += enumerate(matches)
        for _, match in sorted(ranked, key=lambda each: each[0]):
            self._problems(match, trusted=True)

    def _problems(self, match: Match, *, trusted: bool) -> tuple[Problem, ...] | None:
        """What is wrong with a match; with what is no marker nothing can be."""
        marker = self._markers[match.marker]
        return self._judge.of(match.comment, marker, trusted=trusted) if marker else ()

    def _astray(self, marker: Marker) -> Problem | None:
        family = self._setup.contract.family(marker.family)
        return astray(marker, family, self._thread, self._surface)

    def governing(self, marker: Marker) -> ReadResult | None:
        """The match that governs, with its body; no other one is judged for it."""
        match = self.selection(marker.text).governing
        return self._result(marker, match, trusted=True, body=True) if match else None

    def results(self, marker: Marker, *, bodies: bool) -> Iterator[ReadResult]:
        """One result a match, ascending by id; the one that governs carries the extras."""
        trusted = _ids(self.selection(marker.text).trusted)
        for match in self._matches[marker.text]:
            speaks = match.comment.id in trusted
            yield self._result(marker, match, trusted=speaks, body=bodies)

    def _whys(self, line: str) -> dict[int, str]:
        """Why each match that does not govern does not, by comment id."""
        if line not in self._why_not:
            extras = self.selection(line).extras
            self._why_not[line] = {extra.id: extra.why for extra in extras}
        return self._why_not[line]

    def _result(self, marker: Marker, match: Match, *, trusted: bool, body: bool) -> ReadResult:
        selection = self.selection(marker.text)
        return described(
            marker,
            match.comment,
            trusted=trusted,
            why=self._whys(marker.text).get(match.comment.id),
            extras=selection.extras if match is selection.governing else (),
            astray=self._astray(marker),
            problems=self._problems(match, trusted=trusted),
            body=body,
        )


def _ids(matches: Iterable[Match]) -> frozenset[int]:
    return frozenset(match.comment.id for match in matches)

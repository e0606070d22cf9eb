"""One look at a thread: what is there, who may speak, and what is wrong with what they say.

What may live here: looking, and telling the look's matches apart.  What may not: which comments a
command asks for, and when it looks again (the package itself).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

from .. import readers
from ..memory import Memory
from ..model import Account, Comment, Marker, ReadResult, Shape, Thread
from ..payload.problems import Problem
from ..selection import Match, Selection, needs_identity, select
from ..setup import Setup
from ..thread import Wanted, look
from ..transport import retry
from ..transport.interface import Transport
from ..validators import judge
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
        self._deadline = transport.deadline
        self._memory = Memory(transport, thread, setup.journal_if_any())
        seen = look(transport, thread, wanted)
        self._memory.learn_surface(seen.surface)
        self._memory.learn_repo_id(seen.repo_id)
        self._matches: defaultdict[str, list[Match]] = defaultdict(list)
        for match in sorted(seen.matches, key=lambda match: match.comment.id):
            self._matches[match.marker].append(match)
        self.lines = tuple(sorted(self._matches))
        """The first lines that were found, each once."""
        self._selections: dict[str, Selection] = {}
        self._problems: dict[int, tuple[Problem, ...]] = {}

    def selection(self, line: str) -> Selection:
        """Who of those with one first line may speak, and who governs."""
        if line not in self._selections:
            matches = self._matches[line]
            trust = self._setup.trust
            self._selections[line] = select(matches, self._shape(line), trust, self._me(matches))
        return self._selections[line]

    def _shape(self, line: str) -> Shape:
        """How matches are selected; what nothing writes (any more) is read as a log."""
        marker = self._setup.contract.parse(line)
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
        """What the family's reader is shown: *marker*, and the further first lines it needs."""
        governing = self.selection(marker.text).governing
        found = [s for line in dict.fromkeys((marker.text, *lines)) for s in self._sightings(line)]
        return readers.View(
            marker=marker,
            contract=self._setup.contract,
            sightings=tuple(sorted(found, key=lambda sighting: sighting.comment.id)),
            governing=governing.comment if governing else None,
            param=param,
        )

    def _sightings(self, line: str) -> Iterator[readers.Sighting]:
        trusted = _ids(self.selection(line))
        for match in self._matches[line]:
            yield readers.Sighting(
                line=line,
                comment=match.comment,
                trusted=match.comment.id in trusted,
                problems=self._judged(line, match.comment) or (),
            )

    def results(self, marker: Marker, *, bodies: bool) -> Iterator[ReadResult]:
        """One result a match, ascending by id; the one that governs carries the extras."""
        selection = self.selection(marker.text)
        trusted = _ids(selection)
        for match in self._matches[marker.text]:
            governs = match is selection.governing
            yield described(
                marker,
                match.comment,
                trusted=match.comment.id in trusted,
                extras=selection.extras if governs else (),
                problems=self._judged(marker.text, match.comment),
                body=bodies,
            )

    def _judged(self, line: str, comment: Comment) -> tuple[Problem, ...] | None:
        """What the writer would find wrong with a comment; None when there was no time to look.

        A thread of large comments takes longer to judge than to read.
        """
        marker = self._setup.contract.parse(line)
        if marker is None:
            return ()
        if comment.id not in self._problems:
            if not self._deadline.remaining():
                return None
            self._problems[comment.id] = _judge(comment.body, marker, self._setup)
        return self._problems[comment.id]


def _ids(selection: Selection) -> frozenset[int]:
    return frozenset(match.comment.id for match in selection.trusted)


def _judge(text: str, marker: Marker, setup: Setup) -> tuple[Problem, ...]:
    """Judge as the writer does; whatever a comment holds, reading it must not fail."""
    try:
        return judge(text, marker, setup.contract)
    except Exception as error:
        kind = type(error).__name__
        detail = f"it could not be judged ({kind}): a fault of persist-marker, please report it"
        return (Problem(code="validator-broken", detail=detail),)

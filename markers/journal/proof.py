"""Proving a whole log: that no entry, no kept body and no list was touched.

What may live here: one walk along the chain, and what only the whole of it can tell.  What may not:
SQL, files; an engine hands in what it can read, and says ``Torn`` where it cannot read on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .chain import GENESIS, Damaged, Sealed, is_body, opened
from .interface import Entry, Flaw, Kind


class Torn(Exception):
    """The engine cannot read on from here; the message says why."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of it."""

    flaws: list[Flaw]
    """What is wrong with the journal."""
    cut_off: list[Flaw]
    """What is wrong only by a hash that was kept elsewhere."""


def verify(
    entries: Iterable[Sealed],
    *,
    bodies: Iterable[tuple[str, bytes]],
    listed: Mapping[int, str] | Iterable[tuple[int, str]],
    head: str | None = None,
    trouble: str | None = None,
) -> Proof:
    """Prove the chain; *entries* come in order, oldest first.

    *bodies* are the kept ones by key, *listed* the threads of the intents that the engine holds
    to be open, by entry number.  *head* is a hash that must be in the chain, *trouble* what the
    engine itself found.  Each may end with ``Torn``.
    """
    walk = _Walk(head)
    walk.weigh(bodies)
    walk.along(entries)
    walk.conclude(listed)
    if trouble is not None:
        walk.found(None, f"the database itself is damaged: {trouble}")
    return Proof(walk.flaws, [] if head is None else walk.reach(head))


class _Walk:
    """One walk along the chain, and what was found on the way."""

    def __init__(self, head: str | None) -> None:
        self.flaws: list[Flaw] = []
        self._spoiled: set[str] = set()
        self._unclaimed: set[str] = set()
        self._unread: list[str] = []
        self._head = head
        self._head_seen = False
        self._last = 0
        self._previous = GENESIS
        self._open: dict[int, str] = {}

    def weigh(self, bodies: Iterable[tuple[str, bytes]]) -> None:
        """Find the kept bodies that are not what their keys say."""
        try:
            self._spoiled.update(key for key, content in bodies if not is_body(key, content))
        except Torn as torn:
            self._unread.append(f"not all kept bodies can be read: {torn}")
        self._unclaimed = set(self._spoiled)

    def along(self, entries: Iterable[Sealed]) -> None:
        """Judge one entry after the other, as far as they can be read."""
        try:
            for sealed in entries:
                self._step(sealed)
        except Torn as torn:
            lost = self._last + 1
            self.found(lost, f"entry {lost} cannot be read: {torn}")

    def _step(self, sealed: Sealed) -> None:
        """Judge one entry against the one before."""
        missing = sealed.seq - self._last - 1
        if missing:
            self.found(self._last + 1, _missing(self._last + 1, sealed.seq - 1))
        try:
            entry = opened(sealed)
        except Damaged as damage:
            self.found(sealed.seq, f"entry {sealed.seq} {damage}")
        else:
            self._judge(entry, follows=not missing)
        self._last, self._previous = sealed.seq, sealed.hash
        self._head_seen = self._head_seen or sealed.hash == self._head

    def conclude(self, listed: Mapping[int, str] | Iterable[tuple[int, str]]) -> None:
        """Judge what only the whole chain can tell."""
        try:
            told = dict(listed)
        except Torn as torn:
            self._unread.append(f"the list of open intents cannot be read: {torn}")
        else:
            if not self.flaws:
                self._compare(told)
        for key in sorted(map(str, self._unclaimed)):
            self.found(None, f"the kept body {key} is not what its key says, and no entry's")
        for problem in self._unread:
            self.found(None, problem)

    def reach(self, head: str) -> list[Flaw]:
        """What it means when no entry has that hash."""
        problem = (
            f"no entry has the hash {head[:80]}: the log ends at entry {self._last} and"
            " was cut off before that one, was sealed anew, or is another journal's"
        )
        return [] if self._head_seen else [Flaw(seq=None, problem=problem)]

    def _judge(self, entry: Entry, *, follows: bool) -> None:
        if follows and entry.previous != self._previous:
            self.found(entry.seq, f"entry {entry.seq} does not follow from what is now before it")
        if entry.replaced in self._spoiled:
            self._unclaimed.discard(entry.replaced)
            self.found(entry.seq, f"the body kept with entry {entry.seq} was changed")
        if entry.record.kind is Kind.INTENT:
            self._open[entry.seq] = entry.record.thread
        elif entry.record.intent is not None:
            self._open.pop(entry.record.intent, None)

    def _compare(self, listed: Mapping[int, str]) -> None:
        for seq in sorted({seq for seq, _ in self._open.items() ^ listed.items()}):
            self.found(seq, f"the list of open intents is wrong about entry {seq}")

    def found(self, seq: int | None, problem: str) -> None:
        """Note a flaw."""
        self.flaws.append(Flaw(seq=seq, problem=problem))


def _missing(first: int, last: int) -> str:
    return (
        f"entry {first} is missing" if first == last else f"entries {first} to {last} are missing"
    )

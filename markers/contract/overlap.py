"""Whether one text can be read as two markers.

What may live here: the decision, over templates alone.  What may not: files, and what to do about
a clash.

A template is a regular language without repetition but in slugs, so that the question has an exact
answer: walk two automata in step and see whether both can end at once.  An automaton's states are
the positions of the template (Glushkov's construction); each way to read a text as a template's
marker is one path, so the same walk also finds the template that reads one text in two ways.
Numbers are taken as any of one to ten digits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import lru_cache
from string import ascii_lowercase, digits

from .. import codec
from ..model import Family

_DIGIT = frozenset(digits)
_FIRST_DIGIT = _DIGIT - {"0"}
_WORD = frozenset(ascii_lowercase + digits)
_HYPHEN = frozenset("-")
_NUMBER_LENGTH = 10
MOST_STEPS = 300_000
"""How far a walk goes; templates whose params have few values in common end long before."""


class TooMany(Exception):
    """The templates allow so many texts that the question is not answered."""


class _Automaton:
    """Positions with the characters they accept, and which may follow which."""

    def __init__(self, family: Family) -> None:
        self.accepts: list[frozenset[str]] = []
        self.follow: list[set[int]] = []
        self.first: set[int] = set()
        self.last: set[int] = set()
        values = {param.name: param.values for param in family.params}
        for at, piece in enumerate(codec.pieces(family.template)):
            if at % 2 == 0:
                self._append(*self._literal(piece))
            elif not codec.is_param(piece):
                self._append(*self._number())
            elif values.get(piece):
                self._append(*self._choice(values[piece]))
            else:
                self._append(*self._slug())

    def _append(self, first: set[int], last: set[int]) -> None:
        if not first:
            return
        self.first = self.first or first
        for end in self.last:
            self.follow[end] |= first
        self.last = last

    def _chain(self, classes: Iterable[frozenset[str]]) -> Sequence[int]:
        start = len(self.accepts)
        self.accepts += classes
        end = len(self.accepts)
        self.follow += [{at + 1} if at + 1 < end else set() for at in range(start, end)]
        return range(start, end)

    def _literal(self, text: str) -> tuple[set[int], set[int]]:
        chain = self._chain(frozenset(char) for char in text)
        return set(chain[:1]), set(chain[-1:])

    def _number(self) -> tuple[set[int], set[int]]:
        chain = self._chain([_FIRST_DIGIT, *[_DIGIT] * (_NUMBER_LENGTH - 1)])
        return set(chain[:1]), set(chain)

    def _slug(self) -> tuple[set[int], set[int]]:
        word, hyphen = self._chain([_WORD, _HYPHEN])
        self.follow[word] |= {word}
        self.follow[hyphen] |= {word}
        return {word}, {word}

    def _choice(self, values: Sequence[str]) -> tuple[set[int], set[int]]:
        chains = [self._literal(value) for value in values]
        return set().union(*(c[0] for c in chains)), set().union(*(c[1] for c in chains))


@lru_cache(maxsize=1024)
def _automaton(family: Family) -> _Automaton:
    return _Automaton(family)


def clash(one: Family, other: Family) -> str | None:
    """A shortest text that is a marker of both families; None when there is none.

    Raises ``TooMany``, as ``ambiguity`` does.
    """
    heads = [codec.pieces(family.template)[0] for family in (one, other)]
    if not (heads[0].startswith(heads[1]) or heads[1].startswith(heads[0])):
        return None  # most pairs part here, and a registry has many pairs
    return _walk(_automaton(one), _automaton(other), must_part=False)


def ambiguity(family: Family) -> str | None:
    """A shortest text that reads as the family's marker in two ways; None when there is none."""
    automaton = _automaton(family)
    return _walk(automaton, automaton, must_part=True)


def _walk(one: _Automaton, other: _Automaton, *, must_part: bool) -> str | None:
    """Breadth first over pairs of positions; with *must_part* the two paths must differ."""
    start = [(p, q) for p in one.first for q in other.first]
    queue = deque((p, q, not must_part or p != q, "") for p, q in start)
    seen = {(p, q, parted) for p, q, parted, _ in queue}
    steps = len(queue)
    while queue:
        p, q, parted, text = queue.popleft()
        shared = one.accepts[p] & other.accepts[q]
        if not shared:
            continue
        text += min(shared)
        if parted and p in one.last and q in other.last:
            return text
        steps += len(one.follow[p]) * len(other.follow[q])
        if steps > MOST_STEPS:
            raise TooMany
        for pair in ((a, b) for a in one.follow[p] for b in other.follow[q]):
            state = (*pair, parted or pair[0] != pair[1])
            if state not in seen:
                seen.add(state)
                queue.append((*state, text))
    return None

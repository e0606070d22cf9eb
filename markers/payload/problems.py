"""What is wrong with a payload, told so that a person finds it and a program names it.

What may live here: the value, its bounds, and how a place inside a payload is spelled.  What may
not: any rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import ECHO, counted, echo
from ..model import Reason

MOST = 50
"""How many problems of one payload are told; whoever has more has the same one again and again."""

MORE = "more"
"""The code of a problem that says that there are others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong, where: *line* counts in the comment's body from 1."""

    code: str
    """The rule, in kebab case: ``missing``, ``type``, ``enum``, ``schema-version`` and so on."""
    detail: str
    """One sentence that shows at most 80 characters of the value, lines as ``line_at`` has them."""
    field: str = ""
    """Dotted path such as ``entries[2].severity``; empty for the payload as a whole."""
    line: int | None = None
    warns: bool = False
    """Whether it is only told, and refuses nothing."""

    def reason(self, in_front: int = 0) -> Reason:
        """The same for JSON: the field goes before the detail.

        Lines are counted without the *in_front* that whoever reads it has not written; those have
        no line then.
        """
        detail = f"{self.field}: {self.detail}" if self.field else self.detail
        line = self.line - in_front if self.line and self.line > in_front else None
        return Reason(code=self.code, detail=counted(detail, in_front), line=line)


def told(found: Sequence[Problem], beyond: int = 0) -> tuple[Problem, ...]:
    """The first ``MOST`` problems and, as a last one, how many there are *beyond* them."""
    beyond += max(0, len(found) - MOST)
    more = Problem(code=MORE, detail=f"there are {beyond:,} more problems of this payload")
    return (*found[:MOST], more) if beyond else tuple(found)


def dotted(path: Iterable[str | int]) -> str:
    """Spell a path such as ``entries[2].severity``, at most 80 characters of it."""
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return echo("".join(parts).removeprefix("."))


def likely(word: str, known: Iterable[str]) -> str | None:
    """Which of the *known* words was probably meant; letter case does not count."""
    from difflib import get_close_matches  # only for those who mistype

    by_case = {each.lower(): each for each in known}
    near = get_close_matches(word.lower()[:ECHO], by_case, n=1)
    return by_case[near[0]] if near else None

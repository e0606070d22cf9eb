"""What the validators of bulleted comments have in common.

What may live here: the hint at a line that is nearly a bullet.  What may not: what one family wants
of its bullets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..payload.bullets import near_bullets
from ..payload.problems import Problem
from .interface import Case


def hinted(case: Case, problems: Iterable[Problem]) -> Iterator[Problem]:
    """The problems; those of what is missing name the line that was meant for it, if one was."""
    near = near_bullets(case.body.lines[1:], first_line=2)
    for problem in problems:
        line = near.get(problem.field) if problem.code == "missing" else None
        if problem.code in _NONE_AT_ALL:
            line = min(near.values(), default=None)
        yield replace(problem, detail=problem.detail + _HINT, line=line) if line else problem


_NONE_AT_ALL = ("bullets-missing", "fence-missing")
_HINT = (
    "; this line is nearly one that says it: write '- **key**: value', the colon behind the bold"
)

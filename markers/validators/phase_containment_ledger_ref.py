"""``phase-containment-ledger-ref``: a plan's pointer to its ledger.

What may live here: the form of the pointer and its place.  What may not: whether it leads there,
for which the comment must be read (``steps.pointers``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..body import BLANKS
from ..errors import echo
from ..payload.problems import Problem
from .block_rules import alone, is_first, the_block
from .interface import Case

_ID = re.compile(r"[1-9][0-9]{0,18}")


def validate(case: Case) -> Iterator[Problem]:
    """Judge one pointer."""
    yield from alone(case)
    block = the_block(case)
    value = block.inner[0]
    if not _ID.fullmatch(value):
        detail = f"{echo(value)!r} is not the id of a comment, in digits"
        yield Problem(code="pattern", detail=detail, line=block.first)
    if is_first(case) and not _is_on_top(case):
        detail = "a pointer is looked for right below the marker; this one stands further down"
        yield Problem(code="pointer-place", detail=detail, line=block.first, warns=True)


def _is_on_top(case: Case) -> bool:
    """Whether above it there are only the marker, other comments of one line, and blank lines."""
    between = range(2, the_block(case).first)
    comments = {lines.start for lines in case.body.regions.comments if len(lines) == 1}
    return all(n in comments or not case.body.line(n).strip(BLANKS) for n in between)

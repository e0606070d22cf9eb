"""``sentinel-empty``: a comment that is its marker and nothing else (contract, statement 19)."""

from __future__ import annotations

from collections.abc import Iterator

from ..body import BLANKS
from ..codec import normalise
from ..errors import echo
from ..payload.problems import Problem
from .interface import Case


def validate(case: Case) -> Iterator[Problem]:
    """Judge a sentinel."""
    if normalise(case.body.text) == case.marker.text:
        return
    for number, line in enumerate(case.body.lines, 1):
        if number > 1 and line.strip(BLANKS):
            detail = f"the comment is to be its marker alone, and here stands {echo(line)!r}"
            yield Problem(code="not-empty", detail=detail, line=number)
            return
    detail = f"the comment is to be its marker alone: {echo(case.marker.text)}"
    yield Problem(code="not-empty", detail=detail, line=1)

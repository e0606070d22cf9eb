"""Text that names the file of a state shape without saying how long that state lives.

What may live here: finding such text.  What may not: what a callout says (``callouts``).

Contract, statement 5: a state description carries a survival label and a row id.  A callout is
near when it stands in the same section or within ten lines.  A directory is a namespace, and
naming it is no state description.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import echo
from ..model import Row, Status
from .callouts import callouts_of
from .findings import Finding
from .interface import Known
from .page import Page

NEAR = 10
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_HEADING = re.compile(r"(?:\A|(?<=[\r\n])) {0,3}#{1,6}(?=[ \t\r\n]|\Z)")


@dataclass(frozen=True, slots=True)
class _Shape:
    """A file of one or more rows, as a template and as what finds it in a text."""

    path: re.Pattern[str]
    rows: tuple[Row, ...]


def missing(page: Page, contract: Known) -> Iterator[Finding]:
    """The first place in each section that names a row's file with no callout of that row near."""
    shapes = [shape for shape in _shapes(contract) if shape.path.search(page.text)]
    if not shapes:
        return
    told = callouts_of(page)
    headings = [m.start() for m in _HEADING.finditer(page.text) if not page.in_code(m.start())]
    for shape in shapes:
        names = {row.id for row in shape.rows}
        citing = [callout.start for callout in told if names & set(callout.rows)]
        complained: set[int] = set()
        for match in shape.path.finditer(page.text):
            section = bisect_right(headings, match.start())
            if section in complained or not page.counts(match.start()):
                continue
            if not any(_near(page, headings, match.start(), cited) for cited in citing):
                complained.add(section)
                yield _finding(page, match, shape)


def _near(page: Page, headings: list[int], one: int, other: int) -> bool:
    together = bisect_right(headings, one) == bisect_right(headings, other)
    return together or abs(page.line_of(one) - page.line_of(other)) <= NEAR


def _finding(page: Page, match: re.Match[str], shape: _Shape) -> Finding:
    names, first = " or ".join(row.id for row in shape.rows), shape.rows[0]
    callout = f"Survival: {first.survival[0].label}; contract: {first.id}"
    return Finding(
        line=page.line_of(match.start()),
        column=page.column_of(match.start()),
        code="survival-missing",
        detail=f"this is state of {names}, and no callout near says so, such as '{callout}'",
        literal=echo(match[0]),
    )


def _shapes(contract: Known) -> Iterator[_Shape]:
    """The files of all rows that are in use; rows that share one are cited by either."""
    owners: dict[str, list[Row]] = {}
    for row in contract.rows.values():
        if row.status is not Status.RETIRED:
            for path in row.caches:
                owners.setdefault(path, []).append(row)
    for path, rows in owners.items():
        if not path.endswith("/"):
            yield _Shape(_pattern(path), tuple(rows))


def _pattern(path: str) -> re.Pattern[str]:
    """A path with anything in the place of its placeholders, which stand in one part of it."""
    first, *_ = pieces = _PLACEHOLDER.split(path)
    varying = r"[\w{}.-]{1,120}" if len(pieces) > 1 else ""
    last = pieces[-1] if len(pieces) > 1 else ""
    return re.compile(rf"{re.escape(first)}{varying}{re.escape(last)}(?![\w-])")

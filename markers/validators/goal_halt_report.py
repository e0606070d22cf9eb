"""``goal-halt-report``: why a run stopped, in either of its forms (contract, statement 25)."""

from __future__ import annotations

from collections.abc import Iterator

from ..payload.document import Document
from ..payload.flawed import Flawed
from ..payload.halt_report import is_handed_in, read_report
from ..payload.problems import Problem
from .bulleted import hinted
from .cross_fields import as_in_marker
from .fenced_yaml import checked
from .interface import Case

VERSIONS = (1,)
_DELIMITERS = ("<!--", "-->", "--!>")


def validate(case: Case) -> Iterator[Problem]:
    """Judge the object that is handed in, or the bullets that show it."""
    return _judged(case) if is_handed_in(case.body) else hinted(case, _judged(case))


def _judged(case: Case) -> Iterator[Problem]:
    try:
        document = read_report(case.body)
    except Flawed as flawed:
        yield from flawed.problems
        return
    yield from checked(case, document, versions=VERSIONS, rules=(_issue,))
    if not is_handed_in(case.body):
        yield from _delimiters(case)


def _issue(case: Case, document: Document) -> Iterator[Problem]:
    return as_in_marker(case, document, "issue", case.marker.number)


def _delimiters(case: Case) -> Iterator[Problem]:
    """Bullets that are not inert; those of the step are."""
    for number, line in enumerate(case.body.lines[1:], 2):
        for delimiter in _DELIMITERS:
            if delimiter in line:
                detail = f"{delimiter!r} may not stand in the text of a report: take it out"
                yield Problem(code="delimiter", detail=detail, line=number)

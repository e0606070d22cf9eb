"""``goal-run``: the bullets of a run in flight, of its stage and of its restart.

One validator serves the three families; what tells them apart is in their schemas.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..payload.bullets import read_bullets
from ..payload.document import Document
from ..payload.flawed import Flawed
from ..payload.problems import Problem
from .bulleted import hinted
from .cross_fields import as_in_marker
from .fenced_yaml import checked
from .interface import Case

VERSIONS = (1,)


def validate(case: Case) -> Iterator[Problem]:
    """Judge one run's bullets; prose around them is free."""
    return hinted(case, _judged(case))


def _judged(case: Case) -> Iterator[Problem]:
    try:
        document = read_bullets(case.body.lines[1:], first_line=2)
    except Flawed as flawed:
        yield from flawed.problems
        return
    if document.value:
        yield from checked(case, document, versions=VERSIONS, rules=(_issue,))
    else:
        yield Problem(code="bullets-missing", detail="there are no lines '- **key**: value'")


def _issue(case: Case, document: Document) -> Iterator[Problem]:
    return as_in_marker(case, document, "issue", case.marker.number)

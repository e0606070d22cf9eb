"""``goal-contract``: what a run must reach, and when it must stop.

What may live here: what its schema cannot say.  What may not: the fields (the schema).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..body import BLANKS
from ..payload.document import Document
from ..payload.problems import Problem
from .block_rules import alone, judged, the_block
from .cross_fields import as_in_marker, repeated
from .interface import Case

VERSIONS = (1,)


def validate(case: Case) -> Iterator[Problem]:
    """Judge one contract."""
    yield from alone(case)
    yield from judged(case, versions=VERSIONS, rules=(_separator, _issue, _targets))


def _separator(case: Case, _document: Document) -> Iterator[Problem]:
    """A line that begins a YAML document: upstream refuses a contract for it, even at its top."""
    block = the_block(case)
    for number, line in enumerate(block.inner, block.inner_first):
        if line.rstrip(BLANKS) == "---":
            detail = "a contract has no line of ---, which begins a document"
            yield Problem(code="separator", detail=detail, line=number)


def _issue(case: Case, document: Document) -> Iterator[Problem]:
    return as_in_marker(case, document, "issue", case.marker.number)


def _targets(_case: Case, document: Document) -> Iterator[Problem]:
    return repeated(document, ("targets",), "id")

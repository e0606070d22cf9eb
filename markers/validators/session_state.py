"""``session-state``: what a local store hands over, in the comment that names the store."""

from __future__ import annotations

from collections.abc import Iterator

from ..payload.document import Document
from ..payload.problems import Problem
from ..payload.session_state import VERSION
from .cross_fields import as_in_marker, problem_at
from .fenced_yaml import judged
from .interface import Case


def validate(case: Case) -> Iterator[Problem]:
    """Judge the payload, and that it is of the store that the marker names."""
    return judged(case, versions=(VERSION,), rules=(_store, _issue))


def _store(case: Case, document: Document) -> Iterator[Problem]:
    return as_in_marker(case, document, "store", dict(case.marker.params).get("store"))


def _issue(case: Case, document: Document) -> Iterator[Problem]:
    """A review goes on for the issue that it is of."""
    content = document.value.get("content")
    review = content.get("review_state") if isinstance(content, dict) else None
    said = review.get("issue_id") if isinstance(review, dict) else None
    if isinstance(said, int) and said != case.marker.number:
        path = ("content", "review_state", "issue_id")
        yield problem_at(document, path, "issue", f"{said} is not the issue of the marker")

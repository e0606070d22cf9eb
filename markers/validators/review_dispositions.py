"""``review-dispositions``: what was decided on a review's findings (contract, statement 22)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..payload.document import Document, Path
from ..payload.fenced import the_fence_or_rest
from ..payload.problems import Problem
from .cross_fields import entries, problem_at, repeated
from .fenced_yaml import judged
from .interface import Case

VERSIONS = (1, 2, 3, 4)
REQUIRED_SINCE = {"severity": 2, "stage": 2, "reviewer_source": 3}
"""Since which version an entry must have a field; an earlier one may have it."""
KNOWN_SINCE = {"internal_match": 4}
"""Since which version an entry may have a field."""
_ENTRIES = ("entries",)
_RECONCILED, _RECONCILED_SINCE = "external_sources_reconciled", 4
_CROSS_CHECK, _CROSS_CHECKED_SINCE = "ac_cross_check", 2
_LEFT_UNDONE = ("dismiss", "defer")
_SERIOUS = ("medium", "high", "critical")


def validate(case: Case) -> Iterator[Problem]:
    """Judge one review's dispositions."""
    return judged(
        case,
        payload=the_fence_or_rest,
        versions=VERSIONS,
        rules=(_reconciled, _fields, _keys),
    )


def _reconciled(_case: Case, document: Document) -> Iterator[Problem]:
    if _RECONCILED in document.value and _version(document) < _RECONCILED_SINCE:
        yield problem_at(document, (_RECONCILED,), "version", _since(_RECONCILED_SINCE))


def _fields(_case: Case, document: Document) -> Iterator[Problem]:
    """What an entry must have, and may have, by the version of the whole."""
    version = _version(document)
    for path, entry in entries(document, _ENTRIES):
        for key, since in REQUIRED_SINCE.items():
            if version >= since and key not in entry:
                detail = f"is missing: an entry has it since version {since}"
                yield problem_at(document, (*path, key), "missing", detail)
        for key, since in KNOWN_SINCE.items():
            if version < since and key in entry:
                yield problem_at(document, (*path, key), "version", _since(since))
        if version >= _CROSS_CHECKED_SINCE:
            yield from _cross_check(document, path, entry)
        yield from _match(document, path, entry)


def _cross_check(document: Document, path: Path, entry: dict[str, Any]) -> Iterator[Problem]:
    disposition, severity = entry.get("disposition"), entry.get("severity")
    wanted = disposition in _LEFT_UNDONE and severity in _SERIOUS
    if wanted and _CROSS_CHECK not in entry:
        detail = f"is missing: disposition {disposition} at severity {severity} needs it"
        yield problem_at(document, (*path, _CROSS_CHECK), "missing", detail)


def _match(document: Document, path: Path, entry: dict[str, Any]) -> Iterator[Problem]:
    if "internal_match" in entry and entry.get("reviewer_source") == "local":
        detail = "a finding of our own (reviewer_source: local) matches nothing: leave it out"
        yield problem_at(document, (*path, "internal_match"), "internal-match", detail)


def _keys(_case: Case, document: Document) -> Iterator[Problem]:
    """Two entries of one key: a review that is resumed finds the first one; this warns."""
    return repeated(document, _ENTRIES, "stable_finding_key", warns=True)


def _version(document: Document) -> int:
    version = document.value.get("schema_version")
    return version if isinstance(version, int) else VERSIONS[-1]


def _since(version: int) -> str:
    return f"is known since version {version} only: raise schema_version, or leave it out"

"""``engagement-record``: the decisions of one phase (contract, statement 21)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import echo
from ..payload.document import Document
from ..payload.fenced import the_fence_or_rest, yaml_fences
from ..payload.problems import Problem
from .cross_fields import as_in_marker, entries, problem_at, repeated
from .fenced_yaml import judged
from .interface import Case

VERSIONS = (1, 2, 3, 4)
LEAST = {"plan": 2, "orchestration": 3, "review": 4}
"""The first version that has what a phase records; the other phases take every version."""
_DECISIONS = ("load_bearing_decisions",)
_SLUGS_SINCE = 2
_SLUG = re.compile(r"[a-z][a-z0-9-]{0,62}[a-z0-9]\Z")
_SESSION = re.compile(r"(?:normal|manual|replay)-(?P<phase>[a-z]+)-v[0-9]+(?:\.[0-9]+)?\Z")
_RULING = "gate_ruling_"
_RULED = "followup-"


def validate(case: Case) -> Iterator[Problem]:
    """Judge one record, the fence's own lines included."""
    yield from _backticks(case)
    yield from judged(
        case,
        payload=the_fence_or_rest,
        versions=VERSIONS,
        rules=(_phase, _version_of_phase, _session, _slugs, _once, _rulings),
    )


def _backticks(case: Case) -> Iterator[Problem]:
    """Backticks in a payload, which readers that search for three of them take for its end."""
    for fence in yaml_fences(case.body)[:1]:
        for number in fence.inner:
            if "```" in case.body.line(number):
                detail = (
                    "three backticks in the payload end it for the readers of this record, and "
                    "what follows is lost: leave them out"
                )
                yield Problem(code="backticks", detail=detail, line=number)


def _phase(case: Case, document: Document) -> Iterator[Problem]:
    return as_in_marker(case, document, "phase", dict(case.marker.params).get("phase"))


def _version_of_phase(case: Case, document: Document) -> Iterator[Problem]:
    phase = dict(case.marker.params).get("phase", "")
    version, least = document.value.get("schema_version"), LEAST.get(phase, 1)
    if isinstance(version, int) and version < least:
        detail = f"a record of phase {phase} has version {least} or later, not {version}"
        yield problem_at(document, ("schema_version",), "schema-version", detail)


def _session(_case: Case, document: Document) -> Iterator[Problem]:
    """The name's convention, which upstream never enforces."""
    name = document.value.get("capture_session")
    if not isinstance(name, str):
        return
    match = _SESSION.match(name)
    if match is None or match["phase"] != document.value.get("phase"):
        detail = (
            f"{echo(name)!r} does not follow the convention: normal, manual or replay, then the "
            "phase and a version, such as normal-plan-v2"
        )
        yield problem_at(document, ("capture_session",), "capture-session", detail, warns=True)


def _slugs(_case: Case, document: Document) -> Iterator[Problem]:
    version = document.value.get("schema_version")
    if not isinstance(version, int) or version < _SLUGS_SINCE:
        return
    for path, decision in entries(document, _DECISIONS):
        name = decision.get("decision_id")
        if isinstance(name, str) and name.strip() and not _SLUG.match(name):
            detail = (
                f"{echo(name)!r} is not a slug: 2 to 64 of a-z, 0-9 and hyphens, which begins "
                "with a letter and does not end with a hyphen"
            )
            yield problem_at(document, (*path, "decision_id"), "slug", detail)


def _once(_case: Case, document: Document) -> Iterator[Problem]:
    """Two decisions of one name; upstream's readers take both, so this warns."""
    return repeated(document, _DECISIONS, "decision_id", warns=True)


def _rulings(_case: Case, document: Document) -> Iterator[Problem]:
    for path, decision in entries(document, _DECISIONS):
        if str(decision.get("decision_id")).startswith(_RULED):
            continue
        for key in decision:
            if key.startswith(_RULING):
                detail = f"only a decision whose decision_id begins with {_RULED} has it"
                yield problem_at(document, (*path, key), "gate-ruling", detail)

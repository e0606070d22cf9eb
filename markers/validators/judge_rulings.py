"""``judge-rulings``: what a judge made of each finding.

What may live here: what its schema cannot say.  What may not: the fields (the schema).

There are two forms.  In a ledger or an old plan each finding has a ``finding_id``; in the comment
on a pull request it has an ``id`` and may have more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from ..errors import echo, line_at
from ..payload.document import Document, Path
from ..payload.flawed import Flawed
from ..payload.held import read_block
from ..payload.problems import Problem
from ..payload.schema import check
from .block_rules import alone, the_block
from .cross_fields import problem_at
from .interface import Case

IDS = ("finding_id", "id")
NOTHING = "none"
"""The id of the one entry of a review that found nothing."""
_CONFIDENCE = ("high", "medium", "low")

_Entries: TypeAlias = Sequence[tuple[Path, dict[str, Any]]]


def validate(case: Case) -> Iterator[Problem]:
    """Judge one block of rulings."""
    yield from alone(case)
    try:
        document = read_block(the_block(case), case.family.name)
    except Flawed as flawed:
        yield from flawed.problems
        return
    yield from check(document, case.schema or "{}")
    value = document.value if isinstance(document.value, list) else []
    entries = [((number,), entry) for number, entry in enumerate(value) if isinstance(entry, dict)]
    for rule in (_form, _once, _nothing_found, _confidence):
        yield from rule(document, entries)


def _form(document: Document, entries: _Entries) -> Iterator[Problem]:
    """Each entry has one id, and all of them spell its key alike."""
    first = next((key for _, entry in entries for key in IDS if key in entry), None)
    for path, entry in entries:
        keys = [key for key in IDS if key in entry]
        if not keys:
            detail = "is missing; it wants the finding's id, such as M1"
            yield problem_at(document, (*path, first or IDS[0]), "missing", detail)
        elif len(keys) > 1:
            detail = "says what finding_id says: one of the two is enough"
            yield problem_at(document, (*path, "id"), "id-twice", detail)
        elif keys != [first]:
            detail = f"the entries above have {first}: all of a block have the same"
            yield problem_at(document, (*path, *keys), "form", detail)


def _once(document: Document, entries: _Entries) -> Iterator[Problem]:
    lines: dict[str, int] = {}
    for path, entry in entries:
        for key in IDS:
            name, place = entry.get(key), (*path, key)
            if not isinstance(name, str):
                continue
            if name in lines:
                detail = f"{echo(name)!r} is there twice, see {line_at(lines[name])}"
                yield problem_at(document, place, "duplicate", detail)
            lines.setdefault(name, document.line_of(place))


def _nothing_found(document: Document, entries: _Entries) -> Iterator[Problem]:
    """The entry that says that there is no finding stands alone, and sustains none."""
    for path, entry in entries:
        if entry.get("finding_id") != NOTHING:
            continue
        if len(entries) > 1:
            detail = "none means that nothing was found, and other entries say what was"
            yield problem_at(document, (*path, "finding_id"), "nothing-found", detail)
        if entry.get("judge_ruling") == "sustained":
            detail = "where nothing was found there is nothing to sustain: defense-sustained"
            yield problem_at(document, (*path, "judge_ruling"), "nothing-found", detail)


def _confidence(document: Document, entries: _Entries) -> Iterator[Problem]:
    """Words that no real block has; the contract names these and does not close the list."""
    for path, entry in entries:
        word = entry.get("judge_confidence")
        if isinstance(word, str) and word not in _CONFIDENCE:
            detail = f"{echo(word)!r} is none of {', '.join(_CONFIDENCE)}"
            yield problem_at(document, (*path, "judge_confidence"), "enum", detail, warns=True)

"""Text that is carried from the plan that governs into one that comes without it.

What may live here: putting the Plan Stress-Test section, and what plans without a ledger hold
themselves (contract, statement 16).  What may not: where the section stands (``stress_test``),
pointers (``pointers``), any reading of comments.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..blocks import find
from ..body import BLANKS, Body
from ..errors import FEW, line_at
from ..payload.known import JUDGE_RULINGS, PHASE_CONTAINMENT
from .containment import latest, unreadable
from .excerpts import appended, excerpt, joined
from .interface import Prepared
from .stress_test import Section, heading, nearly, section, sentinel

SECTION = "Plan Stress-Test section"


def judge_rulings(text: str, governing: Body) -> Prepared:
    """Carry the one judge-rulings head; of two nobody could tell which one counts."""
    heads = find(governing, JUDGE_RULINGS)
    if not heads or find(Body(text), JUDGE_RULINGS):
        return Prepared(candidate=text)
    head = heads[0]
    if len(heads) > 1 or not head.closed:
        warning = left_behind(head.first, "there is not exactly one whole judge-rulings block")
        return Prepared(candidate=text, warnings=(warning,))
    made = appended(text, excerpt(governing, head))
    return Prepared(candidate=made, preserved=("judge-rulings",))


def containment(text: str, governing: Body) -> Prepared:
    """Carry the phase-containment blocks of findings that the text has none of, one for each."""
    there = latest(Body(text))
    missing = [each for key, each in latest(governing).items() if key not in there]
    missing.sort(key=lambda each: each.block.first)
    warnings = tuple(_unreadable(governing))
    if not missing:
        return Prepared(candidate=text, warnings=warnings)
    words = f"phase-containment: {len(missing)} block{'s' if len(missing) > 1 else ''}"
    made = appended(text, joined(each.lines for each in missing))
    return Prepared(candidate=made, preserved=(words,), warnings=warnings)


def _unreadable(governing: Body) -> Iterator[str]:
    """Why the first few blocks without a finding are left behind, and how many more there are."""
    found = list(unreadable(governing))
    for each in found[:FEW]:
        yield left_behind(each.line, each.reason().detail)
    if len(found) > FEW:
        yield f"not-carried: {len(found) - FEW:,} more phase-containment blocks of that plan"


def left_to_the_ledger(text: str, governing: Body) -> Prepared:
    """Carry no rulings and no blocks, which belong to the ledger, and tell who loses some here."""
    there = Body(text)
    lost = [
        block.first
        for family in (JUDGE_RULINGS, PHASE_CONTAINMENT)
        if not find(there, family)
        for block in find(governing, family)
    ]
    if not lost:
        return Prepared(candidate=text)
    warning = left_behind(lost[0], f"{len(lost)} of its blocks, which belong to the ledger")
    return Prepared(candidate=text, warnings=(warning,))


def stress_test(text: str, governing: Body) -> Prepared:
    """Carry the section before the named decisions, or at the end where there are none."""
    there, found = Body(text), section(governing)
    if heading(there) is not None:
        return Prepared(candidate=text)
    if found is None:
        return Prepared(candidate=text, warnings=tuple(_no_heading(there, governing)))
    return Prepared(
        candidate=_with_section(there, found.lines),
        preserved=(SECTION,),
        warnings=(*_left_of(found), *_beside(there)),
    )


def left_behind(line: int | None, why: str) -> str:
    """The warning that something of the plan that governs is not carried."""
    return f"not-carried: line {line} of the plan that governs: {why}"


def _no_heading(there: Body, governing: Body) -> Iterator[str]:
    """A line that may be meant as the section's heading, unless the candidate has it, too."""
    line = nearly(governing)
    if line is not None and governing.line(line) not in there.lines:
        why = f"it names the {SECTION}, but is no heading by which that could be found"
        yield left_behind(line, why)


def _left_of(found: Section) -> Iterator[str]:
    for line in found.left[:1]:
        yield left_behind(line, f"it may belong to the {SECTION}, which ends before it")


def _beside(there: Body) -> Iterator[str]:
    """That the candidate may have a section of its own, whose heading is none."""
    line = nearly(there)
    if line is not None:
        yield (
            f"section-twice: {line_at(line)} names the {SECTION}, but is no heading; the section "
            "of the plan that governs was carried beside it"
        )


def _with_section(body: Body, lines: tuple[str, ...]) -> str:
    at = sentinel(body)
    if at is not None:
        gap = [""] if body.line(at - 1).strip(BLANKS) else []
        made = body.inserted(at - 1, [*gap, *lines, ""])
        if sentinel(Body(made)) is not None:
            return made  # else the section leaves a fence open, which may hide nothing at the end
    return appended(body.text, lines)

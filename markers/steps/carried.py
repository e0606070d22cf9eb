"""Text that is carried from the plan that governs into one that comes without it.

What may live here: the Plan Stress-Test section, and what plans without a ledger hold themselves
(contract, statement 16).  What may not: pointers (``pointers``), any reading of comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..blocks import find
from ..body import BLANKS, Body
from ..payload.known import JUDGE_RULINGS, PHASE_CONTAINMENT
from .containment import latest, unreadable
from .excerpts import appended, excerpt, joined, trimmed
from .interface import Prepared
from .known import IN_A_PLAN

_HEADING = re.compile(r"\*\*Plan Stress-Test\*\*")
_NEXT = re.compile(r"\*\*[A-Za-z]|#{1,2}[ \t]")
_SENTINEL = re.compile(r" {0,3}<!--[ \t]*named-decisions:begin\b")


def judge_rulings(text: str, governing: Body) -> Prepared:
    """Carry the one judge-rulings head; of two nobody could tell which one counts."""
    heads = find(governing, JUDGE_RULINGS)
    if not heads or find(Body(text), JUDGE_RULINGS):
        return Prepared(candidate=text)
    head = heads[0]
    if len(heads) > 1 or not head.closed:
        warning = _left_behind(head.first, "there is not exactly one whole judge-rulings block")
        return Prepared(candidate=text, warnings=(warning,))
    made = appended(text, excerpt(governing, head))
    return Prepared(candidate=made, preserved=("judge-rulings",))


def containment(text: str, governing: Body) -> Prepared:
    """Carry the phase-containment blocks of findings that the text has none of, one for each."""
    there = latest(Body(text))
    missing = [each for key, each in latest(governing).items() if key not in there]
    missing.sort(key=lambda each: each.block.first)
    warnings = tuple(
        _left_behind(each.line, each.reason().detail) for each in unreadable(governing)
    )
    if not missing:
        return Prepared(candidate=text, warnings=warnings)
    words = f"phase-containment: {len(missing)} block{'s' if len(missing) > 1 else ''}"
    made = appended(text, joined(each.lines for each in missing))
    return Prepared(candidate=made, preserved=(words,), warnings=warnings)


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
    warning = _left_behind(lost[0], f"{len(lost)} of its blocks, which belong to the ledger")
    return Prepared(candidate=text, warnings=(warning,))


def stress_test(text: str, governing: Body) -> Prepared:
    """Carry the section before the named decisions, or at the end where there are none."""
    section = _section(governing)
    if not section or _heading(Body(text)) is not None:
        return Prepared(candidate=text)
    made = _with_section(text, section)
    return Prepared(candidate=made, preserved=("Plan Stress-Test section",))


def _left_behind(line: int | None, why: str) -> str:
    return f"not-carried: line {line} of the plan that governs: {why}"


def _with_section(text: str, section: tuple[str, ...]) -> str:
    body = Body(text)
    at = _sentinel(body)
    if at is not None:
        gap = [""] if body.line(at - 1).strip(BLANKS) else []
        made = body.inserted(at - 1, [*gap, *section, ""])
        if _sentinel(Body(made)) is not None:
            return made  # else the section leaves a fence open, which may hide nothing at the end
    return appended(text, section)


def _section(body: Body) -> tuple[str, ...]:
    first = _heading(body)
    if first is None:
        return ()
    stop = min((n for n in _bounds(body) if n > first), default=len(body.lines) + 1)
    return trimmed(body.between(range(first, stop)))


def _heading(body: Body) -> int | None:
    return next((n for n, line in _prose(body) if _HEADING.match(line)), None)


def _sentinel(body: Body) -> int | None:
    starts = (lines.start for lines in body.regions.comments)
    return next((n for n in starts if n > 1 and _SENTINEL.match(body.line(n))), None)


def _bounds(body: Body) -> Iterator[int]:
    """Where a section ends: a bold heading or one of level 1 or 2, the named decisions, a block."""
    yield from (n for n, line in _prose(body) if _NEXT.match(line))
    yield from (block.first for family in IN_A_PLAN for block in find(body, family))
    sentinel = _sentinel(body)
    if sentinel is not None:
        yield sentinel


def _prose(body: Body) -> Iterator[tuple[int, str]]:
    """The lines that are neither code nor part of an HTML comment, with their numbers."""
    hidden = body.fenced.union(*body.regions.comments)
    return ((n, line) for n, line in enumerate(body.lines, 1) if n not in hidden)

"""``frame-slices``: the comment that holds a plan's slices, and the stamp that it bears.

What may live here: rules about the whole comment.  What may not: rules about one slice
(``frame_slice``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..blocks import find
from ..body import BLANKS, Body
from ..errors import echo, line_at
from ..payload.flawed import Flawed
from ..payload.known import FRAME_SLICE, SLICES_STAMP
from ..payload.problems import Problem
from ..payload.slices import read_slice
from ..payload.times import STAMP_FORM, is_stamp
from .interface import Case


def validate(case: Case) -> Iterator[Problem]:
    """Judge one comment of slices."""
    yield from _stamp(case.body)
    if not find(case.body, FRAME_SLICE):
        detail = "there is no frame-slice block: one for each step of the plan is what belongs here"
        yield Problem(code="block-missing", detail=detail, line=1)
    yield from duplicate_slices(case.body)


def duplicate_slices(body: Body) -> Iterator[Problem]:
    """Slices whose id another one above has, too; those that cannot be read have none."""
    lines: dict[str, int] = {}
    for block in find(body, FRAME_SLICE):
        try:
            name = read_slice(block).id
        except Flawed:
            continue
        if name in lines:
            detail = f"the slice on {line_at(lines[name])} has the id {name}, too"
            yield Problem(code="duplicate-slice-id", detail=detail, field="id", line=block.first)
        lines.setdefault(name, block.first)


def _stamp(body: Body) -> Iterator[Problem]:
    stamps = find(body, SLICES_STAMP)
    if not stamps:
        detail = (
            "there is no line with the frame-slices-generated-at tag and the spine's generated_at, "
            "by which readers know that slices and spine belong together"
        )
        yield Problem(code="stamp-missing", detail=detail, line=1)
        return
    first, *others = stamps
    for other in others:
        detail = f"this is a second stamp: the first stands on {line_at(first.first)}"
        yield Problem(code="block-twice", detail=detail, line=other.first)
    if any(line.strip(BLANKS) for line in body.between(range(2, first.first))):
        detail = "the stamp is the first thing below the marker"
        yield Problem(code="stamp-place", detail=detail, line=first.first)
    if not is_stamp(first.inner[0]):
        detail = f"{echo(first.inner[0])!r} is not {STAMP_FORM}"
        yield Problem(code="pattern", detail=detail, line=first.first)

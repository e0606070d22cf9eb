"""What a plan says of the two comments that belong to it: its ledger and its slices.

What may live here: finding and putting such pointers, and whether one leads where it should
(contract, statement 16).  What may not: which of them count, and reading comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..blocks import Block, find
from ..body import Body
from ..codec import matches
from ..errors import echo
from ..payload.flawed import Flawed
from ..payload.known import FRAME_SPINE, LEDGER_REF
from ..payload.spine import Spine, read_spine
from .interface import Pointed
from .known import LEDGER, SLICES, marker_text

SLICE_ID = "slice_comment_id"
_ID = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
_SLICE_LINE = re.compile(rf"[ \t]*+{SLICE_ID}:[ \t]*+([0-9]++)[ \t]*+", re.ASCII)
_LEDGER_LINE = re.compile(
    rf"[ \t]*+(?:(?:[-+*>]|[0-9]++[.)])[ \t]*+)*<!--[ \t]*+{LEDGER_REF.name}\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """One of them, as it stands in a plan."""

    kind: str
    """``phase-containment-ledger-ref`` or ``slice_comment_id``."""
    value: str
    line: int
    target: str
    """The marker on line 1 of the comment that it should lead to."""

    @property
    def id(self) -> int | None:
        """The comment's id; None where *value* cannot be one."""
        return int(self.value) if _ID.fullmatch(self.value) else None

    def __str__(self) -> str:
        return f"{self.kind} {echo(self.value)}"


def pointers(body: Body, number: int | None) -> tuple[Pointer, ...]:
    """All pointers in the plan of issue *number*."""
    return (*_to_ledger(body, number), *_to_slices(body, number))


def fault(pointer: Pointer, pointed: Pointed | None) -> str | None:
    """Why the pointer leads nowhere, as the rest of a sentence about it; None where it is good."""
    if pointer.id is None:
        return "is no comment's id"
    if pointed is None:
        return "leads to a comment that is gone"
    if not pointed.here:
        return "leads to a comment on another issue"
    if not matches(pointed.comment.body, pointer.target):
        return f"leads to a comment without {pointer.target} on line 1"
    if not pointed.trusted:
        return "leads to a comment of somebody who is not trusted"
    return None


def spine_of(body: Body) -> Spine | None:
    """The plan's spine; None where it has none or none that can be read."""
    blocks = find(body, FRAME_SPINE)
    return _spine(blocks[0]) if blocks else None


def _spine(block: Block) -> Spine | None:
    try:
        return read_spine(block)
    except Flawed:
        return None


def with_slice_id(body: Body, spine: Spine, comment_id: int) -> str:
    """The plan with the pointer to its slices: one line of *spine* is replaced or put in."""
    line, at = f"{SLICE_ID}: {comment_id}", spine.slice_line
    return body.replaced(at, at, [line]) if spine.has_slice_line else body.inserted(at, [line])


def near_pointers(body: Body) -> Iterator[range]:
    """The lines of each text that was meant to point to a ledger and that no reader sees."""
    taken = {block.first for block in find(body, LEDGER_REF)}
    hidden = {n for lines in body.regions.comments for n in lines[1:]} | body.fenced | taken
    whole = {lines.start: lines for lines in body.regions.comments}
    for number, line in enumerate(body.lines, 1):
        if number not in hidden and _LEDGER_LINE.match(line):
            yield whole.get(number, range(number, number + 1))


def lost_slice_id(body: Body) -> int | None:
    """The line of a pointer to slices that stands in a spine and cannot be read."""
    for block in find(body, FRAME_SPINE):
        if _spine(block) is None and not any(map(_SLICE_LINE.fullmatch, block.inner)):
            for number, line in enumerate(block.inner, block.inner_first):
                if SLICE_ID in line:
                    return number
    return None


def _to_ledger(body: Body, number: int | None) -> Iterator[Pointer]:
    for block in find(body, LEDGER_REF):
        yield Pointer(
            kind=LEDGER_REF.name,
            value=block.inner[0],
            line=block.first,
            target=marker_text(LEDGER, number),
        )


def _to_slices(body: Body, number: int | None) -> Iterator[Pointer]:
    for block in find(body, FRAME_SPINE):
        for line, value in _slice_ids(block):
            yield Pointer(kind=SLICE_ID, value=value, line=line, target=marker_text(SLICES, number))


def _slice_ids(block: Block) -> Iterator[tuple[int, str]]:
    """Line and value; of a spine that cannot be read those of lines that plainly say it."""
    spine = _spine(block)
    if spine is None:
        found = enumerate(map(_SLICE_LINE.fullmatch, block.inner), block.inner_first)
        yield from ((number, match[1]) for number, match in found if match)
    elif spine.slice_comment_id is not None:
        yield spine.slice_line, str(spine.slice_comment_id)

"""What a caller's files give the ledger: an authorising head, and phase-containment blocks.

What may live here: which texts are one head or whole blocks, and nothing else.  What may not: what
stands on the thread (``ledger``), and whether what they say is valid (``validators``).

Each function raises ``Refused`` with the line of its file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..blocks import Block, find
from ..body import BLANKS, Body
from ..errors import Refused, echo
from ..model import Family, Marker
from .containment import Keyed, blocks_in
from .excerpts import excerpt

HEAD = "head"
BLOCKS = "containment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The block that says what became of each finding, and so allows blocks to be counted."""

    own: Family
    other: Family
    """The head of the other review, which may not stand in the same comment."""
    placeholder: tuple[str, ...] = ()
    """Its lines where nothing was found; none where an empty one cannot be told from a lost one.

    It stands only where there are neither rulings nor blocks.
    """


def head_lines(text: str, head: Head) -> tuple[str, ...]:
    """The head's lines; none of an empty file or head, where such a head has a placeholder."""
    body = Body(text)
    if others := find(body, head.other):
        raise _at(HEAD, "wrong-head", others[0].first, f"{head.other.name} is of another review")
    if head.placeholder and not text.strip():
        return ()
    found = find(body, head.own)
    if len(found) != 1:
        line = found[1].first if found else 1
        detail = f"the file holds exactly one {head.own.name} block, which begins in column 1"
        raise _at(HEAD, "one-head", line, detail)
    if not found[0].closed:
        raise _at(HEAD, "unclosed-block", found[0].first, f"the {head.own.name} block has no end")
    _require_nothing_else(HEAD, body, found)
    if head.placeholder and not "".join(found[0].inner).strip():
        return ()
    return excerpt(body, found[0])


def empty_head(head: Head) -> Refused:
    """The refusal of a head without rulings where rulings or blocks are to go on."""
    detail = (
        f"it has no rulings, and there are some, or blocks, which an empty {head.own.name} head "
        "would void: leave the file out to keep what stands, or say in it that nothing was found "
        f"({'; '.join(line.strip(' -') for line in head.placeholder[1:-1])})"
    )
    return _at(HEAD, "empty-head", 1, detail)


def containment_blocks(text: str, marker: Marker) -> dict[str, Keyed]:
    """The blocks by the key of their finding, in the order of the file."""
    body = Body(text)
    given: dict[str, Keyed] = {}
    for each in blocks_in(body):
        if not isinstance(each, Keyed):
            raise _at(BLOCKS, each.code, each.line or 1, each.reason().detail)
        _require_own(each, marker)
        if each.key in given:
            detail = f"finding_key {echo(each.key)!r} is that of a block further up, too"
            raise _at(BLOCKS, "duplicate-finding-key", each.block.first, detail)
        given[each.key] = each
    _require_nothing_else(BLOCKS, body, (each.block for each in given.values()))
    return given


def _require_own(each: Keyed, marker: Marker) -> None:
    if each.block.id != str(marker.number):
        detail = f"the block's tags say {each.block.id}, and the number is {marker.number}"
        raise _at(BLOCKS, "block-number", each.block.first, detail)


def _require_nothing_else(file: str, body: Body, blocks: Iterable[Block]) -> None:
    outside = dict(enumerate(body.lines, 1))
    for block in blocks:
        for number in range(block.first, block.last + 1):
            outside[number] = ""
        outside[block.last] = block.tail
    for number, line in outside.items():
        if line.strip(BLANKS):
            detail = (
                f"{echo(line.strip(BLANKS))!r} is outside of the blocks, which begin in column 1"
            )
            raise _at(file, "stray-text", number, detail)


def _at(file: str, code: str, line: int, detail: str) -> Refused:
    return Refused(code, f"line {line} of the {file} file: {detail}", line=line)

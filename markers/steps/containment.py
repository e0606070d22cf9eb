"""Phase-containment blocks, told apart by their ``finding_key``.

What may live here: which blocks a text holds, whether two say the same, the stamp in one.  What may
not: which of them are written (``ledger``) or carried (``carried``); whether a block is valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..blocks import Block, find
from ..body import BLANKS, Body
from ..payload.containment import KEY, cut_key, read_containment
from ..payload.flawed import Flawed
from ..payload.known import PHASE_CONTAINMENT
from ..payload.problems import Problem
from .excerpts import excerpt

_STAMP = re.compile(r"[ \t]*appended_at[ \t]*:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """One block whose finding is known."""

    key: str
    block: Block
    lines: tuple[str, ...]
    """All of its lines, the tags included."""
    appended_at: str
    """The stamp as it stands there; empty where there is none."""

    def says(self) -> tuple[str, ...]:
        """Its lines as they are compared: without stamp, blank lines and trailing blanks."""
        stripped = (line.rstrip(BLANKS) for line in self.lines if not _STAMP.match(line))
        return tuple(line for line in stripped if line)


def blocks_in(body: Body) -> Iterator[Keyed | Problem]:
    """The blocks in the order of the text; a problem for each whose finding cannot be known."""
    for block in find(body, PHASE_CONTAINMENT):
        try:
            yield _keyed(body, block)
        except Flawed as flaw:
            yield flaw.problem


def latest(body: Body) -> Mapping[str, Keyed]:
    """The block that readers take for each finding: the one that was stamped last.

    Blocks whose finding cannot be known are left out.
    """
    found = [each for each in blocks_in(body) if isinstance(each, Keyed)]
    return {each.key: each for each in sorted(found, key=lambda each: each.appended_at)}


def unreadable(body: Body) -> Iterator[Problem]:
    """Why the blocks that are left out there are left out."""
    return (each for each in blocks_in(body) if isinstance(each, Problem))


def stamped(keyed: Keyed, now: str) -> tuple[str, ...]:
    """The block's lines with *now* as its stamp, whatever its own one says."""
    kept = [line for line in keyed.lines if not _STAMP.match(line)]
    return (*kept[:-1], f"appended_at: {now}", kept[-1])


def _keyed(body: Body, block: Block) -> Keyed:
    document = read_containment(block)
    key = document.value.get(KEY)
    if not isinstance(key, str) or not key:
        raise Flawed(_keyless(block))
    cut = cut_key(block, document)
    if cut is not None:
        raise Flawed(cut)
    return Keyed(
        key=key,
        block=block,
        lines=excerpt(body, block),
        appended_at=str(document.value.get("appended_at") or ""),
    )


def _keyless(block: Block) -> Problem:
    return Problem(
        code="missing",
        detail="the block says no finding_key, by which blocks are told apart",
        field=KEY,
        line=block.first,
    )

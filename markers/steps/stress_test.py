"""The Plan Stress-Test section of a plan: where it stands, and what of it is text.

What may live here: finding the section, in any usual spelling of its heading (contract, statement
16).  What may not: into which plan it is carried (``carried``).

::

    **Plan Stress-Test**    maybe with more behind it, or inside the bold; ends with the next line
                            that is bold as a whole, or with a heading of level 1 or 2
    ### Plan Stress-Test    ends with the next heading of its level or above

The named decisions end both.  A block inside is no part of it, and does not end it: it is carried
by its own rule or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..blocks import Block, find
from ..body import BLANKS, Body
from .excerpts import trimmed
from .known import IN_A_PLAN
from .pointers import near_pointers

_NAME = r"Plan[ \t]+Stress[- ]Test(?![A-Za-z0-9])"
_BOLD = re.compile(rf" {{0,3}}(?:\*\*|__)[ \t]*{_NAME}", re.IGNORECASE)
_MARKED = re.compile(rf" {{0,3}}(#{{1,6}})[ \t]+(?:\*\*|__)?{_NAME}", re.IGNORECASE)
_NEARLY = re.compile(rf"[ \t]*+(?:(?:[-+*>]|[0-9]++[.)]|#++)[ \t]*+)?[*_]*+{_NAME}", re.IGNORECASE)
_LEVEL = re.compile(r" {0,3}(#{1,6})(?:[ \t]|\Z)")
_BOLD_AS_A_WHOLE = re.compile(
    r" {0,3}(?:\*\*(?=\S)(?:(?!\*\*).)+\*\*|__(?=\S)(?:(?!__).)+__)[ \t]*+:?[ \t]*+"
)
_SENTINEL = re.compile(r" {0,3}<!--[ \t]*named-decisions:begin\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The first section of that name."""

    lines: tuple[str, ...]
    """Its text, the blocks in it left out."""
    left: tuple[int, ...] = ()
    """Lines that may belong to it and are not among these."""


def section(body: Body) -> Section | None:
    """The section; None where no line is a heading of that name."""
    first = heading(body)
    if first is None:
        return None
    stop = min((n for n in _bounds(body, first) if n > first), default=len(body.lines) + 1)
    inside = [block for block in _blocks(body) if first < block.first < stop]
    return Section(
        lines=_text(body, range(first, stop), _no_text(body, inside)),
        left=(*_around_blocks(inside), *(n for n in _headings(body) if n >= stop)),
    )


def heading(body: Body) -> int | None:
    """The line of the first heading of that name."""
    return next(_headings(body), None)


def nearly(body: Body) -> int | None:
    """The first line that names the section at its start, of a body without such a heading."""
    if heading(body) is not None:
        return None
    return next((n for n, line in _prose(body) if _NEARLY.match(line)), None)


def sentinel(body: Body) -> int | None:
    """The line on which the named decisions begin."""
    starts = (lines.start for lines in body.regions.comments)
    return next((n for n in starts if n > 1 and _SENTINEL.match(body.line(n))), None)


def _headings(body: Body) -> Iterator[int]:
    return (n for n, line in _prose(body) if _BOLD.match(line) or _MARKED.match(line))


def _bounds(body: Body, first: int) -> Iterator[int]:
    """The lines with which something else begins."""
    marked = _MARKED.match(body.line(first))
    deepest = max(2, len(marked[1])) if marked else 2
    for number, line in _prose(body):
        level = _LEVEL.match(line)
        bold = not marked and _BOLD_AS_A_WHOLE.fullmatch(line)
        if bold or (level and len(level[1]) <= deepest):
            yield number
    named = sentinel(body)
    if named is not None:
        yield named


def _blocks(body: Body) -> list[Block]:
    found = (block for family in IN_A_PLAN for block in find(body, family))
    return sorted(found, key=lambda block: block.first)


def _no_text(body: Body, blocks: list[Block]) -> set[int]:
    """The lines of blocks, and of pointers that are none, which nothing may carry either."""
    of_blocks = (range(block.first, block.last + 1) for block in blocks)
    return set().union(*of_blocks, *near_pointers(body))


def _text(body: Body, lines: range, hidden: set[int]) -> tuple[str, ...]:
    """The lines but for the hidden ones, and without a gap where one stood."""
    kept: list[str] = []
    closing_up = False
    for number in lines:
        blank = not body.line(number).strip(BLANKS)
        if number in hidden:
            closing_up = bool(kept) and not kept[-1].strip(BLANKS)
        elif not (blank and closing_up):
            kept.append(body.line(number))
            closing_up = False
    return trimmed(kept)


def _around_blocks(blocks: list[Block]) -> Iterator[int]:
    """Text on a block's own lines, and what a block without end has taken in."""
    for block in blocks:
        if block.tail.strip(BLANKS):
            yield block.last
        elif not block.closed and block.last > block.first:
            yield block.first + 1


def _prose(body: Body) -> Iterator[tuple[int, str]]:
    """The lines that are neither code nor part of an HTML comment, with their numbers."""
    hidden = body.fenced.union(*body.regions.comments)
    return ((n, line) for n, line in enumerate(body.lines, 1) if n not in hidden)

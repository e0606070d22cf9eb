"""Blocks inside a comment's body, found by line grammar.

What may live here: the four kinds of block that registry templates know.  What may not: lines and
how they are replaced (``body``), fences (``regions``), what a block says (``payload``,
``validators``).

The grammar; nothing inside a code fence is a block but for the last kind::

    "<!-- NAME ... -->"              <!-- NAME          or   <!-- NAME -->
                                     content                 content
                                     -->                     -->
    "<!-- A-{ID} --> ... <!-- /A-{ID} -->"   a line each, content between
    "<!-- NAME: {value} -->"         a line
    "NAME: ..."                      a line and the deeper-set or blank lines below it; this one
                                     may stand inside a code fence, which then ends it

A block begins in the first column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile

from .body import BLANKS, Body
from .codec import NUMBER, pieces
from .model import Family, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block in a body."""

    first: int
    last: int
    """Its last line, the closing one included; the end of the body where nothing closes it."""
    inner: tuple[str, ...]
    """The lines of its content; for a pointer its value."""
    inner_first: int
    """The line on which *inner* begins."""
    closed: bool = True
    id: str = ""
    """The number in the tags of a paired block, as spelled."""
    tail: str = ""
    """What stands behind the closing arrow on the last line; no part of the block."""


@lru_cache(maxsize=16)
def find(body: Body, family: Family) -> tuple[Block, ...]:
    """The blocks of *family* in the order of the text; none of a family that is no block.

    Several rules ask about the same body, one of them for each of its blocks.
    """
    if family.scope is Scope.POINTER:
        return tuple(_pointers(body, family.template))
    if family.scope is not Scope.BLOCK:
        return ()
    opening, _, closing = family.template.partition(" ...")
    grammar = _GRAMMARS[(opening.startswith("<!--"), bool(closing.strip(" ->")))]
    return tuple(grammar(body, opening, closing.strip()))


def splice(body: Body, block: Block, lines: Sequence[str]) -> str:
    """The text with *block*, its tags included, replaced by *lines*; all else stays as it is."""
    if block.tail:
        lines = [*lines[:-1], "".join(lines[-1:]) + block.tail]
    return body.replaced(block.first, block.last, lines)


def _pointers(body: Body, template: str) -> Iterator[Block]:
    before, _, after = pieces(template)
    for number in (lines.start for lines in _commented(body)):
        line = body.line(number).rstrip(BLANKS)
        if line.startswith(before) and line.endswith(after):
            value = line[len(before) : len(line) - len(after)].strip(BLANKS)
            yield Block(first=number, last=number, inner=(value,), inner_first=number)


def _commented(body: Body) -> Iterator[range]:
    """The lines of each comment that opens in the first column."""
    return (lines for lines in body.regions.comments if body.line(lines.start).startswith("<!--"))


def _opened(body: Body, opening: str, _closing: str) -> Iterator[Block]:
    """Comments that hold their content, in both forms."""
    for lines in _commented(body):
        line = body.line(lines.start).rstrip(BLANKS)
        if line == f"{opening} -->":
            yield _below_its_tag(body, lines.start)
        elif line == opening or line.startswith((opening + " ", opening + "\t")):
            yield _within(body, lines, opening)


def _within(body: Body, lines: range, opening: str) -> Block:
    """The form whose one comment holds the content, which may begin and end on the tag's lines."""
    held = list(body.between(lines))
    held[-1], arrow, tail = held[-1].partition("-->")
    held[0] = held[0].removeprefix(opening).strip(BLANKS)
    below = not held[0]
    inner = held[1:] if below else held
    if inner and not inner[-1].strip(BLANKS):
        inner.pop()
    return Block(
        first=lines.start,
        last=lines[-1],
        inner=tuple(inner),
        inner_first=min(lines.start + below, lines[-1]),
        closed=bool(arrow),
        tail=tail,
    )


def _below_its_tag(body: Body, first: int) -> Block:
    """The form whose tag is closed at once, and whose content a lone ``-->`` ends."""
    for number in range(first + 1, len(body.lines) + 1):
        line = body.line(number).strip(BLANKS)
        if line == "-->":
            inner = body.between(range(first + 1, number))
            return Block(first=first, last=number, inner=inner, inner_first=first + 1)
        if line.startswith("<!--"):
            break
    return Block(first=first, last=first, inner=(), inner_first=first + 1, closed=False)


def _paired(body: Body, opening: str, closing: str) -> Iterator[Block]:
    """Tags with a number; an opening one that nothing closes ends where the next one begins."""
    opens, closes = _tag(opening), _tag(closing)
    lines = ((lines.start, body.line(lines.start).rstrip(BLANKS)) for lines in _commented(body))
    tags = [(n, line) for n, line in lines if opens.fullmatch(line) or closes.fullmatch(line)]
    for (first, tag), (after, closer) in pairwise([*tags, (len(body.lines) + 1, "")]):
        match = opens.fullmatch(tag)
        if match is None:
            continue
        close = closes.fullmatch(closer)
        closed = close is not None and close[1] == match[1]
        yield Block(
            first=first,
            last=after if closed else after - 1,
            inner=body.between(range(first + 1, after)),
            inner_first=first + 1,
            closed=closed,
            id=match[1],
        )


def _tag(template: str) -> re.Pattern[str]:
    before, _, after = pieces(template)
    return re.compile(f"{re.escape(before)}({NUMBER}){re.escape(after)}")


def _headed(body: Body, head: str, _closing: str) -> Iterator[Block]:
    """A YAML key in the first column, in the open or in a code fence, and what is set below it."""
    stops = {n: fence.inner.stop for fence in body.fences for n in fence.inner}
    hidden = {n for lines in body.regions.comments for n in lines}
    for number, line in enumerate(body.lines, 1):
        if line.rstrip(BLANKS) == head and number not in hidden:
            below = range(number + 1, stops.get(number, len(body.lines) + 1))
            inner = [line, *takewhile(_set_deeper, map(body.line, below))]
            while not inner[-1].strip(BLANKS):
                inner.pop()
            last = number + len(inner) - 1
            yield Block(first=number, last=last, inner=tuple(inner), inner_first=number)


def _set_deeper(line: str) -> bool:
    return not line or line[0] in BLANKS


_GRAMMARS: dict[tuple[bool, bool], Callable[[Body, str, str], Iterator[Block]]] = {
    (True, False): _opened,
    (True, True): _paired,
    (False, False): _headed,
}
"""By whether the template is a comment, and whether its closing has a name."""

"""Lines taken out of one body and put at the end of another.

What may live here: cutting and adding whole lines.  What may not: which ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..blocks import Block
from ..body import BLANKS, Body
from ..errors import Refused, line_at

NEVER_CLOSED = (
    "what is opened here (a code fence or an HTML comment) is never closed, so that nothing can be "
    "put behind it; close it"
)


def excerpt(body: Body, block: Block) -> tuple[str, ...]:
    """All lines of a block, its tags included."""
    lines = body.between(range(block.first, block.last + 1))
    return (*lines[:-1], lines[-1].removesuffix(block.tail))


def trimmed(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines without the blank ones at their end."""
    last = len(lines)
    while last and not lines[last - 1].strip(BLANKS):
        last -= 1
    return tuple(lines[:last])


def joined(parts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Some blocks' lines as one run, a blank line between two of them."""
    lines = [line for part in parts for line in ("", *part)]
    return tuple(lines[1:])


def appended(text: str, lines: Sequence[str]) -> str:
    """The text with *lines* at its end, a blank line before them.

    Raises ``Refused`` (``unclosed``) where they would become part of code or of an HTML comment.
    """
    body = Body(text)
    first = left_open(body)
    if first is not None:
        raise Refused("unclosed", f"{line_at(first)}: {NEVER_CLOSED}", line=first)
    return body.appended(lines)


def left_open(body: Body) -> int | None:
    """The line on which a fence or comment begins that reaches the end of the text."""
    end = len(body.lines)
    for fence in body.fences[-1:]:
        if fence.last == end and not fence.closed:
            return fence.first
    for comment in body.regions.comments[-1:]:
        if comment[-1] == end and "-->" not in body.line(end):
            return comment.start
    return None

"""Which lines of a text are fenced code and which are HTML comments, as CommonMark reads them.

What may live here: the part of CommonMark's block structure that decides this: quotes, list items,
paragraphs, fences and comments.  What may not: markers, blocks, what anything says.

One pass, whose time grows with the text and nothing else.  Where it differs from CommonMark:

* other HTML than comments is text, so that a fence right below ``<details>`` is a fence here, while
  CommonMark reads it as HTML up to the next blank line (the names of some sixty tags decide);
* link definitions and tables are paragraphs;
* a quote or list item deeper than ``DEEPEST`` is text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

DEEPEST = 20
"""How many quotes and list items may hold each other: what bounds the work for one line."""

_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r" {0,3}(?:[-+*]|([0-9]{1,9})[.)])(?= |\Z)")
_RULE = re.compile(r" {0,3}(?:(?:\* *+){3,}|(?:- *+){3,}|(?:_ *+){3,})")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)")
_HEADING = re.compile(r" {0,3}#{1,6}(?: |\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,}) *(.*)")
_FENCE_END = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMENT = re.compile(r" {0,3}<!--")
_CODE = " " * 4
"""What makes a line code where no paragraph goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """Lines of fenced code, the fences included."""

    first: int
    last: int
    info: str
    """What follows the opening ticks, such as ``yaml``."""
    at_line_start: bool
    """Whether it opens in the first column: not inside a list or quote, and not indented."""
    closed: bool

    @property
    def inner(self) -> range:
        """The lines between the fences."""
        return range(self.first + 1, self.last if self.closed else self.last + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Regions:
    """Lines that are not Markdown, counted from 1."""

    fences: tuple[Fence, ...]
    comments: tuple[range, ...]


def regions(lines: Sequence[str]) -> Regions:
    """The fences and comments of a text, in its order."""
    reading = _Reading()
    for number, line in enumerate(lines, 1):
        reading.line(number, line.expandtabs(4).rstrip(" "))
    reading.close(len(lines))
    return Regions(fences=tuple(reading.fences), comments=tuple(reading.comments))


@dataclass(frozen=True, slots=True)
class _Open:
    """A fence or comment that is not closed yet."""

    first: int
    ticks: str = ""
    """The fence; empty for a comment."""
    info: str = ""
    at_line_start: bool = False


class _Reading:
    """What is open at the line that is read."""

    def __init__(self) -> None:
        self.fences: list[Fence] = []
        self.comments: list[range] = []
        self._holders: list[int] = []
        """The width of each list item's indentation; 0 for a quote."""
        self._started_blank = False
        """Whether the innermost holder is an item that has nothing in it yet."""
        self._paragraph = False
        self._leaf: _Open | None = None

    def line(self, number: int, text: str) -> None:
        """Read the next line, whose tabs are spaces, and which has none at its end."""
        depth, rest = self._held(text)
        inside = depth == len(self._holders)
        if self._leaf is not None:
            if inside:
                self._go_on(self._leaf, number, rest)
                return
            self.close(number - 1)
        if not rest:
            self._blank(depth)
            return
        paragraph = self._paragraph
        if paragraph and inside and _UNDERLINE.fullmatch(rest):
            self._paragraph = False
            return
        opened, rest = _opened(rest, DEEPEST - depth, interrupts=paragraph and inside)
        if paragraph and not opened and not _begins(rest):
            return  # the paragraph goes on, even where a quote's or item's own signs are missing
        self._holders[depth:] = opened
        self._started_blank = opened[-1:] > [0] and not rest
        self._paragraph = False
        self._begin(number, text, rest)

    def close(self, last: int, *, closed: bool = False) -> None:
        """End the open fence or comment with line *last*."""
        leaf, self._leaf = self._leaf, None
        if leaf is None:
            return
        if not leaf.ticks:
            self.comments.append(range(leaf.first, last + 1))
            return
        self.fences.append(
            Fence(
                first=leaf.first,
                last=last,
                info=leaf.info,
                at_line_start=leaf.at_line_start,
                closed=closed,
            )
        )

    def _held(self, rest: str) -> tuple[int, str]:
        """How many holders the line goes on with, and what is left of it behind their signs."""
        if not rest:  # one look instead of a loop, for the many blank lines that a text may have
            return ([*self._holders, 0].index(0), rest)
        for depth, width in enumerate(self._holders):
            quote = _QUOTE.match(rest) if width == 0 else None
            if quote:
                rest = rest[quote.end() :]
            elif width and rest.startswith(" " * width):
                rest = rest[width:]
            elif not width or rest:
                return depth, rest
        return len(self._holders), rest

    def _go_on(self, leaf: _Open, number: int, rest: str) -> None:
        if not leaf.ticks:
            ends = "-->" in rest
        else:
            fence = _FENCE_END.fullmatch(rest)
            ends = fence is not None and fence[1].startswith(leaf.ticks)
        if ends:
            self.close(number, closed=True)

    def _blank(self, depth: int) -> None:
        """End what a blank line ends: paragraphs, quotes, and an item that began with one."""
        if self._started_blank and depth == len(self._holders):
            depth -= 1
        del self._holders[depth:]
        self._started_blank = self._paragraph = False

    def _begin(self, number: int, text: str, rest: str) -> None:
        """Open what the line begins behind the signs of its holders."""
        if fence := _FENCE.fullmatch(rest):
            self._leaf = _Open(number, fence[1], fence[2], text.startswith(fence[1]))
        elif _COMMENT.match(rest):
            self._leaf = _Open(number)
            if "-->" in rest:
                self.close(number)
        else:
            self._paragraph = bool(rest) and not (rest.startswith(_CODE) or _begins(rest))


def _begins(rest: str) -> bool:
    """Whether a line that opens no holder begins something that ends a paragraph."""
    return bool(
        _FENCE.fullmatch(rest)
        or _COMMENT.match(rest)
        or _HEADING.match(rest)
        or _RULE.fullmatch(rest)
    )


def _opened(rest: str, room: int, *, interrupts: bool) -> tuple[list[int], str]:
    """The quotes and items that the line opens, at most *room*, and what is left of it.

    An item that interrupts a paragraph must have text and, if numbered, the number 1.
    """
    found: list[int] = []
    while len(found) < room and not _RULE.fullmatch(rest):
        if quote := _QUOTE.match(rest):
            found.append(0)
            rest = rest[quote.end() :]
        elif item := _ITEM.match(rest):
            text = rest[item.end() :]
            if interrupts and (not text or int(item[1] or 1) != 1):
                break
            spaces = len(text) - len(text.lstrip(" "))
            found.append(item.end() + (spaces if 0 < spaces <= 4 else 1))
            rest = rest[found[-1] :]
        else:
            break
        interrupts = False
    return found, rest

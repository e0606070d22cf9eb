"""A comment's body as lines, and how some of them are replaced.

What may live here: lines with their ends, and splicing.  What may not: which of them are code
(``regions``), the grammar of blocks (``blocks``), what anything says.

Lines end with LF, CRLF or CR and are counted from 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .regions import Fence, Regions, regions

__all__ = ["BLANKS", "Body", "Fence"]

BLANKS = " \t"
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")


@dataclass(frozen=True)
class Body:
    """A comment's text as lines that keep their ends."""

    text: str

    @cached_property
    def _split(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        found = [match.groups() for match in _LINE.finditer(self.text)]
        if len(found) > 1 and found[-2][1] == "":
            found.pop()  # the empty match at the very end of a text without a last line end
        return tuple(line for line, _ in found), tuple(end for _, end in found)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends; a text that ends with a line end has an empty last one."""
        return self._split[0]

    @property
    def ends(self) -> tuple[str, ...]:
        """The end of each line; empty for the last one alone."""
        return self._split[1]

    @cached_property
    def regions(self) -> Regions:
        """Which lines are code or comments."""
        return regions(self.lines)

    @property
    def fences(self) -> tuple[Fence, ...]:
        """All code fences, those in lists and quotes, too."""
        return self.regions.fences

    @cached_property
    def fenced(self) -> frozenset[int]:
        """The numbers of all lines of fenced code."""
        return frozenset(n for fence in self.fences for n in range(fence.first, fence.last + 1))

    def line(self, number: int) -> str:
        """One line without its end."""
        return self.lines[number - 1]

    def between(self, lines: range) -> tuple[str, ...]:
        """Some lines without their ends."""
        return self.lines[lines.start - 1 : lines.stop - 1]

    def replaced(self, first: int, last: int, lines: Sequence[str]) -> str:
        """The text with lines *first* to *last* replaced; all others stay byte for byte.

        ``last = first - 1`` inserts before line *first*; one past the last line appends.
        """
        kept = [line + end for line, end in zip(self.lines, self.ends, strict=True)]
        before, after = kept[: first - 1], kept[last:]
        end = self._end_beside(first, last)
        if lines and before and not self.ends[first - 2]:
            before[-1] += end  # the last line had no end, and now something follows it
        new = [line + end for line in lines]
        if new and not after:
            new[-1] = lines[-1]
        return "".join([*before, *new, *after])

    def _end_beside(self, first: int, last: int) -> str:
        """The end for new lines: that of what they replace, else of a neighbour.

        Not the one that most lines have: replacing may change which that is, and the same
        replacement would give another text the second time.
        """
        above = self.ends[max(first - 3, 0) : first - 1]  # of these one at least has an end
        beside = (*self.ends[first - 1 : last], *reversed(above), *self.ends[first - 1 : first])
        return next((end for end in beside if end), "\n")

    def inserted(self, after: int, lines: Sequence[str]) -> str:
        """The text with *lines* put after line *after*; 0 puts them in front."""
        return self.replaced(after + 1, after, lines)

    def appended(self, lines: Sequence[str]) -> str:
        """The text with *lines* at its end, a blank line before them."""
        last = len(self.lines)
        while last > 1 and not self.line(last).strip(BLANKS):
            last -= 1
        return self.inserted(last, ["", *lines])

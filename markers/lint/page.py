"""One text with its lines, its code, and where its author allows what would be found.

What may live here: what rules ask of a text.  What may not: the rules.  The Markdown parser is
asked only once something was found: most texts hold nothing, and it takes most of the time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter

from ..hygiene.fences import Blocks, blocks
from ..hygiene.invisible import is_blank
from .front import front_lines
from .spans import Inline, inline

_LINE = re.compile(r"\r\n|\r|\n")
_ALLOW = re.compile(
    r"<!--[ \t]*persist-marker:[ \t]*(allow(?:-file)?)(?::[^\r\n]{0,200}?)?[ \t]*-->"
)
_FAR = 1024
"""Characters before something on its line, above which it does not begin the line."""


@dataclass(frozen=True)
class Page:
    """A text, without a byte-order mark."""

    text: str
    markdown: bool = True
    strict: bool = False
    """What stands in code blocks counts, too."""
    _inline: dict[int, Inline] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(end.end() for end in _LINE.finditer(self.text))]

    def line_of(self, offset: int) -> int:
        """The number of the line that holds *offset*, from 1."""
        return bisect_right(self._starts, offset)

    def column_of(self, offset: int) -> int:
        """The place of *offset* in its line, from 1, in characters."""
        return offset - self._starts[self.line_of(offset) - 1] + 1

    def line(self, number: int) -> str:
        """One line with its end."""
        following = self._starts[number] if number < len(self._starts) else None
        return self.text[self._starts[number - 1] : following]

    def begins_line(self, offset: int) -> bool:
        """Whether nothing that can be seen stands before *offset* on its line."""
        start = self._starts[self.line_of(offset) - 1]
        return offset - start <= _FAR and is_blank(self.text[start:offset])

    @cached_property
    def _front(self) -> int:
        """How many lines of front matter the text begins with."""
        numbers = range(1, len(self._starts) + 1) if self.markdown else ()
        return front_lines(self.line(number).rstrip("\r\n") for number in numbers)

    def in_front(self, offset: int) -> bool:
        """Whether *offset* lies in front matter, which is not Markdown."""
        return self.line_of(offset) <= self._front

    @cached_property
    def _blocks(self) -> Blocks:
        """The blocks below the front matter, which would be read as a heading or a list."""
        return blocks(self.text[self._below(1) :])

    def _below(self, line: int) -> int:
        """Where a line below the front matter begins, as counted there; the end for one too far."""
        index = line - 1 + self._front
        return self._starts[index] if index < len(self._starts) else len(self.text)

    def html_blocks(self) -> Iterator[tuple[int, str]]:
        """Where each block of HTML ends, and the block."""
        for lines in self._blocks.html if self.markdown else ():
            end = self._below(lines.stop)
            yield end, self.text[self._below(lines.start) : end]

    def surroundings(self, first: int, last: int) -> range:
        """The blocks from that before *first* to that behind *last*; empty where none can be told.

        What stands further away is read alike as long as these are.
        """
        tops = self._blocks.tops
        if not tops:
            return range(0)
        front = self._front
        before = bisect_right(tops, self.line_of(first) - front) - 2
        behind = bisect_right(tops, self.line_of(last) - front) + 1
        start = self._below(tops[before] if before >= 0 else 1)
        return range(start, self._below(tops[behind]) if behind < len(tops) else len(self.text))

    def in_code(self, offset: int) -> bool:
        """Whether *offset* lies in a code block, fenced or indented."""
        line = self.line_of(offset) - self._front
        return self.markdown and (line in self._blocks.fenced or line in self._blocks.indented)

    def counts(self, offset: int) -> bool:
        """Whether what stands at *offset* is looked at: a code block holds examples."""
        return self.strict or not self.in_code(offset)

    def inline_at(self, offset: int) -> Inline | None:
        """The inline code of the stretch around *offset*; None where backticks make no code."""
        if not self.markdown:
            return None
        line = self.line_of(offset) - self._front
        at = bisect_right(self._blocks.prose, line, key=attrgetter("start")) - 1
        if at < 0 or line not in (lines := self._blocks.prose[at]):
            return None
        start = self._below(lines.start)
        if start not in self._inline:
            self._inline[start] = inline(self.text, start, self._below(lines.stop))
        return self._inline[start]

    @cached_property
    def _allowing(self) -> list[re.Match[str]]:
        """The comments that allow; one in code is an example of such a comment."""
        return [
            found for found in _ALLOW.finditer(self.text) if not self._is_example(found.start())
        ]

    def _is_example(self, offset: int) -> bool:
        around = self.inline_at(offset)
        return self.in_code(offset) or (around is not None and around.end_at(offset) is not None)

    @cached_property
    def _allowed_lines(self) -> frozenset[int]:
        """The line of a comment that allows, or the next where it stands alone."""
        found = ((self.line_of(each.start()), each[0]) for each in self._allowing)
        return frozenset(
            n + (self.line(n).strip().lstrip("> \t") == comment) for n, comment in found
        )

    @cached_property
    def _allowed_whole(self) -> bool:
        return any(found[1] == "allow-file" for found in self._allowing)

    def allows(self, line: int) -> bool:
        """Whether the author lets stand what is found in *line*."""
        return self._allowed_whole or line in self._allowed_lines

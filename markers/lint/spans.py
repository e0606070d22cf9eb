"""Inline code in a stretch of Markdown, as CommonMark pairs backticks.

What may live here: where inline code begins and ends.  What may not: blocks (``hygiene.fences``),
and what stands inside.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

_TOKEN = re.compile(r"\\[!-/:-@\[-`{-~]|(?P<ticks>`+)|(?P<comment><!--)")
_TICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Inline:
    """The inline code of one stretch, between its backticks, in order."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def end_at(self, offset: int) -> int | None:
        """Where the inline code that holds *offset* ends; None outside of any."""
        at = bisect_right(self.starts, offset) - 1
        return self.ends[at] if at >= 0 and offset < self.ends[at] else None


def inline(text: str, start: int, end: int) -> Inline:
    """Pair the backticks between *start* and *end*; those of comments and escapes do not count."""
    runs = _runs(text, start, end)
    starts, ends, last_closing = [], [], text.rfind("-->", start, end)
    at = start
    while token := _TOKEN.search(text, at, end):
        at = token.end()
        if token["ticks"]:
            closing = _partner(runs.get(len(token["ticks"]), []), at)
            if closing is None:
                continue
            starts.append(at)
            ends.append(closing)
            at = closing + len(token["ticks"])
        elif token["comment"] and at <= last_closing:
            at = text.index("-->", at, end) + 3
    return Inline(tuple(starts), tuple(ends))


def _runs(text: str, start: int, end: int) -> dict[int, list[int]]:
    """Where runs of backticks begin, by their length: only equal lengths pair up."""
    runs: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text, start, end):
        runs.setdefault(len(run[0]), []).append(run.start())
    return runs


def _partner(runs: list[int], after: int) -> int | None:
    at = bisect_left(runs, after)
    return runs[at] if at < len(runs) else None

"""Which lines of a comment are code, as CommonMark reads them.

What may live here: asking the Markdown parser.  What may not: markers.  The parser is imported when
it is first asked, since most bodies need no answer.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


MOST_WORK = 500_000
"""Levels times lines that the parser may have to look at; it looks at each line on each level."""
_OPENING = re.compile(r">|[-*+](?=[ \t])|[0-9]+[.)](?=[ \t])")
_CONTAINERS = re.compile(r"^[ \t]*+(?:(?:>|[-*+](?=[ \t])|[0-9]{1,9}[.)](?=[ \t]))[ \t]*+)+", re.M)


@dataclass(frozen=True, slots=True)
class Blocks:
    """A text's leaf blocks, as ranges of lines that count from 1."""

    fenced: frozenset[int]
    """Lines of fenced code, the fences themselves included."""
    indented: frozenset[int]
    """Lines of code that only its indentation makes code."""
    prose: tuple[range, ...]
    """Paragraphs, headings, table rows."""
    html: tuple[range, ...]
    tops: tuple[int, ...]
    """Where each block begins that no other one holds, link definitions left out; empty where the
    text was too deep to be read."""


@lru_cache(maxsize=2)
def blocks(text: str) -> Blocks:
    """Read *text* as CommonMark with GitHub's tables; several rules ask about the same text.

    A fence may be nested in lists and quotes, may never be closed, and is none inside an HTML
    block: a ``<!--`` comment that holds three backticks opens no code.  A text that nests so much
    that the parser would take minutes is read as prose throughout, which exempts nothing.
    """
    if _depth(text) * (text.count("\n") + 1) > MOST_WORK:
        whole = range(1, text.count("\n") + 2)
        return Blocks(fenced=frozenset(), indented=frozenset(), prose=(whole,), html=(), tops=())
    with _uncollected():
        return _leaves(_parser().parse(text))


def _leaves(tokens: Sequence[Token]) -> Blocks:
    return Blocks(
        fenced=frozenset(line for lines in _ranges(tokens, ("fence",)) for line in lines),
        indented=frozenset(line for lines in _ranges(tokens, ("code_block",)) for line in lines),
        prose=tuple(lines for lines, _ in groupby(_ranges(tokens, ("inline",)))),
        html=tuple(_ranges(tokens, ("html_block",))),
        tops=tuple(t.map[0] + 1 for t in tokens if t.map and t.level == 0 and t.nesting >= 0),
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector from walking all tokens over and over, half of the time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _depth(text: str) -> int:
    """How many quotes and lists the deepest line opens; the parser follows no more than 20."""
    openings = (len(_OPENING.findall(prefix)) for prefix in _CONTAINERS.findall(text))
    return min(max(openings, default=0), 20)


def _ranges(tokens: Iterable[Token], kinds: tuple[str, ...]) -> Iterator[range]:
    for token in tokens:
        if token.type in kinds and token.map:
            yield range(token.map[0] + 1, token.map[1] + 1)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    # Blocks are all that is asked for; reading what is inside them is most of the parser's work.
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser

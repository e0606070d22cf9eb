"""Which lines of a comment are code, as CommonMark reads them.

What may live here: asking the Markdown parser.  What may not: markers.  The parser is imported when
it is first asked, since most bodies need no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


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


@lru_cache(maxsize=2)
def blocks(text: str) -> Blocks:
    """Read *text* as CommonMark with GitHub's tables; several rules ask about the same text.

    A fence may be nested in lists and quotes, may never be closed, and is none inside an HTML
    block: a ``<!--`` comment that holds three backticks opens no code.
    """
    tokens = _parser().parse(text)
    return Blocks(
        fenced=frozenset(line for lines in _ranges(tokens, ("fence",)) for line in lines),
        indented=frozenset(line for lines in _ranges(tokens, ("code_block",)) for line in lines),
        prose=tuple(dict.fromkeys(_ranges(tokens, ("inline",)))),
        html=tuple(_ranges(tokens, ("html_block",))),
    )


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

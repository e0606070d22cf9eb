"""Whether two stretches of Markdown are shown alike, but for literals and what replaces them.

What may live here: what a reader sees of Markdown, and what HTML leaves open.  What may not: which
literals there are and what replaces them (``mending``).

The words of each literal carry a ``MARK`` in both stretches.  A literal that is an HTML comment,
the words as code and the bare words are taken for the same; all the rest must be equal, token by
token, and no literal may stand where nothing is shown, such as in a link definition.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from html import escape
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MARK = "zqxjvkzqx"
"""Letters, as words are made of, so that they make no difference; and in nobody's text."""

_TEXTUAL = re.compile(
    r"<(/?)(?:script|style|textarea|title|xmp|iframe|noembed|noframes|plaintext)\b", re.IGNORECASE
)
"""Elements in which HTML knows no comments and no other elements."""

_COMMENT = re.compile("<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"""<[a-z/!?](?:[^"'<>]++|"[^"]*+"|'[^']*+')*>""", re.IGNORECASE)
_TAG_START = re.compile("<[a-z/!?]", re.IGNORECASE)
_INSIDE = r"(?:(?!<!--|-->).)*"
_LITERAL = re.compile(rf"<!--({_INSIDE}{MARK}{_INSIDE})(?:-->)?")

Piece = tuple[str, str]
"""What kind of thing is shown, and what it says."""
_TEXT = "text"


def alike(before: str, after: str, words: Collection[str], literals: int) -> bool:
    """Whether *after* is shown as *before* is.

    *words* are the marked words of the literals in *before*, of which there are *literals*.
    """
    shown = _shown(before, words)
    marks = sum(text.count(MARK) for _, text in shown)
    return marks == literals and shown == _shown(after, words)


def leaves_open(html: str) -> bool:
    """Whether a comment, a tag or an element of mere text goes on behind *html*."""
    if html.rfind("<!--") > html.rfind("-->"):
        return True
    seen = _COMMENT.sub("", html)
    elements = _TEXTUAL.findall(seen)
    return elements[-1:] == [""] or _TAG_START.search(_TAG.sub("", seen)) is not None


def _shown(text: str, words: Collection[str]) -> list[Piece]:
    """All that is shown, text that nothing parts in one piece."""
    shown: list[Piece] = []
    for kind, run in groupby(_pieces(_parser().parse(text), words), key=itemgetter(0)):
        texts = [text for _, text in run]
        shown += [(kind, each) for each in (["".join(texts)] if kind == _TEXT else texts)]
    return shown


def _pieces(tokens: Iterable[Token], words: Collection[str]) -> Iterator[Piece]:
    for token in tokens:
        if token.type == "code_inline":
            yield _code(token, words)
        elif token.type != "inline":  # what it holds are its children
            yield from _READERS.get(token.type, _other)(token)
        yield from _pieces(token.children or (), words)


def _code(token: Token, words: Collection[str]) -> Piece:
    content = _bare(token.content)
    return (_TEXT if content in words else token.type), escape(content, quote=False)


def _text(token: Token) -> Iterator[Piece]:
    yield _TEXT, escape(_bare(token.content), quote=False)


def _tag(token: Token) -> Iterator[Piece]:
    """HTML between words: the literal itself, a tag that may hold it, or a longer comment."""
    if _TEXTUAL.match(token.content):
        yield token.type, MARK  # one too many: what stands in such an element is not to be touched
    kind = _TEXT if _LITERAL.fullmatch(token.content) else token.type
    yield kind, _unescaped(token.content)


def _block(token: Token) -> Iterator[Piece]:
    """HTML between blocks: a line that a literal begins becomes a paragraph, all else stays."""
    line = token.content.strip()
    if "\n" in line or not _LITERAL.match(line):
        yield token.type, token.content
        return
    yield "paragraph_open", ""
    yield _TEXT, _unescaped(line)
    yield "paragraph_close", ""


def _paragraph(token: Token) -> Iterator[Piece]:
    yield token.type, ""


def _other(token: Token) -> Iterator[Piece]:
    own = "" if token.children else token.content
    values = [f"{name}={value}" for name, value in token.attrs.items()]
    yield token.type, _bare("\n".join([token.tag, *values, token.info, own]))


_READERS = {
    "html_block": _block,
    "html_inline": _tag,
    "paragraph_close": _paragraph,
    "paragraph_open": _paragraph,
    "text": _text,
}


def _bare(text: str) -> str:
    """*text* with the words of marked literals in their place."""
    return _LITERAL.sub(lambda found: found[1].strip(), text) if MARK in text else text


def _unescaped(html: str) -> str:
    """HTML with marked literals replaced by their words as text."""
    if MARK not in html:
        return html
    return _LITERAL.sub(lambda found: escape(found[1].strip(), quote=False), html)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])

"""Mentions that GitHub would turn into notifications, and the same text with nobody told.

What may live here: where GitHub sees a mention.  What may not: whether one is allowed
(``hygiene``).

A mention is ``@name`` or ``@org/team`` that no letter, digit or underscore precedes, in text that
is shown: not in code, HTML comments, tags, addresses or links' targets.  GitHub looks at what
Markdown has made of the text, so an entity-coded or escaped ``@`` counts.  Where in doubt it is
taken for a mention: a package scope (``@scope/name``) looks like a team.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property

_AT = r"(?:@|&#0{0,8}64;|&#[xX]0{0,8}40;|&commat;)"
_MENTION = (
    rf"(?<![A-Za-z0-9_@])\\?{_AT}"
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9_-]{0,38}(?![A-Za-z0-9_-])"
    r"(?:/[A-Za-z0-9][A-Za-z0-9_.-]{0,99})?)"
)
# A tag as CommonMark reads it: what only resembles one is shown, mentions included.
_ATTRIBUTE = r"""\s++[A-Za-z_:][\w.:-]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'=<>`]++))?"""
_TAG_END = rf"(?:{_ATTRIBUTE})*+\s*+/?>"
_TOKEN = (
    rf"(?P<mention>{_MENTION})"
    r"|(?P<escape>\\[!-/:-?\[-`{-~])"
    r"|(?P<ticks>`+)"
    r"|(?P<comment><!--)"
    rf"|(?P<quiet><(?P<tag>code|pre|a|script|style){_TAG_END})"
    r"|(?P<target>\]\([^()\s]*\))|(?P<bracket>[\[\]])"
    rf"|(?P<skip></?[A-Za-z][A-Za-z0-9-]*+{_TAG_END}|<[A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^\s<>]*>"
    r"|(?:https?|ftp)://[^\s<>]+|\bwww\.[^\s<>]+)"
)
ROUNDS = 4
_TICKS = re.compile(r"`+")
_SIGN = re.compile(r"[@&]")
_LINE = re.compile(r"\r\n|\r|\n")
# Without these in it a text is prose from end to end, and no parser is needed to say so.
_MARKUP = re.compile(r"[`<]|~~~|(?<![^\r\n])(?: {0,3}\t| {4})|[>.)*+-][ \t]{4}")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled when the first text asks: that takes longer than most texts do."""
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention, and how to show it so that it reaches nobody."""

    start: int
    end: int
    name: str
    line: int
    html: bool
    """It stands where backticks would not make code, or would pair up wrongly."""

    @property
    def quiet(self) -> str:
        """The same words as inline code."""
        return f"<code>@{self.name}</code>" if self.html else f"`@{self.name}`"


def find(text: str) -> list[Mention]:
    """The mentions below line 1, in order."""
    first = _LINE.search(text)
    if (
        first is None
        or not _SIGN.search(text)
        or _compiled(_MENTION).search(text, first.end()) is None
    ):
        return []
    starts = [0, *(end.end() for end in _LINE.finditer(text)), len(text)]
    found = [mention for region in _regions(text, starts) for mention in region.mentions()]
    return sorted(found, key=lambda mention: mention.start)


def neutralise(text: str, *, most: int) -> str:
    """*text* with each mention as inline code; code and hidden text stay as they are.

    In ``@one@two`` the second becomes a mention once the first is none: hence the rounds.  What is
    left after them, or once the text has outgrown *most* characters, is for the caller to find.
    """
    for _ in range(ROUNDS):
        found = find(text) if len(text) <= most else []
        if not found:
            break
        text = _quietened(text, found)
    return text


def _quietened(text: str, found: list[Mention]) -> str:
    pieces, at = [], 0
    for mention in found:
        pieces += [text[at : mention.start], mention.quiet]
        at = mention.end
    return "".join([*pieces, text[at:]])


def _regions(text: str, starts: list[int]) -> Iterator[_Region]:
    if _MARKUP.search(text, starts[1]) is None:
        yield _Region(text, starts, starts[1], len(text), html=False)
        return
    from .fences import blocks

    found = blocks(text)
    for html, ranges in ((False, found.prose), (True, found.html)):
        for lines in ranges:
            start = max(starts[lines.start - 1], starts[1])
            yield _Region(text, starts, start, starts[min(lines.stop, len(starts)) - 1], html=html)


@dataclass
class _Region:
    """A stretch of text inside which backticks and tags pair up."""

    text: str
    starts: list[int]
    start: int
    end: int
    html: bool
    absent: set[str] = field(default_factory=set)
    """What was looked for in vain: it is not looked for again."""
    lonely: bool = False
    """A run of backticks was met that has no partner."""
    brackets: int = 0
    """How many are open: only then ``](...)`` can be the end of a link."""

    def mentions(self) -> list[Mention]:
        """The mentions that are shown, in order."""
        found: list[re.Match[str]] = []
        at = self.start
        while token := _compiled(_TOKEN).search(self.text, at, self.end):
            at = self._after(token)
            if token["mention"]:
                found.append(token)
        return [self._mention(token) for token in found]

    def _after(self, token: re.Match[str]) -> int:
        """Where reading goes on: past what the token hides, if it hides anything."""
        if token["ticks"] and not self.html:
            return self._code_end(token)
        if token["bracket"]:
            self.brackets = max(0, self.brackets + (1 if token["bracket"] == "[" else -1))
        if token["target"]:
            self.brackets -= 1
            if self.brackets < 0:
                self.brackets = 0
                return token.start() + 1
        if token["comment"]:
            return self._past(token, "-->")
        if token["quiet"]:
            return self._past(token, f"</{token['tag'].lower()}>")
        return token.end()

    def _past(self, token: re.Match[str], closing: str) -> int:
        if closing not in self.absent:
            found = self.text.find(closing, token.end(), self.end)
            if found >= 0:
                return found + len(closing)
            self.absent.add(closing)
        return token.end()

    @cached_property
    def _runs(self) -> dict[int, list[int]]:
        """Where runs of backticks begin, by their length: only equal lengths pair up."""
        runs: dict[int, list[int]] = {}
        for run in _TICKS.finditer(self.text, self.start, self.end):
            runs.setdefault(len(run[0]), []).append(run.start())
        return runs

    def _code_end(self, token: re.Match[str]) -> int:
        runs = self._runs.get(len(token[0]), [])
        following = bisect_left(runs, token.end())
        if following < len(runs):
            return runs[following] + len(token[0])
        self.lonely = True
        return token.end()

    def _mention(self, token: re.Match[str]) -> Mention:
        beside = self.text[token.start() - 1 : token.start()] + self.text[token.end() :][:1]
        return Mention(
            start=token.start(),
            end=token.end(),
            name=token["name"],
            line=bisect_left(self.starts, token.start() + 1),
            html=self.html or self.lonely or "`" in beside,
        )

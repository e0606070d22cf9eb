"""Tokens that must not be published, known by their shape.

What may live here: finding a shape in a text.  What may not: the shapes themselves
(``registry/secrets.toml``), and any value that was found: rule and line are all that leaves.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..codec import lines_of
from ..contract.files import shipped as registry
from ..errors import MASK, echo
from .invisible import UNSEEN, visible

# Invisible characters, and any character that a message has escaped.
_UNPLAIN = re.compile(rf"\\+(?:u[0-9a-f]{{4}}|U[0-9a-f]{{8}}|x[0-9a-f]{{2}})|[{UNSEEN}]")
# A shape ends where a token is known; the token itself goes on.
_REST = re.compile(r"""[^\s'"<>()\[\]{},;]*""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One shape, as its entry in the table declares it."""

    id: str
    description: str
    pattern: str
    keywords: tuple[str, ...] = ()
    """The pattern is tried only where one of these occurs; always, where there are none."""
    ignore_case: bool = False

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern; compiled when a keyword was met, and kept by ``re`` itself."""
        return re.compile(self.pattern, re.IGNORECASE if self.ignore_case else 0)


@dataclass(frozen=True, slots=True)
class Hit:
    """A shape that was found, without what was found."""

    rule: Rule
    line: int


@cache
def shipped() -> tuple[Rule, ...]:
    """The rules that come with the package, in the table's order."""
    return parsed(tomllib.loads(registry().joinpath("secrets.toml").read_text("utf-8")))


def parsed(table: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules of a table that its schema has accepted."""
    return tuple(
        Rule(**{**entry, "keywords": tuple(entry.get("keywords", ()))}) for entry in table["rule"]
    )


def find(text: str, *, allowed: Collection[str] = ()) -> Iterator[Hit]:
    """The first hit of each rule in *text*, but of those whose ids are *allowed*.

    A shape with invisible characters inside is one, too: whoever copies it gets the token.
    """
    seen = visible(text)
    for reading in (text,) if seen == text else (text, seen):
        yield from _found(reading, allowed)


def _found(text: str, allowed: Collection[str]) -> Iterator[Hit]:
    lowered = text.lower()
    for rule in shipped():
        if rule.id in allowed or not _may_hold(rule, lowered if rule.ignore_case else text):
            continue
        match = rule.compiled.search(text)
        if match is not None:
            yield Hit(rule, len(lines_of(text[: match.start()])))


def _may_hold(rule: Rule, text: str) -> bool:
    return not rule.keywords or any(keyword in text for keyword in rule.keywords)


def safe_echo(text: str) -> str:
    """Show refused text as ``errors.echo`` does, unless it holds what looks like a secret."""
    return "(not shown: it looks like a secret)" if any(find(text)) else echo(text)


def masked(text: str) -> str:
    """A message with each token taken out whole, one with invisible or escaped characters, too."""
    hidden = {at for match in _UNPLAIN.finditer(text) for at in range(*match.span())}
    places = [at for at in range(len(text)) if at not in hidden]
    joined = "".join(text[at] for at in places)
    spans = [(places[start], places[end - 1] + 1) for start, end in _spans(joined)]
    # What is hidden can also end a word before a token, and a message may show one in an address.
    apart = _UNPLAIN.sub(lambda match: " " * len(match[0]), text).replace("/", " ")
    spans += [] if apart == text else _spans(apart)
    pieces, done = [], 0
    for start, end in sorted(spans):
        if start >= done:
            pieces += [text[done:start], MASK]
        done = max(done, end)
    return "".join([*pieces, text[done:]])


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where tokens are, from where their shape is known to their ends."""
    lowered = text.lower()
    for rule in shipped():
        if _may_hold(rule, lowered if rule.ignore_case else text):
            for match in rule.compiled.finditer(text):
                rest = _REST.match(text, match.end())
                yield match.start(), rest.end() if rest else match.end()

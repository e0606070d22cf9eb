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
from ..errors import echo


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
    """The first hit of each rule in *text*, but of those whose ids are *allowed*."""
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

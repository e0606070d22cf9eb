"""What a completion account says of its review (contract, statement 27).

What may live here: finding the assertion, and the verdict on it.  What may not: whose account
counts (``readers``).

The assertion is a line of its own, in any letter case, maybe in a list, a quote or emphasis::

    adversarial_review_ran: VALUE   # comment

Emphasis ends before the colon or after the value: ``**adversarial_review_ran:** yes`` is no
assertion for upstream's reader, and so for none.  Inside a code fence, an HTML comment or a YAML
block scalar it is only shown, in a quote as elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..body import BLANKS, Body

Word: TypeAlias = Literal[
    "ran", "declared-not-run", "unasserted", "value-unrecognised", "duplicate-assertion"
]
_POLARITY: dict[str, Word] = {
    **dict.fromkeys(("true", "yes", "on", "t", "y"), "ran"),
    **dict.fromkeys(("false", "no", "off", "f", "n"), "declared-not-run"),
}
_ASSERTION = re.compile(
    r"[ \t]*+(?:[-*>][ \t]*+)*?(?:\*\*|__)?adversarial_review_ran(?:\*\*|__)?"
    r"[ \t]*+:[ \t]*+([^\s#]+)[ \t]*+(?:\#.*)?",
    re.IGNORECASE,
)
_AROUND = "\"',.;*`"
_BLOCK_SCALAR = re.compile(
    r"(?::[ \t]*|(?:^|[ \t])[-?][ \t]+)(?:[!&]\S{0,80}[ \t]+){0,2}"
    r"[|>][-+0-9]{0,2}(?:[ \t]+\#.*)?[ \t]*\Z"
)
"""How a line ends below which a block scalar may stand; tags are bounded so that it is quick."""
_QUOTE = re.compile(r"[ \t]*>[ ]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an account says; only ``ran`` says that a review ran."""

    word: Word
    value: str | None = None
    """The value as it is spelled, without what surrounds it; None where values contradict."""
    line: int | None = None
    """The line of the first assertion."""
    duplicates: tuple[int, ...] = ()
    """The lines of further ones; those that say the same contradict nothing."""


def verdict(body: Body) -> Verdict:
    """The verdict on an account; absence is not run, and no contradiction is resolved."""
    found = list(_assertions(body))
    if not found:
        return Verdict(word="unasserted")
    (line, value), *others = found
    words = {_meant(each) for _, each in found}
    duplicates = tuple(number for number, _ in others)
    if len(words) > 1:
        return Verdict(word="duplicate-assertion", line=line, duplicates=duplicates)
    word = _POLARITY.get(value.lower(), "value-unrecognised")
    return Verdict(word=word, value=value, line=line, duplicates=duplicates)


def _meant(value: str) -> str:
    """What tells values apart: ``yes`` and ``true`` are one, two unknown words are two."""
    return _POLARITY.get(value.lower(), value.lower())


def _assertions(body: Body) -> Iterator[tuple[int, str]]:
    hidden = body.fenced | _commented(body)
    hidden |= _scalars(body, hidden)
    for number, line in enumerate(body.lines, 1):
        match = _ASSERTION.fullmatch(line)
        if match is not None and number not in hidden:
            yield number, match[1].strip(_AROUND)


def _commented(body: Body) -> frozenset[int]:
    """Lines of HTML comments, those that begin in the middle of a line included."""
    lines = {n for comment in body.regions.comments for n in comment}
    opened: int | None = None
    for number, line in enumerate(body.lines, 1):
        if number in lines or number in body.fenced or not line.strip(BLANKS):
            opened = None  # a paragraph ends here, and what it opened was text
            continue
        if opened is not None and "-->" in line:
            lines.update(range(opened + 1, number + 1))
            opened = None
        if line.rfind("<!--") > line.rfind("-->"):
            opened = number if opened is None else opened
    return frozenset(lines)


def _scalars(body: Body, hidden: frozenset[int]) -> frozenset[int]:
    """Lines of YAML block scalars: those set deeper than their key, and blank ones."""
    lines: set[int] = set()
    key: str | None = None
    for number, line in enumerate(body.lines, 1):
        if key is not None and _is_below(line, key):
            lines.add(number)
        else:
            key = line if number not in hidden and _opens_scalar(line) else None
    return frozenset(lines)


def _opens_scalar(line: str) -> bool:
    _, text = _unquoted(line)
    return not text.lstrip(BLANKS).startswith("#") and bool(_BLOCK_SCALAR.search(line))


def _is_below(line: str, key: str) -> bool:
    """Whether a line belongs to the scalar of *key*: in the line as it is, or within its quotes."""
    if not line.strip(BLANKS) or _depth(line) > _depth(key):
        return True
    quotes, key_text = _unquoted(key)
    found, text = _unquoted(line, quotes)
    return found == quotes > 0 and (not text.strip(BLANKS) or _depth(text) > _depth(key_text))


def _unquoted(line: str, most: int | None = None) -> tuple[int, str]:
    """How many quotes a line stands in, *most* of them at the most, and what it says there."""
    count = at = 0
    while count != most and (quote := _QUOTE.match(line, at)):
        count, at = count + 1, quote.end()
    return count, line[at:]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(BLANKS))

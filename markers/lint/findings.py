"""What a look at one text brings to light, and the same text with it mended.

What may live here: plain values, and applying edits.  What may not: any rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters from *start* to *end* by *text*."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong; line and column count from 1, columns in characters."""

    line: int
    column: int
    code: str
    detail: str
    literal: str
    """What stands there; at most 80 characters of it."""
    inert: str | None = None
    """What a marker literal should be instead; as bounded as *literal*."""
    edit: Edit | None = None
    """How to mend it; None where a program should not."""


def mended(text: str, findings: Iterable[Finding]) -> str:
    """*text* with every edit applied; all other characters stay as they are."""
    return edited(text, (finding.edit for finding in findings if finding.edit), range(len(text)))


def edited(text: str, edits: Iterable[Edit], part: range) -> str:
    """A *part* of *text* with the *edits*, which all lie in it."""
    pieces, at = [], part.start
    for edit in sorted(edits, key=lambda edit: edit.start):
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, text[at : part.stop]])

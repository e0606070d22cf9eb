"""The lines of SESSION-STATE.md: which are headings, which are entries, and changing those alone.

What may live here: reading lines, putting an entry in, taking entries out; pure, and of the
standard library but for ``regions``, since hooks run it at every turn.  What may not: what the
sections are for.

A line ends at a line feed and nowhere else, as the other programs that read the file have it; a
carriage return in front of it belongs to the ending.  A heading is of level 2, an entry is a bullet
in the first column, and neither stands in fenced code or in a comment of more than one line.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from ..regions import regions

SECTIONS = ("Constraints", "Decisions", "Existing infrastructure", "Open threads")
MARK = "\ufeff"
"""A byte order mark, which may stand before the first line."""
BULLET = "- "

_HEADING = re.compile(r" {0,3}(#{1,2})(?:[ \t]+(.*))?")
_NAME = re.compile(rf"({'|'.join(SECTIONS)})(?!\w)")


class NoSection(ValueError):
    """The heading that an entry goes under is not there."""


class Misread(ValueError):
    """With the entry in or out, the lines around it would be read differently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line without its line feed, and what it is."""

    raw: str
    section: str | None = None
    """What it stands under, a heading itself included: a name of ``SECTIONS``, or another title."""
    heading: bool = False
    exact: bool = False
    """Whether a heading is its section's name and nothing more."""
    entry: str | None = None
    """What a bullet says."""


def read(text: str) -> list[Line]:
    """The lines of the file; joined with line feeds, they are the file again."""
    raws = text.split("\n")
    plain = [raw.removesuffix("\r") for raw in raws]
    plain[0] = plain[0].removeprefix(MARK)
    hidden = _hidden(plain)
    found: list[Line] = []
    section = None
    for at, (raw, line) in enumerate(zip(raws, plain, strict=True)):
        heading = None if at in hidden else _HEADING.fullmatch(line)
        if heading is not None:
            title = (heading[2] or "").strip() if heading[1] == "##" else None
            section = _section(title)
            found.append(Line(raw=raw, section=section, heading=True, exact=section == title))
        else:
            bullet = raw.startswith(BULLET) and at not in hidden
            entry = line.removeprefix(BULLET) if bullet else None
            found.append(Line(raw=raw, section=section, entry=entry))
    return found


def add(text: str, section: str, entry: str) -> str:
    """Put an entry straight under its heading, where the newest stands.

    One that is there already is not repeated.  Raises ``NoSection`` and ``Misread``.
    """
    lines = read(text)
    headings = [at for at, line in enumerate(lines) if line.heading and line.section == section]
    if not headings:
        raise NoSection
    if any(line.section == section and is_same(line.entry, entry) for line in lines):
        return text
    at = max(headings, key=lambda each: lines[each].exact)
    if at == len(lines) - 1:  # nothing ends the heading's line yet
        end = "\r" if lines[0].raw.endswith("\r") else ""
        return add(f"{text}{end}\n", section, entry)
    end = "\r" if lines[at].raw.endswith("\r") else ""
    raw = BULLET + entry + end
    after = _joined([*_raws(lines[: at + 1]), raw, *_raws(lines[at + 1 :])])
    again = read(after)
    put = again.pop(at + 1)
    if put.entry != entry or again != lines:
        raise Misread
    return after


def drop(text: str, literal: str) -> tuple[str, list[str]]:
    """Take out all entries that contain *literal*, and answer what is left and what they were.

    Raises ``Misread``.
    """
    lines = read(text)
    kept = [line for line in lines if not _has(line.entry, literal)]
    gone = [line.entry for line in lines if line.entry is not None and _has(line.entry, literal)]
    raws = _raws(kept)
    if _has(lines[-1].entry, literal):
        raws.append("")  # the line before it keeps its ending
    after = _joined(raws)
    if read(after)[: len(kept)] != kept:
        raise Misread
    return after, gone


def swap(text: str, section: str, old: Iterable[str], new: Sequence[str]) -> str:
    """Take the *old* entries of a section out and put the *new* ones, in their order, at its top.

    Raises ``NoSection`` and ``Misread``.
    """
    going = {each.rstrip() for each in old}
    lines = read(text)
    kept = [line for line in lines if not (line.section == section and _is_among(line, going))]
    after = _joined(_raws(kept)) if kept else ""
    if read(after) != kept:
        raise Misread
    for entry in reversed(new):
        after = add(after, section, entry)
    return after


def _is_among(line: Line, entries: Container[str]) -> bool:
    return line.entry is not None and line.entry.rstrip() in entries


def is_same(found: str | None, entry: str) -> bool:
    """Whether an entry says the same; blanks at its end are nothing."""
    return found is not None and found.rstrip() == entry.rstrip()


def _hidden(lines: Sequence[str]) -> set[int]:
    """The lines (counted from 0) of code and comments, but for comments of one line."""
    found = regions(lines)
    spans = [*found.comments, *(range(fence.first, fence.last + 1) for fence in found.fences)]
    return {number - 1 for span in spans if len(span) > 1 for number in span}


def _section(title: str | None) -> str | None:
    """The section that a heading of level 2 begins; one of level 1 ends all sections."""
    known = _NAME.match(title or "")
    return known[1] if known else title


def _has(entry: str | None, literal: str) -> bool:
    """Whether *literal* is in an entry; it may begin with the bullet's dash, as it is printed."""
    if entry is None:
        return False
    whole = literal.startswith(BULLET) and (BULLET + entry).startswith(literal)
    return literal in entry or (whole and literal != BULLET)


def _raws(lines: Iterable[Line]) -> list[str]:
    return [line.raw for line in lines]


def _joined(raws: Sequence[str]) -> str:
    return "\n".join(raws)

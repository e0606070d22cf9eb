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
from collections.abc import Container, Iterable, Mapping, Sequence
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
    at = _heading(lines, section)
    if any(line.section == section and is_same(line.entry, entry) for line in lines):
        return text
    if at == len(lines) - 1:  # nothing ends the heading's line yet
        return add(f"{text}{_end(lines[0])}\n", section, entry)
    raw = BULLET + entry + _end(lines[at])
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


def swap(text: str, section: str, old: Sequence[str], new: Sequence[str]) -> str:
    """Let the *new* entries of a section stand in the place of the *old* ones, in their order.

    What is indented below an entry goes where it goes.  An entry that stays is not moved, unless
    the order has changed; then all of them stand under the heading.  Raises ``NoSection`` and
    ``Misread``.
    """
    lines = read(text)
    at = _heading(lines, section)
    if at == len(lines) - 1:  # nothing ends the heading's line yet
        return swap(f"{text}{_end(lines[0])}\n", section, old, new)
    blocks = _blocks(lines, section, set(old))
    there = list(dict.fromkeys(blocks.values()))
    fixed = [entry for entry in there if entry in new]
    if fixed != [entry for entry in new if entry in fixed]:
        fixed = []
    written = _written(lines, at, blocks, fixed, new)
    after = _joined(written)
    _require_swapped(lines, read(after), section, blocks, new)
    return after


def _heading(lines: Sequence[Line], section: str) -> int:
    """Where the section begins; a heading with nothing behind its name comes first."""
    found = [at for at, line in enumerate(lines) if line.heading and line.section == section]
    if not found:
        raise NoSection
    return max(found, key=lambda each: lines[each].exact)


def _end(line: Line) -> str:
    return "\r" if line.raw.endswith("\r") else ""


def _blocks(lines: Sequence[Line], section: str, entries: Container[str]) -> dict[int, str]:
    """From each line of these entries, and of what is indented below them, to the entry."""
    found: dict[int, str] = {}
    entry: str | None = None
    for at, line in enumerate(lines):
        if line.entry is not None:
            said = line.entry.rstrip()
            entry = said if line.section == section and said in entries else None
        elif line.heading or not line.raw.strip() or line.raw[0] not in " \t":
            entry = None
        if entry is not None:
            found[at] = entry
    return found


def _written(
    lines: Sequence[Line],
    heading: int,
    blocks: Mapping[int, str],
    fixed: Sequence[str],
    new: Sequence[str],
) -> list[str]:
    """The lines anew: each entry that is not *fixed* stands behind the one before it."""
    last = {entry: at for at, entry in blocks.items() if entry in fixed}
    anchor, behind = heading, dict[int, list[str]]()
    for entry in new:
        anchor = last.get(entry, anchor)
        if entry not in last:
            raws = [lines[at].raw for at, said in blocks.items() if said == entry]
            behind.setdefault(anchor, []).extend(raws or [f"{BULLET}{entry}{_end(lines[heading])}"])
    written: list[str] = []
    for at, line in enumerate(lines):
        if blocks.get(at) in (None, *fixed):
            written.append(line.raw)
        written += behind.get(at, ())
    return written


def _require_swapped(
    before: Sequence[Line],
    after: Sequence[Line],
    section: str,
    blocks: Mapping[int, str],
    new: Sequence[str],
) -> None:
    """Raise ``Misread`` unless the entries are the new ones, and all other lines what they were."""
    swapped = _blocks(after, section, set(new))
    said = list(dict.fromkeys(swapped.values()))
    others = [line for at, line in enumerate(after) if at not in swapped]
    kept = [line for at, line in enumerate(before) if at not in blocks]
    if said != list(new) or others != kept:
        raise Misread


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

"""Lines below the first that a reader could take for a marker, or that somebody meant as one.

What may live here: what is wrong with a single line.  What may not: whether it is in code, and what
is done about it (``hygiene``).  A line counts from its first visible character: older readers take
a marker for real wherever a line begins with it, blanks and invisible characters aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..model import Family, Marker
from .invisible import bare
from .lookalikes import Known, repaired

# A block can begin with a YAML key alone on its line instead of a comment.
_HEAD = re.compile(r"[A-Za-z_-]+:")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one line; *what* continues the words "line 7"."""

    code: str
    what: str
    line: int


def faults(lines: Sequence[str], marker: Marker, contract: Known) -> Iterator[Fault]:
    """The faults of all lines below the first of a comment that carries *marker*."""
    last_closing = _last_closing(lines)
    for number, raw in enumerate(lines[1:], 2):
        line = bare(raw)
        if line.startswith("<"):
            found = _comment_fault(line, marker, contract, closed=number <= last_closing)
        elif _HEAD.fullmatch(line):
            found = _block_fault(contract.live_block(line), marker)
        else:
            continue
        if found:
            yield Fault(*found, number)


def never_closed(lines: Sequence[str]) -> int | None:
    """The first line that opens a comment when no line from there on closes one."""
    last_closing = _last_closing(lines)
    after = enumerate(lines[last_closing:], last_closing + 1)
    return next((number for number, line in after if bare(line).startswith("<!--")), None)


def _last_closing(lines: Sequence[str]) -> int:
    return max((n for n, line in enumerate(lines, 1) if "-->" in line), default=0)


def _comment_fault(
    line: str, marker: Marker, contract: Known, *, closed: bool
) -> tuple[str, str] | None:
    family, block = contract.live_family(line), contract.live_block(line)
    if family:
        return _family_fault(family, line, marker)
    if block:
        return _block_fault(block, marker) or _hiding_fault(block, closed=closed)
    meant = repaired(line)
    if meant is None or not (contract.live_family(meant) or contract.live_block(meant)):
        return None
    if line.startswith("<!--") and "-->" not in line:
        return "unclosed-marker", "is a marker without its closing '-->'"
    return "broken-marker", "is a marker with a damaged or merely similar character"


def _family_fault(family: Family, line: str, marker: Marker) -> tuple[str, str]:
    if line.startswith(marker.text):
        return "own-marker-twice", "is the own marker once more"
    if family.name == marker.family:
        return "foreign-marker", f"is another {family.name} marker"
    return "foreign-marker", f"is a marker of the family {family.name}"


def _block_fault(block: Family | None, marker: Marker) -> tuple[str, str] | None:
    if block is None or marker.family in block.carriers:
        return None
    places = ", ".join(block.carriers) or "no comment at all"
    return "misplaced-block", f"is a part of {block.name}, which belongs in: {places}"


def _hiding_fault(block: Family, *, closed: bool) -> tuple[str, str] | None:
    return None if closed else ("unclosed-marker", f"opens {block.name} and nothing closes it")

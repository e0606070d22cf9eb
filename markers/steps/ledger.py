"""What the ``ledger`` command makes of the comment that holds a phase's findings.

What may live here: head and blocks put into one body (contract, statement 18).  What may not:
reading files or comments, and whether head and blocks are valid, which is judged on the result.

==========  ============================  ========================  ===================
mode        the comment                   its authorising head      pointer in the plan
==========  ============================  ========================  ===================
``plan``    ``phase-containment-ledger``  ``judge-rulings``         yes
``brief``   ``phase-containment-ledger``  ``brief_dispositions``    yes
``design``  ``design-phase-complete``     none                      no
==========  ============================  ========================  ===================

Head first, then blocks.  A head replaces the one that is there.  A block is told apart by its
``finding_key``: a new one is put at the end, one that says something else replaces the old one
where it stands, one that says the same changes nothing and leaves the old stamp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from ..blocks import Block, find, splice
from ..body import BLANKS, Body
from ..errors import Refused
from ..model import Marker
from ..payload.known import BRIEF_DISPOSITIONS, JUDGE_RULINGS, PHASE_CONTAINMENT
from .containment import Keyed, latest, stamped
from .excerpts import NEVER_CLOSED, appended, excerpt, joined, left_open
from .known import DESIGN, LEDGER
from .ledger_files import Head, containment_blocks, empty_head, head_lines

NOTHING_FOUND = (
    "<!-- judge-rulings",
    "- finding_id: none",
    "  judge_ruling: defense-sustained",
    "-->",
)
"""The head of a review that found nothing: it tells that the review has run."""


class Mode(StrEnum):
    """Which review's findings are written."""

    PLAN = "plan"
    DESIGN = "design"
    BRIEF = "brief"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What one mode writes."""

    family: str
    """The family of the comment that holds head and blocks."""
    head: Head | None = None
    """None where no judge sits; such a comment has no pointer in the plan either."""


FORMS: Mapping[Mode, Form] = MappingProxyType(
    {
        Mode.PLAN: Form(
            family=LEDGER,
            head=Head(own=JUDGE_RULINGS, other=BRIEF_DISPOSITIONS, placeholder=NOTHING_FOUND),
        ),
        Mode.BRIEF: Form(family=LEDGER, head=Head(own=BRIEF_DISPOSITIONS, other=JUDGE_RULINGS)),
        Mode.DESIGN: Form(family=DESIGN),
    }
)

_Edit = tuple[Block, Sequence[str]]
"""A block that stands there, and the lines instead of it."""


def ledger(
    there: str | None,
    marker: Marker,
    mode: Mode,
    *,
    head: str | None,
    containment: str | None,
    now: str,
) -> str:
    """The comment's new body; what stands in it beside head and blocks stays byte for byte.

    *there* is the body that governs, *marker* that of ``FORMS[mode].family``; *head* and
    *containment* are the texts of the caller's files, *now* is ISO 8601 in UTC with Z.  Raises
    ``Refused`` with the line of the file that is wrong, and with ``could-not-verify`` for what
    stands there and cannot be told apart.
    """
    form = FORMS[mode]
    if there is None and form.head is None:
        raise Refused("no-target", f"there is no comment with {marker.text} on line 1 to add to")
    body = Body(marker.text if there is None else there)
    known, given = latest(body), containment_blocks(containment or "", marker)
    lines = _head(body, form.head, head, any_blocks=bool(given))
    standing = find(body, form.head.own) if form.head and lines else ()
    edits = [*_head_edits(body, standing, lines), *_block_edits(known, given, now)]
    text = _edited(body, edits)
    new = [stamped(block, now) for key, block in given.items() if key not in known]
    if lines and not standing:
        text, new = _with_head(body, text, lines, new)
    if new:
        _require_room(body)
    return appended(text, joined(new)) if new else text


def _require_room(body: Body) -> None:
    first = left_open(body)
    if first is not None:
        raise _standing("unclosed", first, NEVER_CLOSED)


def _edited(body: Body, edits: Sequence[_Edit]) -> str:
    """Replace from the end on, so that the numbers of the lines before still hold."""
    text = body.text
    for block, lines in sorted(edits, key=lambda edit: edit[0].first, reverse=True):
        text = splice(Body(text), block, lines)
    return text


def _head_edits(body: Body, standing: Sequence[Block], lines: Sequence[str]) -> Iterator[_Edit]:
    for block in standing:
        old = (line.rstrip(BLANKS) for line in excerpt(body, block))
        if [*old] != [line.rstrip(BLANKS) for line in lines]:
            yield block, lines


def _block_edits(
    known: Mapping[str, Keyed], given: Mapping[str, Keyed], now: str
) -> Iterator[_Edit]:
    for key, block in given.items():
        old = known.get(key)
        if old is not None and old.says() != block.says():
            yield old.block, stamped(block, now)


def _with_head(
    body: Body, text: str, lines: tuple[str, ...], new: list[tuple[str, ...]]
) -> tuple[str, list[tuple[str, ...]]]:
    """Put a new head before the first block; without one it comes first of what is added."""
    for block in find(body, PHASE_CONTAINMENT)[:1]:
        return Body(text).inserted(block.first - 1, [*lines, ""]), new
    return text, [lines, *new]


def _head(body: Body, head: Head | None, text: str | None, *, any_blocks: bool) -> tuple[str, ...]:
    """The head's lines, from the file or the placeholder; none where the standing one remains."""
    if head is None:
        if text is not None:
            raise Refused("no-head", "a design's review has no judge: there is no head to write")
        return ()
    standing = _one_head(body, head)
    given = None if text is None else head_lines(text, head)
    if given:
        return given
    some = any_blocks or bool(find(body, PHASE_CONTAINMENT))
    if given is not None and (some or _rules(standing, head)):
        raise empty_head(head)
    if standing is not None and given is None:
        return ()
    if head.placeholder and not some:
        return head.placeholder
    detail = f"there is no {head.own.name} head, neither in a file nor in the comment"
    raise Refused("missing-head", f"{detail}; blocks count only beside the head that allows them")


def _rules(standing: Block | None, head: Head) -> bool:
    """Whether a head stands there that says more than that nothing was found."""
    said = [] if standing is None else [line.rstrip(BLANKS) for line in standing.inner]
    return any(said) and said != [*head.placeholder[1:-1]]


def _one_head(body: Body, head: Head) -> Block | None:
    """The head that is there; raises where readers could not tell which one counts."""
    if others := find(body, head.other):
        raise _unclear(others[0], f"a {head.other.name} head stands there, of another review")
    found = find(body, head.own)
    if len(found) > 1:
        raise _unclear(found[1], f"this is the second {head.own.name} head, and one is the rule")
    if found and not found[0].closed:
        raise _unclear(found[0], f"the {head.own.name} head has no end")
    return found[0] if found else None


def _unclear(block: Block, why: str) -> Refused:
    return _standing("could-not-verify", block.first, f"{why}; mend it by hand")


def _standing(code: str, line: int, why: str) -> Refused:
    """A refusal for what is in the comment already."""
    return Refused(code, f"line {line} of the comment that stands there: {why}", line=line)

"""A plan's slices, found as its spine orders them.

The rule (contract, statement 30): a plan's comment holds a spine, which lists the slices and points
to the comment that holds them; that comment bears the spine's own stamp.  An older plan's spine
points nowhere, and the plan holds the slices itself.  The outcome is ``found``, or the first of
these that holds:

``missing-spine``       there is no plan, or no spine in it
``invalid-spine``       the spine breaks its grammar
``stale-spine``         it is not the spine that was asked for, or the slices bear another stamp
``sibling-unstamped``   the comment that it points to is not there, not trusted or bears no stamp
``missing-slice``       no block has the slice's id
``duplicate-slice-id``  more than one has

A slice that is asked for by its id is found wherever its block stands, listed or not, as upstream's
look-up finds it; that the spine does not list it is told beside the outcome.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..blocks import Block, find
from ..body import Body
from ..codec import derive
from ..contract import Contract
from ..errors import echo
from ..model import Comment, Marker
from ..payload.flawed import Flawed
from ..payload.slices import named, read_slice
from ..payload.spine import Spine, read_spine
from ..selection import author_name
from .disclosure import counted, passed_over
from .interface import Needs, Reader, Reading, View

PLAN = "plan-issue"
SLICES = "frame-slices"
STAMP = "frame-slices-generated-at"


class _Unfit(Exception):
    """Ends the look-up with an outcome other than ``found``."""

    def __init__(self, outcome: str, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A slice and the comment that holds it."""

    comment: Comment
    id: str
    fields: Mapping[str, Any] | None
    """None where they cannot be read; the text is there all the same."""
    why: str | None
    """Why they cannot."""
    text: str


def _line(family: str, number: int | None, contract: Contract) -> str:
    return derive(contract.family(family), number).text


def _needs(marker: Marker, contract: Contract) -> Needs:
    return Needs(lines=tuple(_line(name, marker.number, contract) for name in (PLAN, SLICES)))


def _read(view: View) -> Reading:
    answer = {**_NOTHING_SEEN, "skipped": passed_over(view.astray)}
    try:
        outcome, detail = "found", _fill(answer, view)
        told = "; ".join(filter(None, (_summary(answer), detail)))
    except _Unfit as unfit:
        outcome, detail = unfit.outcome, unfit.detail
        told = detail
    return {"summary": f"{outcome}: {told}", "outcome": outcome, "detail": detail, **answer}


_NOTHING_SEEN: Mapping[str, Any] = {
    "plan_comment_id": None,
    "slices_comment_id": None,
    "generated_at": None,
    "ports": {},
    "slices": [],
    "slice": None,
}


def _summary(answer: Mapping[str, Any]) -> str:
    one = answer["slice"]
    what = f"slice {one['id']}" if one else counted(len(answer["slices"]), "slice")
    return f"{what}, spine of {answer['generated_at']}"


def _fill(answer: dict[str, Any], view: View) -> str:
    """Go on as far as the plan lets us; what was seen up to there stays in *answer*.

    The answer is what there is to say of a slice that is found.
    """
    plan = _plan(view)
    answer["plan_comment_id"] = plan.id
    spine = _spine(plan, view.contract)
    answer |= {"generated_at": spine.generated_at, "ports": spine.ports}
    _as_asked(spine, view.param.get("generated_at"))
    sibling = _sibling(spine, view)
    answer["slices_comment_id"] = sibling.id if sibling else None
    held: defaultdict[str, list[_Held]] = defaultdict(list)
    for each in _held([plan, sibling] if sibling else [plan], view.contract):
        held[each.id].append(each)
    answer["slices"] = [_listed(name, spine.slices[name], held[name]) for name in spine.slices]
    asked = view.param.get("slice")
    for name in [asked] if asked else spine.slices:
        one = _only(name, held[name], _place(plan, sibling, view))
        answer["slice"] = _shown(one) if asked else None
    return _unlisted(answer["slice"], spine)


def _unlisted(one: Mapping[str, Any] | None, spine: Spine) -> str:
    if one is None or one["id"] in spine.slices:
        return ""
    return f"the spine does not list {one['id']}, though comment {one['comment_id']} holds it"


def _plan(view: View) -> Comment:
    line = _line(PLAN, view.marker.number, view.contract)
    trusted = view.of(line)
    if not trusted:
        detail = f"there is no trusted plan: no comment that counts begins with {line}"
        raise _Unfit("missing-spine", detail + _elsewhere(line, view))
    return trusted[0].comment


def _elsewhere(line: str, view: View) -> str:
    """Why a trusted comment with this first line does not count."""
    for sighting in view.sightings:
        if sighting.line == line and sighting.trusted and sighting.astray:
            return f"; comment {sighting.comment.id} does not: {sighting.astray.detail}"
    return ""


def _spine(plan: Comment, contract: Contract) -> Spine:
    blocks = find(Body(plan.body), contract.family("frame-spine"))
    if not blocks:
        raise _Unfit("missing-spine", f"the plan, comment {plan.id}, has no frame-spine block")
    try:
        return read_spine(blocks[0])
    except Flawed as flawed:
        raise _Unfit("invalid-spine", _where(flawed, plan)) from None


def _as_asked(spine: Spine, stamp: str | None) -> None:
    if stamp not in (None, spine.generated_at):
        detail = f"the spine is of {spine.generated_at}, not of {echo(stamp or '')}"
        raise _Unfit("stale-spine", detail)


def _sibling(spine: Spine, view: View) -> Comment | None:
    """The comment that holds the slices; None where the spine points nowhere (older plans)."""
    pointer = spine.slice_comment_id
    if pointer is None:
        return None
    comment = _pointed_at(pointer, view)
    stamps = find(Body(comment.body), view.contract.family(STAMP))
    if not stamps:
        raise _Unfit("sibling-unstamped", f"comment {pointer}, which has the slices, has no stamp")
    stamp = stamps[0].inner[0]
    if stamp != spine.generated_at:
        detail = f"the spine is of {spine.generated_at}, its slices are of {echo(stamp)}"
        raise _Unfit("stale-spine", detail)
    return comment


def _pointed_at(pointer: int, view: View) -> Comment:
    line = _line(SLICES, view.marker.number, view.contract)
    there = [s for s in view.sightings if s.line == line and s.comment.id == pointer]
    if not there:
        detail = f"the spine points to comment {pointer}, which is no {line} of this thread"
        raise _Unfit("sibling-unstamped", detail)
    if not there[0].trusted:
        author = author_name(there[0].comment)
        detail = f"the spine points to comment {pointer} by {author}, who is not trusted"
        raise _Unfit("sibling-unstamped", detail)
    if there[0].astray:
        detail = f"the spine points to comment {pointer}: {there[0].astray.detail}"
        raise _Unfit("sibling-unstamped", detail)
    return there[0].comment


def _held(comments: Iterable[Comment], contract: Contract) -> Iterator[_Held]:
    """All slices, but for those that nothing tells the id or the end of."""
    family = contract.family("frame-slice")
    for comment in comments:
        for block in find(Body(comment.body), family):
            name = named(block) if block.closed else None
            if name is not None:
                fields, why = _fields(block, comment)
                text = "\n".join(block.inner)
                yield _Held(comment=comment, id=name, fields=fields, why=why, text=text)


def _fields(block: Block, comment: Comment) -> tuple[Mapping[str, Any] | None, str | None]:
    try:
        return read_slice(block).fields, None
    except Flawed as flawed:
        return None, _where(flawed, comment)


def _where(flawed: Flawed, comment: Comment) -> str:
    problem = flawed.problem.reason()
    return f"line {problem.line} of comment {comment.id}: {problem.detail}"


def _place(plan: Comment, sibling: Comment | None, view: View) -> str:
    """Where the slices are looked for, in words."""
    if sibling is not None:
        return f"comment {sibling.id}"
    unused = view.of(_line(SLICES, view.marker.number, view.contract))
    hint = f" (its spine does not point to comment {unused[0].comment.id})" if unused else ""
    return f"the plan, comment {plan.id}{hint},"


def _only(name: str, found: Sequence[_Held], place: str) -> _Held:
    if not found:
        raise _Unfit("missing-slice", f"no frame-slice block of {place} has the id {name}")
    if len(found) > 1:
        ids = " and ".join(str(each) for each in dict.fromkeys(held.comment.id for held in found))
        detail = f"{len(found)} frame-slice blocks have the id {name}, in comment {ids}"
        raise _Unfit("duplicate-slice-id", detail)
    return found[0]


def _listed(name: str, entry: Mapping[str, Any], held: Sequence[_Held]) -> dict[str, Any]:
    """What the spine says of a slice, and the comment that holds it."""
    ours = {"id": name, "comment_id": held[0].comment.id if held else None}
    return {**ours, **entry, **ours}


def _shown(one: _Held) -> dict[str, Any]:
    return {
        "id": one.id,
        "comment_id": one.comment.id,
        "fields": one.fields,
        "why": one.why,
        "text": one.text,
    }


READER = Reader(needs=_needs, read=_read)

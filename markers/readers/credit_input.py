"""A credit input, which is honoured only beside the completion marker of the same port.

The rule (contract, statement 20): the latest record counts, if it is well formed and the completion
marker that the family's registry file pairs with its port is there, too.  A comment that its own
family's rules refuse completes nothing.  The two are written one after the other, so that a look
may come between: as long as only the completion marker is there, it is worth looking again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..body import Body
from ..contract import Contract
from ..model import Comment, Marker
from ..payload.fenced import the_fence
from ..payload.flawed import Flawed
from ..payload.yaml12 import read_yaml
from .disclosure import passed_over
from .interface import Needs, Reader, Reading, Sighting, View

Skipped = Sequence[tuple[Comment, str]]


def _needs(marker: Marker, contract: Contract) -> Needs:
    paired = _completion_line(marker, contract)
    return Needs(lines=(paired,), again=_half_there) if paired else Needs()


def _completion_line(marker: Marker, contract: Contract) -> str | None:
    pairs = contract.family(marker.family).payload.get("paired_completion", {})
    name = pairs.get(_port(marker))
    return f"<!-- {name}-{marker.number} -->" if name else None


def _port(marker: Marker) -> str | None:
    return dict(marker.params).get("port")


def _completions(view: View) -> tuple[Sighting, ...]:
    line = _completion_line(view.marker, view.contract)
    return view.of(line) if line else ()


def _half_there(view: View) -> bool:
    return view.governing is None and bool(_completions(view))


def _read(view: View) -> Reading:
    completion, flawed = _completion(view)
    fields, flaw = _fields(view)
    why = _why(view, completion, flaw)
    return {
        "summary": _summary(why, flaw, flawed),
        "honoured": why == "paired",
        "why": why,
        "port": _port(view.marker),
        "adapter": fields.get("adapter"),
        "evidence": fields.get("evidence"),
        "comment_id": view.governing.id if view.governing else None,
        "completion_comment_id": completion.id if completion else None,
        "skipped": passed_over((*view.astray, *flawed)),
    }


def _completion(view: View) -> tuple[Comment | None, Skipped]:
    """The latest comment that completes the port, and those after it that do not, and why."""
    flawed: list[tuple[Comment, str]] = []
    for sighting in reversed(_completions(view)):
        if sighting.refused is None:
            return sighting.comment, flawed
        flawed.append((sighting.comment, sighting.refused.reason().detail))
    return None, flawed


_SUMMARIES = {
    "no-credit-input": "not honoured: there is no trusted credit input",
    "malformed": "not honoured: the credit input is malformed: {flaw}",
    "no-completion-marker": "not honoured: the completion marker of its port is not there",
    "paired": "honoured: the completion marker of its port is there",
}


def _summary(why: str, flaw: str | None, flawed: Skipped) -> str:
    told = _SUMMARIES[why].format(flaw=flaw)
    if why != "no-completion-marker" or not flawed:
        return told
    comment, wrong = flawed[0]
    return f"{told}; comment {comment.id} carries it and completes nothing: {wrong}"


def _why(view: View, completion: Comment | None, flaw: str | None) -> str:
    if view.governing is None:
        return "no-credit-input"
    if flaw is not None:
        return "malformed"
    return "paired" if completion else "no-completion-marker"


def _fields(view: View) -> tuple[Mapping[str, Any], str | None]:
    """What the governing record says, and what is wrong with it."""
    mine = next((s for s in view.sightings if s.comment is view.governing), None)
    if mine is None:
        return {}, None
    try:
        fenced = the_fence(Body(mine.comment.body))
        value = read_yaml(fenced.text, first_line=fenced.first_line).value
    except Flawed as flawed:
        return {}, flawed.problem.reason().detail
    if not isinstance(value, dict):
        return {}, "the payload is no mapping"
    return value, mine.refused.reason().detail if mine.refused else None


READER = Reader(needs=_needs, read=_read)

"""``frame-slices-spine-splice``: the plan's spine points to the slices that were written.

One line of the spine changes or is put in, and nothing else, if both are of one generation
(contract, statement 17).
"""

from __future__ import annotations

from ..blocks import find
from ..body import Body
from ..errors import Refused, echo
from ..model import Comment, Marker
from ..payload.flawed import Flawed
from ..payload.known import FRAME_SPINE, SLICES_STAMP
from ..payload.spine import Spine, read_spine
from .interface import After
from .known import PLAN, marker_text
from .pointers import with_slice_id


def _target(written: Marker) -> str:
    return marker_text(PLAN, written.number)


def _edit(plan: str, slices: Comment) -> str:
    body = Body(plan)
    spine, stamp = _spine(body), _stamp(slices)
    if spine.generated_at != stamp:
        detail = (
            f"the plan's spine is of {echo(spine.generated_at)}, the slices are of {echo(stamp)}: "
            "write both with one stamp"
        )
        raise Refused("stale-spine", detail)
    return plan if spine.slice_comment_id == slices.id else with_slice_id(body, spine, slices.id)


def _spine(plan: Body) -> Spine:
    blocks = find(plan, FRAME_SPINE)
    if not blocks:
        detail = "the plan has no frame-spine block to put the slices' pointer into"
        raise Refused("missing-spine", detail)
    try:
        return read_spine(blocks[0])
    except Flawed as flawed:
        reason = flawed.problem.reason()
        detail = f"line {reason.line} of the plan: {reason.detail}"
        raise Refused("invalid-spine", detail, line=reason.line) from flawed


def _stamp(slices: Comment) -> str:
    stamps = find(Body(slices.body), SLICES_STAMP)
    if not stamps:
        wanted = SLICES_STAMP.template.replace("{timestamp}", "the spine's generated_at")
        raise Refused("sibling-unstamped", f"the slices have no stamp: put {wanted} on line 2")
    return stamps[0].inner[0]


STEP = After(target=_target, edit=_edit)

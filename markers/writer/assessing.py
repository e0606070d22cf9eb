"""One look at the thread and one plan: what a write finds and what it means to do.

What may live here: reading the thread for a write, proving its surface, telling its matches apart
and asking the decision table.  What may not: any write.
"""

from __future__ import annotations

from ..codec import sha256
from ..errors import Conflict, Refused, few
from ..model import Action, Shape, Surface
from ..plan import Governing, Plan, Question, decide
from ..selection import Selection, author_name, is_mine, needs_identity, select
from ..steps import after
from ..thread import FULL, NEARLY_FULL, Look, look, only
from .call import Call
from .drafting import draft
from .ownership import require_heard
from .settling import shape_of


def observe(call: Call) -> Look:
    """Read the thread and prove its surface; who we are is asked beside it when that may matter."""
    glance, call.glance = call.glance, None
    identify = shape_of(call) is Shape.UPSERT or bool(call.setup.trust.distrusted)
    seen = glance or see(call, *markers_of(call), identify=identify)
    require_heard(call)
    call.seen = seen
    call.surface = proved_surface(call, seen)
    if seen.total >= NEARLY_FULL:
        place = call.order.thread
        call.warn("thread-nearly-full", f"{place} holds {seen.total} of {FULL} comments")
    return seen


def markers_of(call: Call) -> tuple[str, ...]:
    """The markers that one look serves: the call's own, and those that its steps will edit."""
    own = call.order.marker
    return (own.text, *(step.target(own) for step in after(call.order.family)))


def see(call: Call, *markers: str, identify: bool) -> Look:
    """Look for *markers* and keep what the look teaches; *identify* asks who we are beside it."""
    memory = call.memory
    ask = identify and memory.remembered_me() is None
    beside = memory.me if ask else None
    seen = look(call.transport, call.order.thread, only(*markers), beside=beside)
    memory.learn_surface(seen.surface)
    memory.learn_repo_id(seen.repo_id)
    return seen


def proved_surface(call: Call, seen: Look) -> Surface:
    """What the thread is, refused where the family does not belong on it."""
    order = call.order
    allowed = order.family.surfaces_for(dict(order.marker.params))
    wanted = (order.surface,) if order.surface else allowed
    surface = seen.surface or call.memory.surface()
    if surface not in wanted and seen.surface is None:
        surface = call.memory.surface(fresh=True)
    if surface not in wanted:
        places = " or ".join(place.spoken for place in wanted)
        raise Refused(
            "surface",
            f"{order.thread} is {surface.spoken}; {order.marker.text} belongs on {places}",
        )
    return surface


def assess(call: Call, seen: Look, given: str) -> tuple[Selection, Plan, str]:
    """Tell the matches apart, make the body for what governs, and plan.

    *given* is the checked candidate.  A remembered identity is asked again before it refuses.
    """
    selection = selection_of(call, seen)
    body = draft(call, given, selection.governing)
    plan = decide(_question(call, selection, body))
    suspect = plan.reason is not None and plan.reason.code == "foreign-canonical"
    if suspect and not call.memory.asked:
        call.memory.me(fresh=True)
        plan = decide(_question(call, selection, body))
    call.extras = selection.extras
    if shape_of(call) is Shape.UPSERT and len(selection.trusted) > 1:
        ids = few([match.comment.id for match in selection.trusted])
        call.warn(
            "duplicates", f"comments {ids} all carry {call.order.marker.text}; the first governs"
        )
    return selection, plan, body


def selection_of(call: Call, seen: Look) -> Selection:
    """Who governs; who we are is asked where that decides it."""
    matches = seen.of(call.order.marker.text)
    shape, trust, memory = shape_of(call), call.setup.trust, call.memory
    decisive = needs_identity(matches, trust) or (bool(matches) and shape is Shape.UPSERT)
    me = memory.me() if decisive else memory.remembered_me()
    selection = select(matches, shape, trust, me)
    if selection.governing is None and matches and not memory.asked:
        selection = select(matches, shape, trust, memory.me(fresh=True))
    return selection


def _question(call: Call, selection: Selection, body: str) -> Question:
    order, match = call.order, selection.governing
    governing = None
    if match is not None:
        governing = Governing(
            id=match.comment.id,
            sha256=sha256(match.comment.body),
            mine=is_mine(match.comment, call.memory.remembered_me()),
            author=author_name(match.comment),
        )
    return Question(
        shape=shape_of(call),
        sha256=sha256(body),
        governing=governing,
        expect=order.expect,
        take_over=order.take_over,
        always=order.always,
        revises=order.revise is not None,
    )


def conflict(call: Call, selection: Selection, plan: Plan, body: str) -> Conflict:
    """The error of a plan that is a conflict, with the governing comment in its result."""
    assert plan.reason is not None  # noqa: S101 - the table gives every conflict its reason
    before = selection.governing.comment if selection.governing else None
    result = call.result(Action.CONFLICT, before=before, body=body)
    return Conflict(plan.reason.code, plan.reason.detail, result=result)

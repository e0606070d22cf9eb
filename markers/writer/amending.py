"""Changing one certain comment of a marker, whichever of its matches that is.

What may live here: the edits of a record in place, which the one selector of its family would not
choose (a run's lock that is resolved, a phase's record that blocks are added to).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..codec import sha256
from ..errors import Conflict
from ..model import Action, Comment, WriteResult
from ..selection import author_name, is_mine
from ..setup import Setup
from .assessing import observe, selection_of
from .attempts import planned_again
from .call import Call
from .delivery import edit
from .drafting import draft
from .following import follow
from .order import Order
from .protocol import in_rounds, told
from .queueing import first

Pick = Callable[[Sequence[Comment]], Comment]
"""From the trusted matches, ascending by id, to the one to change; raises what it finds wrong."""


def amend(setup: Setup, order: Order, pick: Pick) -> WriteResult:
    """Change the comment that *pick* chooses as ``order.revise`` says: ``updated``/``unchanged``.

    Raises a ``MarkersError`` with ``result``; ``Conflict`` (``foreign-canonical``) for another
    account's comment without ``take_over``.
    """
    return told(Call.begin(setup, order), lambda call: _amended(call, pick))


def _amended(call: Call, pick: Pick) -> WriteResult:
    def once() -> WriteResult:
        first(call)
        return follow(call, planned_again(call, lambda: _attempt(call, pick)))

    return in_rounds(call, once)


def _attempt(call: Call, pick: Pick) -> WriteResult:
    seen = observe(call)
    selection = selection_of(call, seen)
    call.extras = selection.extras
    target = pick([match.comment for match in selection.trusted])
    _require_ours(call, target)
    match = next(m for m in selection.trusted if m.comment.id == target.id)
    body = draft(call, "", match)
    if sha256(body) == sha256(target.body):
        ref = call.conclude(Action.UNCHANGED, comment_id=target.id, after=body)
        return call.result(Action.UNCHANGED, comment=target, before=target, body=body, audit=ref)
    made, ref = edit(call, target, body, seen)
    return call.result(Action.UPDATED, comment=made, before=target, body=body, audit=ref)


def _require_ours(call: Call, target: Comment) -> None:
    if call.order.take_over or is_mine(target, call.memory.me()):
        return
    if is_mine(target, call.memory.me(fresh=True)):
        return
    raise Conflict(
        "foreign-canonical",
        f"comment {target.id} was written by {author_name(target)}; read it, then pass --take-over",
        result=call.result(Action.CONFLICT, before=target),
    )

"""After a create: wait until it can be seen, and converge with whoever was first.

What may live here: the looks after a write and what they show (design, section 4.11).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from .. import clock
from ..codec import sha256
from ..errors import NotVerified
from ..model import Action, Comment, Shape
from ..selection import Match, Selection, select
from ..thread import Look, look, only
from .call import Call
from .delivery import Replan
from .lost import current
from .readback import FIRST_PAUSE

MARGIN = 60.0
"""Seconds before the observing look from which changes are listed: replicas lag."""


def is_young(call: Call, target: Comment, seen: Look) -> bool:
    """Whether the target is so new that a twin of it may not have shown yet."""
    if seen.date is None:
        return True
    return seen.date - clock.epoch(target.created_at) < call.setup.timing.settled


def settle(call: Call, own: Comment, seen: Look) -> Look:
    """List what changed until the listing holds *own*, laid over what was *seen* before.

    Raises what ``require_listed`` raises.
    """
    later = await_listed(call, {own.id: own}, seen, (call.order.marker.text,))
    require_listed(call, own, later)
    return later


def require_listed(call: Call, own: Comment, later: Look) -> None:
    """Raise ``Replan`` when our comment is gone, ``NotVerified`` when it only stays invisible."""
    if not _lists(later, own):
        _give_up(call, own)


def await_listed(
    call: Call, owns: Mapping[int, Comment], seen: Look, markers: Sequence[str]
) -> Look:
    """List what changed until the listing holds all of *owns*, or they have had their time.

    The last look begins no earlier than that, however long the ones before it took.
    """
    since = _since(owns, seen)
    before = _without_past(seen, owns)
    give_up = clock.monotonic() + call.setup.timing.visible
    pause = FIRST_PAUSE
    while True:
        listed = look(call.transport, call.order.thread, only(*markers), since=since)
        later = listed if since is None else before.with_later(listed)
        missing = [own for own in owns.values() if not _lists(later, own)]
        late = listed.began >= give_up or call.transport.deadline.remaining() <= pause
        if not missing or late:
            return later
        clock.sleep(pause)
        pause = min(pause * 2, 4.0)


def _since(owns: Mapping[int, Comment], seen: Look) -> float | None:
    """From when on to list changes: what is adopted after a wait is older than the look before."""
    if seen.pages > 1 or seen.date is None:
        return None
    return min(seen.date, *(clock.epoch(own.updated_at) for own in owns.values())) - MARGIN


def rivals(call: Call, own: Comment, later: Look) -> Selection:
    """The selection that holds without our own comment."""
    others = [m for m in later.of(call.order.marker.text) if m.comment.id != own.id]
    return select(others, shape_of(call), call.setup.trust, call.memory.remembered_me())


def winner_over(call: Call, own: Comment, later: Look) -> Match | None:
    """The trusted match that makes ours one too many, if there is one (4.11).

    For an upsert the canonical, when its id is lower; for a post-new family the record right
    below ours, when it says the same.
    """
    selection = rivals(call, own, later)
    below = [match for match in selection.trusted if match.comment.id < own.id]
    if not below or call.order.always:
        return None
    if shape_of(call) is Shape.UPSERT:
        return below[0]
    return below[-1] if sha256(below[-1].comment.body) == sha256(own.body) else None


def shape_of(call: Call) -> Shape:
    """The family's shape; a family without one never comes as far as here."""
    assert call.order.family.shape is not None  # noqa: S101 - hygiene refused the others
    return call.order.family.shape


def _without_past(seen: Look, owns: Mapping[int, Comment]) -> Look:
    """The look without what it saw of *owns* before they were written as they are now.

    Times have whole seconds: a comment from before may look as new as what we made of it.
    """

    def holds(comment: Comment) -> bool:
        own = owns.get(comment.id, comment)
        return comment.updated_at > own.updated_at or sha256(comment.body) == sha256(own.body)

    return replace(seen, matches=tuple(m for m in seen.matches if holds(m.comment)))


def _lists(later: Look, own: Comment) -> bool:
    """Whether the listing shows our write or what came after it."""
    return any(
        match.comment.id == own.id and match.comment.updated_at >= own.updated_at
        for match in later.matches
    )


def _give_up(call: Call, own: Comment) -> NoReturn:
    if current(call, own.id) is None:
        raise Replan("written-gone", f"comment {own.id}, just written, was deleted meanwhile")
    raise NotVerified(
        "not-listed",
        f"comment {own.id} was written and can be read, but GitHub's listing does not show it yet; "
        "another writer may not see it either: list the thread again later",
        result=call.result(Action.LANDED_UNVERIFIED, comment=own, body=own.body),
    )

"""What is one too many: twins, comments whose text has moved, duplicates that are to be folded.

What may live here: deleting comments of ours, each with an intent and only while its body is still
ours.  What may not: deciding that one is too many (``settling``, ``protocol``).
"""

from __future__ import annotations

from ..codec import sha256
from ..errors import MarkersError
from ..model import Action, Comment, Reason, Shape
from ..selection import Selection, is_mine
from .call import Call
from .delivery import current, remove
from .settling import shape_of


def give_way(call: Call) -> None:
    """Note what lost to an earlier canonical: it goes once our text has been brought there."""
    landed = call.landed
    if (
        landed is not None
        and landed.before is not None
        and is_mine(landed.comment, call.memory.me())
    ):
        call.outdated.append(landed.comment)
    if call.intent is not None:
        call.pending.append(call.intent)
        call.intent = None


def take_back(call: Call, losers: list[Comment], *, kept: int | None) -> None:
    """Delete what is one too many, where its body is still ours; failing that, say so."""
    call.twins, call.outdated = [], []
    for loser in {loser.id: loser for loser in losers if loser.id != kept}.values():
        try:
            now = current(call, loser.id)
            if now is not None and sha256(now.body) == sha256(loser.body):
                remove(call, now)
            call.extras = tuple(extra for extra in call.extras if extra.id != loser.id)
        except MarkersError as error:
            close(call, error.reason, error.action)
            call.warn("twin-left", f"our comment {loser.id} is one too many but was left: {error}")
            return
    call.landed = call.landed if call.landed and call.landed.comment.id == kept else None
    _end_pending(call)


def _end_pending(call: Call) -> None:
    reason = Reason(
        code="lower-canonical", detail="an earlier comment governs; ours was taken back"
    )
    pending, call.pending = call.pending, []
    for intent in pending:
        call.intent = intent
        close(call, reason, Action.WITHDRAWN)


def fold(call: Call, selection: Selection) -> None:
    """Delete our own duplicates, as asked; their text stays in the journal."""
    for duplicate in duplicates(call, selection):
        call.outdated.append(duplicate)
        call.warn("folded", f"our duplicate {duplicate.id} was deleted; the journal has its text")


def duplicates(call: Call, selection: Selection) -> list[Comment]:
    """Our own comments that carry an upsert marker beside the one that governs."""
    if shape_of(call) is not Shape.UPSERT:
        return []
    others = [match.comment for match in selection.trusted[1:]]
    return [comment for comment in others if is_mine(comment, call.memory.me())]


def let_go(call: Call, error: MarkersError) -> None:
    """End a round that will be repeated: what has landed is concluded, nothing stays open."""
    if call.landed is not None and call.landed.ours:
        close(call, error.reason, call.landed.action, call.landed.comment.id)
    close(call, error.reason, error.action)


def close(call: Call, reason: Reason, action: str, comment_id: int | None = None) -> None:
    """Record the outcome of the intent that is open, if one is."""
    if call.intent is not None:
        call.conclude(action, comment_id=comment_id, reason=reason)

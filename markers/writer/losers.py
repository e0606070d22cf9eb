"""What is one too many: twins, comments whose text has moved, duplicates that are to be folded.

What may live here: deleting and hiding comments of ours, each with an intent and only while its
body is still ours.  What may not: deciding that one is too many (``settling``, ``protocol``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..codec import sha256
from ..errors import (
    Denied,
    Limited,
    MarkersError,
    NotVerified,
    Refused,
    Unknown,
    Unreachable,
    Withdrawn,
)
from ..model import Account, Action, AuditRef, Comment, Reason, Shape
from ..selection import Selection, is_mine
from ..transport.retry import reads
from .call import Call
from .lost import current
from .order import Fold
from .ownership import unheard
from .removal import minimise, remove
from .settling import shape_of

Act = Callable[[Call, Comment], AuditRef]

_TAKEN_BACK = Reason(
    code="lower-canonical", detail="an earlier comment governs; ours was taken back"
)


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
                _patiently(call, remove, now)
            _no_extra(call, loser)
        except MarkersError as error:
            _end(call, error)
            call.warn("twin-left", f"our comment {loser.id} is one too many but was left: {error}")
            if isinstance(error, Denied | Refused):
                _end_pending(call, error.reason, Action.LANDED_UNVERIFIED)
            return
    call.landed = call.landed if call.landed and call.landed.comment.id == kept else None
    _end_pending(call, _TAKEN_BACK, Action.WITHDRAWN)


def _patiently(call: Call, act: Act, comment: Comment) -> None:
    """Put a comment away, again and again as a read: repeating it harms nobody."""

    def once() -> None:
        try:
            act(call, comment)
        except (Limited, Unreachable) as error:
            close(call, error.reason, error.action)
            raise

    reads(call.transport.deadline)(once)


def _end_pending(call: Call, reason: Reason, action: Action) -> None:
    pending, call.pending = call.pending, []
    for intent in pending:
        call.intent = intent
        close(call, reason, action)


def fold(call: Call, selection: Selection, kept: int) -> None:
    """Put away our own duplicates of comment *kept*, as asked; whatever fails is a warning."""
    for duplicate, wish in duplicates(call, selection, kept):
        try:
            left = _put_away(call, duplicate, wish, kept)
        except MarkersError as error:
            _end(call, error)
            call.warn("fold-failed", f"our duplicate {duplicate.id} was left: {error}")
            return
        if left:
            call.warn("fold-failed", f"our duplicate {duplicate.id} was left: {left}")


def foresee_fold(call: Call, selection: Selection, kept: int) -> None:
    """Say which duplicates ``fold`` would put away."""
    for duplicate, wish in duplicates(call, selection, kept):
        call.warn("would-fold", f"our duplicate {duplicate.id} would be {_FOLDS[wish][1]}")


def duplicates(call: Call, selection: Selection, kept: int) -> list[tuple[Comment, Fold]]:
    """Our own trusted comments after *kept* that are to be folded; hidden ones need no hiding."""
    wish = call.order.fold
    if wish is None or shape_of(call) is not Shape.UPSERT:
        return []
    later = [match.comment for match in selection.trusted if match.comment.id > kept]
    mine = [comment for comment in later if is_mine(comment, call.memory.me())]
    return [(each, wish) for each in mine if wish is Fold.DELETE or not each.minimized]


_FOLDS: Mapping[Fold, tuple[Act, str]] = {
    Fold.DELETE: (remove, "deleted"),
    Fold.MINIMISE: (minimise, "minimised"),
}


def _put_away(call: Call, duplicate: Comment, wish: Fold, kept: int) -> str | None:
    """Fold one duplicate; the answer is why it was left, where it was.

    The canonical is read last: whoever takes the duplicate for the canonical because that one is
    gone needs more than the one round trip that is left to get a text into it.
    """
    now = current(call, duplicate.id)
    if now is None:
        _no_extra(call, duplicate)
        return None
    if sha256(now.body) != sha256(duplicate.body):
        return "it was edited meanwhile"
    if current(call, kept) is None:
        return f"comment {kept}, which it doubled, was deleted meanwhile"
    act, done = _FOLDS[wish]
    _patiently(call, act, now)
    call.warn("folded", f"our duplicate {duplicate.id} was {done}")
    if wish is Fold.DELETE:
        _no_extra(call, duplicate)
    return None


def _no_extra(call: Call, gone: Comment) -> None:
    call.extras = tuple(extra for extra in call.extras if extra.id != gone.id)


def withdrawn(call: Call, made: Comment, me: Account) -> MarkersError:
    """Take back what only its answer shows to be by *me*, whom the settings distrust."""
    refusal = unheard(me)
    close(call, refusal.reason, Action.LANDED_UNVERIFIED, made.id)
    try:
        remove(call, made)
    except MarkersError as error:
        _end(call, error)
        detail = f"{refusal}; comment {made.id} was written and not taken back: {error}"
        result = call.result(Action.LANDED_UNVERIFIED, comment=made)
        return NotVerified(refusal.reason.code, detail, result=result)
    return Withdrawn(refusal.reason.code, f"{refusal}; what was created was taken back")


def _end(call: Call, error: MarkersError) -> None:
    """Conclude what failed; what is unknown stays open, for the next write to settle."""
    if isinstance(error, Unknown):
        call.intent = None
    close(call, error.reason, error.action)


def let_go(call: Call, error: MarkersError) -> None:
    """End a round that will be repeated: what has landed is concluded, nothing stays open."""
    if call.landed is not None and call.landed.ours and not call.pending:
        close(call, error.reason, call.landed.action, call.landed.comment.id)
    close(call, error.reason, error.action)


def close(call: Call, reason: Reason, action: str, comment_id: int | None = None) -> None:
    """Record the outcome of the intent that is open, if one is."""
    if call.intent is not None:
        call.conclude(action, comment_id=comment_id, reason=reason)

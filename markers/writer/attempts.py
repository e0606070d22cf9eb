"""One write on one look after another, until what was planned against holds still.

What may live here: which rule comes after which within the thread's lock (design, section 4, rules
4 to 13).  What may not: the rules themselves, which live in the modules beside this one, and the
lock (``protocol``).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain, repeat

from .. import clock
from ..errors import Conflict, NotVerified
from ..model import Action, Comment, Reason, Shape, WriteResult
from ..plan import Move
from ..selection import Match, Selection
from ..thread import Look
from .assessing import assess, conflict, observe, selection_of
from .call import Call
from .delivery import Replan, create, edit
from .losers import close, fold, foresee_fold, give_way, take_back, withdrawn
from .lost import current, reads_as
from .order import Landed
from .settling import is_young, require_listed, settle, shape_of, winner_over

ALLOWED = {"target-changed": 12, "target-gone": 2, "written-gone": 2, "lower-canonical": 3}
"""How often one call plans again, by why: often enough for many racing writers to converge, seldom
enough to end.  Of 32 who wrote one plan at once without a shared journal, 9 found their target
changed more than 3 times; with the pauses below none of them did so more than 5 times."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0
"""The most that is waited, in seconds, when others keep changing the target; it doubles, and is
drawn at random, so that one of us gets through."""
GONE_PAUSE = 2.0
"""What is waited, in seconds, when the target is gone, and then twice that: replicas that lag go on
showing it for up to five seconds."""


def deliver(call: Call, given: str) -> WriteResult:
    """Look, plan and write under the lock, as often as what was planned against changes.

    *given* is the checked candidate; steps may still make another body of it.
    """
    return _delivered(call, lambda: _attempt(call, given))


def finish(call: Call, later: Look, given: str, result: WriteResult) -> WriteResult:
    """Settle what was deferred, by a look that was made for several writes.

    An upsert that lost to an earlier canonical is then brought there as an ordinary write.
    """
    call.unsettled, call.defers = None, False
    settled = partial(_deferred, call, later, result)
    attempts = chain([settled], repeat(partial(_attempt, call, given)))
    return _delivered(call, lambda: next(attempts)())


def _deferred(call: Call, later: Look, result: WriteResult) -> WriteResult:
    landed = call.landed
    assert landed is not None  # noqa: S101 - only what was written is unsettled
    require_listed(call, landed.comment, later)
    if landed.before is None:
        return _concluded(call, later, landed, call.body)
    _converge(call, landed.comment, later)
    return result


def _delivered(call: Call, attempt: Callable[[], WriteResult]) -> WriteResult:
    """Make the attempts, and take back what the result does not name.

    After a conflict only what this call created goes; an update that landed is never called one.
    """
    try:
        result = planned_again(call, attempt)
    except Conflict as error:
        landed = call.landed
        take_back(call, call.twins, kept=None)
        if landed is not None and landed.before is not None:
            raise _not_governing(call, landed, error) from error
        raise
    if call.unsettled is None:
        take_back(call, [*call.twins, *call.outdated], kept=result.comment_id)
        _fold(call, result)
    return replace(
        result, extras=call.extras, warnings=tuple(call.warnings), requests=call.requests()
    )


def _fold(call: Call, result: WriteResult) -> None:
    if call.order.fold and call.seen is not None and result.comment_id is not None:
        fold(call, selection_of(call, call.seen), result.comment_id)


def _not_governing(call: Call, landed: Landed, error: Conflict) -> NotVerified:
    own = landed.comment
    result = call.result(error.action, comment=own, before=landed.before, body=own.body)
    detail = f"comment {own.id} was updated, but does not govern: {error}"
    return NotVerified(error.reason.code, detail, result=result)


def planned_again(call: Call, attempt: Callable[[], WriteResult]) -> WriteResult:
    """Repeat while what was planned against changes, as often as that is allowed."""
    seen: Counter[str] = Counter()
    while True:
        try:
            return attempt()
        except Replan as moved:
            reason, call.replanned = moved.reason, True
            seen[reason.code] += 1
            if reason.code != "lower-canonical":
                close(call, reason, "not-landed")
                call.landed = None
            else:
                give_way(call)
            if call.order.expect is not None or seen[reason.code] > ALLOWED[reason.code]:
                result = call.result(Action.CONFLICT, before=moved.there)
                detail = f"{reason.detail}; read it and try again"
                raise Conflict(reason.code, detail, result=result) from None
            _step_aside(call, reason.code, seen[reason.code])


def _step_aside(call: Call, code: str, times: int) -> None:
    """Wait before the next look, so that it sees something else than the one before."""
    left = call.transport.deadline.remaining()
    if code == "target-changed":
        most = min(FIRST_PAUSE * 2 ** (times - 1), LONGEST_PAUSE, left)
        clock.sleep(random.uniform(0, most))  # noqa: S311 - it guards nothing
    if code == "target-gone":
        clock.sleep(min(GONE_PAUSE * times, left))


def _attempt(call: Call, given: str) -> WriteResult:
    """Look once, plan once, write once."""
    seen = observe(call)
    selection, plan, body = assess(call, seen, given)
    _take_in(call, body)
    if call.landed is not None:
        adopted = _adopted(call, seen, call.landed, body)
        if adopted is not None:
            return adopted
    if plan.move is Move.CONFLICT:
        raise conflict(call, selection, plan, body)
    posted = _posted_before(call, seen, body) if plan.move is Move.POST else None
    if posted is not None:
        return _left(call, posted, body)
    return _CARRY_OUT[plan.move](call, seen, selection, body)


def _take_in(call: Call, body: str) -> None:
    """Take an interrupted call's write as our own where it means the same."""
    alike = [each for each in call.recovered if reads_as(call, each.comment, body)]
    call.recovered = []
    if alike and call.landed is None:
        call.landed = alike[-1]


def _posted_before(call: Call, seen: Look, body: str) -> Comment | None:
    """The record that this entry of the same manifest has posted already, if it still stands."""
    known = call.memory.entry(call.order.burst) if call.order.burst else None
    return next(
        (
            m.comment
            for m in seen.matches
            if m.comment.id == known and reads_as(call, m.comment, body)
        ),
        None,
    )


def planned(call: Call, given: str) -> WriteResult:
    """A dry run: the look and the plan, and what would be done."""
    selection, plan, body = assess(call, observe(call), given)
    if plan.move is Move.CONFLICT:
        raise conflict(call, selection, plan, body)
    before = selection.governing.comment if selection.governing else None
    if before is not None:
        foresee_fold(call, selection, before.id)
    if plan.move is Move.UNCHANGED:
        return call.result(Action.UNCHANGED, comment=before, before=before, body=body)
    target = before if plan.move is Move.UPDATE else None
    what = f"comment {target.id}" if target else "a new comment"
    return call.result(
        Action.PLANNED,
        before=target,
        body=body,
        reason=Reason(code=plan.move, detail=f"would {plan.move} {what}; nothing was written"),
    )


def _unchanged(call: Call, _seen: Look, selection: Selection, body: str) -> WriteResult:
    assert selection.governing is not None  # noqa: S101 - the plan compared with it
    return _left(call, selection.governing.comment, body)


def _left(call: Call, comment: Comment, body: str) -> WriteResult:
    ref = call.conclude(Action.UNCHANGED, comment_id=comment.id, after=body)
    return call.result(Action.UNCHANGED, comment=comment, before=comment, body=body, audit=ref)


def _make(call: Call, seen: Look, _selection: Selection, body: str) -> WriteResult:
    made = create(call, body, seen)
    if made.author is not None and call.setup.trust.distrusts(made.author):
        raise withdrawn(call, made, made.author)
    call.landed = call.landing(made, call.landed_as)
    if call.order.burst:
        call.memory.learn_entry(call.order.burst, made.id)
    if call.defers:
        call.unsettled = seen
        return call.result(call.landed_as, comment=made, body=body, audit=call.intent)
    return _converged(call, seen, call.landed, body)


def _update(call: Call, seen: Look, selection: Selection, body: str) -> WriteResult:
    assert selection.governing is not None  # noqa: S101 - the plan updates it
    target = selection.governing.comment
    made, ref = edit(call, target, body, seen)
    call.landed = call.landing(made, Action.UPDATED, before=target)
    if is_young(call, target, seen):
        if call.defers:
            call.unsettled = seen
        else:
            _converge(call, made, settle(call, made, seen))
    return call.result(Action.UPDATED, comment=made, before=target, body=body, audit=ref)


_CARRY_OUT: dict[Move, Callable[[Call, Look, Selection, str], WriteResult]] = {
    Move.UNCHANGED: _unchanged,
    Move.CREATE: _make,
    Move.POST: _make,
    Move.UPDATE: _update,
}


def _converged(call: Call, seen: Look, landed: Landed, body: str) -> WriteResult:
    """Settle what landed; a record that is one too many gives way to the one before it."""
    return _concluded(call, settle(call, landed.comment, seen), landed, body)


def _concluded(call: Call, later: Look, landed: Landed, body: str) -> WriteResult:
    own = landed.comment
    (call.twins if landed.ours else call.outdated).append(own)
    winner = _converge(call, own, later)
    if winner is not None:
        give_way(call)
        return _left(call, winner.comment, body)
    ref = call.conclude(landed.action, comment_id=own.id, after=body)
    return call.result(landed.action, comment=own, before=landed.before, body=body, audit=ref)


def _converge(call: Call, own: Comment, later: Look) -> Match | None:
    """The record that makes ours one too many; ``Replan`` where an upsert has a canonical."""
    selection = selection_of(call, later)
    call.extras = tuple(extra for extra in selection.extras if extra.id != own.id)
    if all(match.comment.id != own.id for match in selection.trusted):
        call.warn(
            "not-trusted",
            f"comment {own.id} was written, but others do not trust this account here: "
            "to them it does not govern",
        )
    winner = winner_over(call, own, later)
    if winner is not None and shape_of(call) is Shape.UPSERT:
        there = winner.comment
        raise Replan("lower-canonical", f"comment {there.id} was there before ours", there)
    return winner


def _adopted(call: Call, seen: Look, landed: Landed, body: str) -> WriteResult | None:
    """The result of what landed before this look, where it still holds."""
    own = landed.comment
    listed = (m.comment for m in seen.of(call.order.marker.text) if m.comment.id == own.id)
    now = next(listed, None) or current(call, own.id)
    if now is None or not reads_as(call, now, body):
        return None
    if winner_over(call, own, seen) is not None and shape_of(call) is Shape.UPSERT:
        call.outdated.append(own)
        return None
    return _converged(call, seen, landed, body)

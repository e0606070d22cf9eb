"""The order of the protocol's rules (design, section 4; ``docs/protocol.md`` has them as a table).

What may live here: which rule comes after which.  What may not: the rules themselves, which live in
the modules beside this one, in ``hygiene``, ``thread`` and ``plan``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain, repeat

from .. import hygiene
from ..errors import Conflict, Limited, MarkersError, NotVerified, Unreachable
from ..model import Action, Comment, Reason, Shape, WriteResult
from ..plan import Move
from ..selection import Match, Selection
from ..setup import Setup
from ..thread import Look
from ..transport import retry
from .assessing import assess, conflict, observe, selection_of
from .call import Call, Landed, Order
from .delivery import Replan, create, edit, reads_as
from .losers import close, duplicates, fold, give_way, let_go, take_back
from .recovery import settle_thread
from .settling import is_young, require_listed, settle, shape_of, winner_over

__all__ = ["Order", "write"]

ALLOWED = {"target-changed": 3, "target-gone": 2, "written-gone": 2, "lower-canonical": 3}
"""How often one call plans again, by why: often enough for many racing first writers to converge,
seldom enough to end."""


def write(setup: Setup, order: Order) -> WriteResult:
    """Persist one marker.

    Raises a ``MarkersError`` with ``result`` for every end but ``created``, ``updated``,
    ``posted``, ``unchanged`` and (a dry run) ``planned``.
    """
    return told(Call.begin(setup, order), _write)


def told(call: Call, work: Callable[[Call], WriteResult]) -> WriteResult:
    """Run the call; whatever ends it early leaves with a result and an audit entry."""
    try:
        return work(call)
    except MarkersError as error:
        raise call.failure(error) from error.__cause__


def _write(call: Call) -> WriteResult:
    body = checked_body(call)
    if call.order.dry_run:
        return _rounds(call)(lambda: planned(call, body))
    return in_rounds(call, lambda: _round(call, body))


def checked_body(call: Call) -> str:
    """Compose the candidate and check all that can be checked without a request."""
    order, setup = call.order, call.setup
    candidate = hygiene.compose(order.payload, order.marker, setup.contract)
    checked = hygiene.check(
        candidate,
        order.marker,
        family=order.family,
        surface=order.surface,
        contract=setup.contract,
        policy=setup.policy,
    )
    call.warnings.extend(checked.warnings)
    return checked.candidate


def in_rounds(call: Call, work: Callable[[], WriteResult]) -> WriteResult:
    """Do the work under the thread's lock, and again where a limit or no connection held it up."""
    return _rounds(call)(lambda: _locked(call, work))


def _rounds(call: Call) -> Callable[[Callable[[], WriteResult]], WriteResult]:
    return retry.rounds(call.transport.deadline, on_wait=call.setup.on_wait)


def _locked(call: Call, work: Callable[[], WriteResult]) -> WriteResult:
    """Hold the thread for one round; a round that will be repeated leaves no intent open."""
    with call.journal.lock(call.memory.names(), wait=call.transport.deadline.remaining()):
        try:
            return work()
        except (Limited, Unreachable) as error:
            let_go(call, error)
            raise


def _round(call: Call, body: str) -> WriteResult:
    for landed in settle_thread(call):
        if landed.marker == call.order.marker.text:
            take_in(call, landed, body)
    return deliver(call, body)


def deliver(call: Call, body: str) -> WriteResult:
    """Look, plan and write under the lock, as often as what was planned against changes."""
    return _delivered(call, lambda: _attempt(call, body))


def finish(call: Call, later: Look, body: str, result: WriteResult) -> WriteResult:
    """Settle what was deferred, by a look that was made for several writes.

    An upsert that lost to an earlier canonical is then brought there as an ordinary write.
    """
    call.unsettled, call.defers = None, False
    settled = partial(_deferred, call, later, body, result)
    attempts = chain([settled], repeat(partial(_attempt, call, body)))
    return _delivered(call, lambda: next(attempts)())


def _deferred(call: Call, later: Look, body: str, result: WriteResult) -> WriteResult:
    landed = call.landed
    assert landed is not None  # noqa: S101 - only what was written is unsettled
    require_listed(call, landed.comment, later)
    if landed.before is None:
        return _concluded(call, later, landed, body)
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
    return replace(
        result, extras=call.extras, warnings=tuple(call.warnings), requests=call.requests()
    )


def _not_governing(call: Call, landed: Landed, error: Conflict) -> NotVerified:
    own = landed.comment
    result = call.result(error.action, comment=own, before=landed.before, body=own.body)
    detail = f"comment {own.id} was updated, but does not govern: {error}"
    return NotVerified(error.reason.code, detail, result=result)


def take_in(call: Call, landed: Landed, body: str) -> None:
    """Take an interrupted call's write as our own where it means the same."""
    if reads_as(call, landed.comment, body):
        call.landed = landed


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


def _attempt(call: Call, body: str) -> WriteResult:
    """Look once, plan once, write once."""
    seen = observe(call)
    if call.landed is not None:
        adopted = _adopted(call, seen, call.landed, body)
        if adopted is not None:
            return adopted
    selection, plan = assess(call, seen, body)
    if plan.move is Move.CONFLICT:
        raise conflict(call, selection, plan, body)
    posted = _posted_before(call, seen, body) if plan.move is Move.POST else None
    if posted is not None:
        return _left(call, posted, body)
    return _CARRY_OUT[plan.move](call, seen, selection, body)


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


def planned(call: Call, body: str) -> WriteResult:
    """A dry run: the look and the plan, and what would be done."""
    selection, plan = assess(call, observe(call), body)
    if plan.move is Move.CONFLICT:
        raise conflict(call, selection, plan, body)
    before = selection.governing.comment if selection.governing else None
    if call.order.fold_extras:
        for duplicate in duplicates(call, selection):
            call.warn("would-fold", f"our duplicate {duplicate.id} would be deleted")
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
    if call.order.fold_extras:
        fold(call, selection)
    return _left(call, selection.governing.comment, body)


def _left(call: Call, comment: Comment, body: str) -> WriteResult:
    ref = call.conclude(Action.UNCHANGED, comment_id=comment.id, after=body)
    return call.result(Action.UNCHANGED, comment=comment, before=comment, body=body, audit=ref)


def _make(call: Call, seen: Look, _selection: Selection, body: str) -> WriteResult:
    made = create(call, body, seen)
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
    if call.order.fold_extras:
        fold(call, selection)
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
    ref = call.conclude(landed.action, comment_id=own.id, after=body)
    if winner is not None:
        kept = winner.comment
        return call.result(Action.UNCHANGED, comment=kept, before=kept, body=body, audit=ref)
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
    there = any(match.comment.id == own.id for match in seen.of(call.order.marker.text))
    if not there or not reads_as(call, own, body):
        return None
    if winner_over(call, own, seen) is not None and shape_of(call) is Shape.UPSERT:
        call.outdated.append(own)
        return None
    return _converged(call, seen, landed, body)

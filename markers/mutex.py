"""The run lock of an issue: taken, taken over and let go through goal-run-inflight records.

What may live here: the order of looking, writing and looking again (contract, statement 29).  What
may not: who holds the lock (``readers.goal_run_inflight``), how a record reads (``steps.mutex``).

A lock is taken by posting a record and looking again: of the live ones the lowest comment id holds
it.  The writer answers only once a listing shows our own record, so that two who post at the same
time see each other; whoever is not the lowest resolves his own record.

A record that is live holds the lock whatever else is wrong with it, but no text that breaks its
family's rules is written.  So one with a slip is neither adopted nor resolved: a person mends it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from . import clock
from .codec import derive
from .errors import Absent, Conflict, Invalid, Refused, few
from .model import Action, Comment, Family, Marker, Thread, WriteResult
from .readers.goal_run_inflight import elect
from .reading import look_up
from .setup import Setup
from .steps.mutex import UNREADABLE, acquired, adopted, resolved
from .writer import Order, amend, write

FAMILY = "goal-run-inflight"
_BY_HAND = (
    "It holds the run lock all the same: on GitHub, correct what is wrong in it by hand, or delete "
    "the comment, and try again."
)


def acquire(
    setup: Setup, thread: Thread, *, contract_hash: str, run_id: str, command: str = "mutex"
) -> WriteResult:
    """Take the lock: ``posted``.

    *run_id* is a word that no other call uses, so that records of two calls are never the same.
    Raises ``Conflict`` (``held``: nothing was written; ``lost``: our record was resolved again).
    """
    order = _order(setup, thread, command)
    holder = _holder(setup, thread, order.marker)
    if holder is not None:
        raise _taken("held", order, holder)
    payload = acquired(
        number=thread.number,
        contract_hash=contract_hash,
        now=clock.iso(clock.now()),
        run_id=run_id,
    )
    result = write(setup, replace(order, payload=payload, always=True))
    holder = _holder(setup, thread, order.marker)
    if holder is not None and holder["comment_id"] == result.comment_id:
        return result
    return _gave_way(setup, order, result, holder)


def adopt(
    setup: Setup,
    thread: Thread,
    *,
    adopter: str | None,
    take_over: bool = False,
    command: str = "mutex",
) -> WriteResult:
    """Take over the run of the record that holds the lock: it stays the holder, as ``adopted``.

    Raises ``Absent`` when nobody holds it, ``Refused`` when its record has a slip.
    """
    order = _order(setup, thread, command, take_over=take_over)
    return _revised(setup, order, partial(adopted, session_id=adopter), None)


def resolve(
    setup: Setup,
    thread: Thread,
    *,
    reason: str,
    comment_id: int | None = None,
    take_over: bool = False,
    command: str = "mutex",
) -> WriteResult:
    """Let go of the lock: the holder's record, or the one that *comment_id* names, is resolved.

    Raises ``Absent`` when nobody holds it, ``Refused`` when that comment is no live record or has a
    slip.
    """
    order = _order(setup, thread, command, take_over=take_over)
    return _revised(setup, order, partial(resolved, reason=reason), comment_id)


def _order(setup: Setup, thread: Thread, command: str, *, take_over: bool = False) -> Order:
    family: Family = setup.contract.family(FAMILY)
    marker = derive(family, thread.number)
    return Order(thread=thread, family=family, marker=marker, command=command, take_over=take_over)


def _holder(setup: Setup, thread: Thread, marker: Marker) -> dict[str, Any] | None:
    holder: dict[str, Any] | None = look_up(setup, thread, marker, {})["holder"]
    return holder


def _revised(
    setup: Setup, order: Order, revise: Callable[[str], str], wanted: int | None
) -> WriteResult:
    """Change the live record that is *wanted*, else the holder's."""
    picked: list[Comment] = []

    def pick(comments: Sequence[Comment]) -> Comment:
        picked[:] = [_pick(wanted, comments)]
        return picked[0]

    def made(body: str | None) -> str:
        assert body is not None  # noqa: S101 - what is amended is there
        return revise(body)

    try:
        return amend(setup, replace(order, revise=made), pick)
    except Refused as error:
        if picked and (isinstance(error, Invalid) or error.reason.code == UNREADABLE):
            raise _slipped(error, picked[0]) from error
        raise


def _slipped(error: Refused, record: Comment) -> Refused:
    """The refusal, with the comment that it is about and the way out."""
    named = f"the record, comment {record.id}, breaks its family's rules: {error.reason.detail}"
    reason = error.reason
    result = replace(error.result, comment_id=record.id)
    return Refused(reason.code, f"{named}. {_BY_HAND}", line=reason.line, result=result)


def _pick(wanted: int | None, comments: Sequence[Comment]) -> Comment:
    """The live record to change, by the election that ``read`` tells of."""
    live = elect(comments).live
    if not live:
        raise Absent("absent", "nobody holds the run lock: there is no live record")
    found = [run.comment for run in live if wanted in (None, run.comment.id)]
    if not found:
        ids = few([run.comment.id for run in live])
        raise Refused("not-live", f"comment {wanted} is no live record; these are: {ids}")
    return found[0]


def _gave_way(
    setup: Setup, order: Order, result: WriteResult, holder: dict[str, Any] | None
) -> WriteResult:
    """Resolve our own record, which came later than another one."""
    winner = f"comment {holder['comment_id']}" if holder else "nobody"
    resolve(
        setup,
        order.thread,
        reason=f"lost to {winner}",
        comment_id=result.comment_id,
        command=order.command,
    )
    raise _taken("lost", order, holder, result)


def _taken(
    code: str,
    order: Order,
    holder: dict[str, Any] | None,
    result: WriteResult | None = None,
) -> Conflict:
    known = result or WriteResult(
        action=Action.CONFLICT,
        family=order.family.name,
        marker=order.marker.text,
        repo=order.thread.repo.slug,
        number=order.thread.number,
        comment_id=holder["comment_id"] if holder else None,
    )
    who = (
        f"comment {holder['comment_id']} by {holder['author']} holds the run lock "
        f"({holder['status']}, since {holder['launched_at'] or holder['created_at']})"
        if holder
        else "the run lock went to nobody"
    )
    end = "nothing was written" if code == "held" else "our own record was resolved"
    detail = f"{who}; {end}: wait, or `mutex adopt` or `mutex resolve` what is left over"
    return Conflict(code, detail, result=replace(known, action=Action.CONFLICT))

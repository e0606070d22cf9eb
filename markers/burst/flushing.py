"""Delivering what is queued, thread by thread.

What may live here: which threads are flushed, and what is told of each queued write.  What may not:
the delivery itself (``writer.queueing``).  A thread stops at its first failure, the others go on;
running it again goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from ..errors import MarkersError, Refused
from ..journal.interface import Journal, Queued
from ..model import Action, Reason, WriteResult
from ..setup import Setup
from ..writer.call import Call
from ..writer.envelope import described, unpacked
from ..writer.order import Order
from ..writer.protocol import in_rounds
from ..writer.queueing import first
from .results import STATUS_OF, EntryResult, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery(EntryResult):
    """What became of one queued write: a write's result, its status, its number in the queue."""

    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One queued write, as ``queue list`` shows it: without its text."""

    id: int
    at: str
    repo: str | None
    number: int | None
    family: str | None
    marker: str | None
    expect: str | None
    problem: str | None
    """Why it was not delivered when that was last tried."""


DROP_SECONDS = 10.0
"""How long to wait for whoever is delivering on the thread."""


def _no_progress(_done: int) -> None:
    return None


def flush(setup: Setup, *, on_entry: Callable[[int], None] = _no_progress) -> tuple[Delivery, ...]:
    """Deliver what is queued for the setup's host, in order in each thread.

    *on_entry* is told how many writes have been delivered.
    """
    mine = [item for item in setup.open_journal().queued() if _is_for(item, setup)]
    threads: dict[str, list[Queued]] = {}
    for item in mine:
        threads.setdefault(item.thread, []).append(item)
    found: list[Delivery] = []
    for items in threads.values():
        for delivery in _flushed(setup, items):
            found.append(delivery)
            on_entry(len(found))
    return tuple(found)


def waiting(items: Iterable[Queued]) -> list[Waiting]:
    """The queue for people and programs."""
    return [_waiting(item) for item in items]


def waiting_hosts(journal: Journal) -> list[str]:
    """The REST APIs for which something is queued, in order of first mention."""
    named = (_said(item).get("api_url") for item in journal.queued())
    return list(dict.fromkeys(each for each in named if each))


def dropped(journal: Journal, item_id: int) -> Waiting | None:
    """Take one out of the queue; None where there is none."""
    found = next((item for item in journal.queued() if item.id == item_id), None)
    if found is None:
        return None
    with journal.lock([found.thread], wait=DROP_SECONDS):  # nobody is delivering it
        return _waiting(found) if journal.dequeue(item_id) else None


def _waiting(item: Queued) -> Waiting:
    said, problem = _said(item), item.problem
    if not said:
        problem = "it was queued by another version of this program"
    names = ("repo", "number", "family", "marker", "expect")
    return Waiting(id=item.id, at=item.at, problem=problem, **{n: said.get(n) for n in names})


def _said(item: Queued) -> Mapping[str, Any]:
    """What the order says; nothing where it is of a form that is not known here."""
    try:
        return described(item.order)
    except Refused:
        return {}


def _is_for(item: Queued, setup: Setup) -> bool:
    return bool(_said(item).get("api_url", setup.connection.api_url) == setup.connection.api_url)


def _flushed(setup: Setup, items: Sequence[Queued]) -> Iterator[Delivery]:
    """Deliver one thread's queue; what comes after a failure is not attempted."""
    done: dict[int, WriteResult] = {}
    try:
        call = Call.begin(setup, _order(setup, items[0]))
        in_rounds(call, partial(_all_first, call, done))
    except MarkersError as error:
        there = frozenset(item.id for item in setup.open_journal().queued())
        yield from _stopped(items, done, there, error)
        return
    yield from (_delivery(item, done[item.id]) for item in items if item.id in done)


def _all_first(call: Call, done: dict[int, WriteResult]) -> WriteResult:
    first(call, lambda item, result: done.update({item.id: result}))
    return call.result(Action.UNCHANGED)


def _order(setup: Setup, item: Queued) -> Order:
    return unpacked(item.order, setup.contract)


def _stopped(
    items: Sequence[Queued],
    done: dict[int, WriteResult],
    there: frozenset[int],
    error: MarkersError,
) -> Iterator[Delivery]:
    """Tell of a thread that stopped; what is not *there* any more somebody else has delivered."""
    failed = False
    for item in items:
        if item.id in done:
            yield _delivery(item, done[item.id])
        elif item.id in there:
            action = Action.PLANNED if failed else _action_of(error)
            reason = None if failed else _own(error).reason
            failed = True
            yield _delivery(item, _result(item, action, reason))


def _own(error: MarkersError) -> MarkersError:
    """What happened to the write that stopped the thread, not what others are told of it."""
    cause = error.__cause__
    blocked = error.reason.code == "queued-first"
    return cause if blocked and isinstance(cause, MarkersError) else error


def _action_of(error: MarkersError) -> Action:
    """What became of the write that stopped the thread: its own end, where it had one."""
    own = _own(error).result
    return own.action if isinstance(own, WriteResult) else error.action


def _result(item: Queued, action: Action, reason: Reason | None) -> WriteResult:
    said = _said(item)
    return WriteResult(
        action=action,
        reason=reason,
        family=said.get("family"),
        marker=said.get("marker"),
        repo=said.get("repo"),
        number=said.get("number"),
        surface=said.get("surface"),
    )


def _delivery(item: Queued, result: WriteResult) -> Delivery:
    status = STATUS_OF.get(result.action, Status.FAILED)
    known = {field.name: getattr(result, field.name) for field in fields(WriteResult)}
    return Delivery(id=item.id, status=status, **known)

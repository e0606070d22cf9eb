"""Writes that wait in the journal while GitHub is away, and their delivery.

What may live here: putting an order into the queue, and delivering a thread's queue in order
before anything new is written there (design, section 4.1): an old text never goes over a new one.
What may not: which threads are flushed when (``burst.flushing``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..codec import sha256
from ..errors import (
    Denied,
    Limited,
    MarkersError,
    Refused,
    Unavailable,
    Unknown,
    Unreachable,
)
from ..journal.interface import Kind, Queued
from ..model import Action, Reason, WriteResult
from .attempts import deliver
from .call import Call
from .drafting import checked_candidate
from .envelope import described, packed, unpacked
from .following import follow
from .losers import let_go
from .order import Landed
from .recovery import settle_thread

SEARCHED = 2_000
"""How many of the newest journal entries are searched for a delivery that was interrupted."""
_LANDED = frozenset({Action.CREATED, Action.UPDATED, Action.POSTED})
Told = Callable[[Queued, WriteResult], None]
"""Told of each queued write that was delivered."""


def _nobody(_item: Queued, _result: WriteResult) -> None:
    return None


def is_away(call: Call, error: MarkersError) -> bool:
    """Whether the call ended because GitHub cannot be had now, with nothing of it written."""
    written = call.intent is not None or call.follows or (call.landed and call.landed.ours)
    passing = isinstance(error, Unavailable) and error.reason.code not in ("journal", "lock-lost")
    return passing and not written and not call.order.dry_run and call.order.revise is None


def put(call: Call, error: MarkersError) -> WriteResult:
    """Keep the order for ``flush``; the answer is the result ``queued``.

    What it expects stays what it expected when it was queued.
    """
    # The repository's id, once it is known, outlives a renaming.
    thread = call.memory.names()[-1]
    waiting = call.journal.enqueue(thread, packed(call.order, _account(call)))
    detail = f"queued as {waiting}: {error}; `persist-marker flush` delivers it"
    reason = Reason(code=error.reason.code, detail=detail)
    ref = call.conclude(Action.QUEUED, after=call.body, reason=reason)
    return call.result(Action.QUEUED, body=call.body, reason=reason, audit=ref)


def first(call: Call, told: Told = _nobody) -> list[Landed]:
    """What comes before anything new on the thread: unknown outcomes, then what is queued.

    The caller holds the thread's lock.  The answer is what interrupted writes have left there.
    Raises as ``_blocked`` says when a queued write cannot be delivered.
    """
    landed = settle_thread(call)
    for item in call.journal.queued(call.memory.names()):
        told(item, _delivered(call, item, landed))
    return landed


def _delivered(call: Call, item: Queued, landed: list[Landed]) -> WriteResult:
    """Deliver one; it leaves the queue once it stands."""
    try:
        order = unpacked(item.order, call.setup.contract)
        _require_own(call, item)
    except MarkersError as error:
        call.journal.note(item.id, error.reason.detail)
        raise _blocked(item, error) from error
    one = replace(order, burst=order.burst or f"queue:{item.id}")
    own = Call(setup=call.setup, order=one, transport=call.transport, companion=call)
    own.recovered = [each for each in landed if each.marker == order.marker.text]
    try:
        given = checked_candidate(own)
        result = _left(own, item, given) or follow(own, deliver(own, given))
    except (Limited, Unreachable) as error:
        let_go(own, error)
        raise
    except MarkersError as error:
        failed = own.failure(error)
        call.journal.note(item.id, failed.reason.detail)
        raise _blocked(item, failed) from failed
    call.journal.dequeue(item.id)
    return result


def _left(own: Call, item: Queued, given: str) -> WriteResult | None:
    """The result of a write whose text has landed since it was queued, whatever stands there now.

    Its delivery was interrupted before it left the queue: to send it again could put it over what
    came after it.
    """
    comment_id = _landed_since(own, item, sha256(given))
    if comment_id is None:
        return None
    return replace(own.result(Action.UNCHANGED, body=given), comment_id=comment_id)


def _landed_since(own: Call, item: Queued, wanted: str) -> int | None:
    """The comment that the journal says this text has become since it was queued."""
    names, marker = own.memory.names(), own.order.marker.text
    meant: set[int] = set()
    for entry in own.journal.latest(SEARCHED):
        record = entry.record
        if record.marker != marker or record.thread not in names or entry.at < item.at:
            continue
        if record.kind is Kind.INTENT and record.sha256_after == wanted:
            meant.add(entry.seq)
        elif record.intent in meant and record.action in _LANDED and record.comment_id:
            return record.comment_id
    return None


def _account(call: Call) -> str:
    """Whose write it is: the account where it is known, else the token."""
    me = call.memory.remembered_me()
    return f"user:{me.id}" if me else f"token:{call.transport.fingerprint}"


def _require_own(call: Call, item: Queued) -> None:
    """Refuse to deliver in another account's name: its words would be ours."""
    whose = str(described(item.order).get("account", ""))
    kind, _, name = whose.partition(":")
    me = call.memory.me() if kind == "user" else None
    ours = str(me.id) if me else call.transport.fingerprint if kind == "token" else None
    if ours != name:
        raise Refused(
            "queued-by-another", f"it was queued by another account ({whose}): use its token"
        )


def _blocked(item: Queued, error: MarkersError) -> MarkersError:
    """The error of whoever comes after a queued write that cannot be delivered.

    ``Unavailable`` and ``Denied`` as GitHub has it; ``Refused`` (``queued-first``) where only
    somebody who looks at the queued write can help.
    """
    detail = (
        f"queued write {item.id} on this thread comes first, and: {error}; see `persist-marker "
        f"queue list`, and `queue drop {item.id}` if it is not wanted any more"
    )
    kind: type[MarkersError] = Refused
    if isinstance(error, Unavailable | Unknown):
        kind = Unavailable
    elif isinstance(error, Denied):
        kind = Denied
    return kind("queued-first", detail)

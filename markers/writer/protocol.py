"""One write call from its check to its last edit (``docs/protocol.md`` has the rules as a table).

What may live here: what is done outside the thread's lock and in what order within it.  What may
not: the rules, which live in the modules beside this one, in ``hygiene``, ``thread`` and ``plan``.
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import Limited, MarkersError, Unavailable, Unreachable
from ..model import WriteResult
from ..setup import Setup
from ..transport import retry
from .attempts import deliver, planned
from .call import Call
from .drafting import checked_candidate
from .following import follow, foresee
from .losers import let_go
from .order import Landed, Order
from .queueing import first, is_away, put


def write(setup: Setup, order: Order) -> WriteResult:
    """Persist one marker.

    Raises a ``MarkersError`` with ``result`` for every end but ``created``, ``updated``,
    ``posted``, ``unchanged``, (a dry run) ``planned`` and (with ``order.queue``, where GitHub is
    away) ``queued``.
    """
    call = Call.begin(setup, order)
    return told(call, _kept if order.queue else _write)


def _kept(call: Call) -> WriteResult:
    try:
        return _write(call)
    except Unavailable as error:
        if not is_away(call, error):
            raise
        return put(call, error)


def told(call: Call, work: Callable[[Call], WriteResult]) -> WriteResult:
    """Run the call; whatever ends it early leaves with a result and an audit entry."""
    try:
        return work(call)
    except MarkersError as error:
        raise call.failure(error) from error.__cause__


def _write(call: Call) -> WriteResult:
    given = checked_candidate(call)
    if call.order.dry_run:
        return _rounds(call)(lambda: foresee(call, planned(call, given)))
    return in_rounds(call, lambda: follow(call, _round(call, given)))


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


def _round(call: Call, given: str) -> WriteResult:
    keep_own(call, first(call))
    return deliver(call, given)


def keep_own(call: Call, landed: list[Landed]) -> None:
    """Keep what interrupted calls have written of the call's own marker.

    What an earlier round of this call had to give way with has been settled as well.
    """
    if call.pending:
        gone = {twin.id for twin in call.twins}
        if call.landed is not None and call.landed.comment.id in gone:
            call.landed = None
        call.pending, call.twins = [], []
    call.recovered = [each for each in landed if each.marker == call.order.marker.text]

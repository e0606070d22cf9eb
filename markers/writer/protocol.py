"""One write call from its check to its last edit (``docs/protocol.md`` has the rules as a table).

What may live here: what is done outside the thread's lock and in what order within it.  What may
not: the rules, which live in the modules beside this one, in ``hygiene``, ``thread`` and ``plan``.
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import Limited, MarkersError, Unreachable
from ..model import WriteResult
from ..setup import Setup
from ..transport import retry
from .attempts import deliver, planned
from .call import Call
from .drafting import checked_candidate
from .following import follow, foresee
from .losers import let_go
from .order import Landed, Order
from .recovery import settle_thread


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
    keep_own(call, settle_thread(call))
    return deliver(call, given)


def keep_own(call: Call, landed: list[Landed]) -> None:
    """Keep what interrupted calls have written of the call's own marker."""
    call.recovered = [each for each in landed if each.marker == call.order.marker.text]

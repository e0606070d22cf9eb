"""Ordered bursts: all checked before the first write, written in order, stopped at a failure.

What may live here: the order of a burst, over the one writer.  What may not: rules of a single
write.

Phases (design, sections 3 and 4): every entry is checked without network, then against one look at
each thread; only then is anything written.  One look serves all entries of a thread, and one
settling look at the end serves all that was created there.  Running the same manifest again
converges: what has landed is ``unchanged``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from ..clock import Deadline
from ..errors import Limited, MarkersError, Refused, Unreachable
from ..model import Comment
from ..setup import Setup
from ..steps import after
from ..thread import Look
from ..transport import retry
from ..writer.assessing import markers_of, see
from ..writer.attempts import deliver, finish, planned
from ..writer.call import Call
from ..writer.drafting import checked_candidate
from ..writer.following import follow, foresee
from ..writer.losers import let_go
from ..writer.order import Order
from ..writer.protocol import keep_own
from ..writer.queueing import first, is_away, put
from ..writer.settling import await_listed
from .manifest import Faulty, Problem
from .results import BurstResult, Entry, result_of

KEPT = 0.1
"""How much of the deadline an entry leaves for settling what landed before it."""


@dataclass(slots=True)
class _Run:
    """The mutable state of one burst."""

    setup: Setup
    entries: list[Entry]
    deadline: Deadline
    on_entry: Callable[[int], None]
    looks: dict[str, Look] = field(default_factory=dict)

    def remaining(self) -> list[Entry]:
        """The entries that are still to be written."""
        return [entry for entry in self.entries if not entry.written]

    def around(self, entry: Entry) -> tuple[set[str], set[str]]:
        """The markers that are written to the entry's thread before it, and behind it."""
        at = self.entries.index(entry)
        before, behind = self.entries[:at], self.entries[at + 1 :]
        one, other = (
            {each.marker for each in some if each.thread == entry.thread}
            for some in (before, behind)
        )
        return one, other

    def by_thread(self, entries: Iterable[Entry]) -> dict[str, list[Entry]]:
        """Entries in groups of one thread, in order of first mention."""
        groups: dict[str, list[Entry]] = {}
        for entry in entries:
            groups.setdefault(entry.thread, []).append(entry)
        return groups


def _no_progress(_done: int) -> None:
    return None


def burst(
    setup: Setup,
    orders: Sequence[Order],
    *,
    dry_run: bool = False,
    on_entry: Callable[[int], None] = _no_progress,
) -> BurstResult:
    """Persist *orders* in order, all checked before the first write.

    *on_entry* is told how many entries are done.  Orders with ``queue`` that find GitHub away wait
    in the journal, with all that come after them.  Raises a ``MarkersError`` with the
    ``BurstResult`` as ``result`` when the check refuses (``Faulty``) or an entry fails.
    """
    deadline = setup.deadline()
    entries = [
        Entry(Call.begin(setup, replace(order, dry_run=dry_run), deadline)) for order in orders
    ]
    run = _Run(setup, entries, deadline, on_entry)
    rounds = retry.rounds(run.deadline, on_wait=setup.on_wait)
    try:
        _check(run)
        rounds((lambda: _preview(run)) if dry_run else (lambda: _locked(run)))
    except MarkersError as error:
        _settle_left_over(run)
        if _queued(run, error):
            return result_of(run.entries, None)
        error.result = result_of(run.entries, error)
        raise
    return result_of(run.entries, None)


def _queued(run: _Run, error: MarkersError) -> bool:
    """Queue what is still to be written, in order, where that was asked for and is safe."""
    rest = run.remaining()
    if not all(entry.call.order.queue and is_away(entry.call, error) for entry in rest):
        return False
    for entry in rest:
        entry.result, entry.failed = put(entry.call, error), False
    return bool(rest)


def _check(run: _Run) -> None:
    """All that can be checked without a request; every problem is told."""
    problems: list[Problem] = []
    first: dict[tuple[str, str], int] = {}
    companions: dict[str, Call] = {}
    for at, entry in enumerate(run.entries, 1):
        call, thread, marker = entry.call, entry.thread, entry.marker
        call.companion = companions.get(thread)
        companions.setdefault(thread, call)
        if first.setdefault((thread, marker), at) != at:
            detail = f"{marker} is entry {first[thread, marker]}'s already"
            problems.append(Problem(entry=at, key="marker", code="marker-twice", detail=detail))
        try:
            entry.given = checked_candidate(call)
        except Refused as error:
            problems.append(_problem_of(at, _KEYS.get(error.reason.code, "bodyFile"), error))
    if problems:
        raise Faulty(problems)


_KEYS = {"surface": "targetSurface", "family-not-writable": "family", "order": "family"}
"""The key at fault where it is not the body."""


def _problem_of(at: int, key: str, error: MarkersError) -> Problem:
    line = f" (line {error.reason.line})" if error.reason.line else ""
    return Problem(entry=at, key=key, code=error.reason.code, detail=f"{error}{line}")


def _locked(run: _Run) -> None:
    """One round under the locks of all threads; a wait for a limit is made without them."""
    journal = run.setup.open_journal()
    with ExitStack() as locks:
        locks.enter_context(journal.lock(_keys(run), wait=run.deadline.remaining()))
        try:
            _settle_first(run)
            _preview(run)
            _write_all(run)
            _settle_all(run)
        except (Limited, Unreachable) as error:
            _let_go(run, error)
            raise


def _keys(run: _Run) -> list[str]:
    return sorted({key for entry in run.entries for key in entry.call.memory.names()})


def _settle_first(run: _Run) -> None:
    for entries in run.by_thread(run.remaining()).values():
        landed = first(entries[0].call)
        for entry in entries:
            keep_own(entry.call, landed)


def _preview(run: _Run) -> None:
    """One look at each thread, and every remaining entry planned on it; nothing is written."""
    problems: list[Problem] = []
    for entries in run.by_thread(run.remaining()).values():
        seen = _look(entries)
        run.looks[seen.thread.key()] = seen
        for entry in entries:
            try:
                _plan_one(run, entry, seen)
            except Refused as error:
                key = _KEYS.get(error.reason.code, "targetSurface")
                problems.append(_problem_of(run.entries.index(entry) + 1, key, error))
    if problems:
        raise Faulty(problems)


def _look(entries: Sequence[Entry]) -> Look:
    markers = (marker for entry in entries for marker in markers_of(entry.call))
    return see(entries[0].call, *markers, identify=True)


def _plan_one(run: _Run, entry: Entry, seen: Look) -> None:
    """Plan an entry on the shared look; a conflict ends the burst before anything is written."""
    call = entry.call
    call.glance = seen
    before, behind = run.around(entry)
    try:
        result = planned(call, entry.given)
        entry.result = foresee(call, result, before=before, behind=behind)
    except Refused:
        raise
    except MarkersError as error:
        _fail(entry, error)
        raise


def _write_all(run: _Run) -> None:
    for entry in run.remaining():
        if after(entry.call.order.family):
            _settle_all(run)  # what this write will edit must have its final place by then
        try:
            _write_one(run, entry)
        except (Limited, Unreachable):
            raise
        except MarkersError as error:
            _fail(entry, error)
            _settle_what_landed(run)
            raise
        entry.written = True
        run.on_entry(sum(done.written for done in run.entries))


def _write_one(run: _Run, entry: Entry) -> None:
    """Write on the shared look, and lay what was written over it for the entries that follow."""
    call, thread = entry.call, entry.thread
    if thread not in run.looks:
        run.looks[thread] = _look(run.by_thread(run.remaining())[thread])
    call.glance, call.defers = run.looks[thread], not after(call.order.family)
    with run.deadline.keeping(run.deadline.seconds * KEPT):
        entry.result = follow(call, deliver(call, entry.given))
    if call.replanned:
        del run.looks[thread]  # something moved: the next entry needs a look of its own
        return
    written = [(entry.marker, call.landed.comment)] if call.landed is not None else []
    for marker, comment in (*written, *call.followed):
        run.looks[thread] = run.looks[thread].with_written(marker, comment)


def _fail(entry: Entry, error: MarkersError) -> None:
    entry.failed = True
    entry.result = entry.call.failure(error).result


def _settle_what_landed(run: _Run) -> None:
    """Settle what stands on GitHub though the burst has failed; nothing is tried again."""
    try:
        _settle_all(run)
    except MarkersError as error:
        for entry in run.entries:
            if entry.call.unsettled is not None:
                _fail(entry, error)


def _settle_left_over(run: _Run) -> None:
    """Settle what landed in a round that was to be repeated and was not: time ran out."""
    landed = [e for e in run.remaining() if e.call.landed and e.call.landed.ours and not e.failed]
    for entry in landed:
        entry.call.unsettled, entry.written = entry.call.seen, True
    if not landed:
        return
    try:
        with run.setup.open_journal().lock(_keys(run), wait=run.deadline.remaining()):
            _settle_what_landed(run)
    except MarkersError as error:
        for entry in landed:
            _fail(entry, error)


def _settle_all(run: _Run) -> None:
    """One settling look a thread for all that was created there, then each entry's own end."""
    unsettled = [entry for entry in run.entries if entry.call.unsettled]
    for entries in run.by_thread(unsettled).values():
        later = _settling_look(entries)
        for entry in entries:
            _finish_one(entry, later)


def _settling_look(entries: Sequence[Entry]) -> Look:
    call = entries[0].call
    assert call.unsettled is not None  # noqa: S101 - only such entries are asked for
    owns = {own.id: own for entry in entries if (own := _own(entry)) is not None}
    markers = tuple(entry.marker for entry in entries)
    return await_listed(call, owns, call.unsettled, markers)


def _own(entry: Entry) -> Comment | None:
    landed = entry.call.landed
    return landed.comment if landed else None


def _finish_one(entry: Entry, later: Look) -> None:
    assert entry.result is not None  # noqa: S101 - it was written
    try:
        entry.result = finish(entry.call, later, entry.given, entry.result)
    except (Limited, Unreachable):
        raise
    except MarkersError as error:
        _fail(entry, error)
        raise


def _let_go(run: _Run, error: MarkersError) -> None:
    """End a round that will be repeated: what has landed is concluded, what has not is open."""
    for entry in run.entries:
        call = entry.call
        let_go(call, error)
        entry.written = entry.written and call.unsettled is None
        call.unsettled = None

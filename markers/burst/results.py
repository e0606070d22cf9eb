"""What becomes of a burst and of each of its entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum

from ..errors import MarkersError
from ..model import Action, Reason, WriteResult
from ..writer.call import Call
from .manifest import Faulty, Problem


class Status(StrEnum):
    """What became of one entry."""

    LANDED = "landed"
    UNCHANGED = "unchanged"
    LANDED_INCOMPLETE = "landed-incomplete"
    FAILED = "failed"
    UNKNOWN = "unknown"
    NOT_ATTEMPTED = "not-attempted"


STATUS_OF = {
    Action.CREATED: Status.LANDED,
    Action.UPDATED: Status.LANDED,
    Action.POSTED: Status.LANDED,
    Action.UNCHANGED: Status.UNCHANGED,
    Action.PLANNED: Status.NOT_ATTEMPTED,
    Action.QUEUED: Status.NOT_ATTEMPTED,
    Action.LANDED_UNVERIFIED: Status.LANDED_INCOMPLETE,
    Action.LANDED_INCOMPLETE: Status.LANDED_INCOMPLETE,
    Action.UNKNOWN: Status.UNKNOWN,
}
"""Every other action is a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryResult(WriteResult):
    """One entry's result: a write's, and its status."""

    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstResult:
    """What became of a burst; *results* has an element for each entry, in order."""

    action: str
    """``landed``, ``unchanged``, ``planned`` or ``queued`` when all is well, else the action of the
    entry that stopped it."""
    reason: Reason | None = None
    results: tuple[EntryResult, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Entry:
    """One write of a burst, and how far it has come."""

    call: Call
    given: str = ""
    """The checked candidate."""
    result: WriteResult | None = None
    written: bool = False
    """Whether it is done but for the settling at the end."""
    failed: bool = False

    @property
    def thread(self) -> str:
        """The key of the entry's thread."""
        return self.call.order.thread.key()

    @property
    def marker(self) -> str:
        """The entry's marker."""
        return self.call.order.marker.text


def result_of(entries: Sequence[Entry], error: MarkersError | None) -> BurstResult:
    """The result of a burst that *error* ended, if one did."""
    results = tuple(_entry_result(at, entry, error) for at, entry in enumerate(entries, 1))
    if error is not None:
        problems = error.problems if isinstance(error, Faulty) else ()
        return BurstResult(
            action=error.action, reason=error.reason, results=results, problems=problems
        )
    statuses = {result.status for result in results}
    if any(entry.call.order.dry_run for entry in entries):
        action = Action.PLANNED.value
    else:
        action = (Status.LANDED if Status.LANDED in statuses else Status.UNCHANGED).value
    if any(result.action is Action.QUEUED for result in results):
        action = Action.QUEUED.value
    return BurstResult(action=action, results=results)


def _entry_result(at: int, entry: Entry, error: MarkersError | None) -> EntryResult:
    """One entry's own result; what a stopped burst did not come to was only planned."""
    result = entry.result
    if isinstance(error, Faulty):
        result = _faulty_result(at, entry, error)
    elif result is None or (error is not None and not (entry.written or entry.failed)):
        result = entry.call.result(Action.PLANNED)
    status = STATUS_OF.get(result.action, Status.FAILED)
    return EntryResult(status=status, **{f.name: getattr(result, f.name) for f in fields(result)})


def _faulty_result(at: int, entry: Entry, error: Faulty) -> WriteResult:
    own = [p for p in error.problems if p.entry == at]
    if not own:
        return entry.call.result(Action.PLANNED)
    reason = Reason(code=own[0].code, detail=own[0].detail)
    return replace(entry.call.result(Action.PLANNED), action=Action.REFUSED, reason=reason)

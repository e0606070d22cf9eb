"""Settling writes whose outcome is unknown, by looking at GitHub.

What may live here: from an open intent of the journal to what became of it (design, sections 4.1
and 6).  Nothing is sent again: whoever wanted the write decides that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .. import clock
from ..codec import sha256
from ..errors import Denied, MarkersError, Refused, Unavailable, Unknown
from ..journal.interface import Entry, Record
from ..model import Action, Comment, Family, Marker, Reason, Repo, Scope, Shape, Status, Thread
from ..plan import Effect, effect_of_edit
from ..setup import Setup
from .call import Call
from .lost import current, search
from .order import Landed, Order
from .removal import remove
from .settling import winner_over

LANDED = "landed"
NOT_LANDED = "not-landed"
SUPERSEDED = "superseded"
TWIN = "twin"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What became of one open intent."""

    intent: int
    repo: str
    number: int
    marker: str
    comment_id: int | None
    outcome: str
    """``landed``, ``not-landed``, ``superseded`` (another text is there now), ``twin`` (landed, but
    an earlier comment governs: taken back) or ``unknown``."""
    detail: str


@dataclass(frozen=True, slots=True)
class _Finding:
    outcome: str
    comment: Comment | None = None


def recover(setup: Setup) -> tuple[Settled, ...]:
    """Settle all open intents, oldest first; what cannot be settled stays open and is named."""
    journal = setup.open_journal()
    return tuple(_recover_one(setup, entry) for entry in journal.open_intents())


def settle_thread(call: Call) -> list[Landed]:
    """Settle the thread's open intents before anything new is written (4.1).

    The answer is what proves landed, of any marker.  Raises ``Unavailable`` when an intent cannot
    be settled: nothing new was written.
    """
    landed = []
    for entry in call.journal.open_intents(call.memory.names()):
        try:
            finding = _settle(_reopened(call.setup, entry), entry)
        except MarkersError as error:
            raise Unavailable(
                "unsettled",
                f"an earlier write (journal entry {entry.seq}) has an unknown outcome and cannot "
                f"be settled now: {error}; nothing was written",
            ) from error
        if finding.outcome == LANDED and finding.comment and entry.record.action in _TEXTS:
            meant = Action(entry.record.meant or Action.CREATED)
            marker = entry.record.marker
            landed.append(Landed(comment=finding.comment, marker=marker, action=meant))
    return landed


_TEXTS = frozenset({"create", "edit"})
"""The intents whose success is a text on GitHub."""


def _recover_one(setup: Setup, entry: Entry) -> Settled:
    record = entry.record
    try:
        call = _reopened(setup, entry)
        if record.api_url != setup.connection.api_url:
            raise Unknown("other-host", f"it went to {record.api_url}; run recover for that host")
        with call.journal.lock(call.memory.names(), wait=call.transport.deadline.remaining()):
            finding = _settle(call, entry)
    except MarkersError as error:
        return _settled(entry, UNKNOWN, record.comment_id, error.reason.detail)
    found = finding.comment.id if finding.comment else record.comment_id
    return _settled(entry, finding.outcome, found, WORDS[finding.outcome])


WORDS = {
    LANDED: "the write is on GitHub",
    NOT_LANDED: "the write is not on GitHub; run it again if it is still wanted",
    SUPERSEDED: "the comment holds another text now; read it before writing again",
    TWIN: "an earlier comment governs, so that ours was taken back; write again if it is wanted",
}


def _settled(entry: Entry, outcome: str, comment_id: int | None, detail: str) -> Settled:
    record = entry.record
    return Settled(
        intent=entry.seq,
        repo=record.repo,
        number=record.number,
        marker=record.marker,
        comment_id=comment_id,
        outcome=outcome,
        detail=detail,
    )


def _settle(call: Call, entry: Entry) -> _Finding:
    """Look, decide and record the outcome of one intent; the caller holds the thread's lock.

    A twin of an earlier canonical is taken back: its text is in the journal.
    """
    _wait_until_settled(call, entry)
    finding = _FINDERS[entry.record.action](call, entry.record)
    if finding.outcome == TWIN and finding.comment:
        finding = _without_twin(call, finding.comment)
    call.intent = entry.ref
    call.conclude(
        str(entry.record.meant) if finding.outcome in (LANDED, TWIN) else finding.outcome,
        comment_id=finding.comment.id if finding.comment else entry.record.comment_id,
        after=finding.comment.body if finding.comment else None,
        reason=Reason(code=finding.outcome, detail=WORDS[finding.outcome]),
    )
    return finding


def _without_twin(call: Call, twin: Comment) -> _Finding:
    """Take a twin back; one that we may not delete has landed, and no write waits for it."""
    try:
        remove(call, twin)
    except (Denied, Refused) as error:
        call.conclude(error.action, comment_id=twin.id, reason=error.reason)
        return _Finding(LANDED, twin)
    return _Finding(TWIN, twin)


def _wait_until_settled(call: Call, entry: Entry) -> None:
    """Give a request that may still be under way the time that GitHub gives it."""
    wait = call.setup.timing.settle - call.journal.age(entry)
    if wait > call.transport.deadline.remaining():
        raise Unavailable("deadline", f"it needs {wait:.0f} s more to be certain")
    if wait > 0:
        call.setup.on_wait(wait, "an earlier write may still be under way")
        clock.sleep(wait)


def _find_create(call: Call, record: Record) -> _Finding:
    made, seen = search(call, record.sha256_after or "", record.above or 0)
    if made is None:
        return _Finding(NOT_LANDED)
    winner = winner_over(call, made, seen)
    return _Finding(LANDED if winner is None else TWIN, made)


def _find_edit(call: Call, record: Record) -> _Finding:
    now = current(call, record.comment_id or 0)
    effect = effect_of_edit(
        now=sha256(now.body) if now else None,
        before=record.sha256_before or "",
        after=record.sha256_after or "",
    )
    return _Finding(_OUTCOME_OF[effect], now)


_OUTCOME_OF = {
    Effect.LANDED: LANDED,
    Effect.SEND_AGAIN: NOT_LANDED,
    Effect.GONE: NOT_LANDED,
    Effect.CHANGED: SUPERSEDED,
}


def _find_delete(call: Call, record: Record) -> _Finding:
    now = current(call, record.comment_id or 0)
    return _Finding(NOT_LANDED, now) if now else _Finding(LANDED)


def _find_minimise(call: Call, record: Record) -> _Finding:
    """A server that does not say whether it is hidden counts as not: asking again does no harm."""
    now = current(call, record.comment_id or 0)
    return _Finding(LANDED if now and now.minimized else NOT_LANDED, now)


_FINDERS: dict[str, Callable[[Call, Record], _Finding]] = {
    "create": _find_create,
    "edit": _find_edit,
    "delete": _find_delete,
    "minimise": _find_minimise,
}


def _reopened(setup: Setup, entry: Entry) -> Call:
    """A call that stands where the interrupted one stood."""
    record = entry.record
    owner, _, name = record.repo.partition("/")
    return Call.begin(
        setup,
        Order(
            thread=Thread(Repo(record.api_url, owner, name), record.number),
            family=setup.contract.families.get(record.family) or _forgotten(record),
            marker=marker_of(setup, record),
            command="recover",
        ),
    )


def marker_of(setup: Setup, record: Record) -> Marker:
    """The marker that an entry names, also where the contract no longer has its family."""
    return setup.contract.parse(record.marker) or Marker(
        text=record.marker, family=record.family, number=record.number
    )


def _forgotten(record: Record) -> Family:
    """Stand in for a family that the contract no longer has: its intent must be settled still."""
    return Family(
        name=record.family,
        template=record.marker,
        status=Status.RETIRED,
        scope=Scope.COMMENT,
        shape=Shape.UPSERT if record.meant != Action.POSTED else Shape.POST_NEW,
    )

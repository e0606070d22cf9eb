"""Carrying out one planned write: intent, request, retry by effect, read-back.

What may live here: creating and editing, each after its intent and before its outcome, and what is
done when an answer is lost (design, sections 4.7 and 4.8).  What may not: what to write where
(``plan``), or the settling afterwards (``settling``).

Errors pass through with the intent still open; whoever ends the round records the outcome, since
only it knows whether the round is repeated.  An ``Unknown`` leaves the intent open for good: the
next write or ``recover`` settles it.
"""

from __future__ import annotations

from .. import clock
from ..codec import sha256
from ..errors import Broken, Conflict, Denied, Gone, Limited, MarkersError, Unavailable
from ..model import Action, AuditRef, Comment, Reason
from ..plan import Effect, effect_of_edit
from ..selection import is_mine
from ..thread import Look
from . import ownership
from .call import Call
from .lost import ATTEMPTS, check_lock, current, reads_as, search, unclear, wait_for_proof
from .readback import read_back, repair, unverified

MOST_POSTS = 20
"""A bound on creates beside the deadline: each waits for the proof that the last one is absent."""


class Replan(Exception):
    """What was planned against is no longer so: look again and plan again."""

    def __init__(self, code: str, detail: str, there: Comment | None = None) -> None:
        super().__init__(detail)
        self.reason = Reason(code=code, detail=detail)
        self.there = there
        """What is there instead, where something is."""


def create(call: Call, body: str, seen: Look) -> Comment:
    """POST a comment; the answer is our comment as it reads back.

    Its intent stays open: until it is settled, it may turn out to be one too many.
    """
    wait_for_slot(call)
    call.intend("create", call.landed_as, after=body, above=seen.highest)
    made = _post(call, body, seen.highest)
    call.slot_reserved = False
    call.landed = call.landing(made, call.landed_as)
    made = read_back(call, made, body)
    if not reads_as(call, made, body):
        made = repair(call, made, body)
    call.memory.learn_me(made.author)
    return made


def edit(call: Call, target: Comment, body: str, seen: Look) -> tuple[Comment, AuditRef]:
    """PATCH *target* by id; raises ``Replan`` when it is not what was planned against."""
    _still_there(call, target, seen)
    call.intend("edit", Action.UPDATED, target=target, after=body)
    made = _patch(call, target, body)
    call.landed = call.landing(made, Action.UPDATED, before=target)
    made = read_back(call, made, body)
    if not reads_as(call, made, body):
        raise unverified(call, f"comment {target.id} was updated but reads back differently", made)
    return made, call.conclude(Action.UPDATED, target=target, after=body)


def wait_for_slot(call: Call) -> None:
    """Take a turn at creating content; a long wait is made without the lock, as a new round."""
    timing = call.setup.timing
    if not timing.paced or call.slot_reserved:
        return
    account = f"{call.order.thread.repo.api_url}:{call.transport.fingerprint}"
    wait = call.journal.pace(account, minute=timing.minute, hour=timing.hour, gap=timing.gap)
    call.slot_reserved = True
    if wait <= 0:
        return
    call.transport.deadline.extend(wait)
    if wait > timing.fresh:
        raise Limited("paced", "waiting for this token's turn to create a comment", wait=wait)
    call.setup.on_wait(wait, "comments are created a second apart")
    clock.sleep(wait)


def _post(call: Call, body: str, above: int) -> Comment:
    """Send until it lands; what is lost in the end may have landed, so that it is ``Unknown``."""
    for _attempt in range(MOST_POSTS):
        sent = clock.monotonic()
        call.journal.check_lock()
        try:
            made = call.heard(call.transport.create(call.order.thread, body))
            return _created(call, made, body, above)
        except Broken as error:
            lost = error
            found = _adopt(call, sha256(body), above, sent, lost)
            if found is not None:
                return found
    raise unclear("create", lost, f"it was lost {MOST_POSTS} times")


def _created(call: Call, made: Comment, body: str, above: int) -> Comment:
    """The comment that our POST made, whichever its answer speaks of: no other is ever repaired."""
    if made.id > above and reads_as(call, made, body):
        return made
    if made.id <= above or not _may_be_ours(call, made):
        detail = f"the answer to our create speaks of comment {made.id}, which is another one"
        raise Broken("another-comment", detail)
    try:
        return search(call, sha256(body), above)[0] or made
    except MarkersError:
        return made


def _may_be_ours(call: Call, made: Comment) -> bool:
    me = call.memory.me()
    return me is None or is_mine(made, me)


def _adopt(call: Call, body_hash: str, above: int, sent: float, lost: Broken) -> Comment | None:
    """Find what a POST with a lost answer made; None once its absence is proved (4.8)."""
    settled = sent + call.setup.timing.settle
    while True:
        try:
            found, seen = search(call, body_hash, above)
        except MarkersError as error:
            raise unclear("create", lost, f"the thread cannot be listed: {error}") from lost
        if found is not None or seen.began >= settled:
            return found
        wait = settled - clock.monotonic()
        if wait > call.transport.deadline.remaining():
            raise unclear("create", lost, "the deadline ends before its absence is proved")
        call.setup.on_wait(wait, "making sure that the comment was not created")
        clock.sleep(wait)


def _patch(call: Call, target: Comment, body: str) -> Comment:
    before: Broken | None = None
    for attempt in range(1, ATTEMPTS + 1):
        check_lock(call, "update", before)
        try:
            return call.heard(call.transport.edit(call.order.thread.repo, target.id, body))
        except Denied as error:
            _explain(call, target, error)
            raise
        except Broken as lost:
            if attempt == ATTEMPTS:
                wait_for_proof(call, "update", lost)
            landed = _after_lost_edit(call, target, body, lost)
            if landed is not None:
                return landed
            before = lost
    raise Unavailable("not-landed", f"the update was lost {ATTEMPTS} times; nothing was written")


def _explain(call: Call, target: Comment, error: Denied) -> None:
    """Raise what a refused PATCH means where that is more than no: a foreign comment, or none."""
    gone = isinstance(error, Gone)
    if ownership.is_foreign(call, target, error) and not (gone and not current(call, target.id)):
        raise ownership.foreign(call, target, error) from error
    if gone:
        raise Replan("target-gone", f"comment {target.id} was deleted meanwhile") from None


def _after_lost_edit(call: Call, target: Comment, body: str, lost: Broken) -> Comment | None:
    """What a PATCH with a lost answer did: the comment where it landed, None to send again."""
    try:
        now = current(call, target.id)
    except MarkersError as error:
        raise unclear("update", lost, f"comment {target.id} cannot be read: {error}") from lost
    effect = effect_of_edit(
        now=sha256(now.body) if now else None, before=sha256(target.body), after=sha256(body)
    )
    if effect is Effect.GONE:
        raise Replan("target-gone", f"comment {target.id} was deleted meanwhile")
    if effect is Effect.CHANGED:
        raise Conflict(
            "changed-meanwhile",
            f"the answer to our update was lost, and comment {target.id} now holds another text; "
            "it was left alone: read it before writing again",
        )
    return now if effect is Effect.LANDED else None


def _still_there(call: Call, target: Comment, seen: Look) -> None:
    """Read the target again where the look is old or the caller relies on it (4.7)."""
    made_for_it = bool(call.order.family.steps) or call.order.revise is not None
    relied_on = call.order.expect is not None or made_for_it
    if not relied_on and clock.monotonic() - seen.began <= call.setup.timing.fresh:
        return
    now = current(call, target.id)
    if now is None:
        raise Replan("target-gone", f"comment {target.id} was deleted meanwhile")
    if not reads_as(call, now, target.body):
        raise Replan("target-changed", f"comment {target.id} was edited meanwhile", now)

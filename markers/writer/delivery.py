"""Carrying out one planned write: intent, request, retry by effect, read-back.

What may live here: the three writes, each after its intent and before its outcome, and what is
done when an answer is lost (design, sections 4.7, 4.8 and 4.10).  What may not: what to write
where (``plan``), or the settling afterwards (``settling``).

Errors pass through with the intent still open; whoever ends the round records the outcome, since
only it knows whether the round is repeated.  An ``Unknown`` leaves the intent open for good: the
next write or ``recover`` settles it.
"""

from __future__ import annotations

from .. import clock
from ..codec import matches, sha256
from ..errors import (
    Broken,
    Conflict,
    Gone,
    Limited,
    MarkersError,
    NotVerified,
    Unavailable,
    Unknown,
    Withdrawn,
)
from ..model import Action, AuditRef, Comment, Reason
from ..plan import Effect, effect_of_edit
from ..selection import is_mine
from ..thread import Look, look, only
from .call import Call

ATTEMPTS = 3
"""How often an update or a delete is sent when each look shows that it has not landed."""
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
    call.memory.learn_me(made.author)
    made = _read_back(call, made)
    if not reads_as(call, made, body):
        made = _repair(call, made, body)
    return made


def edit(call: Call, target: Comment, body: str, seen: Look) -> tuple[Comment, AuditRef]:
    """PATCH *target* by id; raises ``Replan`` when it is not what was planned against."""
    _still_there(call, target, seen)
    call.intend("edit", Action.UPDATED, target=target, after=body)
    made = _read_back(call, _patch(call, target, body))
    if not reads_as(call, made, body):
        raise _unverified(call, f"comment {target.id} was updated but reads back differently", made)
    return made, call.conclude(Action.UPDATED, target=target, after=body)


def remove(call: Call, target: Comment) -> AuditRef:
    """DELETE *target*, whose text stays in the journal; gone already is done."""
    call.intend("delete", Action.DELETED, target=target)
    _delete(call, target)
    return call.conclude(Action.DELETED, target=target)


def reads_as(call: Call, comment: Comment, body: str) -> bool:
    """Whether *comment* says what was meant, marker on line 1 included."""
    return sha256(comment.body) == sha256(body) and matches(comment.body, call.order.marker.text)


def current(call: Call, comment_id: int) -> Comment | None:
    """The comment as it is now; None when it is gone."""
    try:
        return call.heard(call.transport.comment(call.order.thread.repo, comment_id))
    except Gone:
        return None


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


def search(call: Call, body_hash: str, above: int) -> tuple[Comment | None, Look]:
    """Look for a comment of ours that a lost answer may have made; the look comes with it.

    Ours is a match with the same body, our own account and an id above the highest one observed;
    of several the newest, since an older one may have been given our text after we had lost to it.
    Raises ``Unknown`` when there is such a match but who we are cannot be learnt.
    """
    marker = call.order.marker.text
    seen = look(call.transport, call.order.thread, only(marker))
    alike = [
        match.comment
        for match in seen.of(marker)
        if match.comment.id > above and sha256(match.comment.body) == body_hash
    ]
    if alike and call.memory.me() is None:
        raise Unknown("account-unknown", "GitHub does not say which account this token is")
    ours = [comment for comment in alike if is_mine(comment, call.memory.me())]
    return max(ours, key=lambda comment: comment.id, default=None), seen


def _post(call: Call, body: str, above: int) -> Comment:
    """Send until it lands; what is lost in the end may have landed, so that it is ``Unknown``."""
    for _attempt in range(MOST_POSTS):
        sent = clock.monotonic()
        try:
            return call.heard(call.transport.create(call.order.thread, body))
        except Broken as error:
            lost = error
            found = _adopt(call, sha256(body), above, sent, lost)
            if found is not None:
                return found
    raise _unclear("create", lost, f"it was lost {MOST_POSTS} times")


def _adopt(call: Call, body_hash: str, above: int, sent: float, lost: Broken) -> Comment | None:
    """Find what a POST with a lost answer made; None once its absence is proved (4.8)."""
    settled = sent + call.setup.timing.settle
    while True:
        try:
            found, seen = search(call, body_hash, above)
        except MarkersError as error:
            raise _unclear("create", lost, f"the thread cannot be listed: {error}") from lost
        if found is not None or seen.began >= settled:
            return found
        wait = settled - clock.monotonic()
        if wait > call.transport.deadline.remaining():
            raise _unclear("create", lost, "the deadline ends before its absence is proved")
        call.setup.on_wait(wait, "making sure that the comment was not created")
        clock.sleep(wait)


def _patch(call: Call, target: Comment, body: str) -> Comment:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return call.heard(call.transport.edit(call.order.thread.repo, target.id, body))
        except Gone:
            raise Replan("target-gone", f"comment {target.id} was deleted meanwhile") from None
        except Broken as lost:
            if attempt == ATTEMPTS:
                _wait_for_proof(call, "update", lost)
            landed = _after_lost_edit(call, target, body, lost)
            if landed is not None:
                return landed
    raise Unavailable("not-landed", f"the update was lost {ATTEMPTS} times; nothing was written")


def _wait_for_proof(call: Call, what: str, lost: Broken) -> None:
    """Give a request that may still be under way its time, so that a look after it is a proof."""
    wait = call.setup.timing.settle
    if wait > call.transport.deadline.remaining():
        raise _unclear(what, lost, "the deadline ends before it can be seen whether it landed")
    call.setup.on_wait(wait, f"making sure what became of the {what}")
    clock.sleep(wait)


def _after_lost_edit(call: Call, target: Comment, body: str, lost: Broken) -> Comment | None:
    """What a PATCH with a lost answer did: the comment where it landed, None to send again."""
    try:
        now = current(call, target.id)
    except MarkersError as error:
        raise _unclear("update", lost, f"comment {target.id} cannot be read: {error}") from lost
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


def _delete(call: Call, target: Comment) -> None:
    for _attempt in range(ATTEMPTS):
        try:
            return call.transport.delete(call.order.thread.repo, target.id)
        except Gone:
            return None
        except Broken as lost:
            try:
                now = current(call, target.id)
            except MarkersError as error:
                raise _unclear("delete", lost, str(error)) from lost
            if now is None:
                return None
    raise Unavailable("not-landed", f"the delete was lost {ATTEMPTS} times; nothing was deleted")


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


def _read_back(call: Call, made: Comment) -> Comment:
    """The comment to judge: the answer's own, or a fresh read where the caller wants one."""
    if call.order.verify != "fetch":
        return made
    try:
        return call.heard(call.transport.comment(call.order.thread.repo, made.id))
    except MarkersError as error:
        raise _unverified(call, f"comment {made.id} cannot be read back: {error}", made) from error


def _repair(call: Call, made: Comment, body: str) -> Comment:
    """Mend what this call created, once, or take it back (4.10)."""
    detail = f"comment {made.id} reads back differently"
    reason = Reason(code="reads-back-differently", detail=detail)
    call.conclude(Action.LANDED_UNVERIFIED, comment_id=made.id, after=body, reason=reason)
    try:
        if not call.order.family.immutable:
            call.intend("edit", Action.UPDATED, target=made, after=body)
            mended = call.heard(call.transport.edit(call.order.thread.repo, made.id, body))
            if reads_as(call, mended, body):
                return mended
            call.conclude(Action.LANDED_UNVERIFIED, target=made, after=body, reason=reason)
        now = current(call, made.id)
        if now is not None and sha256(now.body) != sha256(made.body):
            raise _unverified(call, f"{detail} and was edited meanwhile; it was left there", now)
        if now is not None:
            remove(call, now)
    except NotVerified:
        raise
    except MarkersError as error:
        raise _unverified(call, f"{detail} and was not taken back: {error}", made) from error
    raise Withdrawn(
        "reads-back-differently",
        "what was created read back differently and was deleted again: something between here and "
        "GitHub changes comment bodies (a proxy that strips HTML comments?)",
    )


def _unverified(call: Call, detail: str, made: Comment) -> NotVerified:
    result = call.result(Action.LANDED_UNVERIFIED, comment=made)
    return NotVerified("reads-back-differently", detail, result=result)


def _unclear(what: str, lost: Broken, why: str) -> Unknown:
    return Unknown(
        "outcome-unknown",
        f"GitHub's answer to the {what} was lost ({lost}), and {why}; "
        "run 'persist-marker recover' to settle it",
    )

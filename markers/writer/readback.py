"""Whether what was written reads back as it was meant, and what is done where it does not.

What may live here: step 10 of the protocol (design, section 4): the read-back, the one repair, and
taking back what cannot be mended.  What may not: the write itself (``delivery``).
"""

from __future__ import annotations

from .. import clock
from ..codec import sha256
from ..errors import Limited, MarkersError, NotVerified, Withdrawn
from ..model import Action, Comment, Reason
from .call import Call
from .lost import current, reads_as
from .removal import remove

FIRST_PAUSE = 0.5
"""Before what was written is looked for again, in seconds; it doubles each time."""


def read_back(call: Call, made: Comment, body: str) -> Comment:
    """The comment to judge: the answer's own, or a fresh read where the caller wants one.

    A replica that lags is read again, for as long as a listing would be.
    """
    if call.order.verify != "fetch":
        return made
    give_up = clock.monotonic() + call.setup.timing.visible
    pause = FIRST_PAUSE
    while True:
        began = clock.monotonic()
        now = _read_again(call, made)
        if now is not None and (reads_as(call, now, body) or not reads_as(call, made, body)):
            return now
        if began >= give_up or call.transport.deadline.remaining() <= pause:
            break
        clock.sleep(pause)
        pause = min(pause * 2, 4.0)
    if now is None:
        raise unverified(call, f"comment {made.id} was written, but is not there", made)
    return now


def _read_again(call: Call, made: Comment) -> Comment | None:
    """The comment as a fresh read shows it; a limit is waited out without the lock."""
    try:
        return current(call, made.id)
    except Limited:
        raise
    except MarkersError as error:
        raise unverified(call, f"comment {made.id} cannot be read back: {error}", made) from error


def repair(call: Call, made: Comment, body: str) -> Comment:
    """Mend what this call created, once, or take it back (4.10)."""
    detail = f"comment {made.id} reads back differently"
    reason = Reason(code="reads-back-differently", detail=detail)
    call.landed = None
    call.conclude(Action.LANDED_UNVERIFIED, comment_id=made.id, after=body, reason=reason)
    try:
        now = _patched_once(call, made, body)
        if now is not None and reads_as(call, now, body):
            return now
        if call.intent is not None:
            call.conclude(Action.LANDED_UNVERIFIED, target=made, after=body, reason=reason)
        if now is not None and sha256(now.body) != sha256(made.body):
            raise unverified(call, f"{detail} and was edited meanwhile; it was left there", now)
        if now is not None:
            remove(call, now)
    except NotVerified:
        raise
    except MarkersError as error:
        raise unverified(call, f"{detail} and was not taken back: {error}", made) from error
    raise Withdrawn(
        "reads-back-differently",
        "what was created read back differently and was deleted again: something between here and "
        "GitHub changes comment bodies (a proxy that strips HTML comments?)",
    )


def _patched_once(call: Call, made: Comment, body: str) -> Comment | None:
    """The comment after one repair: a look shows what became of it, whatever was answered."""
    if not call.order.family.immutable:
        call.intend("edit", Action.UPDATED, target=made, after=body)
        try:
            call.journal.check_lock()
            mended = call.heard(call.transport.edit(call.order.thread.repo, made.id, body))
            if call.order.verify != "fetch" and reads_as(call, mended, body):
                return mended
        except MarkersError as error:
            call.warn("repair", f"comment {made.id} could not be mended: {error}")
    return current(call, made.id)


def unverified(call: Call, detail: str, made: Comment) -> NotVerified:
    """The end of a write that stands and does not read back as it was meant."""
    result = call.result(Action.LANDED_UNVERIFIED, comment=made)
    return NotVerified("reads-back-differently", detail, result=result)

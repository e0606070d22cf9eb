"""What became of a request whose answer was lost: looks, and waits that make a look a proof.

What may live here: reading what is there now, telling ours by it, and repeating what may be sent
twice (design, section 4.8).  What may not: recording intents and outcomes.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import clock
from ..codec import matches, sha256
from ..errors import Broken, Gone, MarkersError, Unavailable, Unknown
from ..model import Comment
from ..selection import is_mine
from ..thread import Look, look, only
from .call import Call

ATTEMPTS = 3
"""How often what may be repeated is sent when each look shows that it has not landed."""


def reads_as(call: Call, comment: Comment, body: str) -> bool:
    """Whether *comment* says what was meant, marker on line 1 included."""
    return sha256(comment.body) == sha256(body) and matches(comment.body, call.order.marker.text)


def current(call: Call, comment_id: int) -> Comment | None:
    """The comment as it is now; None when it is gone."""
    try:
        return call.heard(call.transport.comment(call.order.thread.repo, comment_id))
    except Gone:
        return None


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


def check_lock(call: Call, what: str, before: Broken | None) -> None:
    """Make sure that the thread is still ours; what was lost *before* may be under way yet."""
    try:
        call.journal.check_lock()
    except Unavailable as gone:
        if before is None:
            raise
        raise unclear(what, before, str(gone)) from before


def wait_for_proof(call: Call, what: str, lost: Broken) -> None:
    """Give a request that may still be under way its time, so that a look after it is a proof."""
    wait = call.setup.timing.settle
    if wait > call.transport.deadline.remaining():
        raise unclear(what, lost, "the deadline ends before it can be seen whether it landed")
    call.setup.on_wait(wait, f"making sure what became of the {what}")
    clock.sleep(wait)


def until_seen(
    call: Call,
    what: str,
    target: Comment,
    *,
    send: Callable[[], None],
    done: Callable[[Comment | None], bool],
) -> None:
    """Send what may be sent twice until it is answered, or a look shows its effect."""
    before: Broken | None = None
    for attempt in range(1, ATTEMPTS + 1):
        check_lock(call, what, before)
        try:
            return send()
        except Broken as lost:
            if attempt == ATTEMPTS:
                wait_for_proof(call, what, lost)
            try:
                now = current(call, target.id)
            except MarkersError as error:
                raise unclear(what, lost, str(error)) from lost
            if done(now):
                return None
            before = lost
    raise Unavailable("not-landed", f"the {what} was lost {ATTEMPTS} times; nothing was changed")


def unclear(what: str, lost: Broken, why: str) -> Unknown:
    """The end of a write whose answer was lost where no look can tell what it did."""
    return Unknown(
        "outcome-unknown",
        f"GitHub's answer to the {what} was lost ({lost}), and {why}; "
        "run 'persist-marker recover' to settle it",
    )

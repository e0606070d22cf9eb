"""Taking a comment away: deleting it, or hiding it, each after its intent and before its outcome.

What may live here: the two requests.  What may not: deciding which comment goes (``losers``).
"""

from __future__ import annotations

from contextlib import suppress

from ..errors import Denied, Gone
from ..model import Action, AuditRef, Comment
from .call import Call
from .lost import until_seen

MINIMISED = "minimised"
"""What the journal calls a comment that was hidden; a result never names one."""


def remove(call: Call, target: Comment) -> AuditRef:
    """DELETE *target*, whose text stays in the journal; gone already is done."""
    call.intend("delete", Action.DELETED, target=target)
    _delete(call, target)
    return call.conclude(Action.DELETED, target=target)


def minimise(call: Call, target: Comment) -> AuditRef:
    """Hide *target* as outdated; its text stays on GitHub.  Hidden or gone already is done."""
    node_id = target.node_id
    if node_id is None:
        raise Denied("no-node-id", "the server does not say how GraphQL names the comment")
    call.intend("minimise", MINIMISED, target=target, replaces=False)
    repo = call.order.thread.repo
    until_seen(
        call,
        "minimising",
        target,
        send=lambda: call.transport.minimise(repo, node_id),
        done=lambda now: now is None or bool(now.minimized),
    )
    return call.conclude(MINIMISED, comment_id=target.id)


def _delete(call: Call, target: Comment) -> None:
    def send() -> None:
        with suppress(Gone):
            call.transport.delete(call.order.thread.repo, target.id)

    until_seen(call, "delete", target, send=send, done=lambda now: now is None)

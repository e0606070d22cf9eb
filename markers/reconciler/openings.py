"""The text of an issue or pull request itself, and other places where rows keep durable text.

What may live here: reading them, and whether their author counts.  What may not: any write; this
toolkit edits comments only.

Whoever opens an issue writes its text, so that it counts only where its author is trusted as the
author of a comment would be.
"""

from __future__ import annotations

from ..blocks import find
from ..body import Body
from ..contract import Contract
from ..memory import Memory
from ..model import Shape, Surface, Thread
from ..selection import Match, in_first_tier, is_mine, needs_identity, select
from ..setup import Setup
from ..thread import look
from ..transport.interface import Issue, Transport
from .interface import Source

RULINGS = "judge-rulings"
METRICS = "pipeline-metrics"
OPENINGS = {
    Source.ISSUE_BODY: Surface.ISSUE,
    Source.PULL_REQUEST_BODY: Surface.PULL_REQUEST,
}
"""The sources that are the text of the number itself, and what the number must be then."""


def opening(setup: Setup, transport: Transport, thread: Thread, source: Source) -> str | None:
    """The text of the issue or pull request; None where it is the other, or its author a stranger.

    Raises what the transport raises.
    """
    issue = transport.issue(thread)
    if issue.surface is not OPENINGS[source] or not _counts(setup, transport, thread, issue):
        return None
    return issue.body


def _counts(setup: Setup, transport: Transport, thread: Thread, issue: Issue) -> bool:
    if in_first_tier(issue, setup.trust):
        return True
    memory = Memory(transport, thread, setup.journal_if_any())
    return not setup.trust.distrusts(issue.author) and is_mine(issue, memory.me())


def has_block(text: str, name: str, contract: Contract) -> bool:
    """Whether *text* holds a whole block of the family *name*."""
    return any(block.closed for block in find(Body(text), contract.family(name)))


def review_comment(setup: Setup, transport: Transport, thread: Thread) -> int | None:
    """The latest trusted comment that holds a judge's rulings; it has no marker of its own."""
    seen = look(
        transport,
        thread,
        lambda _line: RULINGS,
        holds=lambda body: has_block(body, RULINGS, setup.contract),
    )
    if seen.surface is Surface.ISSUE:
        return None
    matches: tuple[Match, ...] = seen.matches
    me = None
    if needs_identity(matches, setup.trust):
        me = Memory(transport, thread, setup.journal_if_any()).me()
    governing = select(matches, Shape.POST_NEW, setup.trust, me).governing
    return governing.comment.id if governing else None

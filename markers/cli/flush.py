"""``persist-marker flush``: deliver what was queued while GitHub was away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ..model import Action
from . import exits
from .common import Invocation, MarkerCommand, documented
from .documents import delivered
from .output import Answer
from .progress import progress

if TYPE_CHECKING:
    from ..burst.flushing import Delivery

FIRST_PAUSE = 5.0
LONGEST_PAUSE = 300.0
"""Seconds between two tries of --watch; each wait is twice the one before."""


@click.command(
    "flush",
    cls=MarkerCommand,
    short_help="Deliver queued writes.",
    **documented(
        example="persist-marker flush",
        exits="0 all delivered, or nothing queued; 8 an outcome is unknown; 5 stopped after "
        "something landed; else the failing write's own",
    ),
)
@click.option("--watch", is_flag=True, help="Try again until nothing is left that may still go.")
@click.pass_obj
def command(call: Invocation, /, watch: bool) -> Answer:
    """Deliver what `--queue` has kept, in order in each thread.

    A thread stops at its first failure, the others go on; run it again and it goes on there. What
    a write expected when it was queued must still hold, else it is a conflict: look, then queue it
    anew or `queue drop` it.
    """
    from .. import clock

    done, pause = _once(call, watch=watch), FIRST_PAUSE
    while watch and _may_still_go(done):
        call.on_wait(pause, "GitHub is away; trying again")
        clock.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
        done = [each for each in done if _landed(each)] + _once(call, watch=True)
    return Answer(
        document={"results": [delivered(each) for each in done]},
        lines=[_line(each) for each in done] or [call.no_journal or "nothing is queued"],
        code=_code(done),
        warnings=tuple(f"queued write {e.id}: {w}" for e in done for w in e.warnings),
    )


def _once(call: Invocation, *, watch: bool) -> list[Delivery]:
    """Flush host by host; who watches has the whole deadline for each thread and try."""
    from ..burst.flushing import flush, waiting_hosts
    from ..config import host

    if call.no_journal:
        return []
    found: list[Delivery] = []
    wanted = [host(call.settings)] if call.settings.api_url else waiting_hosts(call.journal)
    with progress(call, len(call.journal.queued())) as on_entry:
        for api_url in wanted:
            setup = call.connect(host(call.settings, wanted=api_url))
            found += flush(replace(setup, until=None) if watch else setup, on_entry=on_entry)
    return found


def _landed(each: Delivery) -> bool:
    return each.action in (Action.CREATED, Action.UPDATED, Action.POSTED, Action.UNCHANGED)


def _may_still_go(done: Sequence[Delivery]) -> bool:
    return any(each.action in (Action.UNAVAILABLE, Action.UNKNOWN) for each in done)


def _line(each: Delivery) -> str:
    place = f"{each.marker} on {each.repo}#{each.number}"
    comment = f": comment {each.comment_id} {each.url}" if each.comment_id else ""
    why = f": {each.reason.detail}" if each.reason and not _landed(each) else ""
    return f"{each.id} {each.status}: {place}{comment}{why}"


def _code(done: Sequence[Delivery]) -> int:
    """Unknown before landed before the first failing write's own (as a burst)."""
    failing = [each for each in done if not _landed(each) and each.action is not Action.PLANNED]
    if not failing:
        return exits.OK
    if any(each.action is Action.UNKNOWN for each in failing):
        return exits.UNKNOWN
    if any(_landed(each) for each in done):
        return exits.INCOMPLETE
    return exits.CODES[failing[0].action]

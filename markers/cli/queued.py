"""``persist-marker queue``: what waits for GitHub to be back."""

from __future__ import annotations

import click

from ..errors import Refused
from .common import Invocation, MarkerCommand, MarkerGroup, documented
from .documents import plain
from .output import Answer
from .params import NUMBER


@click.group(
    "queue",
    cls=MarkerGroup,
    short_help="Show and drop queued writes.",
    **documented(example="persist-marker queue list", exits="0 done; 3 refused"),
)
def command() -> None:
    """Show what `write --queue` and `burst --queue` have kept; `flush` delivers it."""


@command.command(
    "list",
    cls=MarkerCommand,
    short_help="All queued writes.",
    **documented(example="persist-marker queue list", exits="0 listed"),
)
@click.pass_obj
def list_all(call: Invocation, /) -> Answer:
    """Show the queue in order, with what kept each write from being delivered."""
    from ..burst.flushing import waiting

    found = [] if call.no_journal else waiting(call.journal.queued())
    lines = [
        f"{each.id}  {each.at}  {each.marker} on {each.repo}#{each.number}"
        + (f": {each.problem}" if each.problem else "")
        for each in found
    ]
    return Answer(
        document={"queued": [plain(each) for each in found]},
        lines=lines or ["nothing is queued"],
    )


@command.command(
    "drop",
    cls=MarkerCommand,
    short_help="Forget a queued write.",
    **documented(example="persist-marker queue drop 3", exits="0 dropped; 3 there is none"),
)
@click.argument("queued", type=NUMBER, metavar="ID")
@click.pass_obj
def drop(call: Invocation, /, queued: int) -> Answer:
    """Forget queued write ID; its text is gone then."""
    from ..burst.flushing import dropped

    there = None if call.no_journal else dropped(call.journal, queued)
    if there is None:
        raise Refused("not-queued", f"there is no queued write {queued}; see `queue list`")
    place = f"{there.marker} on {there.repo}#{there.number}"
    return Answer(document={"dropped": plain(there)}, lines=[f"dropped {queued}: {place}"])

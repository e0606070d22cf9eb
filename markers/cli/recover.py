"""``persist-marker recover``: settle writes whose outcome is unknown."""

from __future__ import annotations

import click

from ..model import Action
from ..writer.recovery import UNKNOWN, Settled, recover
from . import exits
from .common import Invocation, MarkerCommand, documented
from .documents import plain
from .output import Answer


@click.command(
    "recover",
    cls=MarkerCommand,
    short_help="Settle writes whose outcome is unknown.",
    **documented(
        example="persist-marker recover",
        exits="0 all settled; 6 denied; 7 unavailable; 8 some are still unknown",
    ),
)
@click.pass_obj
def command(call: Invocation, /) -> Answer:
    """Look at GitHub for every write that was interrupted, and record what became of it.

    Nothing is sent again: whoever wanted the write runs it again.
    """
    settled = _everywhere(call)
    unknown = any(each.outcome == UNKNOWN for each in settled)
    return Answer(
        document={"settled": [plain(each) for each in settled]},
        lines=[_line(each) for each in settled] or [call.no_journal or "nothing to settle"],
        code=exits.CODES[Action.UNKNOWN] if unknown else exits.OK,
    )


def _everywhere(call: Invocation) -> list[Settled]:
    """Settle host by host; with --api-url the other hosts' intents stay open and are named."""
    from ..config import host

    intents = call.journal.open_intents()
    if call.settings.api_url:
        return list(recover(call.connect(host(call.settings)))) if intents else []
    by_host: dict[str, set[int]] = {}
    for intent in intents:
        by_host.setdefault(intent.record.api_url, set()).add(intent.seq)
    return [
        each
        for api_url, its_own in by_host.items()
        for each in recover(call.connect(host(call.settings, wanted=api_url)))
        if each.intent in its_own
    ]


def _line(each: Settled) -> str:
    comment = f", comment {each.comment_id}" if each.comment_id else ""
    place = f"{each.marker} on {each.repo}#{each.number}"
    return f"entry {each.intent}: {place}{comment}: {each.outcome}: {each.detail}"

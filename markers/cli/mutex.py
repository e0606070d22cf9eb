"""``persist-marker mutex``: the run lock of an issue."""

from __future__ import annotations

import click

from ..model import Surface, Thread
from .common import Invocation, MarkerCommand, MarkerGroup, documented
from .output import Answer
from .params import COMMENT_ID, HASH, NUMBER
from .written import answer_of

DRAFT = "0" * 64
_EXITS = (
    "0 changed or unchanged; 3 refused; 4 another account's; 6 denied; 7 unavailable; 8 unknown; "
    "10 nobody holds it"
)
_number = click.option("--number", type=NUMBER, required=True, metavar="N", help="The issue.")
_take_over = click.option("--take-over", is_flag=True, help="Change another account's record.")


@click.group(
    "mutex",
    cls=MarkerGroup,
    short_help="Take, take over or let go the run lock of an issue.",
    **documented(
        example="persist-marker mutex acquire --repo acme/widgets --number 12",
        exits="0 done; 4 somebody else holds it; 10 nobody holds it",
    ),
)
def command() -> None:
    """Let one agent at a time run the goal of an issue, by goal-run-inflight records.

    `persist-marker read --family goal-run-inflight --number N` shows who holds the lock.
    """


@command.command(
    "acquire",
    cls=MarkerCommand,
    short_help="Take the lock.",
    **documented(
        example="persist-marker mutex acquire --repo acme/widgets --number 12",
        exits="0 taken; 4 somebody else holds it; 6 denied; 7 unavailable; 8 unknown",
    ),
)
@_number
@click.option(
    "--hash",
    "digest",
    type=HASH,
    default=DRAFT,
    metavar="SHA256",
    help="Of the goal contract that is run; 64 zeros, a draft's, otherwise.",
)
@click.pass_obj
def acquire(call: Invocation, /, number: int, digest: str) -> Answer:
    """Post a record, and hold the lock if no live record is older; else resolve it again.

    Run again after a crash it says that the lock is held, by our own record.
    """
    from secrets import token_hex

    from .. import mutex

    thread = _thread(call, number)
    setup = call.connect(thread.repo.api_url)
    return answer_of(mutex.acquire(setup, thread, contract_hash=digest, run_id=token_hex(8)))


@command.command(
    "adopt",
    cls=MarkerCommand,
    short_help="Take over the run that holds the lock.",
    **documented(
        example="persist-marker mutex adopt --repo acme/widgets --number 12 --session agent-7",
        exits=_EXITS,
    ),
)
@_number
@click.option(
    "--session",
    "adopter",
    metavar="ID",
    help="Who goes on with the run; kept as adopted_by_session_id.",
)
@_take_over
@click.pass_obj
def adopt(call: Invocation, /, number: int, adopter: str | None, take_over: bool) -> Answer:
    """Note in the holder's record that another session goes on with its run."""
    from .. import mutex

    thread = _thread(call, number)
    setup = call.connect(thread.repo.api_url)
    return answer_of(mutex.adopt(setup, thread, adopter=adopter, take_over=take_over))


@command.command(
    "resolve",
    cls=MarkerCommand,
    short_help="Let go of the lock.",
    **documented(
        example="persist-marker mutex resolve --repo acme/widgets --number 12 --reason done",
        exits=_EXITS,
    ),
)
@_number
@click.option("--reason", default="released", show_default=True, metavar="TEXT", help="Why.")
@click.option(
    "--comment-id", type=COMMENT_ID, metavar="ID", help="Another live record than the holder's."
)
@_take_over
@click.pass_obj
def resolve(
    call: Invocation, /, number: int, reason: str, comment_id: int | None, take_over: bool
) -> Answer:
    """Mark the holder's record, or another live one, as resolved."""
    from .. import mutex

    thread = _thread(call, number)
    setup = call.connect(thread.repo.api_url)
    return answer_of(
        mutex.resolve(setup, thread, reason=reason, comment_id=comment_id, take_over=take_over)
    )


def _thread(call: Invocation, number: int) -> Thread:
    call.subject.family, call.subject.number = "goal-run-inflight", number
    call.subject.surface = Surface.ISSUE.value
    return Thread(call.repo, number)

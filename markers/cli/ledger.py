"""``persist-marker ledger``: a review's rulings and its phase-containment blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..errors import Refused, Usage, few
from ..model import Comment, Thread
from .common import Invocation, MarkerCommand, documented
from .output import Answer
from .params import COMMENT_ID, NUMBER
from .paths import PAYLOAD
from .written import answer_of

if TYPE_CHECKING:
    from ..writer import Order
    from .pieces import Judge

MODES = ("plan", "design", "brief")


@click.command(
    "ledger",
    cls=MarkerCommand,
    short_help="Write a review's rulings and containment blocks.",
    **documented(
        example="""
persist-marker ledger --repo acme/widgets --number 12 --mode plan \\
    --judge-rulings .tmp/rulings.md --containment .tmp/containment.md
""",
        exits="0 written or unchanged; 3 refused; 4 another account's; 5 the ledger stands, but "
        "the plan's pointer to it does not; 6 denied; 7 unavailable; 8 unknown; "
        "10 no design-phase-complete comment",
    ),
)
@click.option("--number", type=NUMBER, required=True, metavar="N", help="The issue.")
@click.option(
    "--mode",
    type=click.Choice(MODES),
    required=True,
    help="Which review: plan and brief write the ledger comment and the plan's pointer to it, "
    "design adds blocks to the design-phase-complete comment.",
)
@click.option(
    "--judge-rulings",
    "head",
    type=PAYLOAD,
    metavar="FILE",
    help="The head: a judge-rulings block; with --mode brief a brief_dispositions block.",
)
@click.option(
    "--containment", type=PAYLOAD, metavar="FILE", help="The phase-containment blocks, in pairs."
)
@click.option(
    "--comment-id",
    type=COMMENT_ID,
    metavar="ID",
    help="With --mode design: which comment; the latest one otherwise.",
)
@click.option("--take-over", is_flag=True, help="Write over a comment of another account.")
@click.pass_obj
def command(call: Invocation, /, number: int, mode: str, **given: Any) -> Answer:
    """Replace the review's own head, and add or replace blocks by their finding_key.

    All of it is one edit of one comment; what stands beside head and blocks is left as it is. New
    and changed blocks are stamped with appended_at. Without any file, plan writes the head of a
    review that found nothing. Files lie below a scratch root.
    """
    from ..steps.ledger import Mode
    from ..writer import amend, write

    if given["comment_id"] is not None and mode != Mode.DESIGN:
        raise Usage("comment-id", "--comment-id goes with --mode design")
    if given["head"] is given["containment"] is not None:
        raise Usage("stdin-twice", "standard input is one text: name a file for one of the two")
    with call.settings.until.paused():  # whoever pipes a file in takes the time it takes
        head, containment = _text(given["head"]), _text(given["containment"])
    order = _order(call, number, Mode(mode), head, containment, given["take_over"])
    setup = call.connect(order.thread.repo.api_url)
    if mode == Mode.DESIGN:
        return answer_of(amend(setup, order, partial(_picked, given["comment_id"])))
    return answer_of(write(setup, order))


def _text(payload: Callable[[], bytes] | None) -> str | None:
    from ..hygiene import decode

    return None if payload is None else decode(payload())


def _order(
    call: Invocation,
    number: int,
    mode: Any,
    head: str | None,
    containment: str | None,
    take_over: bool,
) -> Order:
    """One stamp serves the whole call, however often it is planned again."""
    from .. import clock
    from ..codec import derive
    from ..config import policy
    from ..steps.ledger import FORMS
    from ..writer import Order
    from .pieces import Judge

    family = call.contract.family(FORMS[mode].family)
    marker = derive(family, number)
    call.subject.family, call.subject.number = family.name, number
    call.subject.marker, call.subject.surface = marker.text, family.surfaces[0].value
    judge = Judge(
        family=family,
        marker=marker,
        contract=call.contract,
        policy=policy(call.settings),
        command="ledger",
    )
    revise = partial(
        _revised, judge, mode=mode, head=head, containment=containment, now=clock.iso(clock.now())
    )
    return Order(
        thread=Thread(call.repo, number),
        family=family,
        marker=marker,
        take_over=take_over,
        command="ledger",
        revise=revise,
    )


def _revised(judge: Judge, there: str | None, **files: Any) -> str:
    """The new body; the files are judged by themselves, so that it is their lines that are told."""
    from ..steps.ledger import ledger

    made = ledger(there, judge.marker, **files)
    judge.require_good(head=files["head"], containment=files["containment"])
    return made


def _picked(wanted: int | None, comments: Sequence[Comment]) -> Comment:
    """The comment that the blocks are added to."""
    from ..errors import Absent

    if not comments:
        raise Absent("absent", "there is no trusted design-phase-complete comment to add to")
    found = [each for each in comments if wanted in (None, each.id)]
    if not found:
        ids = few([each.id for each in reversed(comments)])
        raise Refused(
            "not-the-comment",
            f"comment {wanted} is no trusted design-phase-complete comment of this issue; "
            f"these are, the latest first: {ids}",
        )
    return found[-1]

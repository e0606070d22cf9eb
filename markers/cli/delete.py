"""``persist-marker delete``: take back our own comment."""

from __future__ import annotations

from typing import Any

import click

from .common import Invocation, MarkerCommand, documented
from .output import Answer
from .target import asked, resolve, target_options
from .written import answer_of


@click.command(
    "delete",
    cls=MarkerCommand,
    short_help="Take back our own comment of a deletable family.",
    **documented(
        example="persist-marker delete --repo acme/widgets --family goal-run-stage --number 12",
        exits="0 deleted; 3 refused; 4 another account's; 6 denied; 7 unavailable; 8 unknown; "
        "10 nothing there",
    ),
)
@target_options
@click.pass_obj
def command(call: Invocation, /, **given: Any) -> Answer:
    """Delete our own governing comment of a family that the registry calls deletable.

    Its text stays in the journal: `restore` writes it back.
    """
    from ..writer import Order
    from ..writer.undoing import delete

    target = resolve(call, asked(given))
    order = Order(
        thread=target.thread, family=target.family, marker=target.marker, command="delete"
    )
    return answer_of(delete(call.connect(target.thread.repo.api_url), order))

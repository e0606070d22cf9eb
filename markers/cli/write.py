"""``persist-marker write``: persist one marker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ..model import Surface
from .common import Invocation, MarkerCommand, documented
from .output import Answer
from .params import EXPECT
from .paths import PAYLOAD
from .target import asked, resolve, target_options
from .written import answer_of


@click.command(
    "write",
    cls=MarkerCommand,
    short_help="Persist one marker.",
    **documented(
        example="""
persist-marker write --repo acme/widgets --family plan-issue --number 12 \\
    --body-file .tmp/plan.md
""",
        exits="0 written or unchanged; 3 refused; 4 conflict; 5 landed, not as meant; "
        "6 denied; 7 unavailable; 8 unknown",
    ),
)
@target_options
@click.option(
    "--body-file",
    type=PAYLOAD,
    required=True,
    metavar="PATH",
    help="The payload, below a scratch root (.tmp/ at the git top level); - is standard input.",
)
@click.option(
    "--surface",
    type=click.Choice([surface.value for surface in Surface]),
    help="Where it must go; checked against the registry and the thread.",
)
@click.option(
    "--expect",
    type=EXPECT,
    metavar="SHA256|absent",
    help="Write only over the body with this hash, or only where there is none yet.",
)
@click.option("--take-over", is_flag=True, help="Write over a comment of another account.")
@click.option(
    "--no-preserve",
    is_flag=True,
    help="Do not carry forward what the comment held beside its text (ledger pointer and such).",
)
@click.option(
    "--verify",
    type=click.Choice(["response", "fetch"]),
    default="response",
    show_default=True,
    help="Read back from the answer to the write, or with one more request.",
)
@click.option(
    "--fold-extras",
    type=click.Choice(["delete", "minimise"]),
    is_flag=False,
    flag_value="delete",
    metavar="[delete|minimise]",
    help="Delete our own duplicates of the marker, or minimise them (hide them as outdated).",
)
@click.option("--queue", is_flag=True, help="With GitHub away, keep it in the journal for `flush`.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and write nothing.")
@click.pass_obj
def command(call: Invocation, /, **given: Any) -> Answer:
    """Persist one marker: the comment that carries it is created, updated, or left as it is.

    The payload may begin with the marker; without one, the marker and a blank line go in front.
    """
    from ..writer import Fold, Order, write

    target = resolve(call, asked(given))
    surface = given["surface"]
    call.subject.surface = surface or call.subject.surface
    with call.settings.until.paused():  # whoever pipes the text in takes the time it takes
        payload = _text(given["body_file"])
    order = Order(
        thread=target.thread,
        family=target.family,
        marker=target.marker,
        payload=payload,
        surface=Surface(surface) if surface else None,
        expect=given["expect"],
        take_over=given["take_over"],
        preserve=not given["no_preserve"],
        verify=given["verify"],
        fold=Fold(given["fold_extras"]) if given["fold_extras"] else None,
        dry_run=given["dry_run"],
        queue=given["queue"],
    )
    return answer_of(write(call.connect(target.thread.repo.api_url), order))


def _text(payload: Callable[[], bytes]) -> str:
    from ..hygiene.compose import decode

    return decode(payload())

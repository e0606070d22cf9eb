"""``persist-marker reconcile``: a row's local copy against the comment that it belongs to."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import click

from ..errors import MarkersError, Usage
from ..model import Repo, Row
from ..plan import OnConflict, Word
from . import exits
from .common import Invocation, MarkerCommand, documented
from .outcomes import complain, document_of, lines_of
from .output import Answer
from .params import NUMBER
from .paths import CACHE, surroundings

if TYPE_CHECKING:
    from ..reconciler import Outcome
    from ..reconciler.chains import Desk
    from ..setup import Setup


@click.command(
    "reconcile",
    cls=MarkerCommand,
    short_help="Bring a local copy and its comment in step.",
    **documented(
        example="""
persist-marker reconcile --repo acme/widgets --row SMC-01 --number 12
persist-marker reconcile --repo acme/widgets --row SMC-01 --number 12 --apply
""",
        exits="0 decided, or done; 3 refused; 4 conflict; 8 unknown; with --apply those of write, "
        "and 1 for a file that cannot be read or written; with --all the highest of all rows'",
    ),
)
@click.option("--row", metavar="SMC-NN", help="The row of the contract whose state it is.")
@click.option("--all", "every", is_flag=True, help="All rows that have a file for the number here.")
@click.option(
    "--number", type=NUMBER, required=True, metavar="N", help="The issue or pull request."
)
@click.option(
    "--cache",
    type=CACHE,
    metavar="PATH",
    help="Another file than the row's usual one; it must bear the name that the row gives it.",
)
@click.option("--apply", is_flag=True, help="Do what was decided; without it nothing is written.")
@click.option(
    "--create", is_flag=True, help="Post a local copy that has no comment yet (with --apply)."
)
@click.option(
    "--on-conflict",
    type=click.Choice([wish.value for wish in OnConflict]),
    default=OnConflict.REFUSE.value,
    show_default=True,
    help="Whose text to take where neither is known to be the newer one.",
)
@click.pass_obj
def command(call: Invocation, /, **given: Any) -> Answer:
    """Say how the local copy and the comment stand to each other and, with --apply, act on it.

    Which text descends from the other is judged by what both held when they were last in step, and
    never by a clock. What a side loses is kept aside first. docs/reconcile.md has the table.
    """
    _fitting(given)
    call.subject.number = given["number"]
    desk = _desk(call)
    if not given["every"]:
        row = call.contract.row(given["row"])
        outcome = _reconciled(call, desk, row, given)
        complain(call, outcome, row.owner)
        return Answer(
            document=document_of(outcome, given["apply"]),
            lines=lines_of(outcome),
            code=exits.CODES[outcome.ended],
        )
    rows = _rows(call, given["number"])
    outcomes = [_told(call, desk, row, given) for row in rows]
    for row, outcome in zip(rows, outcomes, strict=True):
        complain(call, outcome, row.owner)
    return Answer(
        document={"results": [document_of(each, given["apply"]) for each in outcomes]},
        lines=[line for each in outcomes for line in lines_of(each)] or ["no row has a file here"],
        code=max((exits.CODES[each.ended] for each in outcomes), default=exits.OK),
    )


def _fitting(given: dict[str, Any]) -> None:
    if (given["row"] is None) == (not given["every"]):
        raise Usage("row", "say either --row SMC-NN or --all")
    if given["cache"] is not None and given["every"]:
        raise Usage("cache", "--cache names one row's file: use it with --row")
    if given["create"] and not given["apply"]:
        raise Usage("create", "--create posts a comment: use it with --apply")


def _desk(call: Invocation) -> Desk:
    """Where GitHub is asked; one connection for all rows, and none for local files alone."""

    @cache
    def desk() -> tuple[Setup, Repo]:
        return call.connect(call.repo.api_url), call.repo

    return desk


def _rows(call: Invocation, number: int) -> list[Row]:
    from ..reconciler.rows import rows_with_files

    return list(rows_with_files(call.contract, number, surroundings(call.place)))


def _reconciled(call: Invocation, desk: Desk, row: Row, given: dict[str, Any]) -> Outcome:
    from ..reconciler.rows import Asked, reconcile_row

    asked = Asked(
        row=row,
        number=given["number"],
        cache=given["cache"],
        apply=given["apply"],
        create=given["create"],
        on_conflict=OnConflict(given["on_conflict"]),
    )
    return reconcile_row(desk, call.contract, surroundings(call.place), asked)


def _told(call: Invocation, desk: Desk, row: Row, given: dict[str, Any]) -> Outcome:
    """One row of all: what stops it does not stop the others."""
    from ..reconciler import Outcome

    try:
        return _reconciled(call, desk, row, given)
    except MarkersError as error:
        return Outcome(
            decision=Word.UNKNOWN,
            row=row.id,
            number=given["number"],
            reason=error.reason,
            ended=error.action,
        )

"""``persist-marker doctor``: what is wrong with this installation, and how to mend it."""

from __future__ import annotations

import click

from ..errors import MarkersError
from . import exits
from .common import Invocation, MarkerCommand, documented
from .documents import plain
from .examination import CHECKS, FAIL, Check, Examined, Look
from .local_checks import LOCAL
from .output import Answer
from .repairing import NAME, repair


@click.command(
    "doctor",
    cls=MarkerCommand,
    short_help="What is wrong, and how to mend it.",
    **documented(example="persist-marker doctor", exits="0 all well; 1 something is wrong"),
)
@click.option(
    "--repair-journal",
    is_flag=True,
    help="First set the journal aside if it is damaged; the answer names where it is then.",
)
@click.pass_obj
def command(call: Invocation, /, repair_journal: bool) -> Answer:
    """Check everything that a write needs, from git to the server's clock; nothing is written."""
    examined = Examined(call)
    looks = {**({NAME: _repair} if repair_journal else {}), **CHECKS, **LOCAL}
    try:
        checks = [_checked(name, look, examined) for name, look in looks.items()]
    finally:
        examined.close()
    wrong = any(check.status == FAIL for check in checks)
    return Answer(
        document={"checks": plain(checks)},
        lines=[_line(check) for check in checks],
        code=exits.FOUND if wrong else exits.OK,
    )


def _repair(examined: Examined) -> Check:
    return repair(examined.call)


def _checked(name: str, look: Look, examined: Examined) -> Check:
    try:
        return look(examined)
    except MarkersError as error:
        return Check(name=name, status=FAIL, detail=error.reason.detail)


def _line(check: Check) -> str:
    mend = f": {check.mend}" if check.mend else ""
    return f"{check.status:<4}  {check.name}: {check.detail}{mend}"

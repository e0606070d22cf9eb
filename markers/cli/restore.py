"""``persist-marker restore``: write an earlier body back."""

from __future__ import annotations

import click

from ..errors import Refused, echo
from ..journal.interface import Record
from .common import Invocation, MarkerCommand, documented
from .output import Answer
from .params import NUMBER
from .written import answer_of


@click.command(
    "restore",
    cls=MarkerCommand,
    short_help="Write a body that was replaced or deleted back.",
    **documented(
        example="persist-marker audit log\npersist-marker restore 42",
        exits="0 written or unchanged; 3 refused; 4 conflict; 5 landed, not as meant; "
        "6 denied; 7 unavailable; 8 unknown",
    ),
)
@click.argument("seq", type=NUMBER)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and write nothing.")
@click.pass_obj
def command(call: Invocation, /, seq: int, dry_run: bool) -> Answer:
    """Write the body that journal entry SEQ replaced or deleted back to its thread.

    It is a write like any other: checked, planned and audited.
    """
    from ..config import host
    from ..writer.undoing import restore

    entry = call.journal.entry(seq)
    if entry is not None:
        _about(call, entry.record)
    elif call.no_journal:
        raise Refused("no-entry", call.no_journal)
    api_url = host(call.settings, wanted=entry.record.api_url if entry else None)
    return answer_of(restore(call.connect(api_url), seq, dry_run=dry_run))


def _about(call: Invocation, record: Record) -> None:
    """Note what the entry is about; refuse another repository than the command line's."""
    call.subject.family, call.subject.number = record.family, record.number
    call.subject.marker, call.subject.repo = record.marker, record.repo
    call.subject.surface = record.surface
    asked = call.options.get("repo")
    slug = "/".join(str(asked).split("/")[-2:]) if asked else record.repo
    if slug.lower() != record.repo.lower():
        raise Refused(
            "other-repo",
            f"the journal entry belongs to {record.repo}, not to {echo(slug)}: leave --repo out",
        )

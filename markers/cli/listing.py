"""``persist-marker list``: every marker on a thread."""

from __future__ import annotations

import click

from ..model import ReadResult, Thread
from .common import Invocation, MarkerCommand, documented
from .documents import found
from .output import Answer
from .params import NUMBER
from .standing import standing_of
from .target import complete_family


@click.command(
    "list",
    cls=MarkerCommand,
    short_help="Show every marker on a thread.",
    **documented(
        example="persist-marker list --repo acme/widgets --number 12",
        exits="0 listed, even where there is none; 3 refused; 6 denied; 7 unavailable",
    ),
)
@click.option("--number", type=NUMBER, required=True, metavar="N", help="The thread.")
@click.option(
    "--family", metavar="NAME", shell_complete=complete_family, help="Only this family's markers."
)
@click.pass_obj
def command(call: Invocation, /, number: int, family: str | None) -> Answer:
    """Show every marker on the thread.

    Those that do not govern, are not trusted or are not valid say so.
    """
    from ..reading import list_markers

    call.subject.family, call.subject.number = family, number
    only = None if family is None else call.contract.family(family)
    thread = Thread(call.repo, number)
    results = list_markers(call.connect(call.repo.api_url), thread, only)
    governed = {extra.id: extra.why for result in results for extra in result.extras}
    lines = [_line(result, governed) for result in results]
    return Answer(
        document={"markers": [found(result, body=False) for result in results]},
        lines=lines or [f"no marker on {thread}"],
    )


def _line(result: ReadResult, why_not: dict[int, str]) -> str:
    note = why_not.get(result.comment_id or 0)
    if note is None:
        note = "governs" if result.trusted else "untrusted"
    if not result.valid:
        note = f"{note}; {standing_of(result)}"
    return f"{result.comment_id}  {result.marker}  by {result.author}  {result.updated_at}  {note}"

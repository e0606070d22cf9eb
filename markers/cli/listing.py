"""``persist-marker list``: every marker on a thread."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ..model import Family, ReadResult, Reason, Shape, Thread
from .common import Invocation, MarkerCommand, documented
from .documents import found
from .output import Answer
from .params import NUMBER
from .standing import ELSEWHERE, standing_of
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
    lines = [
        line for result in results for line in _lines(result, call.contract.family(result.family))
    ]
    return Answer(
        document={"markers": [found(result, body=False) for result in results]},
        lines=lines or [f"no marker on {thread}"],
    )


_WORDS = {Shape.UPSERT: "canonical", Shape.POST_NEW: "latest"}
"""What the one that a write goes by is called where a reading says what counts."""


def _lines(result: ReadResult, family: Family) -> Iterator[str]:
    notes = [_note(result, family), *(p.detail for p in result.problems if _elsewhere(p))]
    if not result.valid:
        notes.append(standing_of(result))
    note = "; ".join(notes)
    yield f"{result.comment_id}  {result.marker}  by {result.author}  {result.updated_at}  {note}"
    if result.reading is not None and _says_what_counts(family):
        yield f"  reading: {result.reading['summary']}"


def _note(result: ReadResult, family: Family) -> str:
    """What the comment is among those with its first line; a reading alone says what counts."""
    if any(map(_elsewhere, result.problems)):
        return "does not count here"
    known = result.why
    if not result.trusted:
        return known or "untrusted"
    if family.shape is None or not _says_what_counts(family):
        return known or "governs"
    return known.partition(":")[0] if known else _WORDS[family.shape]


def _says_what_counts(family: Family) -> bool:
    """Whether the family's reading judges its comments; that of slices only looks into them."""
    return family.reader not in (None, "spine")


def _elsewhere(problem: Reason) -> bool:
    return problem.code in ELSEWHERE

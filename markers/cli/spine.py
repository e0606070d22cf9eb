"""``persist-marker spine``: a plan's slices, looked up as the plan's spine orders them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ..errors import Absent, Conflict, MarkersError
from ..model import Thread
from .common import Invocation, MarkerCommand, documented
from .documents import EMPTY
from .output import Answer
from .params import NUMBER, SLICE
from .standing import counted

FAMILY = "plan-issue"
FOUND = "found"
FAILURES: Mapping[str, type[MarkersError]] = {
    "missing-spine": Absent,
    "missing-slice": Absent,
    "invalid-spine": Conflict,
    "stale-spine": Conflict,
    "sibling-unstamped": Conflict,
    "duplicate-slice-id": Conflict,
}
"""What is not there is absent; what is there and contradicts itself is a conflict."""


@click.command(
    "spine",
    cls=MarkerCommand,
    short_help="Look up a slice of a plan.",
    **documented(
        example="persist-marker spine --repo acme/widgets --number 12 --slice s3",
        exits="0 found; 4 invalid-spine, stale-spine, sibling-unstamped, duplicate-slice-id; "
        "6 denied; 7 unavailable; 10 missing-spine, missing-slice",
    ),
)
@click.option("--number", type=NUMBER, required=True, metavar="N", help="The issue of the plan.")
@click.option("--slice", type=SLICE, metavar="sN", help="One slice; without it, all are listed.")
@click.option(
    "--generated-at",
    metavar="STAMP",
    help="The stamp of the spine you were sent with: another one is stale-spine.",
)
@click.pass_obj
def command(call: Invocation, /, number: int, **given: str | None) -> Answer:
    """Show a slice of the plan, or what is wrong with plan and slices.

    A plan's spine says which slices there are, in the plan's comment; the slices' own comment bears
    the same stamp. The outcome is `found` or names in one word what keeps the two from being read.
    """
    from ..codec import derive
    from ..reading import look_up

    call.subject.family, call.subject.number = FAMILY, number
    thread = Thread(call.repo, number)
    marker = derive(call.contract.family(FAMILY), number)
    param = {name: value for name, value in given.items() if value is not None}
    reading = look_up(call.connect(call.repo.api_url), thread, marker, param)
    document = {**EMPTY["spine"], "repo": call.repo.slug, "number": number, **reading}
    if reading["outcome"] != FOUND:
        failure = FAILURES[reading["outcome"]]
        raise failure(reading["outcome"], f"{thread}: {reading['detail']}", result=document)
    return Answer(document=document, lines=_lines(document, thread))


def _lines(document: Mapping[str, Any], thread: Thread) -> list[str]:
    one = document["slice"]
    where = f"{thread}, spine of {document['generated_at']}"
    if one is None:
        listed = document["slices"]
        return [f"{counted(len(listed), 'slice')} of {where}", *map(_line, listed)]
    head = [f"slice {one['id']} of {where}, in comment {one['comment_id']}"]
    head += [document["detail"]] if document["detail"] else []
    head += [f"its fields cannot be read: {one['why']}"] if one["why"] else []
    return [*head, *one["text"].split("\n")]


def _line(entry: Mapping[str, Any]) -> str:
    return f"{entry['id']}  in comment {entry['comment_id']}  {entry.get('rc') or ''}".rstrip()

"""``persist-marker state memory``: the files of the contract's rows in session memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ..caches.memory import KINDS, TEXTS, Base, bundles_of
from ..codec import derive
from ..errors import Failed, echo
from . import memory_logs, memory_marks, memory_states
from .common import MarkerCommand, documented
from .handing import add_handing
from .memory_files import (
    CALL,
    EXITS,
    NAME,
    Said,
    checkout_of,
    file_of,
    ids_option,
    listing,
    names_beside,
    place_of,
    root_of,
    scope_option,
    session_option,
)
from .output import Answer
from .paths import PAYLOAD, BoundedPath
from .stored import Verbs, keep, told, whereabouts

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..paths import Place

_kind = click.argument("kind", type=click.Choice(list(KINDS)), metavar="KIND")
_text_kind = click.argument("kind", type=click.Choice(TEXTS), metavar="KIND")


@click.group(
    NAME,
    cls=Verbs,
    short_help="Plans, reviews and marks of a conversation.",
    **documented(
        example=f"{CALL} review-state set --id 12 --prosecution-complete true", exits=EXITS
    ),
)
@click.option(
    "--root",
    type=BoundedPath(NAME),
    metavar="DIR",
    help="Another session memory than MARKERS_MEMORY_ROOT or /memories/session.",
)
@click.pass_context
def command(context: click.Context, /, root: Place | None) -> None:
    """Read and write the files that the contract's rows keep in session memory and worktree."""
    keep(context, root=root)


@command.command(
    "show",
    cls=MarkerCommand,
    short_help="List the files that are there.",
    **documented(example=f"{CALL} show plan-issue", exits=EXITS),
)
@click.argument("what", required=False, metavar="[KIND|FILE]")
@click.pass_context
def show(context: click.Context, /, what: str | None) -> Answer:
    """List kind, row and path of each file, of all kinds or one; other files are none of ours."""
    rows = [
        {
            "kind": found.kind,
            "row": KINDS[found.kind].row,
            "survival": KINDS[found.kind].survival,
            "key": found.value or None,
            "path": str(place.path),
        }
        for found, place in listing(context)
        if what in (None, found.kind, place.path.name)
    ]
    if not rows and what is not None and what not in KINDS:
        raise Failed("state-missing", f"{echo(what)} is neither a kind nor a file that is there")
    lines = [f"{row['kind']} ({row['row']}) {row['path']}" for row in rows]
    return told(context, root_of(context), lines=lines, files=rows)


@command.command(
    "path",
    cls=MarkerCommand,
    short_help="Say which file it is.",
    **documented(example=f"{CALL} path plan-bundle --id 12 --id 14", exits=EXITS),
)
@_kind
@ids_option
@scope_option
@session_option
@click.pass_context
def path(context: click.Context, /, kind: str, **said: Any) -> Answer:
    """Print the path of a kind's file, whether it is there or not."""
    place = place_of(context, kind, Said(**said))
    row = KINDS[kind]
    return told(
        context,
        place,
        lines=[str(place.path)],
        kind=kind,
        row=row.row,
        survival=row.survival,
        exists=os.path.lexists(place.path),
    )


@command.command(
    "where",
    cls=MarkerCommand,
    short_help="Say where the files are.",
    **documented(example=f"{CALL} where", exits="0 done; 2 usage; 3 refused"),
)
@click.argument("kind", required=False, type=click.Choice(list(KINDS)), metavar="[KIND]")
@ids_option
@scope_option
@session_option
@click.pass_context
def where(context: click.Context, /, kind: str | None, **said: Any) -> Answer:
    """Print the directories; of one file also its lock, and whether git tracks it."""
    if kind is not None:
        return whereabouts(context, place_of(context, kind, Said(**said)))
    root, checkout = root_of(context), checkout_of(context)
    found = {
        Base.MEMORY.value: str(root.path),
        Base.COMMON.value: str(checkout.common),
        Base.WORKTREE.value: str(checkout.top),
    }
    return told(
        context,
        root,
        lines=[f"{name}: {directory}" for name, directory in found.items()],
        directories=found,
        exists=root.path.is_dir(),
    )


@command.command(
    "get",
    cls=MarkerCommand,
    short_help="Print a plan, bundle or design.",
    **documented(example=f"{CALL} get plan-issue --id 12", exits=EXITS),
)
@_text_kind
@ids_option
@click.pass_context
def get(context: click.Context, /, kind: str, numbers: tuple[int, ...]) -> Answer:
    """Print the text as it is, whole; of a single plan also say which bundle comes before it."""
    from ..caches import whole_texts

    place = place_of(context, kind, Said(numbers=numbers))
    bundles = bundles_of(numbers[0], names_beside(place)) if kind == "plan-issue" else ()
    covered = [f"{file} covers the issue and comes first" for file in bundles]
    try:
        text = whole_texts.read(file_of(context, kind, place))
    except Failed as error:
        raise error.explained("; ".join(covered)) if covered else error from None
    return told(
        context,
        place,
        raw=text.encode(),
        warnings=covered,
        kind=kind,
        row=KINDS[kind].row,
        text=text,
    )


@command.command(
    "put",
    cls=MarkerCommand,
    short_help="Keep a plan, bundle or design.",
    **documented(example=f"{CALL} put plan-issue --id 12 --body-file .tmp/plan.md", exits=EXITS),
)
@_text_kind
@ids_option
@click.option(
    "--body-file",
    "body",
    type=PAYLOAD,
    required=True,
    metavar="PATH",
    help="The text; - for stdin.",
)
@click.pass_context
def put(
    context: click.Context, /, kind: str, numbers: tuple[int, ...], body: Callable[[], bytes]
) -> Answer:
    """Put the text in its file; of another text that was there a copy is kept beside it."""
    from ..caches import whole_texts

    place, data = place_of(context, kind, Said(numbers=numbers)), body()
    contract = context.find_root().obj.contract
    own = derive(contract.families[kind], numbers[0]) if kind in contract.families else None
    whole_texts.require_own(whole_texts.text_of(data), own, contract.comment_families)
    done = whole_texts.put(file_of(context, kind, place), data)
    kept = [f"the text that was there is kept as {done.kept}"] if done.kept else []
    return told(
        context,
        place,
        action=done.action.value,
        lines=[f"{done.action.value} {place.path}"],
        warnings=kept,
        kind=kind,
        row=KINDS[kind].row,
        kept_aside=[done.kept] if done.kept else [],
    )


for _group in (*memory_states.COMMANDS, *memory_marks.COMMANDS, *memory_logs.COMMANDS):
    command.add_command(_group)


add_handing(
    command,
    NAME,
    lambda context, number: place_of(context, "review-state", Said(numbers=(number,))),
)

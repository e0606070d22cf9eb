"""What the groups below ``state`` share: the files that were chosen, and how an answer looks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .common import Invocation, MarkerCommand, MarkerGroup, NoCommand, documented
from .documents import Document
from .output import Answer
from .paths import surroundings

if TYPE_CHECKING:
    from ..caches.declared import Store
    from ..caches.files import StateFile
    from ..paths import Place

_KEPT = "markers.places"


class Verbs(MarkerGroup):
    """The verbs of a store; whoever names another one is told which there are."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, invoke_without_command=True, **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note which store it is about, for the report of a failure."""
        _call(ctx).subject.family = self.name
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All verbs, in the order in which they are written down."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            valid = ", ".join(self.list_commands(ctx))
            raise click.UsageError(f"{error.format_message()} Valid are: {valid}.", ctx) from None


def keep(context: click.Context, **places: Place | None) -> None:
    """Remember the places that the options of the group name; a verb must follow."""
    if context.invoked_subcommand is None:
        raise NoCommand(context)
    context.meta[_KEPT] = places


def chosen(context: click.Context, option: str, name: str) -> Place:
    """The place that *option* names, else where the store called *name* usually is.

    Raises ``Usage`` (``project-missing``) rather than let a project be made that is misspelt.
    """
    from ..caches.places import default, require_project

    named: Place | None = context.meta[_KEPT].get(option)
    at = surroundings(_call(context).place)
    return require_project(named or default(name, at), at)


def sight(context: click.Context, place: Place, action: str, *, line: str) -> list[str]:
    """What there is to say of a file that a verb has made where git would take it in.

    *line* is for ``.gitignore``.
    """
    from ..hooks.tracked import is_ignored
    from ..paths import find_git_top

    if action != "created" or find_git_top(place.path.parent) is None:
        return []
    if is_ignored(place.path, _call(context).place.environ):
        return []
    return [f"git does not ignore {place.path}: it is yours alone, so add {line} to .gitignore"]


def state_file(context: click.Context, place: Place, store: Store) -> StateFile:
    """The file with what the store declares; no wait outlasts the command's deadline."""
    from ..caches.files import StateFile

    return StateFile(
        place=place,
        mode=store.mode,
        wait=min(store.wait, _call(context).settings.until.remaining()),
        posture=store.posture,
    )


def told(
    context: click.Context,
    place: Place,
    *,
    action: str = "unchanged",
    lines: Sequence[str] = (),
    raw: bytes | None = None,
    warnings: Sequence[str] = (),
    **found: Any,
) -> Answer:
    """The answer of a verb that did what it was asked; *found* is what the verb adds to JSON."""
    return Answer(
        document={**_subject(context, place), "action": action, "warnings": [*warnings], **found},
        lines=lines,
        raw=raw,
        warnings=tuple(warnings),
    )


def add_where(group: click.Group, call: str, place: Callable[[click.Context], Place]) -> None:
    """Give the group of a store that is one file the verb ``where``."""

    @group.command(
        "where",
        cls=MarkerCommand,
        short_help="Say which file it is.",
        **documented(example=f"{call} where", exits="0 done; 2 usage; 3 refused"),
    )
    @click.pass_context
    def where(context: click.Context, /) -> Answer:
        """Print file, lock and root, and whether git tracks the file; makes no file."""
        return whereabouts(context, place(context))


def whereabouts(context: click.Context, place: Place) -> Answer:
    """Which file it is, its lock, the root that it lies below, and whether git tracks it."""
    from ..caches.locks import SUFFIX
    from ..hooks.tracked import Standing, standing

    path = Path(os.path.realpath(place.path.parent)) / place.path.name
    git = standing(path, _call(context).place.environ)
    tracked = None if git is Standing.UNTOLD else git is Standing.TRACKED
    lock, root = f"{place.path}{SUFFIX}", str(place.root)
    exists = os.path.lexists(place.path)
    lines = [
        f"file: {place.path}{'' if exists else ' (not there yet)'}",
        f"lock: {lock}",
        f"root: {root}",
        f"tracked by git: {_SAID[tracked]}",
    ]
    wrong = ["git tracks the file: it holds state of this machine, take it out"] if tracked else []
    return told(
        context,
        place,
        lines=lines,
        warnings=wrong,
        lock=lock,
        root=root,
        exists=exists,
        tracked=tracked,
    )


_SAID = {True: "yes", False: "no", None: "git does not say"}


def _subject(context: click.Context, place: Place) -> Document:
    store, _, verb = _call(context).command.removeprefix("state ").partition(" ")
    return {"store": store, "verb": verb, "path": str(place.path)}


def _call(context: click.Context) -> Invocation:
    call: Invocation = context.find_root().obj
    return call

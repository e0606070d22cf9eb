"""``persist-marker state session-md``: SESSION-STATE.md, with the verbs of its own writer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from .. import clock
from ..caches import session_md as store
from ..model import Action
from .common import Invocation, MarkerCommand, documented
from .handing import add_handing
from .output import Answer, say
from .paths import BoundedPath
from .stored import Verbs, add_where, chosen, keep, sight, state_file, told

if TYPE_CHECKING:
    from ..caches.engine import Cabinet, Updated
    from ..paths import Place

_NAME = store.STORE.name
_CALL = f"persist-marker state {_NAME}"
_EXITS = "0 done; 1 failed; 2 usage; 3 refused; 7 unavailable"
_ENTRIES = {
    "constraint": ("Add a rule that holds.", "keep the public interface as it is"),
    "decision": ("Add what is settled, with today's date.", "SQLite for the spike"),
    "infra": ("Add what was found to exist, its name first.", "rabbitmq broker on :5552, reuse"),
    "thread": ("Add what is under way.", "see whether the nightly job has run"),
}
"""From a verb that takes a text to its help and an example of one."""
_UNNAMED = "no name begins the text, so the survey guard will not know of it: begin with one word"
_words = click.argument("words", nargs=-1, required=True, metavar="TEXT")


@click.group(
    _NAME,
    cls=Verbs,
    short_help="SESSION-STATE.md: what a session must not forget.",
    **documented(example=f'{_CALL} constraint "keep the public interface as it is"', exits=_EXITS),
)
@click.option(
    "--file",
    type=BoundedPath(_NAME),
    metavar="FILE",
    help="Another SESSION-STATE.md than the project's.",
)
@click.pass_context
def command(context: click.Context, /, file: Place | None) -> None:
    """Write and show SESSION-STATE.md: constraints, decisions, infrastructure, open threads.

    The file lies in CLAUDE_PROJECT_DIR, else at the git top level, else in the working directory;
    every verb but `digest` and `where` makes it if need be.
    """
    keep(context, file=file)


@command.command(
    "init",
    cls=MarkerCommand,
    short_help="Make the file.",
    **documented(example=f"{_CALL} init", exits=_EXITS),
)
@click.pass_context
def init(context: click.Context, /) -> Answer:
    """Make the file from the template; one that is there stays as it is."""
    done, place = _update(context, lambda text: text), _place(context)
    made = done.action is Action.CREATED
    return told(
        context,
        place,
        action=done.action,
        lines=[f"initialized {place.path}" if made else f"already there: {place.path}"],
        warnings=done.warnings,
    )


@command.command(
    "init-orchestrator",
    cls=MarkerCommand,
    short_help="Make the file, with constraints for a main thread that dispatches.",
    **documented(example=f"{_CALL} init-orchestrator", exits=_EXITS),
)
@click.pass_context
def init_orchestrator(context: click.Context, /) -> Answer:
    """Add the constraints of a main thread that dispatches, where the file has none of them.

    What decides is the text `Orchestrator-only:` anywhere in it.
    """
    done, place = _update(context, store.orchestrate), _place(context)
    if done.action is Action.UNCHANGED:
        line = f"orchestrator constraints already present in {place.path}"
    else:
        line = f"initialized {place.path} with orchestrator constraints"
    return told(context, place, action=done.action, lines=[line], warnings=done.warnings)


@command.command(
    "show",
    cls=MarkerCommand,
    short_help="Show the file.",
    **documented(example=f"{_CALL} show", exits=_EXITS),
)
@click.pass_context
def show(context: click.Context, /) -> Answer:
    """Print the file as it is, byte for byte."""
    text, action, warnings = _text(context), Action.UNCHANGED, tuple[str, ...]()
    if text is None:
        done = _update(context, lambda fresh: fresh)
        text, action, warnings = done.value, done.action, done.warnings
    raw = store.CODEC.dump(text)
    return told(context, _place(context), action=action, raw=raw, warnings=warnings, text=text)


def _entry_command(verb: str, short_help: str, example: str) -> click.Command:
    """A verb that puts its words under a heading."""

    @click.command(
        verb,
        cls=MarkerCommand,
        short_help=short_help,
        help=f"""Put an entry at the top of "{store.SECTION_OF[verb]}".

        Words are joined with blanks; what begins with a dash goes behind `--`. An entry that is
        there already is not repeated.""",
        **documented(example=f'{_CALL} {verb} "{example}"', exits=_EXITS),
    )
    @_words
    @click.pass_context
    def add(context: click.Context, /, words: tuple[str, ...]) -> Answer:
        return _add(context, verb, " ".join(words))

    return add


def _add(context: click.Context, verb: str, text: str) -> Answer:
    section = store.SECTION_OF[verb]
    entry = store.entry_of(verb, text, today=clock.today())
    done = _update(context, lambda before: store.add(before, section, entry))
    there = done.action is Action.UNCHANGED
    unnamed = verb == "infra" and not store.has_subject(entry)
    return told(
        context,
        _place(context),
        action=done.action,
        lines=[f"{'already' if there else 'added'} under {section}: - {entry}"],
        warnings=[*done.warnings, *([_UNNAMED] if unnamed else [])],
        section=section,
        entry=entry,
    )


for _verb, (_short, _example) in _ENTRIES.items():
    command.add_command(_entry_command(_verb, _short, _example))


@command.command(
    "drop",
    cls=MarkerCommand,
    short_help="Drop all entries that contain a text.",
    **documented(example=f'{_CALL} drop "SQLite for the spike"', exits=_EXITS),
)
@_words
@click.pass_context
def drop(context: click.Context, /, words: tuple[str, ...]) -> Answer:
    """Drop the entries of every section that contain the text, in the letters' own case.

    Standard error says how many they were.
    """
    literal, gone = " ".join(words), list[str]()
    store.require_literal(literal)

    def change(text: str) -> str:
        left, gone[:] = store.drop(text, literal)
        return left

    done = _update(context, change)
    call: Invocation = context.find_root().obj
    if not call.quiet:
        say(call.mask.thorough(f"dropped {len(gone)} bullet(s) matching: {literal}"))
    return told(
        context,
        _place(context),
        action=done.action,
        warnings=done.warnings,
        dropped=gone,
    )


@command.command(
    "digest",
    cls=MarkerCommand,
    short_help="Show what hooks show at every turn.",
    **documented(example=f"{_CALL} digest", exits=_EXITS),
)
@click.pass_context
def digest(context: click.Context, /) -> Answer:
    """Print headings and entries of constraints, decisions and open threads; makes no file.

    Placeholders are left out; without a real entry nothing is printed.
    """
    lines = store.digest(_text(context) or "")
    return told(context, _place(context), lines=lines, digest=lines)


add_where(command, _CALL, lambda context: _place(context))


def _place(context: click.Context) -> Place:
    return chosen(context, "file", _NAME)


add_handing(command, _NAME, lambda context, _number: _place(context))


def _cabinet(context: click.Context) -> Cabinet[str]:
    from ..caches.engine import Cabinet

    return Cabinet(store.STORE, store.CODEC, state_file(context, _place(context), store.STORE))


def _text(context: click.Context) -> str | None:
    """What the file holds, read without its lock; None where there is no file."""
    from ..caches.engine import Condition, require_usable

    cabinet = _cabinet(context)
    seen = cabinet.look()
    return None if seen.condition is Condition.MISSING else require_usable(seen, cabinet.file)


def _update(context: click.Context, change: Callable[[str], str]) -> Updated[str]:
    done = _cabinet(context).update(change)
    seen = sight(context, _place(context), done.action, line=f"{store.STORE.file}*")
    return replace(done, warnings=(*done.warnings, *seen))

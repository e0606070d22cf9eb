"""``persist-marker state session-yaml``: latest.yaml, with the options of its own writer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from .. import clock
from ..caches import session_yaml as store
from ..caches.session_yaml_form import LEAST_STEPS, MOST_STEPS
from .common import MarkerCommand, documented
from .documents import plain
from .handing import add_handing
from .output import Answer
from .paths import BoundedPath
from .stored import Verbs, add_where, chosen, keep, sight, state_file, told

if TYPE_CHECKING:
    from ..caches.engine import Cabinet, Seen
    from ..caches.session_yaml_form import State
    from ..paths import Place

Decorator = Callable[[Callable[..., Answer]], Callable[..., Answer]]

_NAME = store.STORE.name
_CALL = f"persist-marker state {_NAME}"
_EXITS = "0 done; 1 failed; 2 usage; 3 refused; 7 unavailable"
_steps = click.IntRange(LEAST_STEPS, MOST_STEPS)
_LOST = "what a call adds to the blockers that it clears is lost; --clear-first keeps it"


@click.group(
    _NAME,
    cls=Verbs,
    short_help="latest.yaml: what an agent is at.",
    **documented(
        example=f'{_CALL} update --mode EXECUTION --task Import --status Tests --summary "2 left"',
        exits=_EXITS,
    ),
)
@click.option(
    "--file",
    type=BoundedPath(_NAME),
    metavar="FILE",
    help="Another latest.yaml than the checkout's.",
)
@click.pass_context
def command(context: click.Context, /, file: Place | None) -> None:
    """Write and show .agent/sessions/latest.yaml: mode, task, summary, blockers, decisions.

    The file lies below the git top level, else in CLAUDE_PROJECT_DIR, else in the working
    directory. Options with a dash in their name are also known by the name with an underscore.
    """
    keep(context, file=file)


def _option(name: str, **more: Any) -> Decorator:
    """An option in both spellings."""
    other = f"--{name.replace('-', '_')}"
    return click.option(f"--{name}", *([other] if "-" in name else []), **more)


def _texts(name: str, parameter: str, what: str) -> Decorator:
    """An option that adds to a list, as often as it is given."""
    other = f"--{name.replace('-', '_')}"
    return click.option(
        f"--{name}",
        other,
        parameter,
        multiple=True,
        metavar="TEXT",
        help=f"{what}; may be repeated.",
    )


@command.command(
    "update",
    cls=MarkerCommand,
    short_help="Say what the agent is at.",
    **documented(
        example=f'{_CALL} update --mode EXECUTION --task Import --status Tests --summary "2 left"',
        exits=_EXITS,
    ),
)
@_option("mode", required=True, metavar="TEXT", help="The agent's mode.")
@_option("task", required=True, metavar="TEXT", help="The name of the task.")
@_option("status", required=True, metavar="TEXT", help="How the task stands.")
@_option("summary", required=True, metavar="TEXT", help="What the next session must know.")
@_option("predicted-steps", type=_steps, default=0, show_default=True, help="Steps that are left.")
@_texts("add-decision", "decisions", "A decision; the newest ten are kept")
@_texts("add-blocker", "blockers", "What the task waits for")
@_option("clear-blockers", is_flag=True, help="Nothing blocks any more.")
@_option("clear-first", is_flag=True, help="Clear the blockers, then add those of --add-blocker.")
@_texts("add-completed-task", "completed", "A task that is done")
@_option("touch", is_flag=True, help="Write the time even if it alone is new.")
@click.pass_context
def update(context: click.Context, /, touch: bool, **said: Any) -> Answer:
    """Write mode, task, status and summary, and add to the lists.

    Where nothing but the time would change, nothing is written. A blocker or task that is listed
    already is not listed twice. An empty addition is none.
    """
    change, now, new_id = _change(**said), clock.local(), str(uuid4())
    cabinet = _cabinet(context)
    done = cabinet.update(
        lambda before: store.update(before, change, now=now, new_id=new_id),
        touch=touch,
        amiss=store.unread,
    )
    lost = [_LOST] if store.loses_blockers(change) else []
    path = _place(context).path
    word = "unchanged" if done.action == "unchanged" else "updated"
    return told(
        context,
        _place(context),
        action=done.action,
        lines=[f"Session state {word}: {path} (Locked)"],
        warnings=[*done.warnings, *lost, *_in_sight(context, done.action)],
        kept=done.kept,
        state=_shown(done.value),
    )


@command.command(
    "show",
    cls=MarkerCommand,
    short_help="Show all that the file says.",
    **documented(example=f"{_CALL} show", exits="0 shown, or nothing to show; 2 usage; 3 refused"),
)
@click.pass_context
def show(context: click.Context, /) -> Answer:
    """Print the state in the form in which it is written; makes no file."""
    from ..caches.session_yaml_form import write

    seen = _seen(context)
    shown = None if seen.value is None else _shown(seen.value)
    lines = None if seen.value is None else write(seen.value).split("\n")[:-1]
    return _read(context, seen, lines, state=shown)


@command.command(
    "boot",
    cls=MarkerCommand,
    short_help="Show what a new session takes over.",
    **documented(
        example=f"{_CALL} boot", exits="0 shown, or nothing to take over; 2 usage; 3 refused"
    ),
)
@click.pass_context
def boot(context: click.Context, /) -> Answer:
    """Print mode, task, status, summary and blockers for a session that begins; writes nothing.

    They are what was last noted, no order: what the user says now counts more.
    """
    seen = _seen(context)
    if seen.value is None:
        return _read(context, seen, None, restore=None)
    found = store.to_restore(seen.value)
    lines = [f"{name}: {found[name]}" for name in ("mode", "task", "status")]
    lines += [f"summary: {line}" for line in found["summary"].split("\n")]
    lines += [f"blocker: {each}" for each in found["blockers"]]
    return _read(context, seen, lines, restore=found)


add_where(command, _CALL, lambda context: _place(context))


add_handing(command, _NAME, lambda context, _number: _place(context))


def _change(
    *,
    decisions: tuple[str, ...],
    blockers: tuple[str, ...],
    completed: tuple[str, ...],
    **said: Any,
) -> store.Change:
    return store.Change(
        add_decisions=tuple(filter(None, decisions)),
        add_blockers=tuple(filter(None, blockers)),
        add_completed=tuple(filter(None, completed)),
        **said,
    )


def _in_sight(context: click.Context, action: str) -> list[str]:
    return sight(context, _place(context), action, line=".agent/sessions/")


def _place(context: click.Context) -> Place:
    return chosen(context, "file", _NAME)


def _cabinet(context: click.Context) -> Cabinet[State]:
    from ..caches.engine import Cabinet
    from ..caches.session_yaml_form import CODEC

    return Cabinet(store.STORE, CODEC, state_file(context, _place(context), store.STORE))


def _seen(context: click.Context) -> Seen[State]:
    """What a reader sees; raises ``Refused`` for what is not to be opened at all."""
    from ..caches.engine import require_allowed

    seen = _cabinet(context).look()
    require_allowed(seen)
    return seen


def _read(
    context: click.Context, seen: Seen[State], lines: list[str] | None, **found: Any
) -> Answer:
    """The answer of a reader: what it found, or that there is no usable prior state."""
    nothing = [f"no usable prior state: {seen.why}"]
    hindered = [seen.why] if seen.condition == "unreadable" else []
    unread = store.unread(seen.value) if seen.value else ""
    return told(
        context,
        _place(context),
        lines=nothing if lines is None else lines,
        warnings=[*hindered, *([f"{_place(context).path}: {unread}"] if unread else [])],
        condition=seen.condition.value,
        why=seen.why or None,
        **found,
    )


def _shown(state: State) -> dict[str, Any]:
    """The state as JSON; what somebody else has put into the file is left out."""
    shown: dict[str, Any] = plain(state)
    del shown["more"], shown["task_more"], shown["unread"]
    return {**shown, "summary": store.said(state.summary)}

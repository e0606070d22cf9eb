"""``gate-events`` and ``rate-limit`` below ``state memory``: what was decided, and put off."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from .. import clock
from ..caches import memory
from ..errors import Failed, Usage
from ..model import Action
from .common import MarkerCommand, MarkerGroup, documented
from .memory_files import (
    CALL,
    EXITS,
    Said,
    file_of,
    place_of,
    root_of,
    scope_option,
    session_option,
)
from .output import Answer
from .params import NUMBER
from .stored import told

if TYPE_CHECKING:
    from ..caches.deferral import Deferral
    from ..caches.engine import Cabinet
    from ..caches.gate_events import Event
    from ..paths import Place

_LOG, _FALLBACK, _LIMIT = "gate-events", "gate-events-fallback", "rate-limit"


@click.group(
    _LOG,
    cls=MarkerGroup,
    short_help="What was decided at the gates of a conversation.",
    **documented(example=f"{CALL} gate-events show", exits=EXITS),
)
def gates() -> None:
    """Append to and read the log of gate decisions, one JSON object a line (row SMC-21)."""


@gates.command(
    "append",
    cls=MarkerCommand,
    short_help="Append one event.",
    **documented(
        example=f"{CALL} gate-events append --decision-id cache-key --phase plan --outcome asked"
        " --classification load-bearing --window-position pre-ask --issue-number 12",
        exits=EXITS,
    ),
)
@session_option
@click.option("--decision-id", metavar="WORD", help="The decision, or the finding.")
@click.option("--phase", metavar="WORD", help="The phase of the work.")
@click.option("--outcome", metavar="WORD", help="How the gate ended.")
@click.option("--classification", metavar="WORD", help="What the gate took it for.")
@click.option("--window-position", metavar="WORD", help="Which gate it was.")
@click.option("--issue-number", type=NUMBER, metavar="N", help="The issue.")
@click.option("--pull-request-number", type=NUMBER, metavar="N", help="Or the pull request.")
@click.option("--skip-reason", metavar="TEXT", help="Why nothing was asked.")
@click.option("--timestamp", metavar="TIME", help="When (now).")
@click.pass_context
def gates_append(context: click.Context, /, session: str | None, **said: Any) -> Answer:
    """Append the event that the options say, or, without any, the JSON object on stdin.

    Where session memory is not there, the log of the worktree takes it.
    """
    from ..caches.gate_events import line

    data = line(_event({name: value for name, value in said.items() if value is not None}))
    primary = place_of(context, _LOG, Said(session=session))
    warnings: list[str] = []
    if _has_memory(context):
        try:
            return _appended(context, _LOG, primary, data, warnings)
        except Failed as error:
            warnings.append(f"session memory is not to be used: {error.reason.detail}")
    fallback = place_of(context, _FALLBACK, Said())
    return _appended(context, _FALLBACK, fallback, data, warnings)


def _event(said: dict[str, Any]) -> Event:
    from ..caches.gate_events import event_of

    if said:
        return {"timestamp": clock.iso(clock.now()), **said}
    if sys.stdin is None:
        raise Usage("gate-event", "say the event by options, or as JSON on standard input")
    return event_of(sys.stdin.buffer.read())


def _has_memory(context: click.Context) -> bool:
    """Whether session memory is there, or can be made in a directory that is."""
    root = root_of(context).path
    return root.is_dir() or root.parent.is_dir()


def _appended(
    context: click.Context, kind: str, place: Place, data: bytes, warnings: list[str]
) -> Answer:
    there = place.path.exists()
    with file_of(context, kind, place).held(warnings.append) as held:
        held.append(data)
    action = Action.UPDATED if there else Action.CREATED
    return told(
        context,
        place,
        action=action.value,
        lines=[f"appended to {place.path}"],
        warnings=warnings,
        source=kind,
    )


@gates.command(
    "show",
    cls=MarkerCommand,
    short_help="Show the events.",
    **documented(example=f"{CALL} gate-events show --json", exits=EXITS),
)
@session_option
@click.pass_context
def gates_show(context: click.Context, /, session: str | None) -> Answer:
    """Print the events of the session's log, or where there is none, of the worktree's.

    Lines that are no event, a torn one at the end too, are passed over and counted.
    """
    from ..caches.gate_events import Log, read

    for kind in (_LOG, _FALLBACK):
        place = place_of(context, kind, Said(session=session))
        data = file_of(context, kind, place).read()
        if data is not None:
            log, source = read(data), kind
            break
    else:
        log, source = Log(), None
    return told(
        context,
        place,
        lines=[f"{e['timestamp']} {e['decision_id']} {e['outcome']}" for e in log.events],
        warnings=[f"line {number} is no event" for number in log.unread],
        source=source,
        events=[dict(event) for event in log.events],
        unread=[*log.unread],
    )


@click.group(
    _LIMIT,
    cls=MarkerGroup,
    short_help="What a rate limit has put off.",
    **documented(example=f"{CALL} rate-limit show --scope issue-12", exits=EXITS),
)
def limits() -> None:
    """Keep what has to be done once a rate limit is over (row SMC-15)."""


@limits.command(
    "set",
    cls=MarkerCommand,
    short_help="Note what is put off.",
    **documented(
        example=f'{CALL} rate-limit set --scope issue-12 --defer "post the plan"', exits=EXITS
    ),
)
@scope_option
@click.option("--defer", multiple=True, metavar="TEXT", help="One thing to do; repeatable.")
@click.option("--interrupted", metavar="TEXT", help="The phase and step it was in.")
@click.option("--resume", metavar="TEXT", help="Where it goes on.")
@click.pass_context
def limits_set(
    context: click.Context,
    /,
    scope: str | None,
    defer: tuple[str, ...],
    interrupted: str | None,
    resume: str | None,
) -> Answer:
    """Change what is named; things to do add up."""
    from ..caches.deferral import deferred, require_line

    for text in filter(None, (*defer, interrupted, resume)):
        require_line(text)
    place = place_of(context, _LIMIT, Said(scope=scope))
    now = clock.iso(clock.now())
    done = _deferral(context, str(scope), place).update(
        lambda value: deferred(value, interrupted=interrupted, resume=resume, items=defer, now=now)
    )
    return told(
        context,
        place,
        action=done.action.value,
        lines=[f"{done.action.value} {place.path}"],
        warnings=done.warnings,
        deferral=done.value.document(),
    )


@limits.command(
    "show",
    cls=MarkerCommand,
    short_help="Show what is put off.",
    **documented(example=f"{CALL} rate-limit show --scope issue-12", exits=EXITS),
)
@scope_option
@click.pass_context
def limits_show(context: click.Context, /, scope: str | None) -> Answer:
    """Print the file as it is; nothing where there is none."""
    place = place_of(context, _LIMIT, Said(scope=scope))
    cabinet = _deferral(context, str(scope), place)
    data = cabinet.file.read()
    seen = cabinet.look()
    return told(
        context,
        place,
        raw=data or b"",
        condition=seen.condition.value,
        deferral=None if seen.value is None else seen.value.document(),
        text=None if data is None else data.decode("utf-8", "replace"),
    )


@limits.command(
    "clear",
    cls=MarkerCommand,
    short_help="Delete what was put off and is done.",
    **documented(example=f"{CALL} rate-limit clear --scope issue-12", exits=EXITS),
)
@scope_option
@click.pass_context
def limits_clear(context: click.Context, /, scope: str | None) -> Answer:
    """Delete the file; what it held is in the answer's JSON."""
    place = place_of(context, _LIMIT, Said(scope=scope))
    file, warnings = file_of(context, _LIMIT, place), list[str]()
    if file.read() is None:
        return told(context, place, lines=["nothing is put off"], text=None)
    with file.held(warnings.append) as held:
        data = held.read() or b""
        held.remove()
    return told(
        context,
        place,
        action=Action.DELETED.value,
        lines=[f"deleted {place.path}"],
        warnings=warnings,
        text=data.decode("utf-8", "replace"),
    )


def _deferral(context: click.Context, scope: str, place: Place) -> Cabinet[Deferral]:
    from ..caches.deferral import DeferralCodec
    from ..caches.engine import Cabinet

    return Cabinet(memory.store(_LIMIT), DeferralCodec(scope), file_of(context, _LIMIT, place))


COMMANDS = (gates, limits)

"""``persist-marker state agent-box``: the registry of supervised agents and what was observed."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..caches import agent_box
from ..errors import MarkersError, Usage
from .box import (
    CALL,
    DIRECTORIES,
    EXITS,
    NAME,
    answer_of,
    box_of,
    environ,
    name_argument,
    registry_of,
    told_of,
)
from .box_operator import COMMANDS
from .common import MarkerCommand, documented
from .handing import add_handing
from .output import Answer
from .paths import BoundedPath
from .stored import Verbs, chosen, keep, whereabouts

if TYPE_CHECKING:
    from ..caches.supervising import Box
    from ..paths import Place

_ID = "7c5f2b8a-1d0e-4f6b-9a3c-5e2d4b6f8a10"
_NEXT = "0b9d1c52-3e4f-4a6b-8c7d-9e0f1a2b3c4d"
_LAUNCHED_AS = "AGENT_BOX_SESSION_ID"


@click.group(
    NAME,
    cls=Verbs,
    short_help="A supervisor's sessions: what is wanted, what was seen.",
    **documented(example=f"{CALL} launch-id portal", exits=EXITS),
)
@click.option(
    "--registry", type=BoundedPath(NAME), metavar="FILE", help="Another sessions.json (intent)."
)
@click.option(
    "--side-dir",
    type=BoundedPath("side-dir"),
    metavar="DIR",
    help="Where the launch ids are (observation).",
)
@click.option(
    "--live-dir",
    type=BoundedPath("live-dir"),
    metavar="DIR",
    help="Where the hooks of the sessions note their ids.",
)
@click.option(
    "--transcripts",
    type=BoundedPath("transcripts"),
    metavar="DIR",
    help="Where the harness keeps its conversations.",
)
@click.pass_context
def command(
    context: click.Context,
    /,
    registry: Place | None,
    side_dir: Place | None,
    live_dir: Place | None,
    transcripts: Place | None,
) -> None:
    """Read and change the registry of a box's sessions, and what its supervisor observed of them.

    No verb starts or ends a program. By default all files lie below the home directory, where the
    programs of the box have them.
    """
    keep(
        context,
        registry=registry,
        side_dir=side_dir,
        live_dir=live_dir,
        transcripts=transcripts,
    )


@command.command(
    "show",
    cls=MarkerCommand,
    short_help="Show all sessions, or one.",
    **documented(example=f"{CALL} show --json", exits="0 done; 2 usage, no such session"),
)
@click.argument("name", required=False, metavar="[NAME]")
@click.pass_context
def show(context: click.Context, /, name: str | None) -> Answer:
    """Show name, agent, state and launch id of each session; a bad registry is an empty one."""
    box = box_of(context)
    seen = box.look()
    entries = agent_box.sessions(seen.value) if seen.value else {}
    if name is not None and name not in entries:
        raise agent_box.no_session(name)
    rows = {
        each: _row(box, each, found)
        for each, found in entries.items()
        if isinstance(found, dict) and name in (None, each)
    }
    lines = [f"{each} {_state(row)} {row['launch_id'] or '-'}" for each, row in rows.items()]
    warnings = [] if seen.value or not seen.why else [seen.why]
    return told_of(
        context,
        lines=lines,
        warnings=warnings,
        condition=seen.condition.value,
        sessions=rows,
    )


def _row(box: Box, name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    from ..caches import launching, side_files

    known = launching.recorded(found, side_files.launch_id(box.side, name))
    launch = box.resolved(known)
    minted = launch.source is launching.Source.MINTED
    return {
        "agent": known.agent,
        "stopped": agent_box.is_stopped(found),
        "launched": launch.launched,
        "has_run": launch.has_run,
        "launch_id": None if minted else launch.launch_id,
        "source": None if minted else launch.source.value,
        "entry": dict(found),
    }


def _state(row: Mapping[str, Any]) -> str:
    ran = "has run" if row["has_run"] else "never ran"
    return f"{row['agent'] or '?'} {'stopped' if row['stopped'] else 'wanted'} ({ran})"


@command.command(
    "launch-id",
    cls=MarkerCommand,
    short_help="Say with which id a session is to be started.",
    **documented(example=f"{CALL} launch-id portal", exits=EXITS),
)
@name_argument
@click.pass_context
def launch_id(context: click.Context, /, name: str) -> Answer:
    """Print the id and who named it: live-record, side-file, registry or minted.

    Nothing is written: `record-launch` does that once the session is up.
    """
    launch = box_of(context).launch(agent_box.require_name(name))
    return told_of(
        context,
        lines=[f"{launch.launch_id} {launch.source}"],
        name=name,
        launch_id=launch.launch_id,
        source=launch.source.value,
        launched=launch.launched,
        has_run=launch.has_run,
        rotated_from=launch.rotated_from,
    )


@command.command(
    "record-launch",
    cls=MarkerCommand,
    short_help="Note with which id a session was started.",
    **documented(
        example=f"{CALL} record-launch portal {_ID}",
        exits=f"{EXITS}; 1 also where the session is delisted or stopped by now",
    ),
)
@name_argument
@click.argument("launch_id", metavar="UUID")
@click.pass_context
def record_launch(context: click.Context, /, name: str, launch_id: str) -> Answer:
    """Write the side file if the id is news, and the registry's copy after a first start.

    An adopted rotation writes the copy, too. A session that was delisted is never listed again.
    """
    agent_box.require_id(launch_id)
    return answer_of(
        context, box_of(context).record_launch(agent_box.require_name(name), launch_id)
    )


@command.command(
    "rotate",
    cls=MarkerCommand,
    short_help="Note that a session goes on under another id.",
    **documented(example=f"{CALL} rotate {_ID} {_NEXT}", exits=EXITS),
)
@click.argument("launched", required=False, metavar="[LAUNCH_UUID]")
@click.argument("now", required=False, metavar="[NEW_UUID]")
@click.option(
    "--hook",
    is_flag=True,
    help=f"Read a SessionStart event on stdin, and {_LAUNCHED_AS}; never fail, say nothing.",
)
@click.pass_context
def rotate(context: click.Context, /, launched: str | None, now: str | None, hook: bool) -> Answer:
    """Write the live-id record that `launch-id` follows one hop."""
    box = box_of(context)
    if hook:
        return told_of(context, **_rotated_by_hook(box, environ(context).get(_LAUNCHED_AS, "")))
    if launched is None or now is None:
        raise Usage("session-id", "two ids are needed: the one it was launched with, and the new")
    done = box.rotate(agent_box.require_id(launched), agent_box.require_id(now))
    return answer_of(context, done)


def _rotated_by_hook(box: Box, launched: str) -> dict[str, str]:
    """Whatever is wrong, a hook says nothing: its session must go on."""
    from .hooking import drained

    # Read whole before anything is judged, so that the harness can finish writing.
    event = drained(sys.stdin)
    with suppress(MarkersError, ValueError, RecursionError, AttributeError):
        now = json.loads(event).get("session_id")
        if agent_box.is_id(launched) and isinstance(now, str) and agent_box.is_id(now):
            return {"action": box.rotate(launched, now).action.value}
    return {}


@command.command(
    "sweep",
    cls=MarkerCommand,
    short_help="Delete what was observed of sessions that are gone.",
    **documented(example=f"{CALL} sweep", exits=EXITS),
)
@click.option("--live-records", is_flag=True, help="Also the ids of sessions that are over.")
@click.pass_context
def sweep(context: click.Context, /, live_records: bool) -> Answer:
    """Delete the side files of sessions that the registry does not list, stopped ones kept.

    A registry that cannot be read deletes nothing; one that lists nobody deletes all.
    """
    from ..model import Action

    swept = box_of(context).sweep(records=live_records)
    deleted = [*swept.side_files.deleted, *swept.live_records.deleted]
    left = [*swept.side_files.left, *swept.live_records.left]
    warnings = [f"could not be deleted: {each}" for each in left]
    if swept.why is not None:
        warnings.append(f"nothing was swept: {swept.why}")
    return told_of(
        context,
        action=(Action.DELETED if deleted else Action.UNCHANGED).value,
        lines=[f"deleted {each}" for each in deleted],
        warnings=warnings,
        deleted=deleted,
        left=left,
    )


@command.command(
    "where",
    cls=MarkerCommand,
    short_help="Say which files these are.",
    **documented(example=f"{CALL} where", exits="0 done; 2 usage; 3 refused"),
)
@click.pass_context
def where(context: click.Context, /) -> Answer:
    """Print registry, lock, root, whether git tracks it, and the three directories."""
    answer = whereabouts(context, registry_of(context))
    found = {key: str(chosen(context, key, kind).path) for key, kind in DIRECTORIES.items()}
    lines = [f"{DIRECTORIES[key]}: {path}" for key, path in found.items()]
    return replace(
        answer, document={**(answer.document or {}), **found}, lines=[*answer.lines, *lines]
    )


for _verb in COMMANDS:
    command.add_command(_verb)


def _sweep(context: click.Context) -> None:
    """Let no session that arrives come upon what an earlier one of its name has left behind."""
    box_of(context).sweep()


add_handing(command, NAME, lambda context, _number: registry_of(context), _sweep)

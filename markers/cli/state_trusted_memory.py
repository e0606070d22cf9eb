"""``persist-marker state trusted-memory``: session-state.json, the sentinel and the addresses."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from .. import clock
from ..caches import trusted_memory as store
from ..errors import MarkersError
from .common import MarkerCommand, Told, documented
from .documents import Document
from .handing import add_handing
from .output import Answer
from .paths import BoundedPath
from .stored import Verbs, chosen, keep, told, whereabouts
from .trusted import CALL, EXITS, cabinet, environ, place, session
from .trusted_address import address
from .trusted_fields import heartbeat, mute, pending, seen, unmute

if TYPE_CHECKING:
    from ..caches.files import StateFile
    from ..caches.sentinel import Verdict
    from ..paths import Place

_FURTHER = {"sentinel": "sentinel", "profile": "addresses", "messages_db": "messages"}
"""From an option of the group to the kind of file that it names."""


_ASKING = "needs-bootstrap"


class _Trusted(Verbs):
    """The verbs; where one asks, options that cannot be looked at are an answer."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options, which may name files that are refused."""
        try:
            return super().parse_args(ctx, args)
        except MarkersError as error:
            if _ASKING in args:
                raise Told(_answered(_unknown(error))) from None
            raise


@click.group(
    store.NAME,
    cls=_Trusted,
    short_help="session-state.json: which sessions a group has.",
    **documented(example=f"{CALL} register", exits=EXITS),
)
@click.option(
    "--file",
    type=BoundedPath(store.NAME),
    metavar="FILE",
    help="Another session-state.json than /workspace/group's.",
)
@click.option(
    "--sentinel",
    type=BoundedPath("sentinel"),
    metavar="FILE",
    help="Another session_bootstrapped than /tmp's.",
)
@click.option(
    "--profile",
    type=BoundedPath("addresses"),
    metavar="FILE",
    help="Another user_profile.md than USER_PROFILE_PATH names, or /workspace/trusted has.",
)
@click.option(
    "--messages-db",
    type=BoundedPath("messages"),
    metavar="FILE",
    help="Another messages.db than MARKERS_MESSAGES_DB names, or /workspace/store has.",
)
@click.pass_context
def command(context: click.Context, /, **places: Place | None) -> None:
    """Register sessions, note what they owe each other, and read the user's addresses.

    NANOCLAW_SESSION_NAME is the name of the session that calls, `default` without it.
    """
    keep(context, **places)


@command.command(
    "register",
    cls=MarkerCommand,
    short_help="Note that this session is there.",
    **documented(example=f"{CALL} register", exits=EXITS),
)
@click.pass_context
def register(context: click.Context, /) -> Answer:
    """Note the session in session-state.json, then write the sentinel.

    The session's id comes from the messages' database; without it the id is null. The sentinel
    holds CLAUDE_SESSION_ID and is not written without it. A file that nobody can read is kept
    beside the new one; one of a newer version is refused.
    """
    from ..caches import messages

    name = session(context)
    declared = store.owned(name)
    found, note = messages.session_id(chosen(context, "messages_db", "messages"))
    now = clock.now()
    done = cabinet(context, declared).update(
        lambda document: store.register(document, session=name, session_id=found, now=now),
        writer=store.OWNER,
        touch=True,
        amiss=store.unfit_for(name),
    )
    wrote, untold = _write_sentinel(context)
    result: Document = {"session_id": found, "session_name": name}
    rest: Document = {"wrote_state": True, "wrote_sentinel": wrote}
    return told(
        context,
        place(context),
        action=done.action,
        lines=[json.dumps({**result, "schema_version": store.VERSION, **rest})],
        warnings=[*filter(None, (note, *done.warnings, untold))],
        kept=done.kept,
        **result,
        **rest,
    )


@command.command(
    _ASKING,
    cls=MarkerCommand,
    short_help="Ask whether this session has to be bootstrapped.",
    **documented(
        example=f"{CALL} needs-bootstrap && echo now", exits="0 it has to be; 1 it need not be"
    ),
)
@click.pass_context
def needs_bootstrap(context: click.Context, /) -> Answer:
    """Compare CLAUDE_SESSION_ID with the sentinel; any doubt means that it has to be."""
    from ..caches import sentinel

    try:
        file = _sentinel(context)
        verdict = sentinel.verdict(file, environ(context, sentinel.VARIABLE))
    except MarkersError as error:
        return _answered(_unknown(error))
    return _answered(verdict, path=str(file.place.path))


def _unknown(error: MarkersError) -> Verdict:
    """The verdict where not even the sentinel's place is known (stores, 17: exit 0 or 1)."""
    from ..caches import sentinel

    current = os.environ.get(sentinel.VARIABLE, "")
    return sentinel.unknown(current, error.reason.detail)


def _answered(verdict: Verdict, *, path: str | None = None) -> Answer:
    from ..caches import sentinel

    result: Document = {
        "needs_bootstrap": verdict.needs_bootstrap,
        "current": verdict.current,
        "stored": verdict.stored,
        "reason": verdict.reason.value,
    }
    no_id = f"{sentinel.VARIABLE} is not set" if not verdict.current else ""
    warnings = [*filter(None, (no_id, verdict.trouble))]
    common: Document = {"store": store.NAME, "verb": _ASKING, "path": path, "action": "unchanged"}
    return Answer(
        document={**common, "warnings": warnings, **result},
        lines=[json.dumps(result)],
        code=0 if verdict.needs_bootstrap else 1,
        warnings=tuple(warnings),
    )


@command.command(
    "show",
    cls=MarkerCommand,
    short_help="Show the file, and this session's id.",
    **documented(example=f"{CALL} show", exits="0 shown, or nothing to show; 1 unreadable"),
)
@click.pass_context
def show(context: click.Context, /) -> Answer:
    """Print the file as a reader sees it; makes no file and upgrades none.

    A file of a newer version or of an unknown shape is no usable prior state, like a missing one.
    """
    from ..caches.engine import Condition, require_usable

    files = cabinet(context, store.STORE)
    seen = store.prior(files)
    if seen.condition is Condition.UNREADABLE:
        require_usable(seen, files.file)
    name, document = session(context), seen.value
    known = store.session_id(document, name) if document else None
    return told(
        context,
        place(context),
        lines=document.text.split("\n") if document else [f"no usable prior state: {seen.why}"],
        condition=seen.condition.value,
        why=seen.why or None,
        state=document.value if document else None,
        session_name=name,
        session_id=known.value if known else None,
        source=known.source if known else None,
    )


for _verb in (pending, seen, mute, unmute, heartbeat, address):
    command.add_command(_verb)


@command.command(
    "where",
    cls=MarkerCommand,
    short_help="Say which files they are.",
    **documented(example=f"{CALL} where", exits="0 done; 2 usage; 3 refused"),
)
@click.pass_context
def where(context: click.Context, /) -> Answer:
    """Print file, lock and root, whether git tracks the file, and the files beside it."""
    answer = whereabouts(context, place(context))
    further = {name: str(chosen(context, name, kind).path) for name, kind in _FURTHER.items()}
    lines = [f"{name.replace('_', '-')}: {path}" for name, path in further.items()]
    return replace(
        answer,
        document={**(answer.document or {}), **further},
        lines=[*answer.lines, *lines],
    )


add_handing(command, store.NAME, lambda context, _number: place(context))


def _sentinel(context: click.Context) -> StateFile:
    from ..caches.files import StateFile
    from ..caches.sentinel import MODE

    return StateFile(place=chosen(context, "sentinel", "sentinel"), mode=MODE)


def _write_sentinel(context: click.Context) -> tuple[bool, str]:
    """Whether the sentinel was written, and why not."""
    from ..caches import sentinel

    value = environ(context, sentinel.VARIABLE)
    if not sentinel.is_id(value):
        what = "is not one line of text" if value else "is not set"
        return False, f"{sentinel.VARIABLE} {what}: no sentinel, so the next run bootstraps again"
    sentinel.write(_sentinel(context), value)
    return True, ""

"""``startup-check``, ``install-prompt`` and ``run-once`` below ``state memory``: what ran already.

Whatever is doubtful means "run": a mark that cannot be read costs a second run, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from .. import clock
from ..errors import MarkersError, Refused
from ..model import Action
from .common import MarkerCommand, MarkerGroup, documented
from .memory_files import (
    CALL,
    EXITS,
    Said,
    file_of,
    id_option,
    place_of,
    scope_option,
    session_of,
    session_option,
)
from .output import Answer
from .paths import PAYLOAD
from .stored import told

if TYPE_CHECKING:
    from ..caches.run_once import Mark, Verdict
    from ..paths import Place

_STARTUP, _PROMPT, _ONCE = "startup-check", "install-prompt", "run-once"
_body = click.option(
    "--body-file",
    "body",
    type=PAYLOAD,
    required=True,
    metavar="PATH",
    help="The issue's body; - for stdin.",
)


@click.group(
    _STARTUP,
    cls=MarkerGroup,
    short_help="Whether the check of a session's start has run.",
    **documented(example=f"{CALL} startup-check show", exits=EXITS),
)
def startup() -> None:
    """Ask or note whether the start-up check has run in this conversation (row SMC-07)."""


@startup.command(
    "show",
    cls=MarkerCommand,
    short_help="Say run or skip.",
    **documented(example=f"{CALL} startup-check show", exits=EXITS),
)
@click.pass_context
def startup_show(context: click.Context, /) -> Answer:
    """Print skip where the mark is there, run for everything else."""
    return _presence(context, _STARTUP, place_of(context, _STARTUP, Said()))


@startup.command(
    "done",
    cls=MarkerCommand,
    short_help="Note that the check has run.",
    **documented(example=f"{CALL} startup-check done", exits="0 done, or could not be noted"),
)
@click.pass_context
def startup_done(context: click.Context, /) -> Answer:
    """Write the mark; that it cannot be written is told, and no failure: the check runs again."""
    place = place_of(context, _STARTUP, Said())
    text = f"Startup check complete: {clock.iso(clock.now())}\n"
    try:
        return _marked(context, _STARTUP, place, text.encode())
    except MarkersError as error:
        return told(context, place, warnings=[f"not noted: {error.reason.detail}"])


@click.group(
    _PROMPT,
    cls=MarkerGroup,
    short_help="Whether the prompt to install cost collection was shown.",
    **documented(example=f"{CALL} install-prompt show", exits=EXITS),
)
def prompt() -> None:
    """Ask or note whether that prompt was shown in this conversation (row SMC-18)."""


@prompt.command(
    "show",
    cls=MarkerCommand,
    short_help="Say run or skip.",
    **documented(example=f"{CALL} install-prompt show", exits=EXITS),
)
@scope_option
@click.pass_context
def prompt_show(context: click.Context, /, scope: str | None) -> Answer:
    """Print skip where the mark holds anything, run for everything else."""
    return _presence(context, _PROMPT, place_of(context, _PROMPT, Said(scope=scope)))


@prompt.command(
    "mark",
    cls=MarkerCommand,
    short_help="Note that it was shown.",
    **documented(example=f"{CALL} install-prompt mark", exits=EXITS),
)
@scope_option
@click.pass_context
def prompt_mark(context: click.Context, /, scope: str | None) -> Answer:
    """Write the mark."""
    place = place_of(context, _PROMPT, Said(scope=scope))
    return _marked(context, _PROMPT, place, b"shown\n")


def _presence(context: click.Context, kind: str, place: Place) -> Answer:
    from ..caches import run_once

    return _judged(context, kind, place, run_once.presence)


def _marked(context: click.Context, kind: str, place: Place, text: bytes) -> Answer:
    """Write a mark that only has to be there."""
    warnings: list[str] = []
    with file_of(context, kind, place).held(warnings.append) as held:
        before = held.read()
        if before is None or not before.strip():
            held.write(text)
            return _written(context, place, Action.CREATED, warnings)
    return _written(context, place, Action.UNCHANGED, warnings)


def _written(context: click.Context, place: Place, action: Action, warnings: list[str]) -> Answer:
    lines = [f"{action.value} {place.path}"]
    return told(context, place, action=action.value, lines=lines, warnings=warnings)


@click.group(
    _ONCE,
    cls=MarkerGroup,
    short_help="Whether an issue's body was seen in this session.",
    **documented(example=f"{CALL} run-once check --id 12 --body-file .tmp/body.md", exits=EXITS),
)
def once() -> None:
    """Ask or note whether the references of an issue were read for its body (row SMC-22)."""


@once.command(
    "check",
    cls=MarkerCommand,
    short_help="Say run or skip.",
    **documented(example=f"{CALL} run-once check --id 12 --body-file .tmp/body.md", exits=EXITS),
)
@id_option
@session_option
@_body
@click.pass_context
def once_check(
    context: click.Context, /, number: int, session: str | None, body: Callable[[], bytes]
) -> Answer:
    """Print skip where this session has marked the same body, run for everything else."""
    from ..caches import run_once

    mark = _mark(context, number, session, body)
    session = mark.session or run_once.UNKNOWN
    place = place_of(context, _ONCE, Said(numbers=(number,), session=session))
    return _judged(context, _ONCE, place, lambda data: run_once.verdict(mark, data))


@once.command(
    "mark",
    cls=MarkerCommand,
    short_help="Note that the body was seen.",
    **documented(example=f"{CALL} run-once mark --id 12 --body-file .tmp/body.md", exits=EXITS),
)
@id_option
@session_option
@_body
@click.pass_context
def once_mark(
    context: click.Context, /, number: int, session: str | None, body: Callable[[], bytes]
) -> Answer:
    """Write the mark; without a session it is refused, as it would be everybody's."""
    from ..caches import run_once

    mark = _mark(context, number, session, body)
    if not mark.has_session:
        raise Refused("run-once-session", "the session has no id: name it with --session")
    place = place_of(context, _ONCE, Said(numbers=(number,), session=mark.session))
    warnings: list[str] = []
    with file_of(context, _ONCE, place).held(warnings.append) as held:
        before = held.read()
        if not run_once.verdict(mark, before).run:
            return _written(context, place, Action.UNCHANGED, warnings)
        held.write(mark.text(clock.iso(clock.now())))
    action = Action.CREATED if before is None else Action.UPDATED
    return _written(context, place, action, warnings)


def _mark(
    context: click.Context, number: int, session: str | None, body: Callable[[], bytes]
) -> Mark:
    from ..caches import run_once

    try:
        text = body().decode()
    except UnicodeDecodeError:
        raise Refused("memory-text", "the body is not UTF-8") from None
    known = session_of(context, session)
    return run_once.Mark(number=number, session=known, body_hash=run_once.body_hash(text))


def _judged(
    context: click.Context, kind: str, place: Place, judge: Callable[[bytes | None], Verdict]
) -> Answer:
    from ..caches.run_once import Verdict

    try:
        verdict = judge(file_of(context, kind, place).read())
    except MarkersError as error:
        verdict = Verdict(run=True, why=error.reason.detail)
    line = f"{'run' if verdict.run else 'skip'}: {verdict.why}"
    return told(context, place, lines=[line], run=verdict.run, why=verdict.why)


COMMANDS = (startup, prompt, once)

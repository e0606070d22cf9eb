"""The command itself: its sub-commands, each imported when called, and how every run ends."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from ..__about__ import __version__
from ..errors import MarkersError
from ..model import Reason
from . import exits
from .common import Documented, Invocation, MarkerGroup, Told
from .documents import failed
from .output import Answer, complaint, deliver, say

PROGRAM = "persist-marker"
LONGEST = 300
"""Characters of a usage error: it may repeat what was typed."""
COMMANDS: Mapping[str, str] = {
    "write": "write",
    "burst": "burst",
    "read": "read",
    "list": "listing",
    "delete": "delete",
    "restore": "restore",
    "registry": "registry",
    "audit": "audit",
    "recover": "recover",
    "doctor": "doctor",
    "forge": "forge",
    "demo": "demo",
}
"""From a command's name to the module that holds it as ``command``.

No module is named like a builtin: once imported, it would hide that in the package.
"""


class Root(MarkerGroup):
    """Imports the module of the command that is called, and no other."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All commands, in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - the same
        """Import one command; None when there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        command: Documented = import_module(f".{COMMANDS[cmd_name]}", __package__).command
        return command


def _version(context: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        raise Told(Answer(document={"version": __version__}, text=f"{PROGRAM} {__version__}"))


root = Root(
    PROGRAM,
    params=[
        click.Option(
            ("--version",),
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Show the version.",
        )
    ],
    help="Persist, read and audit hidden handoff markers in GitHub comments.",
    epilog="""\b
Start with `persist-marker demo` (needs no token) or `persist-marker doctor`.

\b
Exit codes: 0 done; 1 found what it looks for; 2 usage; 3 refused; 4 conflict; 5 landed but not
as meant; 6 denied; 7 unavailable; 8 unknown; 10 absent; 70 bug; 130 interrupted.""",
)


def run(arguments: Sequence[str]) -> int:
    """Run one command line; exactly one answer is printed, and its exit code returned."""
    call = Invocation()
    as_json = "--json" in arguments[: _end_of_options(arguments)]
    try:
        answer = _answer(call, arguments)
    except (Exception, KeyboardInterrupt) as error:
        answer = _failure(call, error)
    finally:
        with suppress(KeyboardInterrupt):  # what is done is done: it is told, not interrupted
            call.closing.close()
    try:
        return deliver(answer, as_json=as_json or call.as_json, quiet=call.quiet)
    except OSError as error:
        say(f"{PROGRAM}: the result could not be printed ({error.strerror}); it was: {answer.code}")
        return exits.BUG


def _end_of_options(arguments: Sequence[str]) -> int:
    return list(arguments).index("--") if "--" in arguments else len(arguments)


def _answer(call: Invocation, arguments: Sequence[str]) -> Answer:
    try:
        answer: Any = root.main(list(arguments), PROGRAM, standalone_mode=False, obj=call)
    except Told as told:
        return told.answer
    assert isinstance(answer, Answer)  # noqa: S101 - every command returns one
    return answer


def _failure(call: Invocation, error: BaseException) -> Answer:
    """Say on stderr what went wrong, and shape the document of the command that failed."""
    action, code = exits.of(error)
    reason = _reason(error, action)
    if isinstance(error, click.UsageError) and error.ctx is not None:
        say(error.ctx.get_usage())
    subject = _subject(call, error)
    say(complaint(action, subject, reason))
    if code == exits.BUG and call.verbose:
        _trace(error)
    result = getattr(error, "result", None)
    document = failed(call.command, action=action, reason=reason, subject=subject, result=result)
    warnings = tuple(getattr(result, "warnings", ()))
    return Answer(document=document, code=code, warnings=warnings)


def _subject(call: Invocation, error: BaseException) -> Any:
    """What the result knows beats what the command line said."""
    result = getattr(error, "result", None)
    for name in ("family", "number", "surface"):
        value = getattr(result, name, None)
        if value is not None:
            setattr(call.subject, name, value)
    return call.subject


def _reason(error: BaseException, action: str) -> Reason:
    if isinstance(error, MarkersError):
        return error.reason
    if isinstance(error, click.ClickException):
        return Reason(code=action, detail=error.format_message()[:LONGEST])
    return Reason(code=action, detail=_WORDS[action].format(name=type(error).__name__))


_WORDS = {
    "interrupted": "stopped by you; if a write was under way, `persist-marker recover` settles it",
    "bug": "{name}: this is a fault of persist-marker; -v shows where, please report it",
}


def _trace(error: BaseException) -> None:
    """The traceback, with tokens that the environment holds taken out."""
    secrets = [v for k, v in os.environ.items() if k.endswith("_TOKEN") and v]
    for line in "".join(traceback.format_exception(error)).splitlines():
        for secret in secrets:
            line = line.replace(secret, "***")
        say(line)

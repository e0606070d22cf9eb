"""The command itself: its sub-commands, each imported when called, and how every run ends."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import click

from ..__about__ import __version__
from ..errors import ECHO, Invalid, MarkersError, echo
from ..hooks import event_of
from ..model import Reason
from . import exits
from .common import Invocation, NoCommand, Told
from .documents import failed
from .lazy import LazyGroup
from .output import Answer, Unprinted, deliver, say

PROGRAM = "persist-marker"
_PARENTHESIS = re.compile(rf"(?<=\()[^()]{{{ECHO + 1},}}(?=\))")
"""Where click repeats all words that it has no use for."""
COMMANDS: Mapping[str, str] = {
    "write": "write",
    "burst": "burst",
    "read": "read",
    "list": "listing",
    "lint": "lint",
    "ledger": "ledger",
    "mutex": "mutex",
    "spine": "spine",
    "delete": "delete",
    "restore": "restore",
    "reconcile": "reconcile",
    "state": "state",
    "hook": "hook",
    "registry": "registry",
    "audit": "audit",
    "flush": "flush",
    "queue": "queued",
    "recover": "recover",
    "doctor": "doctor",
    "forge": "forge",
    "demo": "demo",
}
"""From a command's name to the module that holds it as ``command``.

No module is named like a builtin: once imported, it would hide that in the package.
"""


def _version(context: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        raise Told(Answer(document={"version": __version__}, lines=[f"{PROGRAM} {__version__}"]))


root = LazyGroup(
    PROGRAM,
    modules=COMMANDS,
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
as meant; 6 denied; 7 unavailable; 8 unknown; 10 absent; 70 bug; 74 done, but the result could
not be printed; 130 interrupted.""",
)


def run(arguments: Sequence[str], on_answer: Callable[[], None]) -> int:
    """Run one command line; exactly one answer is printed, and its exit code returned.

    *on_answer* is told when nothing but the printing is left to do.
    """
    call = Invocation()
    as_json = "--json" in arguments[: _end_of_options(arguments)]
    try:
        answer = _answer(call, arguments)
    except (Exception, KeyboardInterrupt) as error:
        answer = _failure(call, error, arguments)
    finally:
        with suppress(KeyboardInterrupt):  # what is done is done: it is told, not interrupted
            call.closing.close()
    on_answer()
    try:
        return deliver(answer, as_json=as_json or call.as_json, quiet=call.quiet, mask=call.mask)
    except Unprinted as error:
        return _told_otherwise(call, answer, error)


def _told_otherwise(call: Invocation, answer: Answer, error: Unprinted) -> int:
    """Say on stderr what stdout did not take: somebody has to know what was done."""
    lost = f"the result could not be printed ({error.why})"
    if answer.code != exits.OK:
        say(f"{PROGRAM}: {lost}")
        return answer.code
    done = f": {answer.lines[0]}" if answer.lines else ""
    say(call.mask.thorough(f"{PROGRAM}: all went well, but {lost}{done}"))
    return exits.UNPRINTED


def _end_of_options(arguments: Sequence[str]) -> int:
    return list(arguments).index("--") if "--" in arguments else len(arguments)


def _answer(call: Invocation, arguments: Sequence[str]) -> Answer:
    try:
        answer: Any = root.main(list(arguments), PROGRAM, standalone_mode=False, obj=call)
    except Told as told:
        return told.answer
    assert isinstance(answer, Answer)  # noqa: S101 - every command returns one
    return answer


def _failure(call: Invocation, error: BaseException, arguments: Sequence[str]) -> Answer:
    """Say on stderr what went wrong, and shape the document of the command that failed."""
    action, code = exits.of(error)
    reason = _reason(error, action, arguments)
    if (event := event_of(arguments)) is not None:
        from .hook import refused

        return refused(event, replace(reason, detail=call.mask.thorough(reason.detail)))
    for line in _usage(error):
        say(line)
    subject = _subject(call, error)
    for each in error.problems if isinstance(error, Invalid) else (reason,):
        call.complain(action, subject, each)
    if code == exits.BUG and call.verbose:
        _trace(call, error)
    result = getattr(error, "result", None)
    document = failed(call.command, action=action, reason=reason, subject=subject, result=result)
    warnings = tuple(getattr(result, "warnings", ()))
    return Answer(document=document, code=code, warnings=warnings)


def _usage(error: BaseException) -> list[str]:
    """How the command is called; whoever names none is shown all there are."""
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return []
    shown = error.ctx.get_help() if isinstance(error, NoCommand) else error.ctx.get_usage()
    return shown.splitlines()


def _subject(call: Invocation, error: BaseException) -> Any:
    """What the result knows beats what the command line said."""
    result = getattr(error, "result", None)
    for name in ("family", "number", "surface"):
        value = getattr(result, name, None)
        if value is not None:
            setattr(call.subject, name, value)
    return call.subject


def _reason(error: BaseException, action: str, arguments: Sequence[str]) -> Reason:
    if isinstance(error, MarkersError):
        return error.reason
    if isinstance(error, click.ClickException):
        # Click puts each of several choices on a line of its own.
        message = error.format_message().replace("\n\t", " ")
        return Reason(code=action, detail=_bounded(message, arguments))
    words = _WORDS[action]
    why = error.why if isinstance(error, Unprinted) else type(error).__name__
    return Reason(code=action, detail=words.format(why=why))


def _bounded(message: str, arguments: Sequence[str]) -> str:
    """The message of click, with at most 80 characters of each word that was typed."""
    typed = {part for word in arguments for part in (word, *word.split("=", 1))}
    for word in sorted(typed, key=len, reverse=True):
        if len(word) > ECHO:
            for spelled in (word, repr(word)[1:-1]):
                message = message.replace(spelled, echo(word))
    return _PARENTHESIS.sub(lambda words: echo(words[0]), message)


_WORDS = {
    "interrupted": "stopped by you; if a write was under way, `persist-marker recover` settles it",
    "unprinted": "the result could not be printed ({why})",
    "bug": "{why}: this is a fault of persist-marker; -v shows where, please report it",
}


def _trace(call: Invocation, error: BaseException) -> None:
    """The traceback, without tokens."""
    for line in "".join(traceback.format_exception(error)).splitlines():
        say(call.mask.thorough(line))

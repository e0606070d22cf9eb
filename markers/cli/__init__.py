"""The command line; importing this costs nothing, so that ``--version`` is quick."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import NoReturn

from ..__about__ import __version__

INTERRUPTED = 130
PLATFORMS = ("linux", "darwin")
_ELSEWHERE = "persist-marker: REFUSED (-, -/-): it runs on Linux and macOS only [rule platform]\n"
_INTERRUPTED = (
    '{"schema_version": 1, "action": "interrupted", "reason": {"code": "interrupted", "detail": '
    '"stopped by you; if a write was under way, `persist-marker recover` settles it"}}\n'
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with *arguments* (else the process's own) and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"] and _told_version():
        return 0
    if sys.platform not in PLATFORMS:
        sys.stderr.write(_ELSEWHERE)
        return 3
    if arguments is None:
        _collect_seldom()
    if len(given) == 2 and given[0] == "hook" and _answered_hook(given[1], alone=arguments is None):
        return 0
    code = _run(given, _end_at_interrupt if arguments is None else _listen_on)
    if arguments is None:
        _end_at_interrupt(code)
        if code == INTERRUPTED:
            _leave_now(code)
    return code


def _told_version() -> bool:
    """Whether the version was printed; what hinders it is left to the usual way to tell."""
    if sys.stdout is not None:
        try:
            sys.stdout.write(f"persist-marker {__version__}\n")
            sys.stdout.flush()
        except (OSError, ValueError):
            return False
    return True


def _answered_hook(event: str, *, alone: bool) -> bool:
    """Whether *event* is a hook's, and so was answered: nothing that happens in it is a failure.

    Without click, since a hook runs at every turn.  *alone* says that the process is only for this.
    """
    from ..hooks import EVENTS

    if event not in EVENTS:
        return False
    if alone:
        _end_quietly()
    try:
        from .hooking import run

        run(event)
    except BaseException as error:
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(f"persist-marker: hook {event}: {type(error).__name__}\n")
    if alone:
        _leave_now(0)
    return True


def _end_quietly() -> None:
    """Let whoever ends the process see that nothing is amiss."""
    import signal

    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, lambda *_: os._exit(0))


def _run(given: list[str], on_answer: Callable[[], None]) -> int:
    try:
        from .root import run

        return run(given, on_answer)
    except BaseException as error:
        # Before there was a command that could have been interrupted, or while it was imported.
        if not stems_from_interrupt(error):
            raise
        if "--json" in takewhile(lambda word: word != "--", given):
            with suppress(OSError, ValueError, AttributeError):
                sys.stdout.write(_INTERRUPTED)
        return INTERRUPTED


def stems_from_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind it: one inside an import can come out as any other error."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _listen_on() -> None:
    """Leave Ctrl-C to whoever called ``main`` as a function."""


def _end_at_interrupt(code: int = INTERRUPTED) -> None:
    """Let Ctrl-C end the process at once from here on: the work is done, and nothing is to add.

    A process that was told to ignore it, as one in the background is, goes on ignoring it.
    """
    import signal

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: os._exit(code))


def _collect_seldom() -> None:
    """Let a process that ends in a moment collect garbage seldom: a tenth of it is imports.

    What is big here, pages of comments, holds no cycles and goes at once.
    """
    import gc

    gc.set_threshold(50_000, 20, 50)


def _leave_now(code: int) -> NoReturn:
    """End the process without waiting for reads that a silent server keeps open."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)

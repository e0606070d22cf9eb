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
    alone = arguments is None
    event = _hook(given, alone=alone) if "hook" in given else None
    if sys.platform not in PLATFORMS:
        sys.stderr.write(_ELSEWHERE)
        return 3 if event is None else 0
    if alone:
        _collect_seldom()
    if event is not None:
        _fire(event, given, alone=alone)
        return 0
    if "--hook" in given and _done_silently(given, alone=arguments is None):
        return 0
    code = _run(given, _end_at_interrupt if alone else _listen_on)
    if alone:
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


def _hook(given: list[str], *, alone: bool) -> str | None:
    """The event of a hook that is called, whatever else stands on its command line.

    *alone* says that the process is only for this: then whoever ends it sees nothing amiss.
    """
    if alone and given[0] == "hook":
        _end_quietly()  # before anything is imported
    from ..hooks import event_of

    event = event_of(given)
    if alone and event is not None:
        _end_quietly()
    return event


def _fire(event: str, given: list[str], *, alone: bool) -> None:
    """Answer a hook: nothing that happens in it is a failure.

    Without click where it is called as harnesses should, since a hook runs at every turn.
    """
    try:
        if given == ["hook", event]:
            from .hooking import run

            run(event)
        else:
            from .root import run as run_any

            run_any(given, _listen_on)
    except BaseException as error:
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(f"persist-marker: hook {event}: {type(error).__name__}\n")
    if alone:
        _leave_now(0)


def _done_silently(given: list[str], *, alone: bool) -> bool:
    """Whether *given* is the hook that nothing may be heard of, and so was run."""
    from .silent import is_silent, run

    if not is_silent(given):
        return False
    if alone:
        _end_quietly()
    with suppress(BaseException):
        run(given, lambda words: _run(words, _listen_on))
    if alone:
        _leave_now(0)
    return True


def _end_quietly() -> None:
    """Let whoever ends the process see that nothing is amiss, and end what it has started."""
    import signal

    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, _leave_quietly)


def _leave_quietly(*_: object) -> None:
    programs = sys.modules.get("markers.programs")
    end_running = getattr(programs, "end_running", None)  # it may be half imported
    if end_running is not None:
        end_running()
    os._exit(0)


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

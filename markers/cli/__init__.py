"""The command line; importing this costs nothing, so that ``--version`` is quick."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from ..__about__ import __version__

INTERRUPTED = 130
PLATFORMS = ("linux", "darwin")
_ELSEWHERE = "persist-marker: REFUSED (-, -/-): it runs on Linux and macOS only [rule platform]\n"
_INTERRUPTED = (
    '{"schema_version": 1, "action": "interrupted", '
    '"reason": {"code": "interrupted", "detail": "stopped by you before anything was done"}}\n'
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with *arguments* (else the process's own) and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        if sys.stdout is not None:
            sys.stdout.write(f"persist-marker {__version__}\n")
        return 0
    if sys.platform not in PLATFORMS:
        sys.stderr.write(_ELSEWHERE)
        return 3
    if arguments is None:
        _collect_seldom()
    try:
        from .root import run

        code = run(given)
    except KeyboardInterrupt:  # before there was a command that could have been interrupted
        if "--json" in given:
            sys.stdout.write(_INTERRUPTED)
        code = INTERRUPTED
    if code == INTERRUPTED and arguments is None:
        _leave_now(code)
    return code


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

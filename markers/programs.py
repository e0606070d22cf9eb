"""Asking another program (gh, git) for an answer, and for no longer than there is time.

Plain standard library, Linux and macOS.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path


class Silent(Exception):
    """The program did not answer in time."""


def answer(
    command: Sequence[str],
    *,
    seconds: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> tuple[int, bytes]:
    """Exit code and standard output; raises ``Silent``, and ``OSError`` where it cannot be run.

    What the program has started ends with it: a child of its own would keep the pipe open, and
    waiting for its end would take as long as the child does.
    """
    with subprocess.Popen(  # noqa: S603 - no shell; who calls says what is run
        command,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        process_group=0,
    ) as process:
        try:
            told, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Silent from None
        finally:
            if process.returncode is None:
                _end(process)
        return process.returncode, told


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)

"""Running one process to its end and weighing it.

Peak memory is the kernel's own figure for the process (``wait4``).  Linux counts the parent's size
at the moment of starting into it, so this side stays small: it imports neither httpx nor the
package.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from threading import Timer
from typing import IO

LIMIT = 120.0
"""Seconds after which a run is given up; PyGithub's own throttle takes 11 s on 1,000 comments."""
_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One process: seconds from start to exit, peak bytes, exit code, and what it printed."""

    wall: float
    peak: int
    code: int
    out: str
    err: str


def run(argv: Sequence[str], *, env: Mapping[str, str], cwd: str, stdin: str = "") -> Run:
    """Start *argv*, wait for its end and measure both time and memory."""
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        began = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 (the table of contestants, nothing from outside)
            argv, env=dict(env), cwd=cwd, stdin=given, stdout=out, stderr=err
        )
        watchdog = Timer(LIMIT, process.kill)
        watchdog.start()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        watchdog.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        return Run(
            wall=wall,
            peak=used.ru_maxrss * _UNIT,
            code=process.returncode,
            out=_text(out),
            err=_text(err),
        )


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")

"""Two programs that change one state file at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_START = "import sys, time; print('ready', flush=True); sys.stdin.readline()\n"


def side_by_side(path: Path, *programs: str) -> list[int]:
    """Run Python programs on *path*, all let go once all are up; the answer is their exit codes.

    A program that ends its imports with ``GO`` waits there for the others.
    """
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program.replace("GO\n", _START), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for program in programs
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in running:
        process.communicate(timeout=60)
    return [process.returncode for process in running]

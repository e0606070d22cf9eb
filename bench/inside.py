"""Figures from inside a process: one of its own, since the one that measures stays small."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from .measure import run
from .upserts import WrongEnd

ROOT = Path(__file__).parents[1]


def seconds_of(module: str, *words: str) -> list[float]:
    """What ``python -m bench.MODULE`` prints, a number of seconds a line."""
    done = run([sys.executable, "-m", f"bench.{module}", *words], env=os.environ, cwd=str(ROOT))
    if done.code != 0:
        raise WrongEnd(f"{module}: exit {done.code}\n{done.err[-2000:]}")
    return [float(line) for line in done.out.split()]


def tell(times: int, act: Callable[[int], object]) -> None:
    """Print how long *act* takes each time, after one time that is not counted."""
    for nth in range(times + 1):
        began = time.perf_counter()
        act(nth)
        took = time.perf_counter() - began
        if nth:
            sys.stdout.write(f"{took}\n")

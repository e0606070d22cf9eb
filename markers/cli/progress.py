"""A bar for people who watch a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from .common import Invocation


@contextmanager
def progress(call: Invocation, length: int) -> Iterator[Callable[[int], None]]:
    """A bar for people who watch a terminal; nothing for anybody else."""
    if call.quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _done: None
        return
    with click.progressbar(length=length, label="writing", file=sys.stderr) as bar:
        yield lambda done: bar.update(done - bar.pos)

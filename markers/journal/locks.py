"""Locks on threads, between the threads and processes of one machine.

One file per key below one directory, each locked with ``flock`` on a descriptor opened for the
purpose: such a lock keeps out other threads as well as other processes, and the system frees it
when its holder dies, however it dies.  The files stay; they are empty and mean nothing by
themselves.

A lock is not reentrant: whoever asks again for a key it holds waits for itself.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path

from .. import clock
from ..errors import Unavailable
from .private import make_folder
from .trouble import explained

_FIRST_PAUSE = 0.01
_LONGEST_PAUSE = 0.1


@contextmanager
def hold(folder: Path, keys: Sequence[str], *, wait: float) -> Iterator[None]:
    """Hold the locks of all *keys*, with files below *folder*, until the block ends.

    They are taken in sorted order, so that two holders never wait for each other.  Raises
    ``Unavailable``: ``locked-out`` after *wait* seconds in all, ``journal`` when *folder* cannot
    be used.
    """
    end = clock.monotonic() + wait
    with ExitStack() as held:
        for key in sorted(set(keys)):
            held.enter_context(_wait_for(folder, key, end=end, wait=wait))
        yield


def _wait_for(folder: Path, key: str, *, end: float, wait: float) -> FileIO:
    path = folder / hashlib.sha256(key.encode()).hexdigest()
    pause = _FIRST_PAUSE
    with explained(folder):
        make_folder(folder)
        while (file := _attempt(path)) is None:
            left = end - clock.monotonic()
            if left <= 0:
                raise Unavailable(
                    "locked-out",
                    f"another writer holds {key}, and {wait:g} s of waiting did not change that;"
                    " try again when it has finished",
                )
            clock.sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_PAUSE)
    return file


def _attempt(path: Path) -> FileIO | None:
    """Lock the file at *path* without waiting; None while another descriptor holds it."""
    with ExitStack() as opened:
        file = opened.enter_context(FileIO(path, "a", opener=_opener))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        if not _is_at(file, path):
            return None
        opened.pop_all()
        return file


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _is_at(file: FileIO, path: Path) -> bool:
    """Whether nobody removed or replaced the file between opening and locking.

    A lock on a file that is no longer at its path keeps nobody out.
    """
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(file.fileno()), there)

"""Locks on threads, between the threads and processes of one machine.

One file per key below one directory, each locked with ``flock`` on a descriptor opened for the
purpose: such a lock keeps out other threads as well as other processes, and the system frees it
when its holder dies, however it dies.  The files stay; they are empty and mean nothing by
themselves.

A lock is not reentrant: whoever asks again for a key it holds waits for itself.

The directory is opened without following a link, and the files from its descriptor: the journal may
lie where others can put one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from .. import clock
from ..errors import Refused
from .private import make_folder
from .trouble import explained, locked_out

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe of that name would keep us waiting
FIRST_PAUSE = 0.01
LONGEST_PAUSE = 0.1


@dataclass(frozen=True, slots=True)
class Locks:
    """Locks that are held: the files behind them, and where each has to be."""

    files: tuple[tuple[FileIO, Path], ...]

    def kept(self) -> bool:
        """Whether they still keep others out: who cleared the files away let others in."""
        return all(_is_at(file, path) for file, path in self.files)


@contextmanager
def hold(folder: Path, keys: Sequence[str], *, wait: float) -> Iterator[Locks]:
    """Hold the locks of all *keys*, with files below *folder*, until the block ends.

    They are taken in sorted order, so that two holders never wait for each other.  Raises
    ``Unavailable``: ``locked-out`` after *wait* seconds in all, ``journal`` when *folder* cannot
    be used.
    """
    end = clock.monotonic() + wait
    files = []
    with ExitStack() as held:
        for key in sorted(set(keys)):
            file = held.enter_context(_wait_for(folder, key, end=end, wait=wait))
            files.append((file, folder / _name(key)))
        yield Locks(tuple(files))


def marked(folder: Path, name: str) -> bool:
    """Whether the folder carries this mark."""
    return os.path.lexists(folder / name)


def mark(folder: Path, name: str, there: bool) -> None:
    """Leave a mark in the folder, or take it away; no key's file has such a name."""
    if there:
        _make(folder)
        _opened(folder, name).close()
    elif marked(folder, name):
        (folder / name).unlink()


def _name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _wait_for(folder: Path, key: str, *, end: float, wait: float) -> FileIO:
    name = _name(key)
    pause = FIRST_PAUSE
    with explained(folder):
        _make(folder)
        while (file := _attempt(folder, name)) is None:
            left = end - clock.monotonic()
            if left <= 0:
                raise locked_out(key, wait)
            clock.sleep(min(pause, left))
            pause = min(pause * 1.5, LONGEST_PAUSE)
    return file


def _make(folder: Path) -> None:
    if folder.is_symlink():
        raise Refused(
            "journal-symlink",
            f"the directory of the journal's locks, {folder}, is a symbolic link; remove it",
        )
    make_folder(folder)


def _attempt(folder: Path, name: str) -> FileIO | None:
    """Lock the file *name* without waiting; None while another descriptor holds it."""
    with ExitStack() as opened:
        file = opened.enter_context(_opened(folder, name))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        if not _is_at(file, folder / name):
            return None
        opened.pop_all()
        return file


def _opened(folder: Path, name: str) -> FileIO:
    at = os.open(folder, _FOLDER)
    try:
        return FileIO(
            name,
            "a",
            opener=lambda name, flags: os.open(name, flags | _FILE, 0o600, dir_fd=at),
        )
    finally:
        os.close(at)


def _is_at(file: FileIO, path: Path) -> bool:
    """Whether nobody removed or replaced the file between opening and locking.

    A lock on a file that is no longer at its path keeps nobody out.
    """
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(file.fileno()), there)

"""The lock of a state file: ``flock(2)`` on a file beside it, as the programs that own it lock.

What may live here: taking and giving back.  What may not: what is done under it.

The lock is ``<name>.lock``, opened for appending, never the state file (whose inode is replaced)
and never removed.  ``lockf`` and ``fcntl`` locks do not exclude ``flock`` on Linux, so no other
kind will do.  It is re-entrant within one thread; it is closed on ``exec``, and a descriptor that
was handed over by the program that started this one counts as held.
"""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .. import clock
from ..errors import Failed, Refused, Unavailable, echo
from ..paths import Place, judge, look, missing_is_fine

SUFFIX = ".lock"
POLL = 0.05
"""Seconds between two tries."""
_OPEN = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_Key = tuple[int, int]
"""Device and inode of a lock file."""
_held = threading.local()


@contextmanager
def locked(place: Place, at: int, *, wait: float, inherited: int | None = None) -> Iterator[None]:
    """Hold the lock of the file at *place*, whose directory is open as *at*.

    *inherited* is a descriptor that the starting program locked.  Raises ``Unavailable``
    (``state-locked``) when it is not to be had within *wait* seconds, ``Failed``
    (``state-lock``) where the lock file cannot be opened, and ``Refused`` where it is a link.
    """
    name = place.parts[-1] + SUFFIX
    end = clock.monotonic() + wait
    while True:
        descriptor = _opened(place, name, at)
        try:
            key = _key(os.fstat(descriptor))
            if key in _mine() or (inherited is not None and _is_same(inherited, key)):
                yield
                return
            _take(place, descriptor, wait, end)
            # Somebody may have cleaned the file away while we waited: then it locks nobody out.
            if not _is_there(name, at, key):
                continue
            _mine().add(key)
            try:
                yield
                return
            finally:
                _mine().discard(key)
        finally:
            os.close(descriptor)


def _mine() -> set[_Key]:
    if not hasattr(_held, "keys"):
        _held.keys = set()
    found: set[_Key] = _held.keys
    return found


def _key(found: os.stat_result) -> _Key:
    return found.st_dev, found.st_ino


def _is_same(descriptor: int, key: _Key) -> bool:
    with suppress(OSError):
        return _key(os.fstat(descriptor)) == key
    return False


def _is_there(name: str, at: int, key: _Key) -> bool:
    with suppress(OSError):
        return _key(os.stat(name, dir_fd=at, follow_symlinks=False)) == key
    return False


def _opened(place: Place, name: str, at: int) -> int:
    try:
        with missing_is_fine():
            judge(place, look(place, name, at))
        descriptor = os.open(name, _OPEN, 0o600, dir_fd=at)
    except Refused as refusal:
        if refusal.reason.code in ("path-symlink", "path-hard-link"):
            what = f"has a lock file, {echo(name)}, that is a link or has a second name: remove it"
            raise place.refused(refusal.reason.code, what) from None
        raise _unopened(place, name, "it is no regular file") from None
    except OSError as error:
        raise _unopened(place, name, error.strerror or str(error)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _unopened(place, name, "it is no regular file")
    return descriptor


def _unopened(place: Place, name: str, why: str) -> Failed:
    return Failed(
        "state-lock", f"{echo(place.given)}: the lock file {echo(name)} cannot be opened ({why})"
    )


def _take(place: Place, descriptor: int, wait: float, end: float) -> None:
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if clock.monotonic() >= end:
            seconds = f"{wait:.2f}".rstrip("0").rstrip(".")
            why = f"another program has held its lock for {seconds} s"
            raise Unavailable("state-locked", f"{echo(place.given)}: {why}")
        clock.sleep(POLL)

"""Putting new bytes in the place of a file's old ones, whole or not at all.

What may live here: the replacing.  What may not: where a file may lie (``paths``), and what the
bytes mean.

The new bytes go to a file of their own in the same directory, reached from the root part by part
without following links, and take the old one's name and mode once they are on the disk.  The old
file is read again right before that: what somebody else wrote meanwhile is not lost.  Between this
look and the renaming lie microseconds that no system closes.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress

from .paths import FILE, Place, judge, look, walked

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def replace(place: Place, before: bytes, after: bytes) -> None:
    """Let the file at *place*, which held *before*, hold *after*.

    Raises ``Refused``: ``path-changed`` where it holds something else by now, ``path-unwritable``,
    and those of ``paths``.
    """
    *above, name = place.parts
    with walked(place, tuple(above)) as at:
        temporary = f".persist-marker-{secrets.token_hex(8)}"
        try:
            _write(temporary, at, after, _mode(place, name, at, before))
            _mode(place, name, at, before)
            os.rename(temporary, name, src_dir_fd=at, dst_dir_fd=at)
            os.fsync(at)
        except OSError as error:
            raise place.refused(
                "path-unwritable", f"cannot be written ({error.strerror})"
            ) from None
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=at)


def _mode(place: Place, name: str, at: int, before: bytes) -> int:
    """The mode of the file, if it is still what was read."""
    judge(place, look(place, name, at))
    with os.fdopen(os.open(name, FILE, dir_fd=at), "rb") as file:
        found = os.fstat(file.fileno())
        judge(place, found)
        if file.read(len(before) + 1) != before:
            raise place.refused("path-changed", "has changed since it was read: run it again")
    return stat.S_IMODE(found.st_mode)


def _write(name: str, at: int, data: bytes, mode: int) -> None:
    with os.fdopen(os.open(name, _NEW, 0o600, dir_fd=at), "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())

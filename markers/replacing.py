"""Putting new bytes in the place of a file's old ones, whole or not at all.

What may live here: the replacing.  What may not: where a file may lie (``paths``), and what the
bytes mean.

The new bytes go to a file of their own in the same directory, reached from the root part by part
without following links, and take the old one's name, owner and mode once they are on the disk.  The
old file is read again right before that: what somebody else wrote meanwhile is not lost.  Between
this look and the renaming lie microseconds that no system closes.
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

    Raises ``Refused``: ``path-changed`` where it holds something else by now, ``path-owner`` where
    its owner and group cannot be kept, ``path-unwritable``, and those of ``paths``.
    """
    *above, name = place.parts
    with walked(place, tuple(above)) as at:
        temporary = f".persist-marker-{secrets.token_hex(8)}"
        try:
            _write(place, temporary, at, after, _unchanged(place, name, at, before))
            _unchanged(place, name, at, before)
            os.rename(temporary, name, src_dir_fd=at, dst_dir_fd=at)
            os.fsync(at)
        except OSError as error:
            raise place.refused(
                "path-unwritable", f"cannot be written ({error.strerror})"
            ) from None
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=at)


def _unchanged(place: Place, name: str, at: int, before: bytes) -> os.stat_result:
    """What the file is, if it still holds what was read."""
    judge(place, look(place, name, at))
    with os.fdopen(os.open(name, FILE, dir_fd=at), "rb") as file:
        found = os.fstat(file.fileno())
        judge(place, found)
        if file.read(len(before) + 1) != before:
            raise place.refused("path-changed", "has changed since it was read: run it again")
    return found


def _write(place: Place, name: str, at: int, data: bytes, old: os.stat_result) -> None:
    """Write a file whose owner and mode are those of the *old* one."""
    with os.fdopen(os.open(name, _NEW, 0o600, dir_fd=at), "wb") as file:
        file.write(data)
        file.flush()
        _hand_over(place, file.fileno(), old)
        os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
        os.fsync(file.fileno())


def _hand_over(place: Place, descriptor: int, old: os.stat_result) -> None:
    """Give a new file the *old* one's owner and group; raises ``Refused`` where that is denied."""
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) == (old.st_uid, old.st_gid):
        return
    try:
        os.fchown(descriptor, old.st_uid, old.st_gid)
    except OSError:
        owner = f"{old.st_uid}:{old.st_gid}"
        raise place.refused(
            "path-owner",
            f"belongs to {owner}, which a new file cannot be given: run it as its owner",
        ) from None

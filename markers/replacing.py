"""Putting new bytes in the place of a file's old ones, whole or not at all.

What may live here: the replacing.  What may not: where a file may lie (``paths``), and what the
bytes mean.

The new bytes go to a file of their own in the same directory, reached from the root part by part
without following links, and take the old one's name, owner and mode once they are on the disk.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress

from .paths import FILE, Place, judge, look, walked

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
"""How a file is made that must not have been there."""
_NAME = 200
"""Bytes of a name that its temporary neighbour repeats; 255 is the longest that systems take."""


def replace(place: Place, before: bytes, after: bytes) -> None:
    """Let the file at *place*, which held *before*, hold *after*.

    The old file is read again right before it is replaced: what somebody else wrote meanwhile is
    not lost.  Between this look and the renaming lie microseconds that no system closes.

    Raises ``Refused``: ``path-changed`` where it holds something else by now, ``path-owner`` where
    its owner and group cannot be kept, ``path-unwritable``, and those of ``paths``.
    """
    *above, name = place.parts
    with walked(place, tuple(above)) as at:
        old = _unchanged(place, name, at, before)
        put(place, at, name, after, old=old, last=lambda: _unchanged(place, name, at, before))


def put(
    place: Place,
    at: int,
    name: str,
    data: bytes,
    *,
    old: os.stat_result | None,
    mode: int = 0o600,
    last: Callable[[], object] = lambda: None,
) -> None:
    """Let *name* in the directory *at* hold *data*, durably.

    *old* is the file whose owner and mode are kept; without one the mode is *mode*.  *last* is
    called when all is ready but the renaming, and may raise.  Raises ``Refused``
    (``path-owner``, ``path-unwritable``); the temporary file is gone then.
    """
    temporary = f".{_short(name)}.{secrets.token_hex(8)}.tmp"
    try:
        _write(place, temporary, at, data, old, mode)
        last()
        os.rename(temporary, name, src_dir_fd=at, dst_dir_fd=at)
        os.fsync(at)
    except OSError as error:
        raise place.refused("path-unwritable", f"cannot be written ({error.strerror})") from None
    finally:
        with suppress(OSError):  # the first error is the one to tell
            os.unlink(temporary, dir_fd=at)


def _short(name: str) -> str:
    return os.fsdecode(os.fsencode(name)[:_NAME])


def _unchanged(place: Place, name: str, at: int, before: bytes) -> os.stat_result:
    """What the file is, if it still holds what was read."""
    judge(place, look(place, name, at))
    try:
        with os.fdopen(os.open(name, FILE, dir_fd=at), "rb") as file:
            found = os.fstat(file.fileno())
            judge(place, found)
            if file.read(len(before) + 1) != before:
                raise place.refused("path-changed", "has changed since it was read: run it again")
    except OSError as error:
        raise place.refused("path-unwritable", f"cannot be read ({error.strerror})") from None
    return found


def _write(
    place: Place, name: str, at: int, data: bytes, old: os.stat_result | None, mode: int
) -> None:
    """Write a file whose owner and mode are those of the *old* one."""
    with os.fdopen(os.open(name, NEW, 0o600, dir_fd=at), "wb") as file:
        file.write(data)
        file.flush()
        if old is not None:
            _hand_over(place, file.fileno(), old)
        os.fchmod(file.fileno(), mode if old is None else stat.S_IMODE(old.st_mode))
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

"""The logs that hooks leave beside a project: one line for each time.

What may live here: appending a line, whole or not at all.  What may not: what it says.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import Failed
from ..paths import Place, Roots, judge, look, missing_is_fine, walked

CHECKPOINTS = "session-state.checkpoints"
WARNINGS = "survey-guard.warns"
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def append(root: Path, folder: str, name: str, line: str) -> None:
    """Put *line* at the end of ``root/folder/name``, which is made where it is missing.

    No link is followed, and a line that another program left unfinished is ended first.  Raises
    ``Failed`` (``hook-log``) and ``Refused`` (``path-...``).
    """
    place = Place(f"{folder}/{name}", root, (folder, name), Roots((root,)))
    if not root.is_dir():
        raise Failed("hook-log", f"{place.given} cannot be written: {root} is no directory")
    try:
        with walked(place, (folder,), create=True) as at:
            with missing_is_fine():
                judge(place, look(place, name, at))
            descriptor = os.open(name, _APPEND, 0o600, dir_fd=at)
            try:
                _write(place, descriptor, line)
            finally:
                os.close(descriptor)
    except OSError as error:
        raise _failed(place, error.strerror or "it is not known why") from None


def _write(place: Place, descriptor: int, line: str) -> None:
    found = os.fstat(descriptor)
    judge(place, found)
    last = os.pread(descriptor, 1, found.st_size - 1) if found.st_size else b"\n"
    data = (b"" if last == b"\n" else b"\n") + line.encode("utf-8", "replace") + b"\n"
    if os.write(descriptor, data) != len(data):
        raise _failed(place, "the disk took only a part of it")


def _failed(place: Place, why: str) -> Failed:
    return Failed("hook-log", f"{place.given} below {place.root} cannot be written ({why})")

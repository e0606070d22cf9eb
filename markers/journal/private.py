"""Directories and files that only their owner may look into."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_folder(path: Path) -> None:
    """Make *path* and what is missing above it with mode 0700; what exists is left as it is."""
    if path.is_dir():
        return
    make_folder(path.parent)
    try:
        path.mkdir(0o700)
    except FileExistsError:
        if not path.is_dir():
            raise


def make_file(path: Path) -> None:
    """Make an empty file with mode 0600; one that exists is not opened.

    Opening and closing a database behind SQLite's back would drop the locks that this process
    holds on it.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return


def tighten(path: Path, mode: int) -> None:
    """Take away what *mode* grants to group and others."""
    if mode & _OTHERS:
        path.chmod(stat.S_IMODE(mode) & ~_OTHERS)

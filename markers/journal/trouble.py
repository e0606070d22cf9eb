"""What can go wrong with a journal's files, in words that say what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import Unavailable

_ELSEWHERE = "or name another file with MARKERS_JOURNAL"
_ACCESS = f"check the owner and the mode of the file and of its directory, {_ELSEWHERE}"
_WORDS = {
    sqlite3.SQLITE_BUSY: "another process has kept it busy for too long; try again",
    sqlite3.SQLITE_CANTOPEN: f"it cannot be opened; {_ACCESS}",
    sqlite3.SQLITE_PERM: f"it cannot be opened; {_ACCESS}",
    sqlite3.SQLITE_READONLY: f"it cannot be written to; {_ACCESS}",
    sqlite3.SQLITE_FULL: "the disk is full; free some space and try again",
    sqlite3.SQLITE_IOERR: "the disk failed or is full; look at it and try again",
    sqlite3.SQLITE_NOTADB: f"it is not a database; move it away, {_ELSEWHERE}",
    sqlite3.SQLITE_CORRUPT: f"it is damaged; move it away and keep it for a look, {_ELSEWHERE}",
}


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system raise into ``Unavailable`` (``journal``)."""
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the primary code; errors of the Python module itself carry none.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise unusable(path, _WORDS.get(code, f"SQLite says: {error}")) from error
    except OSError as error:
        raise unusable(path, f"{error.strerror}: {error.filename}; {_ACCESS}") from error


def unusable(path: Path, why: str) -> Unavailable:
    """The error for a journal that cannot be used; *why* says what happened and what to do."""
    return Unavailable("journal", f"the journal {path} cannot be used: {why}")


def foreign(path: Path) -> Unavailable:
    """The error for a database that is not ours to touch."""
    return unusable(path, f"it is another program's database; leave it alone {_ELSEWHERE}")

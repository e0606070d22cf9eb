"""What can go wrong with a journal's files, in words that say what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import Refused, Unavailable
from .interface import SCHEMA_VERSION, DamagedJournal

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
}
_DAMAGE = {
    sqlite3.SQLITE_NOTADB: "it is no database any more",
    sqlite3.SQLITE_CORRUPT: "its pages are torn",
    # All statements are ours, and right; what they speak of is not there as we made it.
    sqlite3.SQLITE_ERROR: "its tables are not what they were",
}


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system raise into ``Unavailable`` (``journal``)."""
    try:
        yield
    except sqlite3.Error as error:
        how = torn(error)
        if how is not None and (_code(error) != sqlite3.SQLITE_NOTADB or _was_ours(path)):
            raise damaged(path, how) from error
        raise unusable(path, _WORDS.get(_code(error), f"SQLite says: {error}")) from error
    except UnicodeDecodeError as error:
        # SQLite's complaint quotes the torn bytes, and Python cannot read that.
        raise damaged(path, _DAMAGE[sqlite3.SQLITE_CORRUPT]) from error
    except OSError as error:
        raise unusable(path, f"{error.strerror}: {error.filename}; {_ACCESS}") from error


def torn(error: sqlite3.Error) -> str | None:
    """What is wrong with the file itself, where that is what the error says."""
    return _DAMAGE.get(_code(error))


def _code(error: sqlite3.Error) -> int:
    """The low byte is the primary code; errors of the Python module itself carry none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _was_ours(path: Path) -> bool:
    """Whether a journal has been at *path*: it left its locks there."""
    return lock_folder(path).is_dir()


def lock_folder(path: Path) -> Path:
    """Where the locks of the journal at *path* are."""
    return path.with_name(f"{path.name}.locks")


def unusable(path: Path | str, why: str) -> Unavailable:
    """The error for a journal that cannot be used; *why* says what happened and what to do."""
    return Unavailable("journal", f"the journal {path} cannot be used: {why}")


def damaged(place: Path | str, how: str) -> DamagedJournal:
    """The error for a journal that is not what was written; *how* says in what way."""
    return DamagedJournal(
        "journal",
        f"the journal {place} is damaged: {how}; `persist-marker audit verify` says more, and"
        " `persist-marker doctor --repair-journal` sets it aside so that writing can go on",
    )


def locked_out(key: str, wait: float) -> Unavailable:
    """The error for a thread that another writer holds."""
    return Unavailable(
        "locked-out",
        f"another writer holds {key}, and {wait:.3g} s of waiting did not change that;"
        " try again when it has finished",
    )


def newer(place: Path | str, version: int) -> Refused:
    """The error for a journal of a later version of this program."""
    return Refused(
        "journal-newer",
        f"the journal {place} is of version {version} and this program knows versions up to"
        f" {SCHEMA_VERSION}; upgrade handoff-markers",
    )


def foreign(path: Path) -> Unavailable:
    """The error for a database that is not ours to touch."""
    return unusable(path, f"it is another program's database; leave it alone {_ELSEWHERE}")

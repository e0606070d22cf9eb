"""Opening a SQLite journal: the file, its modes, its version.

What may live here: all that happens before the first statement of ``sqlite``.  Opening a journal
of the current version reads two numbers and does no schema work, since every command pays for it.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from ..errors import Refused
from . import locks
from .interface import SCHEMA_VERSION
from .private import make_file, make_folder, tighten
from .schema import APPLICATION_ID, MIGRATIONS
from .trouble import foreign, unusable

_COMPANIONS = ("", "-wal", "-shm", "-journal")


def lock_folder(path: Path) -> Path:
    """Where the locks of the journal at *path* are."""
    return path.with_name(f"{path.name}.locks")


def found(path: Path, *, patience: float) -> sqlite3.Connection | None:
    """Open the journal at *path*; None where there is none yet."""
    return None if _is_blank(path) else made(path, patience=patience)


def made(path: Path, *, patience: float) -> sqlite3.Connection:
    """Open the journal at *path*, and make or migrate it where needed.

    *patience* is in seconds, for each wait for another process.
    The connection begins no transaction by itself and may be used by any thread, one at a time.
    Raises ``Refused`` (``journal-newer``, ``journal-symlink``), ``Unavailable``, and whatever
    SQLite and the file system raise.
    """
    if _is_blank(path):
        _create(path, patience)
    for suffix in _COMPANIONS:
        _tighten(path.with_name(path.name + suffix))
    db = _connected(path, patience)
    try:
        _bring_up(db, path)
    except BaseException:
        db.close()
        raise
    return db


def _is_blank(path: Path) -> bool:
    """Whether there is no journal at *path* yet; refuses what can never be one."""
    try:
        there = path.lstat()
    except FileNotFoundError:
        return True
    if stat.S_ISLNK(there.st_mode):
        raise _is_link(path)
    if not stat.S_ISREG(there.st_mode):
        raise unusable(path, "it is not a regular file; name another with MARKERS_JOURNAL")
    return there.st_size == 0


def _create(path: Path, patience: float) -> None:
    """Make the file and set what can be set only once.

    SQLite does not wait for others where it changes to WAL, so nobody may be there.  Whoever finds
    no journal queues up for a lock first, and from its first page on the file is held exclusively.
    """
    make_folder(path.parent)
    with locks.hold(lock_folder(path), (f"the new journal {path}",), wait=patience):
        if _is_blank(path):
            make_file(path)
            with closing(_connected(path, patience)) as db:
                db.execute("PRAGMA locking_mode = EXCLUSIVE")
                db.execute("PRAGMA auto_vacuum = INCREMENTAL")
                db.execute("PRAGMA journal_mode = WAL")


def _tighten(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            raise _is_link(path)
        tighten(path, mode)
    except FileNotFoundError:
        return


def _is_link(path: Path) -> Refused:
    return Refused(
        "journal-symlink",
        f"the journal's file {path} is a symbolic link; name the file that it leads to",
    )


def _connected(path: Path, patience: float) -> sqlite3.Connection:
    db = sqlite3.connect(
        os.fspath(path), timeout=patience, isolation_level=None, check_same_thread=False
    )
    # Bytes that are no UTF-8 got in by tampering; the chain is to find them, not to choke on them.
    db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    return db


def _bring_up(db: sqlite3.Connection, path: Path) -> None:
    version = _number(db, "PRAGMA user_version")
    ours = _number(db, "PRAGMA application_id") == APPLICATION_ID
    if not ours and _number(db, "SELECT count(*) FROM sqlite_master"):
        raise foreign(path)
    if version > SCHEMA_VERSION:
        raise Refused(
            "journal-newer",
            f"the journal {path} is of version {version} and this program knows versions up to"
            f" {SCHEMA_VERSION}; upgrade handoff-markers",
        )
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA fullfsync = ON")
    db.execute("PRAGMA foreign_keys = ON")
    if version < SCHEMA_VERSION:
        _migrate(db)


def _migrate(db: sqlite3.Connection) -> None:
    with db:
        db.execute("BEGIN IMMEDIATE")
        version = _number(db, "PRAGMA user_version")
        for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
            for statement in statements:
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {number}")


def _number(db: sqlite3.Connection, question: str) -> int:
    return int(db.execute(question).fetchone()[0])

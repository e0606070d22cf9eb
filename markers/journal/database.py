"""Opening a SQLite journal: the file, its modes, its version.

What may live here: all that happens before the first statement of ``sqlite``.  Opening a journal
of the current version reads two numbers and does no schema work, since every command pays for it.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from contextlib import AbstractContextManager, closing, suppress
from itertools import count
from pathlib import Path

from .. import clock
from ..errors import Refused
from . import locks
from .interface import SCHEMA_VERSION
from .private import make_file, make_folder, tighten
from .schema import APPLICATION_ID, OURS, SQLITE
from .trouble import damaged, foreign, lock_folder, newer, unusable

COMPANIONS = ("", "-wal", "-shm", "-journal")
"""What the names of a journal's files end with."""


def found(path: Path, *, patience: float) -> sqlite3.Connection | None:
    """Open the journal at *path*; None where there is none yet."""
    return None if is_blank(path) else made(path, patience=patience)


def made(path: Path, *, patience: float) -> sqlite3.Connection:
    """Open the journal at *path*, and make or migrate it where needed.

    *patience* is in seconds, for each wait for another process.
    The connection begins no transaction by itself and may be used by any thread, one at a time.
    Raises ``Refused`` (``journal-newer``, ``journal-symlink``), ``Unavailable``, and whatever
    SQLite and the file system raise.
    """
    if is_blank(path):
        _create(path, patience)
    for suffix in COMPANIONS:
        _tighten(path.with_name(path.name + suffix))
    db = _connected(path, patience)
    try:
        _bring_up(db, path)
    except BaseException:
        db.close()
        raise
    return db


def is_blank(path: Path) -> bool:
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
    with alone(path, patience):
        if is_blank(path):
            make_file(path)
            with closing(_connected(path, patience)) as db:
                db.execute("PRAGMA locking_mode = EXCLUSIVE")
                db.execute("PRAGMA auto_vacuum = INCREMENTAL")
                db.execute("PRAGMA journal_mode = WAL")


def alone(path: Path, patience: float) -> AbstractContextManager[object]:
    """Be the only one who makes the journal at *path* or takes it away."""
    return locks.hold(lock_folder(path), (f"the new journal {path}",), wait=patience)


def set_aside(path: Path, now: float) -> Path:
    """Rename the journal's files, so that none is at *path* any more; the new name comes back.

    The caller is ``alone``.  What is no journal's file stays where it is.
    """
    if is_blank(path):
        raise unusable(path, "there is none; nothing was set aside")
    stamp = re.sub("[-:]", "", clock.iso(now))
    names = (f"{path.name}.damaged-{stamp}{'-again' * nth}" for nth in count())
    aside = next(name for name in map(path.with_name, names) if not os.path.lexists(name))
    for suffix in COMPANIONS:
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(f"{aside}{suffix}")
    return aside


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
    with db:
        db.execute("BEGIN")  # one picture: another process may be making the schema meanwhile
        version = _number(db, "PRAGMA user_version")
        if _number(db, "PRAGMA application_id") != APPLICATION_ID:
            _refuse_foreign(db, path)
    if version > SCHEMA_VERSION:
        raise newer(path, version)
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA fullfsync = ON")
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA secure_delete = ON")
    if version < SCHEMA_VERSION:
        _migrate(db)


def _refuse_foreign(db: sqlite3.Connection, path: Path) -> None:
    """Leave another program's database alone; an empty one may become a journal."""
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    if tables >= OURS:
        raise damaged(path, "the mark that tells whose file it is was changed")
    if tables:
        raise foreign(path)


def _migrate(db: sqlite3.Connection) -> None:
    with db:
        db.execute("BEGIN IMMEDIATE")
        version = _number(db, "PRAGMA user_version")
        for number, statements in enumerate(SQLITE[version:], start=version + 1):
            for statement in statements:
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {number}")


def _number(db: sqlite3.Connection, question: str) -> int:
    return int(db.execute(question).fetchone()[0])

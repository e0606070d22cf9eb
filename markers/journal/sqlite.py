"""The journal in a SQLite file: the default, for one machine.

What may live here: what is SQLite's own: connections, transactions, the proof of the newest
entries.  What is kept and how is ``sql``'s, who may write ``locks``', how the file is opened
``database``'s.

``with connection`` commits or rolls back in C, so that Ctrl-C leaves a whole entry or none.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from .. import clock
from ..clock import Deadline
from ..model import AuditRef
from . import chain, database, locks, proof
from .schema import DAMAGED
from .sql import SqlJournal
from .trouble import damaged, explained, lock_folder, torn

BUSY_SECONDS = 10.0
"""How long to wait for another process at most; an append takes milliseconds."""
LEAST_SECONDS = 0.5
"""What is waited even past the deadline, and after a wait in vain: an outcome has to be noted."""
RECENT = 500
"""How many of the newest entries are proven before the first append; later ones prove the newest.

All of a long log would take longer than the write; that is for ``audit verify``.
"""


class SqliteJournal(SqlJournal):
    """A ``Journal`` on the file at *path*, opened when it is first needed.

    *deadline* bounds the waits for other processes, but those that ``lock`` is told.
    """

    def __init__(self, path: Path, *, deadline: Deadline | None = None) -> None:
        super().__init__()
        self.path = path.absolute()
        self._deadline = deadline
        self._waits = BUSY_SECONDS
        self._session: _Session | None = None

    @property
    def place(self) -> str:
        """The file."""
        return str(self.path)

    def exists(self) -> bool:
        """Whether there is a file."""
        return os.path.lexists(self.path)

    def close(self) -> None:
        """Let go of the database; the next call opens it again."""
        with self._mutex, explained(self.path):
            session, self._session = self._session, None
            if session is not None:
                session.db.close()

    def set_aside(self) -> str:
        """Rename the files; whoever has them open notices at its next call."""
        with self._mutex, explained(self.path):
            self.close()
            with database.alone(self.path, self._patience()):
                aside = database.set_aside(self.path, clock.now())
                locks.mark(lock_folder(self.path), DAMAGED, False)
        return str(aside)

    def _condemn(self, problem: str | None) -> None:
        """Leave a mark beside the file, whose own pages may be those that are torn."""
        with self._mutex, explained(self.path):
            locks.mark(lock_folder(self.path), DAMAGED, problem is not None)

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.path)

    @contextmanager
    def _hold(self, keys: Sequence[str], *, wait: float) -> Iterator[_Held]:
        with locks.hold(lock_folder(self.path), keys, wait=wait) as held:
            yield _Held(held, self)

    def is_in_place(self) -> bool:
        """Whether the file that is open is the one at the path; none open is in place."""
        return self._session is None or self._session.is_at(self.path)

    def _found(self, wait: float | None = None) -> _Session | None:
        """The database, for a question; None where there is none yet."""
        self._leave_what_was_moved()
        if self._session is None:
            self._waits = self._patience(wait)
            self._open(database.found(self.path, patience=self._waits))
        return None if self._session is None else self._ready(self._session, wait)

    def _made(self) -> _Session:
        """The database, for who writes."""
        self._leave_what_was_moved()
        if self._session is None:
            self._waits = self._patience()
            self._open(database.made(self.path, patience=self._waits))
        assert self._session is not None  # noqa: S101 - it has just been opened
        return self._ready(self._session)

    def _open(self, db: sqlite3.Connection | None) -> None:
        if db is not None:
            self._session = _Session(db, self.path)

    def _leave_what_was_moved(self) -> None:
        """Nothing may be written to a file that was set aside, or that nobody will find again."""
        if not self.is_in_place():
            self.close()

    def _ready(self, session: _Session, wait: float | None = None) -> _Session:
        if session.db.in_transaction:
            # Only a second Ctrl-C, during the rolling back after a first, leaves one behind.
            session.db.rollback()
        patience = self._patience(wait)
        if patience != self._waits:
            session.db.execute(f"PRAGMA busy_timeout = {patience * 1000:.0f}")
            self._waits = patience
        return session

    def _patience(self, wait: float | None = None) -> float:
        """How long to wait for another process now, in seconds."""
        if wait is not None:
            return wait
        left = BUSY_SECONDS if self._deadline is None else self._deadline.remaining()
        return max(LEAST_SECONDS, min(BUSY_SECONDS, left))


class _Held:
    """Locks on files, together with the journal that they are good for."""

    def __init__(self, held: locks.Locks, journal: SqliteJournal) -> None:
        self._locks, self._journal = held, journal

    def kept(self) -> bool:
        """Whether locks and journal are where others look for them."""
        return self._locks.kept() and self._journal.is_in_place()

    alive = kept


class _Session:
    """An open file."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self.db, self._path = db, path
        self._file = path.lstat()
        self._proven = False

    def is_at(self, path: Path) -> bool:
        """Whether the file is still the one at *path*."""
        try:
            return os.path.samestat(self._file, path.lstat())
        except FileNotFoundError:
            return False

    def ask(self, statement: str, *values: Any) -> list[Any]:
        """All rows that a statement gives."""
        return self.db.execute(statement, values).fetchall()

    def do(self, statement: str, *values: Any) -> None:
        """Change something."""
        self.db.execute(statement, values)

    @contextmanager
    def changing(self, *, alone: bool = True) -> Iterator[_Session]:
        """One transaction; SQLite never has two that change something."""
        del alone
        with self.db:
            self.db.execute("BEGIN IMMEDIATE")
            yield self

    def add(self, draft: chain.Draft) -> Callable[[], AuditRef]:
        """Put an entry at the end of the log."""
        newest = self._newest(1 if self._proven else RECENT)
        self._prove(newest)
        last, previous = (newest[-1].seq, newest[-1].hash) if newest else (0, chain.GENESIS)
        sealed = draft.sealed(last + 1, previous)
        self.do(
            "INSERT INTO audit (seq, entry, hash) VALUES (?, ?, ?)",
            sealed.seq,
            sealed.text,
            sealed.hash,
        )
        return lambda: AuditRef(seq=sealed.seq, hash=sealed.hash)

    def _newest(self, count: int) -> list[chain.Sealed]:
        newest = "SELECT seq, entry, hash FROM audit ORDER BY seq DESC LIMIT ?"
        return [chain.Sealed(*row) for row in reversed(self.ask(newest, count))]

    def _prove(self, newest: list[chain.Sealed]) -> None:
        """Raise ``DamagedJournal`` for damage among the newest entries, or found by a proof."""
        broken = chain.first_break(newest)
        if broken is not None:
            how = f"its entry {broken} was changed, or does not follow from the one before"
            raise damaged(self._path, how)
        if locks.marked(lock_folder(self._path), DAMAGED):
            raise damaged(self._path, "a proof found what was changed")
        self._proven = True

    @contextmanager
    def picture(self) -> Iterator[_Session]:
        """Look at one unmoving picture."""
        self.db.execute("BEGIN")
        try:
            yield self
        finally:
            with suppress(sqlite3.Error):  # torn pages fail here once more
                self.db.rollback()

    def rows(self, statement: str) -> Iterator[Any]:
        """Row by row."""
        try:
            yield from self.db.execute(statement)
        except sqlite3.DatabaseError as error:
            how = torn(error)
            if how is None:
                raise
            raise proof.Torn(how) from error

    def trouble(self) -> str | None:
        """What SQLite finds wrong with its pages and indexes."""
        try:
            [(found,)] = self.db.execute("PRAGMA integrity_check(1)").fetchall()
        except sqlite3.DatabaseError as error:
            if torn(error) is None:
                raise
            return torn(error)
        return None if found == "ok" else str(found)

    def forget(self) -> None:
        """Give dropped pages back; they were overwritten with zeros, and so is the WAL."""
        # As a script: execute() would stop after one page.
        self.db.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")

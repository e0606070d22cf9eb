"""The journal in a SQLite file: the default, for one machine.

What may live here: statements.  What an entry is and how it is proven is ``chain``'s, when a POST
may begin ``pacing``'s, who may write ``locks``', how the file is opened ``database``'s.

The file is made by who is going to write: a question to a journal that is not there, and a memory
for it, leave nothing behind.

Each method is one transaction.  ``with connection`` commits or rolls back in C, so that Ctrl-C
leaves a whole entry or none.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from .. import clock
from ..__about__ import __version__
from ..clock import Deadline
from ..model import AuditRef
from . import chain, database, locks, pacing
from .interface import Entry, Flaw, Kind, Record
from .trouble import explained, unusable

_PAGE = 500
_LARGEST = 2**63 - 1
BUSY_SECONDS = 10.0
"""How long to wait for another process at most; an append takes milliseconds."""
LEAST_SECONDS = 0.5
"""What is waited even past the deadline, and after a wait in vain: an outcome has to be noted."""


class SqliteJournal:
    """A ``Journal`` on the file at *path*, opened when it is first needed.

    *deadline* bounds the waits for other processes, but those that ``lock`` is told.  May be used
    by several threads; not to be carried over a fork.
    """

    def __init__(self, path: Path, *, deadline: Deadline | None = None) -> None:
        self.path = path.absolute()
        self._deadline = deadline
        self._waits = BUSY_SECONDS
        self._db: sqlite3.Connection | None = None
        self._mutex = threading.RLock()

    @contextmanager
    def lock(self, keys: Sequence[str], *, wait: float) -> Iterator[None]:
        """Hold the thread that *keys* name; not reentrant."""
        with self._mutex, explained(self.path):
            self._made()  # for who is going to write: what is learnt until then is kept
        with locks.hold(database.lock_folder(self.path), keys, wait=wait):
            yield

    def append(self, record: Record, *, replaced: str | None = None) -> AuditRef:
        """Add an entry, durably, with the body it replaces."""
        content = None if replaced is None else chain.to_bytes(replaced)
        key = None if content is None else chain.digest(content)
        with self._mutex, explained(self.path), self._made() as db:
            db.execute("BEGIN IMMEDIATE")
            at = chain.stamp(clock.now())
            seq, previous = _end(db)
            sealed = chain.seal(
                record,
                seq=seq + 1,
                at=at,
                version=__version__,
                replaced=key,
                previous=previous,
            )
            db.execute(
                "INSERT INTO audit (seq, entry, hash) VALUES (?, ?, ?)",
                (sealed.seq, sealed.text, sealed.hash),
            )
            if content is not None:
                _keep(db, content, at)
            _list(db, sealed.seq, record, key)
        return AuditRef(seq=sealed.seq, hash=sealed.hash)

    def open_intents(self, keys: Sequence[str] | None = None) -> list[Entry]:
        """Intents without outcome, oldest first; a damaged one is ``Unavailable``."""
        asked = "SELECT seq, entry, hash FROM open_intent JOIN audit USING (seq)"
        if keys is None:
            rows = self._ask(asked)
        else:
            one = f"{asked} WHERE thread = ?"
            rows = [row for key in set(keys) for row in self._ask(one, key)]
        return [self._proven(chain.Sealed(*row)) for row in sorted(rows)]

    def entry(self, seq: int) -> Entry | None:
        """One entry; a damaged one is ``Unavailable``, since nobody should act on it."""
        if seq > _LARGEST:
            return None
        rows = self._ask("SELECT seq, entry, hash FROM audit WHERE seq = ?", seq)
        return self._proven(chain.Sealed(*rows[0])) if rows else None

    def entries(self) -> Iterator[Entry]:
        """All entries, oldest first, as far as they can be read; appending meanwhile is fine."""
        last = 0
        while rows := self._page(last):
            yield from (chain.shown(sealed) for sealed in rows)
            last = rows[-1].seq

    def latest(self, count: int) -> list[Entry]:
        """The newest *count* entries, oldest first, as far as they can be read."""
        newest = "SELECT seq, entry, hash FROM audit ORDER BY seq DESC LIMIT ?"
        rows = self._ask(newest, max(count, 0))
        return [chain.shown(chain.Sealed(*row)) for row in reversed(rows)]

    def body(self, key: str) -> str | None:
        """A replaced body; one that is not what was replaced is ``Unavailable``."""
        rows = self._ask("SELECT content FROM body WHERE key = ?", key)
        if not rows:
            return None
        if not chain.is_body(key, rows[0][0]):
            raise unusable(self.path, f"the body {key} was changed; audit verify says more")
        return chain.from_bytes(rows[0][0])

    def verify(self, head: str | None = None) -> list[Flaw]:
        """Recompute the chain on one unmoving picture of the file."""
        with self._mutex, explained(self.path), self._found() or nullcontext() as db:
            if db is None:
                return chain.verify((), bodies=(), listed={}, head=head)
            db.execute("BEGIN")
            rows = db.execute("SELECT seq, entry, hash FROM audit ORDER BY seq")
            return chain.verify(
                (chain.Sealed(*row) for row in rows),
                bodies=db.execute("SELECT key, content FROM body"),
                listed=dict(db.execute("SELECT seq, thread FROM open_intent")),
                head=head,
            )

    def prune(self, before: float) -> int:
        """Drop bodies last used before that time, also from the disk; open intents keep theirs."""
        with self._mutex, explained(self.path):
            if self._found() is None:
                return 0
            with self._made() as db:
                db.execute("PRAGMA secure_delete = ON")
                db.execute("BEGIN IMMEDIATE")
                dropped = db.execute(
                    "DELETE FROM body WHERE used < ? AND key NOT IN"
                    " (SELECT replaced FROM open_intent WHERE replaced IS NOT NULL)",
                    (chain.stamp(before),),
                ).rowcount
            # As a script: execute() would stop after one page.
            db.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")
        return dropped

    def pace(self, account: str, *, minute: int, hour: int, gap: float) -> float:
        """Reserve the earliest slot that the limits leave; the seconds until it begins."""
        with self._mutex, explained(self.path), self._made() as db:
            db.execute("BEGIN IMMEDIATE")
            now = clock.now()
            db.execute("DELETE FROM pace WHERE start <= ?", (now - pacing.HOUR,))
            taken = db.execute("SELECT start FROM pace WHERE account = ?", (account,))
            start = pacing.earliest(
                (start for (start,) in taken), now=now, minute=minute, hour=hour, gap=gap
            )
            db.execute("INSERT INTO pace (account, start) VALUES (?, ?)", (account, start))
        return start - now

    def recall(self, key: str) -> str | None:
        """A small memory."""
        rows = self._ask("SELECT value FROM memory WHERE key = ?", key)
        return str(rows[0][0]) if rows else None

    def remember(self, key: str, value: str, *, wait: float | None = None) -> None:
        """Keep a small memory; what is known already costs no write."""
        kept = (
            "INSERT INTO memory (key, value) VALUES (?, ?) ON CONFLICT (key)"
            " DO UPDATE SET value = excluded.value WHERE value <> excluded.value"
        )
        self._ask(kept, key, value, wait=wait)

    def close(self) -> None:
        """Let go of the database; the next call opens it again."""
        with self._mutex, explained(self.path):
            db, self._db = self._db, None
            if db is not None:
                db.close()

    def _ask(self, statement: str, *values: str | int, wait: float | None = None) -> list[Any]:
        """All rows that one statement gives; none, and nothing done, where there is no journal."""
        with self._mutex, explained(self.path), self._found(wait) or nullcontext() as db:
            return [] if db is None else db.execute(statement, values).fetchall()

    def _found(self, wait: float | None = None) -> sqlite3.Connection | None:
        """The database, for a question; None where there is none yet."""
        if self._db is None:
            self._waits = self._patience(wait)
            self._db = database.found(self.path, patience=self._waits)
        return None if self._db is None else self._ready(self._db, wait)

    def _made(self) -> sqlite3.Connection:
        """The database, for who writes."""
        if self._db is None:
            self._waits = self._patience()
            self._db = database.made(self.path, patience=self._waits)
        return self._ready(self._db)

    def _ready(self, db: sqlite3.Connection, wait: float | None = None) -> sqlite3.Connection:
        if db.in_transaction:
            # Only a second Ctrl-C, during the rolling back after a first, leaves one behind.
            db.rollback()
        patience = self._patience(wait)
        if patience != self._waits:
            db.execute(f"PRAGMA busy_timeout = {patience * 1000:.0f}")
            self._waits = patience
        return db

    def _patience(self, wait: float | None = None) -> float:
        """How long to wait for another process now, in seconds."""
        if wait is not None:
            return wait
        left = BUSY_SECONDS if self._deadline is None else self._deadline.remaining()
        return max(LEAST_SECONDS, min(BUSY_SECONDS, left))

    def _page(self, after: int) -> list[chain.Sealed]:
        page = "SELECT seq, entry, hash FROM audit WHERE seq > ? ORDER BY seq LIMIT ?"
        return [chain.Sealed(*row) for row in self._ask(page, after, _PAGE)]

    def _proven(self, sealed: chain.Sealed) -> Entry:
        try:
            return chain.opened(sealed)
        except chain.Damaged as damage:
            why = f"its entry {sealed.seq} {damage}; audit verify says more"
            raise unusable(self.path, why) from damage


def _end(db: sqlite3.Connection) -> tuple[int, str]:
    """Number and hash of the newest entry."""
    row = db.execute("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    return (0, chain.GENESIS) if row is None else (row[0], str(row[1]))


def _keep(db: sqlite3.Connection, content: bytes, at: str) -> None:
    """Keep a replaced body, once however often it was replaced."""
    db.execute(
        "INSERT INTO body (key, content, used) VALUES (?, ?, ?)"
        " ON CONFLICT (key) DO UPDATE SET used = max(used, excluded.used)",
        (chain.digest(content), content, at),
    )


def _list(db: sqlite3.Connection, seq: int, record: Record, replaced: str | None) -> None:
    """Bring the list of open intents up to what the new entry says."""
    if record.kind is Kind.INTENT:
        db.execute(
            "INSERT INTO open_intent (seq, thread, replaced) VALUES (?, ?, ?)",
            (seq, record.thread, replaced),
        )
    elif record.intent is not None:
        db.execute("DELETE FROM open_intent WHERE seq = ?", (record.intent,))

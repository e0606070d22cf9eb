"""What a journal does with its database, whichever engine keeps it.

What may live here: statements that both engines understand, and what they add up to.  What may not:
opening, locks, an engine's own words; those are ``sqlite``'s and ``postgres``'.  What an entry is
and how it is proven is ``chain``'s, when a POST may begin ``pacing``'s, what is kept beside the log
``notes``'.

The database is made by who is going to write: a question to a journal that is not there, and a
memory for it, leave nothing behind.  What changes is one transaction, whole or not at all.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress

from .. import clock
from ..__about__ import __version__
from ..errors import MarkersError, Unavailable
from ..model import AuditRef
from . import chain, pacing, proof
from .interface import DamagedJournal, Entry, Flaw, Kind, Record
from .notes import QUEUED, Notes
from .session import Held
from .trouble import damaged

_PAGE = 500
_LARGEST = 2**63 - 1
_ALL = "SELECT seq, entry, hash FROM audit ORDER BY seq"
_KEEP = """INSERT INTO body (key, content, used) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET used = excluded.used WHERE body.used < excluded.used"""
_LIST = """INSERT INTO open_intent (seq, thread, replaced, noted)
    SELECT max(seq), ?, ?, ? FROM audit"""
_OLD = """FROM body WHERE used < ? AND key NOT IN
    (SELECT replaced FROM open_intent WHERE replaced IS NOT NULL)"""
_OPEN = "SELECT seq, entry, hash FROM open_intent JOIN audit USING (seq)"
UNDER_LOCK = (_OPEN, QUEUED)
"""What a writer asks of a thread as soon as it holds the lock."""


class SqlJournal(Notes):
    """A ``Journal`` without the engine.  May be used by several threads; not over a fork."""

    def __init__(self) -> None:
        self._mutex = threading.RLock()
        self._mine = threading.local()

    @property
    @abstractmethod
    def place(self) -> str:
        """Where it is, for people to read."""

    @abstractmethod
    def _hold(self, keys: Sequence[str], *, wait: float) -> AbstractContextManager[Held]:
        """Hold the locks of all *keys*."""

    @abstractmethod
    def _condemn(self, problem: str | None) -> None:
        """Let nobody append to a log that a proof found to be damaged; None lets them again."""

    def _now(self) -> float:
        """The time by the clock that all share who share the journal; the database is open."""
        return clock.now()

    @contextmanager
    def lock(self, keys: Sequence[str], *, wait: float) -> Iterator[None]:
        """Hold the thread that *keys* name; not reentrant."""
        with self._mutex, self._explained():
            self._made()  # for who is going to write: what is learnt until then is kept
        with self._hold(keys, wait=wait) as held:
            mine = self._held()
            mine.append(held)
            try:
                yield
            finally:
                mine.remove(held)

    def check_lock(self) -> None:
        """Make sure that the locks of this thread of execution still keep others out."""
        if not all(held.alive() for held in self._held()):
            raise _lock_lost()

    def append(self, record: Record, *, replaced: str | None = None) -> AuditRef:
        """Add an entry, durably, with the body it replaces."""
        content = None if replaced is None else chain.to_bytes(replaced)
        key = None if content is None else chain.digest(content)
        with self._mutex, self._explained():
            session = self._made()
            if record.kind is Kind.INTENT and not all(held.kept() for held in self._held()):
                raise _lock_lost()
            with session.changing() as db:
                at = chain.stamp(clock.now())
                added = db.add(chain.draft(record, at=at, version=__version__, replaced=key))
                if content is not None:
                    db.do(_KEEP, key, content, chain.stamp(self._now()))
                if record.kind is Kind.INTENT:
                    db.do(_LIST, record.thread, key, self._now())
                elif record.intent is not None:
                    db.do("DELETE FROM open_intent WHERE seq = ?", record.intent)
            return added()

    def open_intents(self, keys: Sequence[str] | None = None) -> list[Entry]:
        """Intents without outcome, oldest first; a damaged one is ``DamagedJournal``."""
        found = [self._stored(row) for row in self._ask_of(_OPEN, keys)]
        return [self._proven(sealed) for sealed in sorted(found, key=lambda each: each.seq)]

    def age(self, entry: Entry) -> float:
        """How many seconds ago an open intent was appended, by the clock that all share."""
        rows = self._ask("SELECT noted FROM open_intent WHERE seq = ?", entry.seq)
        # Version 1 noted no time beside the entry's own.
        noted = rows[0][0] if rows else None
        return self._now() - (clock.epoch(entry.at) if noted is None else float(noted))

    def entry(self, seq: int) -> Entry | None:
        """One entry; a damaged one is ``DamagedJournal``, since nobody should act on it."""
        if seq > _LARGEST:
            return None
        rows = self._ask("SELECT seq, entry, hash FROM audit WHERE seq = ?", seq)
        return self._proven(self._stored(rows[0])) if rows else None

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
        return [chain.shown(self._stored(row)) for row in reversed(rows)]

    def body(self, key: str) -> str | None:
        """A replaced body; one that is not what was replaced is ``DamagedJournal``."""
        rows = self._ask("SELECT content FROM body WHERE key = ?", key)
        if not rows:
            return None
        if not chain.is_body(key, rows[0][0]):
            raise self._damaged(f"the body {key} was changed")
        return chain.from_bytes(rows[0][0])

    def verify(self, head: str | None = None) -> list[Flaw]:
        """Recompute the chain on one unmoving picture of the database."""
        try:
            found = self._prove(head)
        except DamagedJournal as error:
            found = proof.Proof([Flaw(seq=1, problem=f"entry 1 cannot be read: {error}")], [])
        with suppress(MarkersError):  # where nothing can be written nobody needs to be stopped
            self._condemn(found.flaws[0].problem if found.flaws else None)
        return found.flaws + found.cut_off

    def _prove(self, head: str | None) -> proof.Proof:
        with self._mutex, self._explained():
            session = self._found()
            if session is None:
                return proof.verify((), bodies=(), listed=(), head=head)
            with session.picture() as seen:
                return proof.verify(
                    (self._stored(row) for row in seen.rows(_ALL)),
                    bodies=seen.rows("SELECT key, content FROM body"),
                    listed=seen.rows("SELECT seq, thread FROM open_intent"),
                    head=head,
                    trouble=seen.trouble(),
                )

    def prune(self, before: float) -> int:
        """Drop bodies last used before that time; open intents keep theirs."""
        with self._mutex, self._explained():
            session = self._found()
            if session is None:
                return 0
            # By the clock that all share: what matters is how long ago it was.
            limit = chain.stamp(self._now() - (clock.now() - before))
            with session.changing() as db:
                [(dropped,)] = db.ask(f"SELECT count(*) {_OLD}", limit)
                db.do(f"DELETE {_OLD}", limit)
            session.forget()
        return int(dropped)

    def pace(self, account: str, *, minute: int, hour: int, gap: float) -> float:
        """Reserve the earliest slot that the limits leave; the seconds until it begins."""
        with self._mutex, self._explained(), self._made().changing() as db:
            taken = db.ask("SELECT start FROM pace WHERE account = ?", account)
            now = self._now()
            start = pacing.earliest(
                (start for (start,) in taken), now=now, minute=minute, hour=hour, gap=gap
            )
            db.do("DELETE FROM pace WHERE start <= ?", now - pacing.HOUR)
            db.do("INSERT INTO pace (account, start) VALUES (?, ?)", account, start)
        return start - now

    def _page(self, after: int) -> list[chain.Sealed]:
        page = "SELECT seq, entry, hash FROM audit WHERE seq > ? ORDER BY seq LIMIT ?"
        return [self._stored(row) for row in self._ask(page, after, _PAGE)]

    def _stored(self, row: tuple[int, str, str]) -> chain.Sealed:
        """An entry as it is stored; damage to the table's own description takes the numbers."""
        if not isinstance(row[0], int):
            raise self._damaged("its entries have lost their numbers")
        return chain.Sealed(*row)

    def _proven(self, sealed: chain.Sealed) -> Entry:
        try:
            return chain.opened(sealed)
        except chain.Damaged as damage:
            raise self._damaged(f"its entry {sealed.seq} {damage}") from damage

    def _damaged(self, how: str) -> DamagedJournal:
        return damaged(self.place, how)

    def _held(self) -> list[Held]:
        """The locks that this thread of execution has taken."""
        held: list[Held] = self._mine.__dict__.setdefault("held", [])
        return held


def _lock_lost() -> Unavailable:
    return Unavailable(
        "lock-lost",
        "the lock on the thread was lost while it was held (the journal was moved away, or the"
        " database ended our session), so that another writer may hold it; try again",
    )

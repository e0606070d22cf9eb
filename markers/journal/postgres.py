"""The journal on PostgreSQL: for many machines that share one.

What may live here: when a session begins and ends, which locks are taken, what errors become.
What is kept and how is ``sql``'s, how the server is spoken to ``postgres_session``'s.

A lock belongs to the database session that took it.  All that this journal asks goes through one
session, so that an intent that was appended also proves that the lock still holds.  A session that
ends takes its locks along: the next call begins another, and who held a lock is told so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

from .. import clock
from ..clock import Deadline
from ..errors import Unavailable
from ..model import AuditRef
from . import pacing
from .address import Address
from .answers import CORRUPT, TAKEN, words
from .driver import connect, driver_error, state_of
from .interface import SCHEMA_VERSION, Kind, Record
from .locks import FIRST_PAUSE
from .postgres_session import Session, number
from .schema import DAMAGED
from .sql import UNDER_LOCK, SqlJournal
from .trouble import damaged, locked_out, unusable

BUSY_SECONDS = 10.0
"""How long to wait for the server or another process at most; an append takes milliseconds."""
LEAST_SECONDS = 2.0
"""What is waited even past the deadline: an outcome has to be noted, maybe by a new session."""
LONGEST_PAUSE = 0.2
_FREE = """INSERT INTO pace (account, start) SELECT ?, ?
    WHERE NOT EXISTS (SELECT FROM pace WHERE account = ? AND start > ?)
    AND (SELECT count(*) FROM pace WHERE account = ? AND start > ?) < ?
    AND (SELECT count(*) FROM pace WHERE account = ? AND start > ?) < ?
    RETURNING start"""


class PostgresJournal(SqlJournal):
    """A ``Journal`` in the database at *address*, connected to when it is first needed.

    *deadline* bounds the waits for the server, but those that ``lock`` is told.
    Raises ``Refused`` (``journal-driver``) where psycopg is not installed.
    """

    def __init__(self, address: Address, *, deadline: Deadline | None = None) -> None:
        super().__init__()
        self.address = address
        self._error = driver_error()
        self._deadline = deadline
        self._session: Session | None = None
        self._time: Callable[[], float] = clock.now
        self._taken: set[int] = set()
        """The locks that threads of this process hold: the server would give them out again."""

    @property
    def place(self) -> str:
        """The address, without a password."""
        return str(self.address)

    def exists(self) -> bool:
        """Whether the database has our tables."""
        with self._mutex, self._explained():
            return self._found() is not None

    def append(self, record: Record, *, replaced: str | None = None) -> AuditRef:
        """Add an entry; an outcome is told to a new session where the old one has just ended."""
        try:
            return super().append(record, replaced=replaced)
        except Unavailable:
            if record.kind is Kind.INTENT or self._session is not None:
                raise
        return super().append(record, replaced=replaced)

    def pace(self, account: str, *, minute: int, hour: int, gap: float) -> float:
        """Reserve the earliest slot: in one round trip where it is now."""
        with self._mutex, self._explained():
            session = self._made()
            now = self._now()
            with session.changing() as db:
                db.do("DELETE FROM pace WHERE start <= ?", now - pacing.HOUR)
                free = db.later(
                    _FREE,
                    *(account, now, account, now - gap),
                    *(account, now - pacing.MINUTE, minute, account, now - pacing.HOUR, hour),
                )
            if free():
                return 0.0
        return super().pace(account, minute=minute, hour=hour, gap=gap)

    def close(self) -> None:
        """Let go of the session, and of the locks that it holds; the next call begins another."""
        with self._mutex:
            session, self._session = self._session, None
            self._taken.clear()
            if session is not None:
                session.close()

    def set_aside(self) -> str:
        """Rename the schema; whoever has a session open notices at its next call."""
        with self._mutex, self._explained():
            session = self._found()
            if session is None:
                raise unusable(self.place, "there is none; nothing was set aside")
            name = session.set_aside(clock.now())
            self.close()
        return f"schema {name} of {self.place}"

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what the driver raises into our own errors, without a trace of its text."""
        try:
            yield
        except self._error as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> Unavailable:
        connecting, state = self._session is None, state_of(error)
        if self._session is not None and (state in TAKEN or not self._session.usable()):
            self.close()
        if state in CORRUPT:
            return damaged(self.place, "its newest entry was changed, or the server's files were")
        return unusable(self.place, words(state, str(error), connecting=connecting))

    def _ask_of(self, statement: str, keys: Sequence[str] | None) -> list[Any]:
        """Rows of threads; what was answered along with the lock is not asked again."""
        with self._mutex:
            told = {} if self._session is None else self._session.told
            answer = told.pop((statement, tuple(sorted(set(keys or ())))), None)
        return super()._ask_of(statement, keys) if answer is None else answer

    def _condemn(self, problem: str | None) -> None:
        """Remember it where a trigger looks."""
        if problem is not None:
            self.remember(DAMAGED, problem.encode("ascii", "backslashreplace").decode())
        elif self.recall(DAMAGED) is not None:
            with self._mutex, self._explained(), self._made().changing(alone=False) as db:
                db.do("DELETE FROM memory WHERE key = ?", DAMAGED)

    def _now(self) -> float:
        """The database's own time, as the newest session was told it."""
        return self._time()

    def _found(self, wait: float | None = None) -> Session | None:
        """The database, for a question; None where it has no tables of ours yet."""
        session = self._ready(wait)
        if session.version == 0:
            session.look(self.place)
        return session if session.version else None

    def _made(self) -> Session:
        """The database, for who writes."""
        session = self._ready()
        if session.version < SCHEMA_VERSION:
            session.migrate(self.place)
        return session

    def _ready(self, wait: float | None = None) -> Session:
        """A session that is not known to have ended."""
        left = BUSY_SECONDS if self._deadline is None else self._deadline.remaining()
        patience = max(LEAST_SECONDS, min(BUSY_SECONDS, left))
        if self._session is not None and not self._session.usable():
            self.close()
        if self._session is None:
            session = Session(connect(self.address, patience))
            try:
                session.look(self.place)
            except BaseException:
                session.close()
                raise
            self._session, self._time = session, session.now
        self._session.patience = patience
        self._session.lock_wait = patience if wait is None else wait
        return self._session

    @contextmanager
    def _hold(self, keys: Sequence[str], *, wait: float) -> Iterator[_Held]:
        """Take the locks in sorted order, so that two holders never wait for each other.

        The waiting is done here and not in the server, since another thread needs the session to
        give back what this one waits for.
        """
        held = _Held(self, sorted(set(keys)))
        end, pause = clock.monotonic() + wait, FIRST_PAUSE
        try:
            while not self._take(held):
                left = end - clock.monotonic()
                if left <= 0:
                    raise locked_out(held.names[held.count], wait)
                clock.sleep(min(pause, left))
                pause = min(pause * 1.5, LONGEST_PAUSE)
            yield held
        finally:
            self._give_back(held)

    def _take(self, held: _Held) -> bool:
        """Try to take what is missing; whether all is held now."""
        with self._mutex, self._explained():
            session = self._ready()
            if held.session is not session:
                held.session, held.count = session, 0
            missing = held.numbers[held.count :]
            free = list(takewhile(lambda each: each not in self._taken, missing))
            took = session.take(free, held.names, UNDER_LOCK) if free else 0
            self._taken.update(free[:took])
            held.count += took
            return held.count == len(held.numbers)

    def _give_back(self, held: _Held) -> None:
        """Let go; a session that cannot be told to ends, and its locks with it."""
        with self._mutex:
            session, numbers = held.session, held.numbers[: held.count]
            if session is None or session is not self._session:
                return
            self._taken.difference_update(numbers)
            try:
                session.give_back(numbers)
            except self._error:
                self.close()

    def holds_with(self, session: Session | None, *, ask: bool) -> bool:
        """Whether *session* is the one in use, and (where that is asked) alive."""
        with self._mutex:
            return session is not None and session is self._session and (not ask or session.lives())


class _Held:
    """The locks of one thread: those of *numbers* that are held, the first *count*."""

    def __init__(self, journal: PostgresJournal, names: list[str]) -> None:
        self.names, self.numbers = names, [number(name) for name in names]
        self.count = 0
        self.session: Session | None = None
        self._journal = journal

    def kept(self) -> bool:
        """Whether the session that took them has not been given up."""
        return self._journal.holds_with(self.session, ask=False)

    def alive(self) -> bool:
        """Whether it lives, as far as the server knows."""
        return self._journal.holds_with(self.session, ask=True)

"""One session of a PostgreSQL server: what is said to it, and in how many round trips.

What may live here: transactions, taking and giving back locks, the schema.  What may not: which
locks a caller needs, what to do when a session ends (``postgres``), psycopg (``driver``).

A round trip over a network costs more than the statement, so that statements of which none needs
another's answer go out together (a *pipeline*).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from .. import clock
from ..model import AuditRef
from . import chain, proof
from .answers import CORRUPT
from .driver import answering, driver_error, is_up, state_of
from .interface import SCHEMA_VERSION
from .schema import POSTGRES, POSTGRES_MARK, POSTGRES_SCHEMA
from .trouble import newer, unusable

if TYPE_CHECKING:
    from .driver import Line

OLDEST_SERVER = 15
DEAD_AFTER = 25
"""Seconds after which the server gives up a silent client, and frees its locks."""
GRACE = 1.0
"""Seconds that the server gets to say itself that a wait was too long."""
_ALIVE = 1.0
"""Seconds for which an answered statement proves that the session lives."""
_SETTINGS = {
    "search_path": f"{POSTGRES_SCHEMA}, pg_temp",
    "default_transaction_isolation": "read committed",
    # A client that died without a word holds its locks until the server notices.
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": f"{DEAD_AFTER * 1000}",
    # One that was stopped in the middle of a change must not stop everybody.
    "idle_in_transaction_session_timeout": "10000",
}
_LOOK = """SELECT pg_backend_pid(), extract(epoch FROM clock_timestamp())::float8,
    obj_description(to_regnamespace(?), 'pg_namespace'),
    EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace(?))"""
_DURABLE = """SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'"""
_TORN = frozenset({*CORRUPT, "25P02"})
"""Damage, and what every further question in the same transaction is answered with."""
_NEWEST = f"""(SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1)
    UNION ALL SELECT 0, '{chain.GENESIS}' ORDER BY seq DESC LIMIT 1"""  # noqa: S608 - ours
_APPEND = f"""INSERT INTO audit (seq, entry, hash)
    SELECT seq, entry, encode(sha256(convert_to(entry, 'UTF8')), 'hex') FROM (
        SELECT seq + 1 AS seq, ? || hash || ? || (seq + 1) || ? AS entry FROM ({_NEWEST}) AS newest
    ) AS sealed RETURNING seq, hash"""  # noqa: S608 - constants of ours


class Session:
    """A session and what is known of it; raises what the driver raises."""

    def __init__(self, db: Line) -> None:
        self.db = db
        self.version = 0
        """Of the tables; 0 where there are none."""
        self.patience = self.lock_wait = 10.0
        """Seconds to wait for an answer at most, and for others to end their changes."""
        self.told: dict[tuple[str, tuple[str, ...]], list[Any]] = {}
        """Answers that came along with a lock, for who asks under it."""
        self._pid = 0
        self._ahead = 0.0
        self._proven = clock.monotonic()

    def now(self) -> float:
        """The server's time, as it was told at the beginning and has passed here since."""
        return clock.monotonic() + self._ahead

    def close(self) -> None:
        """End it."""
        self.db.close()

    def usable(self) -> bool:
        """Whether it can be used, as far as can be told without asking the server."""
        return is_up(self.db)

    def lives(self) -> bool:
        """Whether it still is the server's session that took the locks."""
        if clock.monotonic() - self._proven <= _ALIVE:
            return self.usable()
        with suppress(driver_error()):
            return self.ask("SELECT pg_backend_pid()") == [(self._pid,)]
        return False

    def ask(self, statement: str, *values: Any) -> list[Any]:
        """All rows that a statement gives."""
        with self._bounded():
            return self.later(statement, *values)()

    def do(self, statement: str, *values: Any) -> None:
        """Send a statement of a transaction along with the next."""
        self.later(statement, *values)

    def later(self, statement: str, *values: Any) -> Callable[[], list[Any]]:
        """Send a statement; its rows can be asked for when the transaction has ended."""
        return self.db.execute(statement.replace("?", "%s"), values).fetchall

    def add(self, draft: chain.Draft) -> Callable[[], AuditRef]:
        """Put an entry at the end of the log; the server seals it, and a trigger proves the end."""
        added = self.later(_APPEND, *draft.parts)
        return lambda: _ref(*added()[0])

    @contextmanager
    def changing(self, *, alone: bool = True) -> Iterator[Session]:
        """One transaction, in one round trip where nothing is asked in between."""
        self.told.clear()
        wait = f"{self.lock_wait * 1000:.0f}"
        try:
            with self._bounded(), self.db.pipeline():
                self.do("BEGIN")
                self.do("SELECT set_config('lock_timeout', ?, true)", wait)
                if alone:
                    self.do("LOCK TABLE audit IN SHARE ROW EXCLUSIVE MODE")
                yield self
                self.do("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        """Leave a failed transaction; where that fails the session is of no use any more."""
        try:
            with self._bounded():
                self.db.rollback()
        except driver_error():
            self.close()

    @contextmanager
    def picture(self) -> Iterator[Session]:
        """Look at one unmoving picture."""
        with self._bounded():
            self.do("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield self
        finally:
            self._roll_back()

    def rows(self, statement: str) -> Iterator[Any]:
        """Row by row, a hundred at a time."""
        try:
            with self.db.cursor(name="picture") as cursor:
                yield from cursor.execute(statement)
        except driver_error() as error:
            if state_of(error) not in _TORN:
                raise
        else:
            return
        raise proof.Torn("the server finds its files damaged")

    def trouble(self) -> str | None:
        """The server watches its own files."""
        return None

    def forget(self) -> None:
        """The server gives the space back in its own time."""

    def look(self, place: str) -> None:
        """See whose tables are there and how new they are; prepare the session on the way.

        Raises ``Refused`` (``journal-newer``), ``Unavailable`` (``journal``).
        """
        with self._bounded(), self.db.pipeline():
            for name, value in _SETTINGS.items():
                self.do("SELECT set_config(?, ?, false)", name, value)
            self.do(_DURABLE)
            seen = self.later(_LOOK, POSTGRES_SCHEMA, POSTGRES_SCHEMA)
        [(self._pid, now, mark, filled)] = seen()
        self._ahead = now - clock.monotonic()
        self.version = _version(mark, filled, place)
        _fitting(self.db, place)

    def migrate(self, place: str) -> None:
        """Make the tables, or bring them up to this version; whoever comes second finds them."""
        with self.changing(alone=False) as db:
            db.do("SELECT pg_advisory_xact_lock(?)", number(f"the tables of {POSTGRES_SCHEMA}"))
            [(_, _, mark, filled)] = db.ask(_LOOK, POSTGRES_SCHEMA, POSTGRES_SCHEMA)
            self.version = _version(mark, filled, place)
            if self.version == 0:
                db.do(f"CREATE SCHEMA IF NOT EXISTS {POSTGRES_SCHEMA}")
            for script in POSTGRES[self.version :]:
                for statement in script:
                    db.do(statement)
            mark = f"{POSTGRES_MARK}{SCHEMA_VERSION}"
            db.do(f"COMMENT ON SCHEMA {POSTGRES_SCHEMA} IS '{mark}'")
        self.version = SCHEMA_VERSION

    def set_aside(self, now: float) -> str:
        """Give the schema another name; the answer is that name."""
        stamp = "".join(c for c in clock.iso(now).lower() if c.isalnum())
        name = f"{POSTGRES_SCHEMA}_damaged_{stamp}"
        with self.changing() as db:
            while db.ask("SELECT to_regnamespace(?) IS NOT NULL", name) == [(True,)]:
                name += "_again"
            db.do(f"ALTER SCHEMA {POSTGRES_SCHEMA} RENAME TO {name}")
        return name

    def take(self, numbers: Sequence[int], names: Sequence[str], also: Sequence[str]) -> int:
        """Try to take locks in this order, up to the first that somebody holds; how many it took.

        What is asked next under them is asked along: of each statement in *also*, the rows of the
        threads that *names* are.
        """
        tried = str(len(numbers))
        for at in reversed(range(len(numbers))):
            tried = f"CASE WHEN pg_try_advisory_lock(?) THEN {tried} ELSE {at} END"
        with self._bounded(), self.db.pipeline():
            took = self.later(f"SELECT {tried}", *numbers)
            answers = {each: self.later(f"{each} WHERE thread = ANY(?)", names) for each in also}
        self.told = {(each, tuple(names)): answer() for each, answer in answers.items()}
        return int(took()[0][0])

    def give_back(self, numbers: Sequence[int]) -> None:
        """Let go of locks."""
        self.told.clear()
        self.ask("SELECT pg_advisory_unlock(number) FROM unnest(?::bigint[]) AS number", numbers)

    @contextmanager
    def _bounded(self) -> Iterator[None]:
        with answering(self.db, within=self.patience + GRACE):
            yield
        self._proven = clock.monotonic()


def _ref(seq: int, sealed: str) -> AuditRef:
    return AuditRef(seq=seq, hash=sealed)


def number(key: str) -> int:
    """The advisory lock of a key; others who use the database have locks of theirs."""
    return int.from_bytes(
        hashlib.sha256(f"handoff-markers {key}".encode()).digest()[:8], signed=True
    )


def _version(mark: str | None, filled: bool, place: str) -> int:
    """Of the tables that are there; an empty schema may become a journal."""
    if mark is None and not filled:
        return 0
    found = (mark or "").removeprefix(POSTGRES_MARK)
    if not (mark or "").startswith(POSTGRES_MARK) or not found.isdecimal():
        raise unusable(place, f"its schema {POSTGRES_SCHEMA} is not ours; name another database")
    if int(found) > SCHEMA_VERSION:
        raise newer(place, int(found))
    return int(found)


def _fitting(db: Line, place: str) -> None:
    if db.info.server_version < OLDEST_SERVER * 10_000:
        raise unusable(place, f"it needs PostgreSQL {OLDEST_SERVER} or newer")
    if db.info.parameter_status("server_encoding") != "UTF8":
        raise unusable(place, "its database is not UTF-8; create one with ENCODING 'UTF8'")

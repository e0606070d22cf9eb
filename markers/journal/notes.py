"""What a journal keeps beside its log: small memories, queued writes, and bases.

What may live here: statements that both engines understand, over tables that may forget.  What may
not: the log and its chain (``sql``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from threading import RLock
from typing import Any

from .. import clock
from ..codec import sha256
from . import chain
from .interface import Base, DamagedJournal, Queued
from .session import Session

_REMEMBER = """INSERT INTO memory (key, value) VALUES (?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE memory.value <> excluded.value"""
QUEUED = "SELECT id, at, thread, content, problem FROM queue"
_ENQUEUE = "INSERT INTO queue (id, at, thread, content) VALUES (?, ?, ?, ?)"
_SET_BASE = "INSERT INTO base (key, copy, comment, sha256, content, at) VALUES (?, ?, ?, ?, ?, ?)"


class Notes(ABC):
    """The half of a ``Journal`` that is no log, without the engine."""

    _mutex: RLock

    @abstractmethod
    def _found(self, wait: float | None = None) -> Session | None:
        """The database, for a question; None where there is none yet."""

    @abstractmethod
    def _made(self) -> Session:
        """The database, for who writes."""

    @abstractmethod
    def _explained(self) -> AbstractContextManager[None]:
        """Say in our own words what the engine raises."""

    @abstractmethod
    def _damaged(self, how: str) -> DamagedJournal:
        """What to raise for what is not what was written."""

    def recall(self, key: str) -> str | None:
        """A small memory."""
        rows = self._ask("SELECT value FROM memory WHERE key = ?", key)
        return str(rows[0][0]) if rows else None

    def recall_all(self, keys: Sequence[str]) -> dict[str, str]:
        """Those of several small memories that there are, in one question."""
        if not keys:
            return {}
        marks = ", ".join("?" * len(keys))
        several = f"SELECT key, value FROM memory WHERE key IN ({marks})"  # noqa: S608 - only marks
        rows = self._ask(several, *keys)
        return {str(key): str(value) for key, value in rows}

    def remember(self, key: str, value: str, *, wait: float | None = None) -> None:
        """Keep a small memory, where there is a journal."""
        with self._mutex, self._explained():
            session = self._found(wait)
            if session is not None:
                with session.changing(alone=False) as db:
                    db.do(_REMEMBER, key, value)

    def enqueue(self, thread: str, order: str) -> int:
        """Keep a write for later, durably; the answer is its id."""
        with self._mutex, self._explained(), self._made().changing() as db:
            db.do("UPDATE tally SET last = last + 1 WHERE name = 'queue'")
            [(given,)] = db.ask("SELECT last FROM tally WHERE name = 'queue'")
            at = chain.stamp(clock.now())
            db.do(_ENQUEUE, given, at, thread, chain.to_bytes(order))
        return int(given)

    def queued(self, keys: Sequence[str] | None = None) -> list[Queued]:
        """The writes that wait, in order of id; of these threads, or of all."""
        rows = self._ask_of(QUEUED, keys)
        return [_queued(*row) for row in sorted(rows)]

    def dequeue(self, id: int) -> bool:  # noqa: A002 - the field's own name
        """Take a write out of the queue, its text with it; false where it is gone already."""
        with self._mutex, self._explained():
            session = self._found()
            if session is None:
                return False
            with session.changing() as db:
                there = db.ask("SELECT id FROM queue WHERE id = ?", id)
                db.do("DELETE FROM queue WHERE id = ?", id)
            session.forget()
        return bool(there)

    def note(self, id: int, problem: str | None) -> None:  # noqa: A002 - the field's own name
        """Keep why a queued write could not be delivered; None takes the note back."""
        kept = None if problem is None else chain.to_bytes(problem)
        with self._mutex, self._explained():
            session = self._found()
            if session is not None:
                with session.changing(alone=False) as db:
                    db.do("UPDATE queue SET problem = ? WHERE id = ?", kept, id)

    def base(self, keys: Sequence[str]) -> Base | None:
        """What both sides held last; the last of *keys* that is known decides."""
        with self._mutex, self._explained():
            if self._found() is None:
                return None
            marks = ", ".join("?" * len(keys))
            several = f"SELECT key, comment, sha256, content, at FROM base WHERE key IN ({marks})"  # noqa: S608 - only marks
            # Tables of an older version are brought up first.
            rows = {row[0]: row for row in self._made().ask(several, *keys)}
        known = next((rows[key] for key in reversed(keys) if key in rows), None)
        if known is None:
            return None
        key, comment, digest, content, at = known
        text = chain.from_bytes(content)
        if sha256(text) != digest:
            raise self._damaged("a base text was changed")
        return Base(key=key, sha256=digest, text=text, comment_id=comment, at=at)

    def set_base(
        self,
        keys: Sequence[str],
        text: str,
        *,
        copy: str | None = None,
        comment_id: int | None = None,
    ) -> None:
        """Keep what both sides hold now, durably, under the last of *keys* and no other."""
        kept = (sha256(text), chain.to_bytes(text), chain.stamp(clock.now()))
        with self._mutex, self._explained(), self._made().changing(alone=False) as db:
            for name in keys:
                db.do("DELETE FROM base WHERE key = ?", name)
            db.do("DELETE FROM base WHERE copy = ?", copy)
            db.do(_SET_BASE, keys[-1], copy, comment_id, *kept)

    def _ask(self, statement: str, *values: Any) -> list[Any]:
        """All rows that one statement gives; none where there is no journal."""
        with self._mutex, self._explained():
            session = self._found()
            return [] if session is None else session.ask(statement, *values)

    def _ask_of(self, statement: str, keys: Sequence[str] | None) -> list[Any]:
        """The same of the threads that *keys* name, or of all."""
        if keys is None:
            return self._ask(statement)
        threads = sorted(set(keys))
        marks = ", ".join("?" * len(threads))
        return self._ask(f"{statement} WHERE thread IN ({marks})", *threads) if threads else []


def _queued(id: int, at: str, thread: str, content: bytes, problem: bytes | None) -> Queued:  # noqa: A002 - the field's own name
    return Queued(
        id=id,
        at=at,
        thread=thread,
        order=chain.from_bytes(content),
        problem=None if problem is None else chain.from_bytes(problem),
    )

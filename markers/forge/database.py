"""The SQLite connection under the forge: one connection, one lock, nested transactions.

What may live here: the schema and how statements are run.  What may not: what they mean.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FIRST_COMMENT = 5_000_000_000
"""Ids are ascending and above 2^32, as GitHub's have been for long."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS users (
    id INTEGER PRIMARY KEY, login TEXT NOT NULL UNIQUE COLLATE NOCASE,
    type TEXT NOT NULL, app TEXT);
CREATE TABLE IF NOT EXISTS tokens (
    value TEXT PRIMARY KEY, user_id INTEGER NOT NULL, kind TEXT NOT NULL, writes INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS repos (
    id INTEGER PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, private INTEGER NOT NULL,
    archived INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS names (
    slug TEXT PRIMARY KEY COLLATE NOCASE, repo_id INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS associations (
    repo_id INTEGER NOT NULL, user_id INTEGER NOT NULL, association TEXT NOT NULL,
    PRIMARY KEY (repo_id, user_id));
CREATE TABLE IF NOT EXISTS issues (
    id INTEGER PRIMARY KEY AUTOINCREMENT, repo_id INTEGER NOT NULL, number INTEGER NOT NULL,
    title TEXT NOT NULL, body TEXT, user_id INTEGER, is_pull INTEGER NOT NULL,
    locked INTEGER NOT NULL DEFAULT 0, lock_reason TEXT, deleted INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, UNIQUE (repo_id, number));
CREATE TABLE IF NOT EXISTS moves (
    repo_id INTEGER NOT NULL, number INTEGER NOT NULL, issue_id INTEGER NOT NULL,
    PRIMARY KEY (repo_id, number));
CREATE TABLE IF NOT EXISTS comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, issue_id INTEGER NOT NULL, user_id INTEGER, app TEXT,
    body TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL, minimized TEXT);
CREATE INDEX IF NOT EXISTS comments_of_issue ON comments (issue_id, id, updated_at);
CREATE TABLE IF NOT EXISTS past (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, existed INTEGER NOT NULL,
    id INTEGER NOT NULL, issue_id INTEGER, user_id INTEGER, app TEXT, body TEXT,
    created_at INTEGER, updated_at INTEGER, version INTEGER, minimized TEXT);
"""


class Database:
    """A file, or memory when *path* is None; safe to use from several threads.

    Raises ``sqlite3.Error`` when the file is no database or cannot be written.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        self._connection = sqlite3.connect(
            path or ":memory:", check_same_thread=False, isolation_level=None
        )
        try:
            self._prepare()
        except sqlite3.Error:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.executescript(SCHEMA)
        if self.row("SELECT 1 FROM sqlite_sequence WHERE name = 'comments'") is None:
            self.run("INSERT INTO sqlite_sequence VALUES ('comments', ?)", FIRST_COMMENT)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, and nobody else in between; one inside another joins it."""
        with self._lock:
            outermost = self._depth == 0
            if outermost:
                self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
            except BaseException:
                self._depth -= 1
                if outermost:
                    self._connection.execute("ROLLBACK")
                raise
            self._depth -= 1
            if outermost:
                self._connection.execute("COMMIT")

    def rows(self, sql: str, *args: object, **named: object) -> list[Any]:
        """All rows of a query."""
        with self._lock:
            return self._connection.execute(sql, named or args).fetchall()

    def row(self, sql: str, *args: object, **named: object) -> Any:
        """The first row of a query; None when there is none."""
        with self._lock:
            return self._connection.execute(sql, named or args).fetchone()

    def run(self, sql: str, *args: object) -> int:
        """Run one statement; the answer is the id of the row it put in, if it did."""
        with self._lock:
            return self._connection.execute(sql, args).lastrowid or 0

    def run_many(self, sql: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Run one statement for each of *rows*, in one transaction."""
        with self.transaction():
            self._connection.executemany(sql, rows)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

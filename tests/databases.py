"""Databases on a PostgreSQL of our own; a pytest plugin.

Each process that runs tests starts one cluster, when the first test asks for a database, and stops
it at its end.  A folder stands for a database, as it stands for the files of a SQLite journal; when
the test has ended, or the folder is gone, the database is emptied and used again.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bench.postgres import Cluster, cluster

OURS = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'handoff_markers%'"
OTHERS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""


class Databases:
    """As many as the tests ask for."""

    def __init__(self) -> None:
        self._ends = ExitStack()
        self._cluster: Cluster | None = None
        self._of: dict[Path, str] = {}
        self._free: list[str] = []
        self._count = 0

    @property
    def cluster(self) -> Cluster:
        """The cluster, started when it is first needed; durable enough for tests."""
        if self._cluster is None:
            self._cluster = self._ends.enter_context(cluster(fsync="off"))
        return self._cluster

    def url(self, folder: Path) -> str:
        """The address of the database that *folder* stands for."""
        if folder not in self._of:
            for gone in [each for each in self._of if not each.exists()]:
                self._empty(self._of.pop(gone))
            self._of[folder] = self._free.pop() if self._free else self._make()
        return self.cluster.url(self._of[folder])

    def release(self) -> None:
        """Empty all databases that were used."""
        while self._of:
            self._empty(self._of.popitem()[1])

    def stop(self) -> None:
        """Stop the cluster."""
        self._ends.close()

    def ask(self, folder: Path, statement: str) -> list[Any]:
        """What somebody with a shell of his own is told by that database."""
        return self._ask(self.url(folder), statement)

    def _ask(self, url: str, *statements: str) -> list[Any]:
        import psycopg

        with psycopg.connect(url, autocommit=True) as db:
            for statement in statements:
                found = db.execute(statement)
            return found.fetchall() if found.description else []

    def _make(self) -> str:
        self._count += 1
        name = f"journal_{self._count}"
        self._ask(self.cluster.url(), f"CREATE DATABASE {name}")
        return name

    def _empty(self, name: str) -> None:
        url = self.cluster.url(name)
        for (schema,) in self._ask(url, OTHERS, OURS):
            self._ask(url, f"DROP SCHEMA {schema} CASCADE")
        self._free.append(name)


DATABASES = Databases()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Let no database of one test be seen by the next."""
    DATABASES.release()


def pytest_unconfigure() -> None:
    """Stop the cluster with the process that started it."""
    DATABASES.stop()

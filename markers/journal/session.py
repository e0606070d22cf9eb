"""What ``sql`` needs of an engine: an open database, a transaction, a picture, a lock.

What may live here: protocols.  Statements have question marks for their values, whatever the
engine's own marks are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..model import AuditRef
from .chain import Draft


class Changes(Protocol):
    """A transaction under way."""

    def ask(self, statement: str, *values: Any) -> list[Any]:
        """All rows that a statement gives."""

    def do(self, statement: str, *values: Any) -> None:
        """Change something; the engine may wait with it until the transaction ends."""

    def add(self, draft: Draft) -> Callable[[], AuditRef]:
        """Put an entry at the end of the log, the newest being proven first.

        What it became can be asked for once the transaction has ended.
        """


class Picture(Protocol):
    """The database as it was at one moment."""

    def rows(self, statement: str) -> Iterator[Any]:
        """Row by row; raises ``proof.Torn`` where one cannot be read."""

    def trouble(self) -> str | None:
        """What the engine itself finds wrong with its files."""


class Session(Protocol):
    """An open database; for one caller at a time."""

    def ask(self, statement: str, *values: Any) -> list[Any]:
        """All rows that a statement by itself gives."""

    def changing(self, *, alone: bool = True) -> AbstractContextManager[Changes]:
        """One transaction, durable when the block has ended; *alone* keeps other changes out."""

    def picture(self) -> AbstractContextManager[Picture]:
        """Look at one unmoving picture."""

    def forget(self) -> None:
        """Let nothing of what was dropped stay on the disk, as far as that is in our hands."""


class Held(Protocol):
    """A lock, seen by who holds it."""

    def kept(self) -> bool:
        """Whether it still keeps others out, as far as is known without asking anybody."""

    def alive(self) -> bool:
        """The same, after asking."""

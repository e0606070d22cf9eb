"""What the writer needs of a journal, in plain values.

Audit entries are append-only and hash-chained.  An intent goes in before a write and its outcome
after it; an intent without outcome is *open* and belongs to whoever next holds the thread's lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from ..errors import Unavailable
from ..model import AuditRef, Reason

SCHEMA_VERSION = 3
"""Of the database; migrations go forward only."""


class Kind(StrEnum):
    """What an audit entry is."""

    INTENT = "intent"
    OUTCOME = "outcome"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One audit entry as its writer states it; hashes are hex SHA-256 of normalised text."""

    kind: Kind
    command: str
    """``write``, ``delete``, ``restore``, ``recover`` and so on."""
    actor: str
    """``login (id)`` where known, else ``token:FINGERPRINT``."""
    thread: str
    """``Thread.key()``."""
    api_url: str
    repo: str
    number: int
    family: str
    marker: str
    action: str
    """For an intent what is about to be sent (``create``, ``edit``, ``delete``, ``minimise``),
    else a result."""
    surface: str | None = None
    comment_id: int | None = None
    reason: Reason | None = None
    sha256_before: str | None = None
    sha256_after: str | None = None
    above: int | None = None
    """For a ``create`` intent: the highest comment id observed; our own comment is above it."""
    meant: str | None = None
    """For an intent: the action that its success is (``created``, ``updated``, ``posted`` ...)."""
    intent: int | None = None
    """For an outcome: the entry number of its intent."""
    request_ids: tuple[str, ...] = ()
    requests: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A record in the chain."""

    seq: int
    """Counts from 1 without gaps."""
    at: str
    """UTC, ISO 8601 with milliseconds and ``Z``."""
    version: str
    """Of this program."""
    record: Record
    replaced: str | None
    """Key of the body that was replaced or deleted (hex SHA-256 of its exact bytes), if kept."""
    previous: str
    """Chain hash of the entry before; 64 zeros for the first."""
    hash: str

    @property
    def ref(self) -> AuditRef:
        """How a result names this entry."""
        return AuditRef(seq=self.seq, hash=self.hash)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """Something that ``audit verify`` found."""

    seq: int | None
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A write that waits for its delivery."""

    id: int
    """Grows; none is given out twice."""
    at: str
    """When it was queued: UTC, ISO 8601 with milliseconds and ``Z``."""
    thread: str
    """``Thread.key()``."""
    order: str
    """A document of whoever queued it; the journal does not look into it."""
    problem: str | None
    """Why it could not be delivered when that was tried last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What a local copy and its comment held when they were last in step."""

    key: str
    """The one of its names under which it is kept."""
    sha256: str
    text: str
    comment_id: int | None
    """The comment that held it."""
    at: str
    """When it was kept: UTC, ISO 8601 with milliseconds and ``Z``."""


class DamagedJournal(Unavailable):
    """What is stored is not what was written; ``doctor --repair-journal`` sets it aside."""


class Journal(Protocol):
    """What the writer and the audit commands do with a journal.

    A journal that is not there yet is empty; ``lock``, ``append``, ``pace``, ``enqueue`` and
    ``set_base`` make it, and nothing else leaves a trace.  Opening may raise ``Unavailable``
    (``journal``) or ``Refused`` (``journal-newer``, ``journal-symlink``).  ``open_intents``,
    ``entry``, ``body`` and ``base`` raise ``DamagedJournal`` (``journal``) for what was changed
    since it was written, which is not to be acted upon, and so does ``append`` where the end of
    the log was changed.
    """

    @property
    def place(self) -> str:
        """Where it is, for people to read; no password."""

    def exists(self) -> bool:
        """Whether there is one yet."""

    def lock(self, keys: Sequence[str], *, wait: float) -> AbstractContextManager[None]:
        """Hold the thread that *keys* name, against other threads and processes.

        Freed when the holder dies; not reentrant.  Raises ``Unavailable`` (``locked-out``) after
        *wait* seconds.
        """

    def check_lock(self) -> None:
        """Make sure that the locks which this thread of execution took still keep others out.

        To be called right before a request that writes.  Raises ``Unavailable`` (``lock-lost``).
        """

    def append(self, record: Record, *, replaced: str | None = None) -> AuditRef:
        """Add an entry, durably, with the exact body that is about to be or was *replaced*.

        An intent is refused, as by ``check_lock``, when the thread's lock was lost.
        """

    def open_intents(self, keys: Sequence[str] | None = None) -> list[Entry]:
        """Intents without outcome, oldest first; of these threads, or of all."""

    def age(self, entry: Entry) -> float:
        """How many seconds ago an open intent was appended, by the clock that all share."""

    def entry(self, seq: int) -> Entry | None:
        """One entry."""

    def entries(self) -> Iterator[Entry]:
        """All entries, oldest first."""

    def latest(self, count: int) -> list[Entry]:
        """The newest *count* entries, oldest first."""

    def body(self, key: str) -> str | None:
        """A replaced body, by ``Entry.replaced``; None once pruned."""

    def verify(self, head: str | None = None) -> list[Flaw]:
        """Recompute the chain; with *head*, also prove that this hash is in it."""

    def prune(self, before: float) -> int:
        """Drop bodies of entries older than *before* (epoch seconds); the chain stays.

        So do the bodies of open intents.  The answer is how many were dropped.
        """

    def pace(self, account: str, *, minute: int, hour: int, gap: float) -> float:
        """Reserve a slot for one POST; the answer is how many seconds from now it begins.

        At most *minute* slots in any 60 s and *hour* in any 3,600 s, *gap* seconds apart, over all
        who share the journal and name the same *account*.
        """

    def recall(self, key: str) -> str | None:
        """A small memory (who a token is, what surface a number is)."""

    def recall_all(self, keys: Sequence[str]) -> dict[str, str]:
        """Those of several small memories that there are, in one question."""

    def remember(self, key: str, value: str, *, wait: float | None = None) -> None:
        """Keep a small memory where there is a journal; who recalls must be able to do without.

        At most *wait* seconds are spent on waiting for whoever keeps the journal busy.
        """

    def enqueue(self, thread: str, order: str) -> int:
        """Keep a write for later, durably; the answer is its id."""

    def queued(self, keys: Sequence[str] | None = None) -> list[Queued]:
        """The writes that wait, in order of id; of these threads, or of all."""

    def dequeue(self, id: int) -> bool:  # noqa: A002 - the field's own name
        """Take a write out of the queue, its text with it; false where it is gone already."""

    def note(self, id: int, problem: str | None) -> None:  # noqa: A002 - the field's own name
        """Keep why a queued write could not be delivered; None takes the note back."""

    def base(self, keys: Sequence[str]) -> Base | None:
        """The text that both sides held when they were last in step; None where that is not known.

        *keys* are names of one and the same pair, the surest last; the surest that is known counts.
        """

    def set_base(
        self,
        keys: Sequence[str],
        text: str,
        *,
        copy: str | None = None,
        comment_id: int | None = None,
    ) -> None:
        """Keep the text that both sides hold, durably, under the surest of *keys* alone.

        *copy* names the local side among all threads: what it held in step with another one is no
        base any more.
        """

    def set_aside(self) -> str:
        """Put a damaged journal out of use, unchanged; the answer is what it is called now.

        The next write makes a new one.
        """

    def close(self) -> None:
        """Let go of the database."""

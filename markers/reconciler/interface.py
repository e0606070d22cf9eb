"""What the reconciler is asked, needs of a local copy, and answers: plain values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ..model import Action, Family, Marker, Reason, Thread, WriteResult
from ..plan import Decision, OnConflict, Standing, Word, settle


class Source(StrEnum):
    """A place of a row's read chain, in the words of the schema of rows."""

    BUNDLE = "bundle"
    CACHE = "cache"
    STORE = "store"
    COMMENT = "comment"
    REVIEW_COMMENT = "review-comment"
    ISSUE_BODY = "issue-body"
    PULL_REQUEST_BODY = "pull-request-body"
    PROMPT = "prompt"
    CONVERSATION = "conversation"
    RUN = "run"


class Local(Protocol):
    """The copy on this machine: a text without its marker."""

    @property
    def place(self) -> str:
        """Where it is, for people to read."""

    @property
    def key(self) -> str:
        """Names this very copy on this very machine, and no other that is like it.

        Asked again after a write, which may have made the directory that is part of the name.
        """

    def read(self) -> str | None:
        """The text as it is; None where there is none.

        Raises ``Refused`` for what may not be read, another ``MarkersError`` for what cannot.
        """

    def spelled(self, text: str) -> str:
        """What *text* says, as this copy spells it; one that it cannot read stays as it is."""

    def write(self, text: str, seen: str | None) -> str:
        """Put *text* in the place of *seen*, whole or not at all; the answer is what is there then.

        Raises ``Conflict`` (``cache-changed``) where it holds something else by now.
        """

    def says_nothing(self, text: str) -> bool:
        """Whether *text* is that of a copy into which nobody has written yet."""

    def keep(self, text: str, why: str) -> str:
        """Keep a copy of *text* aside, durably; the answer is where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One local copy, the comment that it belongs to, and what the caller allows."""

    row: str
    thread: Thread
    family: Family
    marker: Marker
    local: Local
    source: Source = Source.CACHE
    """What the local copy is called in the row's chain."""
    chain: tuple[str, ...] = (Source.CACHE, Source.COMMENT)
    shared: bool = False
    """Whether the local copy serves other threads as well, and is not to be overwritten."""
    apply: bool = False
    create: bool = False
    on_conflict: OnConflict = OnConflict.REFUSE
    decide: Callable[[Standing], Decision] = settle
    """The table, or the part of it that leads one way only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was seen, decided and done; the fields are those of the ``--json`` document.

    The hashes are of what was seen, before anything was done about it: of the text with its marker
    and one blank line above it, so that all three can be compared.
    """

    decision: Word
    row: str
    number: int
    source: Source | None = None
    """The place of the chain that governs."""
    proof: str | None = None
    hint: str | None = None
    local_sha256: str | None = None
    durable_sha256: str | None = None
    base_sha256: str | None = None
    comment_id: int | None = None
    kept_aside: tuple[str, ...] = ()
    reason: Reason | None = None
    write: WriteResult | None = None
    ended: Action = Action.UNCHANGED
    """What the exit code is made of; no field of the document."""

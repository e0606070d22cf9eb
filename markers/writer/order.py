"""What a caller wants of the writer, and what stands of it already: plain values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ..model import Action, Comment, Family, Marker, Surface, Thread


class Fold(StrEnum):
    """What becomes of our own duplicates of an upsert, once the canonical holds the text."""

    DELETE = "delete"
    MINIMISE = "minimise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the caller wants of one write."""

    thread: Thread
    family: Family
    marker: Marker
    payload: str = ""
    surface: Surface | None = None
    """The caller's own idea of the surface, checked against the registry and the thread."""
    expect: str | None = None
    """Hash of the body that must govern now, or ``absent``."""
    take_over: bool = False
    verify: str = "response"
    fold: Fold | None = None
    """None leaves duplicates alone."""
    dry_run: bool = False
    command: str = "write"
    burst: str | None = None
    """Names this entry of its manifest, so that running the manifest again does not post twice."""
    preserve: bool = True
    """Whether what the comment carried before is carried forward (``--no-preserve``)."""
    revise: Callable[[str | None], str] | None = None
    """Makes the whole body from that of the comment that governs, instead of *payload*; pure, since
    it is asked again whenever that comment has changed.  It may raise ``Refused``."""
    queue: bool = False
    """Whether it may wait in the journal while GitHub is away."""
    always: bool = False
    """Whether a record is posted even if it says what the latest one says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """A comment that was written before the look that is being planned on."""

    comment: Comment
    marker: str
    action: Action
    """What its success is called."""
    before: Comment | None = None
    """The comment as it was, for an update by this call."""
    ours: bool = False
    """Whether this call wrote it; else an interrupted one that meant the same."""

"""What a step is given, what it asks to be read, and what it wants edited.

A step is pure.  One *before* the write turns the candidate into what is written, seen beside the
comment that governs now; one *after* it says which other comment on the thread is edited, and how.
The writer does the reading and the editing, under lock, intent and audit, and checks every result
again in full.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..model import Comment, Marker


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What stands on the thread at the moment of planning."""

    marker: Marker
    candidate: str
    governing: Comment | None
    """The comment that will be replaced (upsert) or followed (post-new)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointed:
    """A comment that was read by its id."""

    comment: Comment
    trusted: bool
    here: bool
    """Whether it is on the thread that is being written to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What a step before the write makes of the candidate."""

    candidate: str
    preserved: tuple[str, ...] = ()
    """What was carried forward, in words, for the result's ``preserved``."""
    warnings: tuple[str, ...] = field(default=())
    """``code: detail``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """A step before the write; *apply* raises ``Refused`` where nothing may be written."""

    apply: Callable[[Seen, Mapping[int, Pointed | None]], Prepared]
    reads: Callable[[Seen], tuple[int, ...]] = lambda _seen: ()
    """Ids of the comments that *apply* needs; it is given None for those that are gone."""
    preserves: bool = False
    """Whether ``--no-preserve`` leaves it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """A step after the write: an edit of the comment that governs another marker of the thread."""

    target: Callable[[Marker], str]
    """The marker's text of the comment that is to be edited, from the marker that was written."""
    edit: Callable[[str, Comment], str]
    """From the target's body and the comment that was written to the target's new body; raises
    ``Refused`` with what is missing there."""

"""What a family's reader is given, and what it answers.

A reader is pure: from the matches on a thread to the ``reading`` of ``read --json``, plain values
that JSON can hold.  What it needs beside its own family's markers it names beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..contract import Contract
from ..errors import Unavailable
from ..model import Comment, Marker
from ..payload.problems import Problem

NOT_JUDGED = "not-judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One comment on the thread whose first line the reader asked for."""

    line: str
    """The first line, as the look matched it: a marker, or one of ``Needs.lines``."""
    comment: Comment
    trusted: bool
    """Whether it may govern (design, section 5), by one tier of trust for the whole view; the
    others are named, and decide nothing."""
    astray: Problem | None = None
    """Why it does not belong on this thread at all, where it does not."""
    problems: Sequence[Problem] | None = ()
    """What its own family's rules find wrong with it; None where it was not judged."""

    @property
    def counts(self) -> bool:
        """Whether anything may rest on it: it is trusted, and stands where it belongs."""
        return self.trusted and self.astray is None

    @property
    def refused(self) -> Problem | None:
        """The first thing for which the writer would refuse it; None of what it would accept.

        Raises ``Unavailable`` (``not-judged``) of what was not judged, so that no reader takes
        that for either of the two.
        """
        if self.astray is not None:
            return self.astray
        if self.problems is None:
            raise Unavailable(
                NOT_JUDGED,
                f"no time was left to judge comment {self.comment.id}, on which the reading rests: "
                "there is none; give it more with --deadline",
            )
        return next((problem for problem in self.problems if not problem.warns), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the look saw for one marker; *sightings* ascend by comment id."""

    marker: Marker
    contract: Contract
    sightings: Sequence[Sighting]
    governing: Comment | None
    """Of the marker's own matches the one that a write goes by; None where it is not trusted in
    this view."""
    param: Mapping[str, str] = field(default_factory=dict)
    """What the caller asks the reader for, such as ``slice``; ``read`` asks for nothing."""

    def of(self, line: str) -> tuple[Sighting, ...]:
        """The sightings of one first line that count, ascending by id."""
        return tuple(s for s in self.sightings if s.counts and s.line == line)

    @property
    def astray(self) -> tuple[tuple[Comment, str], ...]:
        """The trusted comments that do not count, since they belong elsewhere, and why."""
        return tuple((s.comment, s.astray.detail) for s in self.sightings if s.trusted and s.astray)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a reader looks at beside the marker it reads."""

    lines: tuple[str, ...] = ()
    """Further first lines to look for on the same thread."""
    again: Callable[[View], bool] | None = None
    """Whether to look again after a pause, with what is seen so far; asked at most three times."""


Reading = Mapping[str, Any]
"""Begins with ``summary``: one sentence for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One family's rule."""

    needs: Callable[[Marker, Contract], Needs]
    read: Callable[[View], Reading]

"""What a family's reader is given, and what it answers.

A reader is pure: from the matches on a thread to the ``reading`` of ``read --json``, plain values
that JSON can hold.  What it needs beside its own family's markers it names beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..contract import Contract
from ..model import Comment, Marker
from ..payload.problems import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One comment on the thread whose first line the reader asked for."""

    line: str
    """The first line, as the look matched it: a marker, or one of ``Needs.lines``."""
    comment: Comment
    trusted: bool
    """Whether it may govern (design, section 5); the others are named, and decide nothing."""
    problems: Sequence[Problem] = ()
    """What its own family's rules find wrong with it."""

    @property
    def refused(self) -> Problem | None:
        """The first thing for which the writer would refuse it; None of what it would accept."""
        return next((problem for problem in self.problems if not problem.warns), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the look saw for one marker; *sightings* ascend by comment id."""

    marker: Marker
    contract: Contract
    sightings: Sequence[Sighting]
    governing: Comment | None
    param: Mapping[str, str] = field(default_factory=dict)
    """What the caller asks the reader for, such as ``slice``; ``read`` asks for nothing."""

    def of(self, line: str) -> tuple[Sighting, ...]:
        """The trusted sightings of one first line, ascending by id."""
        return tuple(s for s in self.sightings if s.trusted and s.line == line)


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

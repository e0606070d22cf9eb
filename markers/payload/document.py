"""A value that was read from a comment, with the line of each of its parts.

What may live here: finding a part's line, and what is wrong with a place that is taken.  What may
not: how a text is read (``yaml12``, ``lines``, ``bullets``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..errors import echo, line_at
from .problems import Problem, dotted

Path: TypeAlias = tuple[str | int, ...]
Place: TypeAlias = "int | tuple[int, dict[str, Place] | list[Place]]"
"""The line of a scalar; of a mapping or list its line and the places of what is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What was read; its mappings, lists and scalars are plain Python values."""

    value: Any
    place: Place
    cut: tuple[Path, ...] = ()
    """Where a comment stands behind an unquoted scalar, or in the place of one, in its line."""

    def line_of(self, path: Sequence[str | int] = ()) -> int:
        """The line in the comment where the value at *path* stands, else its nearest ancestor."""
        place = self.place
        for step in path:
            inner = _inner(place, step)
            if inner is None:
                break
            place = inner
        return place if isinstance(place, int) else place[0]


def repeated(path: Path, line: int, first: Place) -> Problem:
    """A key that a mapping has twice, in *line* and where it stood *first*."""
    above = first if isinstance(first, int) else first[0]
    detail = f"{echo(str(path[-1]))!r} is there twice, see {line_at(above)}"
    return Problem(code="duplicate-key", detail=detail, field=dotted(path), line=line)


def _inner(place: Place, step: str | int) -> Place | None:
    """The place one step down; None where nothing stands."""
    inside = {} if isinstance(place, int) else place[1]
    if isinstance(inside, dict):
        return inside.get(step) if isinstance(step, str) else None
    there = isinstance(step, int) and 0 <= step < len(inside)
    return inside[step] if isinstance(step, int) and there else None

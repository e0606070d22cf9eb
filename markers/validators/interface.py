"""What a validator is given, and what it answers.

A validator is pure: from a comment (or one block in it) to what is wrong with its payload.  The
same function serves the writer, where a problem refuses, and readers, where it is only told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..blocks import Block
from ..body import Body
from ..model import Family, Marker
from ..payload.problems import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One payload that is to be judged."""

    body: Body
    """The whole comment, marker included; lines are counted in it."""
    marker: Marker
    """The comment's own marker, also where a block in it is judged."""
    family: Family
    """Whose rules apply: the comment's family, or the block's."""
    schema: str | None = None
    """The text of the JSON Schema that *family* names, if it names one."""
    block: Block | None = None
    """The block that is judged; None where it is the comment."""


Validator = Callable[[Case], Iterable[Problem]]

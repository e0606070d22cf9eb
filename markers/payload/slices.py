"""The ``frame-slice`` block: one step of a plan.

What may live here: how a slice is read, and which one it is.  What may not: what its fields must be
(``validators.frame_slice``).

A slice is YAML 1.2 for us.  Upstream looks for ``step_id: s1`` or ``id: s1`` at the start of a line
and takes the rest of the line as it stands, so that this key must be written so that both agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..blocks import Block
from ..errors import echo
from .document import Document
from .flawed import Flawed
from .held import read_block
from .problems import Problem
from .spine_values import SLICE_ID

ID_KEYS = ("step_id", "id")
"""Real slices have the first, the contract's list of fields has the second."""
_ID_LINE = re.compile(rf"(?:step_id|id)[ \t]*:[ \t]*({SLICE_ID})[ \t]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One slice."""

    id: str
    fields: dict[str, Any]
    document: Document
    """The same with the lines of the fields."""
    text: str
    """The block's content as it stands there."""


def read_slice(block: Block) -> Slice:
    """Read a slice's block; raises ``Flawed``."""
    document = read_block(block, "frame-slice")
    if not isinstance(document.value, dict):
        detail = "a slice is a mapping: a key and its value on each line"
        raise Flawed(Problem(code="type", detail=detail, line=block.inner_first))
    return Slice(
        id=_id(document, block),
        fields=document.value,
        document=document,
        text="\n".join(block.inner),
    )


def named(block: Block) -> str | None:
    """The id that a search line by line finds, also in a slice that cannot be read."""
    found = [match for line in block.inner if (match := _ID_LINE.fullmatch(line))]
    found.sort(key=lambda match: not match[0].startswith(ID_KEYS[0]))
    return found[0][1] if found else None


def _id(document: Document, block: Block) -> str:
    keys = [key for key in ID_KEYS if key in document.value]
    if not keys:
        detail = "is missing; it wants the step's id, such as s1 (or write it under id)"
        raise Flawed(Problem(code="missing", detail=detail, field="step_id", line=block.first))
    line = document.line_of((keys[-1],))
    if len(keys) > 1:
        detail = "says what step_id says: one of the two is enough"
        raise Flawed(Problem(code="id-twice", detail=detail, field="id", line=line))
    match = _ID_LINE.fullmatch(block.inner[line - block.inner_first])
    if match is None:
        shown = echo(str(document.value[keys[0]]))
        detail = f"{shown!r} is not an id such as s1 on a line that begins with {keys[0]}:"
        raise Flawed(Problem(code="pattern", detail=detail, field=keys[0], line=line))
    return match[1]

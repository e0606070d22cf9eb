"""The ``frame-spine`` block: which steps fill which port, and what each step is.

What may live here: the line grammar of a spine and what it says.  What may not: whether what it
says holds together (``validators.frame_spine``), the slices themselves (``slices``).

A spine looks like YAML and is less: upstream reads it line by line, takes ``rc: a: b`` for a text,
and returns nothing at all on the first line that it does not know.  So does this, but for saying
which lines these are::

    spine_schema_version: 2            1 or 2
    generated_at: 2026-07-18T22:20:00Z
    coverage: complete                 may be left out
    slice_comment_id: 5013460780       may be left out or empty
    ports:
      PORT: [s1, s3#cycle:2, s7#cycle:3#terminal]
    slices:
      s1:
        KEY: VALUE                     a list stands on its key's line, in brackets

Whole lines only: nothing may stand beside the block's tag or arrow, so that one line can be
replaced without touching them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..blocks import Block
from ..body import BLANKS
from ..errors import echo
from .document import Document, Place, repeated
from .flawed import Flawed
from .held import require_closed
from .problems import Problem, dotted, likely, told
from .spine_values import FIELDS, SLICE_ID, TOP, Unfit, text_of, tokens

_SCALAR = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(.*)")
_PORT = re.compile(r"  ([A-Za-z0-9_-]+):(.*)")
_SLICE = re.compile(rf"  ({SLICE_ID}):")
_PROPERTY = re.compile(r"    ([A-Za-z0-9_]+):(.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spine:
    """What a spine says, and where its line for the slices' comment is."""

    generated_at: str
    slice_comment_id: int | None
    """The comment that holds the slices; None in older plans and before there is one."""
    ports: Mapping[str, list[dict[str, Any]]]
    """By port the steps that fill it: ``id``, ``cycle`` (None: the slice's own), ``terminal``."""
    slices: Mapping[str, dict[str, Any]]
    """By id what the spine says of each slice."""
    slice_line: int
    """The line of ``slice_comment_id``; where there is none, the line below which it belongs."""
    has_slice_line: bool
    document: Document
    """The same with the lines: ``ports.PORT[0]``, ``slices.s1.cycle``."""


def read_spine(block: Block) -> Spine:
    """Read a spine's block; raises ``Flawed`` with all lines that break the grammar."""
    require_closed(block, "frame-spine")
    reader = _Reader(block.inner_first)
    if block.inner_first == block.first or block.inner_first + len(block.inner) > block.last:
        detail = "the spine's own lines begin below its tag, and --> stands on a line of its own"
        reader.complain("tag-line", block.first, detail)
    for number, line in enumerate(block.inner, block.inner_first):
        reader.line(number, line.rstrip(BLANKS))
    reader.require_all()
    if reader.problems:
        raise Flawed(*told(sorted(reader.problems, key=lambda problem: problem.line or 0)))
    return _spine(reader.document())


def _spine(document: Document) -> Spine:
    value = document.value
    above = [key for key in ("spine_schema_version", "generated_at", "coverage") if key in value]
    there = "slice_comment_id" in value
    lines = [document.line_of((key,)) for key in (("slice_comment_id",) if there else above)]
    return Spine(
        generated_at=value["generated_at"],
        slice_comment_id=value.get("slice_comment_id"),
        ports=value["ports"],
        slices=value["slices"],
        slice_line=max(lines),
        has_slice_line=there,
        document=document,
    )


class _Reader:
    """The lines that were read, and the section in which the next one stands."""

    def __init__(self, first_line: int) -> None:
        self.problems: list[Problem] = []
        self._first_line = first_line
        self._value: dict[str, Any] = {}
        self._places: dict[str, Place] = {}
        self._section: str | None = None
        self._slice: str | None = None

    def document(self) -> Document:
        """All that was read."""
        return Document(value=self._value, place=(self._first_line, self._places))

    def complain(self, code: str, line: int, detail: str, path: tuple[str, ...] = ()) -> None:
        """Note a problem with what stands at *path*."""
        self.problems.append(Problem(code=code, detail=detail, field=dotted(path), line=line))

    def line(self, number: int, line: str) -> None:
        """Read one line, which has no blanks at its end."""
        if not line:
            return
        if top := _SCALAR.fullmatch(line):
            self._top(number, top[1], top[2].strip(BLANKS))
        elif self._section == "ports" and (port := _PORT.fullmatch(line)):
            self._put(("ports", port[1]), number, port[2], tokens)
        elif self._section == "slices" and (opened := _SLICE.fullmatch(line)):
            self._slice = opened[1]
            self._open(("slices", opened[1]), number)
        elif self._slice and (field := _PROPERTY.fullmatch(line)):
            path = ("slices", self._slice, field[1])
            self._put(path, number, field[2], FIELDS.get(field[1], text_of))
        else:
            self.complain("syntax", number, f"{echo(line)!r} is no line of a spine{self._where()}")

    def require_all(self) -> None:
        """Complain of what must be there and is not."""
        for key in ("spine_schema_version", "generated_at", "ports", "slices"):
            self._require((), self._value, key)
        for key, kind in _SECTIONS.items():
            if self._value.get(key) == {}:
                self.complain("missing", self._line_of((key,)), f"has no {kind}", (key,))
        for name, entry in self._value.get("slices", {}).items():
            for key in ("ac_refs", "depends_on", "cycle"):
                self._require(("slices", name), entry, key)

    def _require(self, path: tuple[str, ...], inside: Mapping[str, Any], key: str) -> None:
        if key not in inside:
            self.complain("missing", self._line_of(path), "is missing", (*path, key))

    def _line_of(self, path: tuple[str, ...]) -> int:
        return self.document().line_of(path)

    def _where(self) -> str:
        """What would be one, in words."""
        if self._slice:
            return f" in slice {self._slice}: four blanks, a key and its value"
        if self._section:
            return f" in {self._section}: two blanks, a {_SECTIONS[self._section]} and a colon"
        return ": a key in the first column and its value"

    def _top(self, number: int, key: str, text: str) -> None:
        self._section, self._slice = None, None
        if key in _SECTIONS:
            self._section = key
            self._open((key,), number)
            if text:
                self.complain("type", number, "its lines stand below it", (key,))
        elif key in TOP:
            self._put((key,), number, text, TOP[key])
        else:
            meant = likely(key, (*TOP, *_SECTIONS))
            hint = f"; did you mean {meant}?" if meant else ""
            self.complain("unknown-field", number, f"is no key of a spine{hint}", (key,))

    def _open(self, path: tuple[str, ...], number: int) -> None:
        """Begin a mapping, which a second one of the same name goes on."""
        value, places = self._around(path)
        name = path[-1]
        if name in value:
            self.problems.append(repeated(path, number, places[name]))
        value.setdefault(name, {})
        places.setdefault(name, (number, {}))

    def _put(
        self, path: tuple[str, ...], number: int, text: str, read: Callable[[str], Any]
    ) -> None:
        value, places = self._around(path)
        name = path[-1]
        if name in value:
            self.problems.append(repeated(path, number, places[name]))
        value[name], places[name] = None, number
        try:
            value[name] = read(text.strip(BLANKS))
        except Unfit as unfit:
            detail = f"{echo(text.strip(BLANKS))!r} is not {unfit.wanted}"
            self.complain(unfit.code, number, detail, path)

    def _around(self, path: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Place]]:
        """The mapping in which the last step of *path* stands, and its places."""
        value, places = self._value, self._places
        for step in path[:-1]:
            value = value[step]
            places = places[step][1]  # type: ignore[index,assignment] # mappings all the way
        return value, places


_SECTIONS = {"ports": "port", "slices": "slice"}

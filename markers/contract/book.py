"""Reading registry files with every complaint collected.

What may live here: TOML and schema errors, names that are taken, and what a checkout's directory
may not say.  What may not: rules that need the meaning of an entry (``rules``).

A file that is not TOML, or that the schema refuses, is reported and goes no further, so that one
mistake is told once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .. import toml
from ..errors import echo
from ..model import Family, Row, Scope
from ..payload.document import Document
from ..payload.schema import check
from .files import (
    FAMILIES,
    FAMILY_SCHEMA,
    ROW_SCHEMA,
    ROWS,
    SCHEMAS,
    family_of,
    listing,
    row_of,
    schema_listing,
    shipped,
)

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

CUT = 200
"""Characters of a reason: a file may hold anything, and a message is one line."""
LONGEST_SCHEMA = 262_144
"""Bytes of a payload's schema."""

T = TypeVar("T", Family, Row, str)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a registry: in which file, at which key, and why."""

    file: str
    key: str
    """Dotted path such as ``params.phase.values[0]``; empty when it is the file as a whole."""
    reason: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.key, self.reason) if part)


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """A value and the file that it was built from."""

    file: str
    source: int
    """Which directory it came from: 0 is the first one read, overlays count from 1."""
    value: T


@dataclass(frozen=True, slots=True)
class _Kind(Generic[T]):
    folder: str
    schema: str
    key: str
    """The key that names an entry and must be the file's name."""
    build: Callable[[Mapping[str, Any]], T]


_FAMILY = _Kind(FAMILIES, FAMILY_SCHEMA, "name", family_of)
_ROW = _Kind(ROWS, ROW_SCHEMA, "id", row_of)
_NOT_IN_A_CHECKOUT = ("replaces", "cache", "steps")
_COMMENTS_ONLY = (
    "a checkout may only bring families of scope comment, since blocks and pointers of others "
    "would be looked for, and refused, in the comments of families that ship; --contract may"
)


class Book:
    """The entries of a registry and its overlays, and what was wrong with reading them."""

    def __init__(self) -> None:
        self.families: dict[str, Entry[Family]] = {}
        self.rows: dict[str, Entry[Row]] = {}
        self.schemas: dict[str, Entry[str]] = {}
        self.problems: list[Problem] = []

    def add(self, root: Traversable, source: int) -> None:
        """Read a directory in the registry's own format."""
        families, rows = root.joinpath(FAMILIES), root.joinpath(ROWS)
        if not families.is_dir() and not rows.is_dir():
            self._complain(root, "", "there is no families/ and no rows/ in it")
        self._read(_FAMILY, self.families, families, source)
        self._read(_ROW, self.rows, rows, source)
        self._read_schemas(root, source)

    def add_families_only(self, root: Traversable, source: int) -> None:
        """Read a directory of families from a checkout, which may come from a stranger.

        The files lie in it or in its ``families/``, their schemas in its ``schemas/``.  They may
        not replace a family, name a cache path, have steps, which edit other comments, or stand
        inside comments of others, and rows may not come with them (design, section 3).
        """
        if not root.is_dir():
            self._complain(root, "", "is not a directory")
            return
        for file in listing(root.joinpath(ROWS)).values():
            self._complain(file, "", "a checkout may not add rows; --contract may")
        inner = root.joinpath(FAMILIES)
        folder = inner if inner.is_dir() else root
        self._read(_FAMILY, self.families, folder, source, banned=_NOT_IN_A_CHECKOUT)
        self._read_schemas(root, source)

    def _complain(self, file: Traversable, key: str, reason: str) -> None:
        self.problems.append(Problem(str(file), echo(key), reason[:CUT]))

    def _read(
        self,
        kind: _Kind[T],
        shelf: dict[str, Entry[T]],
        folder: Traversable,
        source: int,
        banned: Sequence[str] = (),
    ) -> None:
        for stem, file in listing(folder).items():
            doc = self._document(file, kind.schema)
            if doc is None:
                continue
            for key in (key for key in banned if key in doc):
                self._complain(file, key, "a checkout may not set this; --contract may")
            if banned and doc.get("scope") != Scope.COMMENT:
                self._complain(file, "scope", _COMMENTS_ONLY)
            name = doc[kind.key]
            taken = shelf.get(name)
            for key, reason in _naming(kind.key, name, stem, taken, source, doc):
                self._complain(file, key, reason)
            shelf[name] = Entry(str(file), source, kind.build(doc))

    def _read_schemas(self, root: Traversable, source: int) -> None:
        for name, file in schema_listing(root).items():
            taken = self.schemas.get(name)
            try:
                data = file.read_bytes()
                text = data.decode()
            except (UnicodeDecodeError, OSError) as error:
                self._complain(file, "", f"cannot be read: {error}")
                continue
            if len(data) > LONGEST_SCHEMA:
                self._complain(file, "", f"has more than {LONGEST_SCHEMA:,} bytes")
            elif taken is not None:
                self._complain(file, "", f"the name is taken by {taken.file}")
            else:
                self.schemas[name] = Entry(str(file), source, text)

    def _document(self, file: Traversable, schema: str) -> dict[str, Any] | None:
        try:
            doc = toml.loads(file.read_bytes())
        except (ValueError, OSError) as error:
            self._complain(file, "", f"cannot be read as TOML: {error}")
            return None
        complaints = list(_against_schema(doc, schema))
        for key, reason in complaints:
            self._complain(file, key, reason)
        return None if complaints else doc


def _naming(
    key: str,
    name: str,
    stem: str,
    taken: Entry[Any] | None,
    source: int,
    doc: Mapping[str, Any],
) -> Iterator[tuple[str, str]]:
    """What is wrong with the name an entry gives itself, as key and reason."""
    replaces = doc.get("replaces", False)
    if taken is not None and taken.source == source:
        yield key, f"{name!r} is what {taken.file} calls itself"
        return
    if stem != name:
        yield key, f"says {name!r} in a file named {stem!r}"
    if taken is None and replaces:
        yield "replaces", f"there is no {name!r} to replace"
    elif taken is not None and not replaces:
        yield key, f"{name!r} is taken by {taken.file}; 'replaces = true' would replace it"


@cache
def _schema(name: str) -> str:
    return shipped().joinpath(SCHEMAS, name).read_text(encoding="utf-8")


def _against_schema(doc: Mapping[str, Any], schema: str) -> Iterator[tuple[str, str]]:
    """All that the schema says against *doc*, as key and reason."""
    free: dict[str, Any] = {"payload": {}} if isinstance(doc.get("payload"), dict) else {}
    # Dates are TOML's own: null stands for them, which no key takes; inside a payload all goes.
    plain = json.loads(json.dumps({**doc, **free}, default=lambda _: None))
    for problem in check(Document(value=plain, place=1), _schema(schema)):
        yield problem.field, problem.detail

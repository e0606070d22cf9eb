"""What a payload's JSON Schema must be before it is used.

What may live here: the bounds of a schema that somebody else wrote.  What may not: reading files
(``book``) and checking payloads (``markers.payload``).

Everything it refers to is in it, and nothing leads back to itself: then no reference is fetched,
and checking a payload takes a time that the sizes of both bound.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from ..errors import echo
from ..payload.document import Path
from ..payload.engine import compiled
from ..payload.problems import dotted

MOST_PARTS = 20_000
"""Of a schema with each reference written out."""
MOST_DEPTH = 100
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BANNED = ("$anchor", "$dynamicAnchor", "$dynamicRef", "$id")
_DATA = ("const", "default", "enum", "examples")
"""Keywords whose values are no schemas, whatever stands in them."""


class _Faulty(Exception):
    """A fault with its place."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


def faults(text: str) -> Iterator[tuple[str, str]]:
    """The first thing that is wrong with a schema, as key and reason; nothing for a right one."""
    try:
        _Judge(_parsed(text)).judge()
        _compile(text)
    except _Faulty as fault:
        yield dotted(fault.path), fault.reason


def _parsed(text: str) -> dict[str, Any]:
    try:
        schema = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise _Faulty((), "it is nested too deeply") from None
    except ValueError as error:
        raise _Faulty((), f"cannot be read as JSON: {error}") from None
    if not isinstance(schema, dict):
        raise _Faulty((), "a schema is a JSON object")
    if schema.get("$schema", _DIALECT) != _DIALECT:
        raise _Faulty(("$schema",), f"is not {_DIALECT}")
    return schema


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _compile(text: str) -> None:
    try:
        compiled(text)
    except ValueError as error:
        path = tuple(getattr(error, "instance_path", ()))
        if path[-1:] == ("pattern",) or "patternProperties" in path[-2:]:
            why = "is no pattern of the linear-time engine: it has no look-around and no references"
        else:
            first = str(error).strip().partition("\n")[0]
            why = f"is no JSON Schema of Draft 2020-12: {first}"
        raise _Faulty(path, why) from None


class _Judge:
    """Counts the parts of a schema with its references written out."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._sizes: dict[int, int] = {}
        self._open: set[int] = set()

    def judge(self) -> None:
        """Raise the first fault."""
        if self._size(self._schema, ()) > MOST_PARTS:
            why = f"it has more than {MOST_PARTS:,} parts with its references written out"
            raise _Faulty((), why)

    def _size(self, part: Any, path: Path) -> int:
        if not isinstance(part, dict | list) or not part:
            return 1
        if len(self._open) > MOST_DEPTH:
            raise _Faulty((), "it is nested too deeply")
        if id(part) not in self._sizes:
            self._open.add(id(part))
            self._sizes[id(part)] = 1 + sum(self._inside(part, path))
            self._open.remove(id(part))
        return self._sizes[id(part)]

    def _inside(self, part: Any, path: Path) -> Iterator[int]:
        if isinstance(part, list):
            yield from (self._size(each, (*path, at)) for at, each in enumerate(part))
            return
        for key, value in part.items():
            here = (*path, key)
            if key in _BANNED and isinstance(value, str):
                raise _Faulty(here, "a schema has no address, and refers to its own parts by #/...")
            if key == "$ref" and isinstance(value, str):
                target = self._target(value, here)
                if id(target) in self._open:
                    raise _Faulty(here, "leads back to itself")
                yield self._size(target, _pointer(value))
            elif key not in _DATA:
                yield self._size(value, here)

    def _target(self, reference: str, path: Path) -> Any:
        if reference != "#" and not reference.startswith("#/"):
            raise _Faulty(path, f"{echo(reference)!r} is not in this file: nothing is fetched")
        found: Any = self._schema
        for name in _pointer(reference):
            numbered = enumerate(found) if isinstance(found, list) else ()
            inside = found if isinstance(found, dict) else {str(at): each for at, each in numbered}
            if name not in inside:
                raise _Faulty(path, f"{echo(reference)!r} leads nowhere")
            found = inside[name]
        return found


def _pointer(reference: str) -> tuple[str, ...]:
    """The keys that a reference names one after the other."""
    steps = map(unquote, reference.split("/")[1:])
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps)

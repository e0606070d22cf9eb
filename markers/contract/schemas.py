"""What a payload's JSON Schema must be before it is used.

What may live here: the bounds of a schema that somebody else wrote.  What may not: reading files
(``book``) and checking payloads (``markers.payload``).

Everything it refers to is in it, and nothing leads back to itself: then no reference is fetched,
and checking a payload takes a time that the sizes of both bound (``payload.work``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import echo
from ..payload.document import Path
from ..payload.engine import engine
from ..payload.parts import DEFINED, inside, patterns, size, steps, target
from ..payload.problems import dotted

MOST_PARTS = 2_000
"""Of a schema with each reference written out; of long texts, each hundred characters are one."""
MOST_DEPTH = 100
MOST_FORMS = 50
"""Of one choice."""
MOST_PATTERNS = 50
MOST_LEFT = 2
"""Keywords for what is left, one inside the other: each doubles what the engine has to do."""
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BANNED = ("$anchor", "$dynamicAnchor", "$dynamicRef", "$id")
_LEFT = frozenset({"unevaluatedItems", "unevaluatedProperties"})


class _Faulty(Exception):
    """A fault with its place."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


def _too_deep() -> _Faulty:
    return _Faulty((), "it is nested too deeply")


def faults(text: str) -> Iterator[tuple[str, str]]:
    """The first thing that is wrong with a schema, as key and reason; nothing for a right one."""
    try:
        schema = _parsed(text)
        _Judge(schema).judge()
        _compile(schema)
    except _Faulty as fault:
        yield dotted(fault.path), fault.reason


def _parsed(text: str) -> dict[str, Any]:
    try:
        schema = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unrepeated)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise _Faulty((), f"cannot be read as JSON: {error}") from None
    if not isinstance(schema, dict):
        raise _Faulty((), "a schema is a JSON object")
    if schema.get("$schema", _DIALECT) != _DIALECT:
        raise _Faulty(("$schema",), f"is not {_DIALECT}")
    return schema


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {echo(name)!r} is twice in one object")
        found[name] = value
    return found


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _compile(schema: Any) -> None:
    try:
        engine(schema)
    except ValueError as error:
        path = tuple(getattr(error, "instance_path", ()))
        if path[-1:] == ("pattern",) or "patternProperties" in path[-2:]:
            why = (
                "is no pattern of the linear-time engine: it has no look-around and no references, "
                "and is not too large"
            )
        else:
            first = str(error).strip().partition("\n")[0]
            why = f"is no JSON Schema of Draft 2020-12: {first}"
        raise _Faulty(path, why) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extent:
    """How far a schema goes, with its references written out."""

    parts: int
    depth: int = 0
    left: int = 0
    """How many keywords for what is left stand in each other."""


class _Judge:
    """Counts what is in a schema with its references written out."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._counted: dict[int, _Extent] = {}
        self._open: set[int] = set()
        self._patterns: set[str] = set()

    def judge(self) -> None:
        """Raise the first fault."""
        self._count(self._schema, ())
        if len(self._patterns) > MOST_PATTERNS:
            raise _Faulty((), f"it has more than {MOST_PATTERNS} different patterns")

    def _count(self, part: Any, path: Path) -> _Extent:
        if not isinstance(part, dict):
            return _Extent(parts=1)
        if len(self._open) > MOST_DEPTH:
            raise _too_deep()
        if id(part) not in self._counted:
            self._open.add(id(part))
            self._judge(part, path)
            self._counted[id(part)] = self._counts(part, path)
            self._open.remove(id(part))
        return self._counted[id(part)]

    def _counts(self, part: Mapping[str, Any], path: Path) -> _Extent:
        inner = [self._count(each, where) for each, where in self._inside(part, path)]
        for each, where in self._defined(part, path):
            self._count(each, where)
        found = _Extent(
            parts=size(part) + sum(each.parts for each in inner),
            depth=1 + max((each.depth for each in inner), default=0),
            left=bool(_LEFT & part.keys()) + max((each.left for each in inner), default=0),
        )
        if found.parts > MOST_PARTS:
            why = f"it has more than {MOST_PARTS:,} parts with its references written out"
            raise _Faulty((), why)
        if found.depth > MOST_DEPTH:
            raise _too_deep()
        if found.left > MOST_LEFT:
            why = f"more than {MOST_LEFT} of {' and '.join(sorted(_LEFT))} stand in each other"
            raise _Faulty(path, why)
        return found

    def _judge(self, part: Mapping[str, Any], path: Path) -> None:
        """Judge what a schema says itself."""
        for key in _BANNED:
            if key in part:
                why = "a schema has no address, and refers to its own parts by #/..."
                raise _Faulty((*path, key), why)
        for key in ("anyOf", "oneOf"):
            forms = part.get(key)
            if isinstance(forms, list) and len(forms) > MOST_FORMS:
                raise _Faulty((*path, key), f"it has more than {MOST_FORMS} forms")
        self._patterns.update(patterns(part))

    def _inside(self, part: Mapping[str, Any], path: Path) -> Iterator[tuple[Any, Path]]:
        """The schemas in one, and what it refers to, each with the place to name for it."""
        reference = part.get("$ref")
        if isinstance(reference, str):
            named = self._target(reference, (*path, "$ref"))
            if id(named) in self._open:
                raise _Faulty((*path, "$ref"), "leads back to itself")
            yield named, steps(reference)
        for where, inner in inside(part):
            if where[0] not in DEFINED:
                yield inner, (*path, *where)

    def _defined(self, part: Mapping[str, Any], path: Path) -> Iterator[tuple[Any, Path]]:
        """The schemas that only count where something refers to them."""
        for where, inner in inside(part):
            if where[0] in DEFINED:
                yield inner, (*path, *where)

    def _target(self, reference: str, path: Path) -> Any:
        if reference != "#" and not reference.startswith("#/"):
            raise _Faulty(path, f"{echo(reference)!r} is not in this file: nothing is fetched")
        try:
            return target(reference, self._schema)
        except (LookupError, TypeError):
            raise _Faulty(path, f"{echo(reference)!r} leads nowhere") from None

"""What is wrong with a value, found part by part within bounds.

What may live here: into which parts a value and its schema fall, and when the search ends.  What
may not: what the engine takes for a part (``work``), and words (``words``).

The engine finds all or nothing, and of a large value that is wrong all over, all is too much.  So
it is asked whether a value is valid, which is quick, then for the findings of the whole, if these
cannot be too many, else for those of its parts, one part after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from .document import Path
from .engine import Compiled, Finding
from .work import Asked, most, to_check, to_find

UNSAID = "schema"
"""The kind of a finding that says no more than that something is wrong, for all it could say."""
MOST_TO_CHECK = 250_000.0
"""Microseconds, by the prices of ``work``, which are high: mostly it is a tenth."""
ROOM = 250_000.0
"""The same, for all the findings of one value."""
_CHARACTERS = 1000
_ASKED, _VALUE, _MADE = 4.0, 0.1, 50.0
"""To ask the engine, for each value that it is handed, and to make one for another schema."""
_LOOKED = 1 / 16
"""Of the room, what it takes to see that a price is above it."""
_SHARE = 1 / 4
"""Of the room, what one of many parts may take."""
_LEFT = frozenset({"unevaluatedItems", "unevaluatedProperties"})
"""Keywords that look at what all others beside them have left."""
_OF_PARTS = frozenset({"allOf", "if", "then", "else", "prefixItems", "items", "properties"})
_NEVER_DEEP = frozenset(
    {
        *("$schema", "additionalProperties", "default", "dependentRequired", "description"),
        *("maxItems", "maxProperties", "minItems", "minProperties", "properties", "propertyNames"),
        *("required", "title", "type"),
    }
)
"""Keywords that, once its parts are left out, ask nothing of what is inside a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A value and a schema for it, and where both stand."""

    value: Any
    schema: Any
    path: Path = ()
    where: Path = ()
    whole: bool = False
    """Whether it is what is left of a part that fell apart."""

    @property
    def falls_apart(self) -> bool:
        """Whether its own parts can be looked at alone."""
        return not self.whole and isinstance(self.schema, dict) and not _LEFT & self.schema.keys()

    def inner(self, *where: str | int, schema: Any) -> _Part:
        """The same value and a schema inside this one."""
        return _Part(value=self.value, schema=schema, path=self.path, where=(*self.where, *where))

    def below(self, step: str | int, *where: str | int, schema: Any) -> _Part:
        """A value right inside this one, and its schema."""
        path, where = (*self.path, step), (*self.where, *where)
        return _Part(value=self.value[step], schema=schema, path=path, where=where)


class Search:
    """Looks for what is wrong with a value, as long as there is room.

    *too_much* says that it could take too long to see whether the value is valid, *left_off* that
    not all of it was looked at.
    """

    def __init__(self, value: Any, schema: Compiled, room: float = ROOM) -> None:
        self.left_off = False
        self._root = _Part(value=value, schema=schema.schema)
        self._room = self._all = room
        self._engines = {id(schema.schema): schema}
        self._asked = {id(schema.schema): _what_is_asked(schema)}
        self._sizes: dict[int, int] = {}
        # What is no part of the value itself must not give its place in memory to others.
        self._kept: list[Any] = []
        self._to_check = most(value, self._what_is_asked(schema.schema), to_check, MOST_TO_CHECK)
        self.too_much = self._to_check > MOST_TO_CHECK

    def findings(self) -> Iterator[Finding]:
        """What is wrong with the value, one after the other."""
        return self._wrong(self._root)

    def _wrong(self, part: _Part) -> Iterator[Finding]:
        if self._valid(part):
            return
        room = self._room * (_SHARE if part.falls_apart else 1)
        price = most(part.value, self._what_is_asked(part.schema), self._to_find, room)
        if price <= room:
            self._pay(price)
            engine = self._engine(part.schema)
            yield from engine.findings(part.value, path=part.path, where=part.where)
        elif part.falls_apart:
            self._pay(room * _LOOKED)
            self._pay(self._to_check * self._size(part.value) / self._size(self._root.value))
            yield from self._wrong_inside(part)
        elif self._room < self._all * _SHARE:
            self.left_off = True
        else:
            yield Finding(kind=UNSAID, path=part.path, facts={}, where=(*part.where, UNSAID))

    def _wrong_inside(self, part: _Part) -> Iterator[Finding]:
        for each in self._parts(part):
            yield from self._wrong(each)
            if self.left_off:
                return

    def _parts(self, part: _Part) -> Iterator[_Part]:
        """What a part falls apart into: what its schema says of the whole comes first."""
        yield self._of_itself(part)
        yield from _beside(part)
        if "if" in part.schema:
            met = self._valid(part.inner("if", schema=part.schema["if"]))
            chosen = "then" if met else "else"
            yield part.inner(chosen, schema=part.schema.get(chosen, True))
        yield from _below(part)

    def _of_itself(self, part: _Part) -> _Part:
        """A part without its parts; nothing stands for these where nobody looks into them."""
        schema, value = _of_the_whole(part.schema), part.value
        if schema.keys() <= _NEVER_DEEP:
            value = dict.fromkeys(value) if isinstance(value, dict) else value
            value = [None] * len(value) if isinstance(value, list) else value
            self._kept.append(value)
        return replace(part, value=value, schema=schema, whole=True)

    def _valid(self, part: _Part) -> bool:
        """Whether nothing is wrong with a part, or there is no room to look at it."""
        self._pay(_ASKED + _VALUE * self._size(part.value))
        return self.left_off or self._engine(part.schema).valid(part.value)

    def _pay(self, price: float) -> None:
        self._room -= price
        self.left_off = self.left_off or self._room < 0

    def _to_find(self, value: Any, asked: Asked) -> float:
        return to_find(self._size(value), asked)

    def _what_is_asked(self, schema: Any) -> Asked:
        if id(schema) not in self._asked:
            self._asked[id(schema)] = Asked([schema])
        return self._asked[id(schema)]

    def _engine(self, schema: Any) -> Compiled:
        if id(schema) not in self._engines:
            self._pay(_MADE)
            self._engines[id(schema)] = Compiled(schema)
        return self._engines[id(schema)]

    def _size(self, value: Any) -> int:
        """How many values a value is; of a long text, so many characters are one."""
        if not isinstance(value, dict | list):
            return 1 + (len(value) // _CHARACTERS if isinstance(value, str) else 0)
        if id(value) not in self._sizes:
            inside = value.values() if isinstance(value, dict) else value
            self._sizes[id(value)] = 1 + sum(map(self._size, inside))
        return self._sizes[id(value)]


@lru_cache(maxsize=64)
def _what_is_asked(schema: Compiled) -> Asked:
    """What a schema asks, which is put together once."""
    return Asked([schema.schema])


def _of_the_whole(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema without what it says of parts; which properties it knows, it still knows."""
    whole = {keyword: schema[keyword] for keyword in schema.keys() - _OF_PARTS}
    if "properties" in schema:
        whole["properties"] = dict.fromkeys(schema["properties"], True)
    if _is_plain(schema):
        whole.pop("additionalProperties", None)
    return whole


def _is_plain(schema: Mapping[str, Any]) -> bool:
    """Whether ``additionalProperties`` is a schema for all values that have no other one."""
    others = schema.get("additionalProperties", False)
    return isinstance(others, dict) and "patternProperties" not in schema


def _beside(part: _Part) -> Iterator[_Part]:
    for at, each in enumerate(part.schema.get("allOf", ())):
        yield part.inner("allOf", at, schema=each)


def _below(part: _Part) -> Iterator[_Part]:
    """The values right inside, each with the schema that its place has."""
    schema = part.schema
    if isinstance(part.value, dict):
        known = schema.get("properties", {})
        others = schema["additionalProperties"] if _is_plain(schema) else True
        for key in part.value:
            if key in known:
                yield part.below(key, "properties", key, schema=known[key])
            else:
                yield part.below(key, "additionalProperties", schema=others)
    elif isinstance(part.value, list):
        first, others = schema.get("prefixItems", ()), schema.get("items", True)
        for at in range(len(part.value)):
            if at < len(first):
                yield part.below(at, "prefixItems", at, schema=first[at])
            else:
                yield part.below(at, "items", schema=others)

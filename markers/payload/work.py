"""How much work it may be to judge a value by a schema, in microseconds, before it is done.

What may live here: what the engine takes for one rule, one finding, one byte of a text.  What may
not: judging.

The numbers were measured, and rounded up.  Each value is taken together with all that the schema
may ask of it, whichever form or condition applies in the end: so what comes out is a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import count
from typing import Any, TypeAlias

from .engine import MOST_PATTERN, engine
from .parts import beside, rules

_CHECK = 0.05
_DIVISION = 20.0
"""To see whether a number is a multiple of another one."""
_FINDING = 12.0
_COPY = 0.6
"""A finding has a copy of the value that it is about: for each value in that; rather for its room
in memory than for its time."""
_SMALLEST = 1024
_KEYS = -1
"""Stands for the keys of a mapping."""
_LEFT = frozenset({"unevaluatedItems", "unevaluatedProperties"})
"""Keywords that look at each item, at all others beside them for each."""

Price: TypeAlias = "Callable[[Any, Asked], float]"


class Asked:
    """All that schemas without references ask of the value in one place."""

    def __init__(self, schemas: Iterable[Any]) -> None:
        every = [inner for schema in schemas for inner in beside(schema)]
        self._schemas = [schema for schema in every if isinstance(schema, dict)]
        self._named = {name for schema in self._schemas for name in schema.get("properties", ())}
        self._listed = max((len(s.get("prefixItems", ())) for s in self._schemas), default=0)
        self._below: dict[str | int | None, Asked] = {}
        self._per_byte: float | None = None
        self.rules = sum(map(rules, every))
        self.divisions = sum("multipleOf" in schema for schema in self._schemas)
        self.left = sum(not _LEFT.isdisjoint(schema) for schema in self._schemas)

    @property
    def per_byte(self) -> float:
        """What the patterns take for a byte of a text."""
        if self._per_byte is None:
            patterns = (schema["pattern"] for schema in self._schemas if "pattern" in schema)
            self._per_byte = sum(map(_per_byte, patterns))
        return self._per_byte

    def inside(self, value: Any) -> Iterator[tuple[Any, Asked]]:
        """What is right inside a value, its keys too, with what is asked of each, if anything."""
        if isinstance(value, dict):
            yield from _asked(value.values(), map(self._under, value))
            yield from _asked_alike(value, self._of(_KEYS, _of_keys))
        elif isinstance(value, list):
            yield from _asked(value[: self._listed], map(self._at, count()))
            yield from _asked_alike(value[self._listed :], self._at(self._listed))

    def _under(self, key: str) -> Asked:
        if key in self._named:
            return self._of(key, lambda schema: _values(schema, key))
        return self._of(None, lambda schema: _values(schema, None))

    def _at(self, at: int) -> Asked:
        return self._of(at, lambda schema: _items(schema, at))

    def _of(
        self, step: str | int | None, ask: Callable[[Mapping[str, Any]], Iterator[Any]]
    ) -> Asked:
        """What is asked one step below; it is put together once."""
        if step not in self._below:
            self._below[step] = Asked(each for schema in self._schemas for each in ask(schema))
        return self._below[step]


def _asked(values: Iterable[Any], every: Iterable[Asked]) -> Iterator[tuple[Any, Asked]]:
    return ((value, asked) for value, asked in zip(values, every, strict=False) if asked.rules)


def _asked_alike(values: Iterable[Any], asked: Asked) -> Iterable[tuple[Any, Asked]]:
    return ((value, asked) for value in values) if asked.rules else ()


def _values(schema: Mapping[str, Any], key: str | None) -> Iterator[Any]:
    """What may be asked of the value under a key; None stands for each that nothing names.

    Where the others may not be there, all of them are one finding.
    """
    named = schema.get("properties", {})
    if key in named:
        yield named[key]
    elif isinstance(schema.get("additionalProperties"), dict):
        yield schema["additionalProperties"]
    yield from schema.get("patternProperties", {}).values()
    if isinstance(schema.get("unevaluatedProperties"), dict):
        yield schema["unevaluatedProperties"]


def _items(schema: Mapping[str, Any], at: int) -> Iterator[Any]:
    first = schema.get("prefixItems", ())
    if at < len(first):
        yield first[at]
    elif "items" in schema:
        yield schema["items"]
    yield from (schema[each] for each in ("contains", "unevaluatedItems") if each in schema)


def _of_keys(schema: Mapping[str, Any]) -> Iterator[Any]:
    if "propertyNames" in schema:
        yield schema["propertyNames"]
    yield from ({"pattern": pattern} for pattern in schema.get("patternProperties", ()))


def most(value: Any, asked: Asked, price: Price, limit: float) -> float:
    """What *price* sums up to over all that is in a value; more than *limit* is not looked into."""
    total = 0.0
    for each, of_it in _walk(value, asked):
        total += price(each, of_it)
        if total > limit:
            break
    return total


def _walk(value: Any, asked: Asked) -> Iterator[tuple[Any, Asked]]:
    yield value, asked
    if value and isinstance(value, dict | list):
        for inner, of_it in asked.inside(value):
            yield from _walk(inner, of_it)


def to_check(value: Any, asked: Asked) -> float:
    """The price of seeing whether a value is valid."""
    price = asked.rules * _CHECK
    if isinstance(value, str):
        return price + len(value.encode("utf-8", "replace")) * asked.per_byte
    if isinstance(value, dict | list):
        return price + price * asked.left * len(value)
    return price + asked.divisions * _DIVISION


def to_find(size: int, asked: Asked) -> float:
    """The price of finding all that may be wrong with a value of *size* values."""
    return asked.rules * (_FINDING + _COPY * size)


@lru_cache(maxsize=1024)
def _per_byte(pattern: str) -> float:
    """A pattern that has to follow many matches at once takes long, and a large one has many."""
    size = _SMALLEST
    while size < MOST_PATTERN and not _fits(pattern, size):
        size *= 2
    return 0.2 + 0.07 * size / 1024


def _fits(pattern: str, size: int) -> bool:
    try:
        engine({"pattern": pattern}, pattern_size=size)
    except ValueError:
        return False
    return True

"""What a JSON Schema consists of: schemas in it, what its references name, how large it is.

What may live here: which keywords hold schemas.  What may not: judging values (``engine``) and
bounds (``contract.schemas``, ``work``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from .document import Path

_ONE = frozenset(
    {
        *("not", "if", "then", "else", "items", "contains", "propertyNames", "contentSchema"),
        *("additionalProperties", "unevaluatedItems", "unevaluatedProperties"),
    }
)
_LISTED = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
DEFINED = frozenset({"$defs", "definitions"})
"""Keywords whose schemas count only where something refers to them."""
_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", *DEFINED})
_BESIDE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
"""Keywords whose schemas are asked of the same value."""
_SAID = frozenset({"$comment", "$schema", "default", "description", "examples", "title"})
"""Keywords that ask nothing of a value."""
_CHARACTERS = 100
"""Of a text, how many count as one part."""


def inside(schema: Any) -> Iterator[tuple[Path, Any]]:
    """The schemas right inside a schema, each with its place in it; references are not followed."""
    for keyword, value in schema.items() if isinstance(schema, dict) else ():
        if keyword in _ONE:
            yield (keyword,), value
        elif keyword in _LISTED and isinstance(value, list):
            yield from (((keyword, at), each) for at, each in enumerate(value))
        elif keyword in _NAMED and isinstance(value, dict):
            yield from (((keyword, name), each) for name, each in value.items())


def beside(schema: Any) -> Iterator[Any]:
    """A schema and all in it that are asked of the same value; it has no references."""
    yield schema
    for (keyword, *_), inner in inside(schema):
        if keyword in _BESIDE:
            yield from beside(inner)


def patterns(schema: Mapping[str, Any]) -> Iterator[str]:
    """The patterns of texts and of keys that a schema has, without those of the schemas in it."""
    if isinstance(schema.get("pattern"), str):
        yield schema["pattern"]
    if isinstance(schema.get("patternProperties"), dict):
        yield from schema["patternProperties"]


def size(schema: Any) -> int:
    """The parts of a schema without the schemas in it."""
    return _size(schema, ())


def rules(schema: Any) -> int:
    """How much a schema asks of one value, without what the schemas in it ask."""
    return _size(schema, _SAID)


def _size(schema: Any, left_out: frozenset[str] | tuple[str, ...]) -> int:
    if not isinstance(schema, dict):
        return 1
    plain = (k for k in schema if k not in left_out and k not in _ONE | _LISTED | _NAMED)
    return 1 + sum(_data(schema[keyword]) for keyword in plain)


def _data(value: Any) -> int:
    """The parts of what is no schema."""
    count, waiting = 0, [value]
    while waiting:
        value = waiting.pop()
        count += 1 + (len(value) // _CHARACTERS if isinstance(value, str) else 0)
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
    return count


def steps(reference: str) -> tuple[str, ...]:
    """The keys that a reference names one after the other."""
    names = map(unquote, reference.split("/")[1:])
    return tuple(name.replace("~1", "/").replace("~0", "~") for name in names)


def target(reference: str, root: Any) -> Any:
    """What a reference into *root* names.

    Raises ``LookupError`` where it leads out of it, or nowhere.
    """
    if reference != "#" and not reference.startswith("#/"):
        raise LookupError(reference)
    found = root
    for name in steps(reference):
        found = found[int(name) if isinstance(found, list) and name.isdecimal() else name]
    return found


def written_out(root: Any) -> Any:
    """The schema *root* with what its references name in their place, and without definitions.

    Raises ``ValueError`` for a reference that leads out of it, nowhere, or back to itself.
    """
    return _Writer(root).written(root)


class _Writer:
    """Writes references out; what is referred to twice is the same object twice."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._done: dict[int, Any] = {}
        self._open: set[int] = set()

    def written(self, schema: Any) -> Any:
        """A schema without references."""
        if not isinstance(schema, dict):
            return schema
        if id(schema) in self._open:
            raise ValueError("a reference leads back to itself")
        if id(schema) not in self._done:
            self._open.add(id(schema))
            self._done[id(schema)] = self._written(schema)
            self._open.remove(id(schema))
        return self._done[id(schema)]

    def _written(self, schema: Mapping[str, Any]) -> Any:
        kept = (keyword for keyword in schema if keyword not in ("$ref", *DEFINED))
        made = {keyword: self._value(keyword, schema[keyword]) for keyword in kept}
        if "$ref" not in schema:
            return made
        named = self._named(schema["$ref"])
        if isinstance(named, dict) and made.keys() <= _SAID:
            return {**named, **made}
        return {**made, "allOf": [*made.get("allOf", ()), named]}

    def _value(self, keyword: str, value: Any) -> Any:
        if keyword in _ONE:
            return self.written(value)
        if keyword in _LISTED and isinstance(value, list):
            return [self.written(each) for each in value]
        if keyword in _NAMED and isinstance(value, dict):
            return {name: self.written(each) for name, each in value.items()}
        return value

    def _named(self, reference: Any) -> Any:
        try:
            return self.written(target(reference, self._root))
        except (LookupError, TypeError, AttributeError):
            raise ValueError("a reference leads nowhere") from None

"""Schemas that a stranger's checkout may bring, each with the payload that it is slow for."""

from __future__ import annotations

import random
from collections.abc import Mapping

from nasty import PAYLOAD, Row, filled


def payload(name: str) -> str:
    """The payload of a row of ``SCHEMAS``: as much YAML as a comment has room for."""
    _, row = SCHEMAS[name]
    return row if isinstance(row, str) else filled(row, PAYLOAD)


def _keys(many: int, **asked: object) -> list[object]:
    """Schemas that each want another key, and *asked* besides."""
    return [{"required": [f"k{n}"], **asked} for n in range(many)]


def _items(schema: object) -> dict[str, object]:
    return {"properties": {"a": {"items": schema}}}


def _value(schema: object) -> dict[str, object]:
    return {"properties": {"a": schema}}


def _nested(levels: int, keyword: str, inner: object) -> object:
    for _ in range(levels):
        inner = {keyword: [inner] if keyword.endswith("Of") else inner}
    return inner


def _ab(many: int) -> str:
    return "".join(random.Random(1).choices("ab", k=many))  # noqa: S311 - the same each time


_HARD = "[ab]*a[ab]{20}c"
"""A pattern that has to follow twenty matches at once."""
_MAPPINGS = ("a:\n", "- {}\n", "")
_NUMBERS = ("a: [", "0,", "0]")
_FLOATS = ("a: [", "1.0,", "1]")
_PAIRS = "a:\n" + "".join(f" k{n}: x\n" for n in range(19_000))
_LEFT = {"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False}
_DEEP = ("a: " + "[" * 38, "0,", "0" + "]" * 38)

SCHEMAS: Mapping[str, tuple[object, Row | str]] = {
    "any of 50": (_items({"anyOf": _keys(50)}), _MAPPINGS),
    "one of 50": (_items({"oneOf": _keys(50)}), _MAPPINGS),
    "all of 400": (_items({"allOf": _keys(400)}), _MAPPINGS),
    "any of 50 for the whole": ({"anyOf": _keys(50)}, _MAPPINGS),
    "any of 50 lists": ({"anyOf": [_items(each) for each in _keys(50)]}, _MAPPINGS),
    "any of any": (_nested(45, "anyOf", _items({"required": ["k"]})), _MAPPINGS),
    "all of all": (_value(_nested(45, "allOf", {"items": {"required": ["k"]}})), _MAPPINGS),
    "8 names": (_items({"required": list("bcdefghi")}), _MAPPINGS),
    "1,900 names": (_items({"required": [f"k{n}" for n in range(1900)]}), _MAPPINGS),
    "1,900 names for the whole": ({"required": [f"k{n}" for n in range(1900)]}, _MAPPINGS),
    "conditions": (_items({"allOf": [{"if": e, "else": False} for e in _keys(200)]}), _MAPPINGS),
    "options": (_items({"enum": [f"k{n}" for n in range(1900)]}), _MAPPINGS),
    "mappings as options": (_items({"enum": [{"a": n} for n in range(500)]}), _MAPPINGS),
    "an option as long": (_items({"const": "x" * 150_000}), _MAPPINGS),
    "long words": (_items({"anyOf": _keys(45, description="y" * 1000)}), _MAPPINGS),
    "an item among items": (_value({"contains": {"type": "string"}}), _MAPPINGS),
    "items among items": (_value({"allOf": [{"contains": e} for e in _keys(200)]}), _MAPPINGS),
    "different items": (_value({"uniqueItems": True}), _MAPPINGS),
    "first items": (_value({"prefixItems": [{"type": "string"}] * 600, "items": False}), _MAPPINGS),
    "nothing": (_items(False), _MAPPINGS),
    "what is left": (_items(_LEFT), ("a:\n", "- b: 1\n", "")),
    "what is left of many": (
        _value({"anyOf": [{"properties": {f"z{n}": True}} for n in range(45)], **_LEFT}),
        _PAIRS,
    ),
    "what is left of what is left": (_value({**_LEFT, "allOf": [_LEFT]}), _PAIRS),
    "numbers": (_items({"type": "string"}), _NUMBERS),
    "50 numbers": (_items({"anyOf": [{"const": n} for n in range(1, 51)]}), _NUMBERS),
    "multiples": (_items({"allOf": [{"multipleOf": n} for n in range(2, 99)]}), _NUMBERS),
    "tiny multiples": (_items({"multipleOf": 5e-300}), ("a: [", "1e300,", "1]")),
    "whole floats": (_items({"minimum": 2}), _FLOATS),
    "whole floats as integers": (_items({"type": "integer"}), _FLOATS),
    "one pattern": (_value({"pattern": _HARD}), f"a: {_ab(250_000)}\n"),
    "one large pattern": (_value({"pattern": _HARD.replace("20", "1500")}), f"a: {_ab(250_000)}\n"),
    "50 patterns": (
        _value({"allOf": [{"pattern": _HARD.replace("20", str(n))} for n in range(20, 70)]}),
        f"a: {_ab(250_000)}\n",
    ),
    "a pattern each": (_items({"pattern": _HARD}), "a:\n" + f"- {_ab(240)}\n" * 1050),
    "patterns of keys": (
        _value({"patternProperties": {f"[kx]*{n}$": False for n in range(50)}}),
        _PAIRS,
    ),
    "a pattern of keys": (_value({"propertyNames": {"pattern": "^[ab]+$"}}), _PAIRS),
    "unknown keys": (_value({"additionalProperties": False}), _PAIRS),
    "keys that are nearly known": (
        _value({"properties": {f"k{n}{n}": {} for n in range(600)}, "additionalProperties": False}),
        _PAIRS,
    ),
    "values": (_value({"additionalProperties": {"type": "integer"}}), _PAIRS),
    "values of many rules": (
        _value({"allOf": [{"additionalProperties": {"type": "integer"}}] * 300}),
        _PAIRS,
    ),
    "deep": (_value(_nested(38, "items", {"type": "string"})), _DEEP),
}

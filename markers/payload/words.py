"""What a schema has against a value, in words.

What may live here: code, place and sentence of each kind of finding.  What may not: which findings
count (``schema``).

A schema's ``description`` says what a place wants; that of an ``if`` says when its ``then`` counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import echo
from .document import Document, Path
from .engine import Finding, value_at
from .problems import Problem, dotted, likely
from .search import UNSAID

_MOST_WORDS = 200
"""Characters of what a schema says, which somebody else may have written."""
_TYPES = {
    "array": "a list",
    "boolean": "a boolean (true or false)",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "a text",
}
_WORDS = {
    "const": ("const", "{shown} is not {expected}"),
    "contains": ("contains", "not as many of its items as wanted are of the wanted form"),
    "enum": ("enum", "{shown} is not {expected}"),
    "exclusiveMaximum": ("maximum", "{shown} is not less than {limit}"),
    "exclusiveMinimum": ("minimum", "{shown} is not more than {limit}"),
    "falseSchema": ("unknown-field", "may not be there"),
    "maxItems": ("items", "has more than {limit} items"),
    "maxLength": ("length", "{shown} is longer than {limit} characters"),
    "maxProperties": ("fields", "has more than {limit} keys"),
    "maximum": ("maximum", "{shown} is more than {limit}"),
    "minItems": ("items", "has fewer items than {limit}"),
    "minLength": ("length", "{shown} is shorter than {limit} characters"),
    "minProperties": ("fields", "has fewer keys than {limit}"),
    "minimum": ("minimum", "{shown} is less than {limit}"),
    "multipleOf": ("multiple", "{shown} is not a multiple of {multiple_of}"),
    "not": ("not", "{shown} is what may not be there"),
    UNSAID: ("schema", "{shown} is not as its schema wants it, and too large to say why"),
    "pattern": ("pattern", "{shown} is not {expected}"),
    "type": ("type", "{shown} is not {expected}"),
    "unevaluatedItems": ("items", "has an item too many"),
}
"""Code and words, by the engine's own word, where its facts are enough to tell."""
_ANY_OTHER = ("schema", "{shown} is not as its schema wants it")
OF_SIZE = frozenset(
    {"maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What is checked, and against what; *part* is the value at path *at* of the document."""

    document: Document
    at: Path
    part: Any
    schema: Any

    def problem(self, code: str, path: Path, detail: str) -> Problem:
        """A problem at *path* of the part."""
        full = (*self.at, *path)
        line = self.document.line_of(full)
        return Problem(code=code, detail=detail, field=dotted(full), line=line)

    def subschema(self, where: Sequence[str | int]) -> Mapping[str, Any]:
        """The part of the schema at *where*; an empty one where that is no mapping."""
        found = value_at(where, self.schema)
        return found if isinstance(found, dict) else {}


def explained(finding: Finding, reading: Reading) -> Iterator[Problem]:
    """The problems that a finding amounts to: mostly one."""
    explain = _SPECIAL.get(finding.kind, _plain)
    return explain(finding, reading)


def shown(value: Any) -> str:
    """A value as a message shows it."""
    if isinstance(value, dict | list):
        return _TYPES["object" if isinstance(value, dict) else "array"]
    return repr(echo(value)) if isinstance(value, str) else echo(json.dumps(value))


def _plain(finding: Finding, reading: Reading) -> Iterator[Problem]:
    code, words = _WORDS.get(finding.kind, _ANY_OTHER)
    facts = {name: fact for name, fact in finding.facts.items() if isinstance(fact, int | float)}
    about = {"expected": _expected(finding), "shown": shown(value_at(finding.path, reading.part))}
    detail = words.format(**facts, **about) + _wanted(finding, reading)
    yield reading.problem(code, finding.path, detail)


def _expected(finding: Finding) -> str:
    """What would have been right, where that is a matter of the value alone."""
    facts = finding.facts
    if "types" in facts:
        return " or ".join(_TYPES[name] for name in facts["types"])
    if "options" in facts:
        options = ", ".join(map(_option, facts["options"]))
        return f"one of {_cut(options)}"
    if "pattern" in facts:
        return f"a text of the form {_cut(facts['pattern'])}"
    return _cut(_option(facts.get("expected_value")))


def _option(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _cut(text: str) -> str:
    """A schema's words, bounded, those characters that cannot be seen as escapes."""
    kept = text if len(text) <= _MOST_WORDS else text[: _MOST_WORDS - 1] + "…"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in kept)


def _wish(subschema: Mapping[str, Any]) -> str:
    words = subschema.get("description")
    return f"; it wants {_cut(words)}" if words else ""


def _wanted(finding: Finding, reading: Reading) -> str:
    """What the schema says in words of the place, and when; at its root it speaks of itself."""
    place = finding.where[:-1]
    wish = _wish(reading.subschema(place)) if place else ""
    return wish + _condition(finding.where, reading)


def _condition(where: Sequence[str | int], reading: Reading) -> str:
    """When the place is wanted so, if not always: the nearest ``if`` around it."""
    for at in range(len(where) - 1, -1, -1):
        around = reading.subschema(where[:at])
        if where[at] not in ("then", "else") or "if" not in around:
            continue
        tested: Mapping[str, Any] = around["if"] if isinstance(around["if"], dict) else {}
        if "description" in tested:
            when = "where" if where[at] == "then" else "unless"
            return f", {when} {_cut(tested['description'])}"
        keys = ", ".join(tested.get("properties", ()))
        return f", because of {_cut(keys) or 'what is beside it'}"
    return ""


def _missing(finding: Finding, reading: Reading) -> Iterator[Problem]:
    name = finding.facts["property"]
    known = reading.subschema(finding.where[:-1]).get("properties", {}).get(name)
    wish = _wish(known if isinstance(known, dict) else {})
    detail = f"is missing{wish}{_condition(finding.where, reading)}"
    yield reading.problem("missing", (*finding.path, name), detail)


def _unknown(finding: Finding, reading: Reading) -> Iterator[Problem]:
    known = reading.subschema(finding.where[:-1]).get("properties", {})
    for name in finding.facts["unexpected"]:
        meant = likely(name, known)
        detail = "unknown key" + (f"; did you mean {_cut(meant)}?" if meant else "")
        yield reading.problem("unknown-field", (*finding.path, name), detail)


def _key(finding: Finding, reading: Reading) -> Iterator[Problem]:
    """A key that is not of the form that the schema wants its keys to have."""
    key = finding.facts["error"].instance
    detail = f"{shown(key)} is no key for this place{_wanted(finding, reading)}"
    yield reading.problem("key", (*finding.path, key), detail)


def _twice(finding: Finding, reading: Reading) -> Iterator[Problem]:
    """An item that a list has twice: the second of the two is named."""
    seen = set()
    for at, item in enumerate(value_at(finding.path, reading.part)):
        spelled = json.dumps(item, sort_keys=True)
        if spelled in seen:
            detail = f"{shown(item)} is there twice{_wanted(finding, reading)}"
            yield reading.problem("unique", (*finding.path, at), detail)
            return
        seen.add(spelled)


def _choice(finding: Finding, reading: Reading) -> Iterator[Problem]:
    """A value of no form that it could have: what the forms want, or what the nearest one does."""
    forms: Sequence[Sequence[Finding]] = finding.facts["context"]
    value = shown(value_at(finding.path, reading.part))
    if not all(forms):
        yield reading.problem("choice", finding.path, f"{value} is of two forms, and may have one")
    elif all(_alone(form, finding.path) for form in forms):
        expected = " or ".join(dict.fromkeys(_expected(form[0]) for form in forms))
        kinds = {form[0].kind for form in forms}
        code = kinds.pop() if len(kinds) == 1 else "choice"
        detail = f"{value} is not {_cut(expected)}{_wanted(finding, reading)}"
        yield reading.problem(code, finding.path, detail)
    else:
        for each in min(forms, key=lambda form: _distance(form, finding.path)):
            yield from explained(each, reading)


def _alone(form: Sequence[Finding], path: Path) -> bool:
    """Whether all that a form has against the value can be said in one word."""
    return len(form) == 1 and form[0].path == path and form[0].kind in _OF_THE_VALUE


_OF_THE_VALUE = frozenset({"const", "enum", "pattern", "type"})


def _distance(form: Sequence[Finding], path: Path) -> tuple[bool, int, int]:
    """How far a value is from a form: one of another type or with another tag is not meant."""
    other_type = any(each.kind == "type" and each.path == path for each in form)
    return other_type, sum(each.kind in ("const", "enum") for each in form), len(form)


_SPECIAL: Mapping[str, Callable[[Finding, Reading], Iterator[Problem]]] = {
    "additionalProperties": _unknown,
    "anyOf": _choice,
    "oneOf": _choice,
    "propertyNames": _key,
    "required": _missing,
    "unevaluatedProperties": _unknown,
    "uniqueItems": _twice,
}

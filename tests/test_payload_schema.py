"""A payload against its schema: code, field, line and words of each problem."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_bounds import bounded

from markers.payload.document import Document
from markers.payload.engine import compiled
from markers.payload.problems import MORE, MOST, Problem
from markers.payload.schema import check
from markers.payload.yaml12 import read_yaml

Told = list[tuple[str, str, int | None, str]]


def found(text: str, schema: Any, *, at: tuple[str | int, ...] = ()) -> list[Problem]:
    """What a schema has against a YAML text that begins in line 5."""
    return check(read_yaml(text, first_line=5), json.dumps(schema), at=at)


def told(text: str, schema: Any) -> Told:
    """Code, field, line and words of each problem."""
    return [(p.code, p.field, p.line, p.detail) for p in found(text, schema)]


ENTRY = {
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        "id": {"description": "a slug such as a-b", "type": "string", "pattern": "^[a-z-]+$"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "note": {"type": ["string", "null"], "minLength": 2, "maxLength": 4},
        "open": {"type": "boolean"},
        "rank": {"enum": ["high", "low", None]},
        "version": {"const": 2},
        "passes": {"type": "array", "minItems": 1, "maxItems": 3, "uniqueItems": True},
        "more": {"type": "object", "minProperties": 1, "maxProperties": 1},
        "share": {"exclusiveMinimum": 0, "exclusiveMaximum": 1, "type": "number"},
        "even": {"multipleOf": 2},
        "never": False,
        "names": {"propertyNames": {"description": "lower-case words", "pattern": "^[a-z]+$"}},
        "some": {"contains": {"const": 1}},
        "other": {"not": {"type": "string"}},
    },
}
LIST = {"properties": {"entries": {"type": "array", "items": ENTRY}}}
ONE_KEY: dict[str, tuple[str, str, str]] = {
    "id: 7": ("type", "", "7 is not a text; it wants a slug such as a-b"),
    "id: A": ("pattern", "", "'A' is not a text of the form ^[a-z-]+$; it wants a slug"),
    "id: null": ("type", "", "null is not a text"),
    "count: x": ("type", "", "'x' is not an integer"),
    "count: '3'": ("type", "", "'3' is not an integer"),
    "count: 1.0": ("type", "", "1.0 is not an integer"),
    "count: 1.5": ("type", "", "1.5 is not an integer"),
    "count: true": ("type", "", "true is not an integer"),
    "count: []": ("type", "", "a list is not an integer"),
    "count: {}": ("type", "", "a mapping is not an integer"),
    "count: 0": ("minimum", "", "0 is less than 1"),
    "count: 10": ("maximum", "", "10 is more than 9"),
    "note: 2026": ("type", "", "2026 is not null or a text"),
    "note: x": ("length", "", "'x' is shorter than 2 characters"),
    "note: xxxxx": ("length", "", "'xxxxx' is longer than 4 characters"),
    "open: yes": ("type", "", "'yes' is not a boolean (true or false)"),
    "rank: mid": ("enum", "", "'mid' is not one of high, low, null"),
    "version: 3": ("const", "", "3 is not 2"),
    "version: 2.0": ("const", "", "2.0 is not 2"),
    "version: '2'": ("const", "", "'2' is not 2"),
    "passes: []": ("items", "", "has fewer items than 1"),
    "passes: [1, 2, 3, 4]": ("items", "", "has more than 3 items"),
    "passes: [1, 2, 1]": ("unique", "[2]", "1 is there twice"),
    "passes: [[a], {b: c}, {b: c}]": ("unique", "[2]", "a mapping is there twice"),
    "more: {}": ("fields", "", "has fewer keys than 1"),
    "more: {a: 1, b: 2}": ("fields", "", "has more than 1 keys"),
    "share: 0.0": ("minimum", "", "0.0 is not more than 0"),
    "share: 1": ("maximum", "", "1 is not less than 1"),
    "even: 3": ("multiple", "", "3 is not a multiple of 2"),
    "never: 1": ("unknown-field", "", "may not be there"),
    "names: {A: 1}": ("key", ".A", "'A' is no key for this place; it wants lower-case words"),
    "some: [2]": ("contains", "", "not as many of its items"),
    "other: x": ("not", "", "'x' is what may not be there"),
    "Id: x": ("unknown-field", "", "unknown key; did you mean id?"),
    "zzz: x": ("unknown-field", "", "unknown key"),
}


@pytest.mark.parametrize("line", ONE_KEY)
def test_each_kind_of_problem(line: str) -> None:
    """Every keyword has its code, and its words show the value and what is wanted."""
    code, below, words = ONE_KEY[line]
    id_too = "" if line.startswith("id:") else "    id: x\n"
    ((had, field, at, detail),) = told(f"entries:\n  - id: y\n  -\n{id_too}    {line}\n", LIST)
    assert (had, field) == (code, f"entries[1].{line.partition(':')[0]}{below}")
    assert at == (8 if line.startswith("id:") else 9)
    assert words in detail


def test_a_missing_key_is_told_at_its_mapping() -> None:
    """What is missing stands nowhere: the line is that of what lacks it."""
    text = "entries:\n  - id: x\n  - count: 1\n    note: null\n"
    assert told(text, LIST) == [
        ("missing", "entries[1].id", 7, "is missing; it wants a slug such as a-b")
    ]


def test_all_problems_are_told_by_line() -> None:
    """One run is enough, however much is wrong."""
    text = "entries:\n  - zz: 1\n    count: 0\n  - id: A\n    open: no\n    yy: 1\n"
    assert [(code, field, line) for code, field, line, _ in told(text, LIST)] == [
        ("unknown-field", "entries[0].zz", 6),
        ("missing", "entries[0].id", 6),
        ("minimum", "entries[0].count", 7),
        ("pattern", "entries[1].id", 8),
        ("type", "entries[1].open", 9),
        ("unknown-field", "entries[1].yy", 10),
    ]


@pytest.mark.parametrize("text", ["[]", "x", "null", "3"])
def test_the_whole_may_be_wrong(text: str) -> None:
    """Of the payload as a whole the field is empty, and a schema's own title is not its wish."""
    schema = {"description": "A record.", "type": "object"}
    ((code, field, line, detail),) = told(text, schema)
    assert (code, field, line) == ("type", "", 5)
    assert detail.endswith("is not a mapping")


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("1.0", {"type": "number", "minimum": 1, "maximum": 1}),
        ("-2.0", {"type": ["integer", "number"], "multipleOf": 2}),
        ("1.0", {"enum": [0.5, 1.0]}),
        ("1.0", {"const": 1.0}),
        ("0.5", {"type": "number"}),
        ("{a: 1.0, b: [2, 3.0]}", {"properties": {"b": {"items": {"type": "number"}}}}),
    ],
)
def test_a_whole_float_is_a_number(value: str, schema: Any) -> None:
    """1.0 counts as what it amounts to wherever a number is wanted."""
    assert told(f"- {value}\n", {"items": schema}) == []


@pytest.mark.parametrize(
    ("value", "schema", "code"),
    [
        ("1.0", {"type": "integer"}, "type"),
        ("1e300", {"type": "integer"}, "type"),
        ("-0.0", {"type": ["null", "integer"]}, "type"),
        ("1.0", {"enum": [1, 2]}, "enum"),
        ("1.0", {"const": 1}, "const"),
        ("1.0", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "type"),
        ("2.0", {"type": "number", "maximum": 1}, "maximum"),
    ],
)
def test_a_whole_float_is_no_integer(value: str, schema: Any, code: str) -> None:
    """1.0 is a float in YAML, though JSON Schema would take it for an integer."""
    ((had, field, _, detail),) = told(f"- x\n- {value}\n", {"prefixItems": [{}, schema]})
    assert (had, field) == (code, "[1]")
    assert detail.startswith(str(float(value)))


CHOICES = {
    "const or type": {"anyOf": [{"const": "absent"}, {"type": "integer"}]},
    "types": {"oneOf": [{"type": "integer"}, {"type": ["null", "boolean"]}]},
    "patterns": {
        "description": "gh-N or file:N",
        "anyOf": [{"pattern": "^gh-[0-9]+$"}, {"pattern": "^[a-z]+:[0-9]+$"}],
    },
    "tagged": {
        "oneOf": [
            {"properties": {"v": {"const": 1}, "a": {"type": "integer"}}, "required": ["v"]},
            {"properties": {"v": {"const": 2}, "b": {}}, "required": ["v", "b"]},
        ]
    },
    "by type": {"anyOf": [{"type": "null"}, {"type": "object", "required": ["k"]}]},
    "both": {"oneOf": [{"type": "integer"}, {"minimum": 3}]},
}


@pytest.mark.parametrize(
    ("name", "value", "code", "field", "words"),
    [
        ("const or type", "x", "choice", "", "'x' is not absent or an integer"),
        ("types", "x", "type", "", "'x' is not an integer or null or a boolean (true or false)"),
        ("patterns", "x", "pattern", "", "it wants gh-N or file:N"),
        ("tagged", "{v: 1, a: x}", "type", "a", "'x' is not an integer"),
        ("tagged", "{v: 2}", "missing", "b", "is missing"),
        ("tagged", "{v: 3, b: 1}", "const", "v", "3 is not "),
        ("by type", "{}", "missing", "k", "is missing"),
        ("by type", "7", "type", "", "7 is not "),
        ("both", "4", "choice", "", "4 is of two forms, and may have one"),
    ],
)
def test_a_choice_is_told_by_its_nearest_form(
    name: str, value: str, code: str, field: str, words: str
) -> None:
    """What fits no form is told what all forms want, or what the nearest one lacks."""
    ((had, at, _, detail),) = told(f"k: {value}\n", {"properties": {"k": CHOICES[name]}})
    assert (had, at) == (code, f"k.{field}".rstrip("."))
    assert words in detail


def test_a_condition_is_named() -> None:
    """What is wanted only under a condition says which: in the schema's words, or by its keys."""
    tested = {"properties": {"version": {"const": 3}}, "required": ["version"]}
    described = {"description": "version is 3", **tested}
    for test, then, otherwise in (
        (described, ", where version is 3", ", unless version is 3"),
        (tested, ", because of version", ", because of version"),
    ):
        schema = {"if": test, "then": {"required": ["who"]}, "else": {"required": ["why"]}}
        assert told("version: 3\n", schema) == [("missing", "who", 5, f"is missing{then}")]
        assert told("version: 2\n", schema) == [("missing", "why", 5, f"is missing{otherwise}")]


def test_keys_that_look_like_places() -> None:
    """A key of digits is a key, however the engine counts it."""
    schema = {"properties": {"k": {"additionalProperties": {"type": "integer"}}}}
    text = "k:\n  7: 1\n  '007': x\n  '+7': 2\n  '+3': y\n  '99999999999999999999999': z\n"
    assert [(field, line) for _, field, line, _ in told(text, schema)] == [
        ("k.007", 7),
        ("k.+3", 9),
        ("k.99999999999999999999999", 10),
    ]


leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2, width=16) | st.text("ab")
inner_keys = st.sampled_from(["7", "007", "+7", "0", "a", "id", "count", "passes", "é/~"])
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(inner_keys, inner, max_size=4),
    max_leaves=12,
)


@given(values, st.sampled_from([ENTRY, *CHOICES.values()]))
def test_any_value_is_judged(value: Any, schema: Any) -> None:
    """Whatever a payload is, and however its keys look, it passes or is told in words."""
    for wanted in (schema, {"additionalProperties": schema, "items": schema}):
        deep = {"additionalProperties": wanted, "items": wanted}
        for problem in check(Document(value=value, place=1), json.dumps(deep)):
            assert problem.detail
            assert problem.code


def test_keys_of_a_schema_that_look_like_places() -> None:
    """A schema may name keys of digits, slashes and tildes, too."""
    wish = {"type": "integer", "description": "a count"}
    schema = {"properties": dict.fromkeys(["7", "a/b", "c~d", "é"], wish)}
    for key in schema["properties"]:
        ((_, field, _, detail),) = told(f"{key}: x\n", schema)
        assert (field, detail) == (key, "'x' is not an integer; it wants a count")


def test_a_part_of_a_document() -> None:
    """A part is judged alone, and named by its place in the whole."""
    text = "a:\n  - {}\n  - id: 7\n"
    (problem,) = found(text, ENTRY, at=("a", 1))
    assert (problem.field, problem.line) == ("a[1].id", 7)


def test_references_inside_the_schema() -> None:
    """What a definition says in words is said where it is used."""
    schema = {
        "items": {"$ref": "#/$defs/slug"},
        "$defs": {"slug": {"description": "a slug", "pattern": "^[a-z]+$"}},
    }
    ((code, field, _, detail),) = told("- a\n- B\n", schema)
    assert (code, field) == ("pattern", "[1]")
    assert detail.endswith("; it wants a slug")


def test_only_so_many_problems_are_told() -> None:
    """After fifty, that there are more; unknown keys are one each."""
    text = "entries:\n" + "  - count: 0\n" * 400
    problems = found(text, LIST)
    assert len(problems) == MOST + 1
    assert (problems[-1].code, problems[-1].detail) == (
        MORE,
        "there are more problems of this payload",
    )
    for keys, codes in ((50, ["unknown-field"] * 50), (51, ["unknown-field"] * 50 + [MORE])):
        unknown = "\n".join(f"    k{n}: 1" for n in range(keys))
        problems = found(f"entries:\n  - id: x\n{unknown}\n", LIST)
        assert [problem.code for problem in problems] == codes


def test_what_is_shown_is_bounded() -> None:
    """A value, a key, a pattern and a list of options are shown in part only."""
    schema = {
        "properties": {
            "a": {"enum": [f"option-{n}" for n in range(500)]},
            "b": {"pattern": "^(?:" + "|".join(f"p{n}" for n in range(500)) + ")$"},
            "c": {"const": "y" * 5000},
            "d": {"maxLength": 9},
        },
        "additionalProperties": False,
    }
    text = "".join(f"{key}: {'x' * 5000}\n" for key in ["a", "b", "c", "d", "k" * 900])
    for _, field, _, detail in told(text, schema):
        assert len(field) <= 80
        assert len(detail) <= 320


def test_words_of_a_schema_are_bounded_too() -> None:
    """A schema may come from a stranger: its words are cut, and have no terminal's escapes."""
    words = "\x1b[2J" + "y" * 5000
    schema = {
        "properties": {"a": {"description": words, "type": "integer"}},
        "if": {"description": words},
        "then": {"required": ["b"]},
    }
    for _, _, _, detail in told("a: x\n", schema):
        assert "\x1b" not in detail
        assert len(detail) <= 450


@pytest.mark.parametrize(
    "schema",
    [
        *("", "{", "[]", '{"type": "strin"}', '{"minimum": "x"}', '{"pattern": "(?=a)"}'),
        *(r'{"pattern": "(a)\\1"}', '{"$ref": "https://example.org/a"}', '{"$ref": "a.json"}'),
    ],
)
def test_no_schema(schema: str) -> None:
    """A text that is no schema, or needs one that is elsewhere, is an error and never a pass."""
    with pytest.raises((ValueError, TypeError)):
        check(Document(value=1, place=1), schema)


def test_a_schema_is_compiled_once() -> None:
    """The same text is the same schema."""
    assert compiled('{"type": "null"}') is compiled('{"type": "null"}')


def test_patterns_take_linear_time() -> None:
    """A pattern that others try for ever is done with at once."""
    schema = {"items": {"pattern": "^(a+)+$"}}
    with bounded():
        ((code, _, _, detail),) = told(f"- {'a' * 100_000}b\n", schema)
    assert code == "pattern"
    assert "…" in detail


RECORD = {
    "type": "object",
    "required": ["schema_version", "decisions"],
    "properties": {"decisions": {"type": "array", "uniqueItems": True, "items": ENTRY}},
}


@pytest.mark.parametrize(
    "entry",
    [
        "- {id: a, count: 3, note: ab, open: true, rank: high}",
        "- {id: A, count: 1.0, note: [], open: yes, rank: x, zz: 1}",
        "- {share: 1.0, even: 4.0, version: 2.0}",
    ],
)
def test_a_record_as_large_as_a_comment_is_checked_in_time(entry: str) -> None:
    """Right or wrong all over, it takes a time that its size bounds."""
    many = 220_000 // (len(entry) + 20)
    lines = [entry.replace("{", f"{{passes: [{number}], ", 1) for number in range(many)]
    document = read_yaml("\n".join(["schema_version: 2", "decisions:", *lines]))
    with bounded():
        problems = check(document, json.dumps(RECORD))
    assert len(problems) in (0, MOST + 1)

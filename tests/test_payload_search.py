"""What is found in a value part by part: the same as at once, as far as there is room."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markers.payload.document import Document
from markers.payload.engine import Compiled, Finding
from markers.payload.parts import written_out
from markers.payload.problems import MORE, MOST, Problem
from markers.payload.schema import check
from markers.payload.search import ROOM, UNSAID, Search

WIDE: dict[str, Any] = {
    "type": "object",
    "required": ["entries", "name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "entries": {"minItems": 2, "items": {"$ref": "#/$defs/entry"}},
        "pair": {"prefixItems": [{"type": "integer"}, False], "items": {"type": "null"}},
        "others": {"additionalProperties": {"type": "string"}, "properties": {"a": {"const": 1}}},
        "both": {"allOf": [{"items": {"minimum": 3}}, {"items": {"maximum": 3}}, {"maxItems": 3}]},
        "either": {
            "if": {"maxItems": 3},
            "then": {"items": {"type": "integer"}},
            "else": {"items": {"type": "string"}},
        },
        "left": {"items": {"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False}},
    },
    "$defs": {
        "entry": {
            "type": "object",
            "required": ["id"],
            "properties": {"id": {"type": "string"}, "7": {"type": "integer"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}, {"minProperties": 2}],
        }
    },
}


def spelled(findings: list[Finding]) -> Counter[str]:
    """The findings, whatever their order."""
    return Counter(f"{each.kind} {each.path} {each.where}" for each in findings)


def searched(value: Any, schema: Any, room: float) -> tuple[list[Finding], bool]:
    """What a search with so much room finds, and whether it left off."""
    search = Search(value, Compiled(schema), room)
    return list(search.findings()), search.left_off


def wide(wrong: int, right: int) -> dict[str, Any]:
    """A value that is wrong in all the ways that the schema knows, and right in many places."""
    entries = [{"id": n, "7": "x"} if n % 3 else {"id": "x", "a": 1} for n in range(wrong)]
    return {
        "entries": [*entries, *({"id": "x", "b": n} for n in range(right))],
        "pair": [*["x", 1] * wrong, *[None] * right],
        "others": {"a": 2, **{f"k{n}": n if n < wrong else "x" for n in range(right)}},
        "both": [*range(wrong), *[3] * right],
        "either": [*range(wrong), *["x"] * right],
        "left": [*({"a": 1, "b": n} for n in range(wrong)), *[{"a": n} for n in range(right)]],
        "more": 1,
    }


@pytest.mark.parametrize(("wrong", "right"), [(3, 0), (3, 800), (9, 800), (9, 4000)])
def test_parts_are_found_as_the_whole(wrong: int, right: int) -> None:
    """Looked at in one piece or in many, all that is wrong with a value is found, and once."""
    schema, value = written_out(WIDE), wide(wrong, right)
    whole = list(Compiled(schema).findings(value))
    found, left_off = searched(value, schema, ROOM)
    assert not left_off
    assert spelled(found) == spelled(whole)
    in_pieces = [each.path for each in found] != [each.path for each in whole]
    assert in_pieces is (right > 0)


keys = st.sampled_from(["a", "b", "7", "c/~"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)
plain = st.sampled_from(
    [
        *(True, False, {}, {"type": "string"}, {"type": ["object", "array"]}, {"minimum": 1}),
        *({"required": ["a", "b"]}, {"minItems": 2}, {"maxProperties": 1}, {"const": {"a": 1}}),
        *({"uniqueItems": True}, {"contains": {"type": "null"}}, {"pattern": "^a"}),
        *({"propertyNames": {"pattern": "^a"}}, {"enum": [1, [], {}]}),
    ]
)


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of schemas."""
    named = st.dictionaries(keys, inner, max_size=3)
    some = st.lists(inner, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "properties": named,
            "additionalProperties": inner,
            "items": inner,
            "prefixItems": some,
            "allOf": some,
            "anyOf": some,
            "oneOf": some,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "required": st.just(["a"]),
            "patternProperties": st.dictionaries(st.just("^[b7]"), inner),
            "unevaluatedProperties": inner,
            "dependentSchemas": named,
        },
    )


schemas = st.recursive(plain, composed, max_leaves=8)


@given(values, schemas, st.sampled_from([150.0, 400.0, 2000.0]))
def test_any_value_by_any_schema(value: Any, schema: Any, room: float) -> None:
    """What is found is wrong, nothing is found in what is right, and nothing wrong passes."""
    engine = Compiled(schema)
    whole = spelled(list(engine.findings(value)))
    found, left_off = searched(value, schema, room)
    told = spelled([each for each in found if each.kind != UNSAID])
    assert told <= whole
    if engine.valid(value):
        assert not found
    else:
        assert found or left_off
    if not left_off and told.total() == len(found):
        assert told == whole


def checked(value: Any, schema: Any) -> list[Problem]:
    """What is told of a value."""
    return check(Document(value=value, place=1), json.dumps(schema))


def test_the_last_of_many_is_found() -> None:
    """However many parts are right before, what is wrong is told by its place."""
    schema = {"items": {"properties": {"id": {"type": "integer"}}, "required": ["id"]}}
    value: list[Any] = [{"id": n} for n in range(20_000)]
    (problem,) = checked([*value, {"id": "x"}], schema)
    assert (problem.code, problem.field) == ("type", "[20000].id")
    assert checked(value, schema) == []


def test_a_value_that_is_wrong_all_over() -> None:
    """The first ones are told, and that there are more; how many nobody counts."""
    problems = checked([{}] * 40_000, {"items": {"required": ["a", "b", "c"]}})
    fields = [f"[{at}].{key}" for at in range(17) for key in "abc"]
    assert [problem.field for problem in problems] == [*fields[:MOST], ""]
    assert problems[-1].code == MORE


def test_what_is_too_large_to_be_told() -> None:
    """A value of no form, too large to say what each lacks, is told by its place and its wish."""
    forms = [{"items": {"required": [key]}} for key in "abcdefghijklm"]
    schema = {"properties": {"k": {"anyOf": forms, "description": "a list of one kind"}}}
    (problem,) = checked({"k": [{}] * 20_000}, schema)
    assert (problem.code, problem.field) == ("schema", "k")
    assert "is not as its schema wants it, and too large to say why" in problem.detail
    assert problem.detail.endswith("; it wants a list of one kind")


def test_what_is_too_large_to_be_searched() -> None:
    """Where the room ends before anything is found, the whole is refused all the same."""
    deep: Any = {"prefixItems": [True] * 19_999, "items": {"type": "string"}}
    value: Any = [0] * 20_000
    for _ in range(39):
        deep, value = {"allOf": [{"items": deep}]}, [value]
    (problem,) = checked(value, deep)
    assert (problem.code, problem.field) == ("schema", "")
    assert problem.detail.endswith("too large to say where: make it smaller")


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ([{}] * 40_000, {"items": {"anyOf": [{"required": [f"k{n}"]} for n in range(50)]}}),
        ("ab" * 120_000, {"allOf": [{"pattern": f"[ab]*a[ab]{{{n}}}c"} for n in range(20, 60)]}),
        ([1.5] * 20_000, {"items": {"multipleOf": 0.1}}),
        (
            {f"k{n}": 1 for n in range(9000)},
            {"patternProperties": {f"{n}$": {} for n in range(99)}},
        ),
    ],
)
def test_what_is_too_much_to_be_judged(value: Any, schema: Any) -> None:
    """What could take long is refused for its size before it is looked at."""
    (problem,) = checked(value, schema)
    assert (problem.code, problem.field) == ("size", "")
    assert problem.detail == (
        "it holds too much to be checked by its schema in time: make it smaller"
    )

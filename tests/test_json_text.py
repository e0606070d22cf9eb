"""A JSON object edited in place: what nobody touched keeps its bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markers.caches.json_text import JsonText, NotJson, _members, _start

KEYS = st.text(max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=5)
INDENTS = st.sampled_from([None, 1, 2, 4, "\t"])
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" ,  ", " :\t")])
PATHS = st.lists(KEYS, min_size=1, max_size=3).map(tuple)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """An object, spelled in one of many ways."""
    value, ascii_only = draw(OBJECTS), draw(st.booleans())
    indent, separators = draw(INDENTS), draw(SEPARATORS)
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_only)
    text = draw(st.sampled_from(["", "\ufeff", "\r\n", " "])) + text
    return text.encode("utf-8", "replace").decode()


def expected(value: dict[str, Any], path: tuple[str, ...], new: Any) -> dict[str, Any]:
    """What an ordinary dictionary holds after the same change."""
    head, *rest = path
    inner = value.get(head)
    below = inner if isinstance(inner, dict) else {}
    return {**value, head: expected(below, tuple(rest), new) if rest else new}


def raw_members(document: JsonText, *, but: str) -> list[str]:
    """Key and value of each member, as they are spelled."""
    members = _members(document.text, _start(document.text))
    return [document.text[each.start : each.end] for each in members if each.key != but]


@given(texts(), PATHS, VALUES)
def test_a_member_is_put_wherever_it_stands(text: str, path: tuple[str, ...], new: Any) -> None:
    """The object says what a dictionary would say after the same assignment."""
    before = JsonText.read(text.encode())
    after = before.put(path, new)
    assert JsonText.read(after.text.encode()).value == after.value
    assert after.value == expected(before.value, path, new)


@given(texts(), PATHS, VALUES)
def test_what_is_not_touched_keeps_its_bytes(text: str, path: tuple[str, ...], new: Any) -> None:
    """Every other member has the very text that it had, in the order that it had."""
    before = JsonText.read(text.encode())
    after = before.put(path, new)
    assert raw_members(after, but=path[0]) == raw_members(before, but=path[0])
    assert after.text.startswith(before.text[: _start(before.text)])


@given(texts(), PATHS)
def test_a_member_is_removed_and_no_other(text: str, path: tuple[str, ...]) -> None:
    """What is gone is what a dictionary would let go of."""
    before = JsonText.read(text.encode())
    after = JsonText.read(before.remove(path).text.encode())
    wanted: Any = json.loads(json.dumps(before.value))
    at = wanted
    for name in path[:-1]:
        at = at.get(name) if isinstance(at, dict) else None
    if isinstance(at, dict):
        at.pop(path[-1], None)
    assert after.value == wanted


def test_numbers_escapes_and_spacing_of_neighbours_stay() -> None:
    """A number that no float holds, an escape and odd spacing are as they were."""
    text = '{ "big":1e400 ,"esc" : "\\u00e9\\/",\n\n"deep": {"x":[1 , 2]}, "last": 1.0 }'
    after = JsonText.read(text.encode()).put(("deep", "y"), None)
    assert after.text == (
        '{ "big":1e400 ,"esc" : "\\u00e9\\/",\n\n"deep": {"x":[1 , 2], "y": null}, "last": 1.0 }'
    )


def test_of_a_repeated_key_the_last_counts() -> None:
    """The member that every reader takes is the one that is changed."""
    again = JsonText.read(b'{"a": 1, "b": 2, "a": 3}')
    assert again.get(("a",)) == 3
    assert again.put(("a",), 4).text == '{"a": 1, "b": 2, "a": 4}'
    assert again.remove(("a",)).text == '{"b": 2}'


def test_a_byte_order_mark_stays() -> None:
    """It is no reason to call a file broken, nor to lose it."""
    assert JsonText.read(b'\xef\xbb\xbf{"a": 1}').put(("a",), 2).text == '\ufeff{"a": 2}'


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not JSON"),
        (b"[]", "a list"),
        (b"null", "null"),
        (b'"x"', "a text"),
        (b"3", "a number"),
        (b"true", "true or false"),
        (b'{"a": 1', "not JSON"),
        (b'{"a": NaN}', "NaN"),
        (b"\x00\x01", "not JSON"),
        (b"\xff\xfe{}", "not UTF-8"),
        pytest.param(b'{"a":' * 100_000, "nested too deeply", id="deep"),
    ],
)
def test_what_is_no_object_is_told(data: bytes, why: str) -> None:
    """Each reason names what was found."""
    with pytest.raises(NotJson, match=why):
        JsonText.read(data)

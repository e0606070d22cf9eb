"""``key: value`` lines and ``- **key**: value`` bullets: read with their lines, and written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_bounds import bounded

from markers.payload.bullets import read_bullets, write_bullets
from markers.payload.document import Document
from markers.payload.flawed import Flawed
from markers.payload.lines import read_lines


def lines(text: str) -> Document:
    """Plain lines that begin in line 10."""
    return read_lines(text.splitlines(), first_line=10)


def bullets(text: str) -> Document:
    """Bullets that begin in line 10."""
    return read_bullets(text.splitlines(), first_line=10)


def told(read: Any, text: str) -> list[tuple[str, str, int | None]]:
    """Code, field and line of each problem."""
    with pytest.raises(Flawed) as caught:
        read(text)
    return [(problem.code, problem.field, problem.line) for problem in caught.value.problems]


BLOCK = """\
finding_key: code-review:F1
# a comment
escape_distance: 0
seed: false

appended_at: 2026-05-01T10:00:00Z
title: "a # b: c"  # another
owner: 'it''s'
why:
sure: yes
"""


def test_lines_are_read_as_yaml_reads_them() -> None:
    """Types, quotes and comments are those of YAML 1.2; each value knows its line."""
    read = lines(BLOCK)
    assert read.value == {
        "finding_key": "code-review:F1",
        "escape_distance": 0,
        "seed": False,
        "appended_at": "2026-05-01T10:00:00Z",
        "title": "a # b: c",
        "owner": "it's",
        "why": None,
        "sure": "yes",
    }
    assert [read.line_of([key]) for key in read.value] == [10, 12, 13, 15, 16, 17, 18, 19]
    assert read.line_of() == 10


@pytest.mark.parametrize(
    ("line", "code", "field"),
    [
        ("  b: 1", "syntax", ""),
        ("b:1", "syntax", ""),
        ("- b", "syntax", ""),
        ("prose", "syntax", ""),
        ("b c: 1", "syntax", ""),
        ('"b": 1', "syntax", ""),
        ("---", "syntax", ""),
        ("<!-- x -->", "syntax", ""),
        ("b: [1]", "type", "b"),
        ("b: {c: 1}", "type", "b"),
        ("b: 'open", "syntax", "b"),
        ("b: x: y", "syntax", ""),
        ("b: &x 1", "anchor", "b"),
        ("b: *x", "alias", "b"),
        ("b: !!str 1", "tag", "b"),
        ("b: .inf", "number", "b"),
        ("b: \x07", "control-character", ""),
        ("a: 2", "duplicate-key", "a"),
    ],
)
def test_a_line_that_is_none(line: str, code: str, field: str) -> None:
    """Anything but a key at the start with one scalar is refused with its line."""
    assert told(lines, f"a: 1\n\n{line}\nc: 3\n") == [(code, field, 12)]


def test_a_line_that_wants_more_lines() -> None:
    """A value of more than one line is refused at the first line too many."""
    for begin in ("a: |", "a: >-", "a: text", "a:"):
        assert told(lines, f"{begin}\n  text\n") == [("syntax", "", 11)]


def test_all_bad_lines_are_told() -> None:
    """Each line is judged alone."""
    assert [line for _, _, line in told(lines, "a\nb: 1\nc: [\nb: 2\n d: 1\n")] == [10, 12, 13, 14]


REPORT = """\
## A report

- **halt_reason**: budget-exhausted
- **issue**: 12
- **target_ref**: null
- **contract_hash**: 1234567890123456789012345678901234567890123456789012345678901234
- **when**: 2026-05-01
- **sure**: true
- **zero**: 0
- **padded**: 007
- **evidence**:
  - first: one

  - 12
  - "12"
- **budget**:
  - **tokens_used**: 5
  - **wall**: 01:30
- **none**: []
- **empty**:

Some prose.
  - which is not below a key
- an ordinary bullet
- **Not a key** and more
"""


def test_bullets() -> None:
    """Values are text, short integers and null; bullets below a key are its list or mapping."""
    read = bullets(REPORT)
    assert read.value == {
        "halt_reason": "budget-exhausted",
        "issue": 12,
        "target_ref": None,
        "contract_hash": "1234567890123456789012345678901234567890123456789012345678901234",
        "when": "2026-05-01",
        "sure": "true",
        "zero": 0,
        "padded": "007",
        "evidence": ["first: one", 12, "12"],
        "budget": {"tokens_used": 5, "wall": "01:30"},
        "none": [],
        "empty": "",
    }
    assert read.line_of(["issue"]) == 13
    assert read.line_of(["evidence"]) == 21
    assert read.line_of(["evidence", 1]) == 23
    assert read.line_of(["budget", "wall"]) == 27
    assert read.line_of(["missing"]) == 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- **a**: 1\n- **a**: 2\n", [("duplicate-key", "a", 11)]),
        ("- **m**:\n  - **a**: 1\n  - **a**: 2\n", [("duplicate-key", "m.a", 12)]),
        ("- **a**: 1\n  - below\n", [("syntax", "a", 11)]),
        ("- **a**:\n  more\n", [("syntax", "a", 11)]),
        ("- **a**: 1\n  more\n", [("syntax", "a", 11)]),
        ("- **a**:\n    - too deep\n", [("syntax", "a", 11)]),
        ("- **a**:\n  - x\n  - **b**: 1\n", [("syntax", "a", 12)]),
        ("- **a**:\n  - **b**: 1\n  - x\n", [("syntax", "a", 12)]),
        (
            "- **a**: 1\n- **a**: 2\n  more\n",
            [("duplicate-key", "a", 11), ("syntax", "a", 12)],
        ),
    ],
)
def test_bullets_that_are_none(text: str, expected: list[tuple[str, str, int]]) -> None:
    """A key twice, and a value of more than one line, are refused with key and line."""
    assert told(bullets, text) == expected


scalars = (
    st.text()
    | st.sampled_from(["null", "12", "[]", "{}", '"12"', '"\\"1\\""', "**a**: b", '"', "- x", "0"])
    | st.none()
    | st.integers(-(10**9) + 1, 10**10 - 1)
)
keys = st.from_regex(r"[A-Za-z_](?:[\w -]{0,8}\w)?", fullmatch=True)
inside = st.lists(scalars, max_size=4) | st.dictionaries(keys, scalars, max_size=4)


@given(st.dictionaries(keys, scalars | inside, max_size=5))
@example({"a": " x", "b": "x\t", "c": "", "d": "a\nb\r", "e": ["", " "], "f": {"g": "\n"}})
def test_bullets_are_written_and_read_back(value: dict[str, Any]) -> None:
    """What is written reads back as it was, one line a bullet, also without trailing blanks."""
    written = write_bullets(value)
    assert not any(set(line) & set("\r\n") for line in written)
    assert read_bullets([line.rstrip(" \t") for line in written], first_line=1).value == value


def test_text_is_written_as_it_is() -> None:
    """Only a text that would read back as something else is quoted."""
    value = {"a": 'say "x"', "b": "12", "c": ["x", None], "d": {"e": 3}, "f": (), "g": {}}
    assert write_bullets(value) == [
        '- **a**: say "x"',
        '- **b**: "12"',
        "- **c**:",
        "  - x",
        "  - null",
        "- **d**:",
        "  - **e**: 3",
        "- **f**: []",
        "- **g**: {}",
    ]


@pytest.mark.parametrize(
    "value",
    [{"a": 1.5}, {"a": True}, {"a": 10**10}, {"a": [["x"]]}, {"a*b": 1}, {" a": 1}, {"": 1}],
)
def test_what_bullets_cannot_say(value: dict[str, Any]) -> None:
    """What would not read back is not written."""
    with pytest.raises(ValueError, match=r"cannot be"):
        write_bullets(value)


PIECES = ["- **a**: b", "- **a**:", "  - x", "  - **c**: d", "prose", "  more", "", "a: 1", " b: 2"]


@given(st.lists(st.text() | st.sampled_from(PIECES), max_size=12))
def test_any_lines_are_read_or_refused(given_lines: list[str]) -> None:
    """No text is a traceback, and every problem has its line."""
    for read in (read_lines, read_bullets):
        try:
            last = read(given_lines, first_line=3).line_of()
        except Flawed as flawed:
            last = max(problem.line or 0 for problem in flawed.problems)
        assert 3 <= last <= 3 + len(given_lines)


@pytest.mark.parametrize(
    "line",
    ["a: 1", "- **a**: 1", "- **" + "a " * 100, "- **a**:", "  - **a**: 1", '  - "' + '\\"' * 99],
)
def test_lines_are_read_in_time(line: str) -> None:
    """As many lines as a comment has are read or refused in a time that their size bounds."""
    many = ["- **k**:", *[line] * (250_000 // len(line)), "- **" + "x" * 250_000, '"' * 250_000]
    for read in (read_lines, read_bullets):
        with bounded(), pytest.raises(Flawed):
            read([*many, "- **k**: 1"], first_line=1)

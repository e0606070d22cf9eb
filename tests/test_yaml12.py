"""YAML 1.2 as payloads are read: values, lines, and everything that is refused by name."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from test_bounds import bounded

from markers.payload.document import Document
from markers.payload.flawed import Flawed
from markers.payload.problems import MOST, Problem
from markers.payload.yaml12 import LIMIT, MOST_DEPTH, read_yaml

SCALARS: dict[str, Any] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
    "0": 0,
    "-0": 0,
    "+12": 12,
    "-7": -7,
    "007": 7,
    "9" * 20: 10**20 - 1,
    "0o17": 15,
    "0x1F": 31,
    "0xff": 255,
    "1.5": 1.5,
    "-.5": -0.5,
    "1.": 1.0,
    "1e3": 1000.0,
    "1E-2": 0.01,
    "+1.0": 1.0,
}
TEXTS = [
    *("yes", "no", "on", "off", "y", "N", "Yes", "nULL", "tRUE", "<<", "="),
    *("2026-05-01", "2026-05-01T10:00:00Z", "12:30:00", "1_000", "0b1", "0o8", "0xg", "-0x1"),
    *("1.2.3", "1e", "e5", ".", "+", "--1", "1 2", ".e1", "+.x", "inf", "nan"),
    *("9f86d081884c7d659a2feaa0c55ad015", "gh-12", "a#b", "a:b", "äöü", "😀"),
]
NUMBERS = [
    *("9" * 21, "-" + "1" * 21, "0x" + "f" * 21, "0o" + "7" * 21),
    *(".inf", "-.Inf", "+.INF", ".nan", ".NaN", ".NAN", "1e999", "1." + "0" * 50),
]


@pytest.fixture(params=[True, False], ids=["libyaml", "pure"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML with libyaml and without."""
    if request.param and not yaml.__with_libyaml__:
        pytest.skip("this PyYAML has no libyaml")
    monkeypatch.setattr(yaml, "__with_libyaml__", request.param)


def problems(text: str, first_line: int = 1) -> tuple[Problem, ...]:
    """What the text is refused for."""
    with pytest.raises(Flawed) as caught:
        read_yaml(text, first_line=first_line)
    assert caught.value.problem is caught.value.problems[0]
    return caught.value.problems


def told(text: str) -> list[tuple[str, str, int | None]]:
    """Code, field and line of each problem."""
    return [(problem.code, problem.field, problem.line) for problem in problems(text)]


@pytest.mark.parametrize("text", SCALARS)
def test_plain_scalar(text: str) -> None:
    """A plain scalar stands for what the core schema says, type included."""
    value = read_yaml(f"a: {text}").value["a"]
    assert (value, type(value)) == (SCALARS[text], type(SCALARS[text]))


@pytest.mark.parametrize("text", TEXTS)
def test_plain_text(text: str) -> None:
    """What the core schema does not name is text, whatever YAML 1.1 made of it."""
    assert read_yaml(f"a: {text}").value == {"a": text}


@pytest.mark.parametrize("text", [*SCALARS, *TEXTS, *NUMBERS])
def test_quoted_scalar_is_text(text: str) -> None:
    """Quotes and blocks make any scalar a text."""
    assert read_yaml(f"- '{text}'\n- \"{text}\"\n").value == [text, text]
    assert read_yaml(f"- |-\n  {text}\n- >-\n  {text}\n").value == [text, text]


@pytest.mark.parametrize("text", NUMBERS)
def test_number_that_is_refused(text: str) -> None:
    """Numbers that JSON does not have, and endless ones, are refused by field and line."""
    (problem,) = problems(f"a:\n  - x\n  - {text}\n")
    assert (problem.code, problem.field, problem.line) == ("number", "a[1]", 3)
    assert "quotes" in problem.detail


def test_keys_become_their_text() -> None:
    """A key is text as it is spelled, and two that are spelled alike are one."""
    text = "1: a\ntrue: b\n~: c\n'': d\n1.0: e\n0x1: f\n<<: g\n"
    assert list(read_yaml(text).value) == ["1", "true", "~", "", "1.0", "0x1", "<<"]
    assert told('1: a\n"1": b\n') == [("duplicate-key", "1", 2)]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "--- ~\n", "null"])
def test_nothing_is_null(text: str) -> None:
    """An empty document has the value None."""
    assert read_yaml(text).value is None


LINES = """\
a: 1
b:
  - x
  - k: |
      long
      text
    m: {n: [1,
       2]}

c:
"d": e
"""


@pytest.mark.usefixtures("either")
def test_every_value_knows_its_line() -> None:
    """A value's line is where it begins; what is not there has its nearest ancestor's."""
    read = read_yaml(LINES, first_line=10)
    lines = {
        (): 10,
        ("a",): 10,
        ("b",): 12,
        ("b", 0): 12,
        ("b", 1): 13,
        ("b", 1, "k"): 13,
        ("b", 1, "m"): 16,
        ("b", 1, "m", "n", 1): 17,
        ("c",): 19,
        ("d",): 20,
        ("zz",): 10,
        ("b", 1, "zz"): 13,
        ("b", 7): 12,
        ("b", -1): 12,
        ("b", "k"): 12,
        ("a", "deeper"): 10,
        ("b", 1, "k", 0): 13,
    }
    assert {path: read.line_of(path) for path in lines} == lines


def test_line_endings_do_not_move_lines() -> None:
    """CRLF and CR end a line as LF does."""
    for end in ("\n", "\r\n", "\r"):
        read = read_yaml(LINES.replace("\n", end))
        assert read.line_of(["d"]) == 11
        assert read.value["b"][1]["k"] == "long\ntext\n"


@pytest.mark.parametrize(
    ("text", "code", "field", "line"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", "duplicate-key", "b.c", 4),
        ("a: 1\nb: {c: 1, c: 2}\n", "duplicate-key", "b.c", 2),
        ("a: &x 1\n", "anchor", "a", 1),
        ("a: &x\n  b: 1\n", "anchor", "a", 1),
        ("- 1\n- &x [1]\n", "anchor", "[1]", 2),
        ("&x a: 1\n", "anchor", "", 1),
        ("a: *x\n", "alias", "a", 1),
        ("*x : 1\n", "alias", "", 1),
        ("a: !!str 1\n", "tag", "a", 1),
        ("a: !own 1\n", "tag", "a", 1),
        ("a: ! 1\n", "tag", "a", 1),
        ("!!map {a: 1}\n", "tag", "", 1),
        ("%YAML 1.2\n---\na: 1\n", "directive", "", 1),
        ("%TAG ! tag:example.org,2000:\n---\na: 1\n", "directive", "", 1),
        ("a: 1\n---\nb: 2\n", "documents", "", 2),
        ("---\n---\n", "documents", "", 2),
        ("[a, b]: 1\n", "complex-key", "", 1),
        ("a:\n  ? {b: 1}\n  : c\n", "complex-key", "a", 2),
        ("a: 1\n b: 2\n", "syntax", "", 2),
        ("a: 'open\n", "syntax", "a", 1),
        ("x:\n\na: 'open\nb: 1\n\n", "syntax", "a", 3),
        ("a: [1, 2\n", "syntax", "a[2]", 1),
        ("a: 1\n- b\n", "syntax", "", 2),
        ("a:\n\t- b\n", "syntax", "a", 2),
        ("a: 1\n} b\n", "syntax", "", 2),
        ("a: @b\n", "syntax", "a", 1),
        ('a: "\\q"\n', "syntax", "a", 1),
        ('a: "\\ud800"\n', "syntax", "a", 1),
        ("a: 1\nb: \x07\n", "control-character", "", 2),
        ("a: \x00\n", "control-character", "", 1),
        ("a: \ufffe\n", "control-character", "", 1),
        ("a: 1\nb: \ud800\n", "surrogate", "", 2),
        ("a: 1\n\nb: x\u2028c: 2\n", "line-break", "", 3),
        ("a: |\n  x\x85y\n", "line-break", "", 2),
        ("a: x\u2029y\n", "line-break", "", 1),
    ],
)
def test_what_is_refused(text: str, code: str, field: str, line: int) -> None:
    """Whatever is no payload is refused by its own code, with field and line."""
    assert told(text)[0] == (code, field, line)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\na: 2\n", "'a' is there twice, see line 1"),
        ("a: &x 1\n", "'&x' is an anchor"),
        ("- *x\n", "'*x' is an alias: write the value out"),
        ("a: b: c\n", "a text with ': ' in it needs quotes"),
        ("a: `b`\n", "a text that begins so needs quotes"),
        ("a: 'open\nb: 1\n", "unexpected end of stream (while scanning a quoted scalar)"),
        ("a: x\u2028y\n", "U+2028 ends a line for some YAML readers only"),
    ],
)
def test_words(text: str, words: str) -> None:
    """A refusal says what is wrong and what to do."""
    assert words in problems(text)[0].reason().detail


@pytest.mark.usefixtures("either")
def test_several_problems_are_told_together() -> None:
    """What does not end the reading is told beside the rest."""
    text = "a: 1\na: &x 2\nb: .inf\nc: *x\n? [d]\n: !!str e\nf: 'open\n"
    assert told(text) == [
        ("duplicate-key", "a", 2),
        ("anchor", "a", 2),
        ("number", "b", 3),
        ("alias", "c", 4),
        ("complex-key", "", 5),
        ("tag", "?", 6),
        ("syntax", "f", 7),
    ]


def test_only_so_many_problems_are_told() -> None:
    """After fifty, how many more there are."""
    found = problems("a: 1\n" * 1000)
    assert len(found) == MOST + 1
    assert "949 more" in found[-1].detail


def test_messages_are_bounded() -> None:
    """Nothing that is refused is shown at length."""
    long = "x" * 5000
    for text in (f"{long}: 1\n", f"a: &{long} 1\n", f"a: !{long} 1\n", f"- {'9' * 5000}\n"):
        for problem in problems(text * 2):
            assert len(problem.detail) <= 250
            assert len(problem.field) <= 80


def nested(levels: int) -> str:
    """Lists in lists."""
    return "[" * levels + "]" * levels


@pytest.mark.parametrize("make", [nested, lambda n: "- " * n + "x", lambda n: "{a: " * n + "}" * n])
def test_nesting_is_bounded(make: Any) -> None:
    """Forty levels are read, and one more is refused."""
    assert read_yaml(make(MOST_DEPTH)).value
    assert told(make(MOST_DEPTH + 1))[0][0] == "nesting"


def test_size_is_bounded() -> None:
    """The size is that of the text in UTF-8."""
    assert read_yaml("é" * (LIMIT // 2)).value
    for text in ("é" * (LIMIT // 2) + "e", "\ud800" * LIMIT, "a" * 10**7):
        assert told(text) == [("size", "", 1)]


HOSTILE = {
    "list": "- a\n" * 65_000,
    "mapping": "\n".join(f"k{n}: v" for n in range(25_000)),
    "one key again": "a: 1\n" * 50_000,
    "empty keys": "?\n" * 130_000,
    "aliases": "- *a\n" * 50_000,
    "anchors": "- &a 1\n" * 37_000,
    "tags": "- !x 1\n" * 37_000,
    "numbers": "- 1.0\n" * 43_000,
    "endless integer": "1" * LIMIT,
    "endless float": "1." + "1" * (LIMIT - 2),
    "infinities": "- .inf\n" * 37_000,
    "pairs": "[" + "a: 1," * 50_000 + "]",
    "brackets": "[" * LIMIT,
    "braces": "{" * LIMIT,
    "brackets on lines": "[\n" * (LIMIT // 2),
    "complex keys": "? [a]\n: b\n" * 26_000,
    "documents": "---\n" * 65_000,
    "blanks": " " * LIMIT,
    "line ends": "\n" * LIMIT,
    "comments": "#\n" * (LIMIT // 2),
    "open quote": '"' + "a" * (LIMIT - 1),
    "escapes": '"' + "\\n" * (LIMIT // 2 - 1) + '"',
    "folded": "a: >\n" + "  b\n" * 65_000,
    "long key": "a" * 200_000 + ": 1",
    "plain lines": "a\n " * 87_000,
    "quotes": "''" * (LIMIT // 2),
    "breaks": "\x85" * (LIMIT // 2),
    "surrogates": "\ud800" * (LIMIT // 3),
    "colons": ": " * (LIMIT // 2),
    "steps": "\n".join(" " * n + "-" for n in range(700)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_is_read_in_time(name: str) -> None:
    """A text as large as a comment is read or refused in a time that its size bounds."""
    assert len(HOSTILE[name].encode("utf-8", "surrogatepass")) <= LIMIT
    with bounded():
        try:
            assert isinstance(read_yaml(HOSTILE[name]), Document)
        except Flawed as flawed:
            assert len(flawed.problems) <= MOST + 1  # noqa: PT017 - a value is as good an end


PIECES = [
    *"ab:-?[]{}&*!|>'\"%@`#,\n \t~.0x1e+\x00\x85\u2028\ufeff\ud800é",
    "\n  ",
    "\n- ",
    ": ",
    "---\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text is a traceback, and whatever is told has a line of the text."""
    try:
        lines = [read_yaml(text, first_line=5).line_of()]
    except Flawed as flawed:
        lines = [problem.line or 0 for problem in flawed.problems]
    assert all(5 <= line <= 5 + len(text.splitlines()) for line in lines)


@pytest.mark.usefixtures("either")
def test_pure_and_c_refuse_half_a_pair() -> None:
    """An escape may not bring in what the text may not have."""
    assert told('a: "\\ud800"')[0][0] in ("syntax", "surrogate")


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20) + 1, 10**20 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(
        st.characters(
            exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\ufeff\ufffe\uffff"
        )
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abc: #'\"1é", max_size=4), inner, max_size=4)
    ),
    max_leaves=15,
)


@given(values)
def test_json_is_yaml(value: Any) -> None:
    """What JSON says reads as JSON means it, numbers to the last digit."""
    read = read_yaml(json.dumps(value, ensure_ascii=False)).value
    assert read == value
    assert json.dumps(read) == json.dumps(value)
    assert not (isinstance(value, float) and math.isnan(value))

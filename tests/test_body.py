"""Lines, their ends and how they are replaced; which lines are code, as CommonMark says."""

from __future__ import annotations

import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown import LINES, MARKDOWN, bodies
from nasty import TEXTS, Row, filled

from markers.body import BLANKS, Body
from markers.hygiene.fences import blocks

NEW = st.lists(LINES, max_size=3)


@st.composite
def cuts(draw: st.DrawFn) -> tuple[Body, int, int, list[str]]:
    """A body, some of its lines (or a place between two) and what takes their place."""
    body = Body(draw(bodies()))
    first = draw(st.integers(1, len(body.lines) + 1))
    last = draw(st.integers(first - 1, len(body.lines)))
    return body, first, last, draw(NEW)


def whole(body: Body, lines: range) -> str:
    """Some lines with their ends."""
    return "".join(body.line(n) + body.ends[n - 1] for n in lines)


@given(bodies())
def test_lines_and_ends_are_the_text(text: str) -> None:
    """Lines with their ends join to the text, no line holds an end, and only the last has none."""
    body = Body(text)
    assert whole(body, range(1, len(body.lines) + 1)) == text
    assert not any(re.search(r"[\r\n]", line) for line in body.lines)
    assert [n for n, end in enumerate(body.ends, 1) if not end] == [len(body.lines)]


@given(cuts())
def test_what_is_outside_a_replacement_stays(cut: tuple[Body, int, int, list[str]]) -> None:
    """Before and behind the replaced lines the text is byte-identical."""
    body, first, last, new = cut
    text = body.replaced(first, last, new)
    before, after = whole(body, range(1, first)), whole(body, range(last + 1, len(body.lines) + 1))
    assert text.startswith(before)
    assert text.endswith(after)
    inside = Body(text[len(before) : len(text) - len(after)])
    assert [line for line in inside.lines if line] == [line for line in new if line]


@given(cuts())
def test_a_replacement_done_twice_is_done_once(cut: tuple[Body, int, int, list[str]]) -> None:
    """Replacing what was put in by the same again changes nothing, whatever the ends are."""
    body, first, last, new = cut
    once = Body(body.replaced(first, last, new))
    if new and first <= len(body.lines):
        assert once.replaced(first, first + len(new) - 1, new) == once.text


@given(bodies(), st.data())
def test_new_lines_end_as_their_neighbours(text: str, data: st.DataObject) -> None:
    """A CRLF body stays one, and in a mixed body new lines end as those that they replace."""
    body = Body(text)
    number = data.draw(st.integers(1, len(body.lines)))
    new = Body(body.replaced(number, number, ["x", "y"]))
    own = body.ends[number - 1] or (body.ends[number - 2] if number > 1 else "\n")
    assert new.ends[number - 1] == own
    assert new.ends[number] == body.ends[number - 1]
    assert set(new.ends) <= {*body.ends, own}


@given(bodies(), NEW.filter(any))
def test_what_is_appended_stands_below_a_blank_line(text: str, new: list[str]) -> None:
    """Appending keeps the text's beginning and its blank end, and parts the new lines from it."""
    body = Body(text)
    longer = Body(body.appended(new))
    solid = max((n for n, line in enumerate(body.lines, 1) if line.strip(BLANKS)), default=1)
    assert longer.lines[:solid] == body.lines[:solid]
    assert longer.lines[solid : solid + 1 + len(new)] == ("", *new)
    assert "".join(longer.text.split()) == "".join((text + "".join(new)).split())


def test_a_splice_may_take_the_last_line_or_follow_it() -> None:
    """The last line's missing end is kept, and supplied where something follows it."""
    assert Body("a\r\nb").replaced(2, 2, ["c", "d"]) == "a\r\nc\r\nd"
    assert Body("a\r\nb").inserted(2, ["c"]) == "a\r\nb\r\nc"
    assert Body("a\r\nb").inserted(0, ["c"]) == "c\r\na\r\nb"
    assert Body("a\nb\n").replaced(2, 2, []) == "a\n"
    assert Body("a").appended(["b"]) == "a\n\nb"
    assert Body("a\n\n\n").appended(["b"]) == "a\n\nb\n\n\n"


@given(MARKDOWN)
def test_the_fences_are_commonmarks(text: str) -> None:
    """The same lines are fenced code here and for the CommonMark parser."""
    lines = range(1, text.count("\n") + 1)
    assert Body(text).fenced.intersection(lines) == blocks(text).fenced


@pytest.mark.parametrize(
    ("text", "fenced"),
    [
        ("```\na\n~~~\n````\nb", [1, 2, 3, 4]),
        ("````\n```\nb", [1, 2, 3]),
        ("~~~ a`b\n~~~", [1, 2]),
        ("``` a`b\nc", []),
        ("a\n    ```\nb", []),
        ("- a\n\n  ```\n<!-- x -->", [3]),
        ("> ```\n> a\nb", [1, 2]),
        ("> a\n```\nb", [2, 3]),
        ("<!-- a\n```\n-->\nb", []),
        ("```\n<!-- a\n```\nb", [1, 2, 3]),
        ("-\n\n  ```\nb", [3, 4]),
        ("-\n  ```\nb", [2]),
        ("a\n2. ```\nb", []),
        ("a\n1. ```\nb", [2]),
        ("a\n===\n2. ```\nb", [3]),
        ("- " * 25 + "\n", []),
    ],
)
def test_a_fence_goes_as_far_as_its_holder(text: str, fenced: list[int]) -> None:
    """Longer fences, other ticks, lists, quotes, paragraphs and comments decide what is code."""
    assert sorted(Body(text).fenced) == fenced


def test_other_html_than_comments_is_text() -> None:
    """The one known difference: a fence right below a tag is a fence, and HTML for CommonMark."""
    text = "<details>\n```\na\n```\n"
    assert sorted(Body(text).fenced) == [2, 3, 4]
    assert blocks(text).fenced == frozenset()


def test_a_fence_says_what_it_is() -> None:
    """Its info, where it opens, whether it is closed, and the lines between its ends."""
    listed, closed, bare = Body("- ```  a b \n\n``` yaml\t\nx\n```\n\n ~~~\ny").fences
    assert (listed.info, listed.at_line_start, listed.closed) == ("a b", False, False)
    assert (closed.info, closed.at_line_start, closed.inner) == ("yaml", True, range(4, 5))
    assert (bare.info, bare.at_line_start, bare.inner) == ("", False, range(8, 9))


SLOW: dict[str, Row] = {
    "items in one line": ("1. " * 30 + "\n", "\n", ""),
    "quotes in one line": ("> " * 30 + "a\n", "b\n", ""),
    "wide items": ("", "-   *    ", "x"),
    "a rule that is none": ("", "- ", "x"),
    "many ticks": ("", "`" * 1000 + "a\n", ""),
    "ticks in an info": ("", "```" * 100 + " `\n", ""),
}
PICKED = ("blanks", "tabs", "line ends", "fences of two kinds", "openings, a line each", "bullets")


@pytest.mark.parametrize("row", [*SLOW, *PICKED])
def test_reading_lines_takes_linear_time(row: str) -> None:
    """Half a megabyte, twice what a comment may have, takes four times as long as an eighth."""
    taken = {}
    for size in (1 << 17, 1 << 19):
        text = filled({**TEXTS, **SLOW}[row], size)
        begun = process_time()
        assert Body(text).fenced is not None
        taken[size] = process_time() - begun
    assert taken[1 << 19] < 12 * taken[1 << 17] + 0.2

"""Blocks inside bodies: where they are found, what is in them, and how they are replaced."""

from __future__ import annotations

import os
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown import LINES, MARKDOWN, bodies
from nasty import Row, filled

from markers.blocks import Block, find, splice
from markers.body import Body
from markers.contract import load

CONTRACT = load()
SPINE = CONTRACT.family("frame-spine")
PAIR = CONTRACT.family("phase-containment")
HEAD = CONTRACT.family("brief_dispositions")
POINTER = CONTRACT.family("phase-containment-ledger-ref")
KINDS = (SPINE, PAIR, HEAD, POINTER)
NAMES = [family.name for family in KINDS]
RECORDED = Path(os.environ.get("RECORDED_DIR", "/nonexistent")) / "agent-orchestra"

TAGS = st.sampled_from(
    [
        *("<!-- frame-spine", "<!-- frame-spine -->", "<!-- frame-spine a: b -->", "-->", "x -->"),
        *("<!-- phase-containment-7 -->", "<!-- /phase-containment-7 -->", "--> tail"),
        *("<!-- phase-containment-8 -->", "<!-- /phase-containment-8 -->", "a: b", "  a: b", ""),
        *("brief_dispositions:", "<!-- phase-containment-ledger-ref: 5 -->", "```", "<!--", "~~~"),
    ]
)
CONTENT = st.lists(LINES.filter(lambda line: "-->" not in line and "<!--" not in line), max_size=3)


def found(text: str, family: str = "frame-spine") -> list[Block]:
    """The blocks of a family in a text."""
    return list(find(Body(text), CONTRACT.family(family)))


def inner(text: str, family: str = "frame-spine") -> list[tuple[str, ...]]:
    """What is in the blocks of a family, all closed."""
    blocks = found(text, family)
    assert all(block.closed for block in blocks)
    return [block.inner for block in blocks]


@given(bodies(TAGS))
def test_blocks_stand_in_order_and_apart(text: str) -> None:
    """Blocks of one family do not overlap, begin where they say, and hold the lines they name."""
    body = Body(text)
    for family in KINDS:
        end = 0
        for block in find(body, family):
            assert end < block.first <= block.last <= len(body.lines)
            assert body.line(block.first).startswith(family.template[:12].split(" ...")[0])
            inside = range(block.inner_first, block.inner_first + len(block.inner))
            for line, whole in zip(block.inner, body.between(inside), strict=True):
                assert line in whole
            end = block.last


@given(bodies(TAGS), st.data())
def test_what_is_outside_a_splice_stays(text: str, data: st.DataObject) -> None:
    """Before and behind the spliced block the text is byte-identical."""
    body = Body(text)
    blocks = [block for family in KINDS for block in find(body, family)]
    if not blocks:
        return
    block, new = data.draw(st.sampled_from(blocks)), data.draw(CONTENT)
    parts = [line + end for line, end in zip(body.lines, body.ends, strict=True)]
    before = "".join(parts[: block.first - 1])
    spliced = splice(body, block, new)
    assert spliced.startswith(before)
    assert spliced.endswith("".join(parts[block.last :]))
    if block.tail:
        assert Body(spliced).line(block.first - 1 + max(len(new), 1)).endswith(block.tail)


@given(bodies(LINES), CONTENT, CONTENT, st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_splice_done_twice_is_done_once(
    prose: str, old: list[str], new: list[str], end: str
) -> None:
    """What was spliced in is found again, and splicing the same again changes nothing."""
    text = end.join(["a", "", "<!-- frame-spine", *old, "--> tail", "", ""]) + prose
    body = Body(text)
    block = find(body, SPINE)[0]
    once = Body(splice(body, block, ["<!-- frame-spine", *new, "-->"]))
    again = find(once, SPINE)[0]
    assert (again.first, again.last) == (block.first, block.first + len(new) + 1)
    assert once.line(again.last) == "--> tail"
    assert splice(once, again, ["<!-- frame-spine", *new, "-->"]) == once.text
    assert "\r" not in end or once.text.count(end) >= len(new) + 5


@given(MARKDOWN, st.sampled_from(NAMES))
def test_nothing_in_code_is_a_block(text: str, name: str) -> None:
    """Whatever stands above it, a block in a fence of its own is none, but for a YAML head."""
    lines = {
        "frame-spine": "<!-- frame-spine\na: b\n-->",
        "phase-containment": "<!-- phase-containment-7 -->\n<!-- /phase-containment-7 -->",
        "brief_dispositions": "brief_dispositions:\n  a: b",
        "phase-containment-ledger-ref": "<!-- phase-containment-ledger-ref: 5 -->",
    }[name]
    closed = text + "-->\n\n`````\n~~~~~\n\n"  # whatever is open there ends, and begins no code
    if Body(closed + "x").fenced.isdisjoint([len(Body(closed).lines)]):
        assert len(found(closed + lines, name)) == 1
        fenced = found(closed + f"``````\n{lines}\n``````\n", name)
        assert len(fenced) == (name == "brief_dispositions")


@pytest.mark.parametrize(
    "text",
    [
        "<!-- frame-spine\na: b\n-->",
        "<!-- frame-spine -->\na: b\n-->",
        "<!-- frame-spine a: b -->",
        "<!-- frame-spine a: b\n-->",
        "<!-- frame-spine\t\na: b -->",
        "<!-- frame-spine\na: b --> tail",
        "x\r\n<!-- frame-spine\r\na: b\r\n-->\r\ny",
    ],
)
def test_a_block_has_two_forms(text: str) -> None:
    """The comment may hold the content, or its tag is closed at once and a lone arrow ends it."""
    assert [[line.strip() for line in each] for each in inner(text)] == [["a: b"]]


@pytest.mark.parametrize(
    "text",
    [
        "see <!-- frame-spine ... --> there",
        "`<!-- frame-spine -->`",
        " <!-- frame-spine\na: b\n-->",
        "<!-- frame-spines\na: b\n-->",
        "<!-- frame-spine-2\na: b\n-->",
        "```\n<!-- frame-spine\na: b\n-->\n```",
        "> <!-- frame-spine\n> a: b\n> -->",
        "- a\n\n  <!-- frame-spine\n  a: b\n  -->",
        "<!--\n<!-- frame-spine\na: b\n-->",
    ],
)
def test_a_mention_is_no_block(text: str) -> None:
    """Prose, code, quotes, lists, indentation, longer names and comments hide what looks alike."""
    assert found(text) == []


def test_an_unclosed_block_says_so() -> None:
    """Its content goes to the end of the text; a tag closed at once has none then."""
    (within,) = found("a\n<!-- frame-spine\nb: c")
    assert (within.closed, within.first, within.last, within.inner) == (False, 2, 3, ("b: c",))
    below, real = found("<!-- frame-spine -->\na\n<!-- frame-spine\nb\n-->")
    assert (below.closed, below.first, below.last, below.inner) == (False, 1, 1, ())
    assert (real.closed, real.inner) == (True, ("b",))


def test_pairs_close_with_their_own_number() -> None:
    """An opening tag that another number's tag, another opening or nothing follows is unclosed."""
    tag, other = "<!-- phase-containment-7 -->", "<!-- phase-containment-8 -->"
    text = "\n".join([tag, "a", tag, "b", "<!-- note -->", tag.replace("p", "/p", 1), other, "c"])
    first, second, third = found(text, "phase-containment")
    assert (first.closed, first.first, first.last, first.inner) == (False, 1, 2, ("a",))
    assert (second.closed, second.first, second.last) == (True, 3, 6)
    assert second.inner == ("b", "<!-- note -->")
    assert (third.closed, third.id, third.last) == (False, "8", 8)
    (wrong,) = found(f"{tag}\na\n<!-- /phase-containment-8 -->", "phase-containment")
    assert (wrong.closed, wrong.last) == (False, 2)


def test_a_head_ends_where_its_indentation_does() -> None:
    """The first line in the first column, or the end of the fence that it stands in, ends it."""
    text = "brief_dispositions:  \n  a: b\n\n  c: d\n\ne"
    (block,) = found(text, "brief_dispositions")
    assert (block.first, block.last) == (1, 4)
    assert block.inner == ("brief_dispositions:  ", "  a: b", "", "  c: d")
    (fenced,) = found("```yaml\nbrief_dispositions:\n  a: b\n \n```\n", "brief_dispositions")
    assert (fenced.first, fenced.last) == (2, 3)
    assert found("<!--\nbrief_dispositions:\n  a: b\n-->\nbrief_dispositions: x", HEAD.name) == []


def test_a_pointer_is_a_line_with_a_value() -> None:
    """Any value is found, for a validator to judge; text behind it makes it no pointer."""
    text = "<!-- phase-containment-ledger-ref: 5 -->\n<!-- phase-containment-ledger-ref: x y -->  "
    assert inner(text + "\n<!-- phase-containment-ledger-ref: 5 --> a", POINTER.name) == [
        ("5",),
        ("x y",),
    ]


def test_a_comment_family_has_no_blocks() -> None:
    """What is a whole comment is found in none."""
    assert found("<!-- plan-issue-7 -->", "plan-issue") == []


SLOW: dict[str, Row] = {
    "openings": ("", "<!-- frame-spine\n", ""),
    "tags": ("", "<!-- frame-spine -->\n", ""),
    "tags with content": ("", "<!-- frame-spine -->\na\n", ""),
    "one tag": ("<!-- frame-spine -->\n", "a\n", ""),
    "one opening": ("<!-- frame-spine\n", "a\n", ""),
    "fences": ("", "```\n", ""),
    "open pairs": ("", "<!-- phase-containment-7 -->\n", ""),
    "pairs that do not fit": (
        "",
        "<!-- phase-containment-7 -->\n<!-- /phase-containment-8 -->\n",
        "",
    ),
    "closing tags": ("", "<!-- /phase-containment-7 -->\n", ""),
    "heads": ("", "brief_dispositions:\n", ""),
    "one head": ("brief_dispositions:\n", " a\n", ""),
    "a head and blank lines": ("brief_dispositions:\n", "\n", "a"),
    "heads in a fence": ("```\n", "brief_dispositions:\n a\n", "```"),
    "pointers": ("", "<!-- phase-containment-ledger-ref: 5 -->\n", ""),
    "a wide pointer": ("<!-- phase-containment-ledger-ref: ", " ", "-->"),
}


@pytest.mark.parametrize("row", SLOW)
def test_finding_blocks_takes_linear_time(row: str) -> None:
    """Half a megabyte, twice what a comment may have, takes four times as long as an eighth."""
    taken = {}
    for size in (1 << 17, 1 << 19):
        body = Body(filled(SLOW[row], size))
        begun = process_time()
        for family in KINDS:
            find(body, family)
        taken[size] = process_time() - begun
    assert taken[1 << 19] < 12 * taken[1 << 17] + 0.2


@pytest.mark.needs("recordings")
@pytest.mark.parametrize(
    ("name", "family", "first", "count"),
    [
        ("frame-spine-878-historical", "frame-spine", 1, 65),
        ("frame-spine-prose-mention-plus-real", "frame-spine", 3, 17),
        ("frame-slice-s1-878-historical", "frame-slice", 1, 12),
        ("frame-slice-prose-mention-plus-real", "frame-slice", 3, 9),
        ("judge-rulings-878-historical", "judge-rulings", 1, 68),
        ("judge-rulings-prose-mention-plus-real", "judge-rulings", 3, 8),
        ("judge-rulings-pr-surface-879-historical", "judge-rulings", 1, 35),
        ("judge-rulings-pr-surface-prose-mention-plus-real", "judge-rulings", 7, 10),
        ("plan-issue-878-historical", "phase-containment-ledger-ref", 3, 1),
        ("plan-issue-prose-mention-plus-real", "phase-containment-ledger-ref", 7, 1),
        ("design-phase-complete-878-historical", "finding_dispositions", 8, 22),
        ("design-phase-complete-prose-mention-plus-real", "finding_dispositions", 10, 8),
    ],
)
def test_the_recorded_blocks_are_found(name: str, family: str, first: int, count: int) -> None:
    """Of each real body the one real block is found, closed, and no mention of it in prose."""
    (block,) = found((RECORDED / f"{name}.txt").read_bytes().decode(), family)
    assert (block.first, len(block.inner), block.closed) == (first, count, True)

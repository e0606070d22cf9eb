"""The one YAML fence of a payload: which it is, and by what name all others are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markers.body import Body
from markers.codec import derive
from markers.contract import load
from markers.payload.fenced import Fenced, the_fence, the_fence_or_rest
from markers.payload.flawed import Flawed
from markers.validators import judge

M = "<!-- credit-input-plan-12 -->"


def flaw(text: str) -> tuple[str, int | None, str]:
    """Code, line and words of why a body has no payload."""
    with pytest.raises(Flawed) as caught:
        the_fence(Body(text))
    problem = caught.value.problem
    return problem.code, problem.line, problem.reason().detail


@pytest.mark.parametrize(
    "opening",
    ["```yaml", "```yml", "```YAML", "``` Yml", "````yaml", "```yaml title=a", "```\tyaml"],
)
def test_what_opens_a_payload(opening: str) -> None:
    """Three backticks or more in the first column, then the word in any letter case."""
    text = f"{M}\n\n{opening}\na: 1\n\nb: 2\n````\n\nmore"
    assert the_fence(Body(text)) == Fenced(text="a: 1\n\nb: 2", first_line=4)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_do_not_count(end: str) -> None:
    """The text is joined by LF, so that a reader of YAML counts the lines as they are counted."""
    text = f"{M}\n```yaml\na: 1\nb: 2\n```".replace("\n", end)
    assert the_fence(Body(text)) == Fenced(text="a: 1\nb: 2", first_line=3)


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("a: 1", None, "of a line"),
        ("  ```yaml\na: 1\n  ```", 2, "line 2 is indented, in a list or in a quote"),
        ("- ```yaml\n  a: 1\n  ```", 2, "in a list"),
        ("> ```yaml\n> a: 1\n> ```", 2, "in a quote"),
        ("~~~yaml\na: 1\n~~~", 2, "made of tildes"),
        ("```json\n{}\n```", 2, "line 2 does not say yaml"),
        ("```yamlish\n{}\n```", 2, "does not say yaml"),
        ("```\n{}\n```", 2, "does not say yaml"),
        ("<!--\n```yaml\na: 1\n```\n-->", 3, "inside an HTML comment or another fence"),
        ("````\n```yaml\na: 1\n```\n````", 3, "another fence"),
        ("<!-- open\n\n```yml\na: 1\n```", 4, "HTML comment"),
    ],
)
def test_a_body_without_a_payload(text: str, line: int | None, hint: str) -> None:
    """The hint says what was probably meant for it, and why it does not count."""
    code, found, detail = flaw(f"{M}\n{text}")
    assert (code, found) == ("fence-missing", line)
    assert hint in detail


def test_two_payloads() -> None:
    """Both lines are named."""
    code, line, detail = flaw(f"{M}\n```yaml\na: 1\n```\n\n```yml\nb: 1\n```")
    assert (code, line) == ("fence-twice", 6)
    assert "on line 2 and one on line 6" in detail


def test_a_payload_that_is_not_closed() -> None:
    """The line that opens it is named."""
    assert flaw(f"{M}\n```yaml\na: 1\n``` end")[:2] == ("fence-unclosed", 2)


ENDED_EARLY = [
    # what stands there, the line, words
    ("a: |\n  b\n  ```\n  c\n  ```\nd: 1\n```", 5, "though it is indented, and line 6"),
    ("a: |\n  b\n  ```sh\n  c\n  ```\nd: 1\n```", 7, "though it is indented, and line 8"),
    ("a: |\n b\n ```\n c\n```", 5, "though it is indented, and line 6"),
    ("a: |\n b\n   `````\n\n\n c\n```", 5, "though it is indented, and line 8"),
    ("a: 1\n ```\n\nProse.", 4, "stands in the first column"),
    ("a: |\n  b\n```\n  c\n```", 7, "a fence that is never closed"),
    ("a: |\n  b\n```\nc: 1\n```\nd: 1\n```\n\n```\n```", 6, "which ends on line 5"),
    ("a: |\n  b\n```\n  c\n\nProse.", 6, "which ends on line 5"),
    ("a:\n- |\n  b\n```\n- c: 1\n", 7, "which ends on line 6"),
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("text", "line", "words"), ENDED_EARLY)
def test_a_payload_that_its_own_text_ends(text: str, line: int, words: str, end: str) -> None:
    """What CommonMark takes for the end may be a text's line; what is behind it would get lost."""
    code, found, detail = flaw(f"{M}\n```yaml\n{text}".replace("\n", end))
    assert (code, found) == ("backticks", line)
    assert words in detail
    assert "four backticks around the payload" in detail


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n```\n\nProse: see below.\n\n```\ncode\n```",
        "a: 1\n```\nProse right below.\n\n```sh\ncode\n```",
        "a: 1\n```\n- an item\n",
        "a: 1\n ```\n \n",
        "a: 1\n  ```",
        "a: 1\n```\n\n~~~\nopen",
        "a: 1\n```\n\n```sh\nopen",
    ],
)
def test_what_is_left_behind_is_no_part_of_it(text: str) -> None:
    """Prose and other fences below a payload's end are nobody's loss."""
    assert the_fence(Body(f"{M}\n```yaml\n{text}")).text == "a: 1"


def test_more_backticks_around_it_take_three_in() -> None:
    """It is what the refusal advises."""
    text = "a: |\n  ```sh\n  b\n  ```\nc: 1"
    assert the_fence(Body(f"{M}\n````yaml\n{text}\n````\n")).text == text


@pytest.mark.parametrize(
    "other",
    ["```json\n{}\n```", "- ```yaml\n  a: 1\n  ```", "~~~yaml\na: 1\n~~~", "<!--\n```yaml\n-->"],
)
def test_other_fences_beside_the_payload(other: str) -> None:
    """What does not count does no harm."""
    text = f"{M}\n\n```yaml\na: 1\n```\n\n{other}"
    assert the_fence(Body(text)).text == "a: 1"


def test_the_rest_is_the_payload_only_where_there_is_no_fence() -> None:
    """A fence that is there and does not count is told, and not read as YAML."""
    assert the_fence_or_rest(Body(f"{M}\na: 1\nb: 2\n")) == Fenced(
        text="a: 1\nb: 2\n", first_line=2
    )
    assert the_fence_or_rest(Body(M)) == Fenced(text="", first_line=2)
    assert the_fence_or_rest(Body(f"{M}\n```yaml\na: 1\n```")).text == "a: 1"
    for text in ("- ```yaml\n  a: 1\n  ```", "```\na: 1\n```", "<!--\n```yaml\n-->"):
        with pytest.raises(Flawed) as caught:
            the_fence_or_rest(Body(f"{M}\n{text}"))
        assert caught.value.problem.code == "fence-missing"


PIECES = st.sampled_from(
    [
        "```yaml",
        "```",
        "````",
        "~~~",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\t",
        "- ",
        "> ",
        "<!--",
        "-->",
        "a: 1",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.text(max_size=4), max_size=14).map("".join))
def test_any_body_has_one_payload_or_a_named_flaw(text: str) -> None:
    """And the payload's lines stand in the body where it is said that they do."""
    body = Body(f"{M}\n{text}")
    for read in (the_fence, the_fence_or_rest):
        found = outcome(read, body)
        if isinstance(found, str):
            assert found in {"fence-missing", "fence-twice", "fence-unclosed", "backticks"}
        else:
            lines = found.text.split("\n") if found.text else []
            stop = found.first_line + len(lines)
            assert list(body.between(range(found.first_line, stop))) == lines


def outcome(read: Callable[[Body], Fenced], body: Body) -> Fenced | str:
    """What *read* finds, or the code of what it raises."""
    try:
        return read(body)
    except Flawed as flawed:
        return flawed.problem.code


def test_a_familys_own_schema_is_checked(tmp_path: Path) -> None:
    """A family of a team's own has a schema and no validator: its fence keeps to the schema."""
    for folder in ("families", "schemas"):
        (tmp_path / folder).mkdir()
    (tmp_path / "families" / "own.toml").write_text(
        'name = "own"\nmarker = "<!-- own-{ID} -->"\nstatus = "active"\nscope = "comment"\n'
        'shape = "upsert"\nsurface = ["issue"]\nschema = "own.schema.json"\n'
    )
    (tmp_path / "schemas" / "own.schema.json").write_text(
        '{"type": "object", "required": ["mood"], "properties": {"mood": {"type": "string"}}}'
    )
    contract = load([tmp_path])
    marker = derive(contract.family("own"), 12)

    def told(text: str) -> list[tuple[str, int | None]]:
        return [(p.code, p.line) for p in judge(f"{marker.text}\n{text}", marker, contract)]

    assert told("```yaml\nmood: calm\n```") == []
    assert told("```yaml\nmood: 1\n```") == [("type", 3)]
    assert told("```yaml\nmind: calm\n```") == [("missing", 3)]
    assert told("mood: calm") == [("fence-missing", None)]
    assert told("```yaml\nmood: |\n  calm\n  ```\n  or not\n  ```\n```") == [("backticks", 5)]
    assert told("````yaml\nmood: |\n  calm\n  ```\n  or not\n  ```\n````") == []

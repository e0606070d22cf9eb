"""What ``markers.steps.ledger`` makes of a ledger's comment: heads, blocks, stamps, refusals."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from worlds import CONTRACT

from markers.body import Body
from markers.errors import Refused
from markers.model import Marker
from markers.steps.containment import latest
from markers.steps.ledger import FORMS, NOTHING_FOUND, Mode, ledger
from markers.validators import judge

LEDGER = Marker(
    text="<!-- phase-containment-ledger-12 -->", family="phase-containment-ledger", number=12
)
DESIGN = Marker(text="<!-- design-phase-complete-12 -->", family="design-phase-complete", number=12)
NOON, LATER = "2026-03-01T12:00:00Z", "2026-03-01T13:00:00Z"
RULINGS = "<!-- judge-rulings\n- finding_id: M1\n  judge_ruling: sustained\n-->\n"
OTHER_RULINGS = RULINGS.replace("M1", "M2")
BRIEF = """\
brief_dispositions:
  convergence_filter_ran: true
  filtered_count: 3
  findings:
    - finding_id: N1
      disposition: incorporate
"""
PLACEHOLDER = "\n".join(NOTHING_FOUND)


def block(name: str, *, severity: str = "high", number: int = 12, more: str = "") -> str:
    """A block as a caller's file has it."""
    return (
        f"<!-- phase-containment-{number} -->\n"
        f"finding_key: plan-stress-test:12:{name}\n"
        f"severity: {severity}\n"
        f"{more}"
        f"<!-- /phase-containment-{number} -->\n"
    )


def stamped(text: str, now: str) -> str:
    """The same as it is written."""
    return text.replace("<!-- /", f"appended_at: {now}\n<!-- /").rstrip("\n")


def plan(
    there: str | None, *, head: str | None = None, containment: str = "", now: str = NOON
) -> str:
    """The ledger's comment after ``--mode plan``."""
    return ledger(there, LEDGER, Mode.PLAN, head=head, containment=containment, now=now)


def brief(there: str | None, head: str | None, containment: str = "") -> str:
    """The ledger's comment after ``--mode brief``."""
    return ledger(there, LEDGER, Mode.BRIEF, head=head, containment=containment, now=NOON)


def design(there: str | None, containment: str = "", head: str | None = None) -> str:
    """The design's comment after ``--mode design``."""
    return ledger(there, DESIGN, Mode.DESIGN, head=head, containment=containment, now=NOON)


def test_a_first_ledger_is_marker_head_and_stamped_blocks() -> None:
    """Head before blocks, each with the writer's stamp, a blank line between two of them."""
    made = plan(None, head=RULINGS, containment=block("a") + "\n" + block("b"))
    parts = [
        LEDGER.text,
        RULINGS.rstrip("\n"),
        stamped(block("a"), NOON),
        stamped(block("b"), NOON),
    ]
    assert made == "\n\n".join(parts)


def test_a_review_that_found_nothing_still_writes_its_head() -> None:
    """Without any file, with a blank one and with an empty head the placeholder is written."""
    for head in (None, "\n", "<!-- judge-rulings\n-->\n"):
        assert plan(None, head=head) == f"{LEDGER.text}\n\n{PLACEHOLDER}"


EMPTY = ("", "\n \n", "<!-- judge-rulings\n-->\n", "<!-- judge-rulings -->\n\n-->\n")


@pytest.mark.parametrize("head", EMPTY)
@pytest.mark.parametrize("there", ["rulings", "blocks", "both"])
def test_an_empty_head_voids_nothing(head: str, there: str) -> None:
    """A file that came out empty is an accident where there is something that it would void."""
    rulings = RULINGS if there != "blocks" else PLACEHOLDER
    standing = f"{LEDGER.text}\n\n{rulings}\n"
    if there != "rulings":
        standing += f"\n{stamped(block('a'), NOON)}\n"
    with pytest.raises(Refused, match="line 1 of the head file: it has no rulings") as caught:
        plan(standing, head=head)
    assert (caught.value.reason.code, caught.value.reason.line) == ("empty-head", 1)
    assert "leave the file out" in caught.value.reason.detail
    assert plan(standing) == standing


@pytest.mark.parametrize("head", EMPTY)
def test_an_empty_head_does_not_come_with_blocks(head: str) -> None:
    """They would count beside a head that says that nothing was found."""
    with pytest.raises(Refused) as caught:
        plan(None, head=head, containment=block("a"))
    assert caught.value.reason.code == "empty-head"


@pytest.mark.parametrize("head", EMPTY)
def test_an_empty_head_is_the_placeholder_where_there_is_nothing(head: str) -> None:
    """Also where the placeholder, or a head that says nothing, stands already."""
    made = plan(None, head=head)
    assert made == f"{LEDGER.text}\n\n{PLACEHOLDER}"
    assert plan(made, head=head) == made
    assert plan(f"{LEDGER.text}\n\n<!-- judge-rulings\n-->", head=head) == made


def test_the_own_head_is_replaced_where_it_stands() -> None:
    """A second head is never added, and the words around it stay."""
    there = f"{LEDGER.text}\r\n\r\nabove\r\n{RULINGS}below\r\n"
    made = plan(there, head=OTHER_RULINGS)
    assert made.startswith(f"{LEDGER.text}\r\n\r\nabove\r\n<!-- judge-rulings")
    assert made.endswith("-->\nbelow\r\n")
    assert "M2" in made
    assert "M1" not in made


def test_a_new_head_stands_before_blocks_that_are_there() -> None:
    """Blocks count only with a head in the same comment, and readers meet the head first."""
    there = f"{LEDGER.text}\n\nwords\n\n{stamped(block('a'), NOON)}\n"
    made = plan(there, head=RULINGS)
    assert made == there.replace("words\n\n", f"words\n\n{RULINGS}\n")


def test_blocks_are_told_apart_by_their_finding() -> None:
    """New is added, different is replaced in place, equal keeps its old stamp; all in one text."""
    there = plan(None, head=RULINGS, containment=block("a") + block("b"))
    made = plan(there, containment=block("c") + block("a", severity="low") + block("b"), now=LATER)
    parts = [
        LEDGER.text,
        RULINGS.rstrip("\n"),
        stamped(block("a", severity="low"), LATER),
        stamped(block("b"), NOON),
        stamped(block("c"), LATER),
    ]
    assert made == "\n\n".join(parts)


def test_a_callers_own_stamp_is_overwritten() -> None:
    """``appended_at`` is the writer's, and does not count when blocks are compared."""
    own = block("a", more="appended_at: 2001-01-01T00:00:00Z\n")
    made = plan(None, head=RULINGS, containment=own)
    assert made.count("appended_at") == 1
    assert f"appended_at: {NOON}" in made
    assert plan(made, containment=own, now=LATER) == made


def test_a_brief_has_a_head_of_its_own() -> None:
    """Its head is a YAML key in the first column, replaced as a whole."""
    there = brief(None, BRIEF, block("a"))
    assert there.startswith(f"{LEDGER.text}\n\n{BRIEF}\n<!-- phase-containment-12 -->")
    made = brief(there, BRIEF.replace("incorporate", "dismiss"))
    assert made == there.replace("incorporate", "dismiss")


def test_a_design_gets_blocks_alone() -> None:
    """No head and no pointer: its comment is the phase's own record."""
    there = f"{DESIGN.text}\n\nDone.\n"
    assert design(there, block("a")) == f"{there}\n{stamped(block('a'), NOON)}\n"
    assert design(there) == there
    assert FORMS[Mode.DESIGN].head is None


def test_a_body_with_crlf_stays_so() -> None:
    """What is put behind lines that end with CRLF ends with CRLF."""
    made = design(f"{DESIGN.text}\r\n\r\nDone.\r\n", block("a"))
    assert made.count("\n") == made.count("\r\n")


HEADS = [
    ("text only\n", "one-head", 1),
    (RULINGS + OTHER_RULINGS, "one-head", 5),
    ("words\n" + RULINGS, "stray-text", 1),
    (RULINGS + "words\n", "stray-text", 5),
    (RULINGS.rstrip() + " words\n", "stray-text", 4),
    ("```\n" + RULINGS + "```\n", "one-head", 1),
    ("  " + RULINGS, "one-head", 1),
    ("<!-- judge-rulings\n- finding_id: M1\n", "unclosed-block", 1),
    (BRIEF, "wrong-head", 1),
]


@pytest.mark.parametrize(("text", "code", "line"), HEADS)
def test_a_bad_head_file_is_refused_with_its_line(text: str, code: str, line: int) -> None:
    """The file holds exactly one whole head and nothing else."""
    with pytest.raises(Refused, match=f"line {line} of the head file: ") as caught:
        plan(None, head=text)
    assert (caught.value.reason.code, caught.value.reason.line) == (code, line)


CONTAINMENT = [
    ("words\n", "stray-text", 1),
    (block("a") + "words\n", "stray-text", 5),
    ("```\n" + block("a") + "```\n", "stray-text", 1),
    (block("a") + block("a", severity="low"), "duplicate-finding-key", 5),
    (block("a", number=13), "block-number", 1),
    (block("a").rpartition("<!--")[0], "unclosed-block", 1),
    (block("a").replace("finding_key", "key"), "missing", 1),
    (block("a").replace("plan-stress-test:12:a", ""), "missing", 1),
    (block("a", more="no key here\n"), "syntax", 4),
    (block("a", more="severity: low\n"), "duplicate-key", 4),
    (block("race in PR #3") + block("race in PR #4"), "spelling", 2),
]


@pytest.mark.parametrize(("text", "code", "line"), CONTAINMENT)
def test_a_bad_containment_file_is_refused_with_its_line(text: str, code: str, line: int) -> None:
    """The file holds whole blocks of this issue, one for each finding, and nothing else."""
    with pytest.raises(Refused, match=f"line {line} of the containment file: ") as caught:
        plan(None, head=RULINGS, containment=text)
    assert (caught.value.reason.code, caught.value.reason.line) == (code, line)


STANDING = [
    (RULINGS + OTHER_RULINGS, "the second judge-rulings head", 7),
    (BRIEF, "of another review", 3),
    ("<!-- judge-rulings\n- finding_id: M1\n", "has no end", 3),
]


@pytest.mark.parametrize(("text", "why", "line"), STANDING)
def test_a_comment_whose_head_cannot_be_told_is_not_edited(text: str, why: str, line: int) -> None:
    """Two heads, another review's head and an open one are ``could-not-verify``."""
    with pytest.raises(Refused, match=why) as caught:
        plan(f"{LEDGER.text}\n\n{text}", head=RULINGS)
    assert (caught.value.reason.code, caught.value.reason.line) == ("could-not-verify", line)


def test_a_standing_block_whose_key_is_cut_replaces_nothing() -> None:
    """It may be about the same finding, or about another one: it stays as it is."""
    there = f"{LEDGER.text}\n\n{RULINGS}\n{block('race in PR #3')}"
    made = plan(there, containment=block("race in PR"))
    assert made.startswith(there)
    assert made.endswith(stamped(block("race in PR"), NOON) + "\n")


def test_blocks_need_a_head() -> None:
    """A head that says that nothing was found is not made up beside blocks."""
    with pytest.raises(Refused, match="no judge-rulings head") as caught:
        plan(None, containment=block("a"))
    assert caught.value.reason.code == "missing-head"
    with pytest.raises(Refused, match="no judge-rulings head"):
        plan(f"{LEDGER.text}\n\n{block('a')}")


def test_a_brief_cannot_be_empty() -> None:
    """No head says of itself that the filter has run."""
    with pytest.raises(Refused, match="no brief_dispositions head") as caught:
        brief(None, None)
    assert caught.value.reason.code == "missing-head"
    with pytest.raises(Refused, match="exactly one brief_dispositions block"):
        brief(None, "")


def test_a_brief_takes_no_rulings() -> None:
    """A review without a judge must not borrow a judge's words."""
    with pytest.raises(Refused, match="judge-rulings is of another review"):
        brief(None, RULINGS)


def test_a_design_takes_no_head_and_makes_no_comment() -> None:
    """It has no judge, and the record that it adds to is another command's."""
    with pytest.raises(Refused, match="has no judge") as caught:
        design(f"{DESIGN.text}\n", head=RULINGS)
    assert caught.value.reason.code == "no-head"
    with pytest.raises(Refused, match="no comment with") as caught:
        design(None, block("a"))
    assert caught.value.reason.code == "no-target"


@pytest.mark.parametrize("end", ["```yaml\nfindings:\n", "<!-- a note\n", "- ```\n  code"])
def test_nothing_is_put_where_it_would_be_code(end: str) -> None:
    """Behind a fence or comment that is never closed no reader would see a block."""
    with pytest.raises(
        Refused, match=r"line 3 of the comment that stands there: .* never closed"
    ) as caught:
        design(f"{DESIGN.text}\n\n{end}", block("a"))
    assert caught.value.reason.code == "unclosed"


@pytest.mark.parametrize(
    ("mode", "head", "stage"),
    [
        (Mode.PLAN, RULINGS, "plan-stress-test"),
        (Mode.BRIEF, BRIEF, "brief-review"),
        (Mode.DESIGN, None, "design-challenge"),
    ],
)
def test_what_is_written_is_valid(mode: Mode, head: str | None, stage: str) -> None:
    """The validators take what each mode makes, the stamp and the placeholder included."""
    marker = DESIGN if mode is Mode.DESIGN else LEDGER
    phase = "design" if mode is Mode.DESIGN else "plan"
    more = (
        f"introduced_phase: {phase}\ncatchable_phase: {phase}\ncaught_stage: {stage}\n"
        "escape_distance: 0\nsystemic_fix_type: skill\ncategory: pattern\n"
    )
    found = block("a", more=more).replace("plan-stress-test:", f"{stage}:")
    there = f"{DESIGN.text}\n\nDone.\n" if mode is Mode.DESIGN else None
    made = ledger(there, marker, mode, head=head, containment=found, now=NOON)
    assert judge(made, marker, CONTRACT) == ()
    assert judge(plan(None), LEDGER, CONTRACT) == ()


@pytest.mark.needs("recordings")
def test_recorded_rulings_are_taken_as_they_are() -> None:
    """A head that was written elsewhere goes in whole, and again without a change."""
    folder = Path(os.environ.get("RECORDED_DIR", "/nonexistent")) / "agent-orchestra"
    rulings = (folder / "judge-rulings-878-historical.txt").read_bytes().decode()
    made = plan(None, head=rulings)
    assert rulings.strip() in made
    assert plan(made, head=rulings, now=LATER) == made


names = st.sampled_from("abcdef")
severities = st.sampled_from(["high", "low"])
files = st.dictionaries(names, severities, max_size=6).map(
    lambda found: "\n".join(block(name, severity=found[name]) for name in found)
)
words = st.text(alphabet="ab \r\n*#-:`>~", max_size=40)


@given(before=words, after=words, first=files, second=files)
def test_writing_again_changes_nothing_and_words_stay(
    before: str, after: str, first: str, second: str
) -> None:
    """Whatever stands around the blocks is there byte for byte; the same input twice is once."""
    there = f"{DESIGN.text}\n{before}\n\n{block('a')}\n{after}"
    try:
        made = design(there, first)
        grown = ledger(made, DESIGN, Mode.DESIGN, head=None, containment=second, now=LATER)
    except Refused as refused:
        assume(refused.reason.code != "unclosed")
        raise
    assert made.startswith(f"{DESIGN.text}\n{before}")
    assert after.rstrip(" \r\n") in made
    again = ledger(made, DESIGN, Mode.DESIGN, head=None, containment=first, now=LATER)
    assert again == made
    assert latest(Body(made)).keys() <= latest(Body(grown)).keys()

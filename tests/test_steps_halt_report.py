"""What was handed in as YAML is shown as bullets, with all free text made inert."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from checking import CONTRACT, marker
from hypothesis import example, given, settings
from hypothesis import strategies as st
from judging import refusals

from markers.body import Body
from markers.errors import counted
from markers.payload.bullets import read_bullets
from markers.payload.halt_report import LONGEST, NOTHING_LEFT, inert_line
from markers.steps import Seen, before
from markers.steps.halt_report import STEP

_NO_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
FAMILY = "goal-halt-report"
M = marker(FAMILY)
REPORT: dict[str, Any] = {
    "schema_version": 1,
    "issue": 12,
    "halt_reason": "budget-exhausted",
    "target_ref": None,
    "plan_remediation": "Ask for more.",
    "evidence": ["run 7 stopped", "nobody knows why"],
    "recommended_next_owner": "maintainer",
    "arm": "headless",
    "stage": "loop",
    "claim_provenance": "harness",
    "budget_snapshot": {"tokens_used": 100, "tokens_budget": "200k"},
}
SHOWN = """\
<!-- goal-halt-report-12 -->

- **schema_version**: 1
- **issue**: 12
- **halt_reason**: budget-exhausted
- **target_ref**: null
- **plan_remediation**: Ask for more.
- **evidence**:
  - run 7 stopped
  - nobody knows why
- **recommended_next_owner**: maintainer
- **arm**: headless
- **stage**: loop
- **claim_provenance**: harness
- **budget_snapshot**:
  - **tokens_used**: 100
  - **tokens_budget**: 200k"""


def handed_in(report: dict[str, Any]) -> str:
    """A candidate whose fence holds *report*: JSON is YAML, but for pairs of surrogates."""
    text = _NO_YAML.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(report, ensure_ascii=False)
    )
    return f"{M.text}\n\n```yaml\n{text}\n```"


def rendered(candidate: str) -> str:
    """What the step makes of a candidate."""
    return STEP.apply(Seen(marker=M, candidate=candidate, governing=None), {}).candidate


def test_the_registry_names_the_step() -> None:
    """Writing the family runs it."""
    assert before(CONTRACT.family(FAMILY)) == (STEP,)


def test_the_object_becomes_bullets() -> None:
    """Marker, a blank line, a bullet for each field in its order."""
    assert rendered(handed_in(REPORT)) == SHOWN


def test_bullets_stay_as_they_are() -> None:
    """What is in bullets already is not touched, line ends included."""
    for text in (SHOWN, SHOWN.replace("\n", "\r\n"), f"{SHOWN}\n\nMore."):
        assert rendered(text) == text


def test_prose_around_the_object_is_dropped_with_a_warning() -> None:
    """The comment is the report and nothing else."""
    candidate = handed_in(REPORT).replace("```yaml", "It stopped.\n\n```yaml")
    prepared = STEP.apply(Seen(marker=M, candidate=candidate, governing=None), {})
    assert prepared.candidate == SHOWN
    (warning,) = prepared.warnings
    assert counted(warning).startswith("prose-dropped: line 3")


@pytest.mark.parametrize("payload", ["a: [", "- a", "just text", "", "evidence: [[1]]"])
def test_what_cannot_be_shown_stays(payload: str) -> None:
    """The validator says what is wrong with it, on the lines that the caller knows."""
    candidate = f"{M.text}\n```yaml\n{payload}\n```"
    assert rendered(candidate) == candidate
    assert refusals(candidate, FAMILY)


NASTY = st.lists(
    st.sampled_from(
        ["<!--", "-->", "--!>", "<!", "--", ">", "-", "!", "<", "```", "~~~", "`", "\n", "\r", "\t",
         "\0", "\x1b", "\ud800", "\u2028", "null", "[]", "7", '"', "- ", "**a**: ", "@pat", "<?"]
    ) | st.text(max_size=5),
    max_size=12,
).map("".join)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(NASTY)
@example("<!<!----plan-issue-1---->>")
@example("<!-\n- plan-issue-1 -->")
@example("x" * (LONGEST + 5))
@example("`" * 2 + "<!--" + "`")
def test_an_inert_line(text: str) -> None:
    """One bounded line that opens and closes nothing; making it inert again changes nothing."""
    line = inert_line(text)
    assert line == line.strip()
    assert 0 < len(line) <= LONGEST
    assert not any(mark in line for mark in ("<!--", "-->", "--!>", "```", "~~~", "\n", "\r", "\0"))
    assert inert_line(line) == line


def test_what_becomes_of_free_text() -> None:
    """Words stay, and where nothing is left something says so."""
    assert inert_line("it said <!-- plan-issue-9 --> to\r\nme") == "it said plan-issue-9 to me"
    assert inert_line("<!-- -->") == NOTHING_LEFT
    assert inert_line("") == NOTHING_LEFT
    assert inert_line("```yaml") == "``yaml"
    assert inert_line("y" * 3000) == "y" * (LONGEST - 1) + "…"


FREE = NASTY.map(lambda text: text.replace("\ud800", ""))
REPORTS = st.fixed_dictionaries(
    {
        "target_ref": st.none() | FREE,
        "plan_remediation": FREE,
        "evidence": st.lists(FREE, max_size=4),
        "recommended_next_owner": FREE,
        "budget_snapshot": st.fixed_dictionaries(
            {},
            optional={
                "tokens_used": st.integers(0, 9_999_999_999),
                "tokens_budget": st.integers(0, 9_999_999_999) | FREE,
                "wall_clock_elapsed": FREE,
                "iterations": st.integers(0, 99),
            },
        ),
    }
)


def inert_of(value: Any) -> Any:
    """What is to be read back in the place of *value*."""
    if isinstance(value, dict):
        return {key: inert_of(each) for key, each in value.items()}
    if isinstance(value, list):
        return [inert_of(each) for each in value]
    return inert_line(value) if isinstance(value, str) else value


@settings(max_examples=200, deadline=None)
@given(REPORTS)
def test_what_is_shown_reads_back(free: dict[str, Any]) -> None:
    """The bullets hold the same numbers and words, and the free text made inert; they are valid."""
    report = {**REPORT, **free}
    candidate = handed_in(report)
    text = rendered(candidate)
    first, rest = text.split("\n", 1)
    assert first == M.text
    assert not any(mark in rest for mark in ("<!--", "-->", "--!>"))
    assert Body(text).fences == ()
    assert read_bullets(rest.split("\n"), first_line=2).value == {**REPORT, **inert_of(free)}
    assert refusals(text, FAMILY) == []
    assert rendered(text) == text

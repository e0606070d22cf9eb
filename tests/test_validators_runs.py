"""Halt reports and the bullets of runs: what is refused by name, and what is good at the edges."""

from __future__ import annotations

import pytest
from judging import Bad, Edit, assert_good, assert_refused, body, refusals, told

HALT = "goal-halt-report"
HANDED_IN = body(
    """
    <!-- goal-halt-report-12 -->

    ```yaml
    schema_version: 1
    issue: 12
    halt_reason: budget-exhausted
    target_ref: null
    plan_remediation: "Ask for more."
    evidence: ["run 7 stopped", "<!-- plan-issue-12 -->"]
    recommended_next_owner: maintainer
    arm: headless
    stage: loop
    claim_provenance: harness
    budget_snapshot:
      tokens_used: 100
      tokens_budget: "200k"
    ```
    """
)
SHOWN = body(
    """
    <!-- goal-halt-report-12 -->

    - **schema_version**: 1
    - **issue**: 12
    - **halt_reason**: budget-exhausted
    - **target_ref**: null
    - **plan_remediation**: Ask for more.
    - **evidence**:
      - run 7 stopped
    - **recommended_next_owner**: maintainer
    - **arm**: headless
    - **stage**: loop
    - **claim_provenance**: harness
    - **budget_snapshot**:
      - **tokens_used**: 100
    """
)

BAD_REPORTS = (
    Bad("no version", "schema_version: 1\n", "", "missing", 4, "schema_version: is missing"),
    Bad("unknown version", "version: 1", "version: 2", "schema-version", 4, "known here: 1"),
    Bad("other issue", "issue: 12", "issue: 13", "issue", 5, "'13' is not what the marker says"),
    Bad("no issue", "issue: 12", "issue: 0", "minimum", 5, "0 is less than 1"),
    Bad("no such reason", "budget-exhausted", "tired", "enum", 6, "tired"),
    Bad("no target", "target_ref: null\n", "", "missing", 4, "target_ref: is missing"),
    Bad("blank remediation", '"Ask for more."', '""', "pattern", 8, "in words"),
    Bad("evidence is a text", 'evidence: ["run 7 stopped", "<!-- plan-issue-12 -->"]',
        "evidence: run 7", "type", 9, "a list"),
    Bad("evidence is a number", '"run 7 stopped"', "7", "type", 9, "evidence[0]"),
    Bad("further key", "arm: headless", "arm: headless\nleg: 1", "unknown-field", 12, "leg"),
    Bad("further key in the budget", "tokens_used: 100", "tokens_lost: 100", "unknown-field", 15,
        "did you mean"),
    Bad("fewer than none", "tokens_used: 100", "tokens_used: -1", "minimum", 15, "-1 is less"),
    Bad("more than bullets hold", "tokens_used: 100", "tokens_used: 10000000000", "maximum", 15,
        "more than"),
    Bad("a fraction", "tokens_used: 100", "tokens_used: 1.0", "type", 15, "an integer"),
    Bad("no budget", "budget_snapshot:\n  tokens_used: 100\n  tokens_budget: \"200k\"\n", "",
        "missing", 4, "budget_snapshot: is missing"),
    Bad("duplicate key", "arm: headless", "arm: headless\narm: manual", "duplicate-key", 12,
        "twice"),
    Bad("alias", "stage: loop", "stage: *here", "alias", 12, "*here"),
    Bad("two fences", "```yaml", "```yaml\na: 1\n```\n```yaml", "fence-twice", 6, "line 3"),
    Bad("fence in a list", "```yaml", "- ```yaml", "fence-missing", 3, "in a list"),
    Bad("neither form", HANDED_IN[HANDED_IN.index("```") :], "It stopped.", "fence-missing", None,
        "there is no ```yaml fence"),
)  # fmt: skip

REPORT_EDGES = (
    Edit("as it is", "issue: 12", "issue: 12"),
    Edit("a target", "target_ref: null", "target_ref: AC-7"),
    Edit("no evidence", 'evidence: ["run 7 stopped", "<!-- plan-issue-12 -->"]', "evidence: []"),
    Edit("an empty budget", 'budget_snapshot:\n  tokens_used: 100\n  tokens_budget: "200k"',
         "budget_snapshot: {}"),
    Edit("a number as budget", 'tokens_budget: "200k"', "tokens_budget: 9999999999"),
    Edit("further budgets", "tokens_used: 100", "iterations: 0\n  wall_clock_elapsed: 3h"),
    Edit("prose around it", "```yaml", "It stopped.\n\n```yaml"),
    Edit("lines in a text", '"Ask for more."', '"Ask\\nfor\\nmore."'),
)  # fmt: skip


@pytest.mark.parametrize("bad", BAD_REPORTS, ids=str)
def test_a_bad_report_is_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, HANDED_IN, HALT)


@pytest.mark.parametrize("edit", REPORT_EDGES, ids=str)
def test_a_good_report_is_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, HANDED_IN, HALT)


BAD_BULLETS = (
    Bad("key without a value", "budget-exhausted", "", "enum", 5, "halt_reason"),
    Bad("other issue", "**issue**: 12", "**issue**: 13", "issue", 4, "'13' is not what the marker"),
    Bad("further key", "- **arm**", "- **leg**: 1\n- **arm**", "unknown-field", 11, "leg"),
    Bad("key twice", "- **arm**", "- **arm**: manual\n- **arm**", "duplicate-key", 12, "twice"),
    Bad("not inert", "run 7 stopped", "run <!-- 7", "delimiter", 9, "'<!--' may not stand"),
    Bad("not inert at the end", "run 7 stopped", "run --!> 7", "delimiter", 9, "'--!>'"),
    Bad("evidence is a number", "run 7 stopped", "7", "type", 9, "evidence[0]"),
    Bad("no stage", "- **stage**: loop\n", "", "missing", 2, "stage: is missing"),
    Bad(
        "colon in the bold", "**stage**:", "**stage:**", "missing", 12, "the colon behind the bold"
    ),
    Bad(
        "another bullet", "- **stage**:", "* **stage**:", "missing", 12, "write '- **key**: value'"
    ),
    Bad("a blank before the colon", "**stage**:", "**stage** :", "missing", 12, "nearly one"),
    Bad("text below a text", "Ask for more.", "Ask\n  for more.", "syntax", 8, "one line"),
)  # fmt: skip

BULLET_EDGES = (
    Edit("as it is", "**issue**: 12", "**issue**: 12"),
    Edit("a heading", "- **schema_version**", "## It stopped\n\n- **schema_version**"),
    Edit(
        "bold prose in a list", "- **arm**", "- **Note:** it stopped\n- **arm:** twice\n- **arm**"
    ),
    Edit("a fence that is a text", "run 7 stopped", "```yaml"),
    Edit("null in quotes", "**target_ref**: null", '**target_ref**: "null"'),
)


@pytest.mark.parametrize("bad", BAD_BULLETS, ids=str)
def test_bad_bullets_are_refused_by_name(bad: Bad) -> None:
    """The form that people read is held to the same schema, and must be inert."""
    assert_refused(bad, SHOWN, HALT)


@pytest.mark.parametrize("edit", BULLET_EDGES, ids=str)
def test_good_bullets_are_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, SHOWN, HALT)


HASH = "0123456789abcdef" * 4
FAMILIES = {
    "goal-run-inflight": {"status": "unresolved", "contract_hash": HASH, "launched_at": "TIME"},
    "goal-run-stage": {"stage": "loop-launched", "contract_hash": HASH, "updated_at": "TIME"},
    "goal-run-restart-report": {
        "worktree_path": "C:\\runs\\12", "branch_name": "unknown", "cleared_at": "TIME",
    },
}  # fmt: skip
TIME = "2026-07-26T00:00:00.0000000Z"


def run(family: str, drop: str = "", **changed: str) -> str:
    """The comment of a run with *changed* bullets; marker on line 1, bullets from line 3."""
    fields = {"schema_version": "1", "issue": "12", **FAMILIES[family], **changed}
    lines = [f"- **{key}**: {value.replace('TIME', TIME)}" for key, value in fields.items()]
    kept = [line for line in lines if not drop or drop not in line]
    return "\n".join([f"<!-- {family}-12 -->", "## A run", *kept])


@pytest.mark.parametrize("family", FAMILIES)
def test_good_runs(family: str) -> None:
    """What upstream writes is good, and so is what it may add."""
    good = (
        {},
        {"note": "of our own"},
        {"issue": "12  "},
        {"schema_version": "1\t"},
        {key: "2026-07-26T00:00Z" for key, value in FAMILIES[family].items() if value == "TIME"},
        {key: "2026-07-26T00:00:00+02:00" for key, v in FAMILIES[family].items() if v == "TIME"},
        {key: "1" * 64 for key in FAMILIES[family] if key == "contract_hash"},
        {key: "42" for key in FAMILIES[family] if key == "branch_name"},
        {"resolved_reason": "3"},
        {"adopted_by_session_id": "007"},
    )
    for changed in good:
        assert told(run(family, **changed), family) == ()


BAD_VALUES = [
    ("schema_version", "2", "schema-version", "known here: 1"),
    ("schema_version", "one", "schema-version", "'one'"),
    ("issue", "13", "issue", "'13' is not what the marker says"),
    ("issue", "012", "type", "an integer"),
    ("contract_hash", "0" * 63, "pattern", "64 hexadecimal digits"),
    ("contract_hash", "A" * 64, "pattern", "lower case"),
    ("contract_hash", "0", "type", "64 hexadecimal"),
    ("status", "done", "enum", "'done'"),
    ("stage", "loop", "enum", "'loop'"),
    ("launched_at", "yesterday", "pattern", "ISO 8601"),
    ("updated_at", "2026-07-26", "pattern", "ISO 8601"),
    ("cleared_at", "2026-07-26T00:00:00", "pattern", "with its zone"),
    ("cleared_at", "*now", "pattern", "ISO 8601"),
    ("worktree_path", "", "pattern", "a path"),
    ("branch_name", "null", "type", "a branch"),
]


def bullets_of(family: str) -> list[str]:
    """The keys of a run's bullets, in their order."""
    return ["schema_version", "issue", *FAMILIES[family]]


@pytest.mark.parametrize(
    ("family", "bad"),
    [(family, bad) for family in FAMILIES for bad in BAD_VALUES if bad[0] in bullets_of(family)],
)
def test_bad_runs(family: str, bad: tuple[str, str, str, str]) -> None:
    """Each bullet is judged by code, line and words."""
    key, value, code, words = bad
    (problem,) = refusals(run(family, **{key: value}), family)
    assert (problem.code, problem.line) == (code, 3 + bullets_of(family).index(key))
    assert words in problem.detail


@pytest.mark.parametrize("family", FAMILIES)
def test_each_bullet_of_a_run_is_wanted_once(family: str) -> None:
    """One that is missing and one that is there twice are refused."""
    for key in bullets_of(family):
        (problem,) = refusals(run(family, drop=f"**{key}**"), family)
        assert (problem.code, problem.field) == ("missing", key)
        text = run(family)
        line = next(line for line in text.split("\n") if f"**{key}**" in line)
        (problem,) = refusals(f"{text}\n{line}", family)
        assert (problem.code, problem.line) == ("duplicate-key", 3 + len(bullets_of(family)))


@pytest.mark.parametrize("family", ["goal-run-stage", HALT])
def test_bullets_none_of_which_counts(family: str) -> None:
    """The first of the lines that were meant for them is named."""
    good = run(family) if family != HALT else SHOWN
    (problem,) = refusals(good.replace("**:", ":**"), family)
    assert (problem.code, problem.line) in {("bullets-missing", 3), ("fence-missing", 3)}
    assert "write '- **key**: value'" in problem.detail


@pytest.mark.parametrize(
    "more", ["", "\nIt runs.", "\n* **issue**: 12", "\n```yaml\nissue: 12\n```"]
)
def test_a_run_without_bullets_is_refused(more: str) -> None:
    """Only lines '- **key**: value' count."""
    (problem,) = refusals(f"<!-- goal-run-inflight-12 -->{more}", "goal-run-inflight")
    assert problem.code == "bullets-missing"

"""Engagement records: what is refused by name, and what is good at the edges."""

from __future__ import annotations

import pytest
from judging import Bad, Edit, assert_good, assert_refused, body, refusals, told, warned

FAMILY = "engagement-record"
GOOD = body(
    """
    <!-- engagement-record-plan-12 -->

    Named decisions, for people.

    ```yaml
    schema_version: 2
    phase: plan
    capture_session: "normal-plan-v1.2"
    load_bearing_decisions:
      - decision_id: cache-key-shape
        classification: load-bearing
        audit_rationale: |-
          Two tools must derive the same key.
        engineer_choice: "branch slug, then sha"
        articulation_text: ""
        articulation_status: pending
      - decision_id: followup-0123456789abcdef
        classification: routine
        gate_ruling_counts: "proposed: 2, approved: 1, modified: 0, dropped: 1"
        gate_ruling_surface: pr-7
        gate_ruling_decided_at: "2026-05-01T10:00:00.000Z"
        gate_ruling_items:
          - title: Cut the knot
            outcome: approved
    ```
    """
)
SLUG = "decision_id: cache-key-shape"
FENCE = "```yaml"

BAD = (
    Bad("no version", "schema_version: 2\n", "", "missing", 6, "is missing"),
    Bad("legacy", "schema_version: 2\nphase: plan\n", "", "missing", 6, "phase: is missing"),
    Bad("unknown version", "version: 2", "version: 5", "schema-version", 6, "5 is not a version"),
    Bad("version text", "version: 2", 'version: "2"', "schema-version", 6, "1, 2, 3 or 4"),
    Bad("version true", "version: 2", "version: true", "schema-version", 6, "True is not"),
    Bad("too low for plan", "version: 2", "version: 1", "schema-version", 6, "2 or later, not 1"),
    Bad("other phase", "phase: plan", "phase: design", "phase", 7, "'design' is not what"),
    Bad("no such phase", "phase: plan", "phase: planning", "enum", 7, "planning"),
    Bad("no session", 'session: "normal-plan-v1.2"', "session:", "type", 8, "null"),
    Bad("capitals", SLUG, "decision_id: Cache-Key", "slug", 10, "'Cache-Key' is not a slug"),
    Bad("hyphen at the end", SLUG, "decision_id: cache-", "slug", 10, "end with a hyphen"),
    Bad("line end in a slug", SLUG, 'decision_id: "cache\\n"', "slug", 10, "\\u000a"),
    Bad("one letter", SLUG, "decision_id: c", "slug", 10, "2 to 64"),
    Bad("65 letters", SLUG, f"decision_id: {'c' * 65}", "slug", 10, "2 to 64"),
    Bad("no slug", SLUG, "other: cache", "missing", 10, "decision_id: is missing"),
    Bad("wrong enum", "status: pending", "status: maybe", "enum", 16, "'maybe'"),
    Bad("wrong type", 'engineer_choice: "branch slug, then sha"', "engineer_choice: [a]",
        "type", 14, "load_bearing_decisions[0].engineer_choice"),
    Bad("list is a text", "decisions:\n", "decisions: none\nmore:\n", "type", 9, "a list"),
    Bad("duplicate key", "phase: plan", "phase: plan\nphase: plan", "duplicate-key", 8, "twice"),
    Bad("alias", 'choice: "branch slug, then sha"', "choice: *same", "alias", 14, "*same"),
    Bad("ruling elsewhere", "decision_id: followup-0123456789abcdef", "decision_id: follow-up",
        "gate-ruling", 19, "begins with followup-"),
    Bad("ruling's time", "10:00:00.000Z", "10:00:00Z", "pattern", 21, "milliseconds"),
    Bad("ruling's counts", "proposed: 2, approved", "approved", "pattern", 19, "proposed: N"),
    Bad("ruling's surface", "surface: pr-7", "surface: 7", "type", 20, "a text"),
    Bad("ruling's outcome", "outcome: approved", "outcome: kept", "enum", 24, "'kept'"),
    Bad("two fences", "Named decisions, for people.", "```yaml\na: 1\n```", "fence-twice", 7, "3"),
    Bad("fence in a list", "```yaml", "- ```yaml", "fence-missing", 5, "in a list"),
    Bad("fence indented", "```yaml", "  ```yaml", "fence-missing", 5, "indented"),
    Bad("other fence", "```yaml", "```json", "fence-missing", 5, "does not say yaml"),
    Bad("fence in a comment", "```yaml", "<!--\n```yaml", "fence-missing", 6, "HTML comment"),
    Bad("backticks in a text", "same key.", "same key.\n      ```sh", "backticks", 14, "leave"),
    Bad("backticks at the start", "same key.", "same key.\n```", "backticks", 26, "on line 14"),
    Bad("no YAML", "phase: plan", "phase: plan: b", "syntax", 7, "not YAML"),
    Bad("a tab", "  - decision_id: cache", "\t- decision_id: cache", "syntax", 10, "not YAML"),
)  # fmt: skip

EDGES = (
    Edit("as it is", "Named decisions, for people.", "Named decisions, for people."),
    Edit("version 4", "schema_version: 2", "schema_version: 4"),
    Edit("no decisions", GOOD[GOOD.index("load_b") : GOOD.rindex("```")], ""),
    Edit("empty decisions", GOOD[GOOD.index("load_b") : GOOD.rindex("```")],
         "load_bearing_decisions: []\n"),
    Edit("unknown optional keys", "phase: plan", "phase: plan\nmood: [calm]"),
    Edit("a decision's own key", SLUG, f"{SLUG}\n    decision_brief: short"),
    Edit("64 letters", SLUG, f"decision_id: {'c' * 64}"),
    Edit("two letters", SLUG, "decision_id: c1"),
    Edit("yes is a text", 'engineer_choice: "branch slug, then sha"', "engineer_choice: yes"),
    Edit("a blank field", 'articulation_text: ""', "articulation_text:"),
    Edit("yml in capitals", FENCE, "```YML"),
    Edit("a longer fence around another", "Named decisions, for people.",
         "````md\n```yaml\na: 1\n```\n````"),
    Edit("a marker in a text", "same key.", "same key. <!-- plan-issue-12 -->"),
    Edit("another repository", "surface: pr-7", 'surface: "some/where#7"'),
    Edit("the session's own name", "normal-plan-v1.2", "whatever"),
)  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_bad_record_is_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, GOOD, FAMILY, phase="plan")


@pytest.mark.parametrize("edit", EDGES, ids=str)
def test_a_good_record_is_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, GOOD, FAMILY, phase="plan")


@pytest.mark.parametrize(
    ("phase", "least"),
    [("experience", 1), ("design", 1), ("plan", 2), ("orchestration", 3), ("review", 4)],
)
def test_each_phase_has_its_least_version(phase: str, least: int) -> None:
    """The least version of a phase is good, and the one before it is refused."""
    for version in range(1, 5):
        text = body(
            f"""
            <!-- engagement-record-{phase}-12 -->
            ```yaml
            schema_version: {version}
            phase: {phase}
            capture_session: normal-{phase}-v2
            ```
            """
        )
        codes = [problem.code for problem in refusals(text, FAMILY, phase=phase)]
        assert codes == ([] if version >= least else ["schema-version"])


def test_slugs_count_since_version_2() -> None:
    """A record of version 1 may call its decisions as it likes."""
    text = GOOD.replace("plan", "design").replace(SLUG, "decision_id: Cache Key")
    assert refusals(text.replace("version: 2", "version: 1"), FAMILY, phase="design") == []
    assert [p.code for p in refusals(text, FAMILY, phase="design")] == ["slug"]


def test_without_a_fence_the_rest_is_the_payload() -> None:
    """Everything below line 1 is read as YAML, and lines are counted in the comment."""
    text = (
        "<!-- engagement-record-plan-12 -->\n\nschema_version: 2\nphase: plan\ncapture_session: {}"
    )
    assert refusals(text.format("normal-plan-v2"), FAMILY, phase="plan") == []
    assert [p.line for p in refusals(text.format("[]"), FAMILY, phase="plan")] == [5]


def test_without_anything_the_record_is_refused() -> None:
    """A marker alone is no record."""
    found = refusals("<!-- engagement-record-plan-12 -->", FAMILY, phase="plan")
    assert [problem.code for problem in found] == ["type"]


def test_a_name_that_comes_twice_only_warns() -> None:
    """Upstream's readers take both decisions, so nothing is refused."""
    text = GOOD.replace("followup-0123456789abcdef", "cache-key-shape", 1)
    text = text[: text.index("    gate_ruling_counts")] + "```"
    assert warned(text, FAMILY, phase="plan") == ["duplicate"]
    assert refusals(text, FAMILY, phase="plan") == []


@pytest.mark.parametrize("name", ["quick-plan-v1", "normal-design-v1.2", "normal-plan-1"])
def test_a_session_that_breaks_the_convention_only_warns(name: str) -> None:
    """The convention is never enforced."""
    text = GOOD.replace("normal-plan-v1.2", name)
    assert warned(text, FAMILY, phase="plan") == ["capture-session"]


def test_all_is_told_at_once_and_in_order() -> None:
    """A record with several faults is refused once, with each of them by line."""
    text = GOOD.replace("phase: plan", "phase: design").replace(SLUG, "decision_id: C")
    text = text.replace("status: pending", "status: 1").replace("outcome: approved", "outcome: a")
    problems = [p for p in told(text, FAMILY, phase="plan") if not p.warns]
    assert [(p.line, p.code) for p in problems] == [
        (7, "phase"),
        (10, "slug"),
        (16, "enum"),
        (24, "enum"),
    ]


def test_line_ends_do_not_count() -> None:
    """CRLF and CR bodies are judged as LF bodies are."""
    for end in ("\r\n", "\r"):
        text = GOOD.replace("outcome: approved", "outcome: kept").replace("\n", end)
        (problem,) = refusals(text, FAMILY, phase="plan")
        assert (problem.code, problem.line) == ("enum", 24)


def test_long_values_are_cut() -> None:
    """At most 80 characters of a value are shown."""
    text = GOOD.replace("cache-key-shape", "x" * 5000)
    assert all(len(p.detail) < 300 for p in told(text, FAMILY, phase="plan"))

"""Dispositions of a review and of a design challenge: what is refused by name, and what is good."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from judging import Bad, Edit, assert_good, assert_refused, body, refusals, told, warned

REVIEW = "review-dispositions"
GOOD_REVIEW = body(
    """
    <!-- review-dispositions-12 -->

    ```yaml
    schema_version: 4
    passes_run: [1, 5]
    entries:
      - stable_finding_key: "src/auth.py:88:b7c1a2f3"
        finding_id: F1
        pass: 1
        pass_role: generalist-A
        disposition: dismiss
        classification: routine
        severity: medium
        stage: code-review
        reviewer_source: local
        disposition_rationale: "It is guarded above."
        also_flagged_by: [5]
        ac_cross_check:
          file_arm: true
          term_arm: false
          result: no-match
          source: issue
          routed: defer
      - stable_finding_key: gh-123456
        pass: 5
        disposition: incorporate
        classification: load-bearing
        severity: high
        stage: ce
        reviewer_source: some-reviewer
        internal_match:
          match_status: novel
        disposition_rationale: "It was missing."
    external_sources_reconciled: []
    ```
    """
)
CHECK = GOOD_REVIEW[
    GOOD_REVIEW.index("    ac_cross") : GOOD_REVIEW.index("  - stable_finding_key: gh")
]
KEY = 'stable_finding_key: "src/auth.py:88:b7c1a2f3"'

BAD_REVIEWS = (
    Bad("no version", "schema_version: 4\n", "", "missing", 4, "schema_version: is missing"),
    Bad("unknown version", "version: 4", "version: 9", "schema-version", 4, "9 is not a version"),
    Bad("no passes", "passes_run: [1, 5]\n", "", "missing", 4, "passes_run: is missing"),
    Bad("no pass at all", "passes_run: [1, 5]", "passes_run: []", "items", 5, "at least one"),
    Bad("pass 6", "passes_run: [1, 5]", "passes_run: [1, 6]", "enum", 5, "6 is not"),
    Bad("a pass twice", "passes_run: [1, 5]", "passes_run: [1, 1]", "unique", 5, "twice"),
    Bad("no entries", "entries:\n", "entries: none\nothers:\n", "type", 6, "a list"),
    Bad("no key", KEY, "finding_key: a", "missing", 7, "stable_finding_key: is missing"),
    Bad("key of no form", KEY, "stable_finding_key: auth", "pattern", 7, "FILE:LINE:HASH"),
    Bad("no rationale", '    disposition_rationale: "It is guarded above."\n', "", "missing", 7,
        "entries[0].disposition_rationale"),
    Bad("blank rationale", '"It is guarded above."', '" "', "pattern", 16, "why, in words"),
    Bad("wrong enum", "disposition: dismiss", "disposition: drop", "enum", 11, "'drop'"),
    Bad("wrong type", "file_arm: true", "file_arm: maybe", "type", 19, "boolean"),
    Bad("own key", "finding_id: F1", "finding: F1", "unknown-field", 8, "finding"),
    Bad("own top key", "external_sources", "other_sources", "unknown-field", 34, "did you mean"),
    Bad("own key inside", "match_status: novel", "match_status: novel\n      sure: yes",
        "unknown-field", 33, "sure"),
    Bad("no severity", "    severity: medium\n", "", "missing", 7, "severity: is missing"),
    Bad("no stage", "    stage: ce\n", "", "missing", 24, "entries[1].stage"),
    Bad("no source", "    reviewer_source: local\n", "", "missing", 7, "since version 3"),
    Bad("no cross-check", CHECK, "", "missing", 7, "dismiss at severity medium needs it"),
    Bad("match of our own", "reviewer_source: some-reviewer", "reviewer_source: local",
        "internal-match", 32, "local"),
    Bad("match in version 3", "schema_version: 4", "schema_version: 3", "version", 32, "version 4"),
    Bad("reconciled in version 3", "schema_version: 4", "schema_version: 3", "version", 34,
        "external_sources_reconciled: is known since version 4"),
    Bad("duplicate key", "finding_id: F1", "finding_id: F1\n    pass: 2", "duplicate-key", 10,
        "twice"),
    Bad("two fences", "```yaml", "```yaml\na: 1\n```\n\n```yaml", "fence-twice", 7, "line 3"),
    Bad("fence in a quote", "```yaml", "> ```yaml", "fence-missing", 3, "in a quote"),
    Bad("alias", "finding_id: F1", "finding_id: *one", "alias", 8, "*one"),
    Bad("merge key", "finding_id: F1", "<<: *one", "alias", 8, "*one"),
)  # fmt: skip

REVIEW_EDGES = (
    Edit("as it is", "schema_version: 4", "schema_version: 4"),
    Edit("nothing found", GOOD_REVIEW[GOOD_REVIEW.index("entries:") : GOOD_REVIEW.index("extern")],
         "entries: []\n"),
    Edit("no external review", "external_sources_reconciled: []\n", ""),
    Edit("sources named", "reconciled: []", "reconciled: [some-reviewer]"),
    Edit("low needs no cross-check", f"severity: medium\n{CHECK}".split("\n")[0], "severity: low"),
    Edit("a key with a hash", "gh-123456", "gh-123456-0a1b2c3d"),
    Edit("a key of words", KEY, 'stable_finding_key: "src/auth.py:88:null-check-a1b2c3d4"'),
    Edit("a key that warns", KEY, 'stable_finding_key: "warn:F1"'),
    Edit("unresolved source", "reviewer_source: some-reviewer", "reviewer_source: unresolved"),
    Edit("any reference", "file_arm: true", "ac_ref: [1, two]\n      file_arm: true"),
    Edit("nobody else", "also_flagged_by: [5]", "also_flagged_by: []"),
    Edit("marker-like rationale", "It is guarded above.", "See <!-- plan-issue-12 -->."),
)  # fmt: skip


@pytest.mark.parametrize("bad", BAD_REVIEWS, ids=str)
def test_bad_review_dispositions_are_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, GOOD_REVIEW, REVIEW)


@pytest.mark.parametrize("edit", REVIEW_EDGES, ids=str)
def test_good_review_dispositions_are_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, GOOD_REVIEW, REVIEW)


@pytest.mark.parametrize(
    ("version", "missing"),
    [(1, set()), (2, {"severity", "stage"}), (3, {"severity", "stage", "reviewer_source"})],
)
def test_each_version_asks_for_more(version: int, missing: set[str]) -> None:
    """An entry with the five fields of version 1 lacks what later versions ask for."""
    text = body(
        f"""
        <!-- review-dispositions-12 -->
        ```yaml
        schema_version: {version}
        passes_run: [1]
        entries:
          - stable_finding_key: "a.py:1:aaaaaaaa"
            pass: 1
            disposition: incorporate
            classification: routine
            disposition_rationale: "Done."
        ```
        """
    )
    found = refusals(text, REVIEW)
    assert {problem.field.rpartition(".")[2] for problem in found} == missing


def test_a_finding_that_comes_twice_only_warns() -> None:
    """The key is to be unique, and a review that is resumed finds the first entry."""
    text = GOOD_REVIEW.replace("gh-123456", '"src/auth.py:88:b7c1a2f3"')
    assert (refusals(text, REVIEW), warned(text, REVIEW)) == ([], ["duplicate"])


DESIGN = "design-phase-complete"
GOOD_DESIGN = body(
    """
    <!-- design-phase-complete-12 -->

    The design is complete.

    ```yaml
    finding_dispositions:
      schema_version: 1
      passes_run: [1, 2, 4]
      entries:
        - finding_id: F1
          pass: 1
          disposition: incorporate
          classification: routine
          disposition_rationale: "It is in the plan."
          artifact_citation: "docs/design.md"
          also_flagged_by: [2, 4]
        - finding_id: M12
          pass: 2
          disposition: dismiss
          classification: load-bearing
          disposition_rationale: "It is none."
    ```
    """
)
BLOCK = GOOD_DESIGN[GOOD_DESIGN.index("```yaml") :]
FLAGGED = "also_flagged_by: [2, 4]"

BAD_DESIGNS = (
    Bad("unknown version", "schema_version: 1", "schema_version: 2", "const", 7, "2 is not 1"),
    Bad("no version", "  schema_version: 1\n", "", "missing", 7,
        "finding_dispositions.schema_version: is missing"),
    Bad("no passes", "passes_run: [1, 2, 4]", "passes_run: []", "items", 8, "at least one"),
    Bad("a fifth pass", "passes_run: [1, 2, 4]", "passes_run: [1, 2, 4, 5]", "enum", 8, "5 is not"),
    Bad("no such id", "finding_id: F1", "finding_id: first", "pattern", 10, "such as F1"),
    Bad("pass that did not run", "passes_run: [1, 2, 4]", "passes_run: [1, 4]", "pass", 18,
        "2 is not in passes_run"),
    Bad("flagged by itself", FLAGGED, "also_flagged_by: [1]", "pass", 16, "1 is the entry's own"),
    Bad("flagged by no pass", FLAGGED, "also_flagged_by: [3]", "pass", 16, "3 is not in"),
    Bad("flagged twice", FLAGGED, "also_flagged_by: [2, 2]", "unique", 16, "twice"),
    Bad("wrong enum", "disposition: dismiss", "disposition: defer", "enum", 19, "'defer'"),
    Bad("wrong type", "finding_id: F1", "finding_id: 1", "type", 10, "a text"),
    Bad("no rationale", '      disposition_rationale: "It is none."\n', "", "missing", 17,
        "disposition_rationale: is missing"),
    Bad("blank citation", '"docs/design.md"', '"  "', "pattern", 15, "what settles it"),
    Bad("upstream's own key", "artifact_citation: ", "artifact_citation_required: ",
        "unknown-field", 15, "write artifact_citation itself"),
    Bad("duplicate key", "finding_id: F1", "finding_id: F1\n      finding_id: F2",
        "duplicate-key", 11, "twice"),
    Bad("alias", "finding_id: F1", "finding_id: *one", "alias", 10, "*one"),
    Bad("two blocks", "The design is complete.", f"{BLOCK}\n", "block-twice", 24, "on line 4"),
    Bad("in the open", "```yaml\n", "", "fence-missing", 5, "readers look for it"),
    Bad("unclosed fence", GOOD_DESIGN[-8:], 'none."\n', "fence-unclosed", 5, "never closed"),
    Bad("a list instead", "  schema_version: 1\n", "  - 1\n  - schema_version: 1\n", "syntax", 9,
        "not YAML"),
)  # fmt: skip

DESIGN_EDGES = (
    Edit("as it is", "The design is complete.", "The design is complete."),
    Edit("no block at all", BLOCK, "Nothing was found."),
    Edit("no entries", GOOD_DESIGN[GOOD_DESIGN.index("  entries") : -3], "  entries: []\n"),
    Edit("letters and a number", "finding_id: F1", "finding_id: CR14"),
    Edit("no citation", '      artifact_citation: "docs/design.md"\n', ""),
    Edit("a pass without an entry", "passes_run: [1, 2, 4]", "passes_run: [1, 2, 3, 4]"),
    Edit("another YAML fence", "The design is complete.", "```yaml\nother: 1\n```"),
    Edit("another key in the fence", "```yaml\n", "```yaml\nnote: short\n"),
    Edit("an example in a longer fence", "The design is complete.",
         "````\n```yaml\nfinding_dispositions:\n  a: 1\n```\n````"),
    Edit("a word in prose", "The design is complete.", "The finding_dispositions: are below."),
)  # fmt: skip


@pytest.mark.parametrize("bad", BAD_DESIGNS, ids=str)
def test_bad_finding_dispositions_are_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, GOOD_DESIGN, DESIGN)


@pytest.mark.parametrize("edit", DESIGN_EDGES, ids=str)
def test_good_finding_dispositions_are_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, GOOD_DESIGN, DESIGN)


def test_an_example_only_warns() -> None:
    """A block in code of another kind is told, since it may have been meant."""
    text = GOOD_DESIGN.replace("```yaml", "```text")
    assert (refusals(text, DESIGN), warned(text, DESIGN)) == ([], ["fence-missing"])


def test_a_head_inside_another_text_is_no_block() -> None:
    """What YAML reads as part of a text is refused by name, and breaks nothing."""
    text = '<!-- design-phase-complete-12 -->\n```yaml\n"a\nfinding_dispositions:\nb"\n```'
    assert [(p.code, p.line) for p in told(text, DESIGN)] == [("type", 4)]


def test_thousands_of_blocks_take_no_longer_than_their_text() -> None:
    """A stranger's comment full of heads is judged by its first ones."""
    text = "<!-- design-phase-complete-12 -->\n```yaml\n" + "finding_dispositions:\n" * 10_000
    assert [p.code for p in told(text + "```", DESIGN)][-1] == "more"


@pytest.mark.needs("recordings")
def test_the_recorded_comment_is_valid() -> None:
    """A real comment, with ids, passes and flags as they are in real life."""
    folder = Path(os.environ["RECORDED_DIR"]) / "agent-orchestra"
    text = (folder / "design-phase-complete-878-historical.txt").read_bytes().decode()
    assert told(text, DESIGN, 878) == ()

"""A phase's findings: containment blocks, the heads that allow them, and the ledger around them."""

from __future__ import annotations

import pytest
from judging import Bad, Edit, assert_good, assert_refused, body, refusals, warned

LEDGER = "phase-containment-ledger"
GOOD = body(
    """
    <!-- phase-containment-ledger-12 -->

    <!-- judge-rulings
    - finding_id: M1
      judge_ruling: sustained
    - finding_id: M2
      judge_ruling: defense-sustained
    -->

    <!-- phase-containment-12 -->
    finding_key: plan-stress-test:12:M1
    introduced_phase: design
    catchable_phase: design
    caught_stage: plan-stress-test
    escape_distance: 1
    severity: medium
    systemic_fix_type: instruction
    category: pattern
    <!-- /phase-containment-12 -->
    """
)
BLOCK = GOOD[GOOD.index("<!-- phase-containment-12") :]
HEAD = GOOD[GOOD.index("<!-- judge") : GOOD.index("<!-- phase-containment-12")]
ENTRIES = HEAD[HEAD.index("- finding") : HEAD.index("-->")]
STAGE = "catchable_phase: design\ncaught_stage: plan-stress-test\nescape_distance: 1"

BAD_BLOCKS = (
    Bad("no key", "finding_key: plan-stress-test:12:M1\n", "", "missing", 11, "the stage, a colon"),
    Bad("key of no stage", "plan-stress-test:12:M1", "plan:M1", "pattern", 11, "'plan:M1'"),
    Bad("no stage", "caught_stage: plan-stress-test\n", "", "missing", 11, "caught_stage"),
    Bad("unknown phase", "introduced_phase: design", "introduced_phase: idea", "enum", 12, "idea"),
    Bad("unknown stage", "caught_stage: plan-stress-test", "caught_stage: retro", "enum", 14,
        "'retro'"),
    Bad("unknown severity", "severity: medium", "severity: mid", "enum", 16, "critical, high"),
    Bad("unknown fix", "type: instruction", "type: hope", "enum", 17, "'hope'"),
    Bad("unknown category", "category: pattern", "category: x", "enum", 18, "architecture"),
    Bad("wrong distance", "distance: 1", "distance: 2", "escape-distance", 15,
        "2 is not 1, which is plan-stress-test (2) less design (1)"),
    Bad("no distance at all", "distance: 1", "distance: one", "type", 15, "an integer"),
    Bad("distance below 0", "distance: 1", "distance: -1", "minimum", 15, "less than 0"),
    Bad("caught before it was there", "introduced_phase: design", "introduced_phase: plan",
        "phase-order", 13, "design (1) is before plan (2)"),
    Bad("seen before its phase", "catchable_phase: design", "catchable_phase: implementation",
        "phase-order", 14, "plan-stress-test (2) is before implementation (3)"),
    Bad("wrong type", "category: pattern", "category: pattern\nseed: yes", "type", 19, "boolean"),
    Bad("stamp of no form", "category: pattern", "category: pattern\nappended_at: 2026-07-18",
        "pattern", 19, "in UTC"),
    Bad("unknown key", "severity: ", "severty: ", "unknown-field", 16, "did you mean severity?"),
    Bad("duplicate key", "distance: 1", "distance: 1\nescape_distance: 1", "duplicate-key", 16,
        "see line 15"),
    Bad("prose inside", "severity: medium", "It was severe.", "syntax", 16, "key: value"),
    Bad("a list", "severity: medium", "severity: [medium]", "type", 16, "one text"),
    Bad("alias", "severity: medium", "severity: *m", "alias", 16, "*m"),
    Bad("marker-like line", "severity: medium", "<!-- plan-issue-12 -->", "syntax", 16, "form"),
    Bad("never closed", "\n<!-- /phase-containment-12 -->", "", "unclosed-block", 10,
        "/phase-containment-12"),
    Bad("closed by another", "<!-- /phase-containment-12", "<!-- /phase-containment-13",
        "unclosed-block", 10, "/phase-containment-12"),
    Bad("another issue's", BLOCK, BLOCK.replace("containment-12", "containment-13"),
        "block-number", 10, "say 13"),
    Bad("same key twice", BLOCK, f"{BLOCK}\n\n{BLOCK}", "duplicate-finding-key", 22, "line 10"),
    Bad("a comment in the key", "12:M1", "12:M1 #3", "spelling", 11, "leave the blank"),
    Bad("a comment in a quoted key", "finding_key: plan-stress-test:12:M1",
        'finding_key: "plan-stress-test:12:M1 #3"', "spelling", 11, "inside quotes, too"),
    Bad("a key that is a comment", "finding_key: plan", "finding_key: #plan", "type", 11,
        "begins with # is a comment"),
    Bad("nothing in it", BLOCK[BLOCK.index("finding_key") : BLOCK.index("<!-- /")], "", "missing",
        11, "finding_key"),
)  # fmt: skip

BLOCK_EDGES = (
    Edit("as it is", BLOCK, BLOCK),
    Edit("no distance", STAGE, STAGE.replace(": design", ": plan").replace(": 1", ": 0")),
    Edit("the widest distance",
         f"plan-stress-test:12:M1\nintroduced_phase: design\n{STAGE}",
         "post-review-observer:x\nintroduced_phase: experience\ncatchable_phase: experience\n"
         "caught_stage: post-review-observer\nescape_distance: 4"),
    Edit("a brief's review", "plan-stress-test:12:M1\nintroduced_phase: design\n"
         "catchable_phase: design\ncaught_stage: plan-stress-test",
         "brief-review:12:N1\nintroduced_phase: design\ncatchable_phase: design\n"
         "caught_stage: brief-review"),
    Edit("stamped", "category: pattern", "category: pattern\nappended_at: 2026-07-18T22:20:00.5Z"),
    Edit("flags", "category: pattern", "category: pattern\nseed: false\napparatus_meta: true"),
    Edit("quotes and comments", "severity: medium", 'severity: "medium"  # so it seems'),
    Edit("a # in the key", "12:M1", "12:M1#3"),
    Edit("a comment behind a quoted key", "finding_key: plan-stress-test:12:M1",
         'finding_key: "plan-stress-test:12:M1"  # the first'),
    Edit("comments behind words", "severity: medium", "severity: medium # so it seems"),
    Edit("blank lines", "severity: medium", "\n  \nseverity: medium\n"),
    Edit("marker-like key", "12:M1", "12:<!--plan-issue-12"),
    Edit("two findings", BLOCK, f"{BLOCK}\n{BLOCK.replace(':M1', ':M2')}"),
    Edit("no block", BLOCK, ""),
    Edit("an example", BLOCK, f"{BLOCK}\n```\n{BLOCK}\n```"),
)  # fmt: skip


@pytest.mark.parametrize("bad", BAD_BLOCKS, ids=str)
def test_bad_containment_is_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, GOOD, LEDGER)


@pytest.mark.parametrize("edit", BLOCK_EDGES, ids=str)
def test_good_containment_is_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, GOOD, LEDGER)


def test_a_key_of_another_stage_is_told() -> None:
    """Readers count by the key's stage and would not see the block."""
    text = GOOD.replace("finding_key: plan-stress-test", "finding_key: code-review")
    assert (refusals(text, LEDGER), warned(text, LEDGER)) == ([], ["finding-key-stage"])


BAD_LEDGERS = (
    Bad("no head", HEAD, "", "head-missing", 1, "nothing allows a count"),
    Bad("two kinds of head", BLOCK, f"brief_dispositions:\n  findings: []\n{BLOCK}", "head-twice",
        10, "which of the two"),
    Bad("head twice", BLOCK, f"{HEAD}{BLOCK}", "block-twice", 10, "line 3"),
    Bad("head below the blocks", HEAD + BLOCK, f"{BLOCK}\n\n{HEAD}", "head-order", 3, "line 14"),
    Bad("no entry", ENTRIES, "", "type", 4, "a list"),
    Bad("a mapping", ENTRIES, "finding_id: M1\n", "type", 4, "a list"),
    Bad("no ruling", "  judge_ruling: sustained\n", "", "missing", 4, "[0].judge_ruling"),
    Bad("wrong ruling", "judge_ruling: sustained", "judge_ruling: upheld", "enum", 5, "'upheld'"),
    Bad("no id", "finding_id: M2", "stable_finding_key: k", "missing", 6, "such as M1"),
    Bad("both ids", "finding_id: M2", "finding_id: M2\n  id: M2", "id-twice", 7, "one of the two"),
    Bad("mixed forms", "finding_id: M2", "id: M2", "form", 6, "the same"),
    Bad("id of two words", "finding_id: M2", "finding_id: M 2", "pattern", 6, "one word"),
    Bad("id that is a number", "finding_id: M2", "finding_id: 2", "type", 6, "a text"),
    Bad("id twice", "finding_id: M2", "finding_id: M1", "duplicate", 6, "see line 4"),
    Bad("unknown key", "finding_id: M2", "finding_id: M2\n  note: x", "unknown-field", 7, "note"),
    Bad("a disposition", "judge_ruling: defense-sustained", "disposition: dismiss",
        "unknown-field", 7, "disposition"),
    Bad("none beside others", "finding_id: M2", "finding_id: none", "nothing-found", 6, "other"),
    Bad("duplicate key", "finding_id: M2", "finding_id: M2\n  finding_id: M3", "duplicate-key", 7,
        "see line 6"),
    Bad("alias", "finding_id: M2", "finding_id: *one", "alias", 6, "*one"),
    Bad("an empty list", ENTRIES, "[]\n", "items", 4, "judge-rulings: has fewer items than 1"),
    Bad("whose list", "finding_id: M2", "finding_id: M 2", "pattern", 6,
        "judge-rulings[1].finding_id"),
    Bad("unclosed", "defense-sustained\n-->\n", "defense-sustained\n", "unclosed-block", 3,
        "before line 9, where another comment begins"),
    Bad("unclosed to the end", HEAD + BLOCK, "<!-- judge-rulings\n", "unclosed-block", 3, "by -->"),
    Bad("attributed head", "<!-- judge-rulings\n", "<!-- judge-rulings pr=7 -->\n", "type", 3,
        "a list"),
    Bad("closed at once", "<!-- judge-rulings\n", "<!-- judge-rulings -->\n\n<!-- x -->\n",
        "unclosed-block", 3, "-->"),
)  # fmt: skip

LEDGER_EDGES = (
    Edit("as it is", HEAD, HEAD),
    Edit("nothing found", HEAD + BLOCK,
         "<!-- judge-rulings\n- finding_id: none\n  judge_ruling: defense-sustained\n-->"),
    Edit("form of pull requests", HEAD,
         "<!-- judge-rulings\n- id: G1\n  stable_finding_key: gh-1\n  judge_ruling: sustained\n"
         "  judge_confidence: high\n  points_awarded: P+10\n-->\n"),
    Edit("flow style", HEAD, "<!-- judge-rulings\n- {id: G1, judge_ruling: sustained}\n-->\n"),
    Edit("other form of the block", "<!-- judge-rulings\n", "<!-- judge-rulings -->\n"),
    Edit("indented", HEAD, "<!-- judge-rulings\n  - id: a\n    judge_ruling: sustained\n-->\n"),
    Edit("in quotes", "finding_id: M2", 'finding_id: "M2"'),
    Edit("marker-like id", "finding_id: M2", "finding_id: <!--plan-issue-12"),
    Edit("prose around", HEAD, f"The judge said:\n\n{HEAD}\nAnd so on.\n\n"),
    Edit("a mention", HEAD, f"As `<!-- judge-rulings` says:\n\n{HEAD}"),
)  # fmt: skip


@pytest.mark.parametrize("bad", BAD_LEDGERS, ids=str)
def test_bad_ledgers_and_rulings_are_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, GOOD, LEDGER)


@pytest.mark.parametrize("edit", LEDGER_EDGES, ids=str)
def test_good_ledgers_and_rulings_are_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, GOOD, LEDGER)


def test_a_confidence_of_other_words_is_told() -> None:
    """The contract names three and does not close the list."""
    text = GOOD.replace("ruling: sustained", "ruling: sustained\n  judge_confidence: sure")
    assert (refusals(text, LEDGER), warned(text, LEDGER)) == ([], ["enum"])


def test_nothing_found_sustains_nothing() -> None:
    """The placeholder of a review without findings has one ruling only."""
    text = GOOD.replace(ENTRIES, "- finding_id: none\n  judge_ruling: sustained\n")
    (refused,) = refusals(text, LEDGER)
    assert (refused.code, refused.line) == ("nothing-found", 5)

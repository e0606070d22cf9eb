"""A plan: its front matter, its variant, its contract and its pointer, refused by name or good."""

from __future__ import annotations

import pytest
from judging import Bad, Edit, assert_good, assert_refused, body, refusals, told, warned

PLAN = "plan-issue"
GOOD = body(
    """
    <!-- plan-issue-12 -->

    <!-- phase-containment-ledger-ref: 77 -->

    ---
    status: pending
    issue_id: 12
    created: 2026-07-18
    plan-variant: goal-contract
    ce_gate: true
    ---

    ## Plan
    Text.

    ---

    More text.

    <!-- goal-contract
    schema_version: 1
    issue: 12
    contract_hash: "0000000000000000000000000000000000000000000000000000000000000000"
    targets:
      - id: t1
        ac_ref: AC1
        category: text-presence
        check: "grep -q x README.md"
        expected: it is there
        source: null
    invariants: [suite-is-green]
    evidence_obligations:
      checkpoint_commits: each step
      run_log: run.log
      experience_obligations:
        - scenario: S1
          surface: cli
      required_markers: []
    general_experience_standard: As people are used to.
    halt_conditions: [a, b, c, d, e]
    budget:
      tokens: 100000
      wall_clock: 4h
      chain_sub_ceiling: 3
      non_convergence: two rounds
    -->
    """
)
REF = "<!-- phase-containment-ledger-ref: 77 -->\n"
VARIANT = "plan-variant: goal-contract"
CONTRACT = GOOD[GOOD.index("<!-- goal-contract") :]
SPINE = "<!-- frame-spine\n-->"
SLICE = "<!-- frame-slice\nid: s1\nprovides: []\ndepends-on: []\nac-refs: []\n-->"

BAD_PLANS = (
    Bad("unknown variant", VARIANT, "plan-variant: short", "enum", 9, "goal-contract, brief"),
    Bad("variant of no text", VARIANT, "plan-variant: 3", "enum", 9, "3 is not"),
    Bad("two variants", VARIANT, f"{VARIANT}\nplan-variant: brief", "variant-twice", 10, "line 9"),
    Bad("the same twice", VARIANT, f"{VARIANT}\n{VARIANT}", "variant-twice", 10, "line 9"),
    Bad("spine left out for another reason", "status: pending", "spine-omitted: no time", "const",
        6, "plan-too-small"),
    Bad("contract and spine", CONTRACT, f"{CONTRACT}\n\n{SPINE}", "variant-block", 48,
        "no frame-spine block"),
    Bad("no contract", CONTRACT, "", "block-missing", 9, "no such block"),
    Bad("contract in code only", CONTRACT, f"```\n{CONTRACT}\n```", "block-missing", 9, "no such"),
    Bad("brief with a contract", VARIANT, "plan-variant: brief", "variant-block", 20,
        "the plan is a brief by line 9"),
    Bad("brief with slices", CONTRACT, SLICE, "block-missing", 9, "no such block"),
    Bad("a variant in broken YAML", "ce_gate: true", "ce_gate: [", "syntax", 10, "not YAML"),
    Bad("a key twice beside it", "ce_gate: true", "status: done", "duplicate-key", 10, "line 6"),
    Bad("an alias beside it", "ce_gate: true", "ce_gate: *a", "alias", 10, "*a"),
    Bad("pointer of no form", REF, REF.replace("77", "x7"), "pattern", 3, "'x7' is not the id"),
    Bad("pointer to nothing", REF, REF.replace("77", "0"), "pattern", 3, "in digits"),
    Bad("pointer too long", REF, REF.replace("77", "7" * 20), "pattern", 3, "in digits"),
    Bad("two pointers", REF, REF * 2, "block-twice", 4, "on line 3 already"),
    Bad("pointer below the front matter", "Text.\n", REF, "block-twice", 14, "line 3"),
)  # fmt: skip

PLAN_EDGES = (
    Edit("as it is", REF, REF),
    Edit("no pointer", REF, ""),
    Edit("pointer right below the marker", f"\n{REF}", REF),
    Edit("quoted variant", VARIANT, 'plan-variant: "goal-contract"'),
    Edit("a field of its own", VARIANT, f"{VARIANT}\nowner: somebody"),
    Edit("small plan", VARIANT, f"{VARIANT}\nspine-omitted: plan-too-small"),
    Edit("a comment above it", REF, f"{REF}<!--\n---\nplan-variant: brief\n---\n-->\n"),
    Edit("a variant in prose", "Text.", "It says `plan-variant: brief`.\n\nplan-variant: brief"),
    Edit("an example", "Text.", "```yaml\n---\nplan-variant: brief\n---\n```"),
    Edit("a contract in code", CONTRACT, f"{CONTRACT}\n\n```\n{CONTRACT}\n```"),
)  # fmt: skip


@pytest.mark.parametrize("bad", BAD_PLANS, ids=str)
def test_bad_plans_are_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, GOOD, PLAN)


@pytest.mark.parametrize("edit", PLAN_EDGES, ids=str)
def test_good_plans_are_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, GOOD, PLAN)


@pytest.mark.parametrize(
    ("front", "codes"),
    [
        ("status: 3", ["type"]),
        ("issue_id: twelve\ncreated: soon", ["type", "pattern"]),
        ("status: [", ["syntax"]),
        ("Some prose: and more of it: here", ["syntax"]),
        ("Prose between two rules.", []),
        ("\nIt says - this.\n", []),
        ("", []),
    ],
)
def test_other_front_matter_is_told_at_most(front: str, codes: list[str]) -> None:
    """Upstream's writer takes any plan; two lines of dashes may be rules between paragraphs."""
    text = f"<!-- plan-issue-12 -->\n\n---\n{front}\n---\n\n# Plan"
    assert (refusals(text, PLAN), warned(text, PLAN)) == ([], codes)


def test_a_pointer_further_down_is_told() -> None:
    """Some readers take it from anywhere, so that it refuses nothing."""
    text = GOOD.replace(REF, f"Text.\n\n{REF}")
    (problem,) = told(text.replace(VARIANT, "owner: x").replace(CONTRACT, ""), PLAN)
    assert (problem.code, problem.line, problem.warns) == ("pointer-place", 5, True)


def test_dashes_that_nothing_closes_are_a_rule() -> None:
    """There is no front matter then, whatever follows."""
    assert told("<!-- plan-issue-12 -->\n\n---\nplan-variant: short\n\n# Plan", PLAN) == ()


def test_a_contract_that_is_not_declared_is_told() -> None:
    """No reader would take the plan for one."""
    text = f"<!-- plan-issue-12 -->\n\n{CONTRACT}"
    assert (refusals(text, PLAN), warned(text, PLAN)) == ([], ["variant-missing"])


SECTIONS = "\n".join(
    f"## {number}. {name}"
    for number, name in enumerate(
        (
            "Problem and observed evidence",
            "Epistemic map",
            "Acceptance criteria",
            "Falsifiers",
            "Context inventory",
            "Evidence obligations",
        ),
        1,
    )
)
BRIEF = f"<!-- plan-issue-12 -->\n\n---\nplan-variant: brief\n---\n\n{SECTIONS}"


def test_a_brief_has_six_sections() -> None:
    """One that is missing, in code or there twice is told, and refuses nothing."""
    assert told(BRIEF, PLAN) == ()
    missing = BRIEF.replace("## 4. Falsifiers", "## 4. Doubts")
    twice = f"{BRIEF}\n## 2. Epistemic map"
    hidden = BRIEF.replace("## 6. Evidence obligations", "```\n## 6. Evidence obligations\n```")
    for text in (missing, twice, hidden):
        assert (refusals(text, PLAN), warned(text, PLAN)) == ([], ["section"])


@pytest.mark.parametrize("block", [SPINE, SLICE, CONTRACT])
def test_a_brief_has_no_steps_and_no_contract(block: str) -> None:
    """It would be two plans in one, and no reader would walk the steps."""
    codes = [problem.code for problem in refusals(f"{BRIEF}\n\n{block}", PLAN)]
    assert "variant-block" in codes


BAD_CONTRACTS = (
    Bad("no version", "schema_version: 1\n", "", "missing", 21, "schema_version"),
    Bad("unknown version", "schema_version: 1", "schema_version: 2", "schema-version", 21, "2 is"),
    Bad("another issue", "\nissue: 12", "\nissue: 13", "issue", 22, "'13' is not what the marker"),
    Bad("hash without quotes", f'"{"0" * 64}"', "0" * 64, "number", 23, "quotes"),
    Bad("hash of no form", f'"{"0" * 64}"', '"0g"', "pattern", 23, "64 lower-case hex digits"),
    Bad("no targets", CONTRACT[CONTRACT.index("targets") : CONTRACT.index("invariants")],
        "targets: []\n", "items", 24, "at least one"),
    Bad("no check", '    check: "grep -q x README.md"\n', "", "missing", 25, "targets[0].check"),
    Bad("wrong category", "text-presence", "text", "enum", 27, "structure-presence"),
    Bad("unknown key inside", "source: null", "source: null\n    owner: x", "unknown-field",
        31, "owner"),
    Bad("unknown key", "invariants: [", "invariant: [", "unknown-field", 31,
        "did you mean invariants"),
    Bad("no invariants", "invariants: [suite-is-green]\n", "", "missing", 21, "invariants"),
    Bad("wrong surface", "surface: cli", "surface: phone", "enum", 37, "browser, cli"),
    Bad("no obligation", "  run_log: run.log\n", "", "missing", 33, "run_log"),
    Bad("four halts", "[a, b, c, d, e]", "[a, b, c, d]", "items", 40, "fewer items than 5"),
    Bad("a halt twice", "[a, b, c, d, e]", "[a, b, c, d, a]", "unique", 40, "twice"),
    Bad("wrong type", "chain_sub_ceiling: 3", "chain_sub_ceiling: few", "type", 44, "an integer"),
    Bad("no budget", CONTRACT[CONTRACT.index("budget") : -3], "", "missing", 21, "budget"),
    Bad("duplicate key", "\nissue: 12", "\nissue: 12\nissue: 12", "duplicate-key", 23, "line 22"),
    Bad("target twice", "    source: null\n", "    source: null\n  - {id: t1}\n",
        "duplicate", 31, "see line 25"),
    Bad("alias", "expected: it is there", "expected: *e", "alias", 29, "*e"),
    Bad("separator", "schema_version: 1", "---\nschema_version: 1", "separator", 21, "---"),
    Bad("two documents", "budget:", "---\nbudget:", "documents", 41, "second document"),
    Bad("deep", "[suite-is-green]", "[" * 50 + "]" * 50, "nesting", 31, "levels deep"),
    Bad("unclosed", "two rounds\n-->", "two rounds", "unclosed-block", 20, "by -->"),
    Bad("two of it", CONTRACT, f"{CONTRACT}\n\n{CONTRACT}", "block-twice", 48, "on line 20"),
    Bad("not a mapping", CONTRACT[19:-3], "- a\n", "type", 21, "a mapping"),
)  # fmt: skip

CONTRACT_EDGES = (
    Edit("a hash", "0" * 64, "0a" * 32),
    Edit("a falsifier", "source: null", "source: bdd:S3\n    falsifier: an empty file"),
    Edit("tokens in words", "tokens: 100000", "tokens: as many as it takes"),
    Edit("more halts", "[a, b, c, d, e]", "[a, b, c, d, e, f]"),
    Edit("no invariants to keep", "[suite-is-green]", "[]"),
    Edit("no experiences", "\n    - scenario: S1\n      surface: cli", " []"),
    Edit("markers required", "required_markers: []", "required_markers: [goal-run-stage]"),
    Edit("other form of the block", "<!-- goal-contract\n", "<!-- goal-contract -->\n"),
    Edit("marker-like text", "it is there", "see <!-- plan-issue-12"),
    Edit("a long text", "As people are used to.", "|\n  As people\n  are used to."),
)  # fmt: skip


@pytest.mark.parametrize("bad", BAD_CONTRACTS, ids=str)
def test_bad_contracts_are_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, GOOD, PLAN)


@pytest.mark.parametrize("edit", CONTRACT_EDGES, ids=str)
def test_good_contracts_are_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, GOOD, PLAN)

"""Whatever stands in a block, its validator answers; real blocks are good; time is bounded."""

from __future__ import annotations

import os
from pathlib import Path
from time import process_time

import pytest
from checking import CONTRACT
from hypothesis import given, settings
from hypothesis import strategies as st
from judging import refusals, told, warned

from markers.payload import known

BLOCKS = {
    "frame-spine": ("plan-issue", "<!-- frame-spine\n{}\n-->"),
    "frame-slice": ("frame-slices", "<!-- frame-slice\n{}\n-->"),
    "frame-slices-generated-at": ("frame-slices", "<!-- frame-slices-generated-at: {} -->"),
    "goal-contract": ("plan-issue", "<!-- goal-contract\n{}\n-->"),
    "phase-containment": (
        "phase-containment-ledger",
        "<!-- phase-containment-12 -->\n{}\n<!-- /phase-containment-12 -->",
    ),
    "phase-containment-ledger-ref": ("plan-issue", "<!-- phase-containment-ledger-ref: {} -->"),
    "judge-rulings": ("phase-containment-ledger", "<!-- judge-rulings\n{}\n-->"),
    "brief_dispositions": ("phase-containment-ledger", "brief_dispositions:\n{}\n"),
    "front matter": ("plan-issue", "---\n{}\n---"),
    "anything": ("plan-issue", "{}"),
}
KEYS = (
    "spine_schema_version", "generated_at", "slice_comment_id", "ports", "slices", "s1", "cycle",
    "depends_on", "ac_refs", "step_id", "id", "provides", "depends-on", "ac-refs", "schema_version",
    "issue", "targets", "halt_conditions", "finding_key", "caught_stage", "catchable_phase",
    "introduced_phase", "escape_distance", "finding_id", "judge_ruling", "judge_confidence",
    "convergence_filter_ran", "filtered_count", "findings", "disposition", "plan-variant", "a",
)  # fmt: skip
WORDS = (
    "2", "1", "0", "12", "true", "null", "s1", "none", "sustained", "dismiss", "[]", "{}", "[s1]",
    "[s1, s2#cycle:2#terminal]", "2026-07-18T22:20:00Z", "design", "plan-stress-test", "brief",
    "plan-stress-test:a", "goal-contract", "[[", "{a: [", "*a", "&a b", "!!x y", "|", ">-", "",
)  # fmt: skip
PIECES = (
    "-->", "<!--", "<!-- frame-spine", "<!-- frame-slice -->", "<!-- phase-containment-12 -->",
    "<!-- /phase-containment-12 -->", "brief_dispositions:", "```yaml", "```", "---", "...",
    "%YAML", "\t", "", "  ", "\r", "\u2028", "\0", "\ud800", "\ufeff", "9" * 30, "'", '"',
)  # fmt: skip
LINES = st.tuples(
    st.sampled_from(["", "  ", "    ", "- ", "  - ", "    - "]),
    st.sampled_from(KEYS),
    st.sampled_from([": ", ":", ":\n"]),
    st.sampled_from(WORDS) | st.text(max_size=8),
).map("".join)
INSIDES = st.lists(LINES | st.sampled_from(PIECES) | st.text(max_size=8), max_size=15).map(
    "\n".join
)


@pytest.mark.parametrize("name", BLOCKS)
@settings(max_examples=60, deadline=None)
@given(inside=INSIDES)
def test_any_text_in_a_block(name: str, inside: str) -> None:
    """Each problem has a code of its own, a bounded sentence and a line of the comment."""
    family, form = BLOCKS[name]
    text = f"<!-- {family}-12 -->\n{form.replace('{}', inside)}"
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    for problem in told(text, family):
        assert problem.code != "validator-broken", problem
        assert 0 < len(problem.detail) < 1000
        assert problem.line is None or 1 <= problem.line <= lines


def test_known_blocks_are_the_registrys() -> None:
    """The names that rules and steps know are spelled as the registry spells them."""
    for name in dir(known):
        family = getattr(known, name)
        if name.isupper():
            ours = CONTRACT.family(family.name)
            assert (ours.template, ours.scope) == (family.template, family.scope)


SLICE = "<!-- frame-slice\nid: s{0}\nprovides: [a]\ndepends-on: []\nac-refs: []\n-->\n"
CONTAINMENT = (
    "<!-- phase-containment-12 -->\nfinding_key: code-review:{0}\nintroduced_phase: plan\n"
    "<!-- /phase-containment-12 -->\n"
)
SLOW = {
    "spines": ("plan-issue", "<!-- frame-spine -->\n-->\n"),
    "steps in a circle": ("plan-issue", "  s{0}:\n    depends_on: [s{1}]\n"),
    "slices": ("frame-slices", SLICE),
    "contracts": ("plan-issue", "<!-- goal-contract\n-->\n"),
    "containment": ("phase-containment-ledger", CONTAINMENT),
    "rulings": ("phase-containment-ledger", "<!-- judge-rulings\n-->\n"),
    "pointers": ("plan-issue", "<!-- phase-containment-ledger-ref: 7 -->\n"),
    "heads": ("phase-containment-ledger", "brief_dispositions:\n"),
}
HEADS = {"steps in a circle": "<!-- frame-spine\nslices:\n"}


@pytest.mark.parametrize("row", SLOW)
def test_judging_many_blocks_takes_linear_time(row: str) -> None:
    """Four times the text takes about four times as long."""
    family, unit = SLOW[row]
    taken = {}
    for size in (16_000, 64_000):
        count = size // len(unit)
        units = (unit.format(n, (n + 1) % count) for n in range(count))
        text = f"<!-- {family}-12 -->\n{HEADS.get(row, '')}{''.join(units)}"
        begun = process_time()
        assert told(text, family)
        taken[size] = process_time() - begun
    assert taken[64_000] < 12 * taken[16_000] + 1.0


RECORDED = Path(os.environ.get("RECORDED_DIR", "/nonexistent")) / "agent-orchestra"


@pytest.mark.needs("recordings")
@pytest.mark.parametrize(
    ("name", "warnings"),
    [
        ("plan-issue-878-historical", []),
        ("frame-spine-878-historical", []),
        ("frame-spine-prose-mention-plus-real", ["unknown-slice"] * 8),
        ("frame-slice-s1-878-historical", []),
        ("frame-slice-prose-mention-plus-real", []),
        ("judge-rulings-878-historical", []),
        ("judge-rulings-prose-mention-plus-real", []),
        ("judge-rulings-pr-surface-879-historical", []),
        ("judge-rulings-pr-surface-prose-mention-plus-real", []),
    ],
)
def test_real_blocks_are_good(name: str, warnings: list[str]) -> None:
    """They are judged in a plan, which may hold them all, and what mentions them is no block."""
    text = (RECORDED / f"{name}.txt").read_bytes().decode()
    marker = "<!-- plan-issue-878 -->"
    plan = text if text.startswith(marker) else f"{marker}\n\n{text}"
    found = told(plan, "plan-issue", 878)
    assert [problem for problem in found if not problem.warns] == []
    assert [problem.code for problem in found] == warnings


@pytest.mark.needs("recordings")
def test_a_real_slice_is_good_in_its_own_comment() -> None:
    """With the stamp that the real spine has."""
    text = (RECORDED / "frame-slice-s1-878-historical.txt").read_bytes().decode()
    stamp = "<!-- frame-slices-generated-at: 2026-07-18T22:20:00Z -->"
    comment = f"<!-- frame-slices-12 -->\n{stamp}\n\n{text}"
    assert (refusals(comment, "frame-slices"), warned(comment, "frame-slices")) == ([], [])

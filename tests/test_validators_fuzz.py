"""Whatever a comment holds, its validator answers: with problems or none, and it never breaks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judging import told

FAMILIES: dict[str, dict[str, str]] = {
    "review-judge-produced": {},
    "engagement-record": {"phase": "plan"},
    "review-dispositions": {},
    "credit-input": {"port": "plan"},
    "design-phase-complete": {},
    "goal-halt-report": {},
    "goal-run-inflight": {},
    "goal-run-stage": {},
    "goal-run-restart-report": {},
    "proposed-followups": {},
    "completion-account": {},
}
KEYS = (
    "schema_version", "phase", "capture_session", "load_bearing_decisions", "decision_id",
    "passes_run", "entries", "stable_finding_key", "severity", "disposition", "internal_match",
    "ac_cross_check", "also_flagged_by", "pass", "port", "adapter", "evidence", "issue", "status",
    "finding_dispositions", "proposals", "followup_key", "budget_snapshot", "target_ref", "state",
    "external_sources_reconciled", "gate_ruling_counts", "adversarial_review_ran",
)  # fmt: skip
WORDS = (
    "plan",
    "medium",
    "dismiss",
    "local",
    "1",
    "4",
    "12",
    "null",
    "[]",
    "{}",
    "[1, 1]",
    "proposed",
)
PIECES = (
    "\n```yaml\n", "\n```\n", "\n~~~\n", "\n", "\r\n", "\r", "  ", "\t", "- ", "> ", "<!--", "-->",
    "--!>", "|-", ">", "&a", "*a", "<<: ", "!!str ", "%", "'", '"', "#", ":", "\u2028", "\0",
    "\ud800", "\ufeff", "9" * 30, "1e999", "- **issue**: 12", "- **evidence**:", "  - x",
)  # fmt: skip
LINES = st.tuples(
    st.sampled_from(["", "  ", "- ", "  - ", "    "]),
    st.sampled_from(KEYS),
    st.sampled_from([": ", ":", ":\n  - "]),
    st.sampled_from(WORDS) | st.text(max_size=8),
).map("".join)
TEXTS = st.lists(LINES | st.sampled_from(PIECES) | st.text(max_size=8), max_size=20).map("\n".join)
FENCED = TEXTS.map("\n```yaml\n{}\n```\n".format)


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=120, deadline=None)
@given(text=TEXTS | FENCED)
def test_any_text(family: str, text: str) -> None:
    """Each problem has a code of its own, a bounded sentence, and a line of the comment."""
    comment = f"<!-- {family}-12 -->\n{text}"
    lines = comment.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    for problem in told(comment, family, **FAMILIES[family]):
        assert problem.code != "validator-broken", problem
        assert 0 < len(problem.detail) < 1000
        assert problem.line is None or 1 <= problem.line <= lines

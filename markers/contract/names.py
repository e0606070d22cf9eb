"""The names by which registry files call code, and the module that each one means.

A registry file may name only what stands here: a family of a team's own gets along with data.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

VALIDATORS: Mapping[str, str] = MappingProxyType(
    {
        "brief-dispositions": "brief_dispositions",
        "completion-account": "completion_account",
        "credit-input": "credit_input",
        "engagement-record": "engagement_record",
        "fenced-yaml": "fenced_yaml",
        "finding-dispositions": "finding_dispositions",
        "frame-slice": "frame_slice",
        "frame-slices": "frame_slices",
        "frame-spine": "frame_spine",
        "goal-contract": "goal_contract",
        "goal-halt-report": "goal_halt_report",
        "goal-run": "goal_run",
        "judge-rulings": "judge_rulings",
        "phase-containment": "phase_containment",
        "phase-containment-ledger": "phase_containment_ledger",
        "phase-containment-ledger-ref": "phase_containment_ledger_ref",
        "plan-issue": "plan_issue",
        "proposed-followups": "proposed_followups",
        "review-dispositions": "review_dispositions",
        "sentinel-empty": "sentinel_empty",
        "session-state": "session_state",
    }
)
"""Modules of ``markers.validators``."""

STEPS: Mapping[str, str] = MappingProxyType(
    {
        "frame-slices-spine-splice": "spine_splice",
        "goal-halt-report-render": "halt_report",
        "phase-containment-ledger-pointer": "ledger_pointer",
        "plan-issue-write-back-preserve": "plan_preserve",
        "proposed-followups-state": "followups_state",
    }
)
"""Modules of ``markers.steps``."""

READERS: Mapping[str, str] = MappingProxyType(
    {
        "completion-account": "completion_account",
        "credit-input": "credit_input",
        "engagement-record": "engagement_record",
        "goal-run-inflight": "goal_run_inflight",
        "open-for-work-affirmed": "open_for_work_affirmed",
        "spine": "spine",
    }
)
"""Modules of ``markers.readers``."""

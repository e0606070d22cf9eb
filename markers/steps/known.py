"""The comments that steps know by name, and what stands in a plan.

What may live here: names.  What may not: what is done with them.
"""

from __future__ import annotations

from ..payload.known import (
    FRAME_SLICE,
    FRAME_SPINE,
    GOAL_CONTRACT,
    JUDGE_RULINGS,
    LEDGER_REF,
    PHASE_CONTAINMENT,
    SLICES_STAMP,
)

PLAN = "plan-issue"
LEDGER = "phase-containment-ledger"
SLICES = "frame-slices"
DESIGN = "design-phase-complete"

IN_A_PLAN = (
    FRAME_SPINE,
    FRAME_SLICE,
    GOAL_CONTRACT,
    JUDGE_RULINGS,
    PHASE_CONTAINMENT,
    LEDGER_REF,
    SLICES_STAMP,
)
"""The blocks and pointers that a plan's body may hold beside prose."""


def marker_text(family: str, number: int | None) -> str:
    """The first line of the comment of *family* that belongs to one issue."""
    return f"<!-- {family}-{number} -->"

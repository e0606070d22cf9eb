"""The blocks that rules and steps know by name, spelled as the registry spells them.

What may live here: names.  What may not: what is done with them.  Who judges or edits a whole body
is given no contract; a test holds these templates to the registry's own files.
"""

from __future__ import annotations

from ..model import Family, Scope, Status


def _inside(name: str, template: str, scope: Scope = Scope.BLOCK) -> Family:
    return Family(name=name, template=template, status=Status.ACTIVE, scope=scope, shape=None)


FRAME_SPINE = _inside("frame-spine", "<!-- frame-spine ... -->")
FRAME_SLICE = _inside("frame-slice", "<!-- frame-slice ... -->")
GOAL_CONTRACT = _inside("goal-contract", "<!-- goal-contract ... -->")
JUDGE_RULINGS = _inside("judge-rulings", "<!-- judge-rulings ... -->")
BRIEF_DISPOSITIONS = _inside("brief_dispositions", "brief_dispositions: ...")
PHASE_CONTAINMENT = _inside(
    "phase-containment", "<!-- phase-containment-{ID} --> ... <!-- /phase-containment-{ID} -->"
)
LEDGER_REF = _inside(
    "phase-containment-ledger-ref",
    "<!-- phase-containment-ledger-ref: {comment_id} -->",
    Scope.POINTER,
)
SLICES_STAMP = _inside(
    "frame-slices-generated-at",
    "<!-- frame-slices-generated-at: {timestamp} -->",
    Scope.POINTER,
)

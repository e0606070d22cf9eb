"""``phase-containment-ledger-pointer``: the plan points to the ledger that was written.

The pointer stands on the line below the plan's marker (contract, statement 18); one that is there
already is replaced where it stands.
"""

from __future__ import annotations

from ..blocks import find, splice
from ..body import Body
from ..errors import Refused
from ..model import Comment, Marker
from ..payload.known import LEDGER_REF
from .interface import After
from .known import PLAN, marker_text


def pointer_line(comment_id: int | str) -> str:
    """The line that points to a ledger's comment."""
    return LEDGER_REF.template.replace("{comment_id}", str(comment_id))


def _target(written: Marker) -> str:
    return marker_text(PLAN, written.number)


def _edit(plan: str, ledger: Comment) -> str:
    body, line = Body(plan), pointer_line(ledger.id)
    standing = find(body, LEDGER_REF)
    if len(standing) > 1:
        first, second = standing[0].first, standing[1].first
        detail = (
            f"lines {first} and {second} of the plan both point to a ledger: take one out and "
            f"run this again"
        )
        raise Refused("two-pointers", detail, line=second)
    if not standing:
        return body.inserted(1, [line])
    return plan if standing[0].inner == (str(ledger.id),) else splice(body, standing[0], [line])


STEP = After(target=_target, edit=_edit)

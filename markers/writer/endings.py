"""How a call ends that is neither all well nor without any effect, and what a change amounts to.

What may live here: the words of such ends, over results that are composed already.
"""

from __future__ import annotations

from collections import Counter

from ..codec import lines_of, normalise
from ..errors import Incomplete, MarkersError, NotVerified
from ..model import Change, WriteResult


def not_recorded(action: str, error: MarkersError, result: WriteResult) -> NotVerified:
    """The effect is there, and its outcome is not in the journal."""
    detail = (
        f"the comment was {action}, but the journal did not take that down: {error};"
        " the next write to the thread, or 'persist-marker recover', settles it"
    )
    return NotVerified("not-recorded", detail, result=result)


def not_settled(error: MarkersError, result: WriteResult) -> NotVerified:
    """It was written, and it could not be seen whether it governs."""
    detail = f"comment {result.comment_id} was written, but what follows a write failed: {error}"
    return NotVerified("not-settled", detail, result=result)


def not_followed(error: MarkersError, result: WriteResult) -> Incomplete:
    """It stands, and a step after it could not be made for now."""
    detail = (
        f"comment {result.comment_id} stands, but the edit that belongs to it could not be made: "
        f"{error}; run the same write again"
    )
    return Incomplete("not-followed", detail, result=result)


def change_of(before: str, after: str) -> Change:
    """The size of a change; a line that only moved counts as neither added nor removed."""
    old, new = (Counter(_lines(text)) for text in (before, after))
    return Change(
        bytes_before=len(before.encode()),
        bytes_after=len(after.encode()),
        lines_added=(new - old).total(),
        lines_removed=(old - new).total(),
    )


def _lines(text: str) -> list[str]:
    normal = normalise(text)
    return lines_of(normal) if normal else []

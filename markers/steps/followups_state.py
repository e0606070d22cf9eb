"""``proposed-followups-state``: the queue goes on by one state at a time (contract, statement 26).

The comment that governs says which state it was in.  A write in the same state changes what is
queued; a key that gets lost by it is told loudly, since a ruling may hang on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..body import Body
from ..errors import Refused, few, line_at
from ..model import Comment
from ..payload.flawed import Flawed
from ..payload.followups import STATES, State, keys_in, state_of
from .interface import Before, Pointed, Prepared, Seen


def _apply(seen: Seen, _read: Mapping[int, Pointed | None]) -> Prepared:
    """Let the candidate through as it is, or refuse it (``state-first``, ``state-step``)."""
    unchanged = Prepared(candidate=seen.candidate)
    try:
        now = state_of(Body(seen.candidate))
    except Flawed:
        return unchanged  # the family's validator says why
    if seen.governing is None:
        _begins(now)
        return unchanged
    warnings = (*_compared(seen.governing, now), *_lost(seen.governing.body, seen.candidate))
    return Prepared(candidate=seen.candidate, warnings=warnings)


def _begins(now: State) -> None:
    if now.word != STATES[0]:
        detail = f"{line_at(now.line)} says {now.word}, and a queue begins as {STATES[0]}"
        raise Refused("state-first", detail, line=now.line)


def _compared(governing: Comment, now: State) -> Iterator[str]:
    try:
        earlier = state_of(Body(governing.body))
    except Flawed as flawed:
        why = flawed.problem.reason().detail
        yield f"state-unreadable: comment {governing.id} has no state to compare with: {why}"
    else:
        _follows(earlier, now)


def _follows(earlier: State, now: State) -> None:
    step = STATES.index(now.word) - STATES.index(earlier.word)
    if step in (0, 1):
        return
    way = "goes back" if step < 0 else f"leaves out {STATES[1]}"
    detail = (
        f"{line_at(now.line)} says {now.word}, and the queue is {earlier.word}: that {way}, and "
        "only one step forward is allowed"
    )
    raise Refused("state-step", detail, line=now.line)


def _lost(earlier: str, candidate: str) -> Iterator[str]:
    lost = sorted(keys_in(earlier) - keys_in(candidate))
    if lost:
        yield f"followups-lost: {len(lost)} PROPOSALS OF THE EARLIER QUEUE ARE GONE: {few(lost)}"


STEP = Before(apply=_apply)

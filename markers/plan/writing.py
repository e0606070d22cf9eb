"""One write: from what governs and what is wanted to what is to be done.

What may live here: the question, its table, its answer.  What may not: any request, clock or file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ..model import Reason, Shape

ABSENT = "absent"
"""What ``--expect`` says when there must be no match yet."""


class Move(StrEnum):
    """What to do about a wished body."""

    CREATE = "create"
    POST = "post"
    UPDATE = "update"
    UNCHANGED = "unchanged"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Governing:
    """The match that governs: the canonical of an upsert, the latest of a post-new family."""

    id: int
    sha256: str
    mine: bool
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One write, as far as the decision depends on it."""

    shape: Shape
    sha256: str
    """Of the candidate, normalised."""
    governing: Governing | None
    expect: str | None = None
    take_over: bool = False
    always: bool = False
    """Whether a record is posted even if it says what the latest one says."""
    revises: bool = False
    """Whether the candidate is made from what governs: there is no hash to expect then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The decision; a conflict says why."""

    move: Move
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    holds: Callable[[Question], bool]
    answer: Callable[[Question], Plan]


def _conflict(code: str, words: Callable[[Question], str]) -> Callable[[Question], Plan]:
    return lambda q: Plan(move=Move.CONFLICT, reason=Reason(code=code, detail=words(q)))


def _move(move: Move) -> Callable[[Question], Plan]:
    return lambda _q: Plan(move=move)


def _there(q: Question) -> Governing:
    assert q.governing is not None  # noqa: S101 - the rules ask only where one was found
    return q.governing


def _foreign(q: Question) -> bool:
    return q.governing is not None and not q.governing.mine and not q.take_over and q.expect is None


RULES: tuple[_Rule, ...] = (
    # What the caller expects is judged before equality: a picture that is old is old (4.6).
    _Rule(
        "expected none, found one",
        lambda q: q.expect == ABSENT and q.governing is not None,
        _conflict(
            "expect-absent",
            lambda q: (
                f"expected no such comment, but {_there(q).id} is there with sha256 "
                f"{_there(q).sha256}"
            ),
        ),
    ),
    _Rule(
        "expected one, found none",
        lambda q: q.expect not in (None, ABSENT) and q.governing is None,
        _conflict(
            "expect-missing",
            lambda q: f"expected a comment with sha256 {q.expect}, but there is none",
        ),
    ),
    _Rule(
        "expected another text",
        lambda q: q.expect not in (None, ABSENT) and _there(q).sha256 != q.expect,
        _conflict(
            "expect-changed",
            lambda q: (
                f"comment {_there(q).id} has sha256 {_there(q).sha256}, "
                f"not {q.expect}; read it again before writing"
            ),
        ),
    ),
    _Rule(
        "equal",
        lambda q: q.governing is not None and q.governing.sha256 == q.sha256 and not q.always,
        _move(Move.UNCHANGED),
    ),
    _Rule("one more record", lambda q: q.shape is Shape.POST_NEW, _move(Move.POST)),
    _Rule("first", lambda q: q.governing is None, _move(Move.CREATE)),
    _Rule(
        "another account's",
        _foreign,
        _conflict(
            "foreign-canonical",
            lambda q: (
                f"comment {_there(q).id} was written by {_there(q).author}; read it, then pass "
                + ("" if q.revises else f"--expect {_there(q).sha256} or ")
                + "--take-over"
            ),
        ),
    ),
    _Rule("changed", lambda _q: True, _move(Move.UPDATE)),
)


def decide(question: Question) -> Plan:
    """Plan one write (design, section 4.6)."""
    return next(rule.answer(question) for rule in RULES if rule.holds(question))


class Effect(StrEnum):
    """What to make of a write whose answer was lost, after a look."""

    LANDED = "landed"
    SEND_AGAIN = "send-again"
    GONE = "gone"
    CHANGED = "changed"


def effect_of_edit(*, now: str | None, before: str, after: str) -> Effect:
    """Judge an unclear PATCH by the target's hash *now*; None when the target is gone (4.8)."""
    if now is None:
        return Effect.GONE
    return {after: Effect.LANDED, before: Effect.SEND_AGAIN}.get(now, Effect.CHANGED)

"""The decision tables, row by row and as a whole."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from markers.model import Shape
from markers.plan import ABSENT, Effect, Governing, Move, Question, decide, effect_of_edit

A, B, C = "a" * 64, "b" * 64, "c" * 64
MINE = Governing(id=5, sha256=A, mine=True, author="pat")
THEIRS = Governing(id=5, sha256=A, mine=False, author="mia")

TABLE = [
    # shape, wanted, governing, expect, take over -> move, code
    (Shape.UPSERT, A, None, None, False, Move.CREATE, None),
    (Shape.UPSERT, B, MINE, None, False, Move.UPDATE, None),
    (Shape.UPSERT, A, MINE, None, False, Move.UNCHANGED, None),
    (Shape.UPSERT, A, THEIRS, None, False, Move.UNCHANGED, None),
    (Shape.UPSERT, B, THEIRS, None, False, Move.CONFLICT, "foreign-canonical"),
    (Shape.UPSERT, B, THEIRS, None, True, Move.UPDATE, None),
    (Shape.UPSERT, B, THEIRS, A, False, Move.UPDATE, None),
    (Shape.UPSERT, B, MINE, C, False, Move.CONFLICT, "expect-changed"),
    (Shape.UPSERT, A, MINE, C, False, Move.CONFLICT, "expect-changed"),
    (Shape.UPSERT, A, MINE, ABSENT, False, Move.CONFLICT, "expect-absent"),
    (Shape.UPSERT, A, None, ABSENT, False, Move.CREATE, None),
    (Shape.UPSERT, A, None, C, False, Move.CONFLICT, "expect-missing"),
    (Shape.POST_NEW, A, None, None, False, Move.POST, None),
    (Shape.POST_NEW, B, MINE, None, False, Move.POST, None),
    (Shape.POST_NEW, B, THEIRS, None, False, Move.POST, None),
    (Shape.POST_NEW, A, THEIRS, None, False, Move.UNCHANGED, None),
    (Shape.POST_NEW, A, MINE, ABSENT, False, Move.CONFLICT, "expect-absent"),
    (Shape.POST_NEW, B, MINE, C, True, Move.CONFLICT, "expect-changed"),
]


def test_each_row_of_the_table() -> None:
    """What was observed and what is wanted decide, expectation before equality before owner."""
    for shape, wanted, governing, expect, take_over, move, code in TABLE:
        plan = decide(
            Question(
                shape=shape,
                sha256=wanted,
                governing=governing,
                expect=expect,
                take_over=take_over,
            )
        )
        assert (plan.move, plan.reason and plan.reason.code) == (move, code)


def test_the_way_on_is_one_that_the_caller_has() -> None:
    """Who has the body made from what governs has no hash to expect."""
    question = Question(shape=Shape.UPSERT, sha256=B, governing=THEIRS)
    told = [decide(replace(question, revises=revises)).reason for revises in (False, True)]
    assert [reason.detail.partition("pass ")[2] for reason in told if reason] == [
        f"--expect {A} or --take-over",
        "--take-over",
    ]


@given(
    st.sampled_from(Shape),
    st.sampled_from([A, B]),
    st.sampled_from([None, MINE, THEIRS]),
    st.sampled_from([None, ABSENT, A, C]),
    st.booleans(),
)
def test_the_table_is_total_and_never_loosens_an_expectation(
    shape: Shape, wanted: str, governing: Governing | None, expect: str | None, take_over: bool
) -> None:
    """Every question has an answer, and an expectation that does not hold is always a conflict."""
    plan = decide(
        Question(
            shape=shape, sha256=wanted, governing=governing, expect=expect, take_over=take_over
        )
    )
    there = governing.sha256 if governing else ABSENT
    if expect is not None and expect != there:
        assert plan.move is Move.CONFLICT
    if plan.move in (Move.UPDATE, Move.UNCHANGED):
        assert governing is not None


def test_the_effect_of_an_unclear_edit() -> None:
    """Only the text planned against is patched again; only our own text is done."""
    effects = {now: effect_of_edit(now=now, before=A, after=B) for now in (None, A, B, C)}
    assert effects == {
        None: Effect.GONE,
        A: Effect.SEND_AGAIN,
        B: Effect.LANDED,
        C: Effect.CHANGED,
    }

"""The table of a local copy and its comment: each row, all combinations, and the hint."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markers.plan import OnConflict, Proof, Side, Standing, Word, adds_only, settle
from markers.plan.standing import STANDINGS

A, B, C = "a" * 64, "b" * 64, "c" * 64
HASHES = (None, A, B, C)

TABLE = [
    # local, durable, base -> word, takes, keeps, proof   (the caller refuses, and does not create)
    (None, None, None, Word.ABSENT, None, (), None),
    (None, None, A, Word.ABSENT, None, (), None),
    (None, A, None, Word.CREATE_CACHE, Side.DURABLE, (), None),
    (None, A, A, Word.CREATE_CACHE, Side.DURABLE, (), None),
    (None, A, B, Word.CREATE_CACHE, Side.DURABLE, (), None),
    (A, None, None, Word.CREATE_DURABLE, None, (), None),
    (A, None, A, Word.CONFLICT, None, (), None),
    (A, None, B, Word.CONFLICT, None, (), None),
    (A, A, None, Word.IN_SYNC, Side.DURABLE, (), None),
    (A, A, A, Word.IN_SYNC, Side.DURABLE, (), None),
    (A, A, B, Word.IN_SYNC, Side.DURABLE, (), None),
    (A, B, A, Word.REFRESH_CACHE, Side.DURABLE, (Side.LOCAL,), Proof.BASE),
    (A, B, B, Word.WRITE_DURABLE, Side.LOCAL, (Side.DURABLE,), Proof.BASE),
    (A, B, None, Word.REFRESH_CACHE, Side.DURABLE, (Side.LOCAL,), None),
    (A, B, C, Word.CONFLICT, None, (), None),
]
WISHES = {
    # what is seen, and what each wish makes of it: word, takes, keeps
    (A, None, B): {
        OnConflict.DURABLE: (Word.CONFLICT, None, ()),
        OnConflict.CACHE: (Word.CREATE_DURABLE, Side.LOCAL, ()),
        OnConflict.MERGE: (Word.CONFLICT, None, ()),
    },
    (A, B, None): {
        OnConflict.DURABLE: (Word.REFRESH_CACHE, Side.DURABLE, (Side.LOCAL,)),
        OnConflict.CACHE: (Word.WRITE_DURABLE, Side.LOCAL, (Side.DURABLE,)),
        OnConflict.MERGE: (Word.CONFLICT, None, ()),
    },
    (A, B, C): {
        OnConflict.DURABLE: (Word.REFRESH_CACHE, Side.DURABLE, (Side.LOCAL,)),
        OnConflict.CACHE: (Word.WRITE_DURABLE, Side.LOCAL, (Side.DURABLE,)),
        OnConflict.MERGE: (Word.MERGE, Side.MERGED, (Side.LOCAL, Side.DURABLE)),
    },
}


@pytest.mark.parametrize(("local", "durable", "base", "word", "takes", "keeps", "proof"), TABLE)
def test_each_row_of_the_table(local, durable, base, word, takes, keeps, proof) -> None:
    """What is there, what is durable and what both once held decide, and nothing else."""
    decision = settle(Standing(local=local, durable=durable, base=base))
    assert (decision.word, decision.takes, decision.keeps) == (word, takes, keeps)
    assert (decision.proof, decision.hint) == (proof, None)


@pytest.mark.parametrize("seen", WISHES)
def test_a_wish_decides_where_the_table_would_not_choose(seen) -> None:
    """Taking a side, or merging, changes conflicts and guesses."""
    local, durable, base = seen
    for wish, (word, takes, keeps) in WISHES[seen].items():
        decision = settle(Standing(local=local, durable=durable, base=base, on_conflict=wish))
        assert (decision.word, decision.takes, decision.keeps) == (word, takes, keeps), wish


def test_a_wish_changes_nothing_that_is_known() -> None:
    """Where one text is known to be the newer one, or there is one only, no wish counts."""
    for local, durable, base in product(HASHES, repeat=3):
        told = {
            settle(Standing(local=local, durable=durable, base=base, on_conflict=wish))
            for wish in OnConflict
        }
        both = local is not None and durable is not None
        guessed = both and local != durable and base not in (local, durable)
        removed = local is not None and durable is None and base is not None
        assert (len(told) > 1) == (guessed or removed)


@pytest.mark.parametrize(
    ("base", "create", "word", "takes", "code"),
    [
        (None, True, Word.CREATE_DURABLE, Side.LOCAL, None),
        (None, False, Word.CREATE_DURABLE, None, "needs-create"),
        (B, True, Word.CONFLICT, None, "durable-removed"),
    ],
)
def test_only_the_local_copy(base, create, word, takes, code) -> None:
    """It is posted where the caller says so, and never where the comment was removed."""
    decision = settle(Standing(local=A, base=base, create=create))
    assert (decision.word, decision.takes) == (word, takes)
    assert (decision.reason and decision.reason.code) == code


@pytest.mark.parametrize(
    ("local", "durable", "word", "takes"),
    [
        (None, None, Word.CREATE_CACHE, Side.FALLBACK),
        (None, A, Word.CREATE_CACHE, Side.DURABLE),
        (C, None, Word.IN_SYNC, None),
        (A, None, Word.CREATE_DURABLE, None),
        (A, B, Word.REFRESH_CACHE, Side.DURABLE),
    ],
)
def test_a_further_source_counts_where_there_is_no_comment(local, durable, word, takes) -> None:
    """The issue's own text makes a cache anew, or says that nothing is missing."""
    decision = settle(Standing(local=local, durable=durable, fallback=C))
    assert (decision.word, decision.takes) == (word, takes)


def test_unreadable_is_never_absent() -> None:
    """Of a thread that could not be read nothing follows, whatever else is there or wished."""
    for local, base, fallback, create, wish in product(
        HASHES[:2], HASHES[:2], HASHES[:2], (False, True), OnConflict
    ):
        decision = settle(
            Standing(
                local=local,
                base=base,
                fallback=fallback,
                unreadable=True,
                create=create,
                on_conflict=wish,
            )
        )
        assert (decision.word, decision.takes, decision.keeps) == (Word.UNKNOWN, None, ())


def test_a_shared_copy_is_never_overwritten() -> None:
    """What serves other numbers as well goes to the comment, or nowhere."""
    for local, durable, base, wish in product(HASHES[1:], HASHES, HASHES, OnConflict):
        decision = settle(
            Standing(local=local, durable=durable, base=base, shared=True, on_conflict=wish)
        )
        assert decision.takes in (None, Side.LOCAL) or decision.word is Word.IN_SYNC
        if decision.word is Word.CONFLICT:
            assert decision.reason is not None
        if wish is OnConflict.CACHE and durable not in (None, local):
            assert (decision.word, decision.takes) == (Word.WRITE_DURABLE, Side.LOCAL)


@given(
    st.sampled_from(HASHES),
    st.sampled_from(HASHES),
    st.sampled_from(HASHES),
    st.sampled_from(HASHES),
    st.sampled_from(OnConflict),
    st.booleans(),
)
def test_what_is_overwritten_is_kept(local, durable, base, fallback, wish, create) -> None:
    """A text is dropped from a side only where the other side or the base has it, or it is kept."""
    decision = settle(
        Standing(
            local=local,
            durable=durable,
            base=base,
            fallback=fallback,
            create=create,
            on_conflict=wish,
        )
    )
    texts = {Side.LOCAL: local, Side.DURABLE: durable, Side.FALLBACK: fallback}
    if decision.takes is None:
        assert decision.keeps == ()
        return
    taken = texts.get(decision.takes, "merged")
    assert taken is not None
    for side in (Side.LOCAL, Side.DURABLE):
        if texts[side] not in (None, taken, base):
            assert side in decision.keeps, decision


def test_every_conflict_says_what_to_do() -> None:
    """Each rule is reached, and whoever meets a conflict is told why and how to go on."""
    reached = set()
    for local, durable, base, fallback in product(HASHES, repeat=4):
        for create in (False, True):
            standing = Standing(
                local=local, durable=durable, base=base, fallback=fallback, create=create
            )
            reached.add(next(rule.seen for rule in STANDINGS if rule.holds(standing)))
    reached.add(STANDINGS[0].seen)
    assert reached == {rule.seen for rule in STANDINGS}
    for rule in STANDINGS:
        for decision in rule.decisions.values():
            if decision.word is Word.CONFLICT:
                assert decision.reason is not None
                assert "--on-conflict" in decision.reason.detail


PLAN = "# Plan\n\n- [ ] one\n- [x] two\n  1. [ ] three\n\nend\n"


@pytest.mark.parametrize(
    ("local", "adds"),
    [
        (PLAN, True),
        (PLAN.replace("- [ ] one", "- [x] one"), True),
        (PLAN.replace("1. [ ] three", "1. [X] three") + "more\n", True),
        ("first\n" + PLAN.replace("\n", "  \r\n"), True),
        (PLAN.replace("- [x] two", "- [ ] two"), False),
        (PLAN.replace("end\n", ""), False),
        (PLAN.replace("one", "another"), False),
        ("", False),
        ("end\n" + PLAN.replace("end\n", ""), False),
        (PLAN.replace("- [ ] one", "text [x] one"), False),
    ],
)
def test_ticked_boxes_and_added_lines_only_add(local: str, adds: bool) -> None:
    """Every line of the comment is there, in order, as it was or with its box ticked."""
    assert adds_only(local, PLAN) is adds


def test_the_hint_is_told_where_nothing_is_proven() -> None:
    """It stands with the decision that needs it and with no other, and changes none."""
    guessed = Standing(local=A, durable=B, annotated=True)
    assert settle(guessed).hint == "annotation"
    assert settle(guessed).takes is Side.DURABLE
    assert settle(Standing(local=A, durable=B, base=B, annotated=True)).hint is None


@given(st.lists(st.sampled_from(["- [ ] a", "b", "", "- [x] a"])), st.data())
def test_adding_is_recognised(lines: list[str], data: st.DataObject) -> None:
    """However boxes are ticked and lines put in between, it only adds."""
    made: list[str] = []
    for line in lines:
        made += data.draw(st.lists(st.sampled_from(["new", "- [ ] a"]), max_size=2))
        made.append(line.replace("[ ]", "[x]") if data.draw(st.booleans()) else line)
    assert adds_only("\n".join(made), "\n".join(lines))

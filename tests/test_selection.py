"""Trust and the one selector per family."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markers.errors import Refused
from markers.model import Account, Comment, Shape
from markers.selection import ASSOCIATIONS, Match, Trust, parse_trust, select

ME = Account(7, "me")
ANY = ["OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "MANNEQUIN", "NONE", ""]


def match(
    number: int, association: str = "NONE", author: int | None = 1, app: str | None = None
) -> Match:
    """A match by made-up account *author*."""
    comment = Comment(
        id=number,
        body="<!-- m-1 -->",
        html_url="",
        issue_url="",
        created_at="",
        updated_at="",
        author=Account(author, f"user-{author}") if author else None,
        association=association,
        app=app,
    )
    return Match("<!-- m-1 -->", comment)


def test_only_three_associations_are_trusted() -> None:
    """OWNER, MEMBER and COLLABORATOR, and no other word of GitHub's."""
    trusted = {a for a in ANY if select([match(1, a)], Shape.UPSERT, Trust(), None).governing}
    assert trusted == ASSOCIATIONS


def test_an_app_or_bot_alone_is_nothing() -> None:
    """An app counts only where the user's settings name it."""
    posted = match(1, "NONE", app="helper-bot")
    assert select([posted], Shape.UPSERT, Trust(), None).governing is None
    assert select([posted], Shape.UPSERT, parse_trust("app:helper-bot"), None).governing is posted


def test_ourselves_count_only_where_the_first_tier_has_none() -> None:
    """A member's match governs, though ours has the lower id; alone, ours governs."""
    mine, members = match(1, author=7), match(2, "MEMBER")
    assert select([mine, members], Shape.UPSERT, Trust(), ME).governing is members
    assert select([mine], Shape.UPSERT, Trust(), ME).governing is mine
    assert select([mine], Shape.UPSERT, Trust(), None).governing is None


@given(
    st.lists(
        st.builds(
            match,
            st.integers(1, 50),
            st.sampled_from(ANY),
            st.sampled_from([None, 1, 2, 7]),
            st.sampled_from([None, "helper-bot"]),
        ),
        unique_by=lambda m: m.comment.id,
    ),
    st.sampled_from(Shape),
    st.sampled_from([Trust(), Trust(collaborators=False), Trust(users=frozenset({2}))]),
    st.sampled_from([None, ME]),
)
def test_one_governs_and_every_other_is_reported(
    matches: list[Match], shape: Shape, trust: Trust, me: Account | None
) -> None:
    """The lowest trusted id of an upsert, the highest of a log; all others are extras."""
    selection = select(matches, shape, trust, me)
    ids = {m.comment.id for m in matches}
    governing = {selection.governing.comment.id} if selection.governing else set()
    assert {extra.id for extra in selection.extras} == ids - governing
    trusted = [m.comment.id for m in selection.trusted]
    assert trusted == sorted(trusted)
    if trusted:
        assert governing == {min(trusted) if shape is Shape.UPSERT else max(trusted)}
    assert all(m.comment.author is not None for m in selection.trusted)


@pytest.mark.parametrize(
    "text", ["everyone", "user:", "user:x", "app:", "USER:1", "collaborators;"]
)
def test_an_unknown_word_of_trust_is_refused(text: str) -> None:
    """A setting that is not understood is an error, not a looser or stricter trust."""
    with pytest.raises(Refused):
        parse_trust(text)


def test_trust_is_read_from_words() -> None:
    """`collaborators,user:ID,app:SLUG`; blanks around the words do not matter."""
    assert parse_trust(" collaborators, user:12,app:x ") == Trust(
        users=frozenset({12}), apps=frozenset({"x"})
    )
    assert parse_trust("") == Trust(collaborators=False)

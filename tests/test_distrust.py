"""Distrust: an account whose comments the user's own settings count for nothing."""

from __future__ import annotations

import json
import re

import pytest
from command_line import TARGET, Shell, at_forge, forge, shell
from hypothesis import given
from hypothesis import strategies as st
from worlds import ISSUE, PLAN, REPO, World, near, world

from markers import reading
from markers.codec import sha256
from markers.errors import Conflict, Denied, MarkersError, NotVerified, Refused, Withdrawn
from markers.forge import Forge, faults, seed
from markers.model import Action
from markers.selection import Trust, parse_trust, spelled
from markers.setup import Setup

__all__ = ["at_forge", "forge", "near", "shell", "world"]

BODY = f"{PLAN}\n\nThe old bot's plan.\n"
TEXT = "A plan.\n"
ONE = r"/issues/comments/\d+"
PATCHED = ("PATCH", ONE)
LINE = re.compile(r'trust = "([^"]*)"')
ONCE = re.compile(r"MARKERS_TRUST=([^ )]*)")


def old_bot(world: World) -> int:
    """The bot that wrote here until now says its plan; we may not edit it."""
    return world.say(BODY, author=seed.BOT)


def distrusting(world: World, token: str = seed.LEE_TOKEN, text: str = "") -> Setup:
    """A writer who distrusts the old bot."""
    return world.setup(token, trust=parse_trust(text or f"collaborators,-user:{seed.BOT_ID}"))


class TestTheOldBotsComment:
    """PATCH is refused: say whose it is and the two ways on, and write nothing else."""

    @pytest.mark.parametrize("order", [{"take_over": True}, {"expect": sha256(BODY)}])
    def test_it_is_denied_with_both_ways_on(self, world: World, order: dict[str, object]) -> None:
        """Author and id are named, and the very line to add; again and again the same."""
        theirs = old_bot(world)
        lee = world.setup(seed.LEE_TOKEN)
        for _time in range(3):
            error = world.fails(TEXT, setup=lee, **order)
            assert isinstance(error, Denied)
            assert (error.action, error.reason.code) == (Action.DENIED, "foreign-comment")
            assert f"comment {theirs} is by {seed.BOT} (id {seed.BOT_ID})" in str(error)
            assert "owner or a maintainer deletes it" in str(error)
            for found in (LINE.search(str(error)), ONCE.search(str(error))):
                assert found is not None
                assert found[1] == f"collaborators,-user:{seed.BOT_ID}"
        assert world.bodies() == [BODY]
        assert world.sent == ["PATCH"] * 3
        assert lee.open_journal().open_intents() == []

    def test_unasked_it_is_a_conflict_as_ever(self, near: World) -> None:
        """Neither expect nor take-over: no PATCH is tried."""
        old_bot(near)
        error = near.fails(TEXT, setup=near.setup(seed.LEE_TOKEN))
        assert isinstance(error, Conflict)
        assert near.sent == []

    def test_a_404_for_what_can_be_read_is_the_same_no(self, near: World) -> None:
        """GitHub may hide what a token may not touch: the comment is still there."""
        theirs = old_bot(near)
        near.forge.faults.add(*PATCHED, faults.status(404, "Not Found"), times=None)
        error = near.fails(TEXT, take_over=True)
        assert error.reason.code == "foreign-comment"
        assert str(theirs) in str(error)
        assert near.bodies() == [BODY]

    def test_a_404_for_what_is_gone_is_planned_again(self, near: World) -> None:
        """Its owner deleted it meanwhile: ours is created."""
        theirs = old_bot(near)
        near.forge.on_request(*PATCHED, lambda _c: near.forge.delete(theirs))
        assert near.write(TEXT, take_over=True).action is Action.CREATED

    def test_other_refusals_keep_their_own_words(self, near: World) -> None:
        """An archived repository is not a question of whose comment it is."""
        old_bot(near)
        near.forge.archive(REPO)
        assert near.fails(TEXT, take_over=True).reason.code == "archived"

    def test_our_own_comment_is_no_foreign_one(self, near: World) -> None:
        """A token that lost its right to write is told which permission it lacks."""
        near.say(BODY)
        no = faults.status(403, "Resource not accessible by personal access token")
        near.forge.faults.add(*PATCHED, no, times=None)
        assert near.fails(TEXT).reason.code == "permission"

    def test_the_line_keeps_what_is_trusted_already(self, near: World) -> None:
        """Adding it changes nothing else; an id that was trusted by name is so no longer."""
        old_bot(near)
        trust = parse_trust(f"collaborators,user:{seed.BOT_ID},user:7,app:ci,-user:8")
        setup = near.setup(seed.LEE_TOKEN, trust=trust)
        found = LINE.search(str(near.fails(TEXT, setup=setup, take_over=True)))
        assert found is not None
        assert found[1] == f"collaborators,user:7,app:ci,-user:8,-user:{seed.BOT_ID}"


class TestDistrusted:
    """With the line added the old comment governs no more."""

    @pytest.mark.parametrize("token", [seed.LEE_TOKEN, seed.MIA_TOKEN], ids=["second", "first"])
    def test_a_new_canonical_is_created_once_and_stays(self, world: World, token: str) -> None:
        """By whoever writes, trusted or only himself; the old one is named and not touched."""
        theirs = old_bot(world)
        setup = distrusting(world, token)
        made = world.write(TEXT, setup=setup)
        again = world.write(TEXT, setup=setup)
        changed = world.write("New.\n", setup=setup)
        actions = [made.action, again.action, changed.action]
        assert actions == [Action.CREATED, Action.UNCHANGED, Action.UPDATED]
        assert made.comment_id == again.comment_id == changed.comment_id
        assert world.bodies() == [BODY, f"{PLAN}\n\nNew.\n"]
        (extra,) = changed.extras
        assert (extra.id, "your settings distrust" in extra.why) == (theirs, True)

    def test_read_and_list_say_why(self, world: World) -> None:
        """The distrusted one does not govern, and the reason stands beside it."""
        theirs = old_bot(world)
        made = world.write(TEXT, setup=distrusting(world, seed.PAT_TOKEN))
        setup = distrusting(world, seed.PAT_TOKEN)
        assert world.read(setup=setup).comment_id == made.comment_id
        listed = {r.comment_id: r for r in reading.list_markers(setup, world.thread(), None)}
        assert "your settings distrust" in (listed[theirs].why or "")
        assert (listed[theirs].trusted, listed[made.comment_id].why) == (False, None)

    @pytest.mark.parametrize("also", ["app:helper-bot", "collaborators,app:helper-bot"])
    def test_nothing_else_speaks_for_it(self, near: World, also: str) -> None:
        """Neither association nor the name of its app."""
        old_bot(near)
        setup = distrusting(near, seed.PAT_TOKEN, f"{also},-user:{seed.BOT_ID}")
        assert near.write(TEXT, setup=setup).action is Action.CREATED


class TestOurselves:
    """Whoever distrusts himself would write anew each time."""

    ITSELF = f"collaborators,-user:{seed.BOT_ID}"

    @pytest.mark.parametrize("family", ["plan-issue", "design-phase-complete"])
    def test_it_is_refused_before_any_write(self, world: World, family: str) -> None:
        """The account and the word to take out are named; however often, nothing is written."""
        setup = distrusting(world, seed.BOT_TOKEN, self.ITSELF)
        for _time in range(2):
            error = world.fails(TEXT, setup=setup, family=family)
            assert isinstance(error, Refused)
            assert error.reason.code == "self-distrusted"
            assert f"(id {seed.BOT_ID})" in str(error)
            assert f"-user:{seed.BOT_ID}" in str(error)
        assert world.sent == []

    def test_a_wrong_memory_does_not_refuse(self, near: World) -> None:
        """The remembered account is the distrusted one: GitHub is asked before that refuses."""
        setup = distrusting(near, seed.PAT_TOKEN)
        key = f"me:{near.url.lower()}:fp-{seed.PAT_TOKEN}"
        told = json.dumps({"id": seed.BOT_ID, "login": seed.BOT})
        near.write(TEXT, setup=setup)
        setup.open_journal().remember(key, told)
        assert near.write("New.\n", setup=setup).action is Action.UPDATED

    def unlearnable(self, near: World) -> Setup:
        """The distrusted bot's token, and GitHub does not say whose it is."""
        near.forge.faults.add("GET", r"/user$", faults.status(403), times=None)
        near.forge.faults.add("POST", r"graphql", faults.status(403), times=None)
        return distrusting(near, seed.BOT_TOKEN, self.ITSELF)

    def test_who_cannot_be_learnt_takes_back_what_he_created(self, near: World) -> None:
        """The answer to the create is the first to say who we are: no comment is left by it."""
        setup = self.unlearnable(near)
        error: MarkersError = near.fails(TEXT, setup=setup)
        assert isinstance(error, Withdrawn)
        assert error.reason.code == "self-distrusted"
        assert near.bodies() == []
        assert near.sent == ["POST", "DELETE"]
        assert setup.open_journal().open_intents() == []
        assert isinstance(near.fails(TEXT, setup=setup), Refused)
        assert near.sent == ["POST", "DELETE"]

    def test_what_he_cannot_take_back_is_said(self, near: World) -> None:
        """The delete fails: the comment is named."""
        setup = self.unlearnable(near)
        near.forge.faults.add("DELETE", ONE, faults.status(403), times=None)
        error = near.fails(TEXT, setup=setup)
        assert isinstance(error, NotVerified)
        assert error.result.comment_id == near.carrying()[0]


IDS = st.frozensets(st.integers(0, 2**40), max_size=3)
APPS = st.frozensets(st.sampled_from(["ci", "helper-bot", "github-actions"]))


@given(st.booleans(), IDS, IDS, APPS)
def test_trust_is_spelled_as_it_is_read(
    collaborators: bool, users: frozenset[int], distrusted: frozenset[int], apps: frozenset[str]
) -> None:
    """What is printed to be added means exactly what was meant."""
    trust = Trust(
        collaborators=collaborators, users=users - distrusted, apps=apps, distrusted=distrusted
    )
    assert parse_trust(spelled(trust)) == trust


@pytest.mark.parametrize("text", ["-user:", "-user:x", "- user:1", "user:9,-user:9", "-app:ci"])
def test_odd_distrust_is_refused(text: str) -> None:
    """An id is needed, only accounts are distrusted, and nobody is both."""
    with pytest.raises(Refused):
        parse_trust(text)


class TestCommand:
    """The same from a shell: the printed line is what helps."""

    def test_the_printed_line_is_the_way_on(self, at_forge: Shell, forge: Forge) -> None:
        """Denied with exit 6; with the line in the user's file, created; then listed with why."""
        forge.comment(seed.REPO, seed.ISSUE, seed.BOT, BODY)
        at_forge.export(GH_TOKEN=seed.LEE_TOKEN)
        denied = at_forge.write(TEXT, "--take-over")
        assert (denied.code, denied.document["reason"]["code"]) == (6, "foreign-comment")
        line = re.search(r'trust = "[^"]*"', denied.err)
        assert line is not None
        at_forge.own_file.write_text(f"{line[0]}\n", encoding="utf-8")
        assert at_forge.write(TEXT).document["action"] == "created"
        assert at_forge.write("New.\n").document["action"] == "updated"
        assert len(forge.comments(seed.REPO, seed.ISSUE)) == 2
        listed = at_forge.run("list", "--number", str(ISSUE)).text
        assert "your settings distrust this account (-user:900)" in listed

    def test_absent_names_the_distrusted_one(self, at_forge: Shell, forge: Forge) -> None:
        """`read` and `read --all` of nothing but distrusted comments: exit 10, with the reason."""
        forge.comment(seed.REPO, seed.ISSUE, seed.BOT, BODY)
        at_forge.export(MARKERS_TRUST=f"collaborators,-user:{seed.BOT_ID}")
        for more in ((), ("--all",)):
            ran = at_forge.run("read", *TARGET, *more)
            assert ran.code == 10
            assert "your settings distrust" in ran.err

"""The reconciler over a real forge: what it does in each case, and what it never does."""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from crash_scenes import RULINGS
from reconciling import Meddled, Worktree, cache_at
from worlds import CONTRACT, ISSUE, PLAN, PULL, World, near, world

from markers.codec import sha256
from markers.errors import Refused
from markers.forge import faults, seed
from markers.journal.interface import Kind
from markers.model import Action
from markers.plan import OnConflict, Word
from markers.reconciler import Outcome
from markers.reconciler.merging import merged
from markers.reconciler.naming import template_of
from markers.reconciler.rows import rows_with_files

__all__ = ["near", "world"]

LIST = rf"/issues/{ISSUE}/comments"
ONE = r"/issues/comments/\d+"
OLD, NEW, THIRD = "# Plan\n\nold\n", "# Plan\n\nnew\n", "# Plan\n\nthird\n"
BASE = "# Plan\n\n- [ ] one\n\nmiddle\n\n- [ ] two\n"
TICKED = BASE.replace("[ ] one", "[x] one")
DONE = BASE.replace("[ ] two", "[x] two")
BOTH = TICKED.replace("[ ] two", "[x] two")


def body(text: str, marker: str = PLAN) -> str:
    """A comment of *text*, as this toolkit writes it."""
    return f"{marker}\n\n{text}"


@pytest.fixture
def here(near: World) -> Worktree:
    """A worktree whose cache is empty."""
    return Worktree(near)


@pytest.fixture
def agreed(here: Worktree) -> Worktree:
    """A worktree in step with the comment: both hold BASE."""
    here.world.write(BASE)
    assert here.run().decision is Word.CREATE_CACHE
    assert here.text() == BASE
    return here


def comment(here: Worktree) -> str:
    """The one plan comment."""
    [text] = [each for each in here.world.bodies() if each.startswith(PLAN)]
    return text


def edit(here: Worktree, text: str) -> None:
    """Somebody edits the comment on GitHub."""
    here.world.forge.edit(here.world.carrying()[0], body(text))


def snapshot(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestInStep:
    """From nothing to both sides equal, and on from there."""

    def test_only_the_comment(self, world: World) -> None:
        """The cache is made of it, without its marker; a second run finds them in step."""
        here = Worktree(world)
        world.write(OLD)
        first = here.run()
        assert (first.decision, first.source) == (Word.CREATE_CACHE, "comment")
        assert here.text() == OLD
        again = here.run()
        assert (again.decision, again.source) == (Word.IN_SYNC, "cache")
        assert again.local_sha256 == again.durable_sha256 == again.base_sha256
        assert again.durable_sha256 == sha256(body(OLD)) == world.read().sha256
        assert again.comment_id == world.carrying()[0]

    def test_neither(self, here: Worktree) -> None:
        """Nothing is there, and nothing is made."""
        told = here.run()
        assert (told.decision, told.source, told.ended) == (Word.ABSENT, None, Action.UNCHANGED)
        assert here.text() is None

    def test_only_the_cache_is_posted_when_told_so(self, here: Worktree) -> None:
        """Its name does not say which repository it belongs to: it takes --create."""
        here.type(OLD)
        told = here.run()
        assert (told.decision, told.source) == (Word.CREATE_DURABLE, "cache")
        assert told.reason
        assert (told.reason.code, told.ended) == ("needs-create", Action.UNCHANGED)
        assert here.world.bodies() == []
        made = here.run(create=True)
        assert (made.decision, made.reason) == (Word.CREATE_DURABLE, None)
        assert made.write
        assert (made.write.action, made.comment_id) == (Action.CREATED, here.world.carrying()[0])
        assert comment(here) == body(OLD)
        assert here.run().decision is Word.IN_SYNC

    def test_an_edit_of_the_cache_is_written(self, agreed: Worktree) -> None:
        """It descends from what is durable: that is proof; the old body is kept all the same."""
        agreed.type(TICKED)
        told = agreed.run()
        assert (told.decision, told.proof, told.source) == (Word.WRITE_DURABLE, "base", "cache")
        assert told.write
        assert told.write.action is Action.UPDATED
        assert comment(agreed) == body(TICKED)
        assert list(agreed.aside().values()) == [body(BASE)]
        journal = agreed.world.setup().open_journal()
        [intent] = [e for e in journal.entries() if e.record.kind is Kind.INTENT][-1:]
        assert intent.record.command == "reconcile"
        assert journal.body(intent.replaced or "") == body(BASE)
        assert agreed.run().decision is Word.IN_SYNC

    def test_an_edit_of_the_comment_is_fetched(self, agreed: Worktree) -> None:
        """The cache is what both once held; nobody holds it any more, so that it is kept."""
        edit(agreed, DONE)
        told = agreed.run()
        assert (told.decision, told.proof, told.source) == (Word.REFRESH_CACHE, "base", "comment")
        assert (agreed.text(), list(agreed.aside().values())) == (DONE, [BASE])
        assert len(told.kept_aside) == 1
        assert agreed.run().decision is Word.IN_SYNC

    def test_equal_without_a_base(self, here: Worktree) -> None:
        """Two equal texts are in step whatever was known of them, and are known from then on."""
        here.world.write(BASE)
        here.type(BASE)
        assert here.run().decision is Word.IN_SYNC
        here.type(TICKED)
        assert here.run().proof == "base"


class TestWithoutApplying:
    """Without --apply nothing is written at all."""

    @pytest.mark.parametrize("local", [None, OLD, NEW])
    @pytest.mark.parametrize("durable", [None, OLD])
    @pytest.mark.parametrize("wish", ["refuse", "durable", "cache", "merge"])
    def test_no_trace(
        self, here: Worktree, local: str | None, durable: str | None, wish: str
    ) -> None:
        """Neither side, no base, no copy, no journal."""
        if durable:
            here.world.say(body(durable))
        if local:
            here.type(local)
        before = snapshot(here.world.tmp)
        here.world.forge.forget()
        told = here.run(wish, apply=False, create=True)
        assert told.write is None
        assert told.kept_aside == ()
        assert here.world.sent == []
        assert snapshot(here.world.tmp) == before

    def test_the_base_is_not_set_either(self, here: Worktree) -> None:
        """Looking at two equal texts does not make them known."""
        here.world.write(BASE)
        here.type(BASE)
        assert here.run(apply=False).decision is Word.IN_SYNC
        assert here.run(apply=False).base_sha256 is None


class TestGuesses:
    """They differ, and nothing is known that both once held."""

    def test_the_comment_governs_and_the_cache_is_kept_aside(self, here: Worktree) -> None:
        """The copy lies in a directory of its own, where nobody takes it for a cache."""
        here.world.write(OLD)
        here.type("# Plan\r\n\r\nnew  \r\n")
        told = here.run()
        assert (told.decision, told.proof, told.hint) == (Word.REFRESH_CACHE, None, None)
        assert here.text() == OLD
        [(name, kept)] = here.aside().items()
        assert kept == "# Plan\r\n\r\nnew  \r\n"
        assert told.kept_aside == (str(here.memory / "kept-aside" / name),)
        assert name.startswith(f"plan-issue-{ISSUE}.md.cache-")
        assert here.run().decision is Word.IN_SYNC

    def test_a_hint_is_no_proof(self, here: Worktree) -> None:
        """Ticked boxes and added lines are told of, and the comment governs all the same."""
        here.world.write(BASE)
        here.type(TICKED + "more\n")
        told = here.run()
        assert (told.decision, told.proof, told.hint) == (Word.REFRESH_CACHE, None, "annotation")
        assert here.text() == BASE

    def test_the_caller_may_take_the_cache(self, here: Worktree) -> None:
        """Then the comment is what is kept aside, as it was stored."""
        here.world.write(BASE)
        here.type(TICKED)
        told = here.run("cache")
        assert (told.decision, told.hint) == (Word.WRITE_DURABLE, "annotation")
        assert comment(here) == body(TICKED)
        assert list(here.aside().values()) == [body(BASE)]
        assert here.run().decision is Word.IN_SYNC

    def test_nothing_to_merge_from(self, here: Worktree) -> None:
        """A merge without a base would be a guess: both stay as they are."""
        here.world.write(OLD)
        here.type(NEW)
        told = here.run("merge")
        assert (told.decision, told.ended) == (Word.CONFLICT, Action.CONFLICT)
        assert told.reason
        assert told.reason.code == "no-base"
        assert (here.text(), comment(here)) == (NEW, body(OLD))


class TestBothMoved:
    """Both have changed since they were last in step."""

    @pytest.fixture
    def apart(self, agreed: Worktree) -> Worktree:
        """Each has ticked another box."""
        agreed.type(TICKED)
        edit(agreed, DONE)
        return agreed

    def test_conflict(self, apart: Worktree) -> None:
        """The comment governs, nothing is written, and the exit tells."""
        told = apart.run()
        assert (told.decision, told.source, told.ended) == (
            Word.CONFLICT,
            "comment",
            Action.CONFLICT,
        )
        assert (apart.text(), comment(apart), apart.aside()) == (TICKED, body(DONE), {})

    def test_durable(self, apart: Worktree) -> None:
        """The cache is kept aside and refreshed."""
        assert apart.run("durable").decision is Word.REFRESH_CACHE
        assert (apart.text(), list(apart.aside().values())) == (DONE, [TICKED])

    def test_cache(self, apart: Worktree) -> None:
        """The comment is kept aside and written."""
        assert apart.run("cache").decision is Word.WRITE_DURABLE
        assert comment(apart) == body(TICKED)
        assert list(apart.aside().values()) == [body(DONE)]

    def test_merge(self, apart: Worktree) -> None:
        """Both changes are in both sides, and both originals are kept aside."""
        told = apart.run("merge")
        assert (told.decision, told.ended) == (Word.MERGE, Action.UNCHANGED)
        assert (apart.text(), comment(apart)) == (BOTH, body(BOTH))
        assert sorted(apart.aside().values()) == sorted([TICKED, body(DONE)])
        assert apart.run().decision is Word.IN_SYNC

    def test_a_contradiction_stays_a_conflict(self, apart: Worktree) -> None:
        """Where both changed the same lines no text is made up, and nothing is written."""
        edit(apart, BASE.replace("- [ ] one", "- [ ] one, later"))
        told = apart.run("merge")
        assert (told.decision, told.ended) == (Word.CONFLICT, Action.CONFLICT)
        assert told.reason
        assert told.reason.code == "merge-conflict"
        assert (apart.text(), apart.aside()) == (TICKED, {})

    def test_without_git_nothing_is_merged(
        self, apart: Worktree, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A missing program is no merge: both stay as they are."""
        monkeypatch.setenv("PATH", str(apart.top))
        told = apart.run("merge")
        assert (told.decision, told.ended) == (Word.MERGE, Action.UNAVAILABLE)
        assert told.reason
        assert told.reason.code == "merge"
        assert (apart.text(), comment(apart), apart.aside()) == (TICKED, body(DONE), {})

    def test_merging_follows_no_settings(self, tmp_path: Path, monkeypatch) -> None:
        """What the user's git is told does not change what merging says."""
        (tmp_path / ".gitconfig").write_text("[merge]\nconflictStyle = nonsense\n[broken")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert merged(TICKED, BASE, DONE) == BOTH
        assert merged(OLD, BASE, NEW) is None


class TestRemoved:
    """The comment was there, and is gone."""

    @pytest.fixture
    def orphaned(self, agreed: Worktree) -> Worktree:
        """Somebody deleted the comment."""
        agreed.world.forge.delete(agreed.world.carrying()[0])
        return agreed

    @pytest.mark.parametrize("wish", ["refuse", "durable", "merge"])
    def test_it_is_not_posted_again(self, orphaned: Worktree, wish: str) -> None:
        """Not even with --create; and the cache stays, too."""
        told = orphaned.run(wish, create=True)
        assert (told.decision, told.source) == (Word.CONFLICT, "cache")
        assert told.reason
        assert told.reason.code == "durable-removed"
        assert (orphaned.text(), orphaned.world.bodies()) == (BASE, [])

    def test_unless_the_caller_takes_the_cache(self, orphaned: Worktree) -> None:
        """Then it is."""
        assert orphaned.run("cache").decision is Word.CREATE_DURABLE
        assert comment(orphaned) == body(BASE)


class TestUnreadable:
    """What could not be read is not absent."""

    @pytest.mark.parametrize(
        "effect",
        [faults.status(500), faults.status(403, "Forbidden"), faults.html(), faults.status(404)],
    )
    @pytest.mark.parametrize("wish", ["refuse", "durable", "cache", "merge"])
    def test_the_thread(self, agreed: Worktree, effect, wish: str) -> None:
        """Nothing is done, with any wish, and the exit is that of the unknown."""
        agreed.type(TICKED)
        agreed.world.forge.forget()
        agreed.world.forge.faults.add("GET", LIST, effect, times=None)
        told = agreed.run(wish, create=True)
        assert (told.decision, told.source, told.ended) == (Word.UNKNOWN, None, Action.UNKNOWN)
        assert told.reason is not None
        assert (agreed.text(), agreed.aside(), agreed.world.sent) == (TICKED, {}, [])

    def test_the_cache(self, agreed: Worktree) -> None:
        """A directory in its place, like any file that cannot be read, is no missing cache."""
        agreed.file().unlink()
        agreed.file().mkdir()
        told = agreed.run()
        assert (told.decision, told.ended) == (Word.UNKNOWN, Action.UNKNOWN)
        assert told.reason
        assert told.reason.code == "state-unreadable"

    def test_no_text(self, agreed: Worktree) -> None:
        """What is no UTF-8 is refused, and stays."""
        agreed.file().write_bytes(b"\xff\xfe\x00")
        with pytest.raises(Refused) as caught:
            agreed.run("durable")
        assert caught.value.reason.code == "encoding"
        assert agreed.file().read_bytes() == b"\xff\xfe\x00"

    def test_a_link(self, agreed: Worktree) -> None:
        """A link in the cache's place is neither followed nor replaced."""
        agreed.file().rename(agreed.memory / "elsewhere")
        agreed.file().symlink_to(agreed.memory / "elsewhere")
        edit(agreed, DONE)
        with pytest.raises(Refused) as caught:
            agreed.run()
        assert caught.value.reason.code == "path-symlink"
        assert agreed.file().is_symlink()


class TestForms:
    """Equal texts are equal in whatever form they come."""

    @pytest.mark.parametrize(
        "stored",
        [
            f"{PLAN}\n{BASE}",
            f"{PLAN}\n\n\n\n{BASE}\n\n",
            f"{PLAN}  \r\n" + BASE.replace("\n", "\r\n"),
            f"{PLAN}\n\n" + BASE.replace("middle", "middle \t"),
        ],
    )
    def test_of_the_comment(self, here: Worktree, stored: str) -> None:
        """Line ends, and blank lines around the text, make no other text of it."""
        here.world.say(stored)
        assert here.run().decision is Word.CREATE_CACHE
        assert here.run().decision is Word.IN_SYNC
        here.type(TICKED)
        assert here.run().decision is Word.WRITE_DURABLE
        assert comment(here) == body(TICKED)

    @pytest.mark.parametrize(
        "typed",
        [body(BASE), "\ufeff" + BASE, "\n \n" + BASE, BASE.replace("\n", "\r\n"), BASE[:-1]],
    )
    def test_of_the_cache(self, here: Worktree, typed: str) -> None:
        """So do a marker, a byte-order mark and a missing line end; the file is left as it is."""
        here.world.write(BASE)
        here.type(typed)
        assert here.run().decision is Word.IN_SYNC
        assert here.text() == typed
        edit(here, DONE)
        assert here.run().decision is Word.REFRESH_CACHE
        assert here.text() == DONE

    @pytest.mark.parametrize("typed", ["", "\n \t\n", "\ufeff", f"{PLAN}\n"])
    def test_a_blank_cache_is_none(self, agreed: Worktree, typed: str) -> None:
        """A file that was cut off is not written over the comment, however known the base is."""
        agreed.type(typed)
        assert agreed.run().decision is Word.CREATE_CACHE
        assert agreed.text() == BASE

    def test_a_blank_comment_holds_nothing(self, here: Worktree) -> None:
        """A marker alone takes the cache's text when the caller says so, in the same comment."""
        there = here.world.say(f"{PLAN}\n")
        here.type(BASE)
        assert here.run().decision is Word.CREATE_DURABLE
        assert here.text() == BASE
        assert here.run(create=True).comment_id == there
        assert comment(here) == body(BASE)

    def test_hard_breaks_survive(self, here: Worktree) -> None:
        """Blanks at a line's end are no difference, but they are carried where one is written."""
        here.world.write("one  \ntwo\n")
        here.run()
        assert here.text() == "one  \ntwo\n"


class TestTrust:
    """Only the comment that governs counts."""

    def test_a_stranger_does_not_count(self, here: Worktree) -> None:
        """His comment neither fills the cache nor is written to."""
        here.world.say(body(OLD), author="lee")
        assert here.run().decision is Word.ABSENT
        here.type(NEW)
        assert here.run(create=True).decision is Word.CREATE_DURABLE
        assert here.world.bodies() == [body(OLD), body(NEW)]

    def test_another_accounts_comment_that_counts(self, here: Worktree) -> None:
        """It is written to, since what was observed is expected."""
        here.world.say(body(OLD), author="mia")
        here.run()
        here.type(NEW)
        told = here.run()
        assert (told.decision, told.ended) == (Word.WRITE_DURABLE, Action.UNCHANGED)
        assert comment(here) == body(NEW)

    def test_a_marker_on_a_pull_request(self, here: Worktree) -> None:
        """A plan does not belong there: nothing is fetched from it."""
        marker = f"<!-- plan-issue-{PULL} -->"
        here.world.say(body(OLD, marker), number=PULL)
        wish = here.wish(
            thread=here.world.thread(PULL), marker=here.world.marker(number=PULL), apply=True
        )
        with pytest.raises(Refused) as caught:
            here.run(thread=wish.thread, marker=wish.marker)
        assert caught.value.reason.code == "surface"
        assert here.text() is None


class TestWriter:
    """The comment is written by the one writer, with all its rules."""

    def test_what_it_refuses_stays_local(self, agreed: Worktree) -> None:
        """Another family's marker in the text: the writer says no, and both stay as they are."""
        typed = f"{TICKED}\n<!-- design-issue-{ISSUE} -->\n"
        agreed.type(typed)
        told = agreed.run()
        assert (told.decision, told.ended) == (Word.WRITE_DURABLE, Action.REFUSED)
        assert told.write
        assert told.write.reason == told.reason
        assert (agreed.text(), comment(agreed)) == (typed, body(BASE))
        assert agreed.run(apply=False).decision is Word.WRITE_DURABLE

    def test_no_write_without_permission(self, agreed: Worktree) -> None:
        """A denied write is told with the writer's own end."""
        agreed.type(TICKED)
        agreed.world.forge.faults.add("PATCH", ONE, faults.status(403, "Forbidden"))
        told = agreed.run()
        assert (told.decision, told.ended) == (Word.WRITE_DURABLE, Action.DENIED)
        assert agreed.run().ended is Action.UNCHANGED

    def test_an_answer_that_was_lost(self, agreed: Worktree) -> None:
        """What nobody knows is said to be unknown; the next run finds out."""
        agreed.type(TICKED)
        forge = agreed.world.forge
        forge.on_request(
            "PATCH", ONE, lambda _c: forge.faults.add("GET", "", faults.status(500), times=None)
        )
        forge.faults.add("PATCH", ONE, faults.reset(landed=True))
        told = agreed.run()
        assert (told.decision, told.ended) == (Word.WRITE_DURABLE, Action.UNKNOWN)
        agreed.world.forge.faults.clear()
        assert agreed.run().decision is Word.IN_SYNC

    def test_what_it_carries_forward_comes_back(self, agreed: Worktree) -> None:
        """A pointer that the comment had besides is in the cache afterwards, the old text aside."""
        ledger = f"<!-- phase-containment-ledger-{ISSUE} -->"
        target = agreed.world.say(f"{ledger}\n\n{RULINGS}")
        pointer = f"<!-- phase-containment-ledger-ref: {target} -->\n"
        edit(agreed, pointer + BASE)
        agreed.type(TICKED)
        told = agreed.run("cache")
        assert told.write
        assert told.write.preserved == (f"phase-containment-ledger-ref {target}",)
        assert pointer in comment(agreed)
        assert comment(agreed) == body(agreed.text() or "")
        assert TICKED in agreed.aside().values()
        assert agreed.run().decision is Word.IN_SYNC


class TestOtherComments:
    """A base is that of the comment that held it."""

    def test_another_comment_is_no_moved_one(self, agreed: Worktree) -> None:
        """Where the comment is gone and another one governs, the local text is no older one."""
        agreed.type(TICKED)
        agreed.run()
        world = agreed.world
        [mine] = world.carrying()
        world.say(body(NEW))
        world.forge.delete(mine)
        told = agreed.run()
        assert (told.decision, told.proof) == (Word.REFRESH_CACHE, None)
        assert TICKED in agreed.aside().values()

    def test_a_removed_record_is_no_older_truth(self, here: Worktree) -> None:
        """The record before the one that was taken back proves nothing about the local text."""
        family = "design-issue"
        marker = here.world.marker(family).text
        here.world.say(f"{marker}\n\n{OLD}")
        here.run(family=family)
        here.type(NEW, family)
        here.run(family=family)
        newest = max(here.world.carrying(marker))
        here.world.forge.delete(newest)
        told = here.run(family=family)
        assert told.proof is None
        assert NEW in {here.text(family), *here.aside().values()}

    def test_a_later_record_has_moved_on(self, here: Worktree) -> None:
        """Each record is a comment of its own: a later one is the same thread's next."""
        family = "design-issue"
        marker = here.world.marker(family).text
        here.world.say(f"{marker}\n\n{OLD}")
        here.run(family=family)
        here.world.say(f"{marker}\n\n{NEW}")
        told = here.run(family=family)
        assert (told.decision, told.proof) == (Word.REFRESH_CACHE, "base")

    def test_a_mark_in_front_of_a_comments_text_is_no_text(self, here: Worktree) -> None:
        """What was just fetched is in step."""
        here.world.say(f"{PLAN}\n\n\ufeffhello\n")
        here.run()
        assert here.run().decision is Word.IN_SYNC


class TestRaces:
    """What changes between look and write is never overwritten."""

    def test_two_that_cross_do_not_both_succeed(self, agreed: Worktree) -> None:
        """Who has fetched looks whether the comment still says so, and sets no base if not."""
        agreed.type(TICKED)
        edit(agreed, DONE)
        local = Meddled(agreed.wish().local, 3, lambda: edit(agreed, THIRD))
        told = agreed.run("durable", local=local)
        assert (told.decision, told.ended) == (Word.REFRESH_CACHE, Action.LANDED_INCOMPLETE)
        assert agreed.text() == DONE
        assert agreed.run().decision is Word.CONFLICT

    def test_a_copy_that_changes_while_the_comment_is_written(self, agreed: Worktree) -> None:
        """Who has written the comment looks whether the copy still says so."""
        agreed.type(TICKED)
        local = Meddled(agreed.wish().local, 3, lambda: agreed.type(THIRD))
        told = agreed.run(local=local)
        assert (told.decision, told.ended) == (Word.WRITE_DURABLE, Action.LANDED_INCOMPLETE)
        assert (agreed.text(), comment(agreed)) == (THIRD, body(TICKED))

    def test_the_comment_moves_before_it_is_written(self, agreed: Worktree) -> None:
        """An edit that comes after the look makes it a conflict."""
        agreed.type(TICKED)
        local = Meddled(agreed.wish().local, 2, lambda: edit(agreed, DONE))
        told = agreed.run(local=local)
        assert (told.decision, told.ended) == (Word.CONFLICT, Action.CONFLICT)
        assert told.write
        assert told.write.action is Action.CONFLICT
        assert (agreed.text(), comment(agreed)) == (TICKED, body(DONE))
        assert agreed.run("merge").decision is Word.MERGE

    def test_the_comment_moves_right_before_the_patch(self, agreed: Worktree) -> None:
        """So does one between the writer's own look and its write."""
        agreed.type(TICKED)
        agreed.world.forge.on_request("GET", ONE, lambda _call: edit(agreed, DONE))
        told = agreed.run()
        assert (told.decision, told.ended) == (Word.CONFLICT, Action.CONFLICT)
        assert comment(agreed) == body(DONE)

    def test_somebody_else_posts_first(self, here: Worktree) -> None:
        """A first comment that comes after the look is not doubled."""
        here.type(OLD)
        local = Meddled(here.wish().local, 2, lambda: here.world.say(body(NEW)))
        told = here.run(local=local, create=True)
        assert (told.decision, told.ended) == (Word.CONFLICT, Action.CONFLICT)
        assert here.world.bodies() == [body(NEW)]

    @pytest.mark.parametrize("wish", ["refuse", "durable", "cache", "merge"])
    @pytest.mark.parametrize("moved", [True, False])
    def test_the_cache_moves_after_it_was_read(
        self, agreed: Worktree, wish: str, moved: bool
    ) -> None:
        """Neither is it overwritten, nor is its older text written anywhere."""
        agreed.type(TICKED)
        if moved:
            edit(agreed, DONE)
        before = comment(agreed)
        agreed.world.forge.on_request("GET", LIST, lambda _call: agreed.type(THIRD))
        told = agreed.run(wish)
        assert (told.decision, told.ended) == (Word.CONFLICT, Action.CONFLICT)
        assert (agreed.text(), comment(agreed)) == (THIRD, before)

    def test_the_cache_appears_after_it_was_missed(self, agreed: Worktree) -> None:
        """A file that somebody has just made is not overwritten by what would have been made."""
        agreed.file().unlink()
        agreed.world.forge.on_request("GET", LIST, lambda _call: agreed.type(THIRD))
        told = agreed.run()
        assert told.reason
        assert (told.decision, told.reason.code) == (Word.CONFLICT, "cache-changed")
        assert agreed.text() == THIRD

    def test_the_cache_moves_while_the_merge_is_written(self, agreed: Worktree) -> None:
        """The comment has the merged text, the cache its newest; the next run brings them on."""
        typed = TICKED.replace("middle", "more")
        agreed.type(TICKED)
        edit(agreed, DONE)
        agreed.world.forge.on_request("PATCH", ONE, lambda _call: agreed.type(typed))
        told = agreed.run("merge")
        assert told.reason
        assert (told.decision, told.reason.code) == (Word.CONFLICT, "cache-changed")
        assert told.write
        assert told.write.action is Action.UPDATED
        assert (agreed.text(), comment(agreed)) == (typed, body(BOTH))
        assert agreed.run().decision is Word.CONFLICT
        assert agreed.run("merge").ended is Action.UNCHANGED
        assert agreed.text() == BOTH.replace("middle", "more")

    def test_somebody_holds_the_lock(self, agreed: Worktree) -> None:
        """A cache whose lock is held for long is not written."""
        edit(agreed, DONE)
        with agreed.wish().local.file.held(lambda _warning: None):
            told = run_elsewhere(agreed)
        assert told.reason
        assert (told.ended, told.reason.code) == (Action.UNAVAILABLE, "state-locked")
        assert agreed.text() == BASE


def run_elsewhere(agreed: Worktree) -> Outcome:
    """Reconcile on another thread of execution, for which a held lock is another's."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(agreed.run).result()


class TestBases:
    """A base belongs to one copy on one machine, and to no other that is like it."""

    def test_two_worktrees_share_a_journal_and_no_base(self, agreed: Worktree) -> None:
        """An old copy in another worktree proves nothing against a newer comment."""
        other = Worktree(agreed.world, "other", journal=agreed.journal)
        other.type(BASE)
        assert other.run().decision is Word.IN_SYNC
        agreed.type(TICKED)
        assert agreed.run().decision is Word.WRITE_DURABLE
        third = Worktree(agreed.world, "third", journal=agreed.journal)
        third.type(BASE)
        told = third.run()
        assert (told.decision, told.proof) == (Word.REFRESH_CACHE, None)
        assert comment(agreed) == body(TICKED)
        assert list(third.aside().values()) == [BASE]

    def test_another_machine_with_the_same_path(self, agreed: Worktree, monkeypatch) -> None:
        """The machine's name is part of it."""
        monkeypatch.setattr(socket, "gethostname", lambda: "another")
        assert agreed.run(apply=False).base_sha256 is None

    def test_a_directory_that_was_made_anew(self, agreed: Worktree) -> None:
        """So is the directory itself: a container that reuses the path is another place."""
        moved = agreed.memory.rename(agreed.top / "moved")
        agreed.memory.mkdir()
        os.link(moved / agreed.file().name, agreed.file())
        (moved / agreed.file().name).unlink()
        told = agreed.run(apply=False)
        assert (told.decision, told.base_sha256) == (Word.IN_SYNC, None)

    def test_letter_case_keeps_it(self, agreed: Worktree) -> None:
        """A repository is the same in capitals."""
        repo = replace(agreed.world.repo, owner=agreed.world.repo.owner.upper())
        thread = replace(agreed.world.thread(), repo=repo)
        assert agreed.run(apply=False, thread=thread).base_sha256 is not None

    def test_a_rename_keeps_it_once_the_id_is_known(self, agreed: Worktree) -> None:
        """From then on the base is kept by the repository's id, and found by any of its names."""
        world, journal = agreed.world, agreed.world.setup().open_journal()
        renamed = replace(world.repo, name="gadgets")
        world.forge.rename(f"{world.repo.slug}", renamed.slug)
        thread = replace(world.thread(), repo=renamed)
        assert agreed.run(apply=False, thread=thread).base_sha256 is None
        for repo in (world.repo, renamed):
            name = replace(thread, repo=repo).key().rpartition("#")[0]
            journal.remember(f"repo-id:{name}", str(seed.REPO_ID))
        assert agreed.run().decision is Word.IN_SYNC
        assert agreed.run(apply=False, thread=thread).base_sha256 is not None

    def test_another_row_or_number_has_another(self, agreed: Worktree) -> None:
        """The marker is part of it: the same file under two markers has two bases."""
        told = agreed.run(apply=False, marker=agreed.world.marker("design-issue"), chain=())
        assert told.base_sha256 is None

    def test_the_journal_names_no_place(self, agreed: Worktree) -> None:
        """Who shares the journal does not learn the names of machines and directories."""
        key = agreed.wish().local.key
        assert str(agreed.top) not in key
        assert socket.gethostname() not in key
        assert key != cache_at(agreed.memory, "plan-issue-13.md").key


class TestDesign:
    """SMC-03: cache, comment, then the issue's own text."""

    MARKER = f"<!-- design-issue-{ISSUE} -->"

    def test_the_issue_makes_the_cache_anew(self, here: Worktree) -> None:
        """Without a comment its text does, and is no base: a comment was never there."""
        told = here.run(family="design-issue")
        assert (told.decision, told.source) == (Word.CREATE_CACHE, "issue-body")
        assert here.text("design-issue") == "They squeak when it is cold.\n"
        again = here.run(family="design-issue")
        assert (again.decision, again.base_sha256) == (Word.IN_SYNC, None)

    def test_the_comment_comes_first(self, here: Worktree) -> None:
        """The latest one, since each pause appends one."""
        here.world.say(body(OLD, self.MARKER))
        here.world.say(body(NEW, self.MARKER))
        told = here.run(family="design-issue")
        assert (told.decision, told.source) == (Word.CREATE_CACHE, "comment")
        assert here.text("design-issue") == NEW

    def test_an_edit_is_appended(self, here: Worktree) -> None:
        """The family's shape is kept: one more comment, and the old one stays."""
        here.world.say(body(OLD, self.MARKER))
        here.run(family="design-issue")
        here.type(NEW, "design-issue")
        told = here.run(family="design-issue")
        assert told.write
        assert (told.decision, told.write.action) == (Word.WRITE_DURABLE, Action.POSTED)
        assert here.world.bodies() == [body(OLD, self.MARKER), body(NEW, self.MARKER)]
        assert here.run(family="design-issue").decision is Word.IN_SYNC

    def test_the_text_of_a_strangers_issue(self, here: Worktree) -> None:
        """Whoever may only open an issue does not fill a cache."""
        number = here.world.forge.add_issue(seed.REPO, body="Do as I say.", author="lee")
        told = here.row("SMC-03", number=number, apply=True)
        assert told.decision is Word.ABSENT
        number = here.world.forge.add_issue(seed.REPO, body="Do.", author="mia")
        assert here.row("SMC-03", number=number).decision is Word.CREATE_CACHE

    def test_an_issue_that_cannot_be_read(self, here: Worktree) -> None:
        """It is not known to be empty."""
        here.world.forge.faults.add("GET", rf"/issues/{ISSUE}$", faults.status(500), times=None)
        assert here.run(family="design-issue").decision is Word.UNKNOWN


class TestBundles:
    """SMC-01 and SMC-02: one file for several issues comes first, and is never overwritten."""

    @pytest.fixture
    def bundled(self, here: Worktree) -> Worktree:
        """A bundle of this issue and two others, and an older file of its own."""
        (here.memory / f"plan-bundle-7-{ISSUE}-30.md").write_text(BASE)
        (here.memory / "plan-bundle-112-120.md").write_text(OLD)
        here.type(OLD)
        return here

    def bundle(self, here: Worktree) -> str:
        """The bundle's text."""
        return (here.memory / f"plan-bundle-7-{ISSUE}-30.md").read_text()

    def test_the_single_plan_leaves_it_to_the_bundle(self, bundled: Worktree) -> None:
        """It names the row to reconcile, and touches nothing."""
        told = bundled.row("SMC-01", apply=True, create=True)
        assert (told.decision, told.source) == (Word.GAP, "bundle")
        assert told.reason
        assert told.reason.code == "bundle"
        assert "SMC-02" in told.reason.detail
        assert bundled.world.bodies() == []

    def test_it_goes_to_the_comment_of_each_issue(self, bundled: Worktree) -> None:
        """Whole, issue by issue."""
        told = bundled.row("SMC-02", apply=True, create=True)
        assert (told.decision, told.source) == (Word.CREATE_DURABLE, "bundle")
        assert comment(bundled) == body(BASE)
        assert bundled.row("SMC-02", apply=True).decision is Word.IN_SYNC

    def test_a_comment_that_moved_does_not_overwrite_it(self, bundled: Worktree) -> None:
        """Another issue's plan is in it as well: that is a conflict, unless the caller takes it."""
        bundled.row("SMC-02", apply=True, create=True)
        edit(bundled, DONE)
        told = bundled.row("SMC-02", apply=True)
        assert (told.decision, told.ended) == (Word.CONFLICT, Action.CONFLICT)
        assert told.reason
        assert told.reason.code == "shared-copy"
        assert self.bundle(bundled) == BASE
        for wish in (OnConflict.DURABLE, OnConflict.MERGE):
            assert bundled.row("SMC-02", apply=True, on_conflict=wish).decision is Word.CONFLICT
        assert self.bundle(bundled) == BASE

    def test_no_bundle_and_several(self, here: Worktree) -> None:
        """Without one there is nothing to say; of several one has to be named."""
        told = here.row("SMC-02")
        assert told.reason
        assert (told.decision, told.reason.code) == (Word.GAP, "no-bundle")
        for other in (7, 8):
            (here.memory / f"plan-bundle-{ISSUE}-{other}.md").write_text(BASE)
        told = here.row("SMC-02")
        assert told.reason
        assert (told.decision, told.reason.code) == (Word.GAP, "several-bundles")
        assert "plan-bundle-12-7.md" in told.reason.detail


REVIEW = """---
issue_id: 13
review_mode: full
prosecution_complete: true
defense_complete: false
judgment_complete: false
last_updated: 2031-03-04T08:15:00Z
---
"""


class TestReviewState:
    """SMC-06: a judge's comment, then the pull request's own text, then the cache."""

    @pytest.fixture
    def resumed(self, here: Worktree) -> Worktree:
        """A pull request with a review under way."""
        here.world.forge.add_issue(
            seed.REPO, 13, pull=True, body="<!-- pipeline-metrics\nmetrics_version: 4\n-->\n"
        )
        (here.memory / "review-state-13.md").write_text(REVIEW)
        return here

    def source(self, here: Worktree, number: int = 13) -> tuple[str | None, int | None]:
        """What governs."""
        told = here.row("SMC-06", number=number)
        assert told.decision is Word.GAP
        assert told.reason
        assert told.reason.code == "gap"
        return told.source, told.comment_id

    def test_the_latest_rulings_come_first(self, resumed: Worktree) -> None:
        """Of the comments of trusted authors that hold a block of rulings."""
        resumed.world.say(f"Judged.\n\n{RULINGS}", number=13)
        latest = resumed.world.say(f"Judged again.\n\n{RULINGS}", number=13, author="mia")
        resumed.world.say(f"Me too.\n\n{RULINGS}", number=13, author="lee")
        resumed.world.say("```\n" + RULINGS + "```\n", number=13)
        assert self.source(resumed) == ("review-comment", latest)

    def test_then_the_metrics(self, resumed: Worktree) -> None:
        """In the text of the pull request, where its author is trusted."""
        resumed.world.say(f"Me too.\n\n{RULINGS}", number=13, author="lee")
        assert self.source(resumed) == ("pull-request-body", None)

    def test_then_the_cache(self, here: Worktree) -> None:
        """A file that is not exactly of six fields is none."""
        here.world.forge.add_issue(seed.REPO, 13, pull=True, body="Nothing.")
        assert self.source(here) == (None, None)
        (here.memory / "review-state-13.md").write_text(REVIEW)
        assert self.source(here) == ("cache", None)
        (here.memory / "review-state-13.md").write_text(REVIEW.replace("true", "yes"))
        assert self.source(here) == (None, None)

    def test_the_text_of_a_strangers_pull_request(self, here: Worktree) -> None:
        """It does not come before the cache."""
        here.world.forge.add_issue(
            seed.REPO, 13, pull=True, body="<!-- pipeline-metrics\na: 1\n-->\n", author="lee"
        )
        assert self.source(here) == (None, None)

    def test_what_cannot_be_asked_may_govern(self, resumed: Worktree) -> None:
        """A thread that cannot be read is not passed over for the cache."""
        resumed.world.forge.faults.add("GET", "/comments", faults.status(500), times=None)
        told = resumed.row("SMC-06", number=13)
        assert (told.decision, told.ended) == (Word.UNKNOWN, Action.UNKNOWN)

    def test_before_the_pull_request(self, resumed: Worktree) -> None:
        """SMC-05 is the same file and knows no other source: GitHub is not asked."""
        resumed.world.forge.forget()
        told = resumed.row("SMC-05", number=13)
        assert (told.decision, told.source) == (Word.GAP, "cache")
        assert told.reason
        assert "Nothing durable" in told.reason.detail
        assert not resumed.world.forge.counts


class TestRows:
    """Every row of the contract has an answer."""

    @pytest.mark.parametrize("name", [name for name in CONTRACT.rows if name.startswith("SMC-")])
    def test_of_its_own(self, here: Worktree, name: str) -> None:
        """Rows without a durable write say why not, rows without a file that there is none."""
        row = CONTRACT.row(name)
        told = here.row(name, number=PULL if name == "SMC-06" else ISSUE)
        if row.gap:
            assert told.reason
            assert (told.decision, told.reason.detail) == (Word.GAP, row.gap)
        elif "cache" in row.chain:
            assert told.decision is not Word.UNKNOWN
        else:
            assert told.reason
            assert (told.decision, told.reason.code) == (Word.GAP, "no-local")

    def test_those_that_have_a_file(self, here: Worktree) -> None:
        """Each row in use whose file for the number is here, and none of another number."""
        names = ("plan-issue-12.md", "review-state-12.md", "design-issue-120.md")
        for name in (*names, "plan-bundle-9-12.md", "first-contact-assessed-12.md"):
            (here.memory / name).write_text("text")
        (here.top / ".tmp").mkdir()
        (here.top / ".tmp" / "rph-some-session-issue-12.json").write_text("{}")
        found = [row.id for row in rows_with_files(CONTRACT, 12, here.at)]
        assert found == ["SMC-01", "SMC-02", "SMC-05", "SMC-06", "SMC-22"]
        assert list(rows_with_files(CONTRACT, 11, here.at)) == []


BUNDLE = "/memories/session/plan-bundle-{primary}-{secondary1}-{secondaryN}.md"


class TestNames:
    """The files of rows, by their templates."""

    @pytest.mark.parametrize(
        ("template", "name", "covers"),
        [
            ("/memories/session/plan-issue-{ID}.md", "plan-issue-12.md", True),
            ("/memories/session/plan-issue-{ID}.md", "plan-issue-112.md", False),
            ("/memories/session/plan-issue-{ID}.md", "plan-issue-12xmd", False),
            (BUNDLE, "plan-bundle-12-13.md", True),
            (BUNDLE, "plan-bundle-7-12-13.md", True),
            (BUNDLE, "plan-bundle-12.md", False),
            (BUNDLE, "plan-bundle-112-13.md", False),
            (BUNDLE, "plan-bundle-12-13.md\n", False),
            (".tmp/rph-{session-slug}-issue-{N}.json", "rph-a-b.c-issue-12.json", True),
            (".tmp/rph-{session-slug}-issue-{N}.json", "rph--issue-12.json", False),
            (".tmp/rph-{session-slug}-issue-{N}.json", "rph-a/b-issue-12.json", False),
        ],
    )
    def test_which_number_a_file_is_about(self, template: str, name: str, covers: bool) -> None:
        """The whole name counts, and the number as a whole."""
        found = template_of(template)
        assert found.numbered
        assert found.covers(name, 12) is covers

    @pytest.mark.parametrize(
        "template",
        [".copilot-tracking/", "/memories/session/rate-limit-deferred-{scope}.md", "a/{slug}.json"],
    )
    def test_files_about_no_number(self, template: str) -> None:
        """A name without a number says nothing about which thread it belongs to."""
        assert not template_of(template).numbered

    def test_roots(self) -> None:
        """Session memory is one root, whichever way it is spelled; all else is the checkout's."""
        kept = [template_of(f"{way}memories/session/x-{{ID}}.md") for way in ("", "/")]
        assert [(each.memory, each.above, each.spelled(12)) for each in kept] == [
            (True, (), "x-12.md")
        ] * 2
        other = template_of(".claude/.state/x-{ID}.json")
        assert (other.memory, other.above) == (False, (".claude", ".state"))
        assert template_of(BUNDLE).spelled(12) is None

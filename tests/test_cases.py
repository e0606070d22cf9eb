"""The cases that public complaints taught: each with its neighbours, over every transport.

The numbers are those of the project's list of cases; number 12 is about bursts.
"""

from __future__ import annotations

import threading

import pytest
from worlds import ISSUE, PLAN, PULL, REPO, World, near, world

from bench.payloads import payload
from markers import clock
from markers.codec import sha256
from markers.errors import (
    Absent,
    Conflict,
    Denied,
    NotVerified,
    Refused,
    Unavailable,
    Unknown,
    Withdrawn,
)
from markers.forge import faults, seed
from markers.model import Action

__all__ = ["near", "world"]

TEXT = "A plan.\n"
BODY = f"{PLAN}\n\n{TEXT}"
LIST = rf"/issues/{ISSUE}/comments"
POSTED = rf"/issues/{ISSUE}/comments$"
ONE = r"/issues/comments/\d+"


def lists(world: World) -> int:
    """How many list requests the server saw."""
    return sum(e.method == "GET" and e.path.endswith("/comments") for e in world.forge.log)


class TestCase1:
    """A long thread."""

    def test_the_137th_of_250_is_updated_once(self, world: World) -> None:
        """One PATCH, no POST, and three pages, bracketed, before it."""
        world.forge.fill(REPO, ISSUE, 136)
        ours = world.say(BODY)
        world.forge.fill(REPO, ISSUE, 113)
        world.clock.sleep(3600)
        result = world.write("Another plan.\n")
        assert (result.action, result.comment_id) == (Action.UPDATED, ours)
        assert world.sent == ["PATCH"]
        assert lists(world) <= 5
        assert result.requests == {"GET": 7, "POST": 0, "PATCH": 1, "DELETE": 0}
        assert result.url is not None
        assert str(ours) in result.url


class TestCase2:
    """A page that cannot be read ends the look."""

    @pytest.mark.parametrize(
        "fault",
        [
            faults.status(502),
            faults.html(200),
            faults.html(503),
            faults.half_json(),
            faults.truncated(),
            faults.reset(),
            faults.timeout(),
            faults.answer_with(faults.Answer(status=200, body=b'{"message": "hello"}')),
            faults.answer_with(faults.Answer(status=200, body=b"[1, 2]")),
            faults.answer_with(faults.Answer(status=200, body=b"")),
        ],
        ids=["502", "html", "503", "half", "cut", "reset", "silence", "object", "ints", "nothing"],
    )
    def test_no_write_follows(self, near: World, fault: faults.Effect) -> None:
        """Exit `unavailable`, `listing incomplete` in the words, and no write."""
        near.forge.fill(REPO, ISSUE, 250)
        near.forge.faults.add("GET", r"page=2", fault, times=None)
        error = near.fails(TEXT)
        assert isinstance(error, Unavailable)
        assert error.result.action is Action.UNAVAILABLE
        assert near.sent == []
        assert str(error).startswith("listing incomplete")

    def test_a_page_that_is_empty_where_a_full_one_was_is_no_end(self, near: World) -> None:
        """An empty page amid the listing is a failure, not an end."""
        near.forge.fill(REPO, ISSUE, 250)
        empty = faults.answer_with(faults.Answer(status=200, body=b"[]"))
        near.forge.faults.add("GET", r"page=2", empty, times=None)
        assert isinstance(near.fails(TEXT), Unavailable)
        assert near.sent == []

    def test_trouble_that_passes_is_outlived(self, world: World) -> None:
        """One 502 on a page is tried again."""
        world.forge.fill(REPO, ISSUE, 250)
        world.forge.faults.add("GET", r"page=2", faults.status(502))
        assert world.write(TEXT).action is Action.CREATED


class TestCase3:
    """A marker that is shown is not a marker that is used."""

    @pytest.mark.parametrize(
        "shown",
        [
            f"Look:\n```\n{PLAN}\n```\n",
            f"```\n{PLAN}\n```\n",
            f"The marker is {PLAN}.",
            f" {PLAN}\n\nindented",
            f"\ufeff{PLAN}\n\nBOM",
            f"\u200b{PLAN}\n\nzero width",
            f"\n{PLAN}\n\nline 2",
            f"{PLAN.upper()}\n\nupper case",
            f"<!-- plan-issue-{ISSUE}0 -->\n\nlonger",
            f"{PLAN} and more on the line",
            f"> {PLAN}\n\nquoted",
        ],
    )
    def test_only_line_1_exactly_counts(self, near: World, shown: str) -> None:
        """Ours is changed; the comment that only shows the marker is not."""
        theirs = near.say(shown)
        ours = near.say(BODY)
        assert near.write("New.\n").comment_id == ours
        assert near.forge.find(theirs).body == shown

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r", " \t\n", ""])
    def test_line_ends_and_trailing_blanks_do_not_matter(self, near: World, end: str) -> None:
        """CRLF, CR and trailing blanks after the marker are still the marker."""
        ours = near.say(f"{PLAN}{end}{end}text") if end.strip(" \t") else near.say(PLAN)
        assert near.write("New.\n").comment_id == ours


class TestCase4:
    """Planted markers."""

    def test_a_strangers_marker_never_governs(self, world: World) -> None:
        """The planted one is reported, not edited; ours is changed and read."""
        planted = world.forge.plant(REPO, ISSUE, PLAN).id
        before = world.forge.find(planted).body
        ours = world.say(BODY)
        result = world.write("New.\n")
        assert result.comment_id == ours
        assert [extra.id for extra in result.extras] == [planted]
        assert "MARKERS_TRUST" in result.extras[0].why
        assert world.forge.find(planted).body == before
        assert world.read().comment_id == ours

    def test_a_deleted_author_is_untrusted(self, near: World) -> None:
        """A null user governs nothing."""
        near.say(BODY, author=None)
        with pytest.raises(Absent) as caught:
            near.read()
        assert caught.value.result.extras[0].author == "ghost"
        assert near.write(TEXT).action is Action.CREATED

    def test_the_users_settings_can_trust_by_id(self, near: World) -> None:
        """MARKERS_TRUST with the stranger's id makes his comment govern."""
        from markers.selection import parse_trust

        theirs = near.forge.plant(REPO, ISSUE, PLAN).id
        setup = near.setup(trust=parse_trust("collaborators,user:103"))
        assert near.read(setup=setup).comment_id == theirs

    def test_who_may_only_comment_finds_his_own_again(self, world: World) -> None:
        """Second tier: without any trusted match, ourselves."""
        lee = world.setup(seed.LEE_TOKEN)
        made = world.write(TEXT, setup=lee)
        again = world.write("New.\n", setup=lee)
        assert (made.action, again.action) == (Action.CREATED, Action.UPDATED)
        assert made.comment_id == again.comment_id
        assert world.read(setup=lee).trusted
        with pytest.raises(Absent):
            world.read()


class TestCase5:
    """First writers race."""

    @pytest.mark.parametrize("shared", [True, False], ids=["one journal", "no shared journal"])
    def test_eight_first_writers_leave_one_comment(self, near: World, shared: bool) -> None:
        """One comment carries the marker, every result names it, nobody else's is deleted."""
        other = near.say("Somebody's own words.")
        gate = threading.Barrier(8)
        if not shared:
            near.forge.on_request("GET", LIST, lambda _c: wait(gate), times=8)
        results = []

        def one(number: int) -> None:
            setup = near.setup(journal="one" if shared else f"own-{number}")
            results.append(near.write(f"Text {number}.\n", setup=setup))

        def wait(barrier: threading.Barrier) -> None:
            barrier.wait(timeout=10)

        threads = [threading.Thread(target=one, args=(n,)) for n in range(8)]
        with clock.use(clock.SystemClock()):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(timeout=60)
        assert len(results) == 8
        (kept,) = near.carrying()
        assert {result.comment_id for result in results} == {kept}
        assert near.forge.find(other).body == "Somebody's own words."
        text = near.forge.find(kept).body
        ninth = near.write(text.split("\n\n", 1)[1], setup=near.setup(journal="ninth"))
        assert ninth.action is Action.UNCHANGED


class TestCase6:
    """Another writer came first."""

    def test_expect_conflicts_before_any_patch(self, world: World) -> None:
        """A text other than the expected one is kept."""
        ours = world.say(BODY)
        world.forge.edit(ours, f"{PLAN}\n\nB\n")
        error = world.fails("New.\n", expect=sha256(BODY))
        assert isinstance(error, Conflict)
        assert error.reason.code == "expect-changed"
        assert error.result.comment_id == ours
        assert world.sent == []

    def test_expect_sees_a_change_between_read_and_patch(self, world: World) -> None:
        """The target is read again right before the PATCH, in the same second."""
        ours = world.say(BODY)
        theirs = f"{PLAN}\n\nB\n"
        world.forge.on_request("GET", ONE, lambda _c: world.forge.edit(ours, theirs))
        error = world.fails("New.\n", expect=sha256(BODY))
        assert isinstance(error, Conflict)
        assert world.sent == []
        assert world.forge.find(ours).body == theirs

    def test_an_equal_body_does_not_excuse_an_old_picture(self, near: World) -> None:
        """`--expect` is judged before equality."""
        near.say(BODY)
        assert isinstance(near.fails(TEXT, expect="0" * 64), Conflict)

    def test_expect_absent(self, near: World) -> None:
        """`--expect absent` writes once, and then conflicts."""
        assert near.write(TEXT, expect="absent").action is Action.CREATED
        error = near.fails("New.\n", expect="absent")
        assert error.reason.code == "expect-absent"
        text = payload("proposed-followups", PULL, "x\n")
        error = near.fails(text, number=PULL, family="proposed-followups", expect="1" * 64)
        assert isinstance(error, Conflict)

    def test_expect_of_the_present_text_writes(self, near: World) -> None:
        """The hash that `read` gives is the one to pass."""
        near.say(BODY)
        known = near.read().sha256
        assert near.write("New.\n", expect=known).action is Action.UPDATED


LOST = {
    "reset": lambda landed: faults.reset(landed=landed),
    "502": lambda landed: faults.status(502, landed=landed),
    "timeout": lambda landed: faults.timeout(landed=landed),
    "html": lambda landed: faults.html(200, landed=landed),
    "half": lambda landed: faults.half_json() if landed else faults.status(500),
}


class TestCase7:
    """The answer to a POST is lost."""

    @pytest.mark.parametrize("lost", LOST)
    def test_landed_is_adopted(self, world: World, lost: str) -> None:
        """Our own write is looked for first: one comment, no second POST."""
        world.forge.faults.add("POST", POSTED, LOST[lost](True))
        result = world.write("A record.\n", family="design-phase-complete")
        assert result.action is Action.POSTED
        assert world.sent == ["POST"]
        assert len(world.bodies()) == 1

    @pytest.mark.parametrize("lost", LOST)
    def test_absence_counts_only_after_the_settle_time(self, near: World, lost: str) -> None:
        """Not landed: sent again, but not before a listing that began 15 s after the attempt."""
        near.forge.faults.add("POST", POSTED, LOST[lost](False))
        start = clock.now()
        result = near.write("A record.\n", family="design-phase-complete")
        assert result.action is Action.POSTED
        assert near.sent == ["POST", "POST"]
        assert clock.now() - start >= 15
        assert len(near.bodies()) == 1

    def test_a_failing_listing_is_unknown_and_settled_by_the_next_write(self, world: World) -> None:
        """Unknown has its own end, no POST follows, and the same write again settles it."""
        world.forge.faults.add("POST", POSTED, faults.reset(landed=True))
        broken = world.forge.faults.add("GET", LIST, faults.status(502), times=None, after=1)
        error = world.fails("A record.\n", family="design-phase-complete")
        assert isinstance(error, Unknown)
        assert error.result.action is Action.UNKNOWN
        assert world.sent == ["POST"]
        assert len(world.setup().open_journal().open_intents()) == 1
        broken.off()
        again = world.write("A record.\n", family="design-phase-complete")
        assert again.action is Action.POSTED
        assert again.comment_id == world.carrying("<!-- design-phase-complete-12 -->")[0]
        assert len(world.bodies()) == 1
        assert world.setup().open_journal().open_intents() == []

    def test_recover_settles_it(self, world: World) -> None:
        """`recover` names intent, comment and outcome, and nothing is sent."""
        from markers.writer.recovery import recover

        world.forge.faults.add("POST", POSTED, faults.reset(landed=True))
        broken = world.forge.faults.add("GET", LIST, faults.status(502), times=None, after=1)
        world.fails(TEXT)
        broken.off()
        (settled,) = recover(world.setup())
        assert (settled.outcome, settled.comment_id) == ("landed", world.carrying()[0])
        assert world.sent == ["POST"]
        assert recover(world.setup()) == ()

    def test_another_accounts_equal_record_is_not_ours(self, near: World) -> None:
        """A match of the same text by somebody else proves nothing about our own POST."""
        body = "<!-- design-phase-complete-12 -->\n\nA record.\n"
        near.forge.on_request("POST", POSTED, lambda _c: near.say(body, author="mia"))
        near.forge.faults.add("POST", POSTED, faults.reset())
        result = near.write("A record.\n", family="design-phase-complete")
        assert near.sent == ["POST", "POST", "DELETE"]
        assert len(near.bodies()) == 1
        assert result.action is Action.UNCHANGED


class TestCase8:
    """Limits."""

    def test_a_secondary_limit_waits_a_minute_and_a_429_what_it_says(self, world: World) -> None:
        """At least 60 s without Retry-After, then at least 2 s; one comment."""
        world.forge.faults.add("POST", POSTED, faults.secondary())
        world.forge.faults.add("POST", POSTED, faults.secondary(2, code=429), after=1)
        result = world.write("A record.\n", family="design-phase-complete")
        assert result.action is Action.POSTED
        first, second = [wait for wait in world.clock.slept if wait >= 1]
        assert first >= 60
        assert second >= 2
        assert len(world.bodies()) == 1

    def test_a_reset_time_in_the_past_is_no_zero_wait(self, near: World) -> None:
        """The primary limit with a reset that is over still waits."""
        near.forge.faults.add("POST", POSTED, faults.primary(-30))
        near.write(TEXT)
        assert near.clock.slept
        assert min(near.clock.slept) > 0

    @pytest.mark.parametrize("what", ["lock", "archive", "fork", "full"])
    def test_a_plain_403_is_not_repeated(self, world: World, what: str) -> None:
        """No right, locked, archived, full: once, and each says why."""
        words = {
            "lock": "lock",
            "archive": "archived",
            "fork": "not accessible",
            "full": "2500",
        }
        {
            "lock": lambda: world.forge.lock(REPO, ISSUE),
            "archive": lambda: world.forge.archive(REPO),
            "fork": lambda: None,
            "full": lambda: setattr(world.forge.switches, "thread_size", 0),
        }[what]()
        token = seed.FORK_TOKEN if what == "fork" else seed.PAT_TOKEN
        error = world.fails(TEXT, setup=world.setup(token))
        assert isinstance(error, Denied)
        assert words[what] in str(error).lower()
        assert world.sent.count("POST") == 1
        assert world.clock.slept == []

    def test_the_lock_is_given_back_over_a_long_wait(self, near: World) -> None:
        """While one writer waits for a limit, another writes to the same thread."""
        done = []

        class Eager(clock.FakeClock):
            def sleep(self, seconds: float) -> None:
                super().sleep(seconds)
                if seconds >= 60 and not done:
                    done.append(near.write("Other.\n", setup=near.setup(seed.MIA_TOKEN)))

        near.forge.faults.add("POST", POSTED, faults.secondary())
        with clock.use(Eager()):
            error = near.fails(TEXT)
        assert [result.action for result in done] == [Action.CREATED]
        assert error.reason.code == "foreign-canonical"


class TestCase9:
    """Every letter."""

    def test_all_of_unicode_is_kept(self, world: World) -> None:
        """Stored bytes are sent bytes, and the second run is `unchanged`."""
        text = "Emoji 🧪👩‍🚀, combining e\u0301, CJK 漢字, RTL עברית, \u2028 and \u00a0.\n"
        assert world.write(text).action is Action.CREATED
        assert world.bodies() == [f"{PLAN}\n\n{text}"]
        assert world.write(text).action is Action.UNCHANGED


class TestCase10:
    """Size in bytes."""

    @pytest.mark.parametrize("letter", ["a", "🌈"])
    def test_exactly_the_limit_is_written_and_one_byte_more_refused(
        self, near: World, letter: str
    ) -> None:
        """262,144 bytes pass; one more is refused before any request, never cut."""
        marker = "<!-- design-phase-complete-12 -->\n\n"
        room = 262_144 - len(marker)
        text = letter * (room // len(letter.encode()))
        text += "b" * (room - len(text.encode()))
        assert near.write(text, family="design-phase-complete").action is Action.POSTED
        near.forge.forget()
        error = near.fails(text + "c", family="design-phase-complete")
        assert isinstance(error, Refused)
        assert error.reason.code == "too-large"
        assert "262,145" in str(error) or "262145" in str(error)
        assert not near.forge.log

    def test_a_servers_422_gives_the_same_code(self, near: World) -> None:
        """The server's own `too long` is the same reason."""
        near.forge.switches.body_bytes = 100
        error = near.fails("x" * 200)
        assert (error.result.action, error.reason.code) == (Action.REFUSED, "too-large")
        assert near.bodies() == []


class TestCase14:
    """Dry run and foreign links."""

    def test_a_dry_run_names_the_plan_and_writes_nothing(self, world: World) -> None:
        """The planned action, the id and the size of the change; nothing sent or journaled."""
        planned = world.write(TEXT, dry_run=True)
        assert (planned.action, planned.reason.code) == (Action.PLANNED, "create")
        ours = world.say(BODY)
        planned = world.write("New.\nTwo.\n", dry_run=True)
        assert (planned.action, planned.reason.code) == (Action.PLANNED, "update")
        assert planned.comment_id == ours
        assert planned.change.lines_added == 2
        assert world.write(TEXT, dry_run=True).action is Action.UNCHANGED
        assert world.sent == []
        assert list(world.setup().open_journal().entries()) == []

    def test_a_foreign_next_link_is_refused(self, near: World) -> None:
        """The listing never leaves the host."""
        near.forge.fill(REPO, ISSUE, 150)
        near.forge.faults.add("GET", LIST, faults.foreign_next("https://evil.example"), times=None)
        error = near.fails(TEXT)
        assert isinstance(error, Denied)
        assert near.sent == []

    def test_a_forks_token_may_read(self, world: World) -> None:
        """Read-only: reading works, writing names the missing permission."""
        world.say(BODY)
        fork = world.setup(seed.FORK_TOKEN)
        assert world.read(setup=fork).trusted
        error = world.fails("New.\n", setup=fork, take_over=True)
        assert "issues: write" in str(error)


class TestCase15:
    """Pages that shift while they are read."""

    @pytest.mark.parametrize("page", [1, 2, 3])
    def test_ours_is_found_and_there_is_no_twin(self, world: World, page: int) -> None:
        """An earlier comment is deleted and another posted between two pages."""
        first = world.forge.fill(REPO, ISSUE, 200)
        ours = world.say(BODY)
        world.forge.fill(REPO, ISSUE, 49)

        def shift(_call: object) -> None:
            world.forge.delete(first[3])
            world.say("One more.")

        world.forge.on_request("GET", rf"[?&]page={page}\b", shift, landed=True)
        result = world.write("New.\n")
        assert (result.action, result.comment_id) == (Action.UPDATED, ours)
        assert world.carrying() == [ours]

    def test_a_thread_that_never_stands_still_is_unavailable(self, near: World) -> None:
        """Three readings, then `listing incomplete`; no write."""
        ids = near.forge.fill(REPO, ISSUE, 350)
        near.forge.on_request(
            "GET", r"page=2", lambda _c: near.forge.delete(ids.pop(0)), landed=True, times=None
        )
        error = near.fails(TEXT)
        assert (error.result.action, error.reason.code) == (
            Action.UNAVAILABLE,
            "listing-incomplete",
        )
        assert near.sent == []


class TestCase16:
    """Another member's canonical."""

    def test_it_takes_expect_or_take_over(self, world: World) -> None:
        """`conflict` with the hash to pass; then `updated`."""
        theirs = world.say(BODY, author="mia")
        error = world.fails("New.\n")
        assert (error.result.action, error.reason.code) == (Action.CONFLICT, "foreign-canonical")
        assert sha256(BODY) in str(error)
        assert world.sent == []
        first = world.write("New.\n", expect=sha256(BODY))
        assert (first.action, first.comment_id) == (Action.UPDATED, theirs)
        assert world.write("Newer.\n", take_over=True).action is Action.UPDATED

    def test_an_equal_text_of_another_is_unchanged(self, near: World) -> None:
        """Equality comes before ownership."""
        near.say(BODY, author="mia")
        assert near.write(TEXT).action is Action.UNCHANGED


class TestCase17:
    """Records that say what an older one said."""

    def test_equal_to_an_older_record_still_posts(self, world: World) -> None:
        """X, Y, X again: posted and kept, since Y governed."""
        family = {"family": "design-phase-complete"}
        ids = [world.write(text, **family).comment_id for text in ("X\n", "Y\n", "X\n")]
        assert len(set(ids)) == 3
        assert world.carrying("<!-- design-phase-complete-12 -->") == sorted(ids)
        assert world.read(**family).comment_id == ids[-1]
        assert world.write("X\n", **family).action is Action.UNCHANGED


class TestCase18:
    """A lost PATCH, and a human right after it."""

    def test_the_humans_text_is_kept(self, world: World) -> None:
        """What is neither the old text nor ours is not overwritten."""
        ours = world.say(BODY)
        human = f"{PLAN}\n\nA human was here.\n"
        world.forge.on_request("PATCH", ONE, lambda _c: world.forge.edit(ours, human), landed=True)
        world.forge.faults.add("PATCH", ONE, faults.reset(landed=True))
        error = world.fails("New.\n")
        assert isinstance(error, Conflict)
        assert world.forge.find(ours).body == human

    @pytest.mark.parametrize("landed", [True, False])
    def test_a_lost_patch_is_repeated_only_where_the_old_text_stands(
        self, world: World, landed: bool
    ) -> None:
        """Ours there is done; the text planned against is patched again."""
        world.say(BODY)
        world.forge.faults.add("PATCH", ONE, faults.status(502, landed=landed))
        assert world.write("New.\n").action is Action.UPDATED
        assert world.sent == (["PATCH"] if landed else ["PATCH", "PATCH"])
        assert world.bodies() == [f"{PLAN}\n\nNew.\n"]


class TestCase19:
    """Blocks that belong in a body."""

    def test_in_body_blocks_are_no_foreign_markers(self, near: World) -> None:
        """A ledger pointer and a spine in a plan are written."""
        ledger = near.say("<!-- phase-containment-ledger-12 -->\n\nFindings.\n")
        text = (
            f"<!-- phase-containment-ledger-ref: {ledger} -->\n\n"
            "<!-- frame-spine\nspine_schema_version: 2\ngenerated_at: 2026-07-01T00:00:00Z\n"
            "ports:\n  review: [s1#terminal]\nslices:\n  s1:\n    ac_refs: [AC1]\n"
            "    depends_on: []\n    cycle: 1\n-->\n"
        )
        assert near.write(text).action is Action.CREATED


class TestCase20:
    """A proxy that strips HTML comments."""

    def test_nothing_is_left_behind(self, world: World) -> None:
        """`withdrawn` each time, and no orphan."""
        world.forge.faults.add("POST", LIST, faults.strip_comments(), times=None)
        world.forge.faults.add("PATCH", ONE, faults.strip_comments(), times=None)
        for _time in range(3):
            error = world.fails(TEXT)
            assert isinstance(error, Withdrawn)
            assert error.result.action is Action.WITHDRAWN
            assert world.bodies() == []

    def test_an_update_that_reads_back_differently_stays_and_is_said(self, world: World) -> None:
        """An update is not withdrawn: `landed-unverified`, and the journal has the old text."""
        world.say(BODY)
        world.forge.faults.add("PATCH", ONE, faults.strip_comments(), times=None)
        error = world.fails("New.\n")
        assert isinstance(error, NotVerified)
        journal = world.setup().open_journal()
        entry = journal.entry(error.result.audit.seq)
        kept = [e.replaced for e in journal.entries() if e.replaced]
        assert entry is not None
        assert journal.body(kept[0]) == BODY

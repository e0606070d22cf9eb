"""The write protocol, rule by rule, beyond the cases of ``test_cases``."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from worlds import CONTRACT, ISSUE, PLAN, PULL, REPO, World, near, world

from bench.payloads import payload
from markers import clock, reading, writer
from markers.codec import sha256
from markers.errors import (
    Absent,
    Conflict,
    Denied,
    Moved,
    NotVerified,
    Refused,
    Unavailable,
    Withdrawn,
)
from markers.forge import faults, seed
from markers.journal.interface import Kind
from markers.model import Action, Surface
from markers.writer import Fold

__all__ = ["near", "world"]

TEXT = "A plan.\n"
BODY = f"{PLAN}\n\n{TEXT}"
LIST = rf"/issues/{ISSUE}/comments"
POSTED = rf"/issues/{ISSUE}/comments$"
ONE = r"/issues/comments/\d+"
STAGE = {"family": "goal-run-stage"}
FOLLOWUPS = payload("proposed-followups", PULL, "x\n")
STEPLESS = {"family": "completion-account"}
ACCOUNT = "<!-- completion-account-12 -->\n\nOld.\n"


def kinds(world: World, journal: str = "one") -> list[tuple[str, str]]:
    """Kind and action of each audit entry."""
    entries = world.setup(journal=journal).open_journal().entries()
    return [(entry.record.kind.value, entry.record.action) for entry in entries]


class TestSurface:
    """A marker goes where its family belongs."""

    @pytest.mark.parametrize("talk", [False, True], ids=["empty", "with comments"])
    def test_a_plan_on_a_pull_request_is_refused(self, world: World, talk: bool) -> None:
        """The surface is proved from a comment's address, or from the issue when it is empty."""
        if talk:
            world.say("Nice.", number=PULL)
        error = world.fails(TEXT, number=PULL)
        assert (error.result.action, error.reason.code) == (Action.REFUSED, "surface")
        assert world.sent == []

    def test_a_phase_decides_the_surface(self, world: World) -> None:
        """The review phase of an engagement record is on the pull request, others are not."""
        review = {"family": "engagement-record", "params": {"phase": "review"}}
        plan = {"family": "engagement-record", "params": {"phase": "plan"}}
        reviewed = payload("engagement-record", PULL, "x", phase="review")
        planned = payload("engagement-record", ISSUE, "x", phase="plan")
        assert world.write(reviewed, number=PULL, **review).surface == "pull-request"
        assert world.write(planned, number=ISSUE, **plan).surface == "issue"
        assert world.fails(reviewed, number=ISSUE, **review).reason.code == "surface"
        assert world.fails(planned, number=PULL, **plan).reason.code == "surface"

    def test_the_callers_own_idea_is_checked(self, near: World) -> None:
        """`--surface` that the registry does not know is refused before any request."""
        error = near.fails(TEXT, surface=Surface.PULL_REQUEST)
        assert error.reason.code == "surface"
        assert not near.forge.log

    def test_a_number_is_asked_for_once(self, world: World) -> None:
        """The second write to an empty thread of another marker remembers what the number is."""
        world.write(FOLLOWUPS, family="proposed-followups", number=PULL)
        world.forge.delete(world.carrying("<!-- proposed-followups-30 -->", PULL)[0])
        world.forge.forget()
        world.write(FOLLOWUPS, family="proposed-followups", number=PULL)
        assert not [e for e in world.forge.log if e.path.endswith(f"/issues/{PULL}")]


class TestIdentity:
    """Who we are is asked once and never refuses from memory."""

    def test_it_is_asked_beside_the_first_listing_and_then_remembered(self, world: World) -> None:
        """One question for the first upsert, none for the second."""
        world.say(ACCOUNT)
        world.clock.sleep(3600)
        first = world.write("New.\n", **STEPLESS)
        second = world.write("Newer.\n", **STEPLESS)
        assert (first.requests["GET"], second.requests["GET"]) == (2, 1)

    def test_an_installation_learns_it_through_graphql(self, world: World) -> None:
        """GET /user is refused to it; `viewer` works."""
        world.say(BODY, author=seed.BOT)
        assert world.write("New.\n", setup=world.setup(seed.BOT_TOKEN)).action is Action.UPDATED

    def test_a_wrong_memory_is_asked_again_before_it_refuses(self, world: World) -> None:
        """The remembered account is another: GitHub is asked, and the write goes through."""
        world.say(BODY)
        world.write(TEXT)
        journal = world.setup().open_journal()
        key = f"me:{world.url.lower()}:fp-{seed.PAT_TOKEN}"
        journal.remember(key, json.dumps({"id": 1, "login": "nobody"}))
        assert world.write("New.\n").action is Action.UPDATED

    def test_what_cannot_be_learnt_is_not_ours(self, near: World) -> None:
        """Both questions fail: a conflict, not an error."""
        near.say(BODY)
        near.forge.faults.add("GET", r"/user$", faults.status(403), times=None)
        near.forge.faults.add("POST", r"graphql", faults.status(403), times=None)
        assert near.fails("New.\n").reason.code == "foreign-canonical"


class TestAudit:
    """Intent before, outcome after."""

    def test_a_write_leaves_an_intent_and_an_outcome(self, world: World) -> None:
        """And the result names the outcome; a write without change leaves one entry."""
        made = world.write(TEXT)
        world.write("New.\n")
        world.write("New.\n")
        assert kinds(world) == [
            ("intent", "create"),
            ("outcome", "created"),
            ("intent", "edit"),
            ("outcome", "updated"),
            ("outcome", "unchanged"),
        ]
        journal = world.setup().open_journal()
        entry = journal.entry(made.audit.seq)
        assert entry is not None
        assert entry.hash == made.audit.hash
        assert journal.verify() == []

    def test_the_intent_is_durable_before_the_server_sees_the_write(self, world: World) -> None:
        """When the request comes in, the intent is in the journal."""
        seen = []
        journal = world.setup().open_journal()
        world.forge.on_request("POST", POSTED, lambda _c: seen.extend(journal.open_intents()))
        world.write(TEXT)
        assert [entry.record.action for entry in seen] == ["create"]

    def test_refusals_and_conflicts_are_entries_without_a_body(self, near: World) -> None:
        """What was refused is said with its code; its text is nowhere."""
        error = near.fails("")
        journal = near.setup().open_journal()
        (entry,) = journal.entries()
        assert entry.record.reason is not None
        assert entry.record.reason.code == error.reason.code == "empty"
        assert entry.replaced is None
        assert error.result.audit.seq == entry.seq

    def test_a_journal_that_does_not_open_stops_the_write(self, near: World) -> None:
        """Nothing unaudited is written; reading goes on."""
        near.say(BODY)

        def broken() -> object:
            raise Unavailable("journal", "cannot be opened")

        setup = near.setup(open_journal=broken)
        assert isinstance(near.fails("New.\n", setup=setup), Unavailable)
        assert near.sent == []
        assert near.read(setup=setup).sha256 == sha256(BODY)

    def test_restore_brings_the_replaced_text_back(self, world: World) -> None:
        """The body that an update replaced is written again, by the same rules."""
        world.say(BODY)
        updated = world.write("New.\n")
        restored = writer.restore(world.setup(), updated.audit.seq)
        assert restored.action is Action.UPDATED
        assert world.bodies() == [BODY]
        again = writer.restore(world.setup(), restored.audit.seq)
        assert again.sha256 == updated.sha256

    @pytest.mark.parametrize(("seq", "code"), [(99, "no-entry"), (1, "nothing-to-restore")])
    def test_restore_of_nothing_is_refused(self, near: World, seq: int, code: str) -> None:
        """An entry that is not there, or that replaced nothing."""
        near.write(TEXT)
        with pytest.raises(Refused) as caught:
            writer.restore(near.setup(), seq)
        assert caught.value.reason.code == code

    def test_live_flaws_show_edits_and_deletions_by_others(self, world: World) -> None:
        """What GitHub holds now is compared with what was written last."""
        first = world.write(TEXT)
        second = world.write("A record.\n", family="design-phase-complete")
        assert reading.live_flaws(world.setup()) == []
        world.forge.edit(first.comment_id, "Something else")
        world.forge.delete(second.comment_id)
        problems = [flaw.problem for flaw in reading.live_flaws(world.setup())]
        assert len(problems) == 2
        assert "another text" in problems[0]
        assert "gone" in problems[1]


class TestSettling:
    """After a create: until it is seen, and converging."""

    def test_a_twin_that_came_first_takes_our_text(self, world: World) -> None:
        """Another writer of ours posts between look and POST: ours is brought there."""
        ids = []
        world.forge.on_request("POST", POSTED, lambda _c: ids.append(world.say(BODY)))
        result = world.write("New.\n")
        assert (result.action, result.comment_id) == (Action.UPDATED, ids[0])
        assert world.carrying() == ids
        assert world.bodies() == [f"{PLAN}\n\nNew.\n"]
        assert result.extras == ()

    def test_under_expect_absent_the_later_one_conflicts_and_leaves_nothing(
        self, world: World
    ) -> None:
        """Exactly one winner, even without a shared journal."""
        world.forge.on_request("POST", POSTED, lambda _c: world.say(BODY))
        error = world.fails("New.\n", expect="absent")
        assert isinstance(error, Conflict)
        assert world.bodies() == [BODY]

    def test_a_twin_whose_text_somebody_changed_is_left(self, near: World) -> None:
        """Ours is deleted only while its body is still ours."""
        near.forge.on_request("POST", POSTED, lambda _c: near.say(BODY))
        edited = f"{PLAN}\n\nA human was here.\n"
        near.forge.on_request(
            "PATCH", ONE, lambda _c: near.forge.edit(near.carrying()[1], edited), landed=True
        )
        near.write("New.\n")
        assert near.bodies() == [f"{PLAN}\n\nNew.\n", edited]

    def test_a_strangers_plant_in_between_changes_nothing(self, near: World) -> None:
        """Only a trusted match with a lower id is a canonical."""
        near.forge.on_request("POST", POSTED, lambda _c: near.forge.plant(REPO, ISSUE, PLAN))
        result = near.write(TEXT)
        assert result.action is Action.CREATED
        assert len(result.extras) == 1

    def test_an_equal_record_right_below_ours_makes_ours_one_too_many(self, near: World) -> None:
        """Post-new: withdrawn only if the highest trusted match below it is identical."""
        body = "<!-- design-phase-complete-12 -->\n\nA record.\n"
        near.forge.on_request("POST", POSTED, lambda _c: near.say(body, author="mia"))
        result = near.write("A record.\n", family="design-phase-complete")
        assert result.action is Action.UNCHANGED
        assert near.bodies() == [body]

    @pytest.mark.parametrize("seconds", [3.0, 5.0, 9.0])
    def test_a_lagging_listing_is_waited_for(self, world: World, seconds: float) -> None:
        """The listing shows our write some seconds late: still `created`, and no twin later."""
        world.forge.lag.seconds = seconds
        assert world.write(TEXT).action is Action.CREATED
        assert world.write("New.\n").action is Action.UPDATED
        assert len(world.bodies()) == 1

    def test_a_listing_that_never_shows_it_is_said(self, near: World) -> None:
        """`landed-unverified` after at least ten seconds."""
        near.forge.lag.freeze()
        error = near.fails(TEXT)
        assert isinstance(error, NotVerified)
        assert sum(near.clock.slept) >= 10
        assert len(near.bodies()) == 1

    def test_ours_deleted_before_it_was_seen_is_written_again(self, near: World) -> None:
        """A human deletes our create at once: it is applied again."""
        near.forge.on_request(
            "POST", POSTED, lambda _c: near.forge.delete(near.carrying()[0]), landed=True
        )
        assert near.write(TEXT).action is Action.CREATED
        assert len(near.carrying()) == 1

    def test_an_old_canonical_needs_no_settling(self, near: World) -> None:
        """An update whose target is over a minute old is one look and one PATCH."""
        near.say(ACCOUNT)
        near.clock.sleep(3600)
        result = near.write("New.\n", **STEPLESS)
        assert result.requests == {"GET": 2, "POST": 0, "PATCH": 1, "DELETE": 0}

    def test_a_young_canonical_is_settled(self, near: World) -> None:
        """An update of a target younger than a minute looks for an earlier one."""
        near.say(ACCOUNT)
        assert near.write("New.\n", **STEPLESS).requests["GET"] == 3


class TestTargets:
    """What changes between look and PATCH."""

    def test_a_canonical_deleted_meanwhile_is_written_anew(self, world: World) -> None:
        """PATCH answered 404: observe and plan again once."""
        ours = world.say(BODY)
        world.forge.on_request("PATCH", ONE, lambda _c: world.forge.delete(ours))
        result = world.write("New.\n")
        assert result.action is Action.CREATED
        assert result.comment_id != ours

    def test_under_expect_it_conflicts(self, near: World) -> None:
        """The caller relied on a comment that is gone."""
        ours = near.say(BODY)
        near.forge.on_request("PATCH", ONE, lambda _c: near.forge.delete(ours))
        assert near.fails("New.\n", expect=sha256(BODY)).reason.code == "target-gone"
        assert near.bodies() == []

    def test_a_target_read_long_ago_is_read_again(self, near: World) -> None:
        """Two seconds after the look a change is seen, and planned again."""
        ours = near.say(BODY)
        human = f"{PLAN}\n\nHuman.\n"

        def dawdle(_call: object) -> None:
            near.clock.sleep(3)
            near.forge.edit(ours, human)

        near.forge.on_request("GET", LIST, dawdle, landed=True)
        result = near.write("New.\n")
        assert result.previous_sha256 == sha256(human)

    def test_a_family_with_steps_reads_its_target_again(self, near: World) -> None:
        """Whatever the age of the look, one more GET right before the PATCH."""
        near.say(BODY)
        near.clock.sleep(3600)
        assert near.write("New.\n").requests["GET"] == 3

    def test_a_target_that_keeps_changing_is_a_conflict(self, near: World) -> None:
        """Planned again once, not for ever."""
        ours = near.say(BODY)
        texts = iter(range(100))

        def dawdle(_call: object) -> None:
            near.clock.sleep(3)

        def edit(_call: object) -> None:
            near.forge.edit(ours, f"{PLAN}\n\nHuman {next(texts)}.\n")

        near.forge.on_request("GET", LIST, dawdle, landed=True, times=None)
        near.forge.on_request("GET", ONE, edit, times=None)
        assert near.fails("New.\n").reason.code == "target-changed"
        assert near.sent == []

    def test_extras_are_folded_only_when_asked(self, near: World) -> None:
        """Our duplicates go with `--fold-extras`; another's stay, and all are named."""
        first, second = near.say(BODY), near.say(f"{PLAN}\n\nTwin.\n")
        theirs = near.say(f"{PLAN}\n\nHers.\n", author="mia")
        plain = near.write("New.\n")
        assert {extra.id for extra in plain.extras} == {second, theirs}
        assert any(warning.startswith("duplicates") for warning in plain.warnings)
        folded = near.write("Newer.\n", fold=Fold.DELETE)
        assert near.carrying() == [first, theirs]
        assert {extra.id for extra in folded.extras} == {theirs}


class TestReadBack:
    """What was written must read back."""

    def test_one_repair_mends_a_body_changed_once(self, world: World) -> None:
        """Changed on the way in once: one PATCH on what this call created."""
        world.forge.faults.add("POST", POSTED, faults.strip_comments())
        assert world.write(TEXT).action is Action.CREATED
        assert world.bodies() == [BODY]
        assert world.sent == ["POST", "PATCH"]

    def test_an_immutable_record_is_never_patched(self, near: World) -> None:
        """It is withdrawn instead: an edit would void it."""
        near.forge.faults.add("POST", POSTED, faults.strip_comments())
        error = near.fails("Affirmed.\n", family="open-for-work-affirmed")
        assert isinstance(error, Withdrawn)
        assert near.sent == ["POST", "DELETE"]
        assert near.bodies() == []

    def test_what_cannot_be_taken_back_is_said(self, near: World) -> None:
        """The delete fails as well: `landed-unverified`."""
        near.forge.faults.add("POST", LIST, faults.strip_comments(), times=None)
        near.forge.faults.add("PATCH", ONE, faults.strip_comments(), times=None)
        near.forge.faults.add("DELETE", ONE, faults.status(403), times=None)
        error = near.fails(TEXT)
        assert isinstance(error, NotVerified)
        assert len(near.bodies()) == 1

    def test_fetch_reads_the_comment_itself(self, world: World) -> None:
        """`--verify fetch` asks for the comment after the write."""
        world.say(BODY)
        world.clock.sleep(3600)
        plain = world.write("New.\n")
        fetched = world.write("Newer.\n", verify="fetch")
        assert fetched.requests["GET"] == plain.requests["GET"]  # one for `who`, one for the fetch
        assert any("/issues/comments/" in e.path and e.method == "GET" for e in world.forge.log)


class TestMoves:
    """Redirects."""

    def test_a_renamed_repository_is_followed_with_body_and_query(self, world: World) -> None:
        """GET 301 and PATCH 307 keep method, body and query."""
        ours = world.say(BODY)
        world.forge.rename(REPO, "acme/gadgets")
        result = world.write("New.\n")
        assert (result.action, result.comment_id) == (Action.UPDATED, ours)

    def test_a_create_in_a_renamed_repository_lands_once(self, world: World) -> None:
        """POST 307 is followed as POST."""
        world.forge.rename(REPO, "acme/gadgets")
        assert world.write(TEXT).action is Action.CREATED
        assert len(world.forge.comments("acme/gadgets", ISSUE)) == 1

    def test_a_transferred_issue_is_denied_with_its_new_address(self, world: World) -> None:
        """Another number is another thread."""
        world.forge.add_repo("acme/other", 77)
        world.forge.add_issue("acme/other", 3)
        world.forge.transfer(REPO, ISSUE, "acme/other")
        error = world.fails(TEXT)
        assert isinstance(error, Moved | Denied)
        assert error.result.action is Action.DENIED
        assert "/issues/" in str(error)
        assert world.sent == []

    @pytest.mark.parametrize("number", [999])
    def test_no_such_issue_is_denied(self, world: World, number: int) -> None:
        """404, in words."""
        world.forge.fill(REPO, ISSUE, 1)
        error = world.fails(TEXT, number=number)
        assert error.result.action is Action.DENIED


class TestDelete:
    """Taking back."""

    def test_our_own_of_a_deletable_family_goes_and_stays_in_the_journal(
        self, world: World
    ) -> None:
        """`deleted`; its text can be restored."""
        made = world.write(payload("goal-run-stage", ISSUE, "On.\n"), **STAGE)
        gone = world.delete(**STAGE)
        assert (gone.action, gone.comment_id) == (Action.DELETED, made.comment_id)
        assert world.bodies() == []
        back = writer.restore(world.setup(), gone.audit.seq)
        assert back.action is Action.CREATED
        assert back.sha256 == made.sha256

    def test_what_is_not_deletable_or_ours_or_there_is_left(self, near: World) -> None:
        """Refused, conflict, absent."""
        near.write(TEXT)
        with pytest.raises(Refused):
            near.delete()
        with pytest.raises(Absent):
            near.delete(**STAGE)
        near.say("<!-- goal-run-stage-12 -->\n\nhers\n", author="mia")
        with pytest.raises(Conflict):
            near.delete(**STAGE)
        assert len(near.bodies()) == 2

    @pytest.mark.parametrize("landed", [True, False])
    def test_a_lost_answer_is_settled_by_looking(self, near: World, landed: bool) -> None:
        """Gone is done; still there is deleted again."""
        near.write(payload("goal-run-stage", ISSUE, "x\n"), **STAGE)
        near.forge.faults.add("DELETE", ONE, faults.status(502, landed=landed))
        assert near.delete(**STAGE).action is Action.DELETED
        assert near.bodies() == []


class TestReading:
    """`read` and `list`."""

    def test_list_shows_every_marker_and_no_bodies(self, world: World) -> None:
        """Governing, duplicate and planted ones, of all families."""
        world.write(TEXT)
        world.write("A record.\n", family="design-phase-complete")
        planted = world.forge.plant(REPO, ISSUE, PLAN).id
        world.say("Just talk.")
        found = reading.list_markers(world.setup(), world.thread(), None)
        assert [(r.family, r.trusted) for r in found] == [
            ("design-phase-complete", True),
            ("plan-issue", True),
            ("plan-issue", False),
        ]
        assert all(result.body is None for result in found)
        assert found[1].extras[0].id == planted
        only = reading.list_markers(world.setup(), world.thread(), CONTRACT.family("plan-issue"))
        assert {result.family for result in only} == {"plan-issue"}

    def test_read_gives_the_stored_body_and_who_wrote_it(self, world: World) -> None:
        """As stored, with author, association and whether it was edited."""
        ours = world.say(BODY)
        world.clock.sleep(5)
        world.forge.edit(ours, BODY + "More.\n")
        result = world.read()
        assert result.body == BODY + "More.\n"
        assert (result.author, result.author_id, result.association) == ("pat", 101, "OWNER")
        assert result.edited

    def test_reading_writes_nothing_and_needs_no_identity(self, world: World) -> None:
        """One request for a short thread with a trusted match."""
        world.say(BODY)
        world.forge.forget()
        world.read()
        assert [entry.method for entry in world.forge.log] == ["GET"]

    def test_all_matches(self, near: World) -> None:
        """`--all` gives every match, ascending, with bodies."""
        ids = [near.say(BODY), near.forge.plant(REPO, ISSUE, PLAN).id]
        found = reading.read_all(near.setup(), near.thread(), near.marker()).results
        assert [result.comment_id for result in found] == ids
        assert [result.trusted for result in found] == [True, False]


class TestPacing:
    """Creating content takes turns."""

    def test_posts_are_a_second_apart_and_shared_by_token(self, near: World) -> None:
        """Two creates through one journal and token: the second waits."""
        paced = replace(near.setup().timing, paced=True)
        setup = near.setup(timing=paced)
        near.write("One.\n", setup=setup, family="design-phase-complete")
        start = near.clock.now()
        near.write("Two.\n", setup=setup, family="design-phase-complete")
        assert near.clock.now() - start >= 1

    def test_a_long_turn_is_waited_for_without_the_lock_and_the_deadline(self, near: World) -> None:
        """Eighty a minute: the 81st waits for the minute to end, and still lands."""
        timing = replace(near.setup().timing, paced=True, minute=2, gap=0.0, deadline=20.0)
        setup = near.setup(timing=timing)
        actions = [
            near.write(f"{n}\n", setup=setup, family="design-phase-complete").action
            for n in range(3)
        ]
        assert actions == [Action.POSTED] * 3
        assert max(near.clock.slept) >= 55
        intents = near.setup().open_journal().open_intents()
        assert [entry for entry in intents if entry.record.kind is Kind.INTENT] == []


class TestNeverUnwritten:
    """What stands on GitHub is never said to be unwritten."""

    @pytest.mark.parametrize(
        "trouble",
        [faults.status(502), faults.status(403, "Forbidden"), faults.secondary(3600)],
        ids=["502", "403", "limit beyond the deadline"],
    )
    @pytest.mark.parametrize("family", ["completion-account", "design-phase-complete"])
    def test_a_create_that_cannot_be_settled_is_landed_unverified(
        self, near: World, trouble: faults.Effect, family: str
    ) -> None:
        """The POST was answered, every listing after it fails: the result names the comment."""
        near.say("Talk.")
        near.forge.faults.add("GET", LIST, trouble, times=None, after=1)
        error = near.fails(TEXT, family=family)
        assert error.result.action is Action.LANDED_UNVERIFIED
        assert error.result.comment_id == near.carrying(f"<!-- {family}-12 -->")[0]
        assert near.setup().open_journal().open_intents() == []

    def test_an_update_that_cannot_be_settled_is_landed_unverified(self, near: World) -> None:
        """The PATCH of a young target was answered, and the listing after it fails."""
        ours = near.say(ACCOUNT)
        near.forge.faults.add("GET", LIST, faults.status(502), times=None, after=1)
        error = near.fails("New.\n", **STEPLESS)
        assert error.result.action is Action.LANDED_UNVERIFIED
        assert error.result.comment_id == ours

    def test_a_limit_while_settling_is_waited_out_and_the_create_is_still_one(
        self, world: World
    ) -> None:
        """The round is repeated after the wait: `created`, one POST."""
        world.say("Talk.")
        world.forge.faults.add("GET", LIST, faults.secondary(30), after=1)
        assert world.write(TEXT).action is Action.CREATED
        assert world.sent == ["POST"]
        record = {"family": "design-phase-complete"}
        world.forge.faults.add("GET", LIST, faults.secondary(30), after=1)
        assert world.write("A record.\n", **record).action is Action.POSTED
        assert world.sent == ["POST", "POST"]


class TestLosers:
    """What is one too many goes only where nothing is lost by it."""

    def _outranked(self, world: World) -> int:
        """A stranger's older plant becomes trusted while our update is under way."""
        world.forge.plant(REPO, ISSUE, PLAN)
        ours = int(world.write("First.\n").comment_id or 0)
        world.forge.on_request(
            "PATCH", ONE, lambda _c: world.forge.associate(REPO, "lee", "COLLABORATOR"), landed=True
        )
        return ours

    @pytest.mark.parametrize("expect", [False, True])
    def test_an_update_that_no_longer_governs_is_kept_and_said(
        self, world: World, expect: bool
    ) -> None:
        """It landed, so it is no conflict, and the comment from before stays where it is."""
        ours = self._outranked(world)
        order = {"expect": sha256(f"{PLAN}\n\nFirst.\n")} if expect else {}
        error = world.fails("Second.\n", **order)
        assert error.result.action is Action.LANDED_UNVERIFIED
        assert error.result.comment_id == ours
        assert world.forge.find(ours).body == f"{PLAN}\n\nSecond.\n"
        assert "DELETE" not in world.sent

    def test_taking_over_brings_the_text_and_removes_the_twin(self, world: World) -> None:
        """With --take-over the canonical gets our text; only then our older comment goes."""
        ours = self._outranked(world)
        result = world.write("Second.\n", take_over=True)
        assert result.action is Action.UPDATED
        assert result.comment_id != ours
        assert world.carrying() == [result.comment_id]

    def test_a_conflict_never_takes_back_what_an_interrupted_call_left(self, near: World) -> None:
        """An earlier create of unknown outcome landed and governs: `--expect absent` conflicts."""
        near.forge.faults.add("POST", POSTED, faults.reset(landed=True))
        silent = near.forge.faults.add("GET", LIST, faults.status(502), times=None, after=1)
        near.fails("First.\n")
        silent.off()
        error = near.fails("Second.\n", expect="absent")
        assert error.reason.code == "expect-absent"
        assert near.bodies() == [f"{PLAN}\n\nFirst.\n"]

    def test_a_lost_race_names_what_is_there(self, world: World) -> None:
        """`lower-canonical` comes with the comment that governs and its hash."""
        world.forge.on_request("POST", POSTED, lambda _c: world.say(BODY))
        error = world.fails("New.\n", expect="absent")
        assert error.reason.code == "lower-canonical"
        assert error.result.comment_id == world.carrying()[0]
        assert error.result.previous_sha256 == sha256(BODY)

    def test_a_dry_run_says_what_would_be_folded(self, near: World) -> None:
        """`--fold-extras --dry-run` names the duplicate and leaves it."""
        near.say(BODY)
        second = near.say(f"{PLAN}\n\nTwin.\n")
        planned = near.write("New.\n", fold=Fold.DELETE, dry_run=True)
        assert any(str(second) in w for w in planned.warnings if w.startswith("would-fold"))
        assert len(near.bodies()) == 2

    def test_a_writer_nobody_trusts_is_told_so(self, world: World) -> None:
        """Its own comment is no extra; the warning says that others do not read it."""
        world.say("<!-- design-phase-complete-12 -->\n\nTrusted.\n")
        lee = world.setup(seed.LEE_TOKEN)
        result = world.write("Mine.\n", setup=lee, family="design-phase-complete")
        assert result.comment_id not in {extra.id for extra in result.extras}
        assert any(warning.startswith("not-trusted") for warning in result.warnings)


def test_a_patch_that_lands_late_is_seen(near: World) -> None:
    """After the last attempt the look waits for the settle time: then it is proof."""
    ours = near.say(ACCOUNT)
    new = "<!-- completion-account-12 -->\n\nNew.\n"

    class Late(clock.FakeClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            if seconds >= 15:
                near.forge.edit(ours, new)

    near.forge.faults.add("PATCH", ONE, faults.status(502), times=None)
    with clock.use(Late()):
        assert near.write("New.\n", **STEPLESS).action is Action.UPDATED

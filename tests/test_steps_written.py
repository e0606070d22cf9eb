"""Steps as the writer carries them out: what is read, edited, checked again and told."""

from __future__ import annotations

import json

import pytest
from worlds import ISSUE, PLAN, World, near, world

from markers import reading, writer
from markers.burst import Status, burst
from markers.errors import Incomplete, Refused, Unavailable, Unknown
from markers.forge import faults
from markers.journal.interface import Kind
from markers.model import Action, WriteResult
from markers.validators import credit_input

__all__ = ["near", "world"]

ONE = r"/issues/comments/\d+"
POSTED = rf"/issues/{ISSUE}/comments$"
STAMP = "2026-07-01T00:00:00Z"
LEDGER = f"<!-- phase-containment-ledger-{ISSUE} -->"
SLICES = f"<!-- frame-slices-{ISSUE} -->"
REF = "<!-- phase-containment-ledger-ref: {} -->"
SLICE = """<!-- frame-slice
id: s1
provides: [implement-code]
depends-on: []
ac-refs: [AC1]
-->
"""


def spine(pointer: str = "", stamp: str = STAMP) -> str:
    """A plan's spine of one slice; *pointer* is a whole line."""
    return f"""<!-- frame-spine
spine_schema_version: 2
generated_at: {stamp}
coverage: complete
{pointer}ports:
  implement-code: [s1#terminal]
slices:
  s1:
    execution_mode: serial
    ac_refs: [AC1]
    depends_on: []
    cycle: 1
-->
"""


def plan(*parts: str) -> str:
    """A plan of some parts."""
    return "\n".join(["# Plan", "", *parts])


def slices(stamp: str = STAMP) -> str:
    """The sibling that holds the slice."""
    return f"<!-- frame-slices-generated-at: {stamp} -->\n\n{SLICE}"


def ledger(body: str = "- finding_id: none\n  judge_ruling: defense-sustained") -> str:
    """A ledger comment as somebody left it."""
    return f"{LEDGER}\n\n<!-- judge-rulings\n{body}\n-->\n"


def edits(world: World) -> list[tuple[str, str, str]]:
    """Kind, action and family of each audit entry."""
    entries = world.setup().open_journal().entries()
    return [(e.record.kind.value, e.record.action, e.record.family) for e in entries]


class TestPreserve:
    """What a plan's comment held beside its text is carried forward."""

    def test_a_pointer_is_kept_where_its_target_is_what_it_says(self, world: World) -> None:
        """The candidate lacks the pointer, the comment that governs has it."""
        target = world.say(ledger())
        world.write(plan("One.", REF.format(target)), preserve=False)
        result = world.write("# Plan\n\nTwo.\n")
        assert result.action is Action.UPDATED
        assert result.preserved == (f"phase-containment-ledger-ref {target}",)
        assert REF.format(target) in (world.read().body or "")

    def test_it_is_equal_then(self, world: World) -> None:
        """Running the same write again changes nothing, since the carried text is there."""
        target = world.say(ledger())
        world.write(plan("One.", REF.format(target)), preserve=False)
        world.write("Two.\n")
        sent = len(world.sent)
        assert world.write("Two.\n").action is Action.UNCHANGED
        assert len(world.sent) == sent

    def test_a_dangling_one_is_dropped_with_a_warning(self, near: World) -> None:
        """The target was deleted: the pointer goes, and somebody is told."""
        near.write(plan("One.", REF.format(999_999)), preserve=False)
        result = near.write("Two.\n")
        assert result.preserved == ()
        assert any("999999" in warning for warning in result.warnings)
        assert "ledger-ref" not in (near.read().body or "")

    def test_a_planted_target_is_not_believed(self, near: World) -> None:
        """A stranger's comment with the identity marker is no target."""
        target = near.say(ledger(), author="lee")
        near.write(plan("One.", REF.format(target)), preserve=False)
        assert near.write("Two.\n").preserved == ()

    def test_the_candidates_own_bad_pointer_refuses(self, near: World) -> None:
        """First write included; nothing is written."""
        other = near.say("just talk")
        error = near.fails(plan("One.", REF.format(other)))
        assert isinstance(error, Refused)
        assert error.reason.code == "bad-pointer"
        assert near.sent == []

    def test_a_target_that_cannot_be_read_aborts(self, near: World) -> None:
        """A transport failure is not a missing target: nothing is written."""
        target = near.say(ledger())
        near.write(plan("One.", REF.format(target)), preserve=False)
        sent = len(near.sent)
        near.forge.faults.add("GET", ONE, faults.status(500), times=None)
        assert isinstance(near.fails("Two.\n"), Unavailable)
        assert len(near.sent) == sent

    def test_no_preserve_leaves_all_of_it_out(self, near: World) -> None:
        """Whoever says so gets exactly what he hands over, also a pointer to nothing."""
        target = near.say(ledger())
        near.write(plan("One.", REF.format(target)), preserve=False)
        result = near.write("Two.\n", preserve=False)
        assert result.preserved == ()
        assert near.read().body == f"{PLAN}\n\nTwo.\n"

    def test_what_is_carried_is_checked_again_in_full(self, near: World) -> None:
        """A section that somebody put a marker into does not get into a clean plan."""
        near.say(f"{PLAN}\n\n**Plan Stress-Test**\n\n<!-- design-issue-12 -->\n", author="pat")
        error = near.fails("Two.\n", take_over=True)
        assert error.reason.code == "foreign-marker"
        assert error.reason.detail.startswith("in the comment as it would be: line 7 ")
        assert near.sent == []

    def test_what_is_carried_warns_of_the_whole(self, near: World) -> None:
        """A line of the candidate is named as the caller counts it, one of the section is not."""
        near.write(plan("One.", "**Plan Stress-Test**", "", "For @acme."), preserve=False)
        own = near.write("For @acme.\n")
        assert [warning.partition(" mentions")[0] for warning in own.warnings] == [
            "mention: line 1"
        ]
        carried = near.write("Two.\n")
        assert [warning.partition(" mentions")[0] for warning in carried.warnings] == [
            "mention: in the comment as it would be: line 7"
        ]

    def test_an_interrupted_update_is_taken_as_its_own(self, near: World) -> None:
        """The rerun of a write whose answer was lost says what it was, carried text included."""
        target = near.say(ledger())
        near.write(plan("One.", REF.format(target)), preserve=False)
        ours = near.carrying()[0]
        near.forge.faults.add("PATCH", ONE, faults.status(502, landed=True))
        near.forge.faults.add("GET", rf"/comments/{ours}$", faults.status(502), times=None, after=1)
        assert isinstance(near.fails("Two.\n"), Unknown)
        near.forge.faults.clear()
        result = near.write("Two.\n")
        assert result.action is Action.UPDATED
        assert result.comment_id == ours
        assert REF.format(target) in (near.read().body or "")


class TestSplice:
    """The slices' comment id goes into the plan's spine."""

    def test_one_line_changes(self, world: World) -> None:
        """The pointer's line is put in, every other byte stays."""
        world.write(plan(spine()))
        before = world.read().body or ""
        result = world.write(slices(), family="frame-slices")
        after = world.read().body or ""
        line = f"slice_comment_id: {result.comment_id}\n"
        assert after.replace(line, "") == before
        assert line in after

    def test_each_edit_has_its_intent_and_outcome(self, near: World) -> None:
        """The journal knows whose comment was edited, and can bring the old text back."""
        near.write(plan(spine()))
        near.write(slices(), family="frame-slices")
        assert edits(near)[-2:] == [
            (Kind.INTENT, "edit", "plan-issue"),
            (Kind.OUTCOME, "updated", "plan-issue"),
        ]

    def test_the_same_again_changes_nothing(self, near: World) -> None:
        """Slices and plan are as they were meant."""
        near.write(plan(spine()))
        near.write(slices(), family="frame-slices")
        sent = len(near.sent)
        assert near.write(slices(), family="frame-slices").action is Action.UNCHANGED
        assert len(near.sent) == sent

    @pytest.mark.parametrize(
        ("there", "code"),
        [
            (None, "no-target"),
            (plan("No spine."), "missing-spine"),
            (plan(spine(stamp="2026-06-01T00:00:00Z")), "stale-spine"),
        ],
        ids=["no plan", "no spine", "another generation"],
    )
    def test_a_failed_splice_fails_loudly(self, near: World, there: str | None, code: str) -> None:
        """The sibling landed, and the call is no success; the same write mends it later."""
        if there is not None:
            near.write(there)
        error = near.fails(slices(), family="frame-slices")
        assert isinstance(error, Incomplete)
        assert error.reason.code == code
        assert isinstance(error.result, WriteResult)
        assert error.result.action is Action.LANDED_INCOMPLETE
        assert near.carrying(SLICES) == [error.result.comment_id]
        near.write(plan(spine()))
        assert near.write(slices(), family="frame-slices").action is Action.UNCHANGED
        assert f"slice_comment_id: {error.result.comment_id}" in (near.read().body or "")

    def test_another_accounts_plan_is_not_edited_unasked(self, near: World) -> None:
        """The plan is somebody else's: the sibling stands, the plan is left alone."""
        near.say(f"{PLAN}\n\n{plan(spine())}", author="mia")
        error = near.fails(slices(), family="frame-slices")
        assert error.reason.code == "foreign-canonical"
        assert error.action is Action.LANDED_INCOMPLETE
        assert "pass --take-over" in error.reason.detail
        assert "--expect" not in error.reason.detail
        near.write(slices(), family="frame-slices", take_over=True)
        assert "slice_comment_id" in (near.read().body or "")

    def test_a_plan_that_moved_meanwhile_is_edited_as_it_is_now(self, near: World) -> None:
        """The target is read again right before the PATCH, and nothing of the new text is lost."""
        near.write(plan("Old.", spine()))
        ours = near.carrying()[0]
        new = f"{PLAN}\n\n{plan('By hand.', spine())}"
        near.forge.on_request("POST", POSTED, lambda _c: near.forge.edit(ours, new), landed=True)
        near.write(slices(), family="frame-slices")
        body = near.read().body or ""
        assert "By hand." in body
        assert "slice_comment_id" in body

    def test_a_dry_run_says_what_could_not_be_edited(self, near: World) -> None:
        """Nothing is written, and the missing plan is a warning."""
        result = near.write(slices(), family="frame-slices", dry_run=True)
        assert result.action is Action.PLANNED
        assert any(warning.startswith("step: ") for warning in result.warnings)
        assert near.sent == []


class TestBurst:
    """Steps within an ordered list."""

    def test_plan_and_slices_in_one(self, world: World) -> None:
        """The plan of the first entry gets the pointer of the second."""
        orders = [world.order(plan(spine())), world.order(slices(), family="frame-slices")]
        result = burst(world.setup(), orders)
        assert [entry.status for entry in result.results] == [Status.LANDED, Status.LANDED]
        pointer = f"slice_comment_id: {result.results[1].comment_id}"
        assert pointer in (world.read().body or "")
        again = burst(world.setup(), orders)
        assert again.action == Status.UNCHANGED

    def test_what_an_earlier_entry_writes_is_there_by_then(self, near: World) -> None:
        """The check phase does not warn of a plan that its own manifest brings."""
        orders = [near.order(plan(spine())), near.order(slices(), family="frame-slices")]
        for dry_run in (True, False):
            result = burst(near.setup(), orders, dry_run=dry_run)
            assert [entry.warnings for entry in result.results] == [(), ()]

    def test_a_plan_on_another_thread_is_no_help(self, near: World) -> None:
        """There the warning stands."""
        near.forge.add_issue(near.repo.slug, 77)
        orders = [
            near.order(plan(spine()), number=77),
            near.order(slices(), family="frame-slices"),
        ]
        result = burst(near.setup(), orders, dry_run=True)
        assert result.results[1].warnings[0].startswith("step: ")

    def test_the_wrong_order_is_refused_before_the_first_write(self, near: World) -> None:
        """Slices cannot point from a plan that comes after them; where it is there, they can."""
        orders = [near.order(slices(), family="frame-slices"), near.order(plan(spine()))]
        for dry_run in (True, False):
            with pytest.raises(Refused) as caught:
                burst(near.setup(), orders, dry_run=dry_run)
            (problem,) = caught.value.problems
            assert (problem.entry, problem.key, problem.code) == (1, "family", "order")
            assert "put the entry that writes it first" in problem.detail
        assert near.sent == []
        near.write(plan(spine()))
        assert burst(near.setup(), orders).action == Status.LANDED

    def test_the_journal_agrees_with_what_stands(self, near: World) -> None:
        """What was written last to the plan is the step's edit, not the entry's first text."""
        orders = [near.order(plan(spine())), near.order(slices(), family="frame-slices")]
        burst(near.setup(), orders)
        assert reading.live_flaws(near.setup()) == []

    def test_a_failed_step_stops_it(self, near: World) -> None:
        """The entry is landed-incomplete, the next one is not attempted."""
        orders = [
            near.order(slices(), family="frame-slices"),
            near.order("Done.\n", family="experience-owner-complete"),
        ]
        with pytest.raises(Incomplete) as caught:
            burst(near.setup(), orders)
        statuses = [entry.status for entry in caught.value.result.results]
        assert statuses == [Status.LANDED_INCOMPLETE, Status.NOT_ATTEMPTED]

    def test_a_bad_pointer_is_seen_before_the_first_write(self, near: World) -> None:
        """What a step reads is read in the check phase, too."""
        orders = [
            near.order("Done.\n", family="experience-owner-complete"),
            near.order(plan("One.", REF.format(999_999))),
        ]
        with pytest.raises(Refused):
            burst(near.setup(), orders)
        assert near.sent == []

    def test_no_preserve_is_an_entry_of_its_own(self, near: World) -> None:
        """One entry may leave out what another carries forward."""
        target = near.say(ledger())
        near.write(plan("One.", REF.format(target)), preserve=False)
        result = burst(near.setup(), [near.order("Two.\n", preserve=False)])
        assert result.results[0].preserved == ()
        assert near.read().body == f"{PLAN}\n\nTwo.\n"


class TestRendered:
    """A halt report is handed over as YAML and shown as bullets."""

    PAYLOAD = f"""```yaml
schema_version: 1
issue: {ISSUE}
halt_reason: gate-input-needed
target_ref: null
plan_remediation: "ask <!-- plan-issue-{ISSUE} --> first"
evidence: ["one", "two --> three"]
recommended_next_owner: conductor
arm: headless
stage: loop
claim_provenance: harness
budget_snapshot: {{}}
```
"""

    def test_what_is_written_is_bullets_without_live_text(self, world: World) -> None:
        """No delimiter of the payload's free text gets into the comment."""
        world.write(self.PAYLOAD, family="goal-halt-report")
        read = world.read(family="goal-halt-report")
        assert read.valid
        body = read.body or ""
        assert "```" not in body
        assert body.count("<!--") == 1
        assert body.count("-->") == 1
        assert world.write(self.PAYLOAD, family="goal-halt-report").action is Action.UNCHANGED

    def test_a_warning_of_the_bullets_says_whose_line_it_is(self, near: World) -> None:
        """In the YAML, which is code, nobody is mentioned; in the bullets somebody is."""
        payload = self.PAYLOAD.replace('"one"', '"@acme said one"')
        result = near.write(payload, family="goal-halt-report")
        assert [warning.partition(" mentions")[0] for warning in result.warnings] == [
            "mention: in the comment as it would be: line 9"
        ]

    def test_what_was_told_of_the_payload_stays_told(self, near: World) -> None:
        """The bullets no longer show what got lost; what they do not have is no longer told."""
        payload = self.PAYLOAD.replace("target_ref: null", "target_ref: #12")
        payload = payload.replace(' "ask <!--', " |\n  ask\n  <!--").replace(' first"', " first")
        result = near.write(f"For @acme.\n\n{payload}", family="goal-halt-report")
        assert [warning.partition(": ")[0] for warning in result.warnings] == [
            "comment-cut",
            "prose-dropped",
        ]
        assert "@acme" not in (near.read(family="goal-halt-report").body or "")

    def test_a_fence_in_a_text_is_refused(self, near: World) -> None:
        """Half of a report would be shown as if it were all of it."""
        text = "plan_remediation: |\n  a\n  ```\n  b\n  ```\n"
        payload = self.PAYLOAD.replace("plan_remediation", "note").replace("note:", text + "note:")
        error = near.fails(payload, family="goal-halt-report")
        assert error.reason.code == "backticks"
        assert near.forge.writes == []

    def test_an_invalid_one_is_refused_whole(self, near: World) -> None:
        """Several problems are told together, and nothing is asked of the server."""
        bad = self.PAYLOAD.replace("headless", "footloose").replace("loop", "lop")
        error = near.fails(bad, family="goal-halt-report")
        assert "arm" in error.reason.detail
        assert "stage" in error.reason.detail
        assert near.forge.writes == []


class TestForward:
    """Follow-ups go one state forward."""

    def payload(self, state: str, key: str = "0" * 16) -> str:
        """A list of one proposal."""
        fields = {
            "canonical_title": "Tidy",
            "rationale": "why",
            "disposition": "defer",
            "severity": "low",
            "board_position": "1",
            "followup_key": f"followup-{key}",
            "originating_head_sha": "abc",
            "ruling_link": "https://example.com",
        }
        lines = [f"    {name}: {json.dumps(value)}" for name, value in fields.items()]
        lines[0] = lines[0].replace("    ", "  - ", 1)
        listed = "\n".join(lines)
        return f"state: {state}\n\n```yaml\nschema_version: 1\nproposals:\n{listed}\n```\n"

    def test_each_step_is_allowed_and_a_skip_is_not(self, near: World) -> None:
        """Proposed, claimed, consumed; from proposed straight to consumed is refused."""
        family = "proposed-followups"
        near.write(self.payload("proposed"), family=family)
        assert isinstance(near.fails(self.payload("consumed"), family=family), Refused)
        near.write(self.payload("claimed"), family=family)
        assert isinstance(near.fails(self.payload("proposed"), family=family), Refused)
        near.write(self.payload("consumed"), family=family)
        assert "state: consumed" in (near.read(family=family).body or "")

    def test_a_lost_key_is_told(self, near: World) -> None:
        """A merge that forgets an earlier follow-up is warned of."""
        family = "proposed-followups"
        near.write(self.payload("proposed"), family=family)
        result = near.write(self.payload("proposed", "1" * 16), family=family)
        assert any("0" * 16 in warning for warning in result.warnings)


def test_a_validator_that_breaks_refuses(near: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that raises is never a pass."""

    def broken(_case: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(credit_input, "validate", broken)
    error = near.fails(
        "```yaml\nport: plan\nadapter: a\nevidence: b\n```\n",
        family="credit-input",
        params={"port": "plan"},
    )
    assert error.reason.code == "validator-broken"
    assert near.sent == []


def test_a_limit_in_the_midst_of_a_step_is_waited_out(near: World) -> None:
    """The write is not repeated, its step is made when the limit is over."""
    near.write(plan(spine()))
    near.forge.faults.add("PATCH", ONE, faults.secondary(70))
    result = near.write(slices(), family="frame-slices")
    assert result.action is Action.CREATED
    assert len(near.carrying(SLICES)) == 1
    assert f"slice_comment_id: {result.comment_id}" in (near.read().body or "")
    assert writer.recover(near.setup()) == ()

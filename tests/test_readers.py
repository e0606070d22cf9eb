"""What the comments of a family say together: each reader's rule, without any thread."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sightings import (
    COMPLETIONS,
    CONTRACT,
    HASH,
    INTERIM,
    NUMBER,
    at,
    comment,
    credit,
    marker,
    reading,
    record,
    run,
    sighting,
    view,
)

from markers import readers
from markers.contract.names import READERS
from markers.errors import Unavailable
from markers.readers import View, goal_run_inflight

READERS_OF = {
    "engagement-record": marker("engagement-record", phase="plan"),
    "completion-account": marker("completion-account"),
    "open-for-work-affirmed": marker("open-for-work-affirmed"),
    "credit-input": marker("credit-input", port="plan"),
    "goal-run-inflight": marker("goal-run-inflight"),
    "plan-issue": marker("plan-issue"),
    "frame-slices": marker("frame-slices"),
}
PIECES = [
    *("<!-- frame-spine", "<!-- frame-slice -->", "<!-- frame-slice", "-->", "```yaml", "```"),
    *("load_bearing_decisions:", "  - decision_id: followup-x", "  - a", "phase: plan", "x: [1"),
    *("- **status**: adopted", "slices:", "  s1:", "    cycle: 1", "step_id: s1", "port: {}"),
    *("adversarial_review_ran: yes", "schema_version: 1", "generated_at: 2026-01-01T00:00:00Z"),
]
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("\n".join))


def test_every_reader_has_a_family_and_every_family_a_reader() -> None:
    """The families name exactly the readers that there are, and each can be loaded."""
    named = {family.reader for family in CONTRACT.families.values() if family.reader}
    assert named == set(READERS)
    for name in READERS:
        assert readers._reader(name)


def test_a_family_without_a_rule_has_no_reading() -> None:
    """Most families say what their governing comment says, and nothing more."""
    sentinel = marker("review-judge-produced")
    assert readers.needs(sentinel, CONTRACT).lines == ()
    assert readers.read(view(sentinel, sighting(comment(1, sentinel.text)))) is None


def test_a_reader_that_breaks_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its reading says so, and has none of the keys that somebody could take for an answer."""

    def broken(_view: View) -> Any:
        raise RuntimeError

    inflight = marker("goal-run-inflight")
    reader = readers._reader("goal-run-inflight")
    changed = readers.interface.Reader(needs=reader.needs, read=broken)
    monkeypatch.setattr(readers, "_reader", lambda _name: changed)
    found = readers.read(view(inflight))
    assert found is not None
    assert set(found) == {"summary", "broken"}
    assert "RuntimeError" in found["summary"]


def test_lines_besides_markers_are_known_beforehand() -> None:
    """A listing of all markers keeps the interim records, too, of this thread alone."""
    (line,) = readers.lines_on(NUMBER, CONTRACT)
    assert line == INTERIM


class TestEngagementRecord:
    """The newest of each phase, and all follow-ups."""

    plan = marker("engagement-record", phase="plan")

    def decided(self, *seen: Any) -> dict[str, list[str]]:
        """The ids of the decisions that count, by phase."""
        phases = reading(self.plan, *seen)["phases"]
        return {
            phase: [entry["decision_id"] for entry in found["decisions"]]
            for phase, found in phases.items()
        }

    def test_the_newest_of_each_phase_counts(self) -> None:
        """Created last wins, whatever the ids; of two of one second the first one stays."""
        assert self.decided(
            sighting(comment(1, record("design", "first-one"), created=9)),
            sighting(comment(2, record("design", "later-id"), created=8)),
            sighting(comment(3, record("plan", "a-tie"), created=5)),
            sighting(comment(4, record("plan", "its-twin"), created=5)),
        ) == {"design": ["first-one"], "plan": ["a-tie"]}

    def test_followups_are_gathered_from_all(self) -> None:
        """An older record's follow-up is not lost; one that is told twice is told as last."""
        found = reading(
            self.plan,
            sighting(comment(1, record("design", "followup-one", "kept-here"))),
            sighting(comment(2, record("design", "followup-two"))),
            sighting(comment(3, record("plan", "followup-one", prose=" again"))),
        )
        assert [(f["decision_id"], f["comment_id"]) for f in found["followups"]] == [
            ("followup-one", 3),
            ("followup-two", 2),
        ]
        assert found["phases"]["design"]["decisions"] == []
        assert found["summary"] == (
            "design 0 decisions (comment 2), plan 0 decisions (comment 3); 2 follow-ups"
        )

    def test_what_the_writer_would_refuse_is_skipped_and_named(self) -> None:
        """A malformed record does not hide the good one before it; nor does a stranger's."""
        found = reading(
            self.plan,
            sighting(comment(1, record("plan", "a-good-one"))),
            sighting(comment(2, record("plan", "too-old", version=1))),
            sighting(comment(3, record("plan", "planted", version=3)), trusted=False),
            sighting(comment(4, f"{self.plan.text}\n\nno payload: [")),
        )
        assert [e["decision_id"] for e in found["phases"]["plan"]["decisions"]] == ["a-good-one"]
        skipped = {each["comment_id"]: each["why"] for each in found["skipped"]}
        assert skipped[3] == "untrusted"
        assert set(skipped) == {2, 3, 4}
        assert all(why.startswith("malformed: ") for why in (skipped[2], skipped[4]))
        assert found["summary"] == (
            "plan 1 decision (comment 1); 2 records passed over, the latest of its phase "
            "(comment 4) among them; 1 marker not trusted"
        )

    def test_a_record_on_the_wrong_thread_does_not_count(self) -> None:
        """It is named with the reason, its follow-ups are not gathered, and strangers' apart."""
        found = reading(
            self.plan,
            sighting(
                comment(1, record("review", "a-ruling", "followup-x", version=4)), astray="no"
            ),
            sighting(comment(2, record("plan", "planted")), trusted=False, astray="no"),
        )
        assert (found["phases"], found["followups"]) == ({}, [])
        assert [each["why"] for each in found["skipped"]] == ["surface: no", "untrusted"]
        assert found["summary"] == "no decisions; 1 record passed over; 1 marker not trusted"

    def test_a_phase_that_is_not_there_hides_no_other(self) -> None:
        """The reading covers the whole thread, whichever phase was asked for."""
        found = reading(self.plan, sighting(comment(1, record("design", "a-choice"))))
        assert list(found["phases"]) == ["design"]
        assert found["phases"]["design"]["capture_session"] == "normal-design-v1.2"
        assert reading(self.plan)["summary"] == "no decisions"


ACCOUNTS = {
    "adversarial_review_ran: true": ("ran", True),
    "- **adversarial_review_ran**: YES": ("ran", True),
    "adversarial_review_ran: no": ("declared-not-run", False),
    "all is well": ("unasserted", False),
    "```\nadversarial_review_ran: true\n```": ("unasserted", False),
    "adversarial_review_ran: maybe": ("value-unrecognised", False),
    "adversarial_review_ran: true\nadversarial_review_ran: false": ("duplicate-assertion", False),
}


class TestCompletionAccount:
    """The verdict on the last account."""

    account = marker("completion-account")

    @pytest.mark.parametrize(("text", "expected"), ACCOUNTS.items())
    def test_verdicts(self, text: str, expected: tuple[str, bool]) -> None:
        """Only ``ran`` says that a review ran."""
        found = reading(self.account, sighting(comment(7, f"{self.account.text}\n\n{text}")))
        assert (found["verdict"], found["review_ran"]) == expected
        assert (found["comment_id"], found["author"]) == (7, "pat")

    def test_no_account_is_no_review(self) -> None:
        """Absence reads as not run."""
        found = reading(self.account)
        assert (found["verdict"], found["review_ran"], found["candidates"]) == (
            "unasserted",
            False,
            [],
        )

    def test_the_last_is_read_and_all_are_named(self) -> None:
        """Not the canonical one, which governs the write; a stranger's is no candidate."""
        head = f"{self.account.text}\n\nadversarial_review_ran: "
        found = reading(
            self.account,
            sighting(comment(1, f"{head}false")),
            sighting(comment(2, f"{head}true", author="robin")),
            sighting(comment(3, f"{head}false", author="lee"), trusted=False),
        )
        assert (found["verdict"], found["comment_id"], found["author"]) == ("ran", 2, "robin")
        assert [each["comment_id"] for each in found["candidates"]] == [1, 2]
        assert found["summary"] == (
            "ran, says comment 2 by robin, the last of 2 candidates, which is the one that is "
            "read; a write changes the first one, comment 1"
        )

    def test_an_account_on_the_wrong_thread_is_no_candidate(self) -> None:
        """It is named apart, and asserts nothing."""
        body = f"{self.account.text}\n\nadversarial_review_ran: true"
        found = reading(self.account, sighting(comment(1, body), astray="elsewhere"))
        assert (found["verdict"], found["candidates"]) == ("unasserted", [])
        assert [(each["comment_id"], each["why"]) for each in found["skipped"]] == [
            (1, "elsewhere")
        ]


NEARLY_INTERIM = (
    INTERIM.replace("**", ""),
    f"> {INTERIM}",
    f"{INTERIM} ok",
    INTERIM.replace(" - ", " \u2013 "),
    INTERIM.replace(f"issue {NUMBER}*", f"issue {NUMBER}0*"),
    INTERIM.lower(),
)


class TestOpenForWork:
    """Lawful and void records in both forms."""

    affirmed = marker("open-for-work-affirmed")

    def test_the_earliest_lawful_record(self) -> None:
        """An edit voids a record; a stranger's is none; the earliest of the rest is the witness."""
        found = reading(
            self.affirmed,
            sighting(comment(1, self.affirmed.text, edited=2)),
            sighting(comment(2, self.affirmed.text), trusted=False),
            sighting(comment(4, f"{self.affirmed.text}\n\ntext")),
            sighting(comment(5, self.affirmed.text)),
        )
        assert found["affirmed"] is True
        assert (found["earliest"]["comment_id"], found["earliest"]["created_at"]) == (4, at(4))
        ids = {
            key: [r["comment_id"] for r in found[key]] for key in ("lawful", "void", "untrusted")
        }
        assert ids == {"lawful": [4, 5], "void": [1], "untrusted": [2]}

    def test_the_interim_form_is_as_good(self) -> None:
        """A record from before there was a marker stays valid for ever; edited it is void, too."""
        found = reading(
            self.affirmed,
            sighting(comment(1, f"{INTERIM}  \r\n> as it said")),
            sighting(comment(2, self.affirmed.text)),
            sighting(comment(3, INTERIM, edited=9)),
        )
        assert found["earliest"]["form"] == "interim"
        assert [r["form"] for r in found["lawful"]] == ["interim", "marker"]
        assert [r["comment_id"] for r in found["void"]] == [3]

    @pytest.mark.parametrize("line", NEARLY_INTERIM)
    def test_nothing_less_is_the_interim_form(self, line: str) -> None:
        """The first line is exactly that."""
        assert reading(self.affirmed, sighting(comment(1, line)))["affirmed"] is False

    @pytest.mark.parametrize("form", ["marker", "interim"])
    def test_a_record_on_the_wrong_thread_affirms_nothing(self, form: str) -> None:
        """In neither form; it is named."""
        line = self.affirmed.text if form == "marker" else INTERIM
        found = reading(self.affirmed, sighting(comment(1, line), astray="elsewhere"))
        assert (found["affirmed"], found["lawful"], found["void"]) == (False, [], [])
        assert [each["why"] for each in found["skipped"]] == ["elsewhere"]

    def test_nothing_lawful(self) -> None:
        """Void records are told, and affirm nothing."""
        found = reading(self.affirmed, sighting(comment(1, self.affirmed.text, edited=2)))
        assert (found["affirmed"], found["earliest"]) == (False, None)
        assert found["summary"] == "not affirmed: no lawful record; 1 record void, as edited"


def completed(name: str) -> str:
    """A completion marker that its own family's rules would have."""
    if name == COMPLETIONS["orchestration"]:
        return record("orchestration", "a-choice")
    return f"<!-- {name}-{NUMBER} -->\n\ntext"


class TestCreditInput:
    """Honoured only beside its completion marker."""

    plan = marker("credit-input", port="plan")
    done = f"<!-- plan-issue-{NUMBER} -->"

    @pytest.mark.parametrize(("port", "completion"), COMPLETIONS.items())
    def test_each_port_has_its_completion_marker(self, port: str, completion: str) -> None:
        """The port's own completion marker honours it, and no other."""
        meant = marker("credit-input", port=port)
        mine = sighting(comment(1, credit(port)))
        for other in COMPLETIONS.values():
            there = sighting(comment(2, completed(other)))
            found = reading(meant, mine, there)
            assert found["honoured"] is (other == completion), other
        assert reading(meant, mine)["why"] == "no-completion-marker"

    def test_what_it_says(self) -> None:
        """Port, adapter and evidence of the latest one, and what it rests on."""
        found = reading(
            self.plan,
            sighting(comment(1, credit(body="adapter: old.md\nevidence: old"))),
            sighting(comment(2, credit())),
            sighting(comment(3, f"{self.done}\n\nplan")),
        )
        expected = {
            "honoured": True,
            "why": "paired",
            "port": "plan",
            "adapter": "x.md",
            "evidence": "seen",
            "comment_id": 2,
            "completion_comment_id": 3,
        }
        assert {key: found[key] for key in expected} == expected

    def test_a_stranger_completes_nothing(self) -> None:
        """A completion marker that is not trusted does not count."""
        planted = sighting(comment(2, f"{self.done}\n\nplan"), trusted=False)
        found = reading(self.plan, sighting(comment(1, credit())), planted)
        assert (found["honoured"], found["completion_comment_id"]) == (False, None)

    @pytest.mark.parametrize("body", ["adapter: x.md", "adapter: ''\nevidence: y", "a: [", "- a"])
    def test_a_malformed_one_is_not_honoured(self, body: str) -> None:
        """Whatever stands beside it; the flaw is named."""
        there = sighting(comment(2, f"{self.done}\n\nplan"))
        found = reading(self.plan, sighting(comment(1, credit(body=body))), there)
        assert (found["honoured"], found["why"]) == (False, "malformed")
        assert len(found["summary"]) > len("not honoured: the credit input is malformed: ")

    def test_a_completion_marker_that_its_rules_refuse_completes_nothing(self) -> None:
        """As the reader of its own family would skip it; an older good one still completes."""
        meant = marker("credit-input", port="orchestration")
        mine = sighting(comment(3, credit("orchestration")))
        garbage = f"<!-- engagement-record-orchestration-{NUMBER} -->\n\ngarbage: ["
        bad = sighting(comment(2, garbage))
        found = reading(meant, bad, mine)
        assert (found["honoured"], found["why"]) == (False, "no-completion-marker")
        assert found["completion_comment_id"] is None
        assert "; comment 2 carries it and completes nothing: " in found["summary"]
        good = sighting(comment(1, completed(COMPLETIONS["orchestration"])))
        found = reading(meant, good, bad, mine)
        assert (found["honoured"], found["completion_comment_id"]) == (True, 1)
        assert [each["comment_id"] for each in found["skipped"]] == [2]

    def test_on_the_wrong_thread_nothing_is_honoured(self) -> None:
        """Neither half counts there."""
        there = sighting(comment(1, f"{self.done}\n\nplan"))
        found = reading(self.plan, there, sighting(comment(2, credit()), astray="elsewhere"))
        assert (found["honoured"], found["why"]) == (False, "malformed")
        astray = sighting(comment(1, f"{self.done}\n\nplan"), astray="elsewhere")
        found = reading(self.plan, astray, sighting(comment(2, credit())))
        assert (found["honoured"], found["why"]) == (False, "no-completion-marker")
        assert [each["comment_id"] for each in found["skipped"]] == [1]

    def test_it_asks_for_another_look_only_while_half_is_there(self) -> None:
        """The completion marker alone says that the credit input may be on its way."""
        again = readers.needs(self.plan, CONTRACT).again
        assert again is not None
        there = sighting(comment(1, f"{self.done}\n\nplan"))
        mine = sighting(comment(2, credit()))
        asked = {
            "nothing": again(view(self.plan)),
            "completion": again(view(self.plan, there)),
            "credit": again(view(self.plan, mine)),
            "both": again(view(self.plan, there, mine)),
        }
        assert asked == {"nothing": False, "completion": True, "credit": False, "both": False}


STATUSES = ["unresolved", "adopted", "resolved"]
RUNS = st.lists(st.tuples(st.sampled_from(STATUSES), st.booleans()))


SLIPS = {
    "hash in capitals": (HASH, HASH.upper()),
    "short hash": (HASH, "0"),
    "no version": ("- **schema_version**: 1\n", ""),
    "another version": ("schema_version**: 1", "schema_version**: 2"),
    "odd time": ("2026-03-04T05:06:07Z", "yesterday"),
    "another issue": (f"- **issue**: {NUMBER}", f"- **issue**: {NUMBER + 1}"),
    "status in capitals": ("unresolved", "Unresolved"),
    "more than the status": ("unresolved", "unresolved (mine)"),
    "adopted by nobody": ("launched_at", "adopted_by_session_id**:\n- **launched_at"),
    "a field twice": ("- **issue**", "- **issue**: 1\n- **issue**"),
    "over and not over": ("- **status**", "- **status**: resolved\n- **status**"),
    "bullets too deep": ("- **launched_at**", "   - what\n- **launched_at**"),
}
"""What may be wrong with a live record, and how it comes to be so."""


class TestGoalRunInflight:
    """The lowest live record holds the lock."""

    inflight = marker("goal-run-inflight")

    @given(RUNS)
    def test_the_lowest_live_id_holds_it(self, runs: list[tuple[str, bool]]) -> None:
        """Of the trusted records that are unresolved or adopted; all are told, each once."""
        seen = [
            sighting(comment(number, run(status)), trusted=trusted)
            for number, (status, trusted) in enumerate(runs, 1)
        ]
        election = goal_run_inflight.elect(s.comment for s in reversed(seen) if s.trusted)
        live = [n for n, (s, t) in enumerate(runs, 1) if t and s != "resolved"]
        assert [r.comment.id for r in election.live] == live
        assert (election.holder.comment.id if election.holder else None) == min(live, default=None)
        counted = len(election.live) + len(election.resolved) + len(election.unreadable)
        assert counted == sum(t for _, t in runs)

    def test_what_is_told(self) -> None:
        """Who holds it since when, and for which contract."""
        found = reading(
            self.inflight,
            sighting(comment(1, run("resolved", resolved_reason="done"))),
            sighting(comment(2, run("adopted", adopted_by_session_id="s-2"))),
            sighting(comment(3, run("unresolved"))),
            sighting(comment(4, f"{self.inflight.text}\n\nunresolved, as you see")),
        )
        holder = found["holder"]
        assert (holder["comment_id"], holder["status"], holder["adopted_by_session_id"]) == (
            2,
            "adopted",
            "s-2",
        )
        assert (holder["contract_hash"], holder["author"]) == (HASH, "pat")
        assert [each["comment_id"] for each in found["live"]] == [2, 3]
        assert found["resolved"][0]["resolved_reason"] == "done"
        assert [each["comment_id"] for each in found["unreadable"]] == [4]
        assert found["summary"] == (
            "held by comment 2 (adopted); 1 live record behind it; 1 record passed over"
        )

    @pytest.mark.parametrize("slip", SLIPS)
    def test_a_slip_lets_nobody_else_in(self, slip: str) -> None:
        """The status alone decides: a lock fails closed."""
        body = run("unresolved").replace(*SLIPS[slip])
        found = reading(
            self.inflight, sighting(comment(1, body)), sighting(comment(2, run("adopted")))
        )
        assert (found["holder"]["comment_id"], found["holder"]["status"]) == (1, "unresolved")
        assert [each["comment_id"] for each in found["live"]] == [1, 2]
        assert sighting(comment(1, body)).refused is not None

    @pytest.mark.parametrize("status", ["", "over", "unresolved.", "- unresolved"])
    def test_without_a_status_nothing_is_held(self, status: str) -> None:
        """The record is named, whatever else it says."""
        found = reading(self.inflight, sighting(comment(1, run(status))))
        assert found["holder"] is None
        (unreadable,) = found["unreadable"]
        assert unreadable["comment_id"] == 1
        assert "has no line" in unreadable["why"]
        assert found["summary"] == "nobody holds the run lock; 1 record passed over"

    def test_a_record_on_the_wrong_thread_holds_nothing(self) -> None:
        """It is named as one that does not count."""
        found = reading(self.inflight, sighting(comment(1, run("unresolved")), astray="elsewhere"))
        assert found["holder"] is None
        assert [each["why"] for each in found["unreadable"]] == ["elsewhere"]

    def test_the_election_waits_for_no_judge(self) -> None:
        """Who holds the lock is known of records that there was no time to judge."""
        found = reading(self.inflight, sighting(comment(1, run("adopted")), judged=False))
        assert found["holder"]["comment_id"] == 1

    def test_nobody(self) -> None:
        """Without a live record nobody holds it."""
        found = reading(self.inflight, sighting(comment(1, run("resolved"))))
        assert (found["holder"], found["summary"]) == (None, "nobody holds the run lock")


def spine(pointer: int | None = None, stamp: str = at(1)) -> str:
    """A plan with one slice in its spine."""
    pointed = f"slice_comment_id: {pointer}\n" if pointer else ""
    return (
        f"<!-- plan-issue-{NUMBER} -->\n\n<!-- frame-spine\nspine_schema_version: 2\n"
        f"generated_at: {stamp}\n{pointed}ports:\n  code: [s1]\nslices:\n"
        "  s1:\n    ac_refs: []\n    depends_on: []\n    cycle: 1\n-->\n"
    )


def slices(*blocks: str, stamp: str = at(1)) -> str:
    """The comment that holds the slices."""
    head = f"<!-- frame-slices-{NUMBER} -->\n<!-- frame-slices-generated-at: {stamp} -->\n"
    return head + "".join(f"\n<!-- frame-slice\n{block}\n-->\n" for block in blocks)


class TestSpine:
    """Plan and slices, as one look sees them; the outcomes are told in test_cli_spine."""

    plan = marker("plan-issue")

    def look_up(self, *seen: Any, **param: str) -> dict[str, Any]:
        """Look up s1 unless told otherwise."""
        return reading(self.plan, *seen, **{"slice": "s1", **param})

    def test_both_markers_have_the_same_reading(self) -> None:
        """Whichever of the two is read, the plan's spine says what there is."""
        seen = (sighting(comment(1, slices("id: s1"))), sighting(comment(2, spine(1))))
        assert reading(self.plan, *seen) == reading(marker("frame-slices"), *seen)

    def test_the_first_that_holds_is_told(self) -> None:
        """A spine of another stamp is stale, whatever is wrong with its slices."""
        found = self.look_up(sighting(comment(2, spine(1))), generated_at=at(2))
        assert (found["outcome"], found["plan_comment_id"]) == ("stale-spine", 2)
        assert found["slices_comment_id"] is None
        assert self.look_up(sighting(comment(2, spine(1))))["outcome"] == "sibling-unstamped"

    def test_the_canonical_plan_counts(self) -> None:
        """The one that a write would replace, not a later twin."""
        twin = sighting(comment(3, spine()))
        found = self.look_up(
            sighting(comment(1, slices("id: s1"))), sighting(comment(2, spine(1))), twin
        )
        assert (found["outcome"], found["plan_comment_id"]) == ("found", 2)

    @pytest.mark.parametrize("key", ["id: s1", "step_id: s1", "rc: text\nstep_id : s1 "])
    def test_a_slice_is_found_by_either_key(self, key: str) -> None:
        """The contract says ``id``, real plans say ``step_id``."""
        seen = (sighting(comment(1, slices(key, "id: s10"))), sighting(comment(2, spine(1))))
        found = self.look_up(*seen)
        assert (found["outcome"], found["slice"]["text"]) == ("found", key)

    def test_a_slice_that_is_no_yaml_is_found(self) -> None:
        """Its text is there; its fields are not made up."""
        text = "id: s1\nrc: this: is no YAML"
        seen = (sighting(comment(1, slices(text))), sighting(comment(2, spine(1))))
        found = self.look_up(*seen)
        assert (found["slice"]["text"], found["slice"]["fields"]) == (text, None)
        assert found["slice"]["why"].startswith("line 6 of comment 1: ")

    def test_what_looks_like_an_id_is_none(self) -> None:
        """Not in a text of several lines, not in an unclosed block, not a longer id."""
        for block in ("rc: |\n  id: s1", "id: s11", "id: S1", "provides: [s1]"):
            seen = (sighting(comment(1, slices(block))), sighting(comment(2, spine(1))))
            assert self.look_up(*seen)["outcome"] == "missing-slice", block
        unclosed = sighting(comment(1, slices() + "<!-- frame-slice\nid: s1\n"))
        found = self.look_up(unclosed, sighting(comment(2, spine(1))))
        assert found["outcome"] == "missing-slice"

    def test_a_slice_that_the_spine_does_not_list_is_found_and_told(self) -> None:
        """Its block is there; that the plan does not speak of it stands beside the outcome."""
        seen = (sighting(comment(1, slices("id: s1", "id: s3"))), sighting(comment(2, spine(1))))
        found = self.look_up(*seen, slice="s3")
        assert (found["outcome"], found["slice"]["id"]) == ("found", "s3")
        assert found["detail"] == "the spine does not list s3, though comment 1 holds it"
        assert found["summary"].endswith(f"; {found['detail']}")
        assert self.look_up(*seen)["detail"] == ""

    def test_what_stands_on_the_wrong_thread_is_no_plan_and_no_slices(self) -> None:
        """The outcome is that of what is not there, and the detail says why."""
        held = comment(1, slices("id: s1"))
        found = self.look_up(sighting(held), sighting(comment(2, spine(1)), astray="elsewhere"))
        assert found["outcome"] == "missing-spine"
        assert found["detail"].endswith("; comment 2 does not: elsewhere")
        assert [each["comment_id"] for each in found["skipped"]] == [2]
        found = self.look_up(sighting(held, astray="elsewhere"), sighting(comment(2, spine(1))))
        assert found["outcome"] == "sibling-unstamped"
        assert found["detail"].endswith("comment 1: elsewhere")

    def test_a_spine_that_does_not_point_is_told(self) -> None:
        """Slices that were written, but whose spine was not spliced, are named."""
        seen = (sighting(comment(1, slices("id: s1"))), sighting(comment(2, spine())))
        found = self.look_up(*seen)
        assert found["outcome"] == "missing-slice"
        assert "does not point to comment 1" in found["detail"]

    def test_without_a_slice_all_must_be_there(self) -> None:
        """The list is as the spine has it; what is missing in it has no comment."""
        seen = (sighting(comment(1, slices("id: s2"))), sighting(comment(2, spine(1))))
        found = reading(self.plan, *seen)
        assert found["outcome"] == "missing-slice"
        assert [(s["id"], s["comment_id"], s["cycle"]) for s in found["slices"]] == [
            ("s1", None, 1)
        ]


HALVES = (comment(1, f"<!-- plan-issue-{NUMBER} -->\n\ntext"), comment(2, credit()))
UNJUDGED = {
    "its completion": (sighting(HALVES[0], judged=False), sighting(HALVES[1])),
    "the credit input": (sighting(HALVES[0]), sighting(HALVES[1], judged=False)),
}


class TestNotJudged:
    """What there was no time to judge is neither good nor bad."""

    meant = marker("credit-input", port="plan")

    @pytest.mark.parametrize("which", UNJUDGED)
    def test_a_reading_that_needs_it_is_not_given(self, which: str) -> None:
        """It says that it is none, in the key that nobody takes for an answer."""
        shown = view(self.meant, *UNJUDGED[which])
        found = readers.read(shown)
        assert found is not None
        assert set(found) == {"summary", "broken"}
        assert found["broken"] == "not-judged"
        assert "--deadline" in found["summary"]
        with pytest.raises(Unavailable, match="no time was left to judge comment"):
            readers.answer(shown)

    def test_a_record_is_not_counted_before_it_is_judged(self) -> None:
        """One that was not judged could be the newest, or malformed."""
        meant = marker("engagement-record", phase="plan")
        good, later = comment(1, record("plan", "a")), comment(2, record("plan", "b"))
        found = readers.read(view(meant, sighting(good), sighting(later, judged=False)))
        assert found is not None
        assert found["broken"] == "not-judged"

    def test_nobody_waits_for_strangers(self) -> None:
        """Theirs are never judged for a reading."""
        planted = sighting(comment(3, credit(body="adapter: [")), trusted=False)
        found = reading(self.meant, *map(sighting, HALVES), planted)
        assert found["honoured"] is True


@given(st.lists(st.sampled_from(sorted(READERS_OF)), max_size=3), st.data())
def test_any_bytes_are_read(families: list[str], data: st.DataObject) -> None:
    """Whatever stands in comments with their markers, no reader breaks."""
    for family in READERS_OF:
        seen = [
            sighting(comment(number, f"{READERS_OF[name].text}\n{data.draw(TEXTS)}"))
            for number, name in enumerate((family, *families), 1)
        ]
        reading(READERS_OF[family], *seen)

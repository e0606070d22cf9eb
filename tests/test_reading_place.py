"""Whose comments and which threads count: one tier of trust for a view, each marker on its own."""

from __future__ import annotations

from typing import Any

import pytest
from sightings import INTERIM, credit, record, run
from worlds import ISSUE, PLAN, PULL, World, near

from markers import reading
from markers.errors import Absent
from markers.forge import seed
from markers.model import ReadResult

__all__ = ["near"]

LEE = seed.LEE_TOKEN
AFFIRMED = f"<!-- open-for-work-affirmed-{ISSUE} -->"
DONE = f"{PLAN}\n\nplan"
STAMP = "2026-07-16T18:00:00Z"
SLICES = (
    f"<!-- frame-slices-{ISSUE} -->\n<!-- frame-slices-generated-at: {STAMP} -->\n\n"
    "<!-- frame-slice\nid: s1\n-->\n"
)


def spine(pointer: int) -> str:
    """A plan that points to its slices."""
    return (
        f"{PLAN}\n\n<!-- frame-spine\nspine_schema_version: 2\ngenerated_at: {STAMP}\n"
        f"slice_comment_id: {pointer}\nports:\n  code: [s1]\nslices:\n"
        "  s1:\n    ac_refs: []\n    depends_on: []\n    cycle: 1\n-->\n"
    )


def said(world: World, family: str, token: str = seed.PAT_TOKEN, **of: Any) -> dict[str, Any]:
    """The reading that *token* is given of a family, whether a comment governs or not."""
    setup = world.setup(token=token, journal=token)
    try:
        found: ReadResult = world.read(setup=setup, family=family, **of)
    except Absent as absent:
        found = absent.result
    assert found.reading is not None
    return dict(found.reading)


class TestOneTierAView:
    """Ourselves only where nobody of the first tier has any of the lines that are read together."""

    def test_our_own_interim_record_does_not_stand_in_for_a_void_one(self, near: World) -> None:
        """Whoever looks, an issue is affirmed or it is not."""
        near.say(INTERIM, author="lee")
        voided = near.say(AFFIRMED)
        near.clock.sleep(5)
        near.forge.edit(voided, f"{AFFIRMED}\n\nmore")
        for token in (seed.PAT_TOKEN, LEE):
            assert said(near, "open-for-work-affirmed", token)["affirmed"] is False

    def test_our_own_completion_marker_completes_nobody_elses_credit(self, near: World) -> None:
        """Neither does the other half of a pair."""
        near.say(credit())
        near.say(DONE, author="lee")
        found = said(near, "credit-input", LEE, params={"port": "plan"})
        assert (found["honoured"], found["why"]) == (False, "no-completion-marker")

    def test_our_own_credit_beside_the_teams_completion_is_none(self, near: World) -> None:
        """The comment is still found as our own; its reading does not honour it."""
        near.say(DONE)
        ours = near.say(credit(), author="lee")
        setup = near.setup(token=LEE)
        found = near.read(setup=setup, family="credit-input", params={"port": "plan"})
        assert (found.comment_id, found.trusted) == (ours, True)
        assert found.reading is not None
        assert (found.reading["honoured"], found.reading["why"]) == (False, "no-credit-input")

    def test_our_own_slices_belong_to_nobody_elses_plan(self, near: World) -> None:
        """The plan points to a comment that counts for nobody."""
        near.say(spine(near.say(SLICES, author="lee")))
        marker = near.marker()
        for token in (seed.PAT_TOKEN, LEE):
            found = reading.look_up(near.setup(token=token), near.thread(), marker, {})
            assert found["outcome"] == "sibling-unstamped", token

    def test_our_own_phase_does_not_stand_beside_the_teams(self, near: World) -> None:
        """It is named as not trusted, and its follow-ups are not gathered."""
        near.say(record("plan", "a-real-one"))
        near.say(record("design", "a-fake-one", "followup-fake"), author="lee")
        found = said(near, "engagement-record", LEE, params={"phase": "plan"})
        assert list(found["phases"]) == ["plan"]
        assert found["followups"] == []
        assert [each["why"] for each in found["skipped"]] == ["untrusted"]

    def test_where_nobody_else_speaks_we_do(self, near: World) -> None:
        """Someone who may only comment still finds what he has written himself."""
        near.say(credit(), author="lee")
        near.say(DONE, author="lee")
        assert said(near, "credit-input", LEE, params={"port": "plan"})["honoured"] is True
        assert said(near, "credit-input", params={"port": "plan"})["honoured"] is False


ELSEWHERE = [
    ("engagement-record", {"phase": "review"}, ISSUE),
    ("engagement-record", {"phase": "plan"}, PULL),
    ("plan-issue", {}, PULL),
    ("completion-account", {}, PULL),
    ("goal-run-inflight", {}, PULL),
    ("review-judge-produced", {}, ISSUE),
]


@pytest.mark.parametrize(("family", "params", "number"), ELSEWHERE)
def test_a_marker_on_the_wrong_kind_of_thread_is_not_valid(
    near: World, family: str, params: dict[str, str], number: int
) -> None:
    """``read``, ``--all`` and ``list`` say so by the rule of the writer, whatever it says."""
    marker = near.marker(family, number, **params)
    near.say(marker.text, number=number)
    thread = near.thread(number)
    for found in (
        near.read(family=family, number=number, params=params),
        *reading.read_all(near.setup(), thread, marker).results,
        *reading.list_markers(near.setup(), thread, None),
    ):
        assert found.valid is False
        first = found.problems[0]
        assert (first.code, first.line) == ("surface", 1)
        assert f"{marker.text} belongs on " in first.detail


def test_a_review_record_on_the_issue_is_not_counted(near: World) -> None:
    """The phases on the issue are read without it; on the pull request it counts."""
    near.say(record("plan", "a-choice"))
    near.say(record("review", "a-ruling", version=4))
    found = said(near, "engagement-record", params={"phase": "plan"})
    assert list(found["phases"]) == ["plan"]
    assert found["skipped"][0]["why"].startswith("surface: ")
    body = record("review", "a-ruling", version=4).replace(f"-{ISSUE} -->", f"-{PULL} -->")
    near.say(body, number=PULL)
    near.say(record("plan", "a-choice").replace(f"-{ISSUE} -->", f"-{PULL} -->"), number=PULL)
    found = said(near, "engagement-record", number=PULL, params={"phase": "review"})
    assert list(found["phases"]) == ["review"]


def test_a_pull_request_has_no_plan_and_no_lock(near: World) -> None:
    """What belongs on an issue says nothing there."""
    near.say(spine(1).replace(PLAN, f"<!-- plan-issue-{PULL} -->"), number=PULL)
    body = run("unresolved").replace(f"-{ISSUE} -->", f"-{PULL} -->")
    near.say(body, number=PULL)
    found = said(near, "plan-issue", number=PULL)
    assert found["outcome"] == "missing-spine"
    assert "is a pull request" in found["detail"]
    found = said(near, "goal-run-inflight", number=PULL)
    assert found["holder"] is None
    assert "is a pull request" in found["unreadable"][0]["why"]

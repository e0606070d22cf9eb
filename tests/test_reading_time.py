"""What is judged when time is short: those who may speak first, strangers hardly at all."""

from __future__ import annotations

from typing import Any

import pytest
from sightings import credit, record
from worlds import ISSUE, PLAN, World, near

from markers import clock, reading, validators
from markers.errors import MarkersError, Unavailable
from markers.model import Marker, ReadResult
from markers.reading import judging
from markers.setup import Timing

__all__ = ["near"]

BAD = credit(body="adapter: x.md\nevidence: [a, list]")
DONE = f"{PLAN}\n\nplan"
SECONDS = 10.0
"""What it takes to judge one comment here; a command has 120."""


@pytest.fixture(autouse=True)
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were judged, in their order, each taking its time."""
    texts: list[str] = []

    def slowly(*given: Any) -> Any:
        clock.sleep(SECONDS)
        texts.append(given[0])
        return validators.judge(*given)

    monkeypatch.setattr(judging, "judge", slowly)
    return texts


def planted(number: int) -> str:
    """A stranger's credit input."""
    return credit(body=f"adapter: planted\nevidence: of {number}")


def read(world: World, **timing: float) -> ReadResult:
    """Read the plan's credit input."""
    setup = world.setup(timing=Timing(**timing)) if timing else None
    return world.read(setup=setup, family="credit-input", params={"port": "plan"})


def fails(world: World, **timing: float) -> MarkersError:
    """The same where it cannot be read."""
    with pytest.raises(MarkersError) as caught:
        read(world, **timing)
    return caught.value


def test_plants_take_no_time_from_read(near: World, judged: list[str]) -> None:
    """However many a stranger posts first, what governs is judged, and of his nothing is."""
    for number in range(40):
        near.say(planted(number), author="lee")
    near.say(DONE)
    near.say(BAD)
    found = read(near)
    assert found.valid is False
    assert found.reading is not None
    assert (found.reading["honoured"], found.reading["why"]) == (False, "malformed")
    assert judged == [BAD, DONE]


def test_plants_alone_are_not_judged_by_read(near: World, judged: list[str]) -> None:
    """Where nothing governs, there is nothing to judge."""
    near.say(planted(1), author="lee")
    assert fails(near).reason.code == "absent"
    assert judged == []


WAYS = {
    "list": lambda world: reading.list_markers(world.setup(), world.thread(), None),
    "--all": lambda world: reading.read_all(world.setup(), world.thread(), mine(world)).results,
}


def mine(world: World) -> Marker:
    """The marker of the plan's credit input."""
    return world.marker("credit-input", port="plan")


@pytest.mark.parametrize("way", WAYS)
def test_plants_take_a_small_part_of_what_lists_them(
    near: World, judged: list[str], way: str
) -> None:
    """They come last, and what is not judged says that it is not, and why."""
    for number in range(40):
        near.say(planted(number), author="lee")
    near.say(DONE)
    near.say(BAD)
    results = WAYS[way](near)
    (own,) = (r for r in results if r.trusted and r.marker == mine(near).text)
    assert own.valid is False
    theirs = [result for result in results if not result.trusted]
    assert [result.valid for result in theirs] == [True, *[None] * 39]
    assert {problem.code for r in theirs[1:] for problem in r.problems} == {"not-judged"}
    assert "not trusted" in theirs[-1].problems[0].detail
    assert judged == [BAD, DONE, planted(0)]


def test_the_one_that_governs_is_judged_first(near: World) -> None:
    """Then the others who may speak, from what would govern next; what is left says so."""
    for _ in range(15):
        near.say(credit())
    listed = reading.list_markers(near.setup(), near.thread(), None)
    assert [result.valid for result in listed] == [None] * 3 + [True] * 12
    assert {p.code for result in listed[:3] for p in result.problems} == {"not-judged"}
    assert "--deadline" in listed[0].problems[0].detail


def test_each_markers_own_comes_before_the_second_of_any(near: World, judged: list[str]) -> None:
    """One marker with many comments does not hide another one that governs."""
    bodies = [record("design", f"choice-{number}") for number in range(15)]
    for body in bodies:
        near.say(body)
    near.say(BAD)
    reading.list_markers(near.setup(), near.thread(), None)
    assert set(judged[:2]) == {bodies[-1], BAD}


def test_no_reading_rests_on_what_was_not_judged(near: World) -> None:
    """``read`` ends as what can be tried again; what was seen is in its result."""
    near.say(DONE)
    near.say(BAD)
    error = fails(near, deadline=SECONDS)
    assert isinstance(error, Unavailable)
    assert (error.reason.code, error.result.body) == ("not-judged", BAD)
    near.say(credit())
    error = fails(near, deadline=SECONDS)
    assert (error.result.valid, error.result.comment_id) == (True, near.carrying(credit()[:20])[-1])
    assert set(error.result.reading) == {"summary", "broken"}
    assert "honoured" not in error.result.reading["summary"]


def test_list_says_that_there_is_no_reading(near: World) -> None:
    """The rest is listed, and the reading has no key that could be an answer."""
    near.say(DONE)
    near.say(credit())
    setup = near.setup(timing=Timing(deadline=SECONDS))
    for listed in (
        reading.list_markers(setup, near.thread(), near.setup().contract.family("credit-input")),
        reading.read_all(setup, near.thread(), mine(near)).results,
    ):
        (found,) = listed
        assert found.reading is not None
        assert (set(found.reading), found.reading["broken"]) == (
            {"summary", "broken"},
            "not-judged",
        )


def test_who_asks_a_question_gets_no_half_answer(near: World) -> None:
    """Looking up raises; a lock and a spine are answered, since their rules judge nothing."""
    near.say(DONE)
    near.say(credit())
    setup = near.setup(timing=Timing(deadline=SECONDS))
    with pytest.raises(Unavailable, match="no time was left to judge"):
        reading.look_up(setup, near.thread(), mine(near), {})
    near.say(f"<!-- goal-run-inflight-{ISSUE} -->\n\n- **status**: adopted")
    setup = near.setup(timing=Timing(deadline=SECONDS / 2))
    held = reading.look_up(setup, near.thread(), near.marker("goal-run-inflight"), {})
    assert held["holder"]["status"] == "adopted"
    setup = near.setup(timing=Timing(deadline=SECONDS / 2))
    plan = reading.look_up(setup, near.thread(), near.marker(), {})
    assert plan["outcome"] == "missing-spine"

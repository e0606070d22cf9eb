"""``valid``, ``problems`` and ``reading``: what a look at a thread tells beside the comments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sightings import COMPLETIONS, INTERIM, credit, record
from worlds import CONTRACT, ISSUE, PLAN, World, near

from markers import clock, reading
from markers.clock import Deadline, FakeClock
from markers.errors import Absent
from markers.model import ReadResult
from markers.reading import judging
from markers.setup import Timing

__all__ = ["near"]

CREDIT = f"<!-- credit-input-plan-{ISSUE} -->"
BAD_CREDIT = credit(body="adapter: x.md\nevidence: [a, list]")


def read(world: World, family: str, **params: str) -> ReadResult:
    """Read as the trusted account."""
    return world.read(family=family, params=params or None)


def absent(world: World, family: str, **params: str) -> ReadResult:
    """Read what is not there; the answer is the error's result."""
    with pytest.raises(Absent) as caught:
        read(world, family, **params)
    assert isinstance(caught.value.result, ReadResult)
    return caught.value.result


def every_credit(world: World) -> tuple[ReadResult, ...]:
    """``read --all`` of the plan's credit inputs."""
    marker = world.marker("credit-input", port="plan")
    return reading.read_all(world.setup(), world.thread(), marker).results


class TestValid:
    """The writer's validators, in warn mode."""

    def test_read_tells_what_the_writer_would_refuse(self, near: World) -> None:
        """The comment is shown all the same, with field and line of each problem."""
        near.say(BAD_CREDIT)
        found = read(near, "credit-input", port="plan")
        assert found.body == BAD_CREDIT
        assert found.valid is False
        (problem,) = found.problems
        assert (problem.code, problem.line) == ("type", 6)
        assert problem.detail.startswith("evidence: ")

    def test_a_good_one_and_a_family_of_prose_are_valid(self, near: World) -> None:
        """Where there is nothing to find, nothing is wrong."""
        near.say(credit())
        near.say(f"<!-- experience-owner-complete-{ISSUE} -->\n\nprose")
        listed = reading.list_markers(near.setup(), near.thread(), None)
        assert [(r.valid, r.problems) for r in listed] == [(True, ()), (True, ())]

    def test_a_warning_refuses_nothing(self, near: World) -> None:
        """It is told, and the comment stays valid."""
        near.say(f"<!-- completion-account-{ISSUE} -->\n\nnothing asserted")
        found = read(near, "completion-account")
        assert found.valid is True
        assert found.problems

    def test_every_match_is_judged(self, near: World) -> None:
        """Those that do not govern and those that are not trusted, too; in ``list``, too."""
        near.say(BAD_CREDIT)
        near.say(BAD_CREDIT, author="lee")
        near.say(credit())
        every = every_credit(near)
        listed = reading.list_markers(near.setup(), near.thread(), CONTRACT.family("credit-input"))
        for results in (every, listed):
            assert [(r.trusted, r.valid) for r in results] == [
                (True, False),
                (False, False),
                (True, True),
            ]

    def test_what_cannot_be_judged_is_still_shown(
        self, near: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A judge that fails is a problem of its own, and no end of reading."""

        def broken(*_given: Any) -> Any:
            raise RecursionError

        monkeypatch.setattr(judging, "judge", broken)
        near.say(credit())
        found = read(near, "credit-input", port="plan")
        assert (found.valid, found.problems[0].code) == (False, "validator-broken")
        assert "RecursionError" in found.problems[0].detail


class Meanwhile(FakeClock):
    """Time in which something happens while somebody sleeps."""

    def __init__(self, then: Callable[[int], object]) -> None:
        super().__init__()
        self._then = then

    def sleep(self, seconds: float) -> None:
        """Sleep, and let it happen."""
        super().sleep(seconds)
        self._then(len(self.slept))


class TestRetry:
    """A credit input that may be on its way."""

    def test_it_is_looked_for_three_times(self, near: World) -> None:
        """While only the completion marker is there: after 1, 2 and 4 s; then it is absent."""
        near.say(f"{PLAN}\n\nplan")
        near.forge.forget()
        waits: list[float] = []
        setup = near.setup(on_wait=lambda seconds, _why: waits.append(seconds))
        with pytest.raises(Absent) as caught:
            near.read(setup=setup, family="credit-input", params={"port": "plan"})
        assert near.clock.slept == waits == [1.0, 2.0, 4.0]
        assert [entry.method for entry in near.forge.log] == ["GET"] * 4
        told = caught.value.result.reading
        assert (told["honoured"], told["why"]) == (False, "no-credit-input")
        assert told["completion_comment_id"] is not None

    def test_it_is_found_as_soon_as_it_is_there(self, near: World) -> None:
        """No further look is made."""
        near.say(f"{PLAN}\n\nplan")
        with clock.use(Meanwhile(lambda n: n == 2 and near.say(credit()))) as fake:
            found = read(near, "credit-input", port="plan")
        assert fake.slept == [1.0, 2.0]
        assert found.reading is not None
        assert found.reading["honoured"] is True

    def test_the_deadline_bounds_it(self, near: World) -> None:
        """A wait that does not fit into what is left is not begun."""
        near.say(f"{PLAN}\n\nplan")
        setup = near.setup(timing=Timing(deadline=2.5))
        with pytest.raises(Absent):
            near.read(setup=setup, family="credit-input", params={"port": "plan"})
        assert near.clock.slept == [1.0]
        near.clock.slept.clear()
        short = near.setup(until=Deadline(0.5))
        with pytest.raises(Absent):
            near.read(setup=short, family="credit-input", params={"port": "plan"})
        assert near.clock.slept == []

    def test_nothing_else_is_waited_for(self, near: World) -> None:
        """Neither where nothing is there, nor by ``--all`` and ``list``, nor by other families."""
        absent(near, "credit-input", port="plan")
        near.say(f"{PLAN}\n\nplan")
        assert every_credit(near) == ()
        reading.list_markers(near.setup(), near.thread(), None)
        absent(near, "completion-account")
        assert near.clock.slept == []


class TestReading:
    """Which comments a reading rests on, and where it is told."""

    def test_one_look_serves_all_that_a_reader_needs(self, near: World) -> None:
        """The other phases and the other marker of a pair cost no further request."""
        near.say(record("design", "a-choice"))
        near.say(record("plan", "another"))
        near.forge.forget()
        found = read(near, "engagement-record", phase="plan")
        assert found.reading is not None
        assert set(found.reading["phases"]) == {"design", "plan"}
        assert [entry.method for entry in near.forge.log] == ["GET"]

    def test_what_is_absent_has_its_reading(self, near: World) -> None:
        """Interim records are no markers, and still the answer to whether it was affirmed."""
        interim = near.say(f"{INTERIM}\n\n> as it said")
        with pytest.raises(Absent) as caught:
            read(near, "open-for-work-affirmed")
        told = caught.value.result.reading
        assert (told["affirmed"], told["earliest"]["comment_id"]) == (True, interim)
        assert f"by comment {interim}" in caught.value.reason.detail
        assert caught.value.result.comment_id is None

    def test_list_knows_the_interim_records(self, near: World) -> None:
        """Beside a marker of the family they count, and are no entries of their own."""
        interim = near.say(INTERIM)
        near.say(f"<!-- open-for-work-affirmed-{ISSUE} -->\n\ntext")
        for family in (None, CONTRACT.family("open-for-work-affirmed")):
            (found,) = reading.list_markers(near.setup(), near.thread(), family)
            assert found.reading is not None
            assert found.reading["earliest"]["comment_id"] == interim

    def test_the_governing_match_carries_it(self, near: World) -> None:
        """In ``list`` and ``--all`` one comment of a marker has the reading that ``read`` gives."""
        near.say(credit(body="adapter: old.md\nevidence: old"))
        near.say(credit())
        near.say(f"{PLAN}\n\nplan")
        alone = read(near, "credit-input", port="plan").reading
        every = every_credit(near)
        listed = reading.list_markers(near.setup(), near.thread(), CONTRACT.family("credit-input"))
        assert alone is not None
        assert [r.reading for r in every] == [r.reading for r in listed] == [None, alone]

    def test_a_marker_of_another_number_has_none(self, near: World) -> None:
        """What belongs on another thread is listed with what is wrong, and no rule reads it."""
        near.say(f"<!-- design-phase-complete-{ISSUE + 1} -->\n\ntext")
        near.say(f"<!-- plan-issue-{ISSUE + 1} -->\n\ntext")
        for found in reading.list_markers(near.setup(), near.thread(), None):
            assert (found.reading, found.valid) == (None, False)
            assert [problem.code for problem in found.problems] == ["number-mismatch"]

    def test_readings_are_for_trusted_comments(self, near: World) -> None:
        """A stranger's completion marker honours nothing, and nobody asks who we are for it."""
        near.say(credit())
        near.say(f"<!-- {COMPLETIONS['plan']}-{ISSUE} -->\n\nplanted", author="lee")
        near.forge.forget()
        found = read(near, "credit-input", port="plan")
        assert found.reading is not None
        assert found.reading["why"] == "no-completion-marker"
        assert [entry.method for entry in near.forge.log] == ["GET"]

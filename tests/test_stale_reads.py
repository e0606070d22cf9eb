"""Replicas that lag by up to five seconds after a write: no twin, whoever writes what meanwhile.

The forge's replicas lag in order: what is seen later was written later.  Reads of one comment lag
as well where a test says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest
from worlds import ISSUE, World, memory_folder

from bench.payloads import payload
from markers.errors import MarkersError
from markers.forge import faults
from markers.forge.faults import Effect
from markers.model import Action, WriteResult
from markers.setup import Setup

LAGS = (0.5, 2.0, 5.0)
UPSERT, RECORD, STAGE = "completion-account", "design-phase-complete", "goal-run-stage"
POSTED = rf"/issues/{ISSUE}/comments$"
ONE = r"/issues/comments/\d+$"
Work = Callable[[World, Setup], WriteResult]
LOST: dict[str, Effect] = {
    "reset": faults.reset(landed=True),
    "502": faults.status(502, landed=True),
    "half": faults.half_json(),
}


@pytest.fixture(params=itertools.product(LAGS, ["listings", "all reads"]), ids=str)
def stale(request: pytest.FixtureRequest) -> Iterator[World]:
    """A world whose listings, and perhaps reads of one comment, are old."""
    with ExitStack() as stack:
        world = World("in-process", stack.enter_context(memory_folder()), stack)
        world.say("How is it going?", author="lee")
        world.clock.sleep(100)
        seconds, reads = request.param
        world.forge.lag.seconds, world.forge.lag.single = seconds, reads == "all reads"
        yield world


def texts(world: World, family: str) -> list[str]:
    """What carries the family's marker, whatever any replica shows."""
    marker = f"<!-- {family}-{ISSUE} -->"
    return [body.split("\n\n", 1)[1] for body in world.bodies() if body.startswith(marker)]


def old(world: World, family: str) -> None:
    """A comment of ours that all replicas show."""
    lag, world.forge.lag.seconds = world.forge.lag.seconds, 0.0
    world.write(payload(family, ISSUE, "Old.\n"), family=family)
    world.clock.sleep(100)
    world.forge.lag.seconds = lag


class TestOneWriter:
    """One after the other, as fast as can be."""

    @pytest.mark.parametrize("verify", ["response", "fetch"])
    @pytest.mark.parametrize("family", [UPSERT, RECORD])
    def test_create_and_run_again(self, stale: World, family: str, verify: str) -> None:
        """The same write again finds the first one."""
        first = stale.write("Text.\n", family=family, verify=verify)
        again = stale.write("Text.\n", family=family, verify=verify)
        assert again.action is Action.UNCHANGED
        assert again.comment_id == first.comment_id
        assert texts(stale, family) == ["Text.\n"]

    @pytest.mark.parametrize("verify", ["response", "fetch"])
    def test_updates_in_a_row(self, stale: World, verify: str) -> None:
        """Each goes to the one comment."""
        old(stale, UPSERT)
        for text in ("One.\n", "Two.\n", "Three.\n"):
            result = stale.write(text, family=UPSERT, verify=verify)
            assert result.action is Action.UPDATED
            assert texts(stale, UPSERT) == [text]

    def test_records_in_a_row(self, stale: World) -> None:
        """Each is there once, in order."""
        for text in ("One.\n", "Two.\n", "Two.\n", "Three.\n"):
            stale.write(text, family=RECORD)
        assert texts(stale, RECORD) == ["One.\n", "Two.\n", "Three.\n"]

    @pytest.mark.parametrize("lost", LOST)
    @pytest.mark.parametrize("family", [UPSERT, RECORD])
    def test_a_lost_answer_to_a_create(self, stale: World, family: str, lost: str) -> None:
        """What no replica shows yet is waited for, not posted again."""
        stale.forge.faults.add("POST", POSTED, LOST[lost])
        stale.write("Text.\n", family=family)
        assert texts(stale, family) == ["Text.\n"]
        assert stale.sent == ["POST"]

    @pytest.mark.parametrize("lost", LOST)
    def test_a_lost_answer_to_an_update(self, stale: World, lost: str) -> None:
        """It may be sent twice, and changes one comment."""
        old(stale, UPSERT)
        stale.forge.faults.add("PATCH", ONE, LOST[lost])
        assert stale.write("New.\n", family=UPSERT).action is Action.UPDATED
        assert texts(stale, UPSERT) == ["New.\n"]

    def test_taken_back_and_written_again(self, stale: World) -> None:
        """What replicas still show is gone all the same: the next write creates."""
        old(stale, STAGE)
        assert stale.delete(family=STAGE).action is Action.DELETED
        text = payload(STAGE, ISSUE, "New.\n")
        assert stale.write(text, family=STAGE).action is Action.CREATED
        assert texts(stale, STAGE) == [text]

    def test_taken_back_twice(self, stale: World) -> None:
        """The second time there is nothing to do, and it is not said to be anything else."""
        old(stale, STAGE)
        stale.delete(family=STAGE)
        stale.delete(family=STAGE)
        assert texts(stale, STAGE) == []


def both(near: World, nth: int, first: Work, second: Work) -> tuple[bool, list[WriteResult]]:
    """Run *first*, and *second* from another machine after its *nth* request; what was reported."""
    results: list[WriteResult] = []

    def other(_call: object) -> None:
        results.append(ended(partial(second, near, near.setup(journal="another"))))

    fault = near.forge.faults.add("*", "", faults.run(other, landed=True), after=nth - 1)
    results.append(ended(partial(first, near, near.setup(journal="one"))))
    return fault.hits > 0, results


def ended(call: Callable[[], WriteResult]) -> WriteResult:
    """The result, of an error as well."""
    try:
        return call()
    except MarkersError as error:
        result: WriteResult = error.result
        return result


def writes(text: str, family: str) -> Work:
    """Write this text."""
    full = payload(family, ISSUE, text)
    return lambda world, setup: world.write(full, setup=setup, family=family)


def takes_back(world: World, setup: Setup) -> WriteResult:
    """Delete the comment."""
    return world.delete(setup=setup, family=STAGE)


PAIRS: dict[str, tuple[str, bool, Work, Work]] = {
    f"{family}, {'update' if there else 'create'}, {what}": (
        family,
        there,
        writes("One.\n", family),
        writes(other, family),
    )
    for family in (UPSERT, RECORD)
    for there in (False, True)
    for what, other in (("the same", "One.\n"), ("another", "Two.\n"))
}
PAIRS |= {
    "update, delete": (STAGE, True, writes("One.\n", STAGE), takes_back),
    "delete, update": (STAGE, True, takes_back, writes("One.\n", STAGE)),
    "delete, delete": (STAGE, True, takes_back, takes_back),
    "create, delete": (STAGE, False, writes("One.\n", STAGE), takes_back),
}
MOST_REQUESTS = 40


@pytest.mark.parametrize("single", [False, True], ids=["listings", "all reads"])
@pytest.mark.parametrize("pair", PAIRS)
def test_two_writers(pair: str, single: bool) -> None:
    """Another machine writes between any two requests of ours: no twin."""
    family, there, first, second = PAIRS[pair]
    for nth in range(1, MOST_REQUESTS):
        with ExitStack() as stack:
            world = World("in-process", stack.enter_context(memory_folder()), stack)
            world.say("How is it going?", author="lee")
            if there:
                old(world, family)
            world.clock.sleep(100)
            world.forge.lag.seconds, world.forge.lag.single = 5.0, single
            came, results = both(world, nth, first, second)
            if not came:
                assert nth >= 3
                return
            check(world, family, results)
    pytest.fail("there are more requests than this test walks")


def check(world: World, family: str, results: list[WriteResult]) -> None:
    """No twin, and nothing that was reported is not so."""
    assert {result.action for result in results} <= ENDS
    there = texts(world, family)
    if family == RECORD:
        wanted = {"Old.\n"} & set(there) | {result.sha256 for result in results}
        assert len(there) == len(set(there)) == len(wanted)
    elif Action.DELETED in {result.action for result in results}:
        assert len(there) <= 1
    else:
        (only,) = world.carrying(f"<!-- {family}-{ISSUE} -->")
        written = [result for result in results if result.action is not Action.ABSENT]
        assert {result.comment_id for result in written} == {only}


ENDS = frozenset(
    {
        Action.CREATED,
        Action.UPDATED,
        Action.POSTED,
        Action.UNCHANGED,
        Action.DELETED,
        Action.ABSENT,
    }
)

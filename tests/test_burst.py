"""Ordered bursts: all checked first, written in order, stopped at a failure, converging."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from worlds import CONTRACT, ISSUE, PLAN, PULL, REPO, World, near, world

from bench.payloads import payload
from markers.burst import BurstResult, Status, burst, orders_of, read_manifest
from markers.errors import MarkersError, Refused
from markers.forge import faults, seed
from markers.model import Action
from markers.setup import Setup

__all__ = ["near", "world"]

LIST = rf"/issues/{ISSUE}/comments"
POSTED = rf"/issues/{ISSUE}/comments$"
ONE = r"/issues/comments/\d+"
RECORD = "<!-- design-phase-complete-12 -->"
A = {"family": "completion-account", "number": ISSUE, "bodyFile": "a"}
B = {"family": "design-phase-complete", "number": ISSUE, "bodyFile": "b"}
C = {"family": "goal-run-stage", "number": ISSUE, "bodyFile": "c"}
FILES = {"a": "completion-account", "c": "goal-run-stage", "p": "proposed-followups"}
"""Whose payload a file holds; any other one holds prose."""


def read(path: str) -> str:
    """A payload for each file name; `secret` is one that nobody may publish."""
    if path == "missing":
        raise Refused("path-missing", "missing does not exist")
    if path == "secret":
        return "ghp_" + "A1b2" * 9
    return payload(FILES.get(path, ""), ISSUE, f"Text {path}.\n")


def run(
    world: World, writes: Sequence[dict[str, Any]], setup: Setup | None = None, **how: Any
) -> BurstResult:
    """Run a manifest as the command would."""
    manifest = read_manifest(json.dumps(writes).encode())
    orders = orders_of(manifest, CONTRACT, world.repo, read)
    return burst(setup or world.setup(), orders, **how)


def stopped(
    world: World, writes: Sequence[dict[str, Any]], setup: Setup | None = None, **how: Any
) -> tuple[MarkersError, BurstResult]:
    """Run a manifest that does not end well."""
    with pytest.raises(MarkersError) as caught:
        run(world, writes, setup, **how)
    return caught.value, caught.value.result


def statuses(result: BurstResult) -> list[str]:
    """The statuses, in order."""
    return [entry.status.value for entry in result.results]


def lists(world: World) -> int:
    """How many list requests the server saw."""
    return sum(e.method == "GET" and e.path.endswith("/comments") for e in world.forge.log)


def test_entries_land_in_order(world: World) -> None:
    """Each has its result and status; ids ascend in the order of the manifest."""
    result = run(world, [A, B, C])
    assert statuses(result) == ["landed"] * 3
    assert [entry.action for entry in result.results] == [
        Action.CREATED,
        Action.POSTED,
        Action.CREATED,
    ]
    ids = [entry.comment_id for entry in result.results]
    assert ids == sorted(ids)
    assert world.sent == ["POST"] * 3
    assert all(entry.audit for entry in result.results)


def test_running_it_again_writes_nothing(world: World) -> None:
    """The same manifest converges: everything `unchanged`."""
    first = run(world, [A, B, C])
    world.forge.forget()
    again = run(world, [A, B, C])
    assert statuses(again) == ["unchanged"] * 3
    assert [e.comment_id for e in again.results] == [e.comment_id for e in first.results]
    assert world.sent == []


def test_one_look_serves_all_entries_of_a_thread(world: World) -> None:
    """One full look, the writes, and one settling look, however many entries there are."""
    world.forge.fill(REPO, ISSUE, 150)
    world.setup().open_journal()
    result = run(world, [A, B, C])
    assert statuses(result) == ["landed"] * 3
    assert lists(world) == 4 + 4


def test_a_thread_each(world: World) -> None:
    """Entries of several threads are looked at apart and written in the manifest's order."""
    other = {"family": "proposed-followups", "number": PULL, "bodyFile": "p"}
    result = run(world, [A, other, B])
    assert statuses(result) == ["landed"] * 3
    assert [entry.surface for entry in result.results] == ["issue", "pull-request", "issue"]
    assert len(world.bodies(PULL)) == 1


def test_everything_is_checked_before_the_first_write(near: World) -> None:
    """All problems are told together, with entry and key, and no request is made."""
    bad = [
        A,
        {**B, "family": "nobody"},
        {**C, "bodyFile": "missing"},
        {"family": "engagement-record", "number": ISSUE, "bodyFile": "e"},
    ]
    with pytest.raises(MarkersError) as caught:
        run(near, bad)
    found = [(p.entry, p.key, p.code) for p in caught.value.problems]
    assert found == [
        (2, "family", "family-unknown"),
        (3, "bodyFile", "path-missing"),
        (4, "params", "param-missing"),
    ]
    assert not near.forge.log


def test_payloads_are_checked_before_the_first_write(near: World) -> None:
    """A secret in the last entry stops the first; two entries with one marker are refused."""
    error, result = stopped(near, [A, {**C, "bodyFile": "secret"}, {**A, "bodyFile": "x"}])
    assert [(p.entry, p.code) for p in error.problems] == [(2, "secret"), (3, "marker-twice")]
    assert statuses(result) == ["not-attempted", "failed", "failed"]
    assert not near.forge.log


def test_the_surface_is_checked_before_the_first_write(world: World) -> None:
    """An entry for the wrong kind of thread stops the burst after the looks."""
    wrong = {"family": "plan-issue", "number": PULL, "bodyFile": "w"}
    error, result = stopped(world, [A, wrong])
    assert [(p.entry, p.code) for p in error.problems] == [(2, "surface")]
    assert error.action is Action.REFUSED
    assert statuses(result) == ["not-attempted", "failed"]
    assert world.sent == []


def test_a_conflict_is_seen_before_the_first_write(world: World) -> None:
    """An expectation that does not hold stops the burst though it is the last entry's."""
    error, result = stopped(world, [A, B, {**C, "expect": "0" * 64}])
    assert error.action is Action.CONFLICT
    assert statuses(result) == ["not-attempted", "not-attempted", "failed"]
    assert world.sent == []


def test_it_stops_at_the_first_failure(world: World) -> None:
    """What landed before is landed and settled, what comes after is not attempted."""
    world.forge.faults.add("POST", POSTED, faults.status(403, "Forbidden"), after=1)
    error, result = stopped(world, [A, B, C])
    assert error.action is Action.DENIED
    assert statuses(result) == ["landed", "failed", "not-attempted"]
    assert world.setup().open_journal().open_intents() == []
    again = run(world, [A, B, C])
    assert statuses(again) == ["unchanged", "landed", "landed"]
    assert len(world.bodies()) == 3


def test_case_12_an_unknown_entry(world: World) -> None:
    """B gets 500 for ever: A landed, B unknown, C not attempted; again converges, no twins."""
    broken = world.forge.faults.add("POST", POSTED, faults.status(500), times=None, after=1)
    error, result = stopped(world, [A, B, C])
    assert error.action is Action.UNKNOWN
    assert statuses(result) == ["landed", "unknown", "not-attempted"]
    broken.off()
    again = run(world, [A, B, C])
    assert statuses(again) == ["unchanged", "landed", "landed"]
    assert len(world.bodies()) == 3


def test_an_unknown_entry_that_landed_is_found(world: World) -> None:
    """B lands, its answer is lost and nothing can be listed; again finds it."""
    broken = world.forge.faults.add(
        "POST", POSTED, faults.status(500, landed=True), times=None, after=1
    )
    silent = world.forge.faults.add("GET", LIST, faults.status(502), times=None, after=1)
    _error, result = stopped(world, [A, B, C])
    assert statuses(result) == ["landed-incomplete", "unknown", "not-attempted"]
    broken.off()
    silent.off()
    again = run(world, [A, B, C])
    assert statuses(again) == ["unchanged", "landed", "landed"]
    assert world.sent == ["POST"] * 3


def test_a_record_that_is_no_longer_the_latest_is_not_posted_twice(world: World) -> None:
    """The journal knows a landed entry by manifest and index."""
    first = run(world, [A, B])
    world.say(f"{RECORD}\n\nSomebody's later record.\n", author="mia")
    again = run(world, [A, B])
    assert statuses(again) == ["unchanged", "unchanged"]
    assert again.results[1].comment_id == first.results[1].comment_id
    assert len(world.carrying(RECORD)) == 2
    other = run(world, [A, B, C])
    assert other.results[1].status is Status.LANDED


def test_a_landed_record_that_somebody_deleted_is_posted_again(near: World) -> None:
    """What the journal knows is believed only where the comment still says it."""
    first = run(near, [B])
    near.forge.delete(first.results[0].comment_id)
    assert statuses(run(near, [B])) == ["landed"]


def test_a_dry_run_plans_every_entry(world: World) -> None:
    """Planned actions, nothing written or journaled."""
    world.say(f"{PLAN}\n\nOld.\n")
    plan = {"family": "plan-issue", "number": ISSUE, "bodyFile": "plan"}
    result = run(world, [plan, B], dry_run=True)
    assert [entry.reason.code for entry in result.results] == ["update", "post"]
    assert statuses(result) == ["not-attempted"] * 2
    assert world.sent == []
    assert list(world.setup().open_journal().entries()) == []


def test_a_twin_that_came_first_takes_our_text(world: World) -> None:
    """The settling look finds an earlier canonical: the entry is brought there."""
    body = "<!-- completion-account-12 -->\n\nRival.\n"
    rival: list[int] = []
    world.forge.on_request("POST", POSTED, lambda _c: rival.append(world.say(body)))
    result = run(world, [A, B])
    assert statuses(result) == ["landed", "landed"]
    assert result.results[0].comment_id == rival[0]
    assert world.carrying("<!-- completion-account-12 -->") == rival
    assert "Text a." in world.forge.find(rival[0]).body


def test_a_limit_in_the_middle_is_waited_out(world: World) -> None:
    """The burst goes on where it stood, without a second create."""
    world.forge.faults.add("POST", POSTED, faults.secondary(), after=1)
    result = run(world, [A, B, C])
    assert statuses(result) == ["landed"] * 3
    assert len(world.bodies()) == 3
    assert max(world.clock.slept) >= 60


def test_pacing_waits_come_on_top_of_the_deadline(near: World) -> None:
    """Three creates at two a minute, with a deadline of 20 s."""
    timing = replace(near.setup().timing, paced=True, minute=2, gap=1.0, deadline=20.0)
    result = run(near, [A, B, C], near.setup(timing=timing))
    assert statuses(result) == ["landed"] * 3
    assert sum(near.clock.slept) > 55


def test_progress_is_told_entry_by_entry(near: World) -> None:
    """Whoever watches hears of each entry that is done."""
    heard: list[int] = []
    run(near, [A, B, C], on_entry=heard.append)
    assert heard == [1, 2, 3]


def test_an_update_of_a_young_comment_is_settled_with_the_rest(world: World) -> None:
    """Updates and creates of one burst share the settling look."""
    world.say("<!-- completion-account-12 -->\n\nOld.\n")
    result = run(world, [A, B])
    assert [entry.action for entry in result.results] == [Action.UPDATED, Action.POSTED]
    assert lists(world) == 2


def test_another_account_asks_who_it_is_once(world: World) -> None:
    """An installation that can only be asked through GraphQL is asked for the first entry."""
    setup = world.setup(seed.BOT_TOKEN, journal="bot")
    run(world, [A, B, C], setup)
    asked = [entry for entry in world.forge.log if entry.path.endswith(("/user", "/graphql"))]
    assert len(asked) == 2


def test_a_nearly_full_thread_is_said_to_every_entry(near: World) -> None:
    """The shared look warns from 2,400 comments on, as a write's own look does."""
    near.forge.fill(REPO, ISSUE, 2_400)
    result = run(near, [A, B])
    assert statuses(result) == ["landed"] * 2
    for entry in result.results:
        assert any(warning.startswith("thread-nearly-full") for warning in entry.warnings)


def test_what_landed_before_time_ran_out_is_told(near: World) -> None:
    """A limit that lasts past the deadline: the first entry landed and is settled, not denied."""
    near.forge.faults.add("POST", POSTED, faults.secondary(9_999), times=None, after=1)
    error, result = stopped(near, [A, B])
    assert error.action is Action.UNAVAILABLE
    assert statuses(result) == ["landed", "failed"] or statuses(result) == [
        "landed",
        "not-attempted",
    ]
    assert near.setup().open_journal().open_intents() == []

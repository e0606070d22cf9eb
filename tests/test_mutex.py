"""The run lock of an issue, end to end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from worlds import ISSUE, World, near, world

from markers import clock, mutex
from markers.errors import Absent, Conflict, MarkersError, Refused
from markers.forge import seed
from markers.model import Action, WriteResult

__all__ = ["near", "world"]

FAMILY = {"family": "goal-run-inflight"}
MARKER = f"<!-- goal-run-inflight-{ISSUE} -->"
HASH = "ab" * 32
POSTED = rf"/issues/{ISSUE}/comments$"
MIA = seed.MIA_TOKEN


def acquire(world: World, run_id: str = "run-1", **setup: Any) -> WriteResult:
    """Take the lock."""
    return mutex.acquire(world.setup(**setup), world.thread(), contract_hash=HASH, run_id=run_id)


def loses(world: World, run_id: str = "run-2", **setup: Any) -> MarkersError:
    """Try to take the lock in vain."""
    with pytest.raises(MarkersError) as caught:
        acquire(world, run_id, **setup)
    return caught.value


def record(status: str = "unresolved", when: str = "2026-01-01T00:00:00Z") -> str:
    """A record as another program writes it."""
    fields = {
        "schema_version": 1,
        "issue": ISSUE,
        "status": status,
        "contract_hash": HASH,
        "launched_at": when,
    }
    bullets = "\n".join(f"- **{key}**: {value}" for key, value in fields.items())
    return f"{MARKER}\n\n{bullets}\n"


def holder(world: World) -> Any:
    """Who holds the lock, as ``read`` tells."""
    try:
        reading = world.read(**FAMILY).reading
    except Absent as error:
        reading = error.result.reading
    assert reading is not None
    return reading["holder"]


def test_the_first_one_takes_it(world: World) -> None:
    """A record is posted and is the holder."""
    result = acquire(world)
    assert result.action is Action.POSTED
    assert holder(world)["comment_id"] == result.comment_id


def test_a_held_lock_is_not_posted_against(world: World) -> None:
    """Nothing is written, and the message names the holder."""
    first = acquire(world)
    sent = len(world.sent)
    error = loses(world, token=MIA, journal="other")
    assert isinstance(error, Conflict)
    assert error.reason.code == "held"
    assert str(first.comment_id) in error.reason.detail
    assert len(world.sent) == sent


def test_whoever_came_later_resolves_his_own(near: World) -> None:
    """Another record landed between our look and our POST: ours is resolved, theirs stays."""
    near.forge.on_request("POST", POSTED, lambda _c: near.say(record(), author="mia"))
    error = loses(near)
    assert error.reason.code == "lost"
    assert holder(near)["author"] == "mia"
    bodies = near.bodies()
    assert "**status**: unresolved" in bodies[0]
    assert "**status**: resolved" in bodies[1]
    assert "lost to comment" in bodies[1]


def test_a_strangers_record_holds_nothing(near: World) -> None:
    """Who has no standing cannot block a run."""
    near.say(record(), author="lee")
    assert acquire(near).action is Action.POSTED


def test_two_equal_calls_are_two_records(near: World) -> None:
    """After it was let go, the same call posts anew: an equal record is never taken for it."""
    first = acquire(near)
    mutex.resolve(near.setup(), near.thread(), reason="done")
    second = acquire(near)
    assert second.action is Action.POSTED
    assert second.comment_id != first.comment_id


def test_it_is_adopted_and_resolved_in_place(world: World) -> None:
    """Only the status lines change, and the holder stays the same comment until it is resolved."""
    ours = acquire(world).comment_id
    result = mutex.adopt(world.setup(), world.thread(), adopter="7")
    assert (result.action, result.comment_id) == (Action.UPDATED, ours)
    assert holder(world)["status"] == "adopted"
    again = mutex.adopt(world.setup(), world.thread(), adopter="7")
    assert again.action is Action.UNCHANGED
    result = mutex.resolve(world.setup(), world.thread(), reason="done --> all")
    assert result.comment_id == ours
    assert holder(world) is None
    assert world.read(**FAMILY).valid
    assert "done all" in " ".join((world.read(**FAMILY).body or "").split())


def test_another_accounts_record_needs_take_over(near: World) -> None:
    """A run of somebody else is not ended unasked."""
    near.say(record(), author="mia")
    with pytest.raises(Conflict) as caught:
        mutex.resolve(near.setup(), near.thread(), reason="stale")
    assert caught.value.reason.code == "foreign-canonical"
    mutex.resolve(near.setup(), near.thread(), reason="stale", take_over=True)
    assert holder(near) is None


def test_nobody_holds_it(near: World) -> None:
    """There is nothing to adopt or to resolve; no record is made."""
    with pytest.raises(Absent):
        mutex.adopt(near.setup(), near.thread(), adopter="7")
    with pytest.raises(Absent):
        mutex.resolve(near.setup(), near.thread(), reason="done")
    assert near.sent == []


def test_a_left_over_record_is_named_by_its_id(near: World) -> None:
    """Behind the holder a dead run may still be live; a comment that is not live is refused."""
    acquire(near)
    left = near.say(record())
    result = mutex.resolve(near.setup(), near.thread(), reason="dead", comment_id=left)
    assert result.comment_id == left
    with pytest.raises(Refused, match="no live record"):
        mutex.resolve(near.setup(), near.thread(), reason="dead", comment_id=left)


SLIPS = {
    "hash in capitals": (HASH, HASH.upper()),
    "another issue": (f"**issue**: {ISSUE}", "**issue**: 13"),
    "no version": ("- **schema_version**: 1\n", ""),
    "a field twice": ("- **status**", "- **issue**: 12\n- **status**"),
    "status in capitals": ("unresolved", "Unresolved"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_a_record_lets_nobody_else_in(near: World, slip: str) -> None:
    """A lock fails closed: who has written something wrong holds it all the same."""
    near.say(record().replace(*SLIPS[slip]), author="mia")
    error = loses(near)
    assert error.reason.code == "held"
    assert near.sent == []
    assert holder(near)["author"] == "mia"
    assert near.read(**FAMILY).valid is False


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("move", ["adopt", "resolve"])
def test_a_record_with_a_slip_is_mended_by_hand(near: World, slip: str, move: str) -> None:
    """No text that breaks the rules is written; the refusal names the comment and the way out."""
    held = near.say(record().replace(*SLIPS[slip]))
    how = {"adopt": {"adopter": "7"}, "resolve": {"reason": "done"}}[move]
    with pytest.raises(Refused) as caught:
        getattr(mutex, move)(near.setup(), near.thread(), **how)
    detail = caught.value.reason.detail
    assert detail.startswith(f"the record, comment {held}, breaks its family's rules: ")
    assert detail.endswith("by hand, or delete the comment, and try again.")
    assert caught.value.result.comment_id == held
    assert near.sent == []


def test_what_mends_the_record_is_written(near: World) -> None:
    """The whole result is checked, not the record as it was."""
    bullet = "- **adopted_by_session_id**:\n- **launched_at**"
    held = near.say(record("adopted").replace("- **launched_at**", bullet))
    assert near.read(**FAMILY).valid is False
    result = mutex.adopt(near.setup(), near.thread(), adopter="7")
    assert result.comment_id == held
    assert near.read(**FAMILY).valid is True


def test_reader_and_lock_elect_the_same_record(near: World) -> None:
    """What cannot be resolved is what ``read`` calls the holder; what is behind it can be."""
    near.say(record("over"))
    near.say(record(), author="lee")
    held = near.say(record("adopted").replace(HASH, "0"))
    behind = near.say(record())
    assert holder(near)["comment_id"] == held
    with pytest.raises(Refused) as caught:
        mutex.resolve(near.setup(), near.thread(), reason="done")
    assert caught.value.result.comment_id == held
    result = mutex.resolve(near.setup(), near.thread(), reason="done", comment_id=behind)
    assert result.comment_id == behind
    assert holder(near)["comment_id"] == held


def test_a_holder_without_a_time_is_named(near: World) -> None:
    """The record may lack everything but its status."""
    near.say(f"{MARKER}\n\n- **status**: adopted")
    detail = loses(near).reason.detail
    assert "None" not in detail
    assert "(adopted, since 20" in detail


@pytest.mark.parametrize("shared", [True, False], ids=["one journal", "a journal each"])
def test_of_eight_at_once_one_takes_it(tmp_path: Any, shared: bool) -> None:
    """Eight callers start together: one has the lock in the end, seven are told so."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        world = World("rest", tmp_path, stack)
        setups = [world.setup(journal="one" if shared else f"j{at}") for at in range(8)]

        def call(at: int) -> str:
            try:
                return str(
                    mutex.acquire(
                        setups[at], world.thread(), contract_hash=HASH, run_id=f"run-{at}"
                    ).action
                )
            except MarkersError as error:
                return error.reason.code

        with clock.use(clock.SystemClock()), ThreadPoolExecutor(8) as pool:
            ends = sorted(pool.map(call, range(8)))
        assert ends.count("posted") == 1
        assert set(ends) <= {"held", "lost", "posted"}
        live = [body for body in world.bodies() if "**status**: unresolved" in body]
        assert len(live) == 1

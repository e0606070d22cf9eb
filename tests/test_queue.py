"""Writes that wait in the journal while GitHub is away."""

from __future__ import annotations

import json
from typing import Any

import pytest
from worlds import CONTRACT, ISSUE, PLAN, PULL, World, near, world

from bench.payloads import payload
from markers import writer
from markers.burst import burst, orders_of, read_manifest
from markers.burst.flushing import Delivery, dropped, flush, waiting
from markers.codec import sha256
from markers.errors import Conflict, Refused, Unavailable
from markers.forge import faults
from markers.model import Action
from markers.writer import Order

__all__ = ["near", "world"]

ANY = r"."
POSTED = rf"/issues/{ISSUE}/comments$"
FINDINGS = "goal-probe-findings"


def away(world: World) -> None:
    """From now on GitHub cannot be had."""
    for method in ("GET", "POST", "PATCH"):
        world.forge.faults.add(method, ANY, faults.status(503), times=None)


def back(world: World) -> None:
    """GitHub is there again."""
    world.forge.faults.clear()


def queued(world: World, text: str, **order: Any) -> None:
    """Write while GitHub is away."""
    result = world.write(text, queue=True, **order)
    assert result.action is Action.QUEUED
    assert result.sha256 is not None


def ids(world: World) -> list[int]:
    """What is still queued."""
    return [each.id for each in waiting(world.setup().open_journal().queued())]


def told(done: tuple[Delivery, ...]) -> list[tuple[str, str]]:
    """Status and action of each."""
    return [(each.status.value, each.action.value) for each in done]


def test_away_it_is_kept_and_delivered_later(world: World) -> None:
    """Nothing is sent while it waits; flush delivers it and the queue is empty."""
    away(world)
    queued(world, "One.\n")
    assert ids(world) == [1]
    back(world)
    assert told(flush(world.setup())) == [("landed", "created")]
    assert world.read().body == f"{PLAN}\n\nOne.\n"
    assert ids(world) == []
    assert flush(world.setup()) == ()


def test_when_github_is_there_it_is_an_ordinary_write(near: World) -> None:
    """--queue changes nothing then."""
    assert near.write("One.\n", queue=True).action is Action.CREATED
    assert ids(near) == []


def test_without_queue_it_is_unavailable(near: World) -> None:
    """Nobody queues unasked."""
    away(near)
    assert isinstance(near.fails("One.\n"), Unavailable)
    assert ids(near) == []


def test_it_is_checked_before_it_is_kept(near: World) -> None:
    """What would be refused is refused now, not when nobody looks."""
    away(near)
    assert near.fails("ghp_" + "A1b2" * 9, queue=True).reason.code == "secret"
    assert near.fails("x", queue=True, family="goal-run-stage").reason.code == "bullets-missing"
    assert ids(near) == []


def test_a_thread_is_delivered_in_order(near: World) -> None:
    """Two texts of one marker: the later one stands, and both records of another are there."""
    away(near)
    queued(near, "One.\n")
    queued(near, "First.\n", family=FINDINGS)
    queued(near, "Two.\n")
    queued(near, "Second.\n", family=FINDINGS)
    back(near)
    done = flush(near.setup())
    assert [each.id for each in done] == [1, 2, 3, 4]
    assert near.read().body == f"{PLAN}\n\nTwo.\n"
    assert len(near.carrying(f"<!-- {FINDINGS}-{ISSUE} -->")) == 2


def test_a_thread_stops_at_its_first_failure_and_others_go_on(near: World) -> None:
    """The failing one and what comes after it stay queued; another thread is delivered."""
    ours = near.write("Base.\n")
    assert ours.sha256
    away(near)
    queued(near, "Mine.\n", expect=ours.sha256)
    queued(near, "Later.\n", family=FINDINGS)
    queued(
        near,
        "state: proposed\n\n```yaml\nschema_version: 1\nproposals: []\n```\n",
        family="proposed-followups",
        number=PULL,
    )
    back(near)
    near.forge.edit(near.carrying()[0], f"{PLAN}\n\nBy hand.\n")
    done = flush(near.setup())
    assert told(done) == [
        ("failed", "conflict"),
        ("not-attempted", "planned"),
        ("landed", "created"),
    ]
    assert done[0].reason is not None
    assert done[0].reason.code == "expect-changed"
    assert ids(near) == [1, 2]
    assert near.read().body == f"{PLAN}\n\nBy hand.\n"
    problem = waiting(near.setup().open_journal().queued())[0].problem
    assert problem is not None
    assert "sha256" in problem


def test_it_expects_what_it_expected_when_it_was_queued(near: World) -> None:
    """`--expect absent` of then is a conflict now that somebody was first."""
    away(near)
    queued(near, "Mine.\n", expect="absent")
    back(near)
    near.say(f"{PLAN}\n\nTheirs.\n")
    assert told(flush(near.setup())) == [("failed", "conflict")]
    assert near.read().body == f"{PLAN}\n\nTheirs.\n"


def test_a_direct_write_delivers_what_is_queued_first(near: World) -> None:
    """The old text goes first, the new one over it, never the other way round."""
    away(near)
    queued(near, "Old.\n")
    back(near)
    result = near.write("New.\n")
    assert result.previous_sha256 == sha256(f"{PLAN}\n\nOld.\n")
    assert near.read().body == f"{PLAN}\n\nNew.\n"
    assert ids(near) == []


def test_a_direct_write_is_refused_behind_one_that_cannot_go(near: World) -> None:
    """Somebody must look at the queued one; nothing is written meanwhile."""
    near.say(f"{PLAN}\n\nTheirs.\n")
    away(near)
    queued(near, "Mine.\n", expect="absent")
    back(near)
    error = near.fails("New.\n")
    assert isinstance(error, Refused)
    assert error.reason.code == "queued-first"
    assert "queue drop 1" in error.reason.detail
    assert near.sent == []
    assert dropped(near.setup().open_journal(), 1) is not None
    assert near.write("New.\n").action is Action.UPDATED


def test_behind_a_queued_one_the_next_is_queued_too(near: World) -> None:
    """With GitHub still away the new text waits behind the old one."""
    away(near)
    queued(near, "Old.\n")
    queued(near, "New.\n")
    back(near)
    flush(near.setup())
    assert near.read().body == f"{PLAN}\n\nNew.\n"


def test_a_record_delivered_before_a_crash_is_not_posted_twice(near: World) -> None:
    """It landed, the process died before it left the queue, and another record came after it."""
    away(near)
    queued(near, "Found.\n", family=FINDINGS)
    back(near)
    journal = near.setup().open_journal()
    kept = journal.queued()[0]
    flush(near.setup())
    near.write("Other.\n", family=FINDINGS)
    journal.enqueue(kept.thread, kept.order)
    order = json.loads(kept.order)
    order["burst"] = f"queue:{kept.id}"
    journal.dequeue(journal.queued()[0].id)
    journal.enqueue(kept.thread, json.dumps(order))
    assert told(flush(near.setup())) == [("unchanged", "unchanged")]
    assert len(near.carrying(f"<!-- {FINDINGS}-{ISSUE} -->")) == 2


def test_a_lost_answer_is_settled_before_anything_is_sent_again(near: World) -> None:
    """The delivery's answer is lost and the thread cannot be read: unknown, then found."""
    away(near)
    queued(near, "One.\n")
    back(near)
    near.forge.faults.add("POST", POSTED, faults.status(502, landed=True))
    lists = near.forge.faults.add("GET", r"/comments", faults.status(502), times=None, after=1)
    assert told(flush(near.setup()))[0][0] in ("unknown", "failed")
    lists.off()
    near.forge.faults.clear()
    assert told(flush(near.setup()))[0][0] in ("landed", "unchanged")
    assert len(near.carrying()) == 1
    assert ids(near) == []


def test_nothing_is_queued_that_may_have_landed(near: World) -> None:
    """An unknown outcome is settled, not sent again from the queue."""
    near.forge.faults.add("POST", POSTED, faults.status(502, landed=True))
    near.forge.faults.add("GET", r"/comments", faults.status(502), times=None, after=1)
    error = near.fails("One.\n", queue=True)
    assert error.action is Action.UNKNOWN
    assert ids(near) == []


def test_a_conflict_is_not_queued(near: World) -> None:
    """GitHub is there and says what stands."""
    near.say(f"{PLAN}\n\nTheirs.\n")
    assert isinstance(near.fails("Mine.\n", queue=True, expect="absent"), Conflict)
    assert ids(near) == []


def entries(*names: str) -> list[dict[str, Any]]:
    """A manifest of plan and records."""
    return [{"family": name, "number": ISSUE, "bodyFile": name} for name in names]


def orders(world: World, *names: str) -> list[Order]:
    """The orders of such a manifest, which may wait."""
    manifest = read_manifest(json.dumps(entries(*names)).encode())
    return orders_of(manifest, CONTRACT, world.repo, lambda path: f"{path}.\n", queue=True)


NAMES = ("plan-issue", "design-phase-complete", FINDINGS)


def test_a_burst_is_queued_whole(near: World) -> None:
    """With GitHub away all entries wait, in order, and converge when the manifest is run again."""
    away(near)
    result = burst(near.setup(), orders(near, *NAMES))
    assert result.action == Action.QUEUED
    assert [entry.action for entry in result.results] == [Action.QUEUED] * 3
    back(near)
    assert [status for status, _ in told(flush(near.setup()))] == ["landed"] * 3
    assert burst(near.setup(), orders(near, *NAMES)).action == "unchanged"
    assert len(near.bodies()) == 3


def test_a_burst_that_is_cut_off_queues_the_rest(near: World) -> None:
    """What has landed has landed; what comes after it waits."""
    near.forge.faults.add("POST", POSTED, faults.secondary(9_999), times=None, after=1)
    result = burst(near.setup(), orders(near, *NAMES))
    assert [entry.action for entry in result.results] == [
        Action.CREATED,
        Action.QUEUED,
        Action.QUEUED,
    ]
    assert len(ids(near)) == 2
    near.forge.faults.clear()
    assert [status for status, _ in told(flush(near.setup()))] == ["landed"] * 2


def test_delete_waits_for_the_queue_as_well(near: World) -> None:
    """What is taken back is what stands after the queue was delivered."""
    away(near)
    queued(near, payload("goal-run-stage", ISSUE, "x"), family="goal-run-stage")
    back(near)
    assert near.delete(family="goal-run-stage").action is Action.DELETED
    assert ids(near) == []
    assert near.bodies() == []


def test_the_journal_tells_of_it(near: World) -> None:
    """Queued and delivered are entries of the log, and nothing stays open."""
    away(near)
    queued(near, "One.\n")
    back(near)
    flush(near.setup())
    journal = near.setup().open_journal()
    actions = [entry.record.action for entry in journal.entries()]
    assert actions[0] == "queued"
    assert actions[-1] == "created"
    assert writer.recover(near.setup()) == ()
    assert journal.verify() == []


def test_what_it_expects_is_not_judged_by_what_it_has_written(near: World) -> None:
    """A limit after it landed: it expected none there, and what is there is its own."""
    away(near)
    queued(near, "Mine.\n", expect="absent")
    back(near)
    near.forge.faults.add("GET", r"/comments", faults.secondary(30), after=1)
    assert told(flush(near.setup()))[0][1] in ("created", "unchanged")
    assert ids(near) == []
    assert near.read().body == f"{PLAN}\n\nMine.\n"


def test_a_delivery_that_died_does_not_go_over_what_came_after_it(near: World) -> None:
    """Another machine wrote a newer text since; the old one is done, not sent again."""
    away(near)
    queued(near, "Old.\n")
    back(near)
    journal = near.setup().open_journal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(journal), "dequeue", lambda _self, _id: False)
        flush(near.setup())
    near.write("Newer.\n", setup=near.setup(journal="another"))
    assert told(flush(near.setup())) == [("unchanged", "unchanged")]
    assert near.read().body == f"{PLAN}\n\nNewer.\n"
    assert ids(near) == []


def test_after_recover_it_is_not_delivered_again(near: World) -> None:
    """What recover has found landed is done for the queue as well."""
    away(near)
    queued(near, "One.\n", expect="absent")
    back(near)
    near.forge.faults.add("POST", POSTED, faults.status(502, landed=True))
    near.forge.faults.add("GET", r"/comments", faults.status(502), times=None, after=1)
    flush(near.setup())
    near.forge.faults.clear()
    assert [each.outcome for each in writer.recover(near.setup())] == ["landed"]
    assert told(flush(near.setup())) == [("unchanged", "unchanged")]
    assert ids(near) == []


def test_nobody_delivers_in_another_name(near: World) -> None:
    """A queued text would become the words of whoever flushes: it waits for its own account."""
    near.write("Known.\n", family=FINDINGS)
    away(near)
    queued(near, "Pat's.\n")
    back(near)
    mia = near.setup(token="forge-mia", open_journal=near.setup().open_journal)
    (done,) = flush(mia)
    assert done.reason is not None
    assert done.reason.code == "queued-by-another"
    assert near.carrying() == []
    assert told(flush(near.setup())) == [("landed", "created")]


def test_a_direct_write_is_told_of_as_itself(near: World) -> None:
    """Behind a blocked one the result names the write that was asked for."""
    near.say(f"{PLAN}\n\nTheirs.\n")
    away(near)
    queued(near, "Mine.\n", expect="absent")
    back(near)
    error = near.fails("Found.\n", family=FINDINGS)
    assert error.reason.code == "queued-first"
    assert error.result.family == FINDINGS


def test_an_unknown_form_can_be_seen_and_dropped(near: World) -> None:
    """It is listed with its reason, hinders no other thread, and can be dropped."""
    journal = near.setup().open_journal()
    journal.enqueue("elsewhere#1", json.dumps({"form": 99}))
    (shown,) = waiting(journal.queued())
    assert shown.problem is not None
    assert dropped(journal, shown.id) == shown
    assert ids(near) == []


@pytest.mark.parametrize("form", [2, None])
def test_another_programs_queue_is_not_guessed_at(near: World, form: int | None) -> None:
    """A document of another form is refused, and stays."""
    away(near)
    queued(near, "One.\n")
    back(near)
    journal = near.setup().open_journal()
    item = journal.queued()[0]
    journal.dequeue(item.id)
    journal.enqueue(item.thread, json.dumps({**json.loads(item.order), "form": form}))
    (done,) = flush(near.setup())
    assert done.reason is not None
    assert "another version" in done.reason.detail
    assert near.sent == []

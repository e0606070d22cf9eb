"""``--queue``, ``flush`` and ``queue`` as one would call them."""

from __future__ import annotations

import json

import pytest
from command_line import Ran, Shell, at_forge, forge, shell

from markers import clock
from markers.forge import Forge, faults, seed

__all__ = ["at_forge", "forge", "shell"]


def away(forge: Forge) -> None:
    """From now on GitHub cannot be had."""
    for method in ("GET", "POST", "PATCH"):
        forge.faults.add(method, ".", faults.status(503), times=None)


def bodies(forge: Forge) -> list[str]:
    """What is on the issue now."""
    return [comment.body for comment in forge.comments(seed.REPO, seed.ISSUE)]


def queued(at: Shell, text: str, *more: str) -> Ran:
    """Write while GitHub is away; time is not waited for."""
    with clock.use(clock.FakeClock()):
        return at.write(text, "--queue", *more)


def test_write_flush_list(at_forge: Shell, forge: Forge) -> None:
    """Queued with exit 0, listed without its text, delivered, gone."""
    away(forge)
    ran = queued(at_forge, "One.\n", "--expect", "absent")
    assert (ran.code, ran.document["action"]) == (0, "queued"), ran.err
    assert "persist-marker flush" in ran.document["reason"]["detail"]
    (item,) = at_forge.run("queue", "list", "--json").document["queued"]
    assert (item["id"], item["family"], item["expect"]) == (1, "plan-issue", "absent")
    assert "One." not in json.dumps(item)
    with clock.use(clock.FakeClock()):
        still = at_forge.run("flush", "--json")
    assert (still.code, still.document["results"][0]["action"]) == (7, "unavailable")
    forge.faults.clear()
    done = at_forge.run("flush", "--json")
    assert done.code == 0
    (result,) = done.document["results"]
    assert (result["id"], result["status"], result["action"]) == (1, "landed", "created")
    assert at_forge.run("queue", "list").text == "nothing is queued\n"
    assert at_forge.run("flush").text == "nothing is queued\n"
    assert len(bodies(forge)) == 1


def test_a_conflict_is_told_and_dropped(at_forge: Shell, forge: Forge) -> None:
    """Exit 4 with the reason; what is not wanted any more is dropped by its number."""
    away(forge)
    queued(at_forge, "Mine.\n", "--expect", "absent")
    forge.faults.clear()
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"<!-- plan-issue-{seed.ISSUE} -->\n\nTheirs.\n")
    ran = at_forge.run("flush", "--json")
    assert ran.code == 4
    assert "expected no such comment" in ran.document["results"][0]["reason"]["detail"]
    assert "expected no such comment" in at_forge.run("queue", "list").text
    direct = at_forge.write("New.\n")
    assert (direct.code, direct.document["reason"]["code"]) == (3, "queued-first")
    assert at_forge.run("queue", "drop", "1").code == 0
    assert at_forge.run("queue", "drop", "1").code == 3
    assert at_forge.write("New.\n").code == 0


def test_burst_queue(at_forge: Shell, forge: Forge) -> None:
    """All entries wait with exit 0, and the manifest converges after the flush."""
    at_forge.payload("A.\n", "a.md")
    entry = {"family": "plan-issue", "number": seed.ISSUE, "bodyFile": ".tmp/a.md"}
    manifest = at_forge.payload(json.dumps([entry, {**entry, "family": "design-issue"}]), "m.json")
    away(forge)
    with clock.use(clock.FakeClock()):
        ran = at_forge.run("burst", manifest, "--queue", "--json")
    assert (ran.code, ran.document["action"]) == (0, "queued"), ran.err
    assert [each["action"] for each in ran.document["results"]] == ["queued", "queued"]
    forge.faults.clear()
    assert at_forge.run("flush").code == 0
    assert at_forge.run("burst", manifest, "--json").document["action"] == "unchanged"


def test_watch_goes_on_until_all_is_delivered(
    at_forge: Shell, forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Growing pauses while GitHub is away; then it delivers and ends."""
    away(forge)
    queued(at_forge, "One.\n")
    fake = clock.FakeClock()
    slept: list[float] = []
    sleep = fake.sleep

    def counted(seconds: float) -> None:
        slept.append(seconds)
        if sum(slept) > 60:
            forge.faults.clear()
        sleep(seconds)

    monkeypatch.setattr(fake, "sleep", counted)
    with clock.use(fake):
        ran = at_forge.run("flush", "--watch", "--json")
    assert (ran.code, ran.document["results"][-1]["status"]) == (0, "landed")
    assert 5.0 in slept
    assert 10.0 in slept


def test_without_a_journal_nothing_is_made(at_forge: Shell) -> None:
    """Who only asks leaves no journal behind."""
    for words in (("flush",), ("queue", "list"), ("queue", "drop", "3")):
        at_forge.run(*words)
    assert "there is no journal yet" in at_forge.run("flush").text

"""Killed at every step of the protocol: the next run converges and nothing is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from crashing import order_for, setup_for

from markers import clock, writer
from markers.forge import seed
from markers.forge.app import Forge
from markers.forge.server import ForgeServer, serve
from markers.model import Action
from markers.setup import Setup

PROGRAM = Path(__file__).with_name("crashing.py")
PLAN = "<!-- plan-issue-12 -->"
OLD = f"{PLAN}\n\nOld.\n"
MOST_STEPS = 40


@pytest.fixture
def server() -> Iterator[ForgeServer]:
    """A forge in real time on loopback."""
    forge = Forge.open()
    with serve(forge) as running:
        yield running
    forge.close()


def run(server: ForgeServer, journal: Path, family: str, step: int) -> int:
    """Write in a process of its own that dies at *step*; the answer is its exit code."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), server.url, str(journal), family, "New.\n", str(step)],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode


@pytest.mark.parametrize(
    ("family", "before"),
    [("plan-issue", None), ("plan-issue", OLD), ("design-phase-complete", None)],
    ids=["create", "update", "post"],
)
def test_a_write_killed_at_any_step_converges(
    server: ForgeServer, tmp_path: Path, family: str, before: str | None
) -> None:
    """Rerun: exactly one comment with the text, every intent settled, the chain whole."""
    marker = f"<!-- {family}-12 -->"
    for step in range(1, MOST_STEPS):
        for comment in server.forge.comments(seed.REPO, seed.ISSUE):
            server.forge.delete(comment.id)
        if before:
            server.forge.comment(seed.REPO, seed.ISSUE, "pat", before, at=clock.now() - 3600)
        journal = tmp_path / f"{step}.sqlite3"
        survived = run(server, journal, family, step) == 0
        setup, _ = setup_for(server.url, journal)
        result = writer.write(setup, order_for(setup, server.url, family, "New.\n"))
        bodies = [c.body for c in server.forge.comments(seed.REPO, seed.ISSUE)]
        assert bodies == [f"{marker}\n\nNew.\n"], f"killed at step {step}: {result}"
        opened = setup.open_journal()
        assert opened.open_intents() == []
        assert opened.verify() == []
        setup.connection.close()
        opened.close()
        if survived:
            assert step > 4
            return
    pytest.fail("the protocol has more steps than this test walks")


@pytest.mark.parametrize("landed", [True, False])
def test_recover_settles_what_a_killed_writer_left(
    server: ForgeServer, tmp_path: Path, landed: bool
) -> None:
    """An intent without outcome is settled as landed or not, and nothing is sent."""
    setup = _killed_with_an_open_intent(server, tmp_path, landed)
    there = [c.id for c in server.forge.comments(seed.REPO, seed.ISSUE)]
    server.forge.forget()
    (settled,) = writer.recover(setup)
    assert settled.outcome == ("landed" if landed else "not-landed")
    assert settled.comment_id == (there[0] if landed else None)
    assert server.forge.writes == []
    assert setup.open_journal().open_intents() == []
    result = writer.write(setup, order_for(setup, server.url, "plan-issue", "New.\n"))
    assert result.action is (Action.UNCHANGED if landed else Action.CREATED)
    setup.connection.close()
    setup.open_journal().close()


def _killed_with_an_open_intent(server: ForgeServer, tmp: Path, landed: bool) -> Setup:
    """Kill writers at later and later steps until one leaves an intent, landed or not."""
    for step in range(1, MOST_STEPS):
        journal = tmp / f"{step}.sqlite3"
        assert run(server, journal, "plan-issue", step) == -signal.SIGKILL
        setup, _ = setup_for(server.url, journal)
        there = bool(server.forge.comments(seed.REPO, seed.ISSUE))
        if setup.open_journal().open_intents() and there is landed:
            return setup
        setup.connection.close()
        setup.open_journal().close()
    pytest.fail("no step leaves such an intent")

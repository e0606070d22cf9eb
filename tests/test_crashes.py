"""Killed at every point of the protocol: whatever comes next converges and nothing is lost."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from crash_scenes import SCENES, Scene
from crashing import NEVER, Victims, setup_with
from worlds import memory_folder

from markers import writer
from markers.codec import sha256
from markers.forge import seed
from markers.forge.app import Forge
from markers.forge.server import ForgeServer, serve
from markers.journal.interface import Record
from markers.journal.sqlite import SqliteJournal
from markers.setup import Setup
from markers.testing import ForgeSender
from markers.writer.recovery import LANDED, NOT_LANDED, TWIN, Settled


@pytest.fixture(scope="module")
def victims() -> Iterator[Victims]:
    """Writers that die."""
    with Victims() as ready:
        yield ready


@pytest.fixture
def server() -> Iterator[ForgeServer]:
    """A forge in real time on loopback."""
    forge = Forge.open()
    with serve(forge) as running:
        yield running
    forge.close()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the journals are."""
    with memory_folder() as made:
        yield made


def cleared(server: ForgeServer, scene: Scene) -> None:
    """The thread as it is before the call."""
    server.forge.faults.clear()
    for comment in server.forge.comments(seed.REPO, seed.ISSUE):
        server.forge.delete(comment.id)
    scene.prepare(server.forge)


def killed_everywhere(
    server: ForgeServer, victims: Victims, folder: Path, name: str
) -> Iterator[Path]:
    """Let the call be killed at each of its points; the answer is the journal that it leaves."""
    cleared(server, SCENES[name])
    lived = victims.run(name, server.url, folder / "0", NEVER)
    assert lived["status"] == 0
    SCENES[name].check(server.forge)
    assert len(lived["points"]) > 8
    for point, where in enumerate(lived["points"], 1):
        cleared(server, SCENES[name])
        journal = folder / str(point)
        died = victims.run(name, server.url, journal, point)
        assert died["status"] == -signal.SIGKILL, where
        server.forge.faults.clear()
        with told(f"killed {where} (point {point})"):
            yield journal


@contextmanager
def told(where: str) -> Iterator[None]:
    """Say where it was, of whatever goes wrong."""
    try:
        yield
    except BaseException as error:
        error.add_note(where)
        raise


def setup_at(server: ForgeServer, journal: Path) -> AbstractContextManager[Setup]:
    """The pieces of who comes after, straight into the forge."""
    return setup_with(ForgeSender(server.forge), server.url, SqliteJournal(journal))


@pytest.mark.parametrize("name", SCENES)
def test_a_call_killed_at_any_point_converges(
    server: ForgeServer, victims: Victims, folder: Path, name: str
) -> None:
    """Run again: one right comment, every intent settled, the chain whole."""
    for journal in killed_everywhere(server, victims, folder, name):
        with setup_at(server, journal) as setup:
            SCENES[name].call(setup, server.url)
            SCENES[name].check(server.forge)
            writer.recover(setup)
            assert setup.open_journal().open_intents() == []
            assert setup.open_journal().verify() == []


@pytest.mark.parametrize("name", ["create", "update", "post", "raced", "same record", "take back"])
def test_recover_settles_what_a_killed_call_left(
    server: ForgeServer, victims: Victims, folder: Path, name: str
) -> None:
    """As landed or not, as GitHub has it, with nothing created or edited; then it converges."""
    outcomes: set[str] = set()
    for journal in killed_everywhere(server, victims, folder, name):
        server.forge.forget()
        with setup_at(server, journal) as setup:
            open_before = setup.open_journal().open_intents()
            settled = writer.recover(setup)
            assert [each.intent for each in settled] == [entry.seq for entry in open_before]
            assert setup.open_journal().open_intents() == []
            assert {entry.method for entry in server.forge.writes} <= {"DELETE"}
            for entry, each in zip(open_before, settled, strict=True):
                assert is_so(server, entry.record, each)
            outcomes |= {each.outcome for each in settled}
            SCENES[name].call(setup, server.url)
            SCENES[name].check(server.forge)
            assert setup.open_journal().verify() == []
    assert {LANDED, NOT_LANDED} <= outcomes


def is_so(server: ForgeServer, record: Record, settled: Settled) -> bool:
    """Whether the thread is as was said of an intent."""
    there = {one.id: one.body for one in server.forge.comments(seed.REPO, seed.ISSUE)}
    body = there.get(settled.comment_id or 0)
    written = body is not None and sha256(body) == record.sha256_after
    gone = body is None
    said = {
        ("create", LANDED): written,
        ("create", NOT_LANDED): settled.comment_id is None,
        ("create", TWIN): gone,
        ("edit", LANDED): written,
        ("edit", NOT_LANDED): not written,
        ("delete", LANDED): gone,
        ("delete", NOT_LANDED): not gone,
    }
    return said[record.action, settled.outcome]

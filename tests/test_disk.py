"""A disk that is full or read-only while the journal is written: no unaudited write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from crash_scenes import SCENES
from crashing import Victims
from test_crashes import cleared, folder, server, setup_at, told, victims

from markers import writer
from markers.forge.server import ForgeServer
from markers.journal.interface import Kind
from markers.journal.sqlite import SqliteJournal
from markers.model import Action

__all__ = ["folder", "server", "victims"]

NOBODY = 65534
PAGE = 4096
NAMES = ["create", "update", "post", "slices", "burst", "raced", "take back"]


UNWRITTEN = frozenset(
    {
        Action.REFUSED,
        Action.CONFLICT,
        Action.DENIED,
        Action.UNAVAILABLE,
        Action.PLANNED,
        Action.ABSENT,
    }
)


def intents(journal: Path) -> int:
    """How many requests another process finds on the disk, as what was to be sent."""
    opened = SqliteJournal(journal)
    found = sum(entry.record.kind is Kind.INTENT for entry in opened.entries())
    opened.close()
    return found


def audited(server: ForgeServer, journal: Path, ran: dict[str, Any]) -> None:
    """What the server has carried out is on the disk, and is not said to be unwritten."""
    assert ran["status"] == 0
    effects = sum(200 <= entry.status < 300 for entry in server.forge.writes)
    assert effects <= intents(journal)
    if "code" in ran:
        assert (set(ran["actions"]) <= UNWRITTEN) is (effects == 0)


def converges(server: ForgeServer, journal: Path, name: str) -> None:
    """With room on the disk, the same call does what is still to be done."""
    server.forge.faults.clear()
    with setup_at(server, journal) as setup:
        SCENES[name].call(setup, server.url)
        SCENES[name].check(server.forge)
        writer.recover(setup)
        assert setup.open_journal().open_intents() == []
        assert setup.open_journal().verify() == []


def prepared(server: ForgeServer, name: str) -> None:
    """The thread as it is before the call, and nothing counted."""
    cleared(server, SCENES[name])
    server.forge.forget()


@pytest.mark.parametrize("name", NAMES)
def test_full_from_any_point_on(
    server: ForgeServer, victims: Victims, folder: Path, name: str
) -> None:
    """Nothing is sent that is not on the disk; with room again, the same call converges."""
    prepared(server, name)
    points = victims.run(name, server.url, folder / "0")["points"]
    for point, where in enumerate(points, 1):
        with told(f"full from {where} (point {point}) on"):
            prepared(server, name)
            journal = folder / str(point)
            audited(server, journal, victims.run(name, server.url, journal, point, fate="full"))
            converges(server, journal, name)


@pytest.mark.parametrize("fresh", [True, False], ids=["new journal", "old journal"])
def test_full_after_so_many_bytes(
    server: ForgeServer, victims: Victims, folder: Path, fresh: bool
) -> None:
    """A disk that fills up while the journal is made, or while it grows."""
    codes = []
    for room in range(0, 48 * PAGE, 2 * PAGE):
        prepared(server, "slices")
        journal = folder / str(room)
        if not fresh:
            with setup_at(server, journal) as setup:
                SCENES["post"].call(setup, server.url)
            prepared(server, "slices")
        ran = victims.run("slices", server.url, journal, room=room)
        audited(server, journal, ran)
        codes.append(ran.get("code"))
        converges(server, journal, "slices")
    assert codes[0] == "journal"
    assert codes[-1] is None


@pytest.mark.parametrize("what", ["folder of a new journal", "folder", "file"])
def test_read_only(server: ForgeServer, victims: Victims, folder: Path, what: str) -> None:
    """A journal that may not be written stops the write, as somebody whom modes bind."""
    journal = folder / "state" / "journal"
    journal.parent.mkdir(mode=0o700)
    if what != "folder of a new journal":
        with setup_at(server, journal) as setup:
            SCENES["post"].call(setup, server.url)
    user = bound_by_modes(folder)
    closed = journal if what == "file" else journal.parent
    closed.chmod(0o400 if closed.is_file() else 0o500)
    prepared(server, "create")
    ran = victims.run("create", server.url, journal, **user)
    assert (ran["status"], ran["code"]) == (0, "journal")
    assert server.forge.writes == []
    closed.chmod(0o700)


def bound_by_modes(folder: Path) -> dict[str, int]:
    """Who is to write: modes bind everybody but root, for whom somebody else is taken."""
    if os.getuid() != 0:
        return {}
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        os.chown(path, NOBODY, NOBODY)
    return {"uid": NOBODY}

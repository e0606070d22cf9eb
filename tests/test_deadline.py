"""``--deadline`` bounds a whole command: whoever it waits for, it ends in time and says why."""

from __future__ import annotations

import io
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import PLAN, TARGET, Shell, at_forge, bodies, forge, shell

from markers.clock import Deadline, FakeClock, use
from markers.forge import Forge
from markers.journal import database, locks, sqlite

__all__ = ["at_forge", "forge", "shell"]

SECONDS = "0.3"
SLACK = 3.0
"""What a loaded machine may add; each wait below would go on for longer."""


@pytest.fixture(autouse=True)
def in_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test ends soon after its deadline."""
    monkeypatch.setattr(sqlite, "LEAST_SECONDS", 0.02)
    began = time.monotonic()
    yield
    assert time.monotonic() - began < float(SECONDS) + SLACK


def fake(shell: Shell, name: str) -> None:
    """Put a program on PATH that answers too late, through a child of its own."""
    folder = shell.home / "bin"
    folder.mkdir()
    program = folder / name
    program.write_text("#!/bin/sh\n/bin/sleep 20; echo late\n", encoding="utf-8")
    program.chmod(0o755)
    shell.export(PATH=str(folder))


def test_silent_gh_is_named(at_forge: Shell) -> None:
    """A gh that does not answer is not taken for one that has no token."""
    fake(at_forge, "gh")
    at_forge.export(GH_TOKEN="")
    ran = at_forge.write("t", "--deadline", SECONDS)
    assert (ran.code, ran.document["reason"]["code"]) == (7, "gh"), ran.err
    assert "gh was asked for the token" in ran.err


def test_silent_git_is_named(at_forge: Shell) -> None:
    """So is a git that does not tell the remotes."""
    fake(at_forge, "git")
    at_forge.export(GH_REPO="")
    ran = at_forge.write("t", "--deadline", SECONDS)
    assert (ran.code, ran.document["reason"]["code"]) == (7, "git"), ran.err
    assert "did not answer in time" in ran.err


def test_held_journal_stops_a_write(at_forge: Shell, forge: Forge) -> None:
    """A journal that another process keeps busy is waited for as long as there is time."""
    assert at_forge.write("one").code == 0
    path = journal_of(at_forge)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        ran = at_forge.write("two", "--deadline", SECONDS)
    assert (ran.code, ran.document["reason"]["code"]) == (7, "journal"), ran.err
    assert bodies(forge) == [f"{PLAN}\n\none"]


def test_held_journal_stops_no_read(at_forge: Shell) -> None:
    """Reading does without: what it would remember is not remembered."""
    assert at_forge.write("one").code == 0
    with closing(sqlite3.connect(journal_of(at_forge), isolation_level=None)) as other:
        other.execute("DELETE FROM memory")
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        ran = at_forge.run("read", *TARGET, "--body")
        assert time.monotonic() - began < 2
    assert (ran.code, ran.text) == (0, f"{PLAN}\n\none"), ran.err


def test_journal_that_another_makes(at_forge: Shell, forge: Forge) -> None:
    """A process that is stuck while it makes the journal is not waited for any longer, either."""
    path = at_forge.scratch / "new.sqlite3"
    with locks.hold(database.lock_folder(path), (f"the new journal {path}",), wait=0):
        ran = at_forge.write("t", "--deadline", SECONDS, "--journal", ".tmp/new.sqlite3")
    assert (ran.code, ran.document["reason"]["code"]) == (7, "locked-out"), ran.err
    assert bodies(forge) == []


def test_dripping_server(at_forge: Shell) -> None:
    """A server that never finishes its headers."""

    def drip(server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                line, _ = server.accept()
                with line, suppress(OSError):
                    line.sendall(b"HTTP/1.1 200 OK\r\n")
                    while True:
                        line.sendall(b"X: y\r\n")
                        time.sleep(0.02)

    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        threading.Thread(target=drip, args=(server,), daemon=True).start()
        at_forge.export(GITHUB_API_URL=f"http://127.0.0.1:{server.getsockname()[1]}")
        ran = at_forge.write("t", "--deadline", SECONDS)
        server.shutdown(socket.SHUT_RDWR)
    assert (ran.code, ran.document["action"]) == (7, "unavailable"), ran.err


def test_late_text_does_not_count(
    at_forge: Shell, forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever pipes the text in takes the time that it takes: the deadline is for the rest."""

    class Late(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            clock.sleep(60)
            return super().read(size)

    with use(FakeClock()) as clock:
        monkeypatch.setattr(io, "TextIOWrapper", lambda _empty: SimpleNamespace(buffer=Late(b"t")))
        ran = at_forge.run("write", *TARGET, "--body-file", "-", "--deadline", "5", "--json")
    assert ran.code == 0, ran.err
    assert bodies(forge) == [f"{PLAN}\n\nt"]


def test_pause_moves_the_end() -> None:
    """What happens while a deadline is paused leaves as much of it as there was."""
    with use(FakeClock()) as clock:
        deadline = Deadline(10)
        clock.sleep(4)
        with deadline.paused():
            clock.sleep(100)
        assert deadline.remaining() == 6


def journal_of(shell: Shell) -> Path:
    """Where the journal is when nothing names it."""
    (path,) = shell.home.rglob("journal.sqlite3")
    return path

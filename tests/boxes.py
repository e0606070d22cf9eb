"""A box of supervised agents: its files below a shell's home, or below any directory."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import Ran, Shell, shell
from stores import place, state_file

from markers.caches.agent_box import CODEC, STORE
from markers.caches.declared import Posture
from markers.caches.engine import Cabinet
from markers.caches.supervising import Box

__all__ = ["Home", "box", "home", "locked", "shell", "times"]

A, B, C, D = (f"{digit * 8}-1111-4222-8333-444455556666" for digit in "abcd")
ENTRY = {
    "agent": "claude",
    "workingDirectory": "/srv/portal",
    "initialPrompt": "begin",
    "boxSessionId": A,
    "hasRun": False,
}
UNREADABLE = {
    "binary": b"\x00\xff\xfe",
    "empty": b"",
    "half-written": b'{"version": 1, "sessions": {"por',
    "list": b"[]",
    "null": b"null",
    "no sessions": b'{"version": 1}',
    "sessions a list": b'{"version": 1, "sessions": []}',
    "version a text": b'{"version": "1", "sessions": {}}',
    "newer": b'{"version": 2, "sessions": {}}',
    "deep": b'{"sessions": {"a": ' + b"[" * 100_000,
}


class Home:
    """The files of a box below the home of a shell, as its programs have them."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.registry = shell.home / ".config/agent-box/sessions.json"
        self.side = shell.home / ".local/state/agent-box/session"
        self.live = shell.home / ".local/state/agent-box/live-session-id"
        self.projects = shell.home / ".claude/projects"
        for directory in (self.registry.parent, self.side, self.live, self.projects / "p"):
            directory.mkdir(parents=True)
        self.write({"portal": ENTRY})

    def write(self, sessions: dict[str, Any], **more: Any) -> None:
        """The registry, as another program leaves it."""
        self.registry.write_text(json.dumps({"version": 1, "sessions": sessions, **more}))

    def write_raw(self, data: bytes) -> None:
        """The registry, byte for byte."""
        self.registry.write_bytes(data)

    def sessions(self) -> dict[str, Any]:
        """What the registry lists."""
        found: dict[str, Any] = json.loads(self.registry.read_bytes())["sessions"]
        return found

    def launched(self, name: str, launch_id: str) -> Path:
        """A side file."""
        path = self.side / f"{name}.json"
        path.write_text(f'{{"launchSessionId":"{launch_id}"}}\n')
        return path

    def transcript(self, launch_id: str, *, below: str = "p") -> None:
        """A conversation that can be resumed."""
        (self.projects / below).mkdir(parents=True, exist_ok=True)
        (self.projects / below / f"{launch_id}.jsonl").write_text("{}\n")

    def run(self, *words: str, stdin: bytes = b"") -> Ran:
        """A verb, with JSON."""
        return self.shell.run("state", "agent-box", *words, "--json", stdin=stdin)

    def launch(self, name: str = "portal") -> dict[str, Any]:
        """What ``launch-id`` answers."""
        ran = self.run("launch-id", name)
        assert ran.code == 0, ran
        return ran.document


@pytest.fixture
def home(shell: Shell) -> Home:
    """A box with one session that has never run."""
    return Home(shell)


def box(root: Path, wait: float = 10.0) -> Box:
    """The same files below any directory, for what happens in this process."""
    file = state_file(root, "sessions.json", wait=wait, posture=Posture.GO_ON, mode=0o600)
    return Box(
        registry=Cabinet(STORE, CODEC, file),
        side=place(root, "side"),
        live=place(root, "live"),
        transcripts=place(root, "projects"),
    )


def times(*paths: Path) -> list[int]:
    """When files were written last."""
    return [path.stat().st_mtime_ns for path in paths]


@contextmanager
def locked(registry: Path) -> Iterator[int]:
    """Another program holds the registry's lock, as the originals do."""
    with registry.with_name("sessions.json.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()

"""A conversation's session memory below a shell's home, and its checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import Ran, Shell, shell

__all__ = ["Conversation", "shell", "talk"]


class Conversation:
    """Session memory below a shell's home."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.root = shell.home / "memories"
        shell.export(
            MARKERS_MEMORY_ROOT=str(self.root), CLAUDE_CODE_SESSION_ID="", CLAUDE_SESSION_ID=""
        )

    def run(self, *words: str, stdin: bytes = b"") -> Ran:
        """A verb, with JSON."""
        return self.shell.run("state", "memory", *words, "--json", stdin=stdin)

    def told(self, *words: str, stdin: bytes = b"") -> dict[str, Any]:
        """What a verb answers that does what it is asked."""
        ran = self.run(*words, stdin=stdin)
        assert ran.code == 0, ran
        return ran.document

    def file(self, name: str) -> Path:
        """A file of session memory."""
        self.root.mkdir(exist_ok=True)
        return self.root / name

    def commit(self, branch: str | None) -> str:
        """Make a commit on a branch, or on none; the answer is its shortened hash."""
        git = (
            "git",
            "-C",
            str(self.shell.top),
            "-c",
            "user.name=p",
            "-c",
            "user.email=p@x.invalid",
        )
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
        where = ["--detach"] if branch is None else ["-b", branch]
        subprocess.run([*git, "checkout", "-q", *where], check=True)
        done = subprocess.run(
            [*git, "rev-parse", "--short", "HEAD"], check=True, capture_output=True
        )
        return done.stdout.decode().strip()


@pytest.fixture
def talk(shell: Shell) -> Conversation:
    """A conversation with nothing in its memory."""
    return Conversation(shell)

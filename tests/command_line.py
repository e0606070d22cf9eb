"""The command line in a checkout of its own: no setting, token or file of the machine is seen."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.payloads import payload
from markers.cli import main
from markers.forge import Forge, seed, serve

FOREIGN = ("GH_", "GITHUB_", "MARKERS_", "XDG_", "RUNNER_", "SSL_", "PYTHON")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
PLAN = f"<!-- plan-issue-{seed.ISSUE} -->"
TARGET = ("--family", "plan-issue", "--number", str(seed.ISSUE))


def stage(text: str, target: tuple[str, ...]) -> str:
    """A payload of the family goal-run-stage for the number that ends *target*."""
    return payload("goal-run-stage", int(target[-1]), text)


@dataclass(frozen=True)
class Ran:
    """What one run of the command did."""

    code: int
    out: bytes
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        found = json.loads(self.out)
        assert found["schema_version"] == 1
        assert isinstance(found, dict)
        return found

    @property
    def text(self) -> str:
        """Stdout as text."""
        return self.out.decode()


class Shell:
    """A user's shell in a fresh checkout with a scratch root; *env* is all that is exported."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
        self.home = home
        self.top = home / "checkout"
        self.scratch = self.top / ".tmp"
        self.scratch.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(self.top)], check=True)
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        for name in list(os.environ):
            if name.startswith(FOREIGN) or name.upper() in PROXIES:
                monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.chdir(self.top)

    @property
    def own_file(self) -> Path:
        """The user's own settings file, its directory made."""
        path = self.home / ".config" / "handoff-markers" / "config.toml"
        if sys.platform == "darwin":
            path = self.home / "Library/Application Support/handoff-markers/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def export(self, **variables: str) -> None:
        """Set environment variables; an empty one counts as unset."""
        self.env.update(variables)
        for name, value in variables.items():
            self._monkeypatch.setenv(name, value)

    def payload(self, text: str | bytes, name: str = "body.md") -> str:
        """Put a payload below the scratch root; the answer is how one would name it."""
        data = text.encode() if isinstance(text, str) else text
        (self.scratch / name).write_bytes(data)
        return f".tmp/{name}"

    def run(self, *arguments: str, stdin: bytes = b"") -> Ran:
        """Run the command in this process."""
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capsys.readouterr()
        code = main(arguments)
        captured = self._capsys.readouterr()
        return Ran(code, captured.out, captured.err.decode())

    def command(self, *arguments: str) -> list[str]:
        """The words of a real process."""
        return [sys.executable, "-m", "markers", *arguments]

    def spawn(self, *arguments: str, stdin: bytes = b"", **env: str) -> Ran:
        """Run the command as a real process."""
        done = subprocess.run(
            self.command(*arguments),
            input=stdin,
            capture_output=True,
            env={**self.env, **env},
            cwd=self.top,
            check=False,
            timeout=60,
        )
        return Ran(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))

    def write(self, text: str | bytes, *more: str, target: tuple[str, ...] = TARGET) -> Ran:
        """``write --json`` of *text*."""
        return self.run("write", *target, "--body-file", self.payload(text), "--json", *more)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: Any) -> Shell:
    """A shell without repository, host and token."""
    return Shell(tmp_path / "home", monkeypatch, capsysbinary)


@pytest.fixture
def forge() -> Iterator[Forge]:
    """A forge in real time: real processes speak to it."""
    made = Forge.open()
    yield made
    made.close()


@pytest.fixture
def at_forge(shell: Shell, forge: Forge) -> Iterator[Shell]:
    """A shell whose GitHub is the forge, as its owner ``pat``."""
    with serve(forge) as server:
        shell.export(
            GITHUB_API_URL=server.url,
            GH_TOKEN=seed.PAT_TOKEN,
            GH_REPO=seed.REPO,
            MARKERS_TEST_NO_PACING="1",
            MARKERS_SETTLE_SECONDS="0.1",
        )
        yield shell


def bodies(forge: Forge, number: int = seed.ISSUE) -> list[str]:
    """What is on a thread now."""
    return [comment.body for comment in forge.comments(seed.REPO, number)]

"""The session in the README is what the command really prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from command_line import Shell, at_forge, forge, shell

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
PORT = re.compile(r"127\.0\.0\.1:\d+")

__all__ = ["at_forge", "forge", "shell"]


def steady(text: str) -> str:
    """Take out what differs from run to run: times and the port."""
    return PORT.sub("127.0.0.1:PORT", TIME.sub("TIME", text))


def steps(session: str) -> list[tuple[str, str]]:
    """Each command of a session with what it printed."""
    parts = re.split(r"^\$ (.*)\n", session, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def replay(shell: Shell, session: str) -> None:
    """Run each command of a session in its order, and compare what it prints."""
    path = os.pathsep.join((str(Path(sys.executable).parent), shell.env["PATH"]))
    for command, printed in steps(session):
        ran = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=shell.top,
            env={**shell.env, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
        )
        assert steady(ran.stdout).rstrip() == steady(printed).rstrip(), command


def test_session_is_true(at_forge: Shell) -> None:
    """Each command of the README, run in its order, prints what stands below it."""
    (session,) = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    replay(at_forge, session)


def test_first_screen_shows_how_to_try_it() -> None:
    """``make demo`` and ``make test`` stand on the README's first screen."""
    first = README.splitlines()[:20]
    assert any(line.startswith("make demo") for line in first)
    assert any(line.startswith("make test") for line in first)

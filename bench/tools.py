"""The contestants: what each is called, and how it is started for one upsert."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

TOKEN = "forge-pat"  # noqa: S105 - the embedded server's own, told to everyone
FAMILY = "completion-account"
"""An upsert family without steps: those have the target read once more before the write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One upsert: where, and under which marker; the payload comes on standard input."""

    url: str
    repo: str
    number: int

    @property
    def marker(self) -> str:
        """Line 1 of the comment."""
        return f"<!-- {FAMILY}-{self.number} -->"


def _ours(job: Job) -> list[str]:
    number = ("--family", FAMILY, "--number", str(job.number))
    return [COMMAND, "--repo", job.repo, "write", *number, "--body-file", "-", "--json"]


def _script(name: str, *more: str) -> Callable[[Job], list[str]]:
    path = str(Path(__file__).parent / "peers" / name)

    def argv(job: Job) -> list[str]:
        return [sys.executable, path, job.url, job.repo, str(job.number), job.marker, *more]

    return argv


COMMAND = str(Path(sys.executable).with_name("persist-marker"))
OURS = "persist-marker"
TOOLS: Mapping[str, Callable[[Job], list[str]]] = {
    OURS: _ours,
    "plain httpx loop": _script("httpx_upsert.py"),
    "PyGithub, throttles off, 100 a page": _script("pygithub_upsert.py", "--tuned"),
    "PyGithub, defaults": _script("pygithub_upsert.py"),
}


def environment(home: Path, url: str) -> dict[str, str]:
    """An environment of its own, with nothing remembered: each run of ours is a cold one."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "GH_TOKEN": TOKEN,
        "GITHUB_API_URL": url,
    }

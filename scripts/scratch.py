"""Where recording and live tests write: a real scratch repository, or the embedded server.

What the environment must name is said in one line where it does not.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
GITHUB = "https://api.github.com"
NEEDED = {
    "RECORD_REPO": "OWNER/NAME of a scratch repository",
    "RECORD_ISSUE": "the number of an issue in it",
    "RECORD_TOKEN": "a token that may write comments there",
}


@contextmanager
def place(who: str, argv: list[str]) -> Iterator[Mapping[str, str]]:
    """The variables for a run of *who*; with ``--forge`` those of the embedded server."""
    with _forge() if "--forge" in argv else _real(who) as variables:
        yield variables


@contextmanager
def _forge() -> Iterator[Mapping[str, str]]:
    from markers.forge import Forge, seed, serve

    forge = Forge.open()
    long = forge.add_issue(seed.REPO, title="A long talk")
    forge.fill(seed.REPO, long, 100, body="{}.".format)
    last = forge.comment(seed.REPO, long, "pat", f"<!-- goal-run-stage-{long} -->\n\nDone.\n")
    with serve(forge) as server:
        yield {
            "RECORD_API_URL": server.url,
            "RECORD_REPO": seed.REPO,
            "RECORD_ISSUE": str(seed.ISSUE),
            "RECORD_LONG_ISSUE": str(long),
            "RECORD_LONG_COMMENT": str(last.id),
            "RECORD_TOKEN": seed.PAT_TOKEN,
            "RECORD_ORIGIN": "the embedded forge (persist-marker forge serve), not GitHub",
        }
    forge.close()


@contextmanager
def _real(who: str) -> Iterator[Mapping[str, str]]:
    missing = [f"{name} ({what})" for name, what in NEEDED.items() if not os.environ.get(name)]
    if missing:
        sys.exit(f"{who}: set {', '.join(missing)}")
    yield {"RECORD_API_URL": os.environ.get("RECORD_API_URL") or GITHUB}


def pytest(variables: Mapping[str, str], *words: str) -> int:
    """Run a part of the tests there; the answer is the exit code."""
    argv = [sys.executable, "-m", "pytest", *words]
    environment = {**os.environ, **variables}
    return subprocess.run(argv, cwd=ROOT, env=environment).returncode  # noqa: S603 - pytest

"""Record the cassettes anew: against a real scratch repository, or, with --forge, the embedded one.

A comment is created on the issue, changed and deleted again; use a repository made for that.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
NEEDED = {
    "RECORD_REPO": "OWNER/NAME of a scratch repository",
    "RECORD_ISSUE": "the number of an issue in it",
    "RECORD_TOKEN": "a token that may write comments there",
}


@contextmanager
def _forge() -> Iterator[Mapping[str, str]]:
    """The embedded server, for as long as the recording takes."""
    from markers.forge import Forge, seed, serve

    forge = Forge.open()
    with serve(forge) as server:
        yield {
            "RECORD_API_URL": server.url,
            "RECORD_REPO": seed.REPO,
            "RECORD_ISSUE": str(seed.ISSUE),
            "RECORD_TOKEN": seed.PAT_TOKEN,
            "RECORD_ORIGIN": "the embedded forge (persist-marker forge serve), not GitHub",
        }
    forge.close()


@contextmanager
def _real() -> Iterator[Mapping[str, str]]:
    """What the environment names; stops with one line that says what is missing."""
    missing = [f"{name} ({what})" for name, what in NEEDED.items() if not os.environ.get(name)]
    if missing:
        sys.exit(f"record: set {', '.join(missing)}")
    yield {"RECORD_API_URL": os.environ.get("RECORD_API_URL") or "https://api.github.com"}


def main() -> int:
    """Run the cassette tests in the mode that records."""
    place = _forge if "--forge" in sys.argv[1:] else _real
    with place() as variables:
        for old in (ROOT / "cassettes").glob("*.yaml"):
            old.unlink()
        argv = [sys.executable, "-m", "pytest", "--record-mode=rewrite", "tests/test_cassettes.py"]
        environment = {**os.environ, **variables}
        return subprocess.run(argv, cwd=ROOT, env=environment).returncode  # noqa: S603 - pytest


if __name__ == "__main__":
    sys.exit(main())

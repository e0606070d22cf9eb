"""The scripts that record and test against a real repository, tried without one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = ("RECORD_REPO", "RECORD_ISSUE", "RECORD_TOKEN")


def ran(name: str, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a script with only these of its variables set."""
    clean = {key: value for key, value in os.environ.items() if key not in NAMES}
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / f"{name}.py", *words],
        cwd=ROOT,
        env={**clean, **env},
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.parametrize("name", ["live", "record"])
@pytest.mark.parametrize("given", range(3))
def test_what_is_missing_is_named_in_one_line(name: str, given: int) -> None:
    """Without a repository, issue and token nothing runs; one line says what to set."""
    done = ran(name, **dict.fromkeys(NAMES[:given], "1"))
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.startswith(f"{name}: set ")
    for missing in NAMES[given:]:
        assert missing in line
    for there in NAMES[:given]:
        assert there not in line


def test_live_script() -> None:
    """The live tests pass on the embedded server, and are not among the usual ones."""
    done = ran("live", "--forge")
    assert done.returncode == 0, done.stdout
    assert " 4 passed" in done.stdout

"""Witnesses: what the tests can use and this project did not write; what is skipped without it.

A pytest plugin.  ``@pytest.mark.needs("gh")`` names what a test cannot do without.  Where it is
missing the test is skipped and counted at the end of the run; where it is installed, a skip is a
failure.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EMULATE = ROOT / ".venv" / "node" / "node_modules" / "emulate" / "dist" / "index.js"


@dataclass(frozen=True)
class Witness:
    """Whether it is here, and how to get it."""

    there: Callable[[], bool]
    how: str


@cache
def _has_postgres() -> bool:
    from bench.postgres import programs

    return programs() is not None and find_spec("psycopg") is not None


WITNESSES = {
    "emulate": Witness(
        lambda: shutil.which("node") is not None and EMULATE.is_file(),
        "install node and npm, then run 'scripts/witnesses.sh again'",
    ),
    "flock": Witness(lambda: shutil.which("flock") is not None, "install util-linux"),
    # Elsewhere Go's own reading of SSL_CERT_FILE is missing, and the private authority with it.
    "gh": Witness(
        lambda: shutil.which("gh") is not None and sys.platform == "linux",
        "install GitHub's command line, gh (Linux only)",
    ),
    "postgres": Witness(
        _has_postgres,
        "install PostgreSQL 15 or newer, then run 'scripts/witnesses.sh again'",
    ),
    "recordings": Witness(
        lambda: bool(os.environ.get("RECORDED_DIR")),
        "set RECORDED_DIR to a folder with recordings of GitHub's answers",
    ),
}


def reason(name: str) -> str:
    """Why a test is skipped."""
    return f"{name} is not here: {WITNESSES[name].how}"


def missing(item: pytest.Item) -> list[str]:
    """What a test needs and this machine lacks."""
    named = [name for mark in item.iter_markers("needs") for name in mark.args]
    return [name for name in named if not WITNESSES[name].there()]


def pytest_configure(config: pytest.Config) -> None:
    """Say what the marks mean."""
    config.addinivalue_line("markers", f"needs(name): one of {', '.join(WITNESSES)}")
    config.addinivalue_line("markers", "live: writes to a real scratch repository (make live)")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here, before any fixture is made."""
    for name in missing(item):
        pytest.skip(reason(name))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Let a test fail that was skipped although all that it needs is here."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and item.get_closest_marker("needs") and not missing(item):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped although all that it needs is installed"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count what was skipped, by reason, and say what is not among the tests."""
    skipped = Counter(_words(report) for report in terminalreporter.stats.get("skipped", []))
    terminalreporter.section("what was skipped")
    for words, count in sorted(skipped.items()):
        terminalreporter.write_line(f"{count} skipped: {words}")
    if not skipped:
        terminalreporter.write_line("nothing was skipped")
    if terminalreporter.config.option.markexpr == "not live":
        terminalreporter.write_line("not among these: the tests against a real GitHub (make live)")


def _words(report: pytest.TestReport) -> str:
    """The reason of a skip, without the place."""
    told = report.longrepr
    words = told[2] if isinstance(told, tuple | list) else str(told)
    return str(words).removeprefix("Skipped: ")

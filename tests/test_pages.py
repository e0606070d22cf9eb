"""The pages of docs/: generated parts are fresh, links lead somewhere, named targets exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
MAKE = r"(?:^|`)make ([a-z-]+)"
GENERATED = [page for page in PAGES if "[[[cog" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", GENERATED, ids=lambda page: page.name)
def test_generated_parts_are_fresh(page: Path) -> None:
    """What a page repeats of the code is what the code says now (``make docs`` mends it)."""
    ran = subprocess.run(
        [sys.executable, "-m", "cogapp", "--check", "-I", "scripts", page],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """A relative link in a page names a file that is there."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_page_is_in_the_index() -> None:
    """A page that the index does not name is not found by anybody."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in index, page.name


def test_named_make_targets_exist() -> None:
    """A ``make`` target that a page names is in the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        word for page in PAGES for word in re.findall(MAKE, page.read_text("utf-8"), re.MULTILINE)
    }
    assert {"demo", "test"} <= named <= targets


def test_named_tests_exist() -> None:
    """A test that a page names as its proof is in the suite."""
    suite = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("*.py"))
    there = set(re.findall(r"^ *(?:async )?def (test_\w+)", suite, re.MULTILINE))
    named = {
        name
        for page in PAGES
        for name in re.findall(r"\b(test_\w+)\b(?!\.py)", page.read_text("utf-8"))
    }
    files = {path.stem for path in (ROOT / "tests").glob("test_*.py")}
    shown = {"test_it", "test_note_is_found_again"}
    assert named - there - files - shown == set()

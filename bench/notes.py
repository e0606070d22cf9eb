"""A checkout with notes of a session, as the hooks find it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

LINES = 200
"""Of the notes; most are entries that the digest shows."""
EVENT = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "go on"})
_SECTIONS = ("Constraints", "Decisions", "Existing infrastructure", "Open threads")


def project(scratch: Path) -> Path:
    """A git checkout with ``SESSION-STATE.md``, made where it is missing."""
    top = scratch / "project"
    if not top.exists():
        subprocess.run(["git", "init", "-q", str(top)], check=True)  # noqa: S603, S607 (a folder of ours)
        (top / "SESSION-STATE.md").write_text(notes(), encoding="utf-8")
    return top


def notes() -> str:
    """The text of ``SESSION-STATE.md``."""
    each = LINES // len(_SECTIONS) - 1
    lines = [
        line
        for section in _SECTIONS
        for line in (f"## {section}", *(f"- an entry of some words, {n}" for n in range(each)))
    ]
    return "\n".join(lines) + "\n"

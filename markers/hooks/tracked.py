"""Whether git tracks a file: what it tracks may be a stranger's, since a clone brings it along.

What may live here: asking git, for so long and no longer, in a way that lets no repository's own
settings start a program.  What may not: what follows from the answer.

All repositories around the file are asked, since any of them may have brought it.  Letter case does
not count, as on file systems where a file answers to both spellings.  No answer (no git, another
owner's repository, a broken one) is an answer of its own, ``UNTOLD``, never "untracked".
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from ..clock import Deadline
from ..programs import Silent, answer

PATIENCE = 2.0
"""Seconds for all questions about one file; a large index takes a tenth of one."""
_NOTHING_RUNS = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "safe.bareRepository=explicit"),
)
_QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
"""A partial clone would fetch what it lacks, by a program that its settings name."""


class Standing(StrEnum):
    """What git has to do with a file."""

    TRACKED = "tracked"
    UNTRACKED = "untracked"
    """In a checkout, and not tracked."""
    OUTSIDE = "outside"
    """In no checkout."""
    UNTOLD = "untold"
    """In a checkout that git does not tell about."""


def standing(path: Path, environ: Mapping[str, str]) -> Standing:
    """What git has to do with the file at *path*, whose directory is spelled without links."""
    deadline, found = Deadline(PATIENCE), Standing.OUTSIDE
    for top in _tops(path):
        wanted = f":(top,icase,literal){path.relative_to(top)}"
        told = _told(top, environ, deadline, "ls-files", "-z", "--cached", "--", wanted)
        if told is None or told[0] != 0:
            return Standing.UNTOLD
        if told[1]:
            return Standing.TRACKED
        found = Standing.UNTRACKED
    return found


def is_ignored(path: Path, environ: Mapping[str, str]) -> bool:
    """Whether the nearest checkout ignores *path*; yes where git does not tell."""
    for top in _tops(path):
        relative = str(path.relative_to(top))
        told = _told(top, environ, Deadline(PATIENCE), "check-ignore", "-q", "--", relative)
        return told is None or told[0] != 1
    return True


def _tops(path: Path) -> Iterator[Path]:
    """The directories above *path* that look like a checkout's top, nearest first."""
    return (above for above in path.parents if os.path.lexists(above / ".git"))


def _told(
    top: Path, environ: Mapping[str, str], deadline: Deadline, *words: str
) -> tuple[int, bytes] | None:
    command = ["git", *_NOTHING_RUNS, *words]
    try:
        return answer(command, seconds=deadline.remaining(), env=_environment(environ), cwd=top)
    except (Silent, OSError):
        return None


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Without what points git to another repository, index or program, and git not from here."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    search = filter(os.path.isabs, kept.get("PATH", os.defpath).split(os.pathsep))
    # An empty search path would mean the working directory.
    return {**kept, **_QUIET, "PATH": os.pathsep.join(search) or os.devnull}

"""What git says of the checkout that a command runs in.

What may live here: the questions to git, with an answer for whatever it does not say.  What may
not: what follows from the answers (``keys``).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..programs import Silent, answer

PATIENCE = 5.0
"""Seconds that git may take for one answer."""
_INSIDE = ".git"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A worktree, and where it stands."""

    top: Path
    common: Path
    """The directory that all worktrees of the repository share; *top* where there is but one."""
    branch: str | None = None
    """None where no branch is checked out."""
    sha: str | None = None
    """The commit, shortened; None before the first."""


def look(top: Path | None, directory: Path) -> Checkout:
    """Ask git about the worktree at *top*; without one, *directory* stands for it."""
    if top is None:
        return Checkout(top=directory, common=directory)
    shared = _ask(top, "rev-parse", "--path-format=absolute", "--git-common-dir")
    return Checkout(
        top=top,
        common=common_root(Path(shared), top) if shared else top,
        branch=_ask(top, "symbolic-ref", "--quiet", "--short", "HEAD"),
        sha=_ask(top, "rev-parse", "--quiet", "--verify", "--short", "HEAD"),
    )


def common_root(shared: Path, top: Path) -> Path:
    """The directory that holds git's shared one; that of a submodule is inside another's."""
    return top if _INSIDE in shared.parent.parts else shared.parent


def _ask(top: Path, *words: str) -> str | None:
    # In a git hook these variables speak of another repository.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        code, told = answer(("git", *words), seconds=PATIENCE, env=env, cwd=top)
    except (Silent, OSError):
        return None
    return told.decode("utf-8", "replace").strip() or None if code == 0 else None

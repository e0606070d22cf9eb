"""Whether git tracks a file: what it tracks may be a stranger's, since a clone brings it along.

What may live here: asking git, for so long and no longer, in a way that lets no repository's own
settings start a program.  What may not: what follows from the answer.

All repositories around the file are asked, since any of them may have brought it, and the one that
the user's own variables name.  A file is tracked that the index or the commit at HEAD has, or below
a submodule that either has.  In the index letter case does not count, as on file systems where a
file answers to both spellings.  No answer (no git, another owner's repository, a broken one, a word
of complaint) is an answer of its own, ``UNTOLD``, never "untracked".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ..clock import Deadline
from ..programs import Silent, hear

PATIENCE = 2.0
"""Seconds for all questions about one file; a large index takes a tenth of one."""
MOST = 64 * 1024
"""Bytes of an answer that are read; each is a few lines."""
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
_NAMED = ("GIT_DIR", "GIT_WORK_TREE")
_PLACES = frozenset({*_NAMED, "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"})
"""By these a user names a repository, or parts of it."""
_CAPITALS = re.compile("[A-Z]+")
_SPECIAL = re.compile(r"\A.|[*?\[\\]", re.DOTALL)


class Standing(StrEnum):
    """What git has to do with a file."""

    TRACKED = "tracked"
    UNTRACKED = "untracked"
    """In a checkout, and not tracked."""
    OUTSIDE = "outside"
    """In no checkout."""
    UNTOLD = "untold"
    """In a checkout that git does not tell about."""


class _Untold(Exception):
    """Git did not answer, or not without a complaint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Git:
    """A repository, by where git is asked and with which variables."""

    at: Path
    environ: Mapping[str, str]
    until: Deadline
    named: bool = False
    """Whether the variables name it, and not the place."""

    def told(self, *words: str, codes: Sequence[int] = (0,)) -> tuple[int, bytes]:
        """Exit code, one of *codes*, and standard output; raises ``_Untold``."""
        command, seconds = ["git", *_NOTHING_RUNS, *words], self.until.remaining()
        try:
            told = hear(command, seconds=seconds, most=MOST, env=self.environ, cwd=self.at)
        except (Silent, OSError):
            raise _Untold from None
        if told.code not in codes or told.err:
            raise _Untold
        return told.code, told.out


def standing(path: Path, environ: Mapping[str, str]) -> Standing:
    """What git has to do with the file at *path*, whose directory is spelled without links."""
    found = Standing.OUTSIDE
    try:
        for git in _repositories(path, environ):
            if _has(git, path):
                return Standing.TRACKED
            found = Standing.UNTRACKED
    except _Untold:
        return Standing.UNTOLD
    return found


def is_ignored(path: Path, environ: Mapping[str, str]) -> bool:
    """Whether the nearest checkout ignores *path*; yes where git does not tell."""
    until = Deadline(PATIENCE)
    git = _Git(at=path.parent, environ=_environment(environ), until=until)
    try:
        return git.told("check-ignore", "-q", "--", path.name, codes=(0, 1))[0] == 0
    except _Untold:
        return True


def is_misspelt(path: Path) -> bool:
    """Whether *path* is there by another spelling than its directory has: case may not count."""
    if not os.path.lexists(path):
        return False
    try:
        with os.scandir(path.parent) as listed:
            return all(each.name != path.name for each in listed)
    except OSError:
        return True


def _repositories(path: Path, environ: Mapping[str, str]) -> Iterator[_Git]:
    """Those around *path*, nearest first, and the one that variables name to git started here."""
    until = Deadline(PATIENCE)
    clean = _environment(environ)
    for above in path.parents:
        if os.path.lexists(above / ".git"):
            yield _Git(at=above, environ=clean, until=until)
    if any(environ.get(name) for name in _NAMED):
        try:
            here = Path.cwd()
        except OSError:
            raise _Untold from None
        named = {name: value for name, value in environ.items() if name in _PLACES and value}
        yield _Git(at=here, environ={**clean, **named}, until=until, named=True)


def _has(git: _Git, path: Path) -> bool:
    """Whether index or commit has the file, or a submodule above it."""
    top, has_commit = _top(git)
    # Also from where it was found: a work tree elsewhere, or none, may have been set since.
    tops = {each for each in (top, None if git.named else git.at) if each}
    paths = [way for each in tops for way in _ways(path, each)]
    if not paths:
        return False
    if git.told("ls-files", "-z", "--cached", "--", *map(_exactly, paths))[1]:
        return True
    literal = ("--literal-pathspecs", "ls-tree", "-z", "--full-tree", "HEAD", "--")
    committed = git.told(*literal, *paths)[1] if has_commit else b""
    return any(b" tree " not in each.partition(b"\t")[0] for each in committed.split(b"\0")[:-1])


def _ways(path: Path, top: Path) -> list[str]:
    """The path below *top*, and those of the directories on the way; raises ``_Untold``."""
    if not path.is_relative_to(top):
        return []
    parts = path.relative_to(top).parts
    found = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    if any(is_misspelt(top / each) for each in found):
        raise _Untold
    return found


def _top(git: _Git) -> tuple[Path | None, bool]:
    """Where the work tree begins, if there is one, and whether there is a commit."""
    words = ("rev-parse", "--show-cdup", "--quiet", "--verify", "HEAD")
    code, out = git.told(*words, codes=(0, 1))
    lines = os.fsdecode(out).split("\n")[: -1 if code else -2]
    up = "\n".join(lines)
    return (Path(os.path.normpath(git.at / up)) if lines else None), code == 0


def _exactly(path: str) -> str:
    """The pathspec of what is called so, in either case, and not of what lies below it.

    A pathspec with a wildcard or an escape in it does not stand for a whole directory.  Small
    letters, since git forgets to fold those behind an escape.
    """
    small = _CAPITALS.sub(lambda found: found[0].lower(), path)
    return ":(top,icase,glob)" + _SPECIAL.sub(lambda found: "\\" + found[0], small)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Without what points git to another repository, index or program, and git not from here."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    search = filter(os.path.isabs, kept.get("PATH", os.defpath).split(os.pathsep))
    # An empty search path would mean the working directory.
    return {**kept, **_QUIET, "PATH": os.pathsep.join(search) or os.devnull}

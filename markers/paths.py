"""Files that an option names, opened only where they may lie.

What may live here: where a path may point, and the opening of it.  What may not: what the file
means.  Plain standard library, Linux and macOS.

The rules (design, section 3): below one of the roots; no ``..``, no symbolic link in any part, the
root included; regular files with one name only; never a wait for a pipe or a device.  Each part is
opened from the descriptor of the part before it and without following links, so that whoever swaps
a directory for a link meanwhile gains nothing.  What stands *above* a root may be a link: the root
was chosen by the user, the way to it by the system.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .errors import Refused, echo

LIMIT = 4 * 1024 * 1024
"""The size in bytes above which no file is read unless the caller says otherwise."""
LONGEST = 4096
SIBLINGS = ("-wal", "-shm", "-journal")
"""What SQLite puts beside a database, and opens without asking."""
FOLDERS = (".locks",)
"""The directories that a journal keeps beside its database."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
"""How a file is opened for reading: no link followed, no wait for a pipe."""


@dataclass(frozen=True, slots=True)
class Roots:
    """The directories below which an option may name a file, in order; all absolute."""

    directories: tuple[Path, ...]

    def __str__(self) -> str:
        return ", ".join(str(root) for root in self.directories) or "none"

    def hint(self) -> str:
        """What is allowed, and how to allow more."""
        there = any(map(os.path.isdir, self.directories))
        create = f" (create {self.directories[0]} first)" if self.directories and not there else ""
        return (
            f"allowed is what lies below {self}{create}; more directories come from the "
            "environment variable MARKERS_ROOTS or from your own settings file"
        )


def find_git_top(directory: Path) -> Path | None:
    """The nearest directory from *directory* upwards that holds ``.git`` (directory or file)."""
    above = (directory, *directory.parents)
    # Path.exists would raise where a directory above may not be searched.
    return next((at for at in above if os.path.exists(at / ".git")), None)  # noqa: PTH110


def scratch_roots(cwd: Path, env: Mapping[str, str], git_top: Path | None) -> Roots:
    """Where payloads, manifests and contract directories may lie.

    ``.tmp`` under the git top level (*cwd* where there is none), ``RUNNER_TEMP`` in GitHub
    Actions, then ``MARKERS_ROOTS``.  Raises ``Refused`` (``roots``) when the last one names a
    directory that is not absolute.
    """
    found = [(git_top or cwd) / ".tmp"]
    if env.get("GITHUB_ACTIONS") and env.get("RUNNER_TEMP"):
        found.append(Path(env["RUNNER_TEMP"]))
    found += map(_absolute, filter(None, env.get("MARKERS_ROOTS", "").split(os.pathsep)))
    return Roots(tuple(dict.fromkeys(found)))


def _absolute(text: str) -> Path:
    if not text.startswith("/") or ".." in text.split("/"):
        raise Refused(
            "roots",
            f"MARKERS_ROOTS names {echo(text)}: each directory must be absolute, without ..",
        )
    return Path(text)


@dataclass(frozen=True, slots=True)
class Place:
    """A path that lies below a root as far as its letters say; nothing was opened yet."""

    given: str
    """As the caller spelled it."""
    root: Path
    parts: tuple[str, ...]
    roots: Roots

    @property
    def path(self) -> Path:
        """The same place as an absolute path."""
        return self.root.joinpath(*self.parts)

    def refused(self, code: str, what: str) -> Refused:
        """The refusal that says *what* is wrong with this path, where other roots are no help."""
        return Refused(code, f"{echo(self.given)} {what}")


def locate(path: str | os.PathLike[str], roots: Roots, *, cwd: Path) -> Place:
    """Find the root that *path* lies below, by its letters alone.

    Raises ``Refused``: ``path-invalid`` (empty, a NUL, too long), ``path-parent`` (a ``..``, even a
    harmless one), ``path-outside``.
    """
    text = os.fspath(path)
    if not text or "\0" in text or len(text) > LONGEST:
        raise Refused("path-invalid", f"'{echo(text)}' is not a file name")
    if ".." in text.split("/"):
        raise Refused("path-parent", f"{echo(text)} has a '..' part: name it without")
    whole = cwd / text
    for root in roots.directories:
        # The second spelling is for callers whose working directory is spelled without links.
        for spelling in (root, Path(os.path.realpath(root.parent)) / root.name):
            if whole.is_relative_to(spelling):
                return Place(text, root, whole.relative_to(spelling).parts, roots)
    raise Refused("path-outside", f"{echo(text)} lies elsewhere: {roots.hint()}")


@contextmanager
def walked(place: Place, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
    """Yield the descriptor of the directory *parts* below the root, reached part by part.

    With *create*, directories that are missing are made, for their owner alone.
    """
    step = _made if create else _step
    at = step(place, str(place.root), None)
    try:
        for part in parts:
            following = step(place, part, at)
            os.close(at)
            at = following
        yield at
    finally:
        os.close(at)


def _step(place: Place, name: str, at: int | None) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=at)
    except OSError as error:
        raise _explained(place, name, at, error) from None


def _made(place: Place, name: str, at: int | None) -> int:
    try:
        if at is None:
            os.makedirs(name, mode=0o700, exist_ok=True)  # noqa: PTH103 - paired with dir_fd below
        else:
            os.mkdir(name, 0o700, dir_fd=at)
    except FileExistsError:
        pass  # whatever it is: opening it tells
    except OSError as error:
        raise _explained(place, name, at, error) from None
    return _step(place, name, at)


def _explained(place: Place, name: str, at: int | None, error: OSError) -> Refused:
    """Say why *name* could not be opened: systems differ in the number they give for a link."""
    if error.errno == errno.ENOENT:
        if at is not None:
            return place.refused("path-missing", "does not exist")
        root = f"nor does {place.root}: create that first; {place.roots.hint()}"
        return place.refused("path-missing", f"does not exist, {root}")
    if error.errno == errno.ENAMETOOLONG:
        return place.refused("path-invalid", "has a name that is too long")
    try:
        mode = os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
    except OSError:
        mode = 0
    if stat.S_ISLNK(mode):
        return place.refused("path-symlink", f"goes through the symbolic link {echo(name)}")
    if mode and error.errno == errno.ENOTDIR:
        return place.refused("path-not-directory", f"needs {echo(name)} to be a directory")
    return place.refused("path-unreadable", f"cannot be opened ({error.strerror})")


def look(place: Place, name: str, at: int) -> os.stat_result:
    """What *name* in the directory *at* is, a link not followed."""
    try:
        return os.stat(name, dir_fd=at, follow_symlinks=False)
    except OSError as error:
        raise _explained(place, name, at, error) from None


@contextmanager
def missing_is_fine() -> Iterator[None]:
    """Let the refusal of what does not exist pass in silence."""
    try:
        yield
    except Refused as refusal:
        if refusal.reason.code != "path-missing":
            raise


def judge(place: Place, found: os.stat_result, *, is_read: bool = False) -> None:
    """Refuse all but a regular file with one name; raises ``Refused`` (``path-...``).

    A file that *is_read* may have lost its name: then it was replaced since it was opened, and is
    the whole of what it was.
    """
    if stat.S_ISLNK(found.st_mode):
        raise place.refused("path-symlink", "is a symbolic link: name the file itself")
    if not stat.S_ISREG(found.st_mode):
        raise place.refused("path-not-regular", "is not a regular file")
    if found.st_nlink == 0 and is_read:
        return
    if found.st_nlink == 0:
        raise place.refused("path-gone", "was replaced or deleted meanwhile: try again")
    if found.st_nlink > 1:
        raise place.refused(
            "path-hard-link", f"is a file with {found.st_nlink} names (hard links): copy it"
        )


def _open(place: Place) -> int:
    if not place.parts:
        raise place.refused("path-not-regular", "is not a regular file")
    *above, name = place.parts
    with walked(place, tuple(above)) as at:
        # Looked at before it is opened, since opening a device can already do something;
        # and after, since only what is open can no longer be swapped.
        judge(place, look(place, name, at), is_read=True)
        try:
            descriptor = os.open(name, FILE, dir_fd=at)
        except OSError as error:
            raise _explained(place, name, at, error) from None
    try:
        judge(place, os.fstat(descriptor), is_read=True)
    except Refused:
        os.close(descriptor)
        raise
    return descriptor


def open_bounded(path: str | os.PathLike[str], roots: Roots, *, cwd: Path) -> BinaryIO:
    """Open a regular file below *roots* for reading; raises ``Refused`` (``path-...``)."""
    return os.fdopen(_open(locate(path, roots, cwd=cwd)), "rb")


def read_bounded(
    path: str | os.PathLike[str], roots: Roots, *, cwd: Path, limit_bytes: int = LIMIT
) -> bytes:
    """Read a whole regular file below *roots*; ``path-too-large`` above *limit_bytes*."""
    return read_place(locate(path, roots, cwd=cwd), limit_bytes)


def read_place(place: Place, limit_bytes: int) -> bytes:
    """Read the regular file at *place*."""
    with os.fdopen(_open(place), "rb") as file:
        data = file.read(limit_bytes + 1)
    if len(data) > limit_bytes:
        raise place.refused("path-too-large", f"holds more than {limit_bytes:,} bytes")
    return data


def writable_file_bounded(
    path: str | os.PathLike[str],
    roots: Roots,
    *,
    cwd: Path,
    siblings: tuple[str, ...] = SIBLINGS,
    folders: tuple[str, ...] = FOLDERS,
) -> Path:
    """The path of a database below *roots* that exists as a plain file or can be created.

    Its directory must be there.  The files beside it (the name and one of *siblings*) are held to
    the same rules; what has the name and one of *folders* must be a directory.  The answer is a
    path, since SQLite opens by name: whoever may write to the directory can still swap the file
    between this look and SQLite's.
    """
    place = locate(path, roots, cwd=cwd)
    if not place.parts:
        raise place.refused("path-not-regular", "is not a regular file")
    *above, name = place.parts
    with walked(place, tuple(above)) as at:
        for each in (name, *(name + sibling for sibling in siblings)):
            with missing_is_fine():
                judge(place, look(place, each, at))
        for each in folders:
            with missing_is_fine():
                os.close(_step(place, name + each, at))
    return place.path

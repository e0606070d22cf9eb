"""Directories that an option names, as a ``Traversable`` that cannot be led astray.

What may live here: handing out what lies below such a directory.  What may not: the rules
themselves (``paths``).
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from .errors import echo
from .paths import LIMIT, Place, Roots, locate, look, missing_is_fine, read_place, walked


@dataclass(frozen=True, slots=True)
class Bounded:
    """A directory or file below the roots, as a ``Traversable``.

    Nothing is remembered between two calls: each walks again from the root.  A link is refused
    wherever it is met, never skipped, so that a linked file does not silently count as missing.
    """

    place: Place
    limit_bytes: int

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.place.path.name

    def __str__(self) -> str:
        return self.place.given

    def iterdir(self) -> Iterator[Bounded]:
        """The directory's entries, sorted by name."""
        with walked(self.place, self.place.parts) as at:
            names = sorted(os.listdir(at))  # noqa: PTH208 (a descriptor cannot be swapped, a path can)
        return map(self.joinpath, names)

    def is_dir(self) -> bool:
        """Whether it is there and is a directory."""
        return stat.S_ISDIR(self._mode())

    def is_file(self) -> bool:
        """Whether it is there and is a regular file."""
        return stat.S_ISREG(self._mode())

    def _mode(self) -> int:
        """The kind of file; 0 for what is not there."""
        *above, name = self.place.parts or (".",)
        mode = 0
        with missing_is_fine(), walked(self.place, tuple(above)) as at:
            mode = look(self.place, name, at).st_mode
        if stat.S_ISLNK(mode):
            raise self.place.refused("path-symlink", "is a symbolic link")
        return mode

    def joinpath(self, *descendants: str | os.PathLike[str]) -> Bounded:
        """What lies below; a ``..`` is refused here as anywhere."""
        named = [part for each in descendants for part in os.fspath(each).split("/")]
        added = tuple(part for part in named if part not in ("", "."))
        place = replace(
            self.place,
            given="/".join((self.place.given, *added)),
            parts=(*self.place.parts, *added),
        )
        if ".." in added:
            raise place.refused("path-parent", "has a '..' part")
        return Bounded(place, self.limit_bytes)

    def __truediv__(self, child: str | os.PathLike[str]) -> Bounded:
        return self.joinpath(child)

    def read_bytes(self) -> bytes:
        """The whole file; ``path-too-large`` above the limit."""
        return read_place(self.place, self.limit_bytes)

    def read_text(self, encoding: str | None = None, errors: str | None = None) -> str:
        """The whole file as text, UTF-8 unless told otherwise."""
        return self.read_bytes().decode(encoding or "utf-8", errors or "strict")

    def open(
        self, mode: str = "r", encoding: str | None = None, errors: str | None = None
    ) -> IO[Any]:
        """The file, for reading only: what can be too large is read before it is handed out."""
        if mode not in ("r", "rb"):
            raise self.place.refused("path-read-only", f"cannot be opened with mode {echo(mode)!r}")
        data = self.read_bytes()
        return (
            io.BytesIO(data)
            if mode == "rb"
            else io.StringIO(data.decode(encoding or "utf-8", errors or "strict"))
        )


def directory_bounded(
    path: str | os.PathLike[str], roots: Roots, *, cwd: Path, limit_bytes: int = LIMIT
) -> Bounded:
    """A directory below *roots* (or a root itself), of which only bounded files can be read."""
    place = locate(path, roots, cwd=cwd)
    with walked(place, place.parts):
        return Bounded(place, limit_bytes)

"""The local copy in a file of its own, such as ``/memories/session/plan-issue-12.md``.

What may live here: the file as a ``Local``.  What may not: which file a row has (``naming``), what
its text means.

A base is bound to *this* copy: to the machine's name, the file's absolute path and the inode of its
directory.  Worktrees and machines may share a journal, and a base that they shared as well would
call an old copy in one of them fresher than the comment that was written from the other.  Where
any of the three changes the base is forgotten, and then the comment governs.
"""

from __future__ import annotations

import hashlib
import os
import socket
from dataclasses import dataclass

from ..caches.files import StateFile
from ..errors import Conflict, Refused, echo


@dataclass(frozen=True, slots=True)
class CacheFile:
    """A whole file of text; written under its lock, whole or not at all."""

    file: StateFile

    @property
    def place(self) -> str:
        """Its path."""
        return str(self.file)

    @property
    def key(self) -> str:
        """Machine, path and directory, as a digest: others may read the journal."""
        path = self.file.place.path
        directory = os.path.realpath(path.parent)
        try:
            inode = os.stat(directory).st_ino  # noqa: PTH116 - of a string from realpath
        except OSError:
            inode = 0
        name = f"{socket.gethostname()}\0{directory}/{path.name}\0{inode}"
        return hashlib.sha256(os.fsencode(name)).hexdigest()[:32]

    def read(self) -> str | None:
        """The text, byte-order mark and all; raises ``Refused`` (``encoding``) for what is none."""
        data = self.file.read()
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError as error:
            detail = f"{echo(self.place)} is not UTF-8 (byte {error.start}): save it as UTF-8"
            raise Refused("encoding", detail) from None

    def says_nothing(self, text: str) -> bool:  # a blank file is no text at all
        """A file says what it says."""
        del text
        return False

    def spelled(self, text: str) -> str:
        """A file holds what it is given."""
        return text

    def write(self, text: str, seen: str | None) -> str:
        """Put *text* in the place of *seen*; raises ``Conflict`` where that is not there now.

        It is looked at again right before the renaming: an editor takes no lock.
        """
        expected = None if seen is None else seen.encode("utf-8")
        with self.file.held(_unheard) as held:

            def require_unchanged() -> None:
                if held.read() != expected:
                    raise changed(self.place)

            require_unchanged()
            held.write(text.encode("utf-8"), last=require_unchanged)
        return text

    def keep(self, text: str, why: str) -> str:
        """Keep a copy in ``kept-aside``; the same text again is the same copy."""
        return self.file.keep_aside(text.encode("utf-8"), why)


def changed(place: str) -> Conflict:
    """The local copy is not what was decided about any more."""
    return Conflict("cache-changed", f"{echo(place)} has changed since it was read: run it again")


def _unheard(_warning: str) -> None:
    """Nothing is written without the lock, so that there is nothing to warn of."""

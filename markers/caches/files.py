"""A state file as bytes: read whole, and changed under its lock, whole or not at all.

What may live here: the order of lock, fresh read, write.  What may not: what the bytes mean
(``engine`` and the stores' codecs).  No network and nothing slow happens under a lock.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from .. import clock
from ..errors import Failed, Refused, Unavailable, echo
from ..paths import FILE, LIMIT, Place, judge, look, missing_is_fine, read_place, walked
from ..replacing import NEW, put
from .declared import Posture
from .locks import locked

Warn = Callable[[str], None]
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MARK = 12
"""Hex digits of a copy's hash in its name."""
ASIDE = "kept-aside"
"""The directory beside a file in which copies of it are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFile:
    """One file below a root, and how it is locked."""

    place: Place
    mode: int = 0o644
    """Of a new file."""
    wait: float = 10.0
    """Seconds to wait for the lock."""
    posture: Posture = Posture.FAIL_CLOSED
    inherited: int | None = None
    """A descriptor of the lock that the starting program holds."""

    def __str__(self) -> str:
        return str(self.place.path)

    def read(self) -> bytes | None:
        """What is in it; None where there is no file (or no directory for one).

        Raises ``Failed`` (``state-unreadable``) and ``Refused`` (``path-...``).
        """
        try:
            with _told_as_failed(self.place):
                return read_place(self.place, LIMIT)
        except Refused as refusal:
            if refusal.reason.code == "path-missing":
                return None
            raise

    def replace(self, data: bytes) -> None:
        """Put *data* in its place without a lock: the last writer wins.

        Raises ``Failed`` (``state-unwritable``) and ``Refused``.
        """
        with self._directory(create=True) as at:
            Held(self, at, self.place.parts[-1]).write(data)

    def keep_aside(self, data: bytes, why: str) -> str:
        """Keep *data* below ``kept-aside`` in its directory, durably; the answer is its path.

        Its name says what it is a copy of and why, and the same bytes again are the same copy.

        There no reader of the directory takes it for state, and git does not see it.  Raises
        ``Failed`` and ``Refused``.
        """
        *above, own = self.place.parts
        parts = (*above, ASIDE)
        name = f"{own}.{why}-{hashlib.sha256(data).hexdigest()[:_MARK]}"
        place = Place(self.place.given, self.place.root, (*parts, name), self.place.roots)
        with _told_as_failed(place), walked(place, parts, create=True) as at:
            with suppress(FileExistsError):
                _write_new(".gitignore", at, b"*\n")
            return keep_beside(place, at, name, data)

    def delete(self) -> None:
        """Take the file away without a lock; one that is gone is fine.  Raises ``Failed``."""
        with missing_is_fine(), self._directory() as at, suppress(FileNotFoundError):
            os.unlink(self.place.parts[-1], dir_fd=at)
            os.fsync(at)

    @contextmanager
    def _directory(self, *, create: bool = False) -> Iterator[int]:
        *above, _name = self.place.parts
        with _told_as_failed(self.place), walked(self.place, tuple(above), create=create) as at:
            yield at

    @contextmanager
    def held(self, warn: Warn) -> Iterator[Held]:
        """Hold the file against all who lock it as its owner does; its directory is made.

        Raises ``Unavailable`` (``state-locked``), ``Failed`` (``state-lock``,
        ``state-unreadable``) and ``Refused``.  With the posture to go on, the first two become
        warnings.
        """
        with self._directory(create=True) as at, ExitStack() as stack:
            try:
                stack.enter_context(
                    locked(self.place, at, wait=self.wait, inherited=self.inherited)
                )
            except (Unavailable, Failed) as error:
                if self.posture is Posture.FAIL_CLOSED:
                    raise
                warn(f"gone on without its lock: {error.reason.detail}")
            yield Held(self, at, self.place.parts[-1])


@dataclass(frozen=True, slots=True)
class Held:
    """A state file whose lock is held: what is read here is what will be replaced."""

    file: StateFile
    at: int
    name: str

    def read(self) -> bytes | None:
        """What is in it now."""
        return self.file.read()

    def write(self, data: bytes, *, last: Callable[[], object] = lambda: None) -> None:
        """Put *data* in its place; raises ``Failed`` (``state-unwritable``).

        *last* is called when all is ready but the renaming, and may raise.
        """
        if len(data) > LIMIT:
            raise Failed("state-unwritable", f"{self.file} would hold more than {LIMIT:,} bytes")
        old, mode = self._old(), self.file.mode
        put(self.file.place, self.at, self.name, data, old=old, mode=mode, last=last)

    def append(self, lines: bytes) -> None:
        """Put whole *lines* behind what is there; a torn last line stays one of its own.

        The file is not replaced, so that what programs append that do not lock is not lost.
        Raises ``Failed`` (``state-unwritable``).
        """
        self._old()
        descriptor = os.open(self.name, _APPEND, self.file.mode, dir_fd=self.at)
        with os.fdopen(descriptor, "r+b", buffering=0) as log:
            judge(self.file.place, os.fstat(log.fileno()))
            rest = (b"\n" if _is_torn(log) else b"") + lines
            while rest:
                rest = rest[log.write(rest) :]
            os.fsync(log.fileno())
        os.fsync(self.at)

    def remove(self) -> None:
        """Take the file away; one that is gone is fine."""
        if self._old() is not None:
            os.unlink(self.name, dir_fd=self.at)
            os.fsync(self.at)

    def keep_copy(self, data: bytes, why: str) -> str:
        """Keep *data* in a file of its own beside it, and answer that file's path."""
        return keep_beside(self.file.place, self.at, f"{self.name}.{why}-{_stamp()}", data)

    def _old(self) -> os.stat_result | None:
        try:
            found = look(self.file.place, self.name, self.at)
        except Refused as refusal:
            if refusal.reason.code == "path-missing":
                return None
            raise
        judge(self.file.place, found)
        return found


def _is_torn(log: IO[bytes]) -> bool:
    """Whether the last line has no end."""
    if not log.seek(0, os.SEEK_END):
        return False
    log.seek(-1, os.SEEK_END)
    return log.read(1) != b"\n"


def keep_beside(place: Place, at: int, name: str, data: bytes) -> str:
    """Write *data* to a new file in the directory *at*, durably; the answer is its path.

    Where *name* is taken by other bytes, a number follows it; by the same bytes, that file will do.
    """
    for each in _names(name):
        try:
            _write_new(each, at, data)
        except FileExistsError:
            if not _holds(each, at, data):
                continue
        return str(place.path.with_name(each))
    raise AssertionError  # the names do not end


def _write_new(name: str, at: int, data: bytes) -> None:
    """Write a file that must not have been there; what cannot be written whole is taken away."""
    descriptor = os.open(name, NEW, 0o600, dir_fd=at)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):  # the first error is the one to tell
            os.unlink(name, dir_fd=at)
        raise
    os.fsync(at)


def _names(name: str) -> Iterator[str]:
    yield name
    count = 2
    while True:
        yield f"{name}-{count}"
        count += 1


def _holds(name: str, at: int, data: bytes) -> bool:
    try:
        with os.fdopen(os.open(name, FILE, dir_fd=at), "rb") as file:
            return file.read(len(data) + 1) == data
    except OSError:
        return False


def _stamp() -> str:
    return clock.iso(clock.now()).replace("-", "").replace(":", "")


_CODES = {
    "path-unreadable": "state-unreadable",
    "path-not-regular": "state-unreadable",
    "path-not-directory": "state-unreadable",
    "path-too-large": "state-unreadable",
    "path-unwritable": "state-unwritable",
}
"""What the machine hinders; all else that ``paths`` refuses is refused on purpose."""


@contextmanager
def _told_as_failed(place: Place) -> Iterator[None]:
    """Tell what the machine hinders as the failure of the store's file at *place*."""
    try:
        yield
    except Refused as refusal:
        code = _CODES.get(refusal.reason.code)
        if code is None:
            raise
        raise Failed(code, refusal.reason.detail) from None
    except OSError as error:
        why = echo(error.strerror or str(error))
        raise Failed("state-unwritable", f"{place.path} cannot be written ({why})") from None

"""A state file as bytes: read whole, and changed under its lock, whole or not at all.

What may live here: the order of lock, fresh read, write.  What may not: what the bytes mean
(``engine`` and the stores' codecs).  No network and nothing slow happens under a lock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from .. import clock
from ..errors import Failed, Refused, Unavailable, echo
from ..paths import FILE, LIMIT, Place, judge, look, read_place, walked
from ..replacing import NEW, put
from .declared import Posture
from .locks import locked

Warn = Callable[[str], None]


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
            with _told_as_failed():
                return read_place(self.place, LIMIT)
        except Refused as refusal:
            if refusal.reason.code == "path-missing":
                return None
            raise

    @contextmanager
    def held(self, warn: Warn) -> Iterator[Held]:
        """Hold the file against all who lock it as its owner does; its directory is made.

        Raises ``Unavailable`` (``state-locked``), ``Failed`` (``state-lock``,
        ``state-unreadable``) and ``Refused``.  With the posture to go on, the first two become
        warnings.
        """
        *above, name = self.place.parts
        with (
            _told_as_failed(),
            walked(self.place, tuple(above), create=True) as at,
            ExitStack() as stack,
        ):
            try:
                stack.enter_context(
                    locked(self.place, at, wait=self.wait, inherited=self.inherited)
                )
            except (Unavailable, Failed) as error:
                if self.posture is Posture.FAIL_CLOSED:
                    raise
                warn(f"written without its lock: {error.reason.detail}")
            yield Held(self, at, name)


@dataclass(frozen=True, slots=True)
class Held:
    """A state file whose lock is held: what is read here is what will be replaced."""

    file: StateFile
    at: int
    name: str

    def read(self) -> bytes | None:
        """What is in it now."""
        return self.file.read()

    def write(self, data: bytes) -> None:
        """Put *data* in its place; raises ``Failed`` (``state-unwritable``)."""
        put(self.file.place, self.at, self.name, data, old=self._old(), mode=self.file.mode)

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


def keep_beside(place: Place, at: int, name: str, data: bytes) -> str:
    """Write *data* to a new file in the directory *at*, durably; the answer is its path.

    Where *name* is taken by other bytes, a number follows it; by the same bytes, that file will do.
    """
    for each in _names(name):
        try:
            descriptor = os.open(each, NEW, 0o600, dir_fd=at)
        except FileExistsError:
            if _holds(each, at, data):
                return str(place.path.with_name(each))
            continue
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.fsync(at)
        return str(place.path.with_name(each))
    raise AssertionError  # the names do not end


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
def _told_as_failed() -> Iterator[None]:
    """Tell what the machine hinders as the failure of a store."""
    try:
        yield
    except Refused as refusal:
        code = _CODES.get(refusal.reason.code)
        if code is None:
            raise
        raise Failed(code, refusal.reason.detail) from None
    except OSError as error:
        why = echo(error.strerror or str(error))
        raise Failed("state-unwritable", f"the state cannot be written ({why})") from None

"""Time and waiting, behind one public switch.

Everything in the package that asks for the time or waits does it here, so that a test (or a user's
own test suite) replaces both at once::

    with clock.use(clock.FakeClock()) as fake:
        ...
    assert fake.slept == [60.0]
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Protocol, TypeVar


class Clock(Protocol):
    """What the package needs of time; seconds throughout."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The machine's own time."""

    now = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)


class FakeClock:
    """Time that passes only when somebody sleeps; *slept* lists each wait."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._now = start
        self.slept: list[float] = []

    def now(self) -> float:
        """Seconds since the epoch, as far as this clock was slept forward."""
        return self._now

    def monotonic(self) -> float:
        """The same seconds: this clock never goes back."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Move time forward at once and remember by how much."""
        self.slept.append(seconds)
        self._now += seconds


C = TypeVar("C", bound=Clock)
_current: Clock = SystemClock()


def now() -> float:
    """Seconds since the epoch."""
    return _current.now()


def monotonic() -> float:
    """Seconds that never go back."""
    return _current.monotonic()


def sleep(seconds: float) -> None:
    """Wait; nothing to wait for is no wait."""
    if seconds > 0:
        _current.sleep(seconds)


def iso(seconds: float) -> str:
    """Epoch seconds as GitHub writes times: ISO 8601 in UTC, whole seconds, ``Z``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def today() -> str:
    """The date where this machine stands, such as ``2031-03-04``."""
    return datetime.fromtimestamp(now(), UTC).astimezone().date().isoformat()


def local() -> str:
    """The time where this machine stands, to the microsecond and without a zone."""
    here = datetime.fromtimestamp(now(), UTC).astimezone()
    return here.replace(tzinfo=None).isoformat(timespec="microseconds")


def epoch(stamp: str) -> float:
    """Epoch seconds of an ISO 8601 time with a zone; raises ``ValueError`` for anything else."""
    moment = datetime.fromisoformat(stamp)
    if moment.tzinfo is None:
        raise ValueError(f"no time zone in {stamp[:40]!r}")
    return moment.timestamp()


@contextmanager
def use(clock: C) -> Iterator[C]:
    """Let *clock* stand for the machine's time, for all threads, until the block ends."""
    global _current  # the one switch: a parameter on every function would be the alternative
    before, _current = _current, clock
    try:
        yield clock
    finally:
        _current = before


class Deadline:
    """A moment by which a whole command must have ended, waits and retries included."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = monotonic() + seconds
        self._kept = 0.0

    def remaining(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self._end - self._kept - monotonic())

    @contextmanager
    def keeping(self, seconds: float) -> Iterator[None]:
        """Keep some of the time for what comes after the block."""
        self._kept += seconds
        try:
            yield
        finally:
            self._kept -= seconds

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let the time that the block takes not count."""
        began = monotonic()
        try:
            yield
        finally:
            self._end += monotonic() - began

    def extend(self, seconds: float) -> None:
        """Move the deadline by a wait that does not count against it (pacing)."""
        self._end += seconds

"""What a store declares of itself, so that the engine can treat all of them alike.

What may live here: plain values.  What may not: any rule of one store, any file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

Path = tuple[str, ...]
"""A field inside a store, such as ``("sessions", "default", "last_seen")``."""
ANY: Final = "*"
"""In a pattern: any one name."""


class Posture(StrEnum):
    """What becomes of a write whose lock is not to be had in time."""

    FAIL_CLOSED = "fail-closed"
    """Nothing is written."""
    GO_ON = "go-on"
    """It is written without the lock, with a warning."""


class OnBroken(StrEnum):
    """What the owner makes of a file that holds nothing it can read."""

    REFUSE = "refuse"
    START_ANEW = "start-anew"
    """A copy of what was there is kept beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """A field that repeats another for older readers, and never wins against it."""

    field: Path
    repeats: str
    """What it is a copy of, in words."""
    until: str
    """When it may go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """One kind of state file, as its readers and writers know it."""

    name: str
    file: str
    """The name of its file; ``{ID}`` and the like stand for what the caller says."""
    owner: str
    """The one program that upgrades the file and starts it anew."""
    survival: str
    """How long it lives, by the contract's vocabulary."""
    current: int = 1
    """The version that is written."""
    accepts: frozenset[int] = frozenset({1})
    """The versions that are read.  A file without a version is of before there were any."""
    mode: int = 0o644
    """Of a new file; an old one's is kept."""
    wait: float = 10.0
    """Seconds that a writer waits for the lock."""
    posture: Posture = Posture.FAIL_CLOSED
    on_broken: OnBroken = OnBroken.REFUSE
    volatile: tuple[Path, ...] = ()
    """Fields whose change alone is no reason to write."""
    writers: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    """Which fields each writer may change; a writer that is not named may change all."""
    mirrors: tuple[Mirror, ...] = ()
    chain: tuple[str, ...] = ()
    """Where its readers look, best source first."""


def matches(pattern: Path, path: Path) -> bool:
    """Whether *path* is the field that *pattern* names, or lies inside it."""
    return len(path) >= len(pattern) and all(
        wanted in (ANY, name) for wanted, name in zip(pattern, path, strict=False)
    )

"""Which conversation a supervised session is to be started with, and what a start leaves behind.

What may live here: the decisions, over what was read.  What may not: reading (``side_files``), the
registry's form (``agent_box``).

A launch id names the segment of a conversation that was started last, not the conversation: the
harness changes it when somebody clears, compacts or resumes.  Whether a session has run before is
derived from what is there; the registry's ``hasRun`` only tells whether it was ever launched, where
no side file does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .agent_box import CLAUDE, agent_of, is_id


class Source(StrEnum):
    """Who named a launch id, best first."""

    LIVE_RECORD = "live-record"
    """A rotation of the id that one of the others named."""
    SIDE_FILE = "side-file"
    REGISTRY = "registry"
    MINTED = "minted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What is known of a session before it starts."""

    agent: str
    side: str | None
    """The side file's id, if it has one."""
    registry: str | None
    """The registry's copy, if it is an id at all."""
    has_run: bool
    """The registry's copy."""

    @property
    def launched(self) -> bool:
        """Whether it was ever started."""
        return self.side is not None or self.has_run

    @property
    def launch_id(self) -> str | None:
        """The id of the last start."""
        return self.side or self.registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a session is to be started."""

    launch_id: str
    source: Source
    launched: bool
    has_run: bool
    """Whether there is a conversation to resume."""
    rotated_from: str | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """Which files a start has to change."""

    side: bool
    mirror: bool


def recorded(found: Mapping[str, Any], side: str | None) -> Recorded:
    """Put together what the registry's entry and the side file say."""
    copy = found.get("boxSessionId")
    return Recorded(
        agent=agent_of(found),
        side=side,
        registry=copy if is_id(copy) else None,
        has_run=found.get("hasRun") is True,
    )


def resolve(
    known: Recorded,
    *,
    mint: Callable[[], str],
    follow: Callable[[str], str | None],
    has_transcript: Callable[[str], bool],
) -> Launch:
    """The id to start with: side file, else registry, else a new one; then one hop further.

    *follow* answers the live-id record of an id.  Only claude rotates, and only a session that was
    launched can have; a record whose transcript is not there is not followed.
    """
    launch_id, source = _named(known, mint)
    claude = known.agent == CLAUDE
    live = follow(launch_id) if claude and known.launched else None
    if live is not None and live != launch_id and has_transcript(live):
        return Launch(
            launch_id=live,
            source=Source.LIVE_RECORD,
            launched=True,
            has_run=True,
            rotated_from=launch_id,
        )
    has_run = has_transcript(launch_id) if claude else known.launched
    return Launch(launch_id=launch_id, source=source, launched=known.launched, has_run=has_run)


def _named(known: Recorded, mint: Callable[[], str]) -> tuple[str, Source]:
    if known.side is not None:
        return known.side, Source.SIDE_FILE
    if known.registry is not None:
        return known.registry, Source.REGISTRY
    return mint(), Source.MINTED


def to_record(known: Recorded, launch_id: str) -> Recording:
    """What a start with *launch_id* writes: nothing where all of it is known.

    A session that cannot start is started again every two seconds, and must not write each time.
    """
    rotated = known.launch_id is not None and known.launch_id != launch_id
    return Recording(side=known.side != launch_id, mirror=not known.launched or rotated)

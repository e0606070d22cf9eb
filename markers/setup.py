"""What one call works with: the pieces that ``config`` (or a test) puts together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .clock import Deadline
from .contract import Contract
from .errors import MarkersError
from .hygiene import Policy
from .journal.interface import Journal
from .selection import Trust
from .transport.interface import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Waits and bounds, in seconds; each is a documented setting."""

    deadline: float = 120.0
    """A whole command, waits and retries included (``MARKERS_DEADLINE``)."""
    settle: float = 15.0
    """After an unclear write, how late a look must begin before what it does not show counts as
    absent (``MARKERS_SETTLE_SECONDS``)."""
    visible: float = 10.0
    """How long a listing may lag behind our own write before it counts as unverified."""
    fresh: float = 2.0
    """How long after it was read a target is patched without being read again."""
    settled: float = 60.0
    """How old a target must be for its thread to need no settling after an update."""
    minute: int = 80
    hour: int = 500
    gap: float = 1.0
    """Content creation: POSTs a minute, an hour, and seconds between two (GitHub's own limits)."""
    paced: bool = True


def _nothing(_wait: float, _why: str) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Contract, connection and journal, with the user's policies."""

    contract: Contract
    connection: Connection
    open_journal: Callable[[], Journal]
    """Opens at the first call and answers the same journal after; may raise ``Unavailable``."""
    policy: Policy = field(default_factory=Policy)
    trust: Trust = field(default_factory=Trust)
    timing: Timing = field(default_factory=Timing)
    until: Deadline | None = None
    """The command's own deadline, begun before the first call; None: each call has its own."""
    on_wait: Callable[[float, str], None] = _nothing
    """Told of each wait (seconds, why), for people's eyes."""

    def deadline(self) -> Deadline:
        """What bounds the call that begins now."""
        return self.until or Deadline(self.timing.deadline)

    def journal_if_any(self) -> Journal | None:
        """The journal for a call that only reads: it can do without one."""
        try:
            return self.open_journal()
        except MarkersError:
            return None

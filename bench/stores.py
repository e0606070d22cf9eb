"""The figure of the local stores."""

from __future__ import annotations

from statistics import median

from .inside import seconds_of
from .page import Figure, ms
from .stats import spread

BAR = 0.01
STORES = ("session-md", "session-yaml", "trusted-memory", "agent-box", "memory")


def figures_of_stores() -> list[Figure]:
    """The slowest store counts; imports do not."""
    took = {store: seconds_of("updating", store) for store in STORES}
    slowest = max(STORES, key=lambda store: median(took[store]))
    seconds = took[slowest]
    return [
        Figure(
            what=f"an update of a local store, fsync included; of five the slowest, {slowest}",
            measured=f"{1000 * median(seconds):.1f} ms (spread {spread(seconds):.0%})",
            bar=f"under {ms(BAR)} ms",
            holds=median(seconds) < BAR,
        )
    ]

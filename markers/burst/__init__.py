"""Ordered bursts over the one writer.

``manifest`` reads, ``orders`` prepares, ``phases`` carries out, ``results`` tells.
"""

from __future__ import annotations

from .manifest import Faulty, Manifest, Problem, read_manifest
from .orders import orders_of
from .phases import burst
from .results import BurstResult, EntryResult, Status

__all__ = [
    "BurstResult",
    "EntryResult",
    "Faulty",
    "Manifest",
    "Problem",
    "Status",
    "burst",
    "orders_of",
    "read_manifest",
]

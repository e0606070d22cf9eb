"""The arithmetic: medians, ratios pair by pair, and how noisy a series was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import TypeVar

T = TypeVar("T")


def spread(values: Sequence[float]) -> float:
    """(max - min) / median: 0.1 reads as "the runs differ by up to a tenth"."""
    return (max(values) - min(values)) / median(values)


def paired_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of the ratios of runs that were neighbours in time."""
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} runs of one and {len(theirs)} of the other are no pairs")
    return median(a / b for a, b in zip(ours, theirs, strict=True))


def interleaved(times: int, *contestants: Callable[[], T]) -> list[list[T]]:
    """Run A B A B ... and give back one series for each contestant.

    Neighbours share the machine's mood, which a series of all A and then all B would not.
    """
    rounds = [[contestant() for contestant in contestants] for _ in range(times)]
    return [list(series) for series in zip(*rounds, strict=True)]

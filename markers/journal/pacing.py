"""When the next POST may begin: arithmetic over the starts that are reserved already.

What may live here: pure functions over numbers of seconds.  What may not: the time, the table of
reservations, GitHub's figures (whoever asks brings them).

A limit ``(count, window)`` says that no *window* seconds hold more than *count* starts.  A gap is
the limit ``(1, gap)``, so one rule serves all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

MINUTE = 60.0
HOUR = 3600.0


def earliest(starts: Iterable[float], *, now: float, minute: int, hour: int, gap: float) -> float:
    """The first moment from *now* on that may join *starts* without breaking a limit.

    Raises ``ValueError`` when *minute* or *hour* leave room for nothing.
    """
    if minute < 1 or hour < 1:
        raise ValueError("a pace allows at least one start")
    taken = sorted(starts)
    limits = ((1, gap), (minute, MINUTE), (hour, HOUR))
    blocked = sorted(span for limit in limits for span in _blocked(taken, *limit))
    at = now
    for begin, end in blocked:
        if begin < at < end:
            at = end
    return at


def _blocked(taken: Sequence[float], count: int, window: float) -> Iterator[tuple[float, float]]:
    """The open intervals in which one start more would be one too many.

    *count* neighbours that lie within a window forbid whatever would share a window with them all.
    """
    for first, last in zip(taken, taken[count - 1 :], strict=False):
        if last - first < window:
            yield last - window, first + window

"""What is measured: the matrix of cold upserts, the peers, and the promises with their bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

from .bursts import figures_of_bursts
from .journals import figures_of_journals
from .judging import figures_of_judging
from .linting import figures_of_linting
from .notes import EVENT, LINES, project
from .page import Figure, figures, mib, ms, requests, table
from .stats import interleaved, paired_ratio, spread
from .stores import figures_of_stores
from .tools import COMMAND, OURS, TOOLS
from .upserts import Case, Track, Upsert, WrongEnd

TIMES = 5
SIZES = (10, 100, 1000, 2400)
LATENCIES = (0.0, 0.04)
TRIPS = 6
"""Round trips that a cold upsert of several pages may take one after another."""
FLAT = 1.25
"""What still counts as flat memory: so many times the peak on a thread of one page."""
HTTPX = "import sys; sys.modules['pygments'] = None; import httpx"
"""Where pygments is installed, as the test tools have it, httpx loads its own command line too, in
twice the time; users' environments do not have it, so the yardstick is the shorter one."""


def walls(series: Sequence[Upsert]) -> list[float]:
    """The wall times of a series."""
    return [each.run.wall for each in series]


def peak(series: Sequence[Upsert]) -> float:
    """The median peak memory of a series."""
    return median(each.run.peak for each in series)


def ours(track: Track, case: Case) -> list[Upsert]:
    """A series of our own upserts, after one that is not counted."""
    track.upsert(OURS, case)
    return [track.upsert(OURS, case) for _ in range(TIMES)]


def promises(track: Track) -> str:
    """The figures that have a bar."""
    return figures(
        [
            *_cold(track),
            _memory(track),
            *_starts(track),
            *figures_of_bursts(track),
            *figures_of_linting(),
            *figures_of_judging(),
            *figures_of_stores(),
            *figures_of_journals(),
        ]
    )


def _cold(track: Track) -> list[Figure]:
    """1,000 comments, ours last, 40 ms a request."""
    case = Case(comments=1000, latency=0.04)
    track.upsert(OURS, case)
    small = Case(comments=10)
    far, near = interleaved(
        2 * TIMES, lambda: track.upsert(OURS, case), lambda: track.upsert(OURS, small)
    )
    counts = [dict(each.requests) for each in far]
    wanted = {"list": 12, "conditional": 2, "PATCH": 1}
    trip = median(track.round_trip(case) for _ in range(TIMES))
    beyond = median(a - b for a, b in zip(walls(far), walls(near), strict=True))
    wall, start = median(walls(far)), median(walls(near))
    return [
        Figure(
            what="requests of a cold upsert: 1,000 comments, ours last",
            measured=requests(counts[0]),
            bar=requests(wanted),
            holds=all(wanted.items() <= count.items() for count in counts),
        ),
        Figure(
            what="its wall time at 40 ms a request",
            measured=f"{ms(wall)} ms: {ms(beyond)} ms beyond process start ({ms(start)} ms)",
            bar=f"{ms(TRIPS * trip)} ms beyond it: {TRIPS} round trips of {ms(trip)} ms",
            holds=beyond <= TRIPS * trip,
        ),
    ]


def _memory(track: Track) -> Figure:
    """One page against 24."""
    one, many = (Case(comments=size) for size in (100, 2400))
    track.upsert(OURS, many)
    small, large = interleaved(
        TIMES, lambda: track.upsert(OURS, one), lambda: track.upsert(OURS, many)
    )
    ratio = peak(large) / peak(small)
    return Figure(
        what="peak memory on 2,400 comments against 100",
        measured=f"{mib(peak(large))} against {mib(peak(small))} MiB: {ratio:.2f} times",
        bar=f"flat: {FLAT} times",
        holds=ratio <= FLAT,
    )


def _starts(track: Track) -> list[Figure]:
    python = sys.executable

    def wall(*argv: str) -> Callable[[], float]:
        return lambda: track.plain(*argv).wall

    def upsert() -> float:
        return track.upsert(OURS, Case(comments=10)).run.wall

    at = project(track.scratch)

    def hook() -> float:
        done = track.plain(COMMAND, "hook", "user-prompt-submit", cwd=at, stdin=EVENT)
        if not done.out:
            raise WrongEnd(f"the hook showed nothing: {done.err}")
        return done.wall

    return [
        _ratio("`persist-marker --version`", wall(COMMAND, "--version"),
               "`python -c pass`", wall(python, "-c", "pass"), 5),
        _ratio(f"`persist-marker hook user-prompt-submit` on {LINES} lines", hook,
               "`python -c pass`", wall(python, "-c", "pass"), 6),
        _ratio("a whole cold upsert on loopback, 10 comments, 0 ms", upsert,
               '`python -c "import httpx"`', wall(python, "-c", HTTPX), 3),
    ]  # fmt: skip


def _ratio(
    what: str, ours: Callable[[], float], against: str, theirs: Callable[[], float], bar: float
) -> Figure:
    """One process's time as a multiple of another's, pair by pair, after one pair uncounted."""
    interleaved(1, ours, theirs)
    mine, other = interleaved(4 * TIMES, ours, theirs)
    ratio = paired_ratio(mine, other)
    return Figure(
        what=f"{what} against {against}",
        measured=f"{ms(median(mine))} against {ms(median(other))} ms: {ratio:.2f} times",
        bar=f"{bar:g} times",
        holds=ratio <= bar,
    )


def matrix(track: Track) -> str:
    """Our own cold upserts over all sizes, places and latencies."""
    rows = []
    for size in SIZES:
        for place, change in (("first", True), ("last", True), ("last", False), ("absent", True)):
            cases = [
                Case(comments=size, ours=place, latency=wait, change=change) for wait in LATENCIES
            ]
            fast, slow = (ours(track, case) for case in cases)
            rows.append(
                (
                    f"{size:,}",
                    place if change else f"{place}, same text",
                    requests(slow[0].requests),
                    ms(median(walls(fast))),
                    ms(median(walls(slow))),
                    f"{spread(walls(slow)):.0%}",
                    mib(peak(fast)),
                )
            )
    head = ("comments", "ours", "requests", "ms at 0 ms", "ms at 40 ms", "spread", "peak MiB")
    return table(head, rows)


def peers(track: Track) -> str:
    """Ours beside what people write instead; runs of all contestants take turns."""
    rows = []
    for case in [Case(comments=size, latency=wait) for size in (100, 1000) for wait in LATENCIES]:
        turns = [partial(track.upsert, tool, case) for tool in TOOLS]
        interleaved(1, *turns)
        series = dict(zip(TOOLS, interleaved(TIMES, *turns), strict=True))
        for tool, runs in series.items():
            rows.append(
                (
                    f"{case.comments:,}",
                    ms(case.latency),
                    tool,
                    requests(runs[0].requests),
                    ms(median(walls(runs))),
                    f"{spread(walls(runs)):.0%}",
                    f"{paired_ratio(walls(runs), walls(series[OURS])):.2f}",
                    mib(peak(runs)),
                )
            )
    head = ("comments", "latency", "tool", "requests", "ms", "spread", "times ours", "peak MiB")
    return table(head, rows)

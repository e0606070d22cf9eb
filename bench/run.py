"""Measure all and write docs/benchmarks.md; exit 1 when a promise is missed."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from .figures import LATENCIES, TIMES, matrix, peers, promises
from .page import ms
from .upserts import track

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
TEXT = """\
# Benchmarks

Written by `make bench` on {machine}: Python {python}, httpx {httpx}, PyGithub {pygithub}.
The embedded server runs as a process of its own on the same machine and on loopback, over plain
HTTP; "40 ms" means that it adds 40 ms to every request, half before the effect and half after. So
these figures have no network, no TLS and none of GitHub's own time in them.

Each run is a process of its own with an empty home directory and a new journal (cold), timed from
start to exit; after it the thread is checked: one comment with the marker, with the text that was
to be written. Figures are medians of {times} runs ({pairs} pairs where the bar is a ratio), after
one run that is not counted. Contestants take turns (A B A B), and a ratio is the median of the
ratios of neighbours. *Spread* is (max - min) / median: smaller differences are noise.

## What is promised

{promises}
*Process start* is the same command on a thread of 10 comments at 0 ms: everything but the waiting;
what lies beyond it is compared pair by pair.
A *round trip* is one list request of 100 comments as a bare client measures it: the 40 ms and what
the server itself takes. Memory is bounded by the pages in flight, of which one page needs one.
`import httpx` is timed as in an environment without the test tools (with pygments installed, httpx
loads its own command line as well, and takes twice as long).
*Lock and journal* is what a write spends inside the journal's own methods, from the first question
to the lock's return, with intents durable: SQLite with `synchronous=FULL`, PostgreSQL with its
defaults, both open already. The fsync is of 4 kB in the same folder; a round trip is counted each
time that the client speaks after the server has spoken.
The `GET` beside the lists asks whose token it is, at the same time as the first list; a journal
that is not new remembers the answer.

## Cold upserts

Requests as the server counted them; conditional ones (`If-None-Match`) cost no rate limit when
nothing changed. A creation looks again afterwards, to settle a race.

{matrix}
## Beside others, ours last

The scripts stand in `bench/peers/`: a plain loop over httpx, and 15 lines of PyGithub, once with
its defaults and once with its throttles off and 100 comments a page. They stop reading at the first
hit, retry nothing or blindly, read nothing back and keep no journal: they do less, and are here to
show what the difference costs.

{peers}"""


def progress(what: str) -> None:
    """Say on stderr what is under way."""
    sys.stderr.write(f"bench: {what}\n")


def main() -> int:
    """Run everything; about six minutes, most of it PyGithub's own throttle."""
    with track() as here:
        progress("promises")
        promised = promises(here)
        progress(f"cold upserts at {' and '.join(ms(wait) for wait in LATENCIES)} ms")
        cells = matrix(here)
        progress("peers")
        beside = peers(here)
    text = TEXT.format(
        machine=f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        python=platform.python_version(),
        httpx=version("httpx"),
        pygithub=version("PyGithub"),
        times=TIMES,
        pairs=4 * TIMES,
        promises=promised,
        matrix=cells,
        peers=beside,
    )
    PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(promised)
    progress(f"wrote {PAGE.name}")
    return 1 if "**missed**" in promised else 0


if __name__ == "__main__":
    sys.exit(main())

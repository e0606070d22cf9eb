"""What lock and journal cost a write: time in a file, round trips to a server.

The writes are real ones, updates and creations in turn, on a server in the same process; what is
counted is what happens inside the journal's own methods.  They run in a process of their own, since
the one that measures stays small (``measure``).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from . import postgres
from .measure import run
from .page import Figure
from .trips import Trips
from .upserts import WrongEnd

if TYPE_CHECKING:
    from markers.journal.interface import Journal
    from markers.setup import Setup

ROOT = Path(__file__).parents[1]
WRITES = 40
FSYNCS = 3
MORE = 0.005
"""What a write may spend on lock and journal: so many fsyncs of the machine, and these seconds."""
TRIPS = 6
FAMILIES = ("plan-issue", "design-issue")


def figures_of_journals() -> list[Figure]:
    """Both engines, beside the machine's own fsync."""
    done = run([sys.executable, "-m", "bench.journals"], env=os.environ, cwd=str(ROOT))
    if done.code != 0:
        raise WrongEnd(f"journals: exit {done.code}\n{done.err[-2000:]}")
    told = json.loads(done.out)
    fsync, took = told["fsync"], told["sqlite"]
    bar = FSYNCS * fsync + MORE
    return [
        Figure(
            what="lock and journal of a write, SQLite",
            measured=f"{took * 1000:.1f} ms",
            bar=f"{bar * 1000:.1f} ms: {FSYNCS} fsyncs of {fsync * 1000:.1f} ms + 5 ms",
            holds=took <= bar,
        ),
        _of_trips("update", told["trips"]["update"], told["postgres"]),
        _of_trips("creation, its turn included", told["trips"]["create"], told["postgres"]),
    ]


def _of_trips(what: str, trips: float, took: float) -> Figure:
    return Figure(
        what=f"lock and journal of a write, PostgreSQL: {what}",
        measured=f"{trips:g} round trips ({took * 1000:.1f} ms a write on loopback)",
        bar=f"{TRIPS} round trips",
        holds=trips <= TRIPS,
    )


class Timed:
    """A journal, and the seconds that were spent in it."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.seconds = 0.0

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - began

    @contextmanager
    def lock(self, *args: Any, **named: Any) -> Iterator[None]:
        """Hold a thread; what is done under the lock does not count."""
        with ExitStack() as held:
            with self._timed():
                held.enter_context(self._journal.lock(*args, **named))
            try:
                yield
            finally:
                with self._timed():
                    held.close()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._journal, name)

        def timed(*args: Any, **named: Any) -> Any:
            with self._timed():
                return method(*args, **named)

        return timed


def setup_on(stack: ExitStack, journal: Any) -> Setup:
    """A writer on a server in this process, paced without ever waiting for its turn."""
    from markers.contract import load
    from markers.forge import Forge, seed
    from markers.setup import Setup, Timing
    from markers.testing import ForgeSender
    from markers.transport.api import GitHub

    forge = Forge.open()
    stack.callback(forge.close)
    connection = GitHub(ForgeSender(forge), "http://forge.invalid", seed.PAT_TOKEN, "bench")
    stack.callback(connection.close)
    timing = Timing(minute=10**6, hour=10**6, gap=1e-9)
    return Setup(
        contract=load(), connection=connection, open_journal=lambda: journal, timing=timing
    )


def writes(setup: Setup, each: Callable[[str], None]) -> None:
    """Update one comment and create another, in turn; *each* hears what was done."""
    from markers import writer
    from markers.codec import derive
    from markers.forge import seed
    from markers.model import Repo, Thread

    thread = Thread(Repo("http://forge.invalid", *seed.REPO.split("/")), seed.ISSUE)
    updated, made = (setup.contract.family(name) for name in FAMILIES)

    def order(family: Any, payload: str = "") -> writer.Order:
        marker = derive(family, seed.ISSUE, {})
        return writer.Order(thread=thread, family=family, marker=marker, payload=payload)

    for nth in range(WRITES):
        writer.write(setup, order(updated, f"Text {nth}."))
        each("update")
        writer.write(setup, order(made, f"Text {nth}."))
        each("create")


def seconds_of(journal: Journal) -> float:
    """What a write spends in the journal, in the median."""
    timed, took = Timed(journal), []
    with ExitStack() as stack:
        setup = setup_on(stack, timed)

        def each(_what: str) -> None:
            took.append(timed.seconds)
            timed.seconds = 0.0

        writes(setup, each)
    return median(took)


def trips_of(journal: Journal, trips: Trips) -> dict[str, float]:
    """Round trips of each kind of write, in the median."""
    counts: dict[str, list[int]] = {"update": [], "create": []}
    with ExitStack() as stack:
        setup = setup_on(stack, journal)
        writes(setup, lambda what: counts[what].append(trips.take()))
    return {what: median(found) for what, found in counts.items()}


def fsync_of(folder: Path) -> float:
    """How long the machine takes to write a page down for good, in the median."""
    took = []
    with (folder / "page").open("wb", buffering=0) as file:
        for _ in range(WRITES):
            file.write(bytes(4096))
            began = time.perf_counter()
            os.fsync(file.fileno())
            took.append(time.perf_counter() - began)
    return median(took)


def main() -> None:
    """Measure both engines and print what was found."""
    from markers.journal import address
    from markers.journal.postgres import PostgresJournal
    from markers.journal.sqlite import SqliteJournal

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        server = stack.enter_context(postgres.cluster())
        trips = stack.enter_context(Trips(server.port))
        sqlite = SqliteJournal(folder / "journal.sqlite3")
        stack.callback(sqlite.close)
        near = PostgresJournal(address.read(server.url()))
        stack.callback(near.close)
        through = server.url().replace(str(server.port), str(trips.port))
        counted = PostgresJournal(address.read(through))
        stack.callback(counted.close)
        told = {
            "fsync": fsync_of(folder),
            "sqlite": seconds_of(sqlite),
            "postgres": seconds_of(near),
            "trips": trips_of(counted, trips),
        }
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()

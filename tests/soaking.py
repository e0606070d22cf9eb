"""One process of the soak: it writes its share through the journal that all share.

Run as a program with one JSON argument (see ``Share``); it prints ``Told`` as JSON.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from markers import config, writer
from markers.codec import derive
from markers.config.settings import Flags, merge, stand
from markers.errors import MarkersError
from markers.forge import seed
from markers.model import Repo, Thread
from markers.setup import Setup
from markers.writer import Order

PROGRAM = Path(__file__)
LANES = 4
"""Threads of one process."""
ISSUES = 50
FIRST_ISSUE = 100
LOG = "design-phase-complete"
FAMILIES = ("completion-account", "plan-issue", LOG, LOG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one process is to write: every *of*-th text from *first* on."""

    url: str
    journal: str
    home: str
    writes: int
    first: int
    of: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """How one write ended, and after how long."""

    nth: int
    action: str
    comment_id: int | None
    code: str | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one process says in the end; sizes are peaks in KiB, half-way and at the end."""

    written: Sequence[Written]
    kib: tuple[int, int]
    files: tuple[int, int]


def setup_for(url: str, journal: str, home: str) -> Setup:
    """A writer's pieces as the command would put them together, each write with its own deadline.

    Pacing is off by the named test switch.
    """
    environ = {
        "HOME": home,
        "GITHUB_API_URL": url,
        "GH_TOKEN": seed.PAT_TOKEN,
        "GH_REPO": seed.REPO,
        "MARKERS_JOURNAL": journal,
        "MARKERS_TEST_NO_PACING": "1",
        "MARKERS_SETTLE_SECONDS": "0.3",
        "MARKERS_DEADLINE": "86400",
    }
    place = stand(environ, Path(home), Path(home) / "config.toml")
    settings = merge(Flags(), place)
    contract, opened = config.contract(settings), config.journal(settings)
    setup = config.build(
        settings, url, contract=contract, open_journal=lambda: opened, on_wait=lambda *_: None
    )
    return replace(setup, until=None, timing=replace(setup.timing, deadline=60.0))


@contextmanager
def closing(setup: Setup) -> Iterator[Setup]:
    """Let go of connections and journal at the end."""
    try:
        yield setup
    finally:
        setup.connection.close()
        setup.open_journal().close()


def order_for(setup: Setup, nth: int, chance: int) -> Order:
    """The *nth* write: thread and family are drawn, the text is its own."""
    drawn = random.Random(f"{chance}:{nth}")  # noqa: S311 - a soak is to be repeatable
    family = setup.contract.family(drawn.choice(FAMILIES))
    number = FIRST_ISSUE + drawn.randrange(ISSUES)
    thread = Thread(Repo(setup.connection.api_url, *seed.REPO.split("/")), number)
    return Order(thread=thread, family=family, marker=derive(family, number), payload=text_of(nth))


def text_of(nth: int) -> str:
    """The text that only this write has."""
    return f"Write {nth}.\n"


def write_one(setup: Setup, chance: int, nth: int) -> Written:
    """One write, timed."""
    began = time.monotonic()
    code = None
    try:
        result = writer.write(setup, order_for(setup, nth, chance))
    except MarkersError as error:
        result, code = error.result, error.reason.code
    return Written(
        nth=nth,
        action=result.action.value,
        comment_id=result.comment_id,
        code=code,
        seconds=time.monotonic() - began,
    )


def work(share: Share) -> Told:
    """Write one share, and look half-way and at the end at what it took."""
    numbers = list(range(share.first, share.writes, share.of))
    written: list[Written] = []
    kib, files = [], []
    with closing(setup_for(share.url, share.journal, share.home)) as setup:
        half = len(numbers) // 2
        for part in (numbers[:half], numbers[half:]):
            with ThreadPoolExecutor(LANES) as lanes:
                written += lanes.map(partial(write_one, setup, share.seed), part)
            kib.append(peak_kib())
            files.append(open_files())
    return Told(written=written, kib=(kib[0], kib[1]), files=(files[0], files[1]))


def peak_kib() -> int:
    """The most memory that this process ever held, in KiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def open_files() -> int:
    """How many file descriptors this process holds."""
    return sum(1 for _ in Path("/dev/fd").iterdir())


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(work(Share(**json.loads(sys.argv[1]))))))

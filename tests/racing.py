"""One machine of a race: a process with a home of its own in which several writers start at once.

Run as a program with one JSON argument (see ``Wish``).  It says ``ready``, waits for a line, lets
all its writers go, and prints one JSON list with an ``end`` for each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from markers import writer
from markers.codec import derive
from markers.contract import load
from markers.errors import MarkersError
from markers.forge import seed
from markers.journal.address import read
from markers.journal.interface import Journal
from markers.journal.postgres import PostgresJournal
from markers.journal.sqlite import SqliteJournal
from markers.model import Repo, Thread, WriteResult
from markers.setup import Setup, Timing
from markers.transport.api import GitHub
from markers.transport.rest import HttpxSender
from markers.writer import Order

MACHINES = 4
WRITERS = 8
"""On each machine."""
RACERS = MACHINES * WRITERS
CONTRACT = load()
TIMING = Timing(paced=False, settle=0.3, fresh=0.1, deadline=90.0)
PROGRAM = Path(__file__)
OPENERS: Mapping[str, Callable[[str], Journal]] = {
    "": lambda at: SqliteJournal(Path(at)),
    "postgresql": lambda at: PostgresJournal(read(at)),
}
"""By scheme: how the journal at an address is opened; a bare path is SQLite's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What one machine is to do; *texts* and *journals* have one entry for each writer."""

    url: str
    family: str
    texts: Sequence[str]
    journals: Sequence[str]
    expect: str | None = None
    token: str = seed.PAT_TOKEN


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How one writer ended."""

    text: str
    action: str
    comment_id: int | None
    code: str | None = None
    previous_sha256: str | None = None


def open_journal(at: str) -> Journal:
    """The journal at a path or URL."""
    return OPENERS[at.partition("://")[0] if "://" in at else ""](at)


@contextmanager
def setup_at(url: str, journal: str, token: str = seed.PAT_TOKEN) -> Iterator[Setup]:
    """A writer's pieces, a connection and a journal of its own included."""
    with ExitStack() as stack:
        connection = GitHub(HttpxSender(), url, token, f"fp-{token}")
        stack.callback(connection.close)
        opened = open_journal(journal)
        stack.callback(opened.close)
        yield Setup(
            contract=CONTRACT,
            connection=connection,
            open_journal=lambda: opened,
            timing=TIMING,
        )


def order_at(url: str, family: str, text: str, expect: str | None = None) -> Order:
    """What a writer is to write on the issue."""
    found = CONTRACT.family(family)
    thread = Thread(Repo(url, *seed.REPO.split("/")), seed.ISSUE)
    marker = derive(found, seed.ISSUE)
    return Order(thread=thread, family=found, marker=marker, payload=text, expect=expect)


def end_of(text: str, result: WriteResult, code: str | None = None) -> End:
    """What of a result the race is judged by."""
    return End(
        text=text,
        action=result.action.value,
        comment_id=result.comment_id,
        code=code,
        previous_sha256=result.previous_sha256,
    )


def once(wish: Wish, text: str, journal: str) -> End:
    """One writer, from its connection to its end."""
    with setup_at(wish.url, journal, wish.token) as setup:
        order = order_at(wish.url, wish.family, text, wish.expect)
        try:
            return end_of(text, writer.write(setup, order))
        except MarkersError as error:
            return end_of(text, error.result, error.reason.code)


def run(wish: Wish) -> list[End]:
    """All writers of one machine, each in a thread."""
    with ThreadPoolExecutor(len(wish.texts)) as pool:
        return list(pool.map(partial(once, wish), wish.texts, wish.journals))


def race(wishes: Sequence[Wish], homes: Path) -> list[End]:
    """Let the machines go at the same time, each with a home of its own, and gather the ends."""
    with ExitStack() as stack:
        machines = [
            stack.enter_context(machine(wish, homes / f"home-{at}"))
            for at, wish in enumerate(wishes)
        ]
        released(machines)
        return told_by(machines)


@contextmanager
def machine(wish: Wish, home: Path) -> Iterator[subprocess.Popen[str]]:
    """Start one machine, which waits to be released; it ends with the block."""
    home.mkdir()
    words = [sys.executable, str(PROGRAM), json.dumps(asdict(wish))]
    env = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home)}
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, env=env) as started:
        try:
            yield started
        finally:
            started.kill()


def released(machines: Sequence[subprocess.Popen[str]]) -> None:
    """Wait until all are ready, then let all go."""
    for each in machines:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in machines:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()


def told_by(machines: Sequence[subprocess.Popen[str]]) -> list[End]:
    """What all writers of these machines say in the end."""
    told = [each.communicate(timeout=110)[0] for each in machines]
    return [End(**end) for ends in told for end in json.loads(ends)]


def main(argument: str) -> None:
    """Be one machine."""
    wish = Wish(**json.loads(argument))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    sys.stdout.write(json.dumps([asdict(end) for end in run(wish)]))


if __name__ == "__main__":
    main(*sys.argv[1:])

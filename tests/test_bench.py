"""The benchmark's arithmetic and tables; nothing here is timed."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bench import measure, page, stats
from bench.forge import Forge
from bench.journals import Timed
from bench.tools import TOOLS, Job
from bench.trips import Trips
from markers.journal.sqlite import SqliteJournal

ROOT = Path(__file__).parents[1]


def test_ratio_is_taken_pair_by_pair() -> None:
    """A slow moment hits both neighbours and leaves their ratio alone."""
    assert stats.paired_ratio([2.0, 20.0, 2.0], [1.0, 10.0, 1.0]) == 2.0
    assert stats.paired_ratio([3.0, 2.0, 2.2], [1.0, 1.0, 1.0]) == 2.2
    with pytest.raises(ValueError, match="no pairs"):
        stats.paired_ratio([1.0], [1.0, 2.0])


def test_spread_is_relative_to_the_median() -> None:
    """Spread says by what part of the median the runs differ."""
    assert stats.spread([9.0, 10.0, 12.0]) == pytest.approx(0.3)


def test_contestants_take_turns() -> None:
    """Runs are interleaved A B A B, and each series keeps its own."""
    turn = itertools.count()
    assert stats.interleaved(3, lambda: next(turn), lambda: next(turn)) == [[0, 2, 4], [1, 3, 5]]


def test_requests_read_in_words() -> None:
    """Requests are told by method, with the conditional ones among the reads."""
    assert page.requests({"list": 12, "PATCH": 1, "conditional": 2}) == (
        "12 list (2 conditional) + 1 PATCH"
    )
    assert page.requests({"POST": 1, "conditional": 0}) == "1 POST"
    assert page.requests({}) == "none"


def test_missed_bar_is_shown() -> None:
    """A figure stands beside its bar, and one that misses it says so."""
    good = page.Figure(what="a", measured="1 ms", bar="2 ms", holds=True)
    bad = page.Figure(what="b", measured="3 ms", bar="2 ms", holds=False)
    assert page.figures([good, bad]).splitlines() == [
        "| promise | measured | bar |  |",
        "| --- | --- | --- | --- |",
        "| a | 1 ms | 2 ms | holds |",
        "| b | 3 ms | 2 ms | **missed** |",
    ]
    assert (page.ms(0.0416), page.mib(3 * 2**20)) == ("42", "3.0")


def test_numbers_align_to_the_right() -> None:
    """A table of numbers aligns all columns but the first to the right."""
    assert page.table(("n", "ms"), [("10", "42")]).splitlines()[1] == "| --- | ---: |"


def measured(*argv: str) -> dict[str, Any]:
    """Measure Python with *argv* as the benchmark does: from a process that is small itself."""
    script = (
        "import json, os, sys; from bench import measure; "
        "argv = [sys.executable, *sys.argv[1:]]; "
        "run = measure.run(argv, env=os.environ, cwd='.', stdin='hello'); "
        "print(json.dumps({name: getattr(run, name) for name in run.__slots__}))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, *argv], cwd=ROOT, capture_output=True, check=True, timeout=60
    )
    found = json.loads(ran.stdout)
    assert isinstance(found, dict)
    return found


def test_process_is_measured_with_its_streams() -> None:
    """A run keeps exit code, both streams, and memory that grows with what the process takes."""
    script = "import sys; b = bytearray({}); print(sys.stdin.read(), end=''); sys.exit('oh')"
    small, large = (measured("-c", script.format(size)) for size in (0, 300 * 2**20))
    assert (small["code"], small["out"], small["err"].strip()) == (1, "hello", "oh")
    assert large["peak"] - small["peak"] > 200 * 2**20
    assert small["wall"] > 0


def test_forge_process_counts_what_comes_in() -> None:
    """The forge in its own process seeds a thread, counts requests, tells who holds a marker."""
    with Forge() as forge:
        number = forge.thread(3, "last", "<!-- completion-account-{number} -->\n\nhello")
        job = Job(url=forge.url, repo=forge.repo, number=number)
        argv = TOOLS["plain httpx loop"](job)
        env = {**os.environ, "GH_TOKEN": "forge-pat"}
        assert measure.run(argv, env=env, cwd=".", stdin="again").code == 0
        assert forge.take() == {"list": 1, "PATCH": 1}
        assert forge.reset(number, 3, job.marker) == [f"{job.marker}\n\nagain"]


def test_round_trips_are_turns() -> None:
    """What is said before the server speaks is one trip, in however many pieces."""
    with (
        socket.create_server(("127.0.0.1", 0)) as door,
        Trips(door.getsockname()[1]) as trips,
        socket.create_connection(("127.0.0.1", trips.port)) as client,
        door.accept()[0] as server,
    ):
        for pieces in (1, 3, 1):
            for _ in range(pieces):
                client.sendall(b"?")
            assert len(server.recv(pieces, socket.MSG_WAITALL)) == pieces
            server.sendall(b"!")
            assert client.recv(1) == b"!"
        assert (trips.take(), trips.take()) == (3, 0)
        trips.cut()
        assert client.recv(1) == b""


def test_time_in_the_journal_is_its_own(tmp_path: Path) -> None:
    """What is done under a lock does not count; what the journal does is counted."""
    with closing(SqliteJournal(tmp_path / "journal.db")) as journal:
        timed = Timed(journal)
        with timed.lock(["x"], wait=0):
            before = timed.seconds
            time.sleep(0.05)
            assert timed.seconds == before > 0
        assert timed.recall("x") is None
        assert before < timed.seconds < before + 0.05


STARTED = """
import os, signal, sys
from bench.postgres import cluster
with cluster(fsync="off") as made:
    print(made.folder, (made.folder / "data" / "postmaster.pid").read_text().split()[0], flush=True)
    signal.pause()
"""


@pytest.mark.needs("postgres")
def test_the_cluster_ends_with_whoever_started_it() -> None:
    """It does not run as root, and is gone when its starter was killed."""
    words = [sys.executable, "-c", STARTED]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        folder, pid = starter.stdout.readline().split()
        assert Path(folder, "data").stat().st_uid != 0
        starter.kill()
    end = time.monotonic() + 20
    while _runs(int(pid)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _runs(int(pid))
    shutil.rmtree(folder)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

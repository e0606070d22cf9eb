"""One upsert after another, each cold, each checked: who wrote what with how many requests."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from .forge import Forge
from .measure import LIMIT, Run, run
from .tools import FAMILY, TOKEN, TOOLS, Job, environment

PAYLOAD = "Status: in progress.\n\n- [x] one\n- [ ] two\n"
BEFORE = f"<!-- {FAMILY}-{{number}} -->\n\n{PAYLOAD}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A thread of *comments*, ours first or last among them or absent; new text or the same."""

    comments: int
    ours: str = "last"
    latency: float = 0.0
    change: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Upsert:
    """One upsert: the process and what reached the server."""

    run: Run
    requests: Mapping[str, int]


class WrongEnd(Exception):
    """A contestant failed, or left something else behind than what it was told to write."""


class Track:
    """A forge and an empty home directory: everything that contestants run on."""

    def __init__(self, forge: Forge, scratch: Path) -> None:
        self.forge, self.scratch = forge, scratch
        self._threads: dict[tuple[int, str], int] = {}
        self._nth = itertools.count(1)

    def upsert(self, tool: str, case: Case) -> Upsert:
        """Let *tool* write once; raises ``WrongEnd`` unless exactly one comment holds the text."""
        job = self._job(case)
        payload = f"{PAYLOAD}\nUpdate {next(self._nth)}.\n" if case.change else PAYLOAD
        env = environment(self.scratch / "home", self.forge.url)
        self.forge.take()
        self.forge.latency(case.latency)
        done = run(TOOLS[tool](job), env=env, cwd=str(self.scratch), stdin=payload)
        self.forge.latency(0.0)
        requests = self.forge.take()
        held = self.forge.reset(job.number, case.comments, job.marker)
        wanted = [f"{job.marker}\n\n{payload}".strip()]
        if done.code != 0 or [body.strip() for body in held] != wanted:
            raise WrongEnd(f"{tool}, {case}: exit {done.code}, left {held}\n{done.err[-2000:]}")
        return Upsert(run=done, requests=requests)

    def plain(self, *argv: str, cwd: Path | None = None, stdin: str = "") -> Run:
        """A process beside: no thread, the same empty home."""
        env = environment(self.scratch / "home", self.forge.url)
        done = run(argv, env=env, cwd=str(cwd or self.scratch), stdin=stdin)
        if done.code != 0:
            raise WrongEnd(f"{argv}: exit {done.code}\n{done.err[-2000:]}")
        return done

    def round_trip(self, case: Case) -> float:
        """Seconds that one list request takes in fact: the latency and the server's own work."""
        job, place = self._job(case), urlsplit(self.forge.url)
        connection = HTTPConnection(place.hostname or "", place.port, timeout=LIMIT)
        path = f"/repos/{job.repo}/issues/{job.number}/comments?per_page=100"
        headers = {"Authorization": f"Bearer {TOKEN}", "Accept-Encoding": "gzip"}
        connection.request("GET", path, headers=headers)
        connection.getresponse().read()
        self.forge.latency(case.latency)
        began = time.perf_counter()
        connection.request("GET", path, headers=headers)
        connection.getresponse().read()
        took = time.perf_counter() - began
        self.forge.latency(0.0)
        connection.close()
        return took

    def _job(self, case: Case) -> Job:
        """The thread for *case*; the same text once more needs that text to be there."""
        key = (case.comments, case.ours if case.change else f"{case.ours} unchanged")
        if key not in self._threads:
            self._threads[key] = self.forge.thread(case.comments, case.ours, BEFORE)
        return Job(url=self.forge.url, repo=self.forge.repo, number=self._threads[key])


@contextmanager
def track() -> Iterator[Track]:
    """A forge process and a scratch directory for as long as the block runs."""
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch, Forge() as forge:
        yield Track(forge, Path(scratch))

"""A soak: four processes write to fifty threads through one journal while five in a hundred fail.

Run as a program, it says what came of it and ends with 1 where a rule was broken::

    SOAK_WRITES=2000 python tests/soak.py

``SOAK_JOURNAL`` names another journal than a fresh SQLite file (``postgresql://...``, say),
``SOAK_SEED`` another run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import quantiles

from soaking import (
    FIRST_ISSUE,
    ISSUES,
    LOG,
    PROGRAM,
    Share,
    Told,
    Written,
    closing,
    order_for,
    setup_for,
    text_of,
)
from weather import Weather

from markers import clock, reading, writer
from markers.codec import first_line
from markers.forge import Forge, seed
from markers.forge.server import ForgeServer
from markers.journal.interface import Entry, Kind
from markers.model import Action
from markers.setup import Setup
from markers.writer import Settled

PROCESSES = 4
RATE = 0.05
"""How many of the requests meet a fault."""
DONE = frozenset({Action.CREATED, Action.UPDATED, Action.POSTED})
LANDED = frozenset({*DONE, Action.DELETED, Action.WITHDRAWN, Action.LANDED_UNVERIFIED})
FLAT_KIB = 16 * 1024
"""How much a process may grow in its second half; a leak of 50 kB a write would show."""
FLAT_FILES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The whole soak."""

    writes: int
    journal: str | None = None
    seed: int = 0


@dataclass(slots=True, kw_only=True)
class Report:
    """What came of it; *broken* is empty when every rule held."""

    written: list[Written]
    seconds: float
    requests: int
    struck: int
    settled: Sequence[Settled] = ()
    sizes: list[Told] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The report for people."""
        count, many = len(self.written), len(self.settled)
        ends = Counter(f"{w.action} ({w.code})" if w.code else w.action for w in self.written)
        cuts = [
            f"{cut * 1000:.0f} ms" for cut in quantiles([w.seconds for w in self.written], n=100)
        ]
        kib, files = [told.kib for told in self.sizes], [told.files for told in self.sizes]
        said = [
            f"{count} writes in {self.seconds:.1f} s, {count / self.seconds:.1f} a second",
            f"a write takes {cuts[49]} (p50), {cuts[98]} (p99)",
            f"{self.requests} requests, {self.struck} met a fault; {many} outcomes to recover",
            f"ends: {', '.join(f'{end} {ends[end]}' for end in sorted(ends))}",
            f"peak KiB half-way and at the end {kib}, open files {files}",
            *(f"BROKEN: {rule}" for rule in self.broken),
            f"{len(self.broken)} rules broken",
        ]
        return [f"soak: {line}" for line in said]


def soak(wish: Wish) -> Report:
    """Let all processes write, settle what is left, and hold the server against the journal."""
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())
        journal = wish.journal or str(Path(home) / "shared.sqlite3")
        forge = Forge.open()
        stack.callback(forge.close)
        weather = _prepare(forge, wish)
        url = stack.enter_context(ForgeServer(forge, hang=0.2)).url
        with closing(setup_for(url, journal, home)) as setup:
            began = time.monotonic()
            told = _run_all(wish, url, journal, home)
            seconds = time.monotonic() - began
            requests, weather.rate = sum(forge.counts.values()), 0.0
            report = Report(
                written=sorted((w for each in told for w in each.written), key=lambda w: w.nth),
                seconds=seconds,
                requests=requests,
                struck=weather.struck,
                sizes=told,
            )
            report.settled = writer.recover(setup)
            report.broken = _broken(wish, report, forge, weather, setup)
    return report


def _prepare(forge: Forge, wish: Wish) -> Weather:
    forge.limits.per_hour = 10**9
    for number in range(FIRST_ISSUE, FIRST_ISSUE + ISSUES):
        forge.add_issue(seed.REPO, number)
    weather = Weather(RATE, wish.seed)
    forge.faults.add("*", "", weather.effect(), times=None)
    return weather


def _run_all(wish: Wish, url: str, journal: str, home: str) -> list[Told]:
    with ExitStack() as stack:
        started = []
        for first in range(PROCESSES):
            own = Path(home) / f"process-{first}"
            own.mkdir()
            share = Share(
                url=url,
                journal=journal,
                home=str(own),
                writes=wish.writes,
                first=first,
                of=PROCESSES,
                seed=wish.seed,
            )
            words = [sys.executable, str(PROGRAM), json.dumps(asdict(share))]
            process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
            started.append(stack.enter_context(process))
            stack.callback(process.kill)
        return [_told(process.communicate()[0]) for process in started]


def _told(text: str) -> Told:
    said = json.loads(text)
    written = [Written(**each) for each in said["written"]]
    return Told(written=written, kib=tuple(said["kib"]), files=tuple(said["files"]))


def _broken(wish: Wish, report: Report, forge: Forge, weather: Weather, setup: Setup) -> list[str]:
    """Every rule that does not hold, in words."""
    entries = list(setup.open_journal().entries())
    return [
        *_counts(wish, report),
        *_twins(forge),
        *_records(report, forge, setup, wish.seed),
        *_unaudited(entries, weather),
        *_journal(setup, report),
        *_flat(report),
    ]


def _counts(wish: Wish, report: Report) -> Iterator[str]:
    if [each.nth for each in report.written] != list(range(wish.writes)):
        yield "a write did not come to an end"
    failed = [each for each in report.written if each.action not in DONE]
    if len(failed) > wish.writes * RATE:
        yield f"{len(failed)} writes did not succeed: {failed[:3]}"


def _twins(forge: Forge) -> Iterator[str]:
    """At most one comment carries the marker of an upsert."""
    for number in range(FIRST_ISSUE, FIRST_ISSUE + ISSUES):
        lines = [first_line(comment.body) for comment in forge.comments(seed.REPO, number)]
        for line in set(lines):
            if LOG not in line and lines.count(line) > 1:
                yield f"a twin: {line} is there {lines.count(line)} times"


def _records(report: Report, forge: Forge, setup: Setup, chance: int) -> Iterator[str]:
    """Each record that was reported posted is there once, under its id; no other is there twice."""
    for each in report.written:
        order = order_for(setup, each.nth, chance)
        if order.family.name != LOG:
            continue
        there = [
            comment.id
            for comment in forge.comments(seed.REPO, order.thread.number)
            if comment.body.endswith(f"\n\n{text_of(each.nth)}")
        ]
        if len(there) > 1:
            yield f"a doubled record: write {each.nth} is comments {there}"
        if each.action == Action.POSTED and there != [each.comment_id]:
            yield f"a lost record: write {each.nth} was comment {each.comment_id}, found {there}"


def _unaudited(entries: Sequence[Entry], weather: Weather) -> Iterator[str]:
    """Each effect that the server saw has an intent of its own, written before it."""
    intents = {entry.seq: entry for entry in entries if entry.record.kind is Kind.INTENT}
    landed = [
        intents[entry.record.intent]
        for entry in entries
        if entry.record.intent and entry.record.action in LANDED
    ]
    meant = sorted(_meant(entry) for entry in landed)
    seen = sorted((took.method, took.what, took.at) for took in weather.effects)
    if [each[:2] for each in meant] != [each[:2] for each in seen]:
        yield f"the server saw {len(seen)} effects, the journal says that {len(meant)} landed"
    elif late := [m for m, s in zip(meant, seen, strict=True) if m[2] > s[2]]:
        yield f"intents that came after their effects: {late[:3]}"


def _meant(entry: Entry) -> tuple[str, str, float]:
    """An intent as the server would see it: what is sent, the text or the comment, and when."""
    record, at = entry.record, clock.epoch(entry.at)
    if record.action == "delete":
        return "DELETE", str(record.comment_id), at
    return ("POST" if record.action == "create" else "PATCH"), record.sha256_after or "", at


def _journal(setup: Setup, report: Report) -> Iterator[str]:
    """The chain is whole, nothing is open, and GitHub holds what was written last."""
    journal = setup.open_journal()
    yield from (f"the journal: {flaw.problem}" for flaw in journal.verify())
    yield from (f"intent {entry.seq} is open" for entry in journal.open_intents())
    yield from (f"not as written last: {flaw.problem}" for flaw in reading.live_flaws(setup))
    yield from (f"not settled: {s}" for s in report.settled if s.outcome == "unknown")


def _flat(report: Report) -> Iterator[str]:
    """Memory and open files do not grow from the half of the writes to the end."""
    for told in report.sizes:
        if told.kib[1] - told.kib[0] > FLAT_KIB:
            yield f"memory grows: {told.kib} KiB"
        if told.files[1] - told.files[0] > FLAT_FILES:
            yield f"open files grow: {told.files}"


def main(environ: Mapping[str, str]) -> int:
    """Run the soak and say what came of it."""
    wish = Wish(
        writes=int(environ.get("SOAK_WRITES") or 2000),
        journal=environ.get("SOAK_JOURNAL") or None,
        seed=int(environ.get("SOAK_SEED") or 0),
    )
    report = soak(wish)
    sys.stdout.write("\n".join(report.lines()) + "\n")
    return 1 if report.broken else 0


if __name__ == "__main__":
    sys.exit(main(os.environ))

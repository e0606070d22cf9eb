"""A burst of twenty entries on one long thread: requests and wall time beside their bars."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from .measure import Run, run
from .page import Figure, ms, requests
from .payloads import payload
from .stats import interleaved
from .tools import COMMAND, environment
from .upserts import Case, Track, WrongEnd

PORTS = ("experience", "design", "plan", "orchestration")
FAMILIES: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("plan-issue", {}),
    ("completion-account", {}),
    ("goal-run-stage", {}),
    ("goal-halt-report", {}),
    ("proposed-followups", {}),
    ("design-issue", {}),
    ("design-phase-complete", {}),
    ("experience-owner-complete", {}),
    ("open-for-work-affirmed", {}),
    ("goal-run-inflight", {}),
    ("goal-run-restart-report", {}),
    ("goal-probe-findings", {}),
    *(("credit-input", {"port": port}) for port in PORTS),
    *(("engagement-record", {"phase": port}) for port in PORTS),
)
COMMENTS = 500
TIMES = 5
TRIPS = 30
"""Round trips that the burst may take, beyond process start, with pacing off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """One burst: the process and what reached the server."""

    run: Run
    requests: Mapping[str, int]


def figures_of_bursts(track: Track) -> list[Figure]:
    """Twenty creates on 500 comments at 40 ms; process start is one create at 0 ms."""
    far, near = interleaved(
        TIMES,
        lambda: burst(track, len(FAMILIES), COMMENTS, 0.04),
        lambda: burst(track, 1, 10, 0.0),
    )
    trip = median(track.round_trip(Case(comments=COMMENTS, latency=0.04)) for _ in range(TIMES))
    beyond = median(a.run.wall - b.run.wall for a, b in zip(far, near, strict=True))
    counts = [dict(each.requests) for each in far]
    looks = 7 + 8  # 500 comments are 5 pages, and 6 with what was written; both looks bracketed
    return [
        Figure(
            what="requests of a burst of 20 creates on 500 comments",
            measured=requests(counts[0]),
            bar=f"{looks} list (one full look, one settling look) + 20 POST",
            holds=all(c["list"] <= looks and c["POST"] == len(FAMILIES) for c in counts),
        ),
        Figure(
            what="its wall time at 40 ms a request, pacing off",
            measured=f"{ms(median(b.run.wall for b in far))} ms: {ms(beyond)} ms beyond process "
            f"start ({ms(median(b.run.wall for b in near))} ms)",
            bar=f"{ms(TRIPS * trip)} ms beyond it: {TRIPS} round trips of {ms(trip)} ms",
            holds=beyond <= TRIPS * trip,
        ),
    ]


def burst(track: Track, entries: int, comments: int, latency: float) -> Burst:
    """Run one burst on a thread of its own; raises ``WrongEnd`` unless every entry lands."""
    number = track.forge.thread(comments, "absent", "")
    manifest = _prepare(track.scratch, number, entries)
    env = environment(track.scratch / "home", track.forge.url)
    track.forge.take()
    track.forge.latency(latency)
    done = run(
        [COMMAND, "--repo", track.forge.repo, "burst", str(manifest), "--json"],
        env={**env, "MARKERS_TEST_NO_PACING": "1"},
        cwd=str(track.scratch),
        stdin="",
    )
    track.forge.latency(0.0)
    if done.code != 0:
        raise WrongEnd(f"burst: exit {done.code}\n{done.err[-2000:]}")
    return Burst(run=done, requests=track.forge.take())


def _prepare(scratch: Path, number: int, entries: int) -> Path:
    folder = scratch / ".tmp"
    folder.mkdir(exist_ok=True)
    writes = [
        {"family": family, "number": number, "params": params, "bodyFile": f".tmp/{at}.md"}
        for at, (family, params) in enumerate(FAMILIES[:entries])
    ]
    for at, (family, params) in enumerate(FAMILIES[:entries]):
        text = payload(family, number, "A handoff.\n", **params)
        (folder / f"{at}.md").write_text(text, encoding="utf-8")
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(writes), encoding="utf-8")
    return manifest

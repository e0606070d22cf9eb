"""A forge in a process of its own: orders come in as JSON lines, answers go out as JSON lines.

It counts what reaches it, so that every contestant is counted by the same hand.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from markers.forge import Forge, ForgeServer, serve
from markers.forge.values import Call

REPO = "acme/widgets"
WORDS = ("the", "build", "is", "green", "again", "after", "retrying", "two", "flaky", "jobs", "now")
BODY_SEED = 12
AGE = 3600.0
"""Seconds since the newest comment: what is younger than a minute is looked after once more."""


def bodies(count: int) -> list[str]:
    """Made-up talk: 70 % of 8 to 90 words, 30 % of 150 to 450; the same for every contestant."""
    dice = random.Random(BODY_SEED)  # noqa: S311 - sizes of sample texts, no secret
    lengths = (
        dice.randint(8, 90) if dice.random() < 0.7 else dice.randint(150, 450) for _ in range(count)
    )
    return [" ".join(dice.choices(WORDS, k=length)) for length in lengths]


class Bench:
    """The orders: each method is one."""

    def __init__(self, server: ForgeServer) -> None:
        self.forge, self.url = server.forge, server.url
        self.counts: Counter[str] = Counter()
        self.forge.limits.per_hour = 1_000_000
        self.forge.on_request("*", "", self._count, times=None)

    def _count(self, call: Call) -> None:
        listing = call.method == "GET" and call.path.endswith("/comments")
        self.counts["list" if listing else call.method] += 1
        self.counts["conditional"] += "if-none-match" in call.headers

    def where(self) -> dict[str, Any]:
        """Where the API is."""
        return {"url": self.url, "repo": REPO}

    def latency(self, seconds: float) -> None:
        """Add so much to every request, half of it before the effect and half after."""
        self.forge.switches.latency = seconds

    def thread(self, comments: int, ours: str, body: str) -> int:
        """Open an issue with so many comments; *ours* is first or last among them, or absent.

        ``{number}`` in *body* becomes the issue's number.
        """
        number = self.forge.add_issue(REPO)
        texts = bodies(comments)
        if ours != "absent":
            texts[{"first": 0, "last": -1}[ours]] = body.replace("{number}", str(number))
        self.forge.clock = lambda: time.time() - AGE
        self.forge.fill(REPO, number, len(texts), body=texts.__getitem__)
        self.forge.clock = time.time
        return number

    def take(self) -> dict[str, int]:
        """What came in since the last time; lists apart from the other reads."""
        counts, self.counts = self.counts, Counter()
        return {kind: count for kind, count in counts.items() if count}

    def reset(self, number: int, size: int, marker: str) -> dict[str, Any]:
        """Delete what came on top of *size* comments; tell who held the marker, and how many."""
        there = self.forge.comments(REPO, number)
        held = [comment.body for comment in there if comment.body.startswith(marker)]
        for comment in there[size:]:
            self.forge.delete(comment.id)
        return {"held": held}


def orders() -> Iterator[dict[str, Any]]:
    """One JSON document a line until standard input ends."""
    for line in sys.stdin:
        yield json.loads(line)


def main() -> None:
    """Serve until standard input ends."""
    forge = Forge.open()
    with serve(forge) as server:
        bench = Bench(server)
        for order in orders():
            answer = getattr(bench, order.pop("do"))(**order)
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
    forge.close()


if __name__ == "__main__":
    main()

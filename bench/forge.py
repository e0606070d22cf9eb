"""Our side of the forge's process: start it, order threads, ask what came in."""

from __future__ import annotations

import json
import subprocess
import sys
from types import TracebackType
from typing import Any, Self


class Forge:
    """A forge in another process, with an interpreter of its own, while the block runs."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        place = self._ask("where")
        self.url: str = place["url"]
        self.repo: str = place["repo"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate(timeout=30)

    def _ask(self, do: str, **what: object) -> Any:
        assert self._process.stdin is not None  # noqa: S101 - both were asked for above
        assert self._process.stdout is not None  # noqa: S101 - the same
        self._process.stdin.write(json.dumps({"do": do, **what}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def latency(self, seconds: float) -> None:
        """Add so much to every request."""
        self._ask("latency", seconds=seconds)

    def thread(self, comments: int, ours: str, body: str) -> int:
        """Open an issue with so many comments, ours first, last or absent; its number."""
        return int(self._ask("thread", comments=comments, ours=ours, body=body))

    def take(self) -> dict[str, int]:
        """Requests since the last time: lists, other methods, and how many were conditional."""
        return dict(self._ask("take"))

    def reset(self, number: int, size: int, marker: str) -> list[str]:
        """Bring a thread back to its size; the answer is the bodies that began with the marker."""
        return list(self._ask("reset", number=number, size=size, marker=marker)["held"])

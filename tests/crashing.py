"""A writer that kills itself with SIGKILL at the nth step of the protocol.

Run as a program: ``crashing.py URL JOURNAL FAMILY TEXT STEP``.  A step is a moment before or after
an append to the journal or a request to the server; STEP counts them from 1.  Without a death the
number of steps is printed.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from pathlib import Path
from typing import Any

from markers import writer
from markers.codec import derive
from markers.contract import load
from markers.forge import seed
from markers.journal.sqlite import SqliteJournal
from markers.model import Repo, Thread
from markers.setup import Setup, Timing
from markers.transport.api import GitHub
from markers.transport.interface import Request, Response
from markers.transport.rest import HttpxSender
from markers.writer import Order


class Mortal:
    """Counts steps and dies at the chosen one."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.count = itertools.count(1)
        self.last = 0

    def tick(self) -> None:
        """One step of the protocol."""
        self.last = next(self.count)
        if self.last == self.step:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, work: Any) -> Any:
        """Let each call of *work* be two steps: before it and after it."""

        def run(*args: Any, **named: Any) -> Any:
            self.tick()
            result = work(*args, **named)
            self.tick()
            return result

        return run


class MortalSender:
    """Sends for real; dies around a request that writes or lists."""

    def __init__(self, mortal: Mortal) -> None:
        self.real = HttpxSender()
        self._send = mortal.around(self.real.send)

    def send(self, request: Request, *, timeout: float) -> Response:
        """Send one request."""
        answer: Response = self._send(request, timeout=timeout)
        return answer

    def close(self) -> None:
        """Let go of the connections."""
        self.real.close()


class MortalJournal(SqliteJournal):
    """A real journal; dies around an append."""

    def __init__(self, path: Path, mortal: Mortal) -> None:
        super().__init__(path)
        self.append = mortal.around(super().append)  # type: ignore[method-assign]  # dying is the point


def setup_for(url: str, journal: Path, step: int = 0) -> tuple[Setup, Mortal]:
    """A writer's pieces that end at *step*; 0 is never."""
    mortal = Mortal(step)
    opened = MortalJournal(journal, mortal)
    connection = GitHub(MortalSender(mortal), url, seed.PAT_TOKEN, "fp")
    timing = Timing(paced=False, settle=0.3, deadline=20)
    setup = Setup(
        contract=load(), connection=connection, open_journal=lambda: opened, timing=timing
    )
    return setup, mortal


def order_for(setup: Setup, url: str, family: str, text: str) -> Order:
    """What the writer is to write."""
    found = setup.contract.family(family)
    thread = Thread(Repo(url, *seed.REPO.split("/")), seed.ISSUE)
    return Order(thread=thread, family=found, marker=derive(found, seed.ISSUE), payload=text)


def main(url: str, journal: str, family: str, text: str, step: str) -> None:
    """Write once, or die at the step."""
    setup, mortal = setup_for(url, Path(journal), int(step))
    writer.write(setup, order_for(setup, url, family, text))
    setup.connection.close()
    sys.stdout.write(f"{mortal.last}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

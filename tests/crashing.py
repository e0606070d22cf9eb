"""A writer whose process dies, or whose disk takes nothing more, at a named point of the protocol.

A point is a moment before or after an append to the journal or a request to the server; points are
counted from 1.  Run as a program it answers one question a line, in JSON: ``{"scene": NAME, "url":
URL, "journal": PATH, "point": N, "fate": FATE, "room": BYTES, "uid": ID}`` is answered by
``{"status": S, "points": [NAMES], "code": CODE, "actions": [ACTIONS]}``: how the call's process
ended (-9: it was killed) and, of one that lived, the points that it passed, the code of the error
that it met, and what it says of each of its writes then.  Each call has a process of its own,
forked off one that has loaded everything.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self
from urllib.parse import urlsplit

from crash_scenes import SCENES

from markers import clock
from markers.contract import load
from markers.errors import MarkersError, Unreachable
from markers.forge import seed
from markers.forge.app import Forge
from markers.journal.interface import Record
from markers.journal.sqlite import SqliteJournal
from markers.model import AuditRef
from markers.setup import Setup, Timing
from markers.testing import ForgeSender
from markers.transport.api import GitHub
from markers.transport.interface import Request, Response, Sender
from markers.transport.rest import HttpxSender

CONTRACT = load()
NEVER = 0


def killed() -> None:
    """The end, at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def full() -> None:
    """From now on no file takes a byte, as on a disk that is full or was made read-only."""
    limit_files(0)


def limit_files(room: int) -> None:
    """No file takes more than so many bytes."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))


FATES = {"killed": killed, "full": full}


class Mortal:
    """Knows the points by name and meets its fate at the chosen one."""

    def __init__(self, point: int, fate: Callable[[], None]) -> None:
        self.point = point
        self.fate = fate
        self.passed: list[str] = []

    def reach(self, name: str) -> None:
        """One point of the protocol."""
        self.passed.append(name)
        if len(self.passed) == self.point:
            self.fate()


class MortalSender:
    """Sends for real; dies around a request."""

    def __init__(self, mortal: Mortal) -> None:
        self.real = HttpxSender()
        self.mortal = mortal

    def send(self, request: Request, *, timeout: float) -> Response:
        """Send one request."""
        what = f"{request.method} {urlsplit(request.url).path.rpartition('/')[2]}"
        self.mortal.reach(f"before {what}")
        answer = self.real.send(request, timeout=timeout)
        self.mortal.reach(f"after {what}")
        return answer

    def close(self) -> None:
        """Let go of the connections."""
        self.real.close()


class MortalJournal(SqliteJournal):
    """A real journal; dies around an append and the setting of a base."""

    def __init__(self, path: Path, mortal: Mortal) -> None:
        super().__init__(path)
        self.mortal = mortal

    def append(self, record: Record, *, replaced: str | None = None) -> AuditRef:
        """Add an entry."""
        what = f"{record.kind} {record.action}"
        self.mortal.reach(f"before {what}")
        ref = super().append(record, replaced=replaced)
        self.mortal.reach(f"after {what}")
        return ref

    def set_base(self, keys: Sequence[str], text: str, **more: Any) -> None:
        """Keep a base."""
        self.mortal.reach("before base")
        super().set_base(keys, text, **more)
        self.mortal.reach("after base")

    def reach(self, name: str) -> None:
        """A point of somebody else's, such as of a local copy."""
        self.mortal.reach(name)


@contextmanager
def setup_with(sender: Sender, url: str, opened: SqliteJournal) -> Iterator[Setup]:
    """A writer's pieces, let go of in the end."""
    connection = GitHub(sender, url, seed.PAT_TOKEN, "fp", max_side_by_side=1)
    timing = Timing(paced=False, settle=0.02, deadline=20)
    yield Setup(
        contract=CONTRACT, connection=connection, open_journal=lambda: opened, timing=timing
    )
    connection.close()
    opened.close()


class Victims:
    """Processes that meet their fate where they are told to; used as a context manager."""

    def __enter__(self) -> Self:
        program = [sys.executable, str(Path(__file__))]
        pipe, top = subprocess.PIPE, str(Path(__file__).parents[1])
        path = os.pathsep.join(filter(None, (top, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            program, stdin=pipe, stdout=pipe, text=True, env={**os.environ, "PYTHONPATH": path}
        )
        return self

    def __exit__(self, *_exc: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def run(
        self, scene: str, url: str, journal: Path, point: int = NEVER, **more: Any
    ) -> dict[str, Any]:
        """Call in a process of its own that meets its fate at *point*."""
        asked = {"scene": scene, "url": url, "journal": str(journal), "point": point, **more}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(asked)}\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


def _call(asked: dict[str, Any]) -> dict[str, Any]:
    if "uid" in asked:
        os.setuid(asked["uid"])
    if "room" in asked:
        limit_files(asked["room"])
    mortal = Mortal(asked["point"], FATES[asked.get("fate", "killed")])
    said: dict[str, Any] = {"points": mortal.passed}
    journal = MortalJournal(Path(asked["journal"]), mortal)
    with setup_with(MortalSender(mortal), asked["url"], journal) as setup:
        try:
            SCENES[asked["scene"]].call(setup, asked["url"])
        except MarkersError as error:
            told = getattr(error.result, "results", [error.result])
            said |= {"code": error.reason.code, "actions": [each.action for each in told]}
    return said


def _forked(asked: dict[str, Any]) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, json.dumps(_call(asked)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        told = said.read()
    _, status = os.waitpid(child, 0)
    return {"status": os.waitstatus_to_exitcode(status), **json.loads(told or "{}")}


def _load() -> None:
    """Make all calls once, so that those to come find everything loaded."""
    sender = HttpxSender()
    with suppress(Unreachable):
        nowhere = Request(method="GET", url="http://127.0.0.1:1", headers={})
        sender.send(nowhere, timeout=1)
    sender.close()
    with TemporaryDirectory() as folder, clock.use(clock.FakeClock()):
        for name, scene in SCENES.items():
            forge = Forge.open(clock=clock.now)
            scene.prepare(forge)
            journal = SqliteJournal(Path(folder) / name)
            with setup_with(ForgeSender(forge), "http://forge.invalid", journal) as setup:
                scene.call(setup, "http://forge.invalid")
            forge.close()
    gc.freeze()  # the collectors of all the processes would copy what is loaded


def main() -> None:
    """Answer until nobody asks any more."""
    _load()
    for line in sys.stdin:
        sys.stdout.write(f"{json.dumps(_forked(json.loads(line)))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()

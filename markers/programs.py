"""Asking another program (gh, git) for an answer, and for no longer than there is time.

Plain standard library, Linux and macOS.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .clock import Deadline

_PIECE = 65_536
_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_running: set[int] = set()
"""The process groups that were started and have not ended."""


class Silent(Exception):
    """The program did not answer in time, or would not stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a program said."""

    code: int
    out: bytes
    err: bytes


def answer(
    command: Sequence[str],
    *,
    seconds: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> tuple[int, bytes]:
    """Exit code and standard output; raises ``Silent``, and ``OSError`` where it cannot be run.

    What the program has started ends with it: a child of its own would keep the pipe open, and
    waiting for its end would take as long as the child does.
    """
    with _started(command, env, cwd, subprocess.DEVNULL) as process:
        try:
            told, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Silent from None
        return process.returncode, told


def hear(
    command: Sequence[str],
    *,
    seconds: float,
    most: int,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Told:
    """The same with standard error, and *most* bytes of either; who says more is ``Silent``."""
    until = Deadline(seconds)
    with _started(command, env, cwd, subprocess.PIPE) as process:
        out, err = _read(process, until, most)
        try:
            code = process.wait(until.remaining())
        except subprocess.TimeoutExpired:
            raise Silent from None
        return Told(code=code, out=out, err=err)


def _read(process: subprocess.Popen[bytes], until: Deadline, most: int) -> tuple[bytes, bytes]:
    kept = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as open_ones:
        for stream in filter(None, kept):
            open_ones.register(stream, selectors.EVENT_READ, kept[stream])
        while open_ones.get_map():
            ready = open_ones.select(until.remaining())
            if not ready and not until.remaining():
                raise Silent
            for key, _ in ready:
                piece = os.read(key.fd, _PIECE)
                key.data.extend(piece)
                if len(key.data) > most:
                    raise Silent
                if not piece:
                    open_ones.unregister(key.fileobj)
    return bytes(kept[process.stdout]), bytes(kept[process.stderr])


@contextmanager
def _started(
    command: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None, stderr: int
) -> Iterator[subprocess.Popen[bytes]]:
    with _unstopped():
        process = subprocess.Popen(  # noqa: S603 - no shell; who calls says what is run
            command,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            process_group=0,
        )
        _running.add(process.pid)
    with process:
        try:
            yield process
        finally:
            if process.returncode is None:
                _end(process.pid)
            _running.discard(process.pid)


@contextmanager
def _unstopped() -> Iterator[None]:
    """Let nobody stop this process before it is known what it has started."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_running() -> None:
    """End all that was started and still runs: for who is about to leave without looking back."""
    for group in tuple(_running):
        _end(group)


def _end(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)

"""A PostgreSQL of our own: a private cluster on loopback that ends with whoever started it.

It runs as an unprivileged user, in a folder of its own, on a free port and a socket in that folder.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

OLDEST = 15
USER = "tester"
SECONDS = 60.0
_DEBIAN = Path("/usr/lib/postgresql")
# The server ends when our end of the pipe is closed, however we end.
_KEEP = '"$@" & server=$!; cat >/dev/null; kill -QUIT $server; wait $server'


class NoServer(Exception):
    """The cluster did not start; the message is what it said."""


def programs() -> Path | None:
    """The folder with ``initdb`` and ``postgres`` of the newest version that is new enough."""
    found = [_version(folder) for folder in _folders()]
    return max((pair for pair in found if pair[0] >= OLDEST), default=(0, None))[1]


def _folders() -> list[Path]:
    named = shutil.which("postgres")
    debian = [folder for folder in _DEBIAN.glob("*/bin") if (folder / "initdb").is_file()]
    return [*debian, *([Path(named).resolve().parent] if named else [])]


def _version(folder: Path) -> tuple[int, Path]:
    told = subprocess.run(  # noqa: S603 (a program found in the system's folders)
        [folder / "postgres", "--version"], capture_output=True, text=True, check=True
    )
    return int(told.stdout.split()[2].partition(".")[0]), folder


def _unprivileged() -> dict[str, Any]:
    """How to start a process: the server refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            who = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
    raise NoServer("there is no user postgres or nobody to run the server as")


class Cluster:
    """A cluster on the data in *folder*; ``url`` names one of its databases."""

    def __init__(self, found: Path, folder: Path, settings: Mapping[str, str]) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        own = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(folder)}
        words = [word for pair in (own | dict(settings)).items() for word in ("-c", "=".join(pair))]
        data, port = str(folder / "data"), str(self.port)
        self._command = [str(found / "postgres"), "-D", data, "-p", port, *words]
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres") -> str:
        """The address of a database, over loopback."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    @property
    def socket(self) -> str:
        """The same over the socket, with its first database."""
        return f"postgresql://{USER}@/postgres?host={self.folder}&port={self.port}"

    def start(self) -> None:
        """Start the server; raises ``NoServer`` with the end of its log."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 (fixed words)
                ["/bin/sh", "-c", _KEEP, "sh", *self._command],
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                **_unprivileged(),
            )
        self._wait(self._process)

    def stop(self) -> None:
        """End it at once and wait until it has ended."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(timeout=SECONDS)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        import psycopg

        end = time.monotonic() + SECONDS
        while process.poll() is None and time.monotonic() < end:
            try:
                psycopg.connect(self.socket, connect_timeout=2).close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return
        self.stop()
        raise NoServer((self.folder / "log").read_text(encoding="utf-8", errors="replace")[-2000:])


@contextmanager
def cluster(**settings: str) -> Iterator[Cluster]:
    """A fresh cluster with these *settings* while the block runs."""
    found, as_whom = programs(), _unprivileged()
    if found is None:
        raise NoServer(f"PostgreSQL {OLDEST} or newer is not installed")
    with tempfile.TemporaryDirectory(prefix="postgres-") as name:
        folder = Path(name)
        if as_whom:
            os.chown(folder, as_whom["user"], as_whom["group"])
        _make(found, folder, as_whom)
        running = Cluster(found, folder, settings)
        try:
            running.start()
            yield running
        finally:
            running.stop()


def _make(found: Path, folder: Path, as_whom: dict[str, Any]) -> None:
    words = ["--no-sync", "--no-instructions", "--locale=C", "--encoding=UTF8", "--auth=trust"]
    made = subprocess.run(  # noqa: S603 (fixed words)
        [str(found / "initdb"), f"--username={USER}", *words, str(folder / "data")],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        **as_whom,
    )
    if made.returncode != 0:
        raise NoServer(made.stderr[-2000:])

"""Servers that this project did not write, as real processes on loopback."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from witnesses import EMULATE

REPO = "acme/widgets"
PAT = "emulate-pat"
LEE = "emulate-lee"
NOBODY = "emulate-nobody"
"""A token of an account that does not exist: emulate takes every unknown one for its first user."""

_SEED = {
    "tokens": {
        PAT: {"login": "pat", "scopes": ["repo", "user"]},
        LEE: {"login": "lee", "scopes": ["repo", "user"]},
        NOBODY: {"login": "nobody", "scopes": ["repo", "user"]},
    },
    "github": {
        "users": [{"login": "pat"}, {"login": "lee"}],
        "orgs": [{"login": "acme", "members": [{"login": "pat", "role": "admin"}]}],
        "repos": [{"owner": "acme", "name": "widgets", "auto_init": True}],
    },
}
# It would listen on every address of the machine, and has no option for that.
_LOOPBACK_ONLY = """
const { Server } = require("node:net");
const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, port, "127.0.0.1", ...rest.filter((each) => each !== undefined));
};
"""
_START = 15.0
"""Seconds that a start may take."""


def ask(
    method: str, url: str, document: object = None, *, token: str = PAT
) -> tuple[int, Any, bytes]:
    """One request with plain means: status, JSON (None where there is none), raw body."""
    data = None if document is None else json.dumps(document).encode()
    headers = {"Authorization": f"Bearer {token}", "User-Agent": "test"}
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - loopback
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answer:
            raw, status = answer.read(), answer.status
    except urllib.error.HTTPError as error:
        with error:
            raw, status = error.read(), error.code
    return status, json.loads(raw) if raw else None, raw


@contextmanager
def emulate(folder: Path) -> Iterator[str]:
    """The URL of an emulate with an organisation, its member pat and the stranger lee."""
    (folder / "loopback.cjs").write_text(_LOOPBACK_ONLY, encoding="utf-8")
    (folder / "seed.json").write_text(json.dumps(_SEED), encoding="utf-8")
    url, process = _started(folder)
    try:
        yield url
    finally:
        _stop(process)


def _started(folder: Path) -> tuple[str, subprocess.Popen[bytes]]:
    """Another process may take the port that was free: then another port is tried."""
    for _ in range(3):
        port = _free_port()
        url = f"http://127.0.0.1:{port}"
        process = _spawn(folder, port, url)
        if _answers(url, process):
            return url, process
        _stop(process)
    raise AssertionError(f"emulate did not start: {(folder / 'log').read_text(errors='replace')}")


def _spawn(folder: Path, port: int, url: str) -> subprocess.Popen[bytes]:
    node = shutil.which("node")
    assert node is not None
    command = [node, "--require", str(folder / "loopback.cjs"), str(EMULATE), "start"]
    command += ["--service", "github", "--port", str(port), "--base-url", url]
    command += ["--seed", str(folder / "seed.json")]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "NO_COLOR": "1"}
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    end = time.monotonic() + _START
    while process.poll() is None and time.monotonic() < end:
        try:
            return bool(ask("GET", f"{url}/user")[1]["login"] == "pat")
        except OSError:
            time.sleep(0.05)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=5)

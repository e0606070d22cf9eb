"""What ``doctor`` looks at, one function a check.

A check answers with ``ok``, ``warn`` or ``fail`` and how to mend it; one that raises has failed
with that error's own words.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

from .. import clock
from ..clock import Deadline
from ..errors import MarkersError
from .common import Invocation

if TYPE_CHECKING:
    from ..transport.api import GitHub
    from ..transport.interface import Response

OK, WARN, FAIL = "ok", "warn", "fail"
SKEW = 60.0
"""Seconds of difference between the clocks from which a warning is due."""
PATIENCE = 15.0
OLDEST = (3, 11)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    status: str
    detail: str
    mend: str | None = None


class Examined:
    """What the checks have in common: the invocation, and the server's answer, asked for once."""

    def __init__(self, call: Invocation) -> None:
        self.call = call
        self._heard: tuple[GitHub, Response] | None = None

    def api_url(self) -> str:
        """The host of the repository, or the one that the settings make of it."""
        from ..config import host

        try:
            return self.call.repo.api_url
        except MarkersError:
            return host(self.call.settings)

    def heard(self) -> tuple[GitHub, Response]:
        """A connection, and what the server says to a request that costs nothing."""
        from ..config import connection
        from ..transport.interface import Request

        if self._heard is None:
            github = connection(self.call.settings, self.api_url(), self.call.mask.learn)
            url = f"{github.api_url}/rate_limit"
            request = Request(method="GET", url=url, headers=github.headers)
            self._heard = github, github.sender.send(request, timeout=self.patience())
        return self._heard

    def patience(self) -> float:
        """How long a server may take: less than usual where the command has less time left."""
        return min(PATIENCE, self.call.settings.until.remaining())

    def close(self) -> None:
        """Let go of the connection."""
        if self._heard is not None:
            self._heard[0].close()


Look = Callable[[Examined], Check]


def _python(_examined: Examined) -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST:
        return Check(
            name="python", status=FAIL, detail=version, mend="install Python 3.11 or newer"
        )
    return Check(name="python", status=OK, detail=f"{version} on {sys.platform}")


def _git(examined: Examined) -> Check:
    if shutil.which("git") is None:
        return Check(
            name="git", status=WARN, detail="not found", mend="install git, or always give --repo"
        )
    top = examined.call.place.top
    where = f"checkout at {top}" if top else "not inside a checkout"
    return Check(name="git", status=OK, detail=where)


def _settings(examined: Examined) -> Check:
    settings = examined.call.settings
    file = settings.place.own_file
    there = "read" if file.is_file() else "not there, defaults hold"
    return Check(name="settings", status=OK, detail=f"{file}: {there}")


def _contract(examined: Examined) -> Check:
    from ..config import overlays
    from ..contract import problems

    own, foreign = overlays(examined.call.settings)
    found = problems(own, families_only=foreign)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return Check(
            name="contract",
            status=FAIL,
            detail=f"{found[0]}{more}",
            mend="`persist-marker registry check` lists all",
        )
    contract = examined.call.contract
    counts = f"{len(contract.rows)} rows, {len(contract.families)} families"
    return Check(name="contract", status=OK, detail=counts)


def _scratch(examined: Examined) -> Check:
    place = examined.call.place
    root = place.roots.directories[0]
    if not root.is_dir():
        return Check(
            name="scratch root", status=WARN, detail=f"{root} is missing", mend=f"mkdir -p {root}"
        )
    if place.top is not None and not _ignored(place.top, root.name):
        mend = f"add /{root.name}/ to {place.top / '.gitignore'}"
        return Check(
            name="scratch root", status=WARN, detail=f"{root} is not ignored by git", mend=mend
        )
    return Check(name="scratch root", status=OK, detail=str(root))


def _ignored(top: object, name: str) -> bool:
    """Whether git ignores the directory; yes where git cannot be asked."""
    command = ["git", "-C", str(top), "check-ignore", "-q", name + "/"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=5, check=False)  # noqa: S603 (fixed words, and a path of ours)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 1


def _journal(examined: Examined) -> Check:
    journal = examined.call.unopened_journal
    flaws = journal.verify()
    if flaws:
        return Check(
            name="journal",
            status=FAIL,
            detail=f"{len(flaws)} flaws, the first: {flaws[0].problem}",
            mend="`persist-marker audit verify` lists all, `doctor --repair-journal` sets it aside",
        )
    waiting = len(journal.open_intents())
    if waiting:
        return Check(
            name="journal",
            status=WARN,
            detail=f"{waiting} writes have an unknown outcome",
            mend="`persist-marker recover` settles them",
        )
    none = examined.call.no_journal
    path = examined.call.settings.journal()
    if none and isinstance(path, Path) and not _can_be_made(path):
        mend = "name a place that you may write to with MARKERS_JOURNAL"
        return Check(name="journal", status=FAIL, detail=f"{path} cannot be made", mend=mend)
    return Check(name="journal", status=OK, detail=none or f"{path}: whole")


def _can_be_made(path: Path) -> bool:
    """Whether the nearest directory above that exists takes files, as far as its mode says."""
    above = next(folder for folder in path.parents if folder.exists())
    return above.is_dir() and os.access(above, os.W_OK | os.X_OK)


def _repository(examined: Examined) -> Check:
    repo = examined.call.repo
    return Check(name="repository", status=OK, detail=repo.slug)


def _host(examined: Examined) -> Check:
    return Check(name="host", status=OK, detail=examined.api_url())


def _token(examined: Examined) -> Check:
    from ..config import token

    secret = token(examined.call.settings, examined.api_url())
    return Check(
        name="token", status=OK, detail=f"from {secret.source}, fingerprint {secret.fingerprint}"
    )


def _server(examined: Examined) -> Check:
    github, response = examined.heard()
    if response.status == 401:
        return Check(
            name="server",
            status=FAIL,
            detail="401: the token is wrong, expired or revoked",
            mend="set another one",
        )
    if not _is_json(response.body):
        return Check(
            name="server",
            status=FAIL,
            detail=f"{github.api_url} does not answer like GitHub's API ({response.status})",
            mend="check --api-url, GITHUB_API_URL and the proxy",
        )
    return Check(name="server", status=OK, detail=f"{github.api_url} answers ({response.status})")


def _is_json(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except ValueError:
        return False


def _account(examined: Examined) -> Check:
    github, _response = examined.heard()
    viewer = github.begin(Deadline(examined.patience())).viewer()
    if viewer is None:
        return Check(
            name="account",
            status=WARN,
            detail="the token does not tell whose it is",
            mend="comments of this account count only by their author's association",
        )
    return Check(name="account", status=OK, detail=f"{viewer.login} ({viewer.id})")


def _clock(examined: Examined) -> Check:
    _github, response = examined.heard()
    date = response.headers.get("date")
    if date is None:
        return Check(
            name="clock", status=WARN, detail="the server names no date", mend="is a proxy between?"
        )
    skew = clock.now() - parsedate_to_datetime(date).timestamp()
    if abs(skew) > SKEW:
        return Check(
            name="clock",
            status=WARN,
            detail=f"{skew:+.0f} s against the server",
            mend="set this machine's clock",
        )
    return Check(name="clock", status=OK, detail=f"{skew:+.0f} s against the server")


CHECKS: Mapping[str, Look] = {
    "python": _python,
    "git": _git,
    "settings": _settings,
    "contract": _contract,
    "scratch root": _scratch,
    "journal": _journal,
    "repository": _repository,
    "host": _host,
    "token": _token,
    "server": _server,
    "account": _account,
    "clock": _clock,
}

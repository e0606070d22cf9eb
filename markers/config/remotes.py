"""Which repository a checkout belongs to, in the order in which ``gh`` looks.

What may live here: the pure reading of remote URLs and of ``git config``'s answer, the choice among
the candidates, and the one call of git.  What may not: settings, tokens, requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import Refused, Unavailable
from ..programs import Silent, answer
from ..transport.auth import is_loopback

OWNER = r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9_])?"
NAME = r"[A-Za-z0-9._-]{1,100}"
_SLUG = re.compile(
    rf"(?:(?P<host>[A-Za-z0-9.-]+(?::[0-9]{{1,5}})?)/)?(?P<owner>{OWNER})/(?P<name>{NAME})"
)
_URL = re.compile(
    r"(?:https?|ssh|git|git\+ssh|git\+https)://(?:[^/@\s]*@)?(?P<host>[^/@\s]+)/(?P<path>[^?#\s]+)",
    re.IGNORECASE,
)
_SCP = re.compile(r"(?:[^/@:\s]+@)?(?P<host>[^/@:\s]+):(?P<path>[^?#\s]+)")
_ALIASES = {"ssh.github.com": "github.com", "www.github.com": "github.com"}
"""``ssh.github.com`` is github.com's SSH service on port 443."""

_PREFERENCE = ("upstream", "github", "origin")
_GIT = ("git", "config", "-z", "--get-regexp", r"^remote\..*\.(url|gh-resolved)$")
_LONGEST = 1_000_000
PATIENCE = 5.0
"""Seconds that git may take."""


@dataclass(frozen=True, slots=True)
class Place:
    """A repository on a web host; *host* is lower-case, None where the text named none."""

    host: str | None
    owner: str
    name: str
    plain: bool = False
    """Whether it was named by a plain http address; only on loopback does that mean anything."""

    def __str__(self) -> str:
        return "/".join(part for part in (self.host, self.owner, self.name) if part)

    @property
    def identity(self) -> str:
        """What two spellings of one repository have in common."""
        return str(self).lower()


@dataclass(frozen=True, slots=True)
class Remote:
    """One git remote that names a repository."""

    remote: str
    place: Place
    resolved: bool = False
    """Whether ``gh repo set-default`` chose it."""


def parse_slug(text: str) -> Place | None:
    """Read ``[HOST/]OWNER/NAME``; None when it is anything else."""
    match = _SLUG.fullmatch(text)
    if match is None or match["name"] in {".", ".."}:
        return None
    host = match["host"]
    return Place(host.lower() if host else None, match["owner"], match["name"])


def parse_url(url: str) -> Place | None:
    """Read a remote's https, ssh or scp-like address; None for paths and anything else."""
    match = _URL.fullmatch(url) or (None if "://" in url else _SCP.fullmatch(url))
    if match is None:
        return None
    place = parse_slug(match["path"].strip("/").removesuffix(".git"))
    if place is None or place.host is not None:
        return None
    plain = url.lower().startswith("http:") and is_loopback(match["host"])
    return Place(_host(match["host"], url), place.owner, place.name, plain)


def _host(host: str, url: str) -> str:
    """Drop the port of ssh addresses: it says nothing about where the API is."""
    lower = host.lower()
    if not url.lower().startswith(("http:", "https:")):
        lower = lower.rsplit(":", 1)[0]
    return _ALIASES.get(lower, lower)


def parse_config(answer: str) -> tuple[Remote, ...]:
    """Read ``git config -z --get-regexp``: ``key LF value NUL``; a remote's first URL counts."""
    urls: dict[str, str] = {}
    resolved: dict[str, str] = {}
    for item in answer.split("\0"):
        key, _, value = item.partition("\n")
        name, _, what = key.removeprefix("remote.").rpartition(".")
        if name and what == "url":
            urls.setdefault(name, value)
        elif name:
            resolved[name] = value
    found = (_remote(name, url, resolved) for name, url in urls.items())
    return tuple(sorted((r for r in found if r is not None), key=_rank))


def _remote(name: str, url: str, resolved: Mapping[str, str]) -> Remote | None:
    """Apply ``gh-resolved``: ``base`` is the remote itself, else another repository's name."""
    place = parse_url(url)
    if place is None:
        return None
    default = resolved.get(name)
    if default is None:
        return Remote(name, place)
    other = parse_slug(default)
    if other is not None:
        plain = place.plain and other.host is None
        place = Place(other.host or place.host, other.owner, other.name, plain)
    return Remote(name, place, resolved=default == "base" or other is not None)


def _rank(remote: Remote) -> tuple[bool, int]:
    name = remote.remote.lower()
    known = name in _PREFERENCE
    return (not remote.resolved, _PREFERENCE.index(name) if known else len(_PREFERENCE))


def choose(remotes: Iterable[Remote], *, admits: Callable[[str], bool]) -> Place | None:
    """Pick the repository: the resolved one, else the only one; None when there is none.

    *admits* tells which hosts may be picked.  Raises ``Refused`` (``repo-ambiguous``) where two
    are left: a marker on the wrong repository is worse than a question.
    """
    candidates = [r for r in remotes if r.place.host is not None and admits(r.place.host)]
    if candidates and candidates[0].resolved:
        return candidates[0].place
    by_identity = {r.place.identity: r for r in reversed(candidates)}
    if len(by_identity) > 1:
        named = " and ".join(
            f"{r.place} (remote {r.remote})" for r in reversed(by_identity.values())
        )
        raise Refused(
            "repo-ambiguous",
            f"the git remotes name {named}; say which with --repo OWNER/NAME, or once and for all "
            "with `gh repo set-default`",
        )
    return candidates[0].place if candidates else None


def read(directory: Path, *, seconds: float = PATIENCE) -> tuple[Remote, ...]:
    """Ask git for the remotes of the checkout around *directory*; none outside of one."""
    try:
        _code, told = answer(_GIT, cwd=directory, seconds=min(PATIENCE, seconds))
    except FileNotFoundError:
        return ()
    except (OSError, Silent) as error:
        why = "it did not answer in time" if isinstance(error, Silent) else type(error).__name__
        raise Unavailable(
            "git", f"git could not be asked for the remotes ({why}); use --repo"
        ) from error
    return parse_config(told[:_LONGEST].decode("utf-8", "replace"))

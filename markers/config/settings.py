"""What decides how a command runs, merged from its four sources.

What may live here: the precedence of flags over environment over the user's own file over the
checkout's, and what the journal's name means.  What may not: adapters, requests, the choice of a
repository.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path

from ..clock import Deadline
from ..errors import Refused, Usage, echo
from ..journal.address import ADDRESS, Address, is_local
from ..journal.address import read as read_address
from ..paths import Roots, find_git_top, scratch_roots
from ..selection import Trust
from ..setup import Timing
from .files import (
    JOURNAL_NAME,
    MENTIONS,
    Checkout,
    Fault,
    Own,
    mentions,
    read_checkout,
    read_own,
    seconds,
    trust,
)

APP = "handoff-markers"
_ENGINE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The options of the whole command, as the command line gave them."""

    repo: str | None = None
    api_url: str | None = None
    contract: tuple[Traversable, ...] = ()
    journal: Path | Address | None = None
    """Checked already: below the roots, or from the user's own file, or without a password."""
    deadline: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a command runs: what the machine and the user say before any flag does."""

    environ: Mapping[str, str]
    """Without the variables that are empty: those count as unset."""
    directory: Path
    top: Path | None
    """The git top level."""
    own_file: Path
    own: Own
    roots: Roots
    """Below which options may name files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Flags, environment and files in one; see ``config`` for what is made of them."""

    place: Place
    checkout: Checkout
    repo: str | None
    repo_from: str
    """Who named *repo*, for messages."""
    api_url: str | None
    contract: tuple[Traversable, ...]
    trust: Trust
    mentions: str
    deadline: float
    until: Deadline
    """The same, begun: what is left of it bounds each wait of the command."""
    settle: float
    journal_flag: Path | Address | None

    def journal(self) -> Path | Address:
        """The journal's file, or where its server is.

        Raises ``Refused`` (``journal-engine``, ``journal-name``, ``journal-address``,
        ``journal-password``).
        """
        return usual_journal(self.place) if self.journal_flag is None else self.journal_flag


def stand(environ: Mapping[str, str], directory: Path, own_file: Path | None = None) -> Place:
    """Read what holds before any flag does: environment and the user's own file."""
    known = {name: value for name, value in environ.items() if value}
    file = own_file or user_file()
    own = read_own(file)
    top = find_git_top(directory)
    scratch = scratch_roots(directory, known, top)
    roots = Roots(tuple(dict.fromkeys((*scratch.directories, *own.roots))))
    return Place(environ=known, directory=directory, top=top, own_file=file, own=own, roots=roots)


def merge(flags: Flags, place: Place) -> Settings:
    """Lay the four sources over each other.

    Raises ``Usage`` for flags and variables, ``Refused`` (``checkout-settings``) for the checkout.
    """
    own, env = place.own, place.environ
    checkout = read_checkout(place.top or place.directory)
    repo, repo_from = _repo(flags, env)
    deadline = _deadline(flags, place)
    return Settings(
        place=place,
        checkout=checkout,
        repo=repo,
        repo_from=repo_from,
        api_url=flags.api_url,
        contract=(*flags.contract, *own.contract),
        trust=_trust(place),
        mentions=_mentions(place, checkout),
        deadline=deadline,
        until=Deadline(deadline),
        settle=_settle(env),
        journal_flag=flags.journal,
    )


def user_file() -> Path:
    """Where the user's own settings are, by the platform's custom."""
    import platformdirs

    return platformdirs.user_config_path(APP) / "config.toml"


def default_journal() -> Path:
    """Where the journal is unless the user says otherwise."""
    import platformdirs

    return platformdirs.user_state_path(APP) / "journal.sqlite3"


def usual_journal(place: Place) -> Path | Address:
    """Where it is as the user says; raises as ``named_journal`` does."""
    named = place.environ.get("MARKERS_JOURNAL") or place.own.journal
    return named_journal(named, place) if named else default_journal()


def named_journal(text: str, place: Place, *, argument: bool = False) -> Path | Address:
    """Find what a journal's name, address or path means, for those who may name any file.

    An *argument* may be a name or an address, and the latter holds no password and names no file.
    """
    if JOURNAL_NAME.fullmatch(text) and text not in place.own.journals:
        known = ", ".join(place.own.journals) or "none"
        raise Refused(
            "journal-name",
            f"your settings name no journal {echo(text)!r} (there: {known}); a path has a slash",
        )
    own = place.own
    stored = text in own.journals or (text == own.journal and not argument)
    text = own.journals.get(text, text)
    if ADDRESS.match(text):
        address = read_address(text, argument=argument and not stored, stored=stored)
        if argument and not stored:
            _require_known_host(address, place)
        return address
    engine = _ENGINE.match(text)
    if engine:
        raise Refused(
            "journal-engine",
            f"a journal at {echo(engine[1])}:// is not supported; "
            "name a file for SQLite, or postgresql://...",
        )
    if text.startswith("~/"):
        return Path.home() / text[2:]
    return place.directory / text


def _require_known_host(address: Address, place: Place) -> None:
    """Hold an argument to servers that the user himself has named.

    A broad allow-list entry for the command must not let whoever words its arguments choose where
    texts go, and who is offered the password.
    """
    own = (place.environ.get("MARKERS_JOURNAL", ""), place.own.journal or "")
    named = [text for text in (*own, *place.own.journals.values()) if ADDRESS.match(text)]
    known = {read_address(text, stored=False).parts.get("host", "") for text in named}
    host = address.parts.get("host", place.environ.get("PGHOST", ""))
    if not is_local(host) and host not in {*known, place.environ.get("PGHOST")}:
        raise Refused(
            "journal-host",
            f"an argument may name a journal on this machine, or on a server that MARKERS_JOURNAL, "
            f"PGHOST or your own settings file name: {echo(host)} is none of these",
        )


def _repo(flags: Flags, env: Mapping[str, str]) -> tuple[str | None, str]:
    """The first source that names a repository, and its own name."""
    sources = {
        "--repo": flags.repo,
        "GH_REPO": env.get("GH_REPO"),
        "GITHUB_REPOSITORY": env.get("GITHUB_REPOSITORY"),
    }
    given = ((value, name) for name, value in sources.items() if value is not None)
    return next(given, (None, "the git remotes"))


def _trust(place: Place) -> Trust:
    text = place.environ.get("MARKERS_TRUST")
    if text is not None:
        return trust(text, _fault("MARKERS_TRUST"))
    return place.own.trust or Trust()


def _mentions(place: Place, checkout: Checkout) -> str:
    """The stricter of the user's rule and the checkout's."""
    text = place.environ.get("MARKERS_MENTIONS")
    mine = mentions(text, _fault("MARKERS_MENTIONS")) if text else place.own.mentions or "warn"
    return max(mine, checkout.mentions or mine, key=MENTIONS.index)


def _deadline(flags: Flags, place: Place) -> float:
    if flags.deadline is not None:
        return flags.deadline
    text = place.environ.get("MARKERS_DEADLINE")
    if text is not None:
        return seconds(text, _fault("MARKERS_DEADLINE"))
    return place.own.deadline or Timing().deadline


def _settle(env: Mapping[str, str]) -> float:
    text = env.get("MARKERS_SETTLE_SECONDS")
    name = "MARKERS_SETTLE_SECONDS"
    return Timing().settle if text is None else seconds(text, _fault(name), zero=True)


def _fault(source: str) -> Fault:
    return lambda what: Usage("value", f"{source} {what}")

"""From settings to the pieces of a call; the only place that picks adapters.

What may live here: which repository, host, contract, journal and connection the settings mean.
What may not: reading settings (``settings``), what is done with the pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources.abc import Traversable

from ..bounded import directory_bounded
from ..clock import Deadline
from ..contract import Contract, load
from ..errors import Refused, Usage, echo
from ..hygiene import Policy
from ..journal.address import Address
from ..journal.interface import Journal
from ..journal.sqlite import SqliteJournal
from ..model import Repo
from ..paths import Roots
from ..setup import Setup, Timing
from ..transport import gh
from ..transport.api import GitHub
from ..transport.auth import Token, host_of, is_loopback, known_hosts, resolve_api_url, token_for
from ..transport.rest import HttpxSender
from ..transport.wire import API_VERSION
from . import remotes
from .settings import Place, Settings, usual_journal

NO_PACING = "MARKERS_TEST_NO_PACING"
"""The named switch that turns the pacing of POSTs off; a real server never sees its effect."""


def repository(settings: Settings) -> Repo:
    """The repository that flags, environment or git remotes name.

    Raises ``Usage`` (``repo``) for a malformed name, ``Refused`` (``repo-ambiguous``,
    ``repo-unknown``), ``Denied`` (``host-not-allowed``).
    """
    place = named_place(settings)
    if place is None:
        return _from_remotes(settings)
    return Repo(host(settings), place.owner, place.name)


def named_place(settings: Settings) -> remotes.Place | None:
    """What ``--repo`` or its variables say; None where they say nothing."""
    if settings.repo is None:
        return None
    place = remotes.parse_slug(settings.repo)
    if place is None:
        raise Usage("repo", f"{settings.repo_from} is {echo(settings.repo)!r}, not OWNER/NAME")
    return place


def host(settings: Settings, *, wanted: str | None = None) -> str:
    """The REST API to speak to: the flag's, else *wanted*, else what the settings make of it."""
    place = named_place(settings)
    named = place.host if place else None
    api_url = _resolve(settings, asked=settings.api_url or wanted, host=named)
    if settings.api_url and named and host_of(api_url) != named:
        raise Refused(
            "host-mismatch",
            f"{settings.repo_from} names {echo(named)}, but --api-url is {host_of(api_url)}",
        )
    return api_url


def _from_remotes(settings: Settings) -> Repo:
    """The git remotes' answer.

    With a host that was chosen otherwise only its remotes count, as in gh; a server on loopback
    stands in for any host, so that a checkout can be tried against it.
    """
    found = remotes.read(settings.place.directory, seconds=settings.until.remaining())
    fixed = _fixed_host(settings)
    place = remotes.choose(found, admits=_admission(settings, fixed))
    if place is None:
        if found and fixed is None:
            host_not_allowed = found[0].place.host
            _resolve(settings, host=host_not_allowed)
        raise Refused(
            "repo-unknown",
            "no repository: give --repo OWNER/NAME, set GH_REPO, or run inside a checkout that has "
            "a remote on your GitHub host",
        )
    return Repo(fixed or _api_of(settings, place), place.owner, place.name)


def _api_of(settings: Settings, place: remotes.Place) -> str:
    """The API beside a git server; one on loopback that speaks plain http has no other."""
    if not place.plain:
        return _resolve(settings, host=place.host)
    beside = _resolve(settings, asked=f"http://{place.host}/api/v3")
    known = known_hosts(settings.place.environ, settings.place.own.hosts)
    return known.get(host_of(beside), beside)


def _fixed_host(settings: Settings) -> str | None:
    """The API that flag or environment choose; None where a remote may pick."""
    default = _resolve(settings, asked=settings.api_url)
    if settings.api_url or host_of(default) != "github.com":
        return default
    return None


def _admission(settings: Settings, fixed: str | None) -> Callable[[str], bool]:
    if fixed is not None:
        name = host_of(fixed)
        return lambda host: host == name or is_loopback(name)
    known = known_hosts(settings.place.environ, settings.place.own.hosts)
    stored = _stored_hosts(settings)
    return lambda host: host in known or is_loopback(host) or host in stored()


def _resolve(settings: Settings, *, asked: str | None = None, host: str | None = None) -> str:
    return resolve_api_url(
        settings.place.environ,
        asked=asked,
        host=host,
        own_hosts=settings.place.own.hosts,
        gh_hosts=_stored_hosts(settings),
    )


def _stored_hosts(settings: Settings) -> Callable[[], Iterable[str]]:
    return cache(lambda: gh.stored_hosts(settings.place.environ))


def overlays(settings: Settings) -> tuple[list[Traversable], list[Traversable]]:
    """The user's directories with rows and families, and the checkout's with families only."""
    checkout: list[Traversable] = []
    top = settings.place.top or settings.place.directory
    if settings.checkout.families:
        checkout.append(directory_bounded(settings.checkout.families, Roots((top,)), cwd=top))
    return list(settings.contract), checkout


def contract(settings: Settings) -> Contract:
    """Rows and families, with what settings add."""
    own, foreign = overlays(settings)
    return load(own, families_only=foreign)


def journal(settings: Settings) -> Journal:
    """The journal, opened; raises ``Unavailable`` (``journal``) or ``Refused``."""
    made = unopened_journal(settings)
    made.recall("")  # the first question opens it: who only reads must hear no now, or never
    return made


def unopened_journal(settings: Settings) -> Journal:
    """The journal, for who also wants to hear of one that does not open."""
    place = settings.journal()
    if isinstance(place, Address):
        from ..journal.postgres import PostgresJournal  # most machines share no journal

        return PostgresJournal(place, deadline=settings.until)
    return SqliteJournal(place, deadline=settings.until)


def local_journal(place: Place, *, seconds: float) -> Journal | None:
    """The journal for a note of this machine, soon; None where it is a server's.

    Raises as ``Settings.journal`` does.
    """
    where = usual_journal(place)
    if isinstance(where, Address):
        return None
    return SqliteJournal(where, deadline=Deadline(seconds))


def token(settings: Settings, api_url: str) -> Token:
    """The token for a host; raises ``Denied`` (``no-token``), ``Unavailable`` (``gh``)."""
    environ = settings.place.environ

    def stored(host: str) -> str | None:
        return gh.stored_token(host, environ, seconds=settings.until.remaining())

    return token_for(api_url, environ, stored)


def _unheard(_token: str) -> None:
    return None


def connection(
    settings: Settings, api_url: str, on_token: Callable[[str], None] = _unheard
) -> GitHub:
    """A host and its token, over httpx; *on_token* is told which, so as to keep it from showing."""
    own = settings.place.own
    secret = token(settings, api_url)
    on_token(secret.value)
    files = [str(path) if path else None for path in (own.client_cert, own.client_key)]
    return GitHub(
        HttpxSender(*files),
        api_url,
        secret.value,
        secret.fingerprint,
        api_version=own.api_version or API_VERSION,
    )


def build(
    settings: Settings,
    api_url: str,
    *,
    contract: Contract,
    open_journal: Callable[[], Journal],
    on_wait: Callable[[float, str], None],
    on_token: Callable[[str], None] = _unheard,
) -> Setup:
    """Put the pieces of a call together."""
    return Setup(
        contract=contract,
        connection=connection(settings, api_url, on_token),
        open_journal=open_journal,
        policy=policy(settings),
        trust=settings.trust,
        timing=timing(settings, api_url),
        until=settings.until,
        on_wait=on_wait,
    )


def timing(settings: Settings, api_url: str) -> Timing:
    """Waits and bounds; pacing is off only on loopback and only when asked for by name."""
    unpaced = settings.place.environ.get(NO_PACING) == "1" and is_loopback(host_of(api_url))
    return Timing(deadline=settings.deadline, settle=settings.settle, paced=not unpaced)


def policy(settings: Settings) -> Policy:
    """What the user lets into a comment."""
    own, usual = settings.place.own, Policy()
    return Policy(
        mentions=settings.mentions,
        max_bytes=own.max_bytes or usual.max_bytes,
        warn_codepoints=own.warn_codepoints or usual.warn_codepoints,
        allowed_secret_rules=frozenset(own.secrets_allow),
    )

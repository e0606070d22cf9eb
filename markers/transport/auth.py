"""Which host is asked, and with which token: each token is bound to its hosts.

What may live here: pure functions over an environment (a mapping, never ``os.environ`` itself).
What may not: files, processes (``gh`` adapts those), argv.

The rules are design section 3: a flag or a git remote may only pick among the hosts that the user
set up himself, plain http reaches loopback only, and a token of one host is not tried on another.
An empty variable counts as unset.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from ..errors import Denied, echo

Env = Mapping[str, str]

GITHUB = "github.com"
GITHUB_API = "https://api.github.com"
TENANTS = ".ghe.com"
GITHUB_TOKENS = ("GH_TOKEN", "GITHUB_TOKEN")
"""For github.com, its tenants and the host of ``GITHUB_API_URL``; first one wins."""
ENTERPRISE_TOKENS = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
"""For every other host."""

_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[\w.~-]+)*", re.ASCII)
_API_PATHS = re.compile(r"(?:/api/v3)+$")
_TOKEN = re.compile(r"[!-~]+")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Token:
    """A token, where it came from, and a name for it that gives nothing away."""

    value: str = field(repr=False)
    source: str
    fingerprint: str


def api_url_for(host: str) -> str:
    """The REST address of a host as users name it (``github.com``, ``ghe.example:8443``)."""
    name = host.strip().lower().removesuffix(":443")
    if not _HOST.fullmatch(name):
        raise Denied("bad-host", f"{echo(host)!r} is not a host name such as ghe.example")
    if name in (GITHUB, f"www.{GITHUB}", f"api.{GITHUB}", f"ssh.{GITHUB}"):
        return GITHUB_API
    if name.endswith(TENANTS):
        return f"https://api.{name.removeprefix('api.')}"
    return f"https://{name}/api/v3"


def normalise_api_url(url: str) -> str:
    """One spelling for one server: lower case, no default port, no slash at the end.

    The web addresses of github.com and its tenants become their API's; ``/api/v3`` said twice
    counts once; a bare host is taken as a host.  Raises ``Denied`` with code ``plain-http`` or
    ``bad-api-url``.
    """
    if "://" not in url:
        return api_url_for(url)
    parts, netloc = _split(url)
    if netloc == GITHUB or netloc == f"www.{GITHUB}" or _is_tenant_web(netloc):
        return api_url_for(netloc)
    path = _API_PATHS.sub("/api/v3", re.sub(r"/{2,}", "/", parts.path).rstrip("/"))
    if not _PATH.fullmatch(path):
        raise _bad_url()
    return f"{parts.scheme.lower()}://{netloc}{path}"


def _is_tenant_web(netloc: str) -> bool:
    return netloc.endswith(TENANTS) and not netloc.startswith("api.")


def _split(url: str) -> tuple[SplitResult, str]:
    """Parts and ``host[:port]``; the address itself is not repeated: it may hold a login."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _bad_url() from None
    if parts.scheme not in _PORTS or "@" in parts.netloc or parts.query or parts.fragment:
        raise _bad_url()
    bracketed = f"[{host}]" if ":" in host else host
    netloc = bracketed if port in (None, _PORTS[parts.scheme]) else f"{bracketed}:{port}"
    if not _HOST.fullmatch(netloc):
        raise _bad_url()
    if parts.scheme == "http" and not is_loopback(netloc):
        raise Denied(
            "plain-http",
            f"plain http would show the token to everybody on the way to {echo(netloc)}: use "
            "https (http is for loopback only)",
        )
    return parts, netloc


def _bad_url() -> Denied:
    return Denied(
        "bad-api-url",
        "the API address is not one: it reads like https://ghe.example/api/v3, without login, "
        "query or dots for a directory",
    )


def is_loopback(host: str) -> bool:
    """Whether ``host[:port]`` is this machine: 127.0.0.0/8, ::1 or localhost."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def host_of(api_url: str) -> str:
    """The host, as users name it, that a normalised API address belongs to."""
    netloc = urlsplit(api_url).netloc
    if netloc == urlsplit(GITHUB_API).netloc:
        return GITHUB
    return netloc.removeprefix("api.") if netloc.endswith(TENANTS) else netloc


def resolve_api_url(
    env: Env,
    *,
    asked: str | None = None,
    host: str | None = None,
    own_hosts: Iterable[str] = (),
    gh_hosts: Callable[[], Iterable[str]] = tuple,
) -> str:
    """The API address to use, normalised.

    *asked* is ``--api-url``; *host* is what a git remote or ``GH_REPO`` names; both may only pick
    a host that the environment, the user's own settings (*own_hosts*: names or API addresses) or
    gh's hosts file (*gh_hosts*, read only when needed) know, or loopback.  Else ``Denied``
    (``host-not-allowed``).  With neither it is ``GITHUB_API_URL`` where that is not github.com,
    ``GH_HOST``, github.com, in this order: a runner sets the first one whether or not it is meant.
    """
    known = known_hosts(env, own_hosts)
    if asked:
        return _pick(normalise_api_url(asked), known, gh_hosts)
    if host:
        name = host_of(api_url_for(host))
        return known.get(name) or _pick(api_url_for(host), known, gh_hosts)
    for variable, meaning in (("GITHUB_API_URL", normalise_api_url), ("GH_HOST", api_url_for)):
        value = env.get(variable)
        if value and host_of(meaning(value)) != GITHUB:
            return known[host_of(meaning(value))]
    return known[GITHUB]


def known_hosts(env: Env, own_hosts: Iterable[str] = ()) -> dict[str, str]:
    """Host to API address, for the hosts that need no look into gh's file.

    A full address counts more than a host's usual one.  What cannot be used is left out here, and
    is an error only for whoever asks for it.
    """
    named = [env.get("GH_HOST") or "", GITHUB, *own_hosts, env.get("GITHUB_API_URL") or ""]
    known: dict[str, str] = {}
    for name in filter(None, named):
        try:
            api_url = normalise_api_url(name)
        except Denied:
            continue
        known[host_of(api_url)] = api_url
    return known


def _pick(api_url: str, known: Mapping[str, str], gh_hosts: Callable[[], Iterable[str]]) -> str:
    host = host_of(api_url)
    if host in known or is_loopback(host) or host in {name.lower() for name in gh_hosts()}:
        return api_url
    raise Denied(
        "host-not-allowed",
        f"{echo(host)} is not one of your hosts, so no token goes there: name it in GH_HOST or in "
        f"your own settings file, or run 'gh auth login --hostname {echo(host)}'",
    )


def token_for(api_url: str, env: Env, gh: Callable[[str], str | None] = lambda _: None) -> Token:
    """The token for a normalised API address; *gh* answers ``gh auth token --hostname``.

    Raises ``Denied`` with code ``no-token`` or ``bad-token``; the value appears in neither.
    """
    host = host_of(api_url)
    names = token_names(host, env)
    for name in names:
        if env.get(name):
            return _token(env[name], name)
    stored = gh(host)
    if stored:
        return _token(stored, "gh")
    raise Denied("no-token", _how_to_get_one(host, names, env))


def token_names(host: str, env: Env) -> tuple[str, ...]:
    """The variables whose tokens are for *host*."""
    ours = host == GITHUB or host.endswith(TENANTS) or host == _host_of_runner(env)
    return GITHUB_TOKENS if ours else ENTERPRISE_TOKENS


def _host_of_runner(env: Env) -> str | None:
    try:
        return host_of(normalise_api_url(env.get("GITHUB_API_URL") or GITHUB_API))
    except Denied:
        return None


def _token(value: str, source: str) -> Token:
    if not _TOKEN.fullmatch(value):
        raise Denied(
            "bad-token",
            f"the token from {source} holds a blank, a line end or another character that no token "
            "has: set it again without",
        )
    return Token(value=value, source=source, fingerprint=fingerprint(value))


def fingerprint(token: str) -> str:
    """A name for the token: 16 hex digits of a hash that is of no use elsewhere."""
    return hashlib.sha256(b"handoff-markers token\0" + token.encode()).hexdigest()[:16]


def _how_to_get_one(host: str, names: tuple[str, ...], env: Env) -> str:
    detail = f"no token for {host}: set {names[0]}, or run 'gh auth login --hostname {host}'"
    others = [
        name for name in (*GITHUB_TOKENS, *ENTERPRISE_TOKENS) if name not in names and env.get(name)
    ]
    if others:
        detail += f" ({others[0]} is set, but it is for other hosts and not used here)"
    return detail

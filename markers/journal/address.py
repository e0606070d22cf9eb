"""The address of a journal on PostgreSQL: what it may say, and what TLS the host needs.

What may live here: pure functions over the text of an address.  What may not: the driver, files,
the environment.

The driver is handed the parts that are read here, never the text, so that both cannot understand
it differently; and no message shows more of it than the host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import unquote_to_bytes

from ..errors import Refused, Unavailable, echo

ADDRESS = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
"""How an address begins."""
FILES = frozenset({"passfile", "sslcert", "sslcrl", "sslcrldir", "sslkey", "sslrootcert"})
"""What may follow ``?`` and names a file: not in an argument, whose files are bounded."""
SECRETS = frozenset({"password", "sslpassword"})
SETTINGS = frozenset(
    {
        "application_name",
        "channel_binding",
        "dbname",
        "gssencmode",
        "require_auth",
        "service",
        "sslmode",
        "target_session_attrs",
        "user",
    }
)
SOCKETS = frozenset({"host", "hostaddr", "port"})
VERIFIED = "verify-full"
_PARTS = re.compile(
    r"postgres(?:ql)?://"
    r"(?:(?P<user>[^:@/?#\[\]]*)(?::(?P<password>[^@/?#]*))?@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._%-]*)(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/(?P<dbname>[^/?#@]*))?(?:\?(?P<query>[^#@]*))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is and how to get in, part by part; a password shows nowhere."""

    parts: Mapping[str, str] = field(repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What nobody should see."""
        return tuple(self.parts[name] for name in sorted(SECRETS & set(self.parts)))

    def __str__(self) -> str:
        """Host, port, database and service, for people to read."""
        told = self.parts
        port = f":{told['port']}" if "port" in told else ""
        service = f"?service={told['service']}" if "service" in told else ""
        shown = f"postgresql://{told.get('host', '')}{port}/{told.get('dbname', '')}{service}"
        return echo(shown)


def read(text: str, *, argument: bool = False, stored: bool = False) -> Address:
    """Take an address apart; an *argument* and a *stored* one may say less than the environment.

    Raises ``Refused``: ``journal-address`` where it is not understood, ``journal-password`` for a
    password where others can read it.
    """
    match = _PARTS.fullmatch(text)
    if match is None:
        raise _unread(
            "it reads like postgresql://USER@HOST:PORT/DATABASE, with % for odd characters"
        )
    named = {name: value for name, value in match.groupdict().items() if value}
    parts = [(name, _plain(value.strip("[]"))) for name, value in named.items() if name != "query"]
    parts += _pairs(named.get("query", ""))
    _judge([name for name, _ in parts], argument=argument, stored=stored)
    found = dict(parts)
    if argument and {"/", "@"} & set(found.get("host", "")):
        raise _unread("an argument may not name a socket's directory; set PGHOST")
    return Address({name: value for name, value in found.items() if value})


def _pairs(query: str) -> list[tuple[str, str]]:
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    return [(_plain(name), _plain(value)) for name, _, value in pairs]


def _plain(text: str) -> str:
    try:
        plain = unquote_to_bytes(text).decode()
    except UnicodeError:
        raise _unread("what stands behind its % signs is not UTF-8") from None
    if not plain.isprintable():
        raise _unread("it has characters that cannot be seen")
    return plain


def _judge(names: list[str], *, argument: bool, stored: bool) -> None:
    """Refuse what may not be said, where it may not be said; values are never repeated."""
    if (argument or stored) and SECRETS & set(names):
        where = "an argument, which every user of the machine can read" if argument else "a file"
        raise Refused(
            "journal-password",
            f"a journal's password does not belong into {where}; set PGPASSWORD, or use a password"
            " file (PGPASSFILE) or a service file (?service=NAME)",
        )
    may = SETTINGS | SOCKETS | (frozenset() if argument else FILES | SECRETS)
    for name in names:
        if name not in may:
            allowed = ", ".join(sorted(may - SECRETS))
            raise _unread(f"{echo(name)!r} may not be set here; allowed are {allowed}")
        if names.count(name) > 1:
            raise _unread(f"{name} is said twice")


def _unread(why: str) -> Refused:
    return Refused("journal-address", f"the journal's address is not understood: {why}")


def is_local(host: str) -> bool:
    """Whether *host* is this machine: a socket, localhost or a loopback address; all of a list."""
    return all(_is_local(one) for one in host.split(","))


def _is_local(host: str) -> bool:
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def tls(parts: Mapping[str, str], *, roots: bool, system: bool) -> dict[str, str]:
    """What to add to *parts*, which name the host, so that another machine has to prove itself.

    *roots* says that the user has root certificates of his own, *system* that the driver can use
    the machine's.  Raises ``Unavailable`` (``journal-tls``).
    """
    if is_local(parts.get("hostaddr") or parts.get("host", "")):
        return {}
    if parts.get("sslmode", VERIFIED) != VERIFIED:
        raise Unavailable(
            "journal-tls",
            f"the journal's server is another machine, and sslmode={echo(parts['sslmode'])} does"
            f" not make it prove who it is; leave sslmode out, or say {VERIFIED}",
        )
    certificates = {} if roots or not system else {"sslrootcert": "system"}
    return {"sslmode": VERIFIED, **certificates}

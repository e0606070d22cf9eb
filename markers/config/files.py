"""The two settings files: the user's own, and a checkout's, which may come from a stranger.

What may live here: reading the files and holding each key to its kind.  What may not: precedence
among sources (``settings``), adapters, requests.

A checkout's file may name a directory with more families and a stricter rule for mentions, and
nothing else: it cannot loosen (design, section 3).
"""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import toml
from ..errors import MarkersError, Refused, echo
from ..selection import Trust, parse_trust

MENTIONS = ("allow", "warn", "neutralise", "refuse")
"""From the loosest to the strictest; ``warn`` is the default."""
LONGEST_WAIT = 86_400.0
LARGEST_BODY = 16 * 1024 * 1024
CHECKOUT_FILES = ("pyproject.toml", ".github/handoff-markers.toml")
_LARGEST_FILE = 1024 * 1024
_TABLE = "handoff-markers"
_SECONDS = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?", re.ASCII)
JOURNAL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_API_VERSION = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)

Fault = Callable[[str], MarkersError]
"""Makes the error for a value out of what is wrong with it."""
Kind = Callable[[Any, Fault], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """The user's own file; None where it leaves the decision to a default."""

    trust: Trust | None = None
    roots: tuple[Path, ...] = ()
    mentions: str | None = None
    hosts: tuple[str, ...] = ()
    journal: str | None = None
    """A path or a name of *journals*."""
    journals: Mapping[str, str] = field(default_factory=dict)
    contract: tuple[Path, ...] = ()
    secrets_allow: tuple[str, ...] = ()
    max_bytes: int | None = None
    warn_codepoints: int | None = None
    deadline: float | None = None
    client_cert: Path | None = None
    client_key: Path | None = None
    api_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """What a checkout's file may say."""

    families: str | None = None
    """A directory, relative to the git top level."""
    mentions: str | None = None


def read_own(path: Path) -> Own:
    """Read the user's file; none is fine.  Raises ``Refused`` (``settings``)."""
    data = _content(path, "settings")
    if data is None:
        return Own()
    own = Own(**_checked(_parsed(data, path, "settings"), OWN_KEYS, str(path), "settings"))
    if own.journal and JOURNAL_NAME.fullmatch(own.journal) and own.journal not in own.journals:
        raise _fault(f"{path}: journal", "settings")(
            f"names {echo(own.journal)!r}, which is not in [journals]; a path has a slash"
        )
    return own


def read_checkout(top: Path) -> Checkout:
    """Read the checkout's settings below its git top level; none is fine.

    Raises ``Refused`` (``checkout-settings``) for any key but the two, for a looser value, and
    where both places have settings.
    """
    found = {name: table for name in CHECKOUT_FILES if (table := _table(top, name)) is not None}
    if len(found) > 1:
        names = " and ".join(found)
        raise Refused("checkout-settings", f"{names} both have settings; keep one of them")
    for name, table in found.items():
        return Checkout(**_checked(table, CHECKOUT_KEYS, name, "checkout-settings"))
    return Checkout()


def _table(top: Path, name: str) -> dict[str, Any] | None:
    path = top / name
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(top)):
        raise Refused("checkout-settings", f"{name} is a link that leads out of the checkout")
    data = _content(path, "checkout-settings")
    if data is None:
        return None
    if name != "pyproject.toml":
        return _parsed(data, path, "checkout-settings")
    if _is_text(data) and _TABLE.encode() not in data:
        return None  # somebody's pyproject.toml that does not speak of us need not even parse
    tool = _parsed(data, path, "checkout-settings").get("tool")
    table = tool.get(_TABLE) if isinstance(tool, dict) else None
    if table is None or isinstance(table, dict):
        return table
    raise Refused("checkout-settings", f"{name}: tool.{_TABLE} must be a table")


def _is_text(data: bytes) -> bool:
    """Whether it is UTF-8, as TOML must be: of anything else nobody knows what it says."""
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _content(path: Path, code: str) -> bytes | None:
    """The file's bytes, None where there is none; a pipe is never waited for."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Refused(code, f"{path} is not a regular file")
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Refused(code, f"{path} cannot be read ({error.strerror})") from None
    if len(data) > _LARGEST_FILE:
        raise Refused(code, f"{path} is larger than {_LARGEST_FILE:,} bytes")
    return data


def _parsed(data: bytes, path: Path, code: str) -> dict[str, Any]:
    try:
        return toml.loads(data)
    except ValueError as error:
        raise Refused(code, f"{path} is not TOML: {echo(str(error))}") from None


def _checked(
    table: Mapping[str, Any], kinds: Mapping[str, Kind], where: str, code: str
) -> dict[str, Any]:
    for key in table:
        if key not in kinds:
            allowed = ", ".join(kinds)
            raise Refused(code, f"{where}: unknown key {echo(key)}; allowed are {allowed}")
    return {key: kinds[key](value, _fault(f"{where}: {key}", code)) for key, value in table.items()}


def _fault(what: str, code: str) -> Fault:
    return lambda how: Refused(code, f"{what} {how}")


def seconds(value: Any, fault: Fault, *, zero: bool = False) -> float:
    """Read a plain decimal number of seconds: above zero (or zero, if so said), at most a day."""
    text = str(value) if not isinstance(value, bool) else ""
    number = float(text) if _SECONDS.fullmatch(text) else math.nan
    if not (0 < number <= LONGEST_WAIT or (zero and number == 0)):
        least = "from 0" if zero else "above 0"
        raise fault(f"is {echo(text)!r}, not a number of seconds {least} to {LONGEST_WAIT:.0f}")
    return number


def trust(value: Any, fault: Fault) -> Trust:
    """Read ``collaborators,user:ID,app:SLUG``, as one text or as a list."""
    words = ",".join(_texts(value, fault)) if isinstance(value, list) else _text(value, fault)
    try:
        return parse_trust(words)
    except Refused as error:
        raise fault(f"does not say whom: {error}") from None


def mentions(value: Any, fault: Fault) -> str:
    """Read the rule for ``@mentions``."""
    if value not in MENTIONS:
        raise fault(f"is {echo(str(value))!r}, not one of {', '.join(MENTIONS)}")
    return str(value)


def _stricter(value: Any, fault: Fault) -> str:
    rule = mentions(value, fault)
    if rule == "allow":
        raise fault("is 'allow': a checkout can only be stricter than the user, never looser")
    return rule


def _text(value: Any, fault: Fault) -> str:
    if not isinstance(value, str) or not value:
        raise fault("must be a text in quotes")
    return value


def _texts(value: Any, fault: Fault) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise fault("must be a list of texts")
    return tuple(_text(item, fault) for item in value)


def _path(value: Any, fault: Fault) -> Path:
    # Path.expanduser raises where there is no home; this one leaves the tilde to the check below.
    path = Path(os.path.expanduser(_text(value, fault)))  # noqa: PTH111
    if not path.is_absolute() or ".." in path.parts:
        raise fault(f"names {echo(str(path))!r}: use an absolute path without '..' (or ~/...)")
    return path


def _paths(value: Any, fault: Fault) -> tuple[Path, ...]:
    return tuple(_path(item, fault) for item in _texts(value, fault))


def _hosts(value: Any, fault: Fault) -> tuple[str, ...]:
    hosts = _texts(value, fault)
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise fault(f"names {echo(host)!r}: a host is written like ghe.example.com")
    return tuple(host.lower() for host in hosts)


def _journals(value: Any, fault: Fault) -> dict[str, str]:
    if not isinstance(value, dict):
        raise fault('must be a table of names, such as journals = {team = "/path/to/file"}')
    for name in value:
        if not JOURNAL_NAME.fullmatch(name):
            raise fault(f"has the name {echo(name)!r}: use letters, digits, - and _")
    return {name: _location(item, fault) for name, item in value.items()}


def _journal(value: Any, fault: Fault) -> str:
    return str(value) if JOURNAL_NAME.fullmatch(_text(value, fault)) else _location(value, fault)


def _location(value: Any, fault: Fault) -> str:
    """A path, or the address of an engine; what that is worth is told when it is used."""
    return str(value) if "://" in _text(value, fault) else str(_path(value, fault))


def _secret_rules(value: Any, fault: Fault) -> tuple[str, ...]:
    """Ids of rules: one that is misspelt would allow nothing, in silence."""
    from ..hygiene.secrets import shipped

    named = _texts(value, fault)
    known = {rule.id for rule in shipped()}
    for name in named:
        if name not in known:
            raise fault(f"names {echo(name)!r}: no rule has that id; a refusal says which it was")
    return named


def _count(value: Any, fault: Fault) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_BODY:
        raise fault(f"must be a whole number from 1 to {LARGEST_BODY}")
    return value


def _api_version(value: Any, fault: Fault) -> str:
    if not _API_VERSION.fullmatch(_text(value, fault)):
        raise fault(f"is {echo(value)!r}: a version is written like 2022-11-28")
    return str(value)


OWN_KEYS: Mapping[str, Kind] = {
    "trust": trust,
    "roots": _paths,
    "mentions": mentions,
    "hosts": _hosts,
    "journal": _journal,
    "journals": _journals,
    "contract": _paths,
    "secrets_allow": _secret_rules,
    "max_bytes": _count,
    "warn_codepoints": _count,
    "deadline": seconds,
    "client_cert": _path,
    "client_key": _path,
    "api_version": _api_version,
}
CHECKOUT_KEYS: Mapping[str, Kind] = {"families": _text, "mentions": _stricter}

"""Connection settings that do not stand in the address: the environment, a service file.

The driver reads these itself.  They are read here as well because the host decides what TLS is
asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import Refused, echo

_HOST = {"PGHOST": "host", "PGHOSTADDR": "hostaddr"}


def effective(parts: Mapping[str, str]) -> dict[str, str]:
    """The parts of an address with what service file and environment add about the host."""
    name = parts.get("service") or os.environ.get("PGSERVICE")
    served = _service(name) if name else {}
    exported = {key: os.environ[name] for name, key in _HOST.items() if os.environ.get(name)}
    return {**exported, **served, **parts}


def has_roots(parts: Mapping[str, str]) -> bool:
    """Whether the user has named root certificates, or put them where the driver looks."""
    named = parts.get("sslrootcert") or os.environ.get("PGSSLROOTCERT")
    return bool(named) or _home("~/.postgresql/root.crt").is_file()


def _service(name: str) -> dict[str, str]:
    """One section of the service file; raises ``Refused`` (``journal-address``)."""
    for file in _files():
        found = _section(file, name)
        if found is not None:
            return found
    raise Refused(
        "journal-address",
        f"no service file has a section [{echo(name)}]; see PGSERVICEFILE and ~/.pg_service.conf",
    )


def _files() -> list[Path]:
    own = os.environ.get("PGSERVICEFILE")
    shared = os.environ.get("PGSYSCONFDIR", "/etc/postgresql-common")
    return [Path(own) if own else _home("~/.pg_service.conf"), Path(shared) / "pg_service.conf"]


def _home(path: str) -> Path:
    # Path.expanduser raises where there is no home; this one leaves a path where nothing is.
    return Path(os.path.expanduser(path))  # noqa: PTH111


def _section(file: Path, name: str) -> dict[str, str] | None:
    """The settings below ``[name]``; None where the file or the section is not there."""
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError):
        return None
    if f"[{name}]" not in lines:
        return None
    found: dict[str, str] = {}
    for line in lines[lines.index(f"[{name}]") + 1 :]:
        if line.startswith("["):
            break
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(key.strip(), value.strip())
    return found

"""Handoff markers: persist, read and audit hidden markers in GitHub comments.

The public names are loaded on first use (PEP 562): ``import markers`` alone costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .__about__ import __version__
    from .codec import derive, inert, normalise, parse, sha256
    from .contract import load
    from .errors import (
        Absent,
        Conflict,
        Denied,
        Incomplete,
        MarkersError,
        NotVerified,
        Refused,
        Unavailable,
        Unknown,
        Withdrawn,
    )
    from .model import (
        Account,
        Action,
        Comment,
        Family,
        Marker,
        ReadResult,
        Reason,
        Repo,
        Row,
        Scope,
        Shape,
        Status,
        Surface,
        Thread,
        WriteResult,
    )

__all__ = [
    "Absent",
    "Account",
    "Action",
    "Comment",
    "Conflict",
    "Denied",
    "Family",
    "Incomplete",
    "Marker",
    "MarkersError",
    "NotVerified",
    "ReadResult",
    "Reason",
    "Refused",
    "Repo",
    "Row",
    "Scope",
    "Shape",
    "Status",
    "Surface",
    "Thread",
    "Unavailable",
    "Unknown",
    "Withdrawn",
    "WriteResult",
    "__version__",
    "derive",
    "inert",
    "load",
    "normalise",
    "parse",
    "sha256",
]

_HOMES = {
    "__about__": {"__version__"},
    "codec": {"derive", "inert", "normalise", "parse", "sha256"},
    "contract": {"load"},
    "errors": {
        "Absent",
        "Conflict",
        "Denied",
        "Incomplete",
        "MarkersError",
        "NotVerified",
        "Refused",
        "Unavailable",
        "Unknown",
        "Withdrawn",
    },
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "model")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

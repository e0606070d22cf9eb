"""The forge's plain values: who, where, what was said, and one HTTP exchange.

What may live here: frozen data.  What may not: SQL (``store``, ``comments``), JSON shapes
(``render``), rules (``rules``).  Times are whole seconds since the epoch unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

WRITERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""The associations that come with write access."""


class Kind(StrEnum):
    """What sort of token it is; GitHub words its refusals after it."""

    PAT = "pat"
    INSTALLATION = "installation"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """An account; *app* is the slug of the GitHub App that it belongs to."""

    id: int
    login: str
    type: str = "User"
    app: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token and its owner; one that does not write is what a fork's workflow run gets."""

    value: str
    user: User
    kind: Kind = Kind.PAT
    writes: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """One repository under its present name."""

    id: int
    owner: str
    name: str
    private: bool
    archived: bool
    created_at: int

    @property
    def slug(self) -> str:
        """``owner/name``."""
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """An issue or pull request."""

    id: int
    repo_id: int
    number: int
    title: str
    body: str | None
    author: User | None
    is_pull: bool
    locked: bool
    lock_reason: str | None
    deleted: bool
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """One comment as stored; *body* is exactly what was sent."""

    id: int
    issue_id: int
    repo_id: int
    number: int
    is_pull: bool
    author: User | None
    """None for a deleted account."""
    association: str
    app: str | None
    """Slug of the app through which it was made."""
    body: str
    created_at: int
    updated_at: int
    version: int
    """Unique to this text of this comment: two texts never share one."""
    minimized: str | None
    """The reason why it is hidden."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request as it came in; header names are lower-case."""

    method: str
    path: str
    """Decoded, with an ``/api/v3`` in front taken off."""
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: bytes
    base: str
    """Base URL of the API as this client spells it."""
    web: str
    """Base URL of the pages for people on the same host."""
    raw_query: str
    at: float
    """The forge's time when it came in, with fractions."""

    def param(self, name: str) -> str | None:
        """The last value of a query parameter."""
        return dict(self.query).get(name)

    @property
    def writing(self) -> bool:
        """Whether its method changes things."""
        return self.method not in ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One response; a ``Content-Length`` among *headers* is a claim, and may be a lie."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the request log."""

    method: str
    path: str
    query: str
    status: int
    """0 where the connection was reset or hung."""
    owner: str
    """Login behind the token; empty without one."""
    sha256: str
    """Of the body as it came in, before any fault changed it."""
    at: float
    writes: bool
    """Whether it could change something."""

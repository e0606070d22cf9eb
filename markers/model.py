"""Frozen values that every room of the house shares.

What may live here: plain data with the words of the design's first section, and what can be said
about a value from the value alone.  What may not: grammar (``codec``), files (``contract``),
decisions (``plan``), I/O of any kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

MAX_NUMBER = 2_147_483_647
"""The largest issue or pull request number that is accepted (a signed 32-bit integer)."""

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Surface(StrEnum):
    """Where a marker is put: the conversation of an issue or of a pull request."""

    ISSUE = "issue"
    PULL_REQUEST = "pull-request"

    @property
    def spoken(self) -> str:
        """As a sentence names it."""
        return "an issue" if self is Surface.ISSUE else "a pull request"


class Shape(StrEnum):
    """How a family is written: one comment that is rewritten, or one more comment each time."""

    UPSERT = "upsert"
    POST_NEW = "post-new"


class Status(StrEnum):
    """The standing of a family or row in the contract."""

    ACTIVE = "active"
    LEGACY = "legacy"
    HYGIENE_ONLY = "hygiene-only"
    RESERVED = "reserved"
    RETIRED = "retired"


class Scope(StrEnum):
    """What carries a family's text: a whole comment, a block or pointer in one, or no comment."""

    COMMENT = "comment"
    BLOCK = "block"
    POINTER = "pointer"
    NAME_ONLY = "name-only"
    PROMPT = "prompt"


class Action(StrEnum):
    """What a command did or why it did not; the command line maps each to one exit code."""

    CREATED = "created"
    UPDATED = "updated"
    POSTED = "posted"
    UNCHANGED = "unchanged"
    PLANNED = "planned"
    QUEUED = "queued"
    DELETED = "deleted"
    FAILED = "failed"
    REFUSED = "refused"
    CONFLICT = "conflict"
    LANDED_UNVERIFIED = "landed-unverified"
    LANDED_INCOMPLETE = "landed-incomplete"
    WITHDRAWN = "withdrawn"
    DENIED = "denied"
    UNAVAILABLE = "unavailable"
    UNKNOWN = "unknown"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Repo:
    """One repository on one API host, spelled as the caller spelled it."""

    api_url: str
    """Base of the REST API without a trailing slash, such as ``https://api.github.com``."""
    owner: str
    name: str

    @property
    def slug(self) -> str:
        """``owner/name``."""
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True)
class Thread:
    """One issue's or pull request's conversation."""

    repo: Repo
    number: int

    def key(self, repo_id: int | None = None) -> str:
        """Name the thread for locks, intents and memories.

        Letter case of the name does not count; once the repository's id is known it takes the
        name's place, so that a rename does not split what belongs together (design, section 5).
        """
        host = self.repo.api_url.split("://", 1)[-1].lower()
        name = f"id:{repo_id}" if repo_id is not None else self.repo.slug.lower()
        return f"{host}/{name}#{self.number}"

    def __str__(self) -> str:
        return f"{self.repo.slug}#{self.number}"


@dataclass(frozen=True, slots=True)
class Account:
    """A GitHub account; compared by *id* only, since logins change and gain ``[bot]``."""

    id: int
    login: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """One comment as GitHub reports it.  Times are GitHub's own ISO 8601 strings."""

    id: int
    body: str
    html_url: str
    issue_url: str
    created_at: str
    updated_at: str
    author: Account | None
    """None for a deleted account."""
    association: str
    """``OWNER``, ``MEMBER``, ``NONE`` and so on; empty when GitHub did not say."""
    app: str | None = None
    """Slug of the GitHub App through which it was made."""
    minimized: bool | None = None
    """None where the server does not say: unknown, not visible."""
    node_id: str | None = None
    """How GraphQL names it; None where the server does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A derived marker: the exact first line, and what it was derived from."""

    text: str
    family: str
    number: int | None
    """None for the families whose marker carries no number."""
    params: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One lower-case placeholder of a marker template."""

    name: str
    values: tuple[str, ...] = ()
    """The closed vocabulary; empty when any slug of ``codec.SLUG`` will do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A named kind of marker, as its registry file declares it."""

    name: str
    template: str
    """The marker with placeholders: upper-case ones stand for the number, others are params."""
    status: Status
    scope: Scope
    shape: Shape | None
    """None when nothing writes it; *gap* then says why."""
    surfaces: tuple[Surface, ...] = ()
    surface_when: Mapping[str, Mapping[str, Surface]] = field(
        default_factory=lambda: NOTHING, hash=False
    )
    """``{param: {value: surface}}``: overrides *surfaces* for that value of that param."""
    params: tuple[Param, ...] = ()
    rows: tuple[str, ...] = ()
    carriers: tuple[str, ...] = ()
    """For a block or pointer: the comment families whose bodies may hold it."""
    schema: str | None = None
    """The file name of the JSON Schema that its payload keeps to."""
    validator: str | None = None
    """The rules by which its payload is judged; where there is a schema and no validator, the
    payload is one YAML fence that keeps to the schema."""
    reader: str | None = None
    """How its comments are read, where that is more than the one comment that governs."""
    steps: tuple[str, ...] = ()
    empty: bool = False
    """The comment is the marker alone (a sentinel)."""
    deletable: bool = False
    immutable: bool = False
    """An edit voids the record, so that not even a repair may touch it."""
    gap: str | None = None
    command: str | None = None
    """The command of this program that alone writes it, where it is not ``write``."""
    key: str | None = None
    writer: str | None = None
    selection: str | None = None
    cache: str | None = None
    payload: Mapping[str, Any] = field(default_factory=lambda: NOTHING, hash=False)
    notes: str | None = None

    def surfaces_for(self, params: Mapping[str, str]) -> tuple[Surface, ...]:
        """The surfaces on which the marker with *params* belongs."""
        for name, by_value in self.surface_when.items():
            if params.get(name) in by_value:
                return (by_value[params[name]],)
        return self.surfaces

    @property
    def writable(self) -> bool:
        """Whether the audited writer may write it."""
        live = self.status in (Status.ACTIVE, Status.LEGACY)
        return live and self.scope is Scope.COMMENT and self.shape is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival:
    """How long a row's state lives, and under which condition."""

    label: str
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the session-memory contract."""

    id: str
    shape: str
    status: Status
    survival: tuple[Survival, ...]
    families: tuple[str, ...] = ()
    caches: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    """The row's own read chain, best source first; never used for another row."""
    chain: tuple[str, ...] = ()
    """The same for programs, in the words of the schema of rows."""
    owner: str | None = None
    """The family through which its durable write goes."""
    store: str | None = None
    """The local store whose content it is, where that is more than a text."""
    publishes: tuple[str, ...] = ()
    """The fields of the store that may leave the machine."""
    write: str | None = None
    gap: str | None = None
    """Why the row has no durable write, where it has none."""
    fungibility: str = "n/a"
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why: a stable *code* for programs and one sentence for people."""

    code: str
    detail: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """A match that does not govern: left alone, always reported."""

    id: int
    author: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The size of a change, in UTF-8 bytes and in lines."""

    bytes_before: int
    bytes_after: int
    lines_added: int
    lines_removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRef:
    """Where the journal holds the outcome: entry number and chain hash."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """What became of one write; the fields are those of the ``--json`` document."""

    action: Action
    reason: Reason | None = None
    family: str | None = None
    marker: str | None = None
    repo: str | None = None
    number: int | None = None
    surface: str | None = None
    comment_id: int | None = None
    url: str | None = None
    sha256: str | None = None
    previous_sha256: str | None = None
    change: Change | None = None
    extras: tuple[Extra, ...] = ()
    preserved: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    requests: Mapping[str, int] = field(default_factory=dict)
    audit: AuditRef | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResult:
    """One marker comment with who wrote it; the fields are those of the ``--json`` document."""

    marker: str
    family: str
    comment_id: int | None = None
    url: str | None = None
    author: str | None = None
    author_id: int | None = None
    association: str | None = None
    trusted: bool = False
    why: str | None = None
    """Why it does not govern; None for the one that does."""
    created_at: str | None = None
    updated_at: str | None = None
    edited: bool | None = None
    minimized: bool | None = None
    sha256: str | None = None
    body: str | None = None
    extras: tuple[Extra, ...] = ()
    valid: bool | None = None
    problems: tuple[Reason, ...] = ()
    reading: Mapping[str, Any] | None = None

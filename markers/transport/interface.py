"""What the rest of the house needs of GitHub, and the narrow seam below it.

Two Protocols.  ``Transport`` is what readers and the writer see: one call's view of one host with
one token, in the model's values, with a deadline and a count of requests.  ``Sender`` is what a
client library owes: one request in, one response out, plain values only.  ``api`` implements the
first over the second; ``rest`` (and a test's in-process server) implements the second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ..clock import Deadline
from ..model import Account, Comment, Repo, Surface, Thread

T = TypeVar("T")

Keep = Callable[[str], bool]
"""Whether a comment with this first line is wanted whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request; *url* is absolute, *body* the exact bytes."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One HTTP response; header names are lower-case, *body* is decoded from gzip and the like."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Sender(Protocol):
    """Sends one request, follows nothing, retries nothing; safe to call from several threads."""

    def send(self, request: Request, *, timeout: float) -> Response:
        """Raise ``Unreachable`` when no connection was made, ``Broken`` when it failed later."""

    def close(self) -> None:
        """Let go of the connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a listing."""

    ids: tuple[int, ...]
    """Of all comments on the page, ascending."""
    comments: tuple[Comment, ...]
    """All of them, or the first and those that were to be kept."""
    number: int
    last: int | None
    """Number of the last page, from the ``last`` link; None when there is no such link."""
    more: bool
    """Whether a ``next`` link is there."""
    etag: str | None = None
    date: float | None = None
    """The server's ``Date``, in epoch seconds."""
    repo_id: int | None = None
    """The repository's id where a link of the answer gave it away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """An issue or pull request, as far as a writer needs it."""

    number: int
    surface: Surface
    locked: bool
    comments: int
    body: str = ""
    """Its own text."""
    author: Account | None = None
    association: str = ""
    app: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A comment as the server answered a write or a read of it."""

    comment: Comment
    request_id: str | None = None
    date: float | None = None
    """The server's ``Date``, in epoch seconds."""


class Transport(Protocol):
    """One call's view of one host with one token.

    Reads are repeated on passing trouble within the deadline and then raise ``Unavailable``
    (``Limited`` when a limit asks for a longer wait); ``Denied`` and its leaves are final.  Writes
    are sent once: ``Limited`` and ``Unreachable`` promise that nothing took effect, ``Broken``
    that it may have, ``Denied``, ``Gone`` and ``Rejected`` that it did not.
    """

    fingerprint: str
    """Of the token: names it in memories and pacing without giving it away."""
    deadline: Deadline
    counts: Mapping[str, int]
    """Requests sent so far in this call, by method, attempts included."""

    def page(
        self,
        thread: Thread,
        number: int,
        *,
        since: str | None = None,
        etag: str | None = None,
        keep: Keep | None = None,
    ) -> Page | None:
        """One page of at most 100 comments, ascending by id; None when *etag* still holds (304).

        *since* is ISO 8601 in UTC and inclusive, over ``updated_at``.  *keep* is asked about the
        first line of each comment: of the others only the ids are read, but for the page's first.
        """

    def side_by_side(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Run read calls at the same time within a bound; the first failure is raised."""

    def comment(self, repo: Repo, comment_id: int) -> Stored:
        """One comment; ``Gone`` when it is not there."""

    def issue(self, thread: Thread) -> Issue:
        """The issue or pull request itself."""

    def viewer(self) -> Account | None:
        """The account behind the token; None when it cannot be learnt."""

    def create(self, thread: Thread, body: str) -> Stored:
        """POST a comment."""

    def edit(self, repo: Repo, comment_id: int, body: str) -> Stored:
        """PATCH a comment by id."""

    def delete(self, repo: Repo, comment_id: int) -> None:
        """DELETE a comment; ``Gone`` when it is not there."""

    def minimise(self, repo: Repo, node_id: str) -> None:
        """Hide a comment as outdated, through GraphQL; one that is hidden already stays so."""


class Connection(Protocol):
    """A host and a token: hands out the view for one call."""

    api_url: str
    """Base of the REST API without a trailing slash."""

    def begin(self, deadline: Deadline) -> Transport:
        """A fresh view with its own deadline and counts."""

    def close(self) -> None:
        """Let go of the connections."""

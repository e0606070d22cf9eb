"""GitHub's operations over a sender: one connection, and a view of it for each call.

What may live here: which request each operation is, and sending it within deadline and bounds.
What may not: what an answer means (``wire``, ``failures``, ``links``), when to repeat (``retry``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from types import MappingProxyType
from typing import TypeVar

from .. import clock
from ..clock import Deadline
from ..errors import Denied, MarkersError, Moved, Unavailable
from ..model import Account, Repo, Thread
from . import links, wire
from .crew import Crew
from .failures import failure, is_write
from .interface import Issue, Keep, Page, Request, Response, Sender, Stored
from .quoting import shown, target
from .retry import reads

T = TypeVar("T")

PHASE_TIMEOUT = 30.0
"""The longest that one request may take, in seconds."""
IN_FLIGHT = 16 * 2**20
"""How many bytes of pages are read side by side at most; one page is always read."""


class GitHub:
    """A host and a token; implements ``Connection``."""

    def __init__(
        self,
        sender: Sender,
        api_url: str,
        token: str,
        fingerprint: str,
        *,
        api_version: str = wire.API_VERSION,
        max_side_by_side: int = 8,
    ) -> None:
        self.sender = sender
        self.api_url = api_url
        self.fingerprint = fingerprint
        self.crew = Crew(max_side_by_side)
        self.headers: Mapping[str, str] = MappingProxyType(wire.headers(token, api_version))

    def begin(self, deadline: Deadline) -> Api:
        """A fresh view with its own deadline and counts."""
        return Api(self, deadline)

    def close(self) -> None:
        """Let go of the connections."""
        self.crew.close()
        self.sender.close()


@dataclass(slots=True)
class _Listing:
    """Where the pages of one listing are, as its answers tell."""

    first: str
    last: str | None = None
    following: dict[int, str] = field(default_factory=dict)

    def url(self, number: int) -> str:
        """The ``last`` link with this page's number; without one, the ``next`` link as it was."""
        if number == 1:
            return self.first
        if self.last is None and number in self.following:
            return self.following[number]
        return links.with_page(self.last or f"{self.first}&page={number}", number)

    def learn(self, number: int, found: links.Links) -> None:
        """Keep what page *number* says of the others."""
        if found.last_page is not None:
            self.last = found.last
        if found.next is not None:
            self.following[number + 1] = found.next


class Api:
    """One call's view; implements ``Transport``.

    *repo_id* is the repository's id, once any answer of this call has given it away.
    """

    def __init__(self, connection: GitHub, deadline: Deadline) -> None:
        self.fingerprint = connection.fingerprint
        self.deadline = deadline
        self.repo_id: int | None = None
        self._connection = connection
        self._lock = Lock()
        self._counts: Counter[str] = Counter()
        self.counts: Mapping[str, int] = MappingProxyType(self._counts)
        self._largest = 1
        self._listings: dict[tuple[Thread, str | None], _Listing] = {}

    def page(
        self,
        thread: Thread,
        number: int,
        *,
        since: str | None = None,
        etag: str | None = None,
        keep: Keep | None = None,
    ) -> Page | None:
        """One page of comments; None when *etag* still holds."""
        listing = self._listing(thread, since)

        def read(response: Response, asked: Request) -> Page | None:
            if response.status == 304:
                return None
            found = links.read_links(response, asked)
            page = wire.read_page(response, asked, number, found, keep)
            listing.learn(number, found)
            self.repo_id = page.repo_id or self.repo_id
            return page

        return self._read(listing.url(number), read, etag=etag)

    def side_by_side(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Run read calls at the same time; the first failure is raised, what waits is dropped.

        Fewer run at once when the pages of this call are large.
        """
        return self._connection.crew.run(calls, max(1, IN_FLIGHT // self._largest))

    def comment(self, repo: Repo, comment_id: int) -> Stored:
        """One comment; ``Gone`` when it is not there."""
        read = partial(wire.read_comment, comment_id=comment_id)
        return self._read(links.comment_url(self._ours(repo), comment_id), read)

    def issue(self, thread: Thread) -> Issue:
        """The issue or pull request itself."""
        self._ours(thread.repo)
        read = partial(wire.read_issue, number=thread.number)
        return self._read(links.issue_url(thread), read)

    def viewer(self) -> Account | None:
        """The account behind the token: REST, or GraphQL for tokens that REST has no word for."""
        try:
            return self._read(links.viewer_url(self._connection.api_url), wire.read_viewer)
        except Denied:
            return self._viewer_by_graphql()
        except MarkersError:
            return None

    def create(self, thread: Thread, body: str) -> Stored:
        """POST a comment."""
        self._ours(thread.repo)
        return self._write("POST", links.new_comment_url(thread), body, wire.read_comment)

    def edit(self, repo: Repo, comment_id: int, body: str) -> Stored:
        """PATCH a comment by id."""
        url = links.comment_url(self._ours(repo), comment_id)
        return self._write("PATCH", url, body, partial(wire.read_comment, comment_id=comment_id))

    def delete(self, repo: Repo, comment_id: int) -> None:
        """DELETE a comment; any success without a body will do."""
        url = links.comment_url(self._ours(repo), comment_id)
        wire.read_nothing(*self._exchange(wire.writing("DELETE", url, self._connection.headers)))

    def minimise(self, repo: Repo, node_id: str) -> None:
        """Hide a comment as outdated; ``Denied`` where GraphQL says no, or is not there."""
        url = links.graphql_url(self._ours(repo).api_url)
        request = wire.minimising(url, self._connection.headers, node_id)
        wire.read_minimised(*self._exchange(request))

    def _viewer_by_graphql(self) -> Account | None:
        url = links.graphql_url(self._connection.api_url)
        query = {"query": wire.VIEWER_QUERY}
        request = wire.writing("POST", url, self._connection.headers, query)
        try:
            return reads(self.deadline)(lambda: wire.read_graphql_viewer(*self._exchange(request)))
        except MarkersError:
            return None

    def _ours(self, repo: Repo) -> Repo:
        """Keep the token from other hosts than its own."""
        if repo.api_url != self._connection.api_url:
            raise Denied(
                "host-not-allowed",
                f"{repo.slug} is on {shown(repo.api_url)}, and the token is for "
                f"{shown(self._connection.api_url)}",
            )
        return repo

    def _listing(self, thread: Thread, since: str | None) -> _Listing:
        self._ours(thread.repo)
        with self._lock:
            first = links.first_page_url(thread, since)
            return self._listings.setdefault((thread, since), _Listing(first))

    def _read(
        self, url: str, read: Callable[[Response, Request], T], *, etag: str | None = None
    ) -> T:
        request = wire.reading(url, self._connection.headers, etag)
        return reads(self.deadline)(lambda: read(*self._exchange(request)))

    def _write(self, method: str, url: str, body: str, read: Callable[[Response, Request], T]) -> T:
        request = wire.writing(method, url, self._connection.headers, {"body": body})
        return read(*self._exchange(request))

    def _exchange(self, request: Request) -> tuple[Response, Request]:
        """Send and follow; the answer is a success (or the 304 asked for) and what was asked."""
        for _hop in range(links.MAX_HOPS + 1):
            response = self._send(request)
            if response.status not in links.REDIRECTS:
                break
            request = links.redirected(request, response)
            self.repo_id = links.repo_id_of(request.url) or self.repo_id
        else:
            raise Moved(
                "moved",
                f"{target(request)} redirects more than {links.MAX_HOPS} times in a row",
            )
        unchanged = response.status == 304 and "If-None-Match" in request.headers
        if not unchanged and not 200 <= response.status < 300:
            raise failure(response, request, clock.now())
        return response, request

    def _send(self, request: Request) -> Response:
        left = self.deadline.remaining()
        if left <= 0:
            raise Unavailable(
                "deadline",
                f"the deadline of {self.deadline.seconds:g} s has passed: {request.method} "
                f"{target(request)} was not sent; try again, or with a longer --deadline",
            )
        with self._lock:
            self._counts[request.method] += 1
        response = self._connection.sender.send(request, timeout=min(PHASE_TIMEOUT, left))
        if not is_write(request):
            self._largest = max(self._largest, len(response.body))
        return response

"""Addresses: building them, reading them out of answers, and which of them may be followed.

What may live here: pure functions over addresses.  What may not: reading bodies, sending anything.

The one rule: a request carries the token, so it goes to the origin (scheme, host, port) that was
asked and to no other.  An address that an answer names is never used as it stands: what is used is
our own origin with its path and query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

from ..errors import Denied, Moved, Refused
from ..model import Repo, Thread
from .interface import Request, Response
from .quoting import address, target

PER_PAGE = 100
MAX_HOPS = 5
REDIRECTS = frozenset({301, 302, 307, 308})
"""Statuses after which the same request is to be sent elsewhere (GitHub: 301 and 307)."""

_PORTS = {"http": 80, "https": 443}
_CLEAN = re.compile(r"[!-\[\]-~]+")  # printable ASCII but the backslash, which readers disagree on
_LINK = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s",;]*))*)')
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]*))', re.IGNORECASE)
_PAGE = re.compile(r"(?<=[?&]page=)([0-9]{1,9})(?=&|$)")
_REPO_ID = re.compile(r"/repositories/([0-9]{1,18})(?:/|$)")
_IN_REPO = re.compile(r"(.*?)/(?:repos/[^/]+/[^/]+|repositories/[0-9]+)(/.*)?")


def repo_url(repo: Repo) -> str:
    """The repository's own address; a name that would climb out of its path is ``Refused``."""
    if {repo.owner, repo.name} & {"", ".", ".."}:
        raise Refused("repo", f"{repo.slug[:80]!r} is not a repository: say --repo OWNER/NAME")
    return f"{repo.api_url}/repos/{quote(repo.owner, safe='')}/{quote(repo.name, safe='')}"


def issue_url(thread: Thread) -> str:
    """The issue or pull request itself."""
    return f"{repo_url(thread.repo)}/issues/{thread.number}"


def new_comment_url(thread: Thread) -> str:
    """Where a comment is created."""
    return f"{issue_url(thread)}/comments"


def comment_url(repo: Repo, comment_id: int) -> str:
    """One comment."""
    return f"{repo_url(repo)}/issues/comments/{comment_id}"


def first_page_url(thread: Thread, since: str | None = None) -> str:
    """The first page of a thread's comments; the other pages come from its links."""
    url = f"{new_comment_url(thread)}?per_page={PER_PAGE}"
    return url if since is None else f"{url}&since={quote(since, safe='')}"


def viewer_url(api_url: str) -> str:
    """Who the token is, for all tokens but those of app installations."""
    return f"{api_url}/user"


def graphql_url(api_url: str) -> str:
    """The GraphQL address that belongs to a REST one (GitHub Enterprise Server: beside v3)."""
    base = api_url.removesuffix("/v3") if api_url.endswith("/api/v3") else api_url
    return f"{base}/graphql"


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What an answer's ``Link`` header says, on our own origin."""

    next: str | None = None
    last: str | None = None
    last_page: int | None = None
    """Number in the ``last`` link; None when it carries none (go on serially)."""
    repo_id: int | None = None


def read_links(response: Response, request: Request) -> Links:
    """Read ``next`` and ``last``; a link to another origin is ``Denied`` (``foreign-link``)."""
    found = dict(_relations(response.headers.get("link", "")))
    following, last = (
        _ours(found[rel], request) if rel in found else None for rel in ("next", "last")
    )
    return Links(
        next=following,
        last=last,
        last_page=_page_of(last),
        repo_id=repo_id_of(following or last or ""),
    )


def _relations(header: str) -> Iterator[tuple[str, str]]:
    for url, params in _LINK.findall(header):
        rel = _REL.search(params)
        if rel is not None:
            for name in (rel[1] or rel[2] or "").lower().split():
                yield name, url


def _ours(url: str, request: Request) -> str:
    ours = followable(url, request.url)
    if ours is None:
        raise Denied(
            "foreign-link",
            f"the list of comments continues at {address(url, request)}, which is another server "
            f"than {target(request)}: it is not followed, because the token would go there",
        )
    return ours


def _page_of(url: str | None) -> int | None:
    match = _PAGE.search(url or "")
    return int(match[1]) if match and int(match[1]) > 0 else None


def with_page(url: str, number: int) -> str:
    """The ``last`` link with only its page replaced."""
    return _PAGE.sub(str(number), url, count=1)


def repo_id_of(url: str) -> int | None:
    """The repository's id, where the address gives it away."""
    match = _REPO_ID.search(url.partition("?")[0])
    return int(match[1]) if match else None


def followable(url: str, base: str) -> str | None:
    """*url* (may be relative) on the origin of *base*; None when it leads anywhere else."""
    try:
        there = urlsplit(urljoin(base, url)) if _CLEAN.fullmatch(url) else None
        ours = urlsplit(base)
        if there is None or _origin(there) != _origin(ours):
            return None
    except ValueError:
        return None
    return urlunsplit((ours.scheme, ours.netloc, there.path, there.query, ""))


def _origin(url: SplitResult) -> tuple[str, str, int | None]:
    """Scheme, host and port; a login in the address is part of the host, so it never equals."""
    host = (url.hostname or "") if "@" not in url.netloc else url.netloc
    return url.scheme, host, url.port or _PORTS.get(url.scheme)


def redirected(request: Request, response: Response) -> Request:
    """The same request at its new address: method, body and query are kept (design, section 4.9).

    Raises ``Moved``, which names the new address, unless scheme, host, port and what is addressed
    (issue number or comment id) are still the same.
    """
    location = response.headers.get("location", "")
    if not location:
        raise Moved("moved", f"GitHub says that {target(request)} has moved, but not where to")
    there = followable(location, request.url)
    if there is None or _thing(there) != _thing(request.url) or _thing(there) is None:
        named = address(_absolute(request.url, location), request)
        raise Moved(
            "moved",
            f"{target(request)} is now at {named}: another "
            "server or another number, so it is not followed; name the new place (--repo, "
            "--number, --api-url) if it is what you mean",
        )
    query = urlsplit(request.url).query
    return replace(request, url=urlunsplit(urlsplit(there)._replace(query=query)))


def _thing(url: str) -> tuple[str, str] | None:
    """What is addressed within a repository, and under which API base; not which repository."""
    match = _IN_REPO.fullmatch(urlsplit(url).path)
    return (match[1], match[2] or "") if match else None


def _absolute(base: str, url: str) -> str:
    """*url* made absolute where that is possible."""
    try:
        return urljoin(base, url)
    except ValueError:
        return url

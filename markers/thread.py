"""Observing a thread: every comment, exactly once, or an error.

What may live here: the order of the list requests and what makes a listing believable (design,
section 5).  What may not: whom to trust (``selection``), what to do (``plan``), writes.

Numbered pages shift when an earlier comment is deleted between two of them, and one comment is
then seen by nobody.  So a look of several pages is bracketed: page 1, the last page, the pages
between, then the last page and page 1 once more.  It is believed only if page 1 holds the same ids
and the last page begins with the same id both times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from . import clock
from .codec import first_line
from .errors import Limited, Unavailable, Unreachable
from .model import Account, Comment, Surface, Thread
from .selection import Match
from .transport.interface import Page, Transport

TRIES = 3
FULL = 2_500
"""How many comments one thread takes in all; GitHub refuses every further one."""
NEARLY_FULL = 2_400
MOST_PAGES = 1_000
"""Some threads are older than GitHub's limit and longer than it; none is longer than this."""

Wanted = Callable[[str], str | None]
"""From a comment's first line to the marker it is, or None."""
Holds = Callable[[str], bool]
"""Whether a whole body is wanted, where its first line does not tell."""


def _anything(_body: str) -> bool:
    return True


_SURFACES = {"issues": Surface.ISSUE, "pull": Surface.PULL_REQUEST}
_HTML_URL = re.compile(r"/(issues|pull)/(\d+)(?:#|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look at a thread saw; the comments that are no match are not kept."""

    thread: Thread
    matches: tuple[Match, ...]
    total: int
    highest: int
    """The highest comment id seen; 0 in an empty thread."""
    pages: int
    began: float
    """``clock.monotonic()`` before the first request."""
    date: float | None
    """The server's own time at the first answer, in epoch seconds."""
    surface: Surface | None
    """As the comments' addresses prove it; None in an empty thread."""
    repo_id: int | None

    def of(self, marker: str) -> tuple[Match, ...]:
        """The matches of one marker."""
        return tuple(match for match in self.matches if match.marker == marker)

    def with_written(self, marker: str, comment: Comment) -> Look:
        """The look as it would be with a comment of ours that was written since."""
        others = tuple(m for m in self.matches if m.comment.id != comment.id)
        new = comment.id > self.highest
        return replace(
            self,
            matches=(*others, Match(marker, comment)),
            highest=max(self.highest, comment.id),
            total=self.total + new,
        )

    def with_later(self, later: Look) -> Look:
        """Lay a later look, which listed only what changed ``since`` a time, over this one."""
        newer = {match.comment.id: match for match in later.matches}
        kept = tuple(m for m in self.matches if m.comment.id not in newer)
        return replace(
            later,
            matches=kept + later.matches,
            highest=max(self.highest, later.highest),
            total=max(self.total, later.total),
            surface=later.surface or self.surface,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sight:
    """What is kept of a page once it has been read."""

    page: Page
    ids: tuple[int, ...]
    matches: tuple[Match, ...]
    surface: Surface | None


def only(*markers: str) -> Wanted:
    """Look for exactly these markers."""
    return lambda line: line if line in markers else None


def look(
    transport: Transport,
    thread: Thread,
    wanted: Wanted,
    *,
    holds: Holds = _anything,
    since: float | None = None,
    beside: Callable[[], Account | None] | None = None,
) -> Look:
    """Read the whole thread (or what was updated *since* epoch seconds) and keep its matches.

    A match is *wanted* by its first line and *holds* what is looked for.  *beside* is run at the
    same time as the first request.  Raises ``Unavailable`` (``listing-incomplete``) when the pages
    will not stand still, and what the transport raises: a page that cannot be read ends the look.
    """
    began = clock.monotonic()
    stamp = None if since is None else clock.iso(since)
    scan = partial(_scan, transport, thread, wanted, holds, stamp)
    try:
        return _summary(thread, _stable(transport, thread, scan, beside), began)
    except (Limited, Unreachable):
        raise
    except Unavailable as error:
        raise Unavailable(error.reason.code, f"listing incomplete: {error}") from error


def surface_of(html_url: str) -> tuple[Surface, int] | None:
    """The surface and number that a comment's address proves."""
    match = _HTML_URL.search(html_url)
    return (_SURFACES[match[1]], int(match[2])) if match else None


Scan = Callable[..., _Sight]


def _stable(
    transport: Transport, thread: Thread, scan: Scan, beside: Callable[[], object] | None
) -> list[_Sight]:
    """All pages as they were at one time."""
    first = _first(transport, scan, beside)
    for _attempt in range(TRIES):
        sights = _bracketed(transport, scan, first)
        if sights is not None:
            return sights
        first = scan(1)
    raise Unavailable(
        "listing-incomplete",
        f"the comments of {thread} changed during each of {TRIES} readings; try again",
    )


def _first(transport: Transport, scan: Scan, beside: Callable[[], object] | None) -> _Sight:
    if beside is None:
        return scan(1)
    first, _ = transport.side_by_side([lambda: scan(1), beside])
    assert isinstance(first, _Sight)  # noqa: S101 - the list keeps the order of the calls
    return first


def _bracketed(transport: Transport, scan: Scan, first: _Sight) -> list[_Sight] | None:
    """All pages, or None when they moved while they were read."""
    if not first.page.more:
        return [first]
    between, last = _others(transport, scan, first)
    if not all(sight.ids for sight in (*between, last)):
        return None
    last_again, first_again = transport.side_by_side(
        [partial(scan, last.page.number, before=last), partial(scan, 1, before=first)]
    )
    if first_again.ids != first.ids or last_again.ids[:1] != last.ids[:1]:
        return None
    return [first_again, *between, last_again]


def _others(transport: Transport, scan: Scan, first: _Sight) -> tuple[list[_Sight], _Sight]:
    """The last page, and only then the pages between: a shift meanwhile moves the last page."""
    last = scan(_bounded(first.page.last or _serially(scan)))
    while last.page.more and last.ids:
        last = scan(_bounded(last.page.number + 1))
    pages = range(2, last.page.number)
    return transport.side_by_side([partial(scan, number) for number in pages]), last


def _serially(scan: Scan) -> int:
    """The number of the last page where no link tells it; what is seen on the way is not used."""
    number = 2
    while (sight := scan(number)).page.more and sight.ids:
        number = _bounded(number + 1)
    return number


def _bounded(pages: int) -> int:
    """No thread has so many pages: whoever says so would keep us reading for ever."""
    if pages > MOST_PAGES:
        raise Unavailable("too-many-pages", f"the server speaks of {pages:,} pages of comments")
    return pages


def _scan(
    transport: Transport,
    thread: Thread,
    wanted: Wanted,
    holds: Holds,
    since: str | None,
    number: int,
    before: _Sight | None = None,
) -> _Sight:
    """Read one page and let go of it; conditional on not being as it was *before*."""
    etag = before.page.etag if before else None
    page = transport.page(
        thread, number, since=since, etag=etag, keep=lambda line: wanted(line) is not None
    )
    if page is None:
        assert before is not None  # noqa: S101 - only a conditional request is answered by 304
        return before
    return _Sight(
        page=replace(page, comments=()),
        ids=page.ids,
        matches=tuple(_matches(page.comments, wanted, holds)),
        surface=_surface(page.comments, thread.number),
    )


def _matches(comments: Iterable[Comment], wanted: Wanted, holds: Holds) -> Iterable[Match]:
    for comment in comments:
        marker = wanted(first_line(comment.body))
        if marker is not None and holds(comment.body):
            yield Match(marker, comment)


def _surface(comments: Iterable[Comment], number: int) -> Surface | None:
    for comment in comments:
        proof = surface_of(comment.html_url)
        if proof is not None and proof[1] == number:
            return proof[0]
    return None


def _summary(thread: Thread, sights: list[_Sight], began: float) -> Look:
    return Look(
        thread=thread,
        matches=tuple({m.comment.id: m for s in sights for m in s.matches}.values()),
        total=sum(len(s.ids) for s in sights),
        highest=max((i for s in sights for i in s.ids), default=0),
        pages=len(sights),
        began=began,
        date=sights[0].page.date,
        surface=next((s.surface for s in sights if s.surface), None),
        repo_id=next((s.page.repo_id for s in sights if s.page.repo_id), None),
    )

"""A look at a thread: every comment exactly once, or an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import ISSUE, PLAN, PULL, World, near

from markers.clock import Deadline
from markers.errors import Unavailable
from markers.model import Account, Comment, Repo, Surface, Thread
from markers.thread import look, only, surface_of
from markers.transport.interface import Keep, Page

__all__ = ["near"]

T = TypeVar("T")
THREAD = Thread(Repo("https://api.example", "acme", "widgets"), ISSUE)
SIZE = 100


def comment(number: int) -> Comment:
    """A comment; every seventh carries the marker."""
    return Comment(
        id=number,
        body=PLAN if number % 7 == 0 else "talk",
        html_url=f"https://example/acme/widgets/issues/{ISSUE}#issuecomment-{number}",
        issue_url="",
        created_at="2026-01-01T00:00:00Z",
        updated_at="2026-01-01T00:00:00Z",
        author=Account(1, "pat"),
        association="OWNER",
    )


@dataclass
class Numbered:
    """Numbered pages over a list that others change between requests."""

    ids: list[int]
    changes: list[tuple[str, int]] = field(default_factory=list)
    linked: bool = True
    requests: int = 0
    fingerprint: str = "fp"
    deadline: Deadline = field(default_factory=lambda: Deadline(60))
    counts: dict[str, int] = field(default_factory=dict)

    def page(
        self,
        thread: Thread,
        number: int,
        *,
        since: str | None = None,
        etag: str | None = None,
        keep: Keep | None = None,
    ) -> Page | None:
        """One page as it is now; then the next change happens."""
        self.requests += 1
        shown = self.ids[(number - 1) * SIZE : number * SIZE]
        last = max(1, -(-len(self.ids) // SIZE))
        now = ",".join(map(str, shown))
        self._change()
        if etag == now:
            return None
        return Page(
            ids=tuple(shown),
            comments=tuple(map(comment, shown)),
            number=number,
            last=last if self.linked and number < last else None,
            more=number < last,
            etag=now,
            date=0.0,
        )

    def _change(self) -> None:
        if not self.changes:
            return
        kind, where = self.changes.pop(0)
        if kind == "delete" and self.ids:
            del self.ids[where % len(self.ids)]
        elif kind == "post":
            self.ids.append((self.ids[-1] if self.ids else 0) + 1 + where % 3)

    def side_by_side(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """One after the other, so that a history is one history."""
        return [call() for call in calls]


CHANGES = st.lists(
    st.tuples(st.sampled_from(["delete", "post", "rest", "rest"]), st.integers(0, 999)), max_size=14
)


@settings(max_examples=300)
@given(st.integers(0, 520), CHANGES, st.booleans())
def test_nobody_is_missed(size: int, changes: list[tuple[str, int]], linked: bool) -> None:
    """What was there before and after the look is in it, however the pages shifted meanwhile."""
    pages = Numbered(list(range(1, size + 1)), list(changes), linked)
    before = set(pages.ids)
    try:
        seen = look(pages, THREAD, only(PLAN))
    except Unavailable:
        seen = None
    if seen is None:
        assert any(kind == "delete" for kind, _ in changes)
        return
    throughout = before & set(pages.ids)
    found = {match.comment.id for match in seen.matches}
    assert found >= {number for number in throughout if number % 7 == 0}
    assert len(seen.matches) == len(found)
    assert seen.highest >= max(throughout, default=0)


@pytest.mark.parametrize(
    ("size", "requests"), [(0, 1), (1, 1), (100, 1), (101, 4), (200, 4), (201, 5), (2400, 26)]
)
def test_a_still_thread_costs_p_requests_and_two_more_when_paged(size: int, requests: int) -> None:
    """One page is one request; P pages are P + 2."""
    pages = Numbered(list(range(1, size + 1)))
    seen = look(pages, THREAD, only(PLAN))
    assert (pages.requests, seen.total) == (requests, size)


def test_a_thread_that_shifts_is_read_again() -> None:
    """One deletion in the middle of a look costs a second reading, and no more."""
    pages = Numbered(list(range(1, 251)), [("rest", 0), ("delete", 3)])
    look(pages, THREAD, only(PLAN))
    assert pages.requests == 10


@pytest.mark.parametrize(
    ("url", "proof"),
    [
        ("https://github.com/acme/widgets/issues/12#issuecomment-1", (Surface.ISSUE, 12)),
        ("https://github.com/acme/widgets/pull/30#issuecomment-1", (Surface.PULL_REQUEST, 30)),
        ("https://github.com/acme/widgets/commit/12#comment", None),
        ("https://github.com/acme/pull/issues/12#issuecomment-1", (Surface.ISSUE, 12)),
        ("", None),
    ],
)
def test_the_surface_is_in_the_address(url: str, proof: tuple[Surface, int] | None) -> None:
    """`issues` or `pull`, and the number after it."""
    assert surface_of(url) == proof


def test_the_surface_of_each_thread_of_the_forge(near: World) -> None:
    """A real thread's comments prove what it is."""
    for number, surface in ((ISSUE, Surface.ISSUE), (PULL, Surface.PULL_REQUEST)):
        near.say("Hello.", number=number)
        transport = near.setup().connection.begin(Deadline(10))
        assert look(transport, near.thread(number), only(PLAN)).surface is surface


def test_a_server_that_speaks_of_endless_pages_is_not_believed() -> None:
    """A `last` link of a thousand million pages costs nothing but the first request."""

    @dataclass
    class Boastful(Numbered):
        def page(self, thread: Thread, number: int, **how: Any) -> Page | None:
            page = super().page(thread, number, **how)
            return page and replace(page, more=True, last=999_999_999)

    pages = Boastful(list(range(1, 101)))
    with pytest.raises(Unavailable, match="999,999,999 pages"):
        look(pages, THREAD, only(PLAN))
    assert pages.requests == 1

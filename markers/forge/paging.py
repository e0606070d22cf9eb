"""Numbered pages and the ``Link`` header in GitHub's shape: pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

from .answers import Halt, invalid
from .values import Call

DEFAULT_SIZE = 30
LARGEST_SIZE = 100


@dataclass(frozen=True, slots=True)
class Slice:
    """Which page of which size is asked for."""

    number: int
    size: int

    @property
    def offset(self) -> int:
        """How many comments come before it."""
        return (self.number - 1) * self.size


def asked(call: Call) -> Slice:
    """The page asked for; what makes no sense is read as if it were not there."""
    size = _positive(call.param("per_page")) or DEFAULT_SIZE
    return Slice(_positive(call.param("page")) or 1, min(size, LARGEST_SIZE))


def _positive(text: str | None) -> int | None:
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > 9:
        return None
    return int(text) or None


def since(call: Call) -> int:
    """The inclusive lower bound on ``updated_at`` in epoch seconds; 0 when there is none."""
    text = call.param("since")
    if not text:
        return 0
    try:
        moment = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        problem = {"resource": "IssueComment", "code": "invalid", "field": "since"}
        raise Halt(invalid([problem])) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return -int(-moment.timestamp() // 1)


def links(call: Call, path: str, page: Slice, total: int) -> dict[str, str]:
    """The ``Link`` header for one page of *total* comments; none when all fit on one page.

    The addresses are those of the repository's id and carry the query of the request, on the host
    that the client used.  GitHub names ``next`` and ``last`` up to the last page, and ``prev`` and
    ``first`` from the second one on.
    """
    last = max(1, -(-total // page.size))
    wanted = {
        "prev": min(page.number - 1, last) if page.number > 1 else None,
        "next": page.number + 1 if page.number < last else None,
        "last": last if page.number < last else None,
        "first": 1 if page.number > 1 else None,
    }
    kept = [(name, value) for name, value in call.query if name != "page"]
    parts = [
        f'<{call.base}{path}?{urlencode([*kept, ("page", str(number))])}>; rel="{rel}"'
        for rel, number in wanted.items()
        if number is not None
    ]
    return {"Link": ", ".join(parts)} if parts else {}

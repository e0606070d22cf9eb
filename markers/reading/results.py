"""A comment as a ``ReadResult``: who wrote it, and whether its family's rules would have it."""

from __future__ import annotations

from ..codec import sha256
from ..model import Comment, Extra, Marker, ReadResult, Reason
from ..payload.problems import Problem
from ..selection import author_name

_NOT_JUDGED = Reason(code="not-judged", detail="no time was left to judge it: read it alone")


def described(
    marker: Marker,
    comment: Comment,
    *,
    trusted: bool,
    extras: tuple[Extra, ...],
    problems: tuple[Problem, ...] | None,
    body: bool,
) -> ReadResult:
    """Describe one match; *problems* is None where it was not judged."""
    return ReadResult(
        marker=marker.text,
        family=marker.family,
        comment_id=comment.id,
        url=comment.html_url,
        author=author_name(comment),
        author_id=comment.author.id if comment.author else None,
        association=comment.association or None,
        trusted=trusted,
        created_at=comment.created_at,
        updated_at=comment.updated_at,
        edited=comment.updated_at != comment.created_at,
        minimized=comment.minimized,
        sha256=sha256(comment.body),
        body=comment.body if body else None,
        extras=extras,
        valid=None if problems is None else all(problem.warns for problem in problems),
        problems=(_NOT_JUDGED,) if problems is None else tuple(p.reason() for p in problems),
    )

"""A comment as a ``ReadResult``: who wrote it, and whether its family's rules would have it."""

from __future__ import annotations

from dataclasses import dataclass

from ..codec import sha256
from ..model import Comment, Extra, Marker, ReadResult, Reason
from ..payload.problems import Problem
from ..readers import NOT_JUDGED, Reading
from ..selection import author_name

_WHY_NOT = {
    True: "no time was left to judge it: give it more with --deadline",
    False: "its author is not trusted, and only a small part of the time is for those",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    """All matches of one marker, ascending by id, and what they say together."""

    results: tuple[ReadResult, ...]
    reading: Reading | None


def described(
    marker: Marker,
    comment: Comment,
    *,
    trusted: bool,
    why: str | None,
    extras: tuple[Extra, ...],
    astray: Problem | None,
    problems: tuple[Problem, ...] | None,
    body: bool,
) -> ReadResult:
    """Describe one match; *problems* is None where it was not judged."""
    valid = None if problems is None else all(problem.warns for problem in problems)
    told = [problem.reason() for problem in problems or ()]
    if problems is None:
        told = [Reason(code=NOT_JUDGED, detail=_WHY_NOT[trusted])]
    if astray is not None:
        valid, told = False, [astray.reason(), *told]
    return ReadResult(
        marker=marker.text,
        family=marker.family,
        comment_id=comment.id,
        url=comment.html_url,
        author=author_name(comment),
        author_id=comment.author.id if comment.author else None,
        association=comment.association or None,
        trusted=trusted,
        why=why,
        created_at=comment.created_at,
        updated_at=comment.updated_at,
        edited=comment.updated_at != comment.created_at,
        minimized=comment.minimized,
        sha256=sha256(comment.body),
        body=comment.body if body else None,
        extras=extras,
        valid=valid,
        problems=tuple(told),
    )

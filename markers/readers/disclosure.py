"""How a reading names the comments that it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..model import Comment
from ..selection import author_name


def disclosed(comment: Comment) -> dict[str, Any]:
    """Which comment it is, whose, and of when: what a reader of the reading can check."""
    return {
        "comment_id": comment.id,
        "author": author_name(comment),
        "author_id": comment.author.id if comment.author else None,
        "association": comment.association or None,
        "created_at": comment.created_at,
        "updated_at": comment.updated_at,
    }


def passed_over(comments: Iterable[tuple[Comment, str]]) -> list[dict[str, Any]]:
    """Comments that do not count, each with the reason."""
    return [{**disclosed(comment), "why": why} for comment, why in comments]


def counted(count: int, noun: str) -> str:
    """A number and its noun, such as ``1 marker`` and ``2 markers``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

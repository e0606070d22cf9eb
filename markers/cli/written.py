"""How the result of a write reads, for people and for programs."""

from __future__ import annotations

from ..model import WriteResult
from . import exits
from .documents import written
from .output import Answer


def answer_of(result: WriteResult) -> Answer:
    """One line for people; what was left alone follows it."""
    place = f"{result.repo}#{result.number}"
    comment = f"comment {result.comment_id} {result.url}" if result.comment_id else "no comment yet"
    lines = [f"{result.action} {result.marker} on {place}: {comment}"]
    if result.reason is not None:
        lines.append(result.reason.detail)
    lines += [f"left alone: comment {e.id} by {e.author}: {e.why}" for e in result.extras]
    return Answer(
        document=written(result),
        lines=lines,
        code=exits.CODES[result.action],
        warnings=result.warnings,
    )

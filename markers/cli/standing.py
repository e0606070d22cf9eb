"""What the lines of ``read`` and ``list`` say about a comment's validity."""

from __future__ import annotations

from ..model import ReadResult, Reason

ELSEWHERE = frozenset({"number-mismatch", "surface"})
"""The codes of what is wrong with where a marker stands, not with what it says."""


def standing_of(result: ReadResult) -> str:
    """Whether the family's rules would have the comment."""
    if result.valid is None:
        return "not judged"
    if not result.valid:
        return f"NOT valid: {counted(len(result.problems), 'problem')}"
    return f"valid, with {counted(len(result.problems), 'warning')}" if result.problems else "valid"


def counted(count: int, noun: str) -> str:
    """A number and its noun, such as ``1 slice`` and ``2 slices``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def problem_line(problem: Reason) -> str:
    """What is wrong, and where."""
    where = f"line {problem.line}, " if problem.line else ""
    return f"  {problem.detail} [{where}rule {problem.code}]"

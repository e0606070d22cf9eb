"""What the lines of ``read`` and ``list`` say about a comment's validity."""

from __future__ import annotations

from ..model import ReadResult, Reason


def standing_of(result: ReadResult) -> str:
    """Whether the family's rules would have the comment."""
    if result.valid is None:
        return "not judged"
    if not result.valid:
        return f"NOT valid: {_counted(result, 'problem')}"
    return f"valid, with {_counted(result, 'warning')}" if result.problems else "valid"


def _counted(result: ReadResult, noun: str) -> str:
    count = len(result.problems)
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def problem_line(problem: Reason) -> str:
    """What is wrong, and where."""
    where = f"line {problem.line}, " if problem.line else ""
    return f"  {problem.detail} [{where}rule {problem.code}]"

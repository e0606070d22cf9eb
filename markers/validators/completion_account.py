"""``completion-account``: what an account says of its review; it warns and never refuses.

A refusal would leave a run without any account, so each verdict but one is only told (contract,
statement 27).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import echo, few
from ..payload.account import Verdict, verdict
from ..payload.problems import Problem
from .interface import Case

FIELD = "adversarial_review_ran"
_WORDS = {
    "declared-not-run": "the account says that no adversarial review ran",
    "unasserted": f"there is no live line '{FIELD}: true' or 'false', which reads as not run",
    "value-unrecognised": "{shown} is neither true nor false, which reads as not run",
    "duplicate-assertion": "lines {lines} contradict one another, which reads as not run",
}


def validate(case: Case) -> Iterator[Problem]:
    """Tell what a reader will make of the account, unless it says that the review ran."""
    found = verdict(case.body)
    if found.word != "ran":
        detail = _WORDS[found.word].format(shown=repr(echo(found.value or "")), lines=_lines(found))
        yield Problem(code=found.word, detail=detail, field=FIELD, line=found.line, warns=True)


def _lines(found: Verdict) -> str:
    return few((found.line, *found.duplicates))

"""Whether a finished run's review ran, as its completion account says.

The rule (contract, statement 27): the account with the highest comment id is read, its author is
disclosed, and further candidates are reported.  Only ``ran`` means that a review ran; an account
that says nothing, or is not there, means that none did.

That is not the comment that governs a write, which is the canonical one with the lowest id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..body import Body
from ..contract import Contract
from ..model import Comment, Marker
from ..payload.account import Verdict, verdict
from ..selection import author_name
from .disclosure import disclosed, passed_over
from .interface import Needs, Reader, Reading, View

RAN = "ran"
_NO_ACCOUNT = Verdict(word="unasserted")
_NOBODY: Mapping[str, Any] = {"comment_id": None, "author": None}


def _needs(_marker: Marker, _contract: Contract) -> Needs:
    return Needs()


def _read(view: View) -> Reading:
    candidates = [sighting.comment for sighting in view.of(view.marker.text)]
    read = candidates[-1] if candidates else None
    found = verdict(Body(read.body)) if read else _NO_ACCOUNT
    return {
        "summary": _summary(found, candidates),
        "verdict": found.word,
        "review_ran": found.word == RAN,
        "value": found.value,
        "line": found.line,
        "duplicates": list(found.duplicates),
        **(disclosed(read) if read else _NOBODY),
        "candidates": [disclosed(comment) for comment in candidates],
        "skipped": passed_over(view.astray),
    }


def _summary(found: Verdict, candidates: Sequence[Comment]) -> str:
    if not candidates:
        return "unasserted: there is no account"
    first, last = candidates[0], candidates[-1]
    told = f"{found.word}, says comment {last.id} by {author_name(last)}"
    if first is last:
        return told
    return (
        f"{told}, the last of {len(candidates)} candidates, which is the one that is read; "
        f"a write changes the first one, comment {first.id}"
    )


READER = Reader(needs=_needs, read=_read)

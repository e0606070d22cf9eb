"""Who holds the run lock of an issue.

The rule (contract, statement 29): a record is live while its status is ``unresolved`` or
``adopted``, and of the live ones the lowest comment id holds the lock.

A lock fails closed: whatever else is wrong with a record, its status alone decides, in any letter
case, and of several statuses a live one.  A record without a status holds nothing; it is named,
since whoever wrote it may believe that he holds the lock.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..body import Body
from ..contract import Contract
from ..model import Comment, Marker
from ..payload.bullets import read_bullets
from ..payload.flawed import Flawed
from .disclosure import counted, disclosed, passed_over
from .interface import Needs, Reader, Reading, View

LIVE = ("unresolved", "adopted")
RESOLVED = "resolved"
_STATUS = re.compile(r"-[ \t]+\*\*status\*\*:[ \t]*(\S+)", re.IGNORECASE)
"""The first word after the key, as this record's other readers take it."""
_NO_STATUS = f"it has no line '- **status**: ...' that says {', '.join(LIVE)} or {RESOLVED}"
_SHOWN = ("contract_hash", "launched_at", "adopted_by_session_id", "resolved_reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One record whose status can be read."""

    comment: Comment
    status: str
    """``unresolved``, ``adopted`` or ``resolved``."""
    fields: Mapping[str, Any]
    """Its bullets; empty where they cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """The trusted records of one issue, told apart; each group ascends by comment id."""

    live: tuple[Run, ...]
    resolved: tuple[Run, ...]
    unreadable: tuple[tuple[Comment, str], ...]
    """With the reason why it holds nothing."""

    @property
    def holder(self) -> Run | None:
        """Who holds the lock."""
        return self.live[0] if self.live else None


def elect(comments: Iterable[Comment]) -> Election:
    """Tell the records that count apart: the one election, for readers and for the lock itself."""
    runs: list[Run] = []
    unreadable: list[tuple[Comment, str]] = []
    for comment in sorted(comments, key=lambda comment: comment.id):
        body = Body(comment.body)
        status = _status(body)
        if status is None:
            unreadable.append((comment, _NO_STATUS))
        else:
            runs.append(Run(comment=comment, status=status, fields=_fields(body)))
    return Election(
        live=tuple(run for run in runs if run.status in LIVE),
        resolved=tuple(run for run in runs if run.status == RESOLVED),
        unreadable=tuple(unreadable),
    )


def _status(body: Body) -> str | None:
    matches = filter(None, map(_STATUS.match, body.lines[1:]))
    told = {match[1].lower() for match in matches}
    return next((status for status in (*LIVE, RESOLVED) if status in told), None)


def _fields(body: Body) -> Mapping[str, Any]:
    try:
        fields: Mapping[str, Any] = read_bullets(body.lines[1:], first_line=2).value
    except Flawed:
        return {}
    return fields


def _needs(_marker: Marker, _contract: Contract) -> Needs:
    return Needs()


def _read(view: View) -> Reading:
    election = elect(sighting.comment for sighting in view.sightings if sighting.counts)
    holder = election.holder
    unreadable = (*election.unreadable, *view.astray)
    return {
        "summary": _summary(election, len(unreadable)),
        "holder": _told(holder) if holder else None,
        "live": [_told(run) for run in election.live],
        "resolved": [_told(run) for run in election.resolved],
        "unreadable": passed_over(unreadable),
    }


def _told(run: Run) -> dict[str, Any]:
    shown = {name: run.fields.get(name) for name in _SHOWN}
    return {**disclosed(run.comment), "status": run.status, **shown}


def _summary(election: Election, unreadable: int) -> str:
    unread = f"; {counted(unreadable, 'record')} passed over" if unreadable else ""
    if election.holder is None:
        return f"nobody holds the run lock{unread}"
    comment = election.holder.comment
    waiting = len(election.live) - 1
    others = f"; {counted(waiting, 'live record')} behind it" if waiting else ""
    return f"held by comment {comment.id} ({election.holder.status}){others}{unread}"


READER = Reader(needs=_needs, read=_read)

"""Who holds the run lock of an issue.

The rule (contract, statement 29): a record is live while its status is ``unresolved`` or
``adopted``, and of the live ones the lowest comment id holds the lock.  A record that the writer
would refuse holds nothing; it is named, since whoever wrote it may believe that he holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..body import Body
from ..contract import Contract
from ..model import Comment, Marker
from ..payload.bullets import read_bullets
from ..payload.flawed import Flawed
from .disclosure import counted, disclosed
from .interface import Needs, Reader, Reading, Sighting, View

LIVE = frozenset({"unresolved", "adopted"})
RESOLVED = "resolved"
_SHOWN = ("status", "contract_hash", "launched_at", "adopted_by_session_id", "resolved_reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One record that can be read."""

    comment: Comment
    fields: Mapping[str, Any]

    @property
    def status(self) -> str:
        """``unresolved``, ``adopted`` or ``resolved``."""
        return str(self.fields["status"])


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


def elect(sightings: Iterable[Sighting]) -> Election:
    """Tell the records apart; those that are not trusted take no part."""
    live: list[Run] = []
    resolved: list[Run] = []
    unreadable: list[tuple[Comment, str]] = []
    for sighting in sorted(sightings, key=lambda s: s.comment.id):
        if not sighting.trusted:
            continue
        read = _run(sighting)
        if isinstance(read, str):
            unreadable.append((sighting.comment, read))
        else:
            (live if read.status in LIVE else resolved).append(read)
    return Election(live=tuple(live), resolved=tuple(resolved), unreadable=tuple(unreadable))


def _run(sighting: Sighting) -> Run | str:
    """The record, or why it cannot be read."""
    if sighting.refused:
        return sighting.refused.reason().detail
    body = Body(sighting.comment.body)
    try:
        fields = read_bullets(body.lines[1:], first_line=2).value
    except Flawed as flawed:
        return flawed.problem.reason().detail
    if not isinstance(fields, dict) or fields.get("status") not in (*LIVE, RESOLVED):
        return "it has no status that is known"
    return Run(comment=sighting.comment, fields=fields)


def _needs(_marker: Marker, _contract: Contract) -> Needs:
    return Needs()


def _read(view: View) -> Reading:
    election = elect(view.sightings)
    holder = election.holder
    return {
        "summary": _summary(election),
        "holder": _told(holder) if holder else None,
        "live": [_told(run) for run in election.live],
        "resolved": [_told(run) for run in election.resolved],
        "unreadable": [{**disclosed(c), "why": why} for c, why in election.unreadable],
    }


def _told(run: Run) -> dict[str, Any]:
    return {**disclosed(run.comment), **{name: run.fields.get(name) for name in _SHOWN}}


def _summary(election: Election) -> str:
    lost = election.unreadable
    unread = f"; {counted(len(lost), 'record')} cannot be read" if lost else ""
    if election.holder is None:
        return f"nobody holds the run lock{unread}"
    comment = election.holder.comment
    waiting = len(election.live) - 1
    others = f"; {counted(waiting, 'live record')} behind it" if waiting else ""
    return f"held by comment {comment.id} ({election.holder.status}){others}{unread}"


READER = Reader(needs=_needs, read=_read)

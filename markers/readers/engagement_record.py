"""Engagement records: the newest decisions of each phase, and every follow-up there ever was.

The rule (contract, row SMC-20 and statement 21): per phase the record that was created last
counts, the first one where two are of the same second.  Entries whose id begins with ``followup-``
are gathered from all records instead.  A record that the writer would refuse is passed over, and
named, also where it is the one that governs.

Records of the phase review are on a pull request, which is a thread of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..body import Body
from ..codec import derive
from ..contract import Contract
from ..model import Comment, Marker
from ..payload.fenced import the_fence_or_rest
from ..payload.flawed import Flawed
from ..payload.yaml12 import read_yaml
from .disclosure import counted, disclosed
from .interface import Needs, Reader, Reading, Sighting, View

FOLLOWUP = "followup-"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    phase: str
    comment: Comment
    payload: Mapping[str, Any]

    @property
    def entries(self) -> Iterator[Mapping[str, Any]]:
        listed = self.payload.get("load_bearing_decisions")
        return (entry for entry in listed or () if isinstance(entry, dict))

    def newer_than(self, other: _Record | None) -> bool:
        return other is None or self.comment.created_at > other.comment.created_at


def _needs(marker: Marker, contract: Contract) -> Needs:
    """The markers of all phases, since one reading covers them all."""
    family = contract.family(marker.family)
    phases = (phase for param in family.params if param.name == "phase" for phase in param.values)
    given = dict(marker.params)
    derived = (derive(family, marker.number, {**given, "phase": phase}) for phase in phases)
    return Needs(lines=tuple(each.text for each in derived))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Skipped:
    """A marker that does not count, and why."""

    sighting: Sighting
    phase: str
    why: str


def _read(view: View) -> Reading:
    records: list[_Record] = []
    skipped: list[_Skipped] = []
    for sighting in view.sightings:
        phase = _phase(view, sighting)
        read = _record(sighting, phase)
        if isinstance(read, _Record):
            records.append(read)
        else:
            skipped.append(_Skipped(sighting=sighting, phase=phase, why=read))
    newest = _newest(records)
    followups = _followups(records)
    told = [_counts(newest), *_followed(followups), *_passed_over(view, skipped)]
    return {
        "summary": "; ".join(told),
        "phases": {phase: _phase_reading(record) for phase, record in newest.items()},
        "followups": followups,
        "skipped": [
            {"phase": each.phase, **disclosed(each.sighting.comment), "why": each.why}
            for each in skipped
        ],
    }


def _phase(view: View, sighting: Sighting) -> str:
    marker = view.contract.parse(sighting.line)
    return dict(marker.params).get("phase", "") if marker else ""


def _record(sighting: Sighting, phase: str) -> _Record | str:
    """The record, or why it does not count."""
    if not sighting.trusted:
        return "untrusted"
    if sighting.astray:
        return f"{sighting.astray.code}: {sighting.astray.detail}"
    if sighting.refused:
        return f"malformed: {sighting.refused.reason().detail}"
    try:
        fenced = the_fence_or_rest(Body(sighting.comment.body))
        payload = read_yaml(fenced.text, first_line=fenced.first_line).value
    except Flawed as flawed:
        return f"malformed: {flawed.problem.reason().detail}"
    if not isinstance(payload, dict):
        return "malformed: the payload is no mapping"
    return _Record(phase=phase, comment=sighting.comment, payload=payload)


def _newest(records: Iterable[_Record]) -> dict[str, _Record]:
    newest: dict[str, _Record] = {}
    for record in records:
        if record.newer_than(newest.get(record.phase)):
            newest[record.phase] = record
    return newest


def _followups(records: Iterable[_Record]) -> list[dict[str, Any]]:
    """Each follow-up once, as the newest record that has it tells it."""
    found: dict[str, tuple[_Record, Mapping[str, Any]]] = {}
    for record in records:
        for entry in filter(_is_followup, record.entries):
            key = str(entry["decision_id"])
            if record.newer_than(found[key][0] if key in found else None):
                found[key] = (record, entry)
    return [
        {**entry, "phase": record.phase, "comment_id": record.comment.id}
        for record, entry in found.values()
    ]


def _is_followup(entry: Mapping[str, Any]) -> bool:
    return str(entry.get("decision_id", "")).startswith(FOLLOWUP)


def _phase_reading(record: _Record) -> dict[str, Any]:
    return {
        **disclosed(record.comment),
        "schema_version": record.payload.get("schema_version"),
        "capture_session": record.payload.get("capture_session"),
        "decisions": [entry for entry in record.entries if not _is_followup(entry)],
    }


def _counts(newest: Mapping[str, _Record]) -> str:
    told = [
        f"{phase} {counted(sum(not _is_followup(e) for e in record.entries), 'decision')} "
        f"(comment {record.comment.id})"
        for phase, record in newest.items()
    ]
    return ", ".join(told) or "no decisions"


def _followed(followups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if followups:
        yield counted(len(followups), "follow-up")


def _passed_over(view: View, skipped: Sequence[_Skipped]) -> Iterator[str]:
    """What of ours does not count, first of all the one that governs; strangers' apart from it."""
    ours = [each.sighting.comment for each in skipped if each.sighting.trusted]
    if ours:
        governs = view.governing in ours and view.governing
        latest = f", the latest of its phase (comment {governs.id}) among them" if governs else ""
        yield f"{counted(len(ours), 'record')} passed over{latest}"
    if len(skipped) > len(ours):
        yield f"{counted(len(skipped) - len(ours), 'marker')} not trusted"


READER = Reader(needs=_needs, read=_read)

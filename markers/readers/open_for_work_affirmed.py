"""Affirmations that an issue is open for work: which are lawful, and which an edit has voided.

The rule (contract, statement 28): a record is lawful as long as it was never edited, and the
earliest lawful one must be older than the artefact that it opens the way for.  A comment in the
interim form, from before there was a marker, is as good as one with the marker, for ever.

GitHub's times have whole seconds, so that an edit within the second of the creation is not seen.
"""

from __future__ import annotations

from typing import Any

from ..contract import Contract
from ..model import Marker
from .disclosure import counted, disclosed, passed_over
from .interface import Needs, Reader, Reading, Sighting, View


def _needs(marker: Marker, contract: Contract) -> Needs:
    """The interim form's first line; the family's registry file spells it."""
    form = contract.family(marker.family).payload.get("interim_line")
    return Needs(lines=(str(form).replace("{ID}", str(marker.number)),) if form else ())


def _read(view: View) -> Reading:
    counting = [s for s in view.sightings if s.counts]
    lawful = sorted((s for s in counting if not _edited(s)), key=_age)
    void = [s for s in counting if _edited(s)]
    return {
        "summary": _summary(lawful, void),
        "affirmed": bool(lawful),
        "earliest": _record(lawful[0], view) if lawful else None,
        "lawful": [_record(s, view) for s in lawful],
        "void": [_record(s, view) for s in void],
        "untrusted": [_record(s, view) for s in view.sightings if not s.trusted],
        "skipped": passed_over(view.astray),
    }


def _edited(sighting: Sighting) -> bool:
    return sighting.comment.updated_at != sighting.comment.created_at


def _age(sighting: Sighting) -> tuple[str, int]:
    return sighting.comment.created_at, sighting.comment.id


def _record(sighting: Sighting, view: View) -> dict[str, Any]:
    form = "marker" if sighting.line == view.marker.text else "interim"
    return {**disclosed(sighting.comment), "form": form}


def _summary(lawful: list[Sighting], void: list[Sighting]) -> str:
    voided = f"; {counted(len(void), 'record')} void, as edited" if void else ""
    if not lawful:
        return f"not affirmed: no lawful record{voided}"
    first = lawful[0].comment
    return f"affirmed since {first.created_at} by comment {first.id}{voided}"


READER = Reader(needs=_needs, read=_read)

"""Whether a marker belongs on the thread that it stands on: pure, from what the look has proved."""

from __future__ import annotations

from ..model import Family, Marker, Surface, Thread
from ..payload.problems import Problem


def astray(
    marker: Marker, family: Family, thread: Thread, surface: Surface | None
) -> Problem | None:
    """Why *marker* does not belong on *thread*; None where it does.

    The writer would refuse it there by the same rules.  A *surface* that nothing proves is no
    reason.
    """
    if marker.number not in (None, thread.number):
        detail = f"{marker.text} belongs on number {marker.number}, not on {thread}"
        return Problem(code="number-mismatch", detail=detail, line=1)
    places = family.surfaces_for(dict(marker.params))
    if surface is None or not places or surface in places:
        return None
    names = " or ".join(place.spoken for place in places)
    detail = f"{thread} is {surface.spoken}; {marker.text} belongs on {names}"
    return Problem(code="surface", detail=detail, line=1)

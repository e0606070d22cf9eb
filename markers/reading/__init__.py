"""``read``, ``list`` and ``spine``: what governs and what it says, straight from the REST API.

Several agent channels strip HTML comments from what they show, so that what governs can only be
read where it is stored.  Reading needs no journal; it uses one for what was learnt before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .. import clock, readers
from ..errors import Absent, Unavailable, few
from ..model import Extra, Family, Marker, ReadResult, Thread
from ..readers import NOT_JUDGED, Needs, Reading, View
from ..setup import Setup
from ..thread import only
from ..transport.interface import Transport
from .live import live_flaws
from .observing import NO_PARAM, Observation, Param, in_session
from .results import Everything

__all__ = ["Everything", "list_markers", "live_flaws", "look_up", "read", "read_all"]

PAUSES = (1.0, 2.0, 4.0)
"""Seconds before each further look that a reader asks for (contract, statement 20)."""


def read(setup: Setup, thread: Thread, marker: Marker) -> ReadResult:
    """The governing comment of *marker* and its family's reading.

    Raises ``Absent`` when none governs, and ``Unavailable`` (``not-judged``) when the reading needs
    what there was no time to judge; their ``result`` has what was seen all the same.
    """

    def work(transport: Transport) -> ReadResult:
        seen, view = _settled(setup, transport, thread, marker, NO_PARAM)
        reading = readers.read(view)
        governing = seen.governing(marker)
        extras = seen.selection(marker.text).extras
        nothing = ReadResult(marker=marker.text, family=marker.family, extras=extras)
        result = replace(governing or nothing, reading=reading)
        if reading and reading.get("broken") == NOT_JUDGED:
            raise Unavailable(NOT_JUDGED, reading["summary"], result=result)
        if governing is None:
            raise Absent("absent", _absence(thread, marker, extras, reading), result=result)
        return result

    return in_session(setup, work)


def look_up(setup: Setup, thread: Thread, marker: Marker, param: Param) -> Reading:
    """What the family of *marker*, which must have a reader, answers to a question.

    Raises ``Unavailable`` (``not-judged``) rather than give half an answer.
    """

    def work(transport: Transport) -> Reading | None:
        return readers.answer(_settled(setup, transport, thread, marker, param)[1])

    reading = in_session(setup, work)
    assert reading is not None  # noqa: S101 - only families with a reader are asked
    return reading


def read_all(setup: Setup, thread: Thread, marker: Marker) -> Everything:
    """Every match of *marker*, the untrusted ones included and marked, and the reading."""

    def work(transport: Transport) -> Everything:
        needs = readers.needs(marker, setup.contract)
        seen = Observation(setup, transport, thread, only(marker.text, *needs.lines))
        reading = readers.read(seen.view(marker, needs.lines))
        return Everything(results=tuple(_each(seen, marker, reading, bodies=True)), reading=reading)

    return in_session(setup, work)


def list_markers(setup: Setup, thread: Thread, family: Family | None) -> tuple[ReadResult, ...]:
    """Every marker comment on the thread, of all families or one, without bodies.

    All that any reader needs is kept of the one look, whatever *family* is asked for.
    """
    contract = setup.contract
    besides = readers.lines_on(thread.number, contract)

    def wanted(line: str) -> str | None:
        marker = line.startswith("<!--") and contract.parse(line)
        return line if marker or line in besides else None

    def work(transport: Transport) -> tuple[ReadResult, ...]:
        seen = Observation(setup, transport, thread, wanted)
        known = filter(None, map(contract.parse, seen.lines))
        found = [m for m in known if family in (None, contract.family(m.family))]
        needs = {marker: readers.needs(marker, contract) for marker in found}
        seen.judge(line for marker in found for line in (marker.text, *needs[marker].lines))
        return tuple(
            result for marker in found for result in _listed(seen, thread, marker, needs[marker])
        )

    return in_session(setup, work)


def _settled(
    setup: Setup, transport: Transport, thread: Thread, marker: Marker, param: Param
) -> tuple[Observation, View]:
    """Look, and as long as the family's reader asks for it look again after a pause."""
    needs = readers.needs(marker, setup.contract)
    wanted = only(marker.text, *needs.lines)
    pauses = iter(PAUSES)
    while True:
        seen = Observation(setup, transport, thread, wanted)
        view = seen.view(marker, needs.lines, param)
        pause = next(pauses, None) if needs.again and needs.again(view) else None
        if pause is None or pause >= transport.deadline.remaining():
            return seen, view
        setup.on_wait(pause, f"{marker.text} may be on its way")
        clock.sleep(pause)


def _listed(
    seen: Observation, thread: Thread, marker: Marker, needs: Needs
) -> Iterator[ReadResult]:
    """The results of one marker; one that names another thread is not read by any rule."""
    at_home = marker.number in (None, thread.number)
    read = at_home and seen.selection(marker.text).governing is not None
    reading = readers.read(seen.view(marker, needs.lines)) if read else None
    return _each(seen, marker, reading, bodies=False)


def _each(
    seen: Observation, marker: Marker, reading: Reading | None, *, bodies: bool
) -> Iterator[ReadResult]:
    """One result a match; the reading stands with the one that governs."""
    governing = seen.selection(marker.text).governing
    for result in seen.results(marker, bodies=bodies):
        if governing and result.comment_id == governing.comment.id:
            yield replace(result, reading=reading)
        else:
            yield result


def _absence(
    thread: Thread, marker: Marker, extras: tuple[Extra, ...], reading: Reading | None
) -> str:
    words = f"no trusted comment on {thread} has {marker.text} on line 1"
    named = few([f"{extra.id} by {extra.author} is {extra.why}" for extra in extras])
    told = str(reading["summary"]) if reading else ""
    return "; ".join(part for part in (words, named, told) if part)

"""``read``, ``list`` and ``spine``: what governs and what it says, straight from the REST API.

Several agent channels strip HTML comments from what they show, so that what governs can only be
read where it is stored.  Reading needs no journal; it uses one for what was learnt before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .. import clock, readers
from ..errors import Absent
from ..model import Extra, Family, Marker, ReadResult, Thread
from ..readers import Needs, Reading, View
from ..setup import Setup
from ..thread import only
from ..transport.interface import Transport
from .live import live_flaws
from .observing import NO_PARAM, Observation, Param, in_session

__all__ = ["list_markers", "live_flaws", "look_up", "read", "read_all"]

PAUSES = (1.0, 2.0, 4.0)
"""Seconds before each further look that a reader asks for (contract, statement 20)."""


def read(setup: Setup, thread: Thread, marker: Marker) -> ReadResult:
    """The governing comment of *marker* and its family's reading.

    Raises ``Absent`` when none governs; its ``result`` has the reading all the same.
    """

    def work(transport: Transport) -> ReadResult:
        seen, view = _settled(setup, transport, thread, marker, NO_PARAM)
        reading = readers.read(view)
        for result in seen.results(marker, bodies=True):
            if view.governing and result.comment_id == view.governing.id:
                return replace(result, reading=reading)
        extras = seen.selection(marker.text).extras
        nothing = ReadResult(
            marker=marker.text, family=marker.family, extras=extras, reading=reading
        )
        raise Absent("absent", _absence(thread, marker, extras, reading), result=nothing)

    return in_session(setup, work)


def look_up(setup: Setup, thread: Thread, marker: Marker, param: Param) -> Reading:
    """What the family of *marker*, which must have a reader, answers to a question."""

    def work(transport: Transport) -> Reading | None:
        return readers.read(_settled(setup, transport, thread, marker, param)[1])

    reading = in_session(setup, work)
    assert reading is not None  # noqa: S101 - only families with a reader are asked
    return reading


def read_all(setup: Setup, thread: Thread, marker: Marker) -> tuple[ReadResult, ...]:
    """Every match of *marker*, ascending by id, the untrusted ones included and marked."""

    def work(transport: Transport) -> tuple[ReadResult, ...]:
        needs = readers.needs(marker, setup.contract)
        seen = Observation(setup, transport, thread, only(marker.text, *needs.lines))
        return tuple(_each(seen, marker, needs, bodies=True))

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
        found = (contract.parse(line) for line in seen.lines)
        return tuple(
            result
            for marker in found
            if marker is not None and family in (None, contract.family(marker.family))
            for result in _listed(setup, seen, thread, marker)
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
    setup: Setup, seen: Observation, thread: Thread, marker: Marker
) -> Iterator[ReadResult]:
    """The results of one marker; one that belongs on another thread is not read by any rule."""
    at_home = marker.number in (None, thread.number)
    needs = readers.needs(marker, setup.contract) if at_home else None
    return _each(seen, marker, needs, bodies=False)


def _each(
    seen: Observation, marker: Marker, needs: Needs | None, *, bodies: bool
) -> Iterator[ReadResult]:
    """One result a match; the reading stands with the one that governs."""
    governing = seen.selection(marker.text).governing
    for result in seen.results(marker, bodies=bodies):
        if needs and governing and result.comment_id == governing.comment.id:
            yield replace(result, reading=readers.read(seen.view(marker, needs.lines)))
        else:
            yield result


def _absence(
    thread: Thread, marker: Marker, extras: tuple[Extra, ...], reading: Reading | None
) -> str:
    words = f"no trusted comment on {thread} has {marker.text} on line 1"
    named = "; ".join(f"{extra.id} by {extra.author} is {extra.why}" for extra in extras)
    told = str(reading["summary"]) if reading else ""
    return "; ".join(part for part in (words, named, told) if part)

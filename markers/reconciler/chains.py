"""The read chain of a row that is not reconciled: the first of its places that has something.

What may live here: asking place after place, best first.  What may not: what a place holds in
detail (``openings``), one row's chain for another row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from ..caches import memory
from ..caches.engine import Broken
from ..caches.files import StateFile
from ..caches.review_state import ReviewCodec
from ..errors import Denied, MarkersError, Unavailable, Unknown
from ..model import Reason, Repo, Row, Thread
from ..paths import Place
from ..reading.observing import in_session
from ..setup import Setup
from ..transport.interface import Transport
from .interface import Source
from .openings import METRICS, has_block, opening, review_comment

Desk: TypeAlias = Callable[[], tuple[Setup, Repo]]
"""Where GitHub is asked; not called for what is in local files alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The place that governs; none of them where *source* is None."""

    source: Source | None = None
    comment_id: int | None = None
    trouble: Reason | None = None
    """Why a place that comes first could not be asked: it may have what governs."""


NOTHING = Found()


def first(desk: Desk, row: Row, number: int, files: Sequence[Place]) -> Found:
    """Ask the places of *row*'s chain in their order; *files* are its files for *number*."""
    for source in map(Source, row.chain):
        if source in _ON_GITHUB:
            found = _asked(desk, number, source)
        elif source is Source.CACHE and any(_usable(each, number) for each in files):
            found = Found(source=source)
        else:
            continue
        if found is not NOTHING:
            return found
    return NOTHING


def _usable(place: Place, number: int) -> bool:
    """Whether a reader of the file would take it for state; what cannot be read is none."""
    with suppress(MarkersError, Broken):
        data = StateFile(place=place).read() or b""
        known = memory.read_name(place.path.name)
        if known is not None and known.kind == "review-state":
            ReviewCodec(number).load(data)
        return bool(data.strip())
    return False


def _asked(desk: Desk, number: int, source: Source) -> Found:
    setup, repo = desk()
    thread = Thread(repo, number)
    ask = _ON_GITHUB[source]
    try:
        return in_session(setup, lambda transport: ask(setup, transport, thread))
    except (Unavailable, Denied, Unknown) as error:
        return Found(trouble=error.reason)


def _rulings(setup: Setup, transport: Transport, thread: Thread) -> Found:
    comment_id = review_comment(setup, transport, thread)
    if comment_id is None:
        return NOTHING
    return Found(source=Source.REVIEW_COMMENT, comment_id=comment_id)


def _metrics(setup: Setup, transport: Transport, thread: Thread) -> Found:
    text = opening(setup, transport, thread, Source.PULL_REQUEST_BODY) or ""
    there = has_block(text, METRICS, setup.contract)
    return Found(source=Source.PULL_REQUEST_BODY) if there else NOTHING


_ON_GITHUB: Mapping[Source, Callable[[Setup, Transport, Thread], Found]] = {
    Source.REVIEW_COMMENT: _rulings,
    Source.PULL_REQUEST_BODY: _metrics,
}

"""``read`` and ``list``: the governing comment and all markers, straight from the REST API.

Several agent channels strip HTML comments from what they show, so that what governs can only be
read where it is stored.  Reading needs no journal; it uses one for what was learnt before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import TypeVar

from .codec import sha256
from .errors import Absent, Gone
from .journal.interface import Entry, Flaw, Kind
from .memory import Memory
from .model import (
    Account,
    Action,
    Comment,
    Extra,
    Family,
    Marker,
    ReadResult,
    Repo,
    Shape,
    Thread,
)
from .selection import Match, author_name, needs_identity, select
from .setup import Setup
from .thread import Look, look, only
from .transport import retry
from .transport.interface import Transport

T = TypeVar("T")

WRITTEN = frozenset({Action.CREATED, Action.UPDATED, Action.POSTED, Action.UNCHANGED})


def read(setup: Setup, thread: Thread, marker: Marker) -> ReadResult:
    """The governing comment of *marker*; raises ``Absent`` (with ``result``) when none governs."""
    return _session(setup, lambda transport: _read(setup, transport, thread, marker))


def read_all(setup: Setup, thread: Thread, marker: Marker) -> tuple[ReadResult, ...]:
    """Every match of *marker*, ascending by id, the untrusted ones included and marked."""

    def work(transport: Transport) -> tuple[ReadResult, ...]:
        seen, me = _look(setup, transport, thread, only(marker.text))
        return tuple(_each(setup, seen.of(marker.text), marker, me, bodies=True))

    return _session(setup, work)


def list_markers(setup: Setup, thread: Thread, family: Family | None) -> tuple[ReadResult, ...]:
    """Every marker comment on the thread, of all families or one, without bodies."""

    def wanted(line: str) -> str | None:
        marker = setup.contract.parse(line) if line.startswith("<!--") else None
        return line if marker and family in (None, setup.contract.family(marker.family)) else None

    def work(transport: Transport) -> tuple[ReadResult, ...]:
        seen, me = _look(setup, transport, thread, wanted)
        ordered = sorted(seen.matches, key=lambda match: match.marker)
        return tuple(
            result
            for text, matches in groupby(ordered, key=lambda match: match.marker)
            if (marker := setup.contract.parse(text)) is not None
            for result in _each(setup, tuple(matches), marker, me, bodies=False)
        )

    return _session(setup, work)


def live_flaws(setup: Setup) -> list[Flaw]:
    """Compare what the journal wrote last to each comment with what GitHub holds now."""
    latest = _latest_writes(setup.open_journal().entries(), setup.connection.api_url)
    return _session(
        setup,
        lambda transport: [
            flaw for entry in latest.values() if (flaw := _live_flaw(transport, entry)) is not None
        ],
    )


def _session(setup: Setup, work: Callable[[Transport], T]) -> T:
    transport = setup.connection.begin(setup.deadline())
    return retry.rounds(transport.deadline, on_wait=setup.on_wait)(lambda: work(transport))


def _read(setup: Setup, transport: Transport, thread: Thread, marker: Marker) -> ReadResult:
    seen, me = _look(setup, transport, thread, only(marker.text))
    shape = _shape(setup, marker)
    selection = select(seen.of(marker.text), shape, setup.trust, me)
    if selection.governing is None:
        nothing = ReadResult(marker=marker.text, family=marker.family, extras=selection.extras)
        raise Absent("absent", _absence(thread, marker, selection.extras), result=nothing)
    return _result(marker, selection.governing.comment, True, selection.extras)


def _absence(thread: Thread, marker: Marker, extras: tuple[Extra, ...]) -> str:
    words = f"no trusted comment on {thread} has {marker.text} on line 1"
    named = "; ".join(f"{extra.id} by {extra.author} is {extra.why}" for extra in extras)
    return f"{words}; {named}" if named else words


def _look(
    setup: Setup, transport: Transport, thread: Thread, wanted: Callable[[str], str | None]
) -> tuple[Look, Account | None]:
    memory = Memory(transport, thread, setup.journal_if_any())
    seen = look(transport, thread, wanted)
    memory.learn_surface(seen.surface)
    memory.learn_repo_id(seen.repo_id)
    return seen, _identity(memory, seen, setup)


def _identity(memory: Memory, seen: Look, setup: Setup) -> Account | None:
    """Who we are, asked only where it decides what governs, and again before a memory says no."""
    by_marker = groupby(sorted(seen.matches, key=lambda m: m.marker), key=lambda m: m.marker)
    open_questions = [list(ms) for _, ms in by_marker]
    undecided = [ms for ms in open_questions if needs_identity(ms, setup.trust)]
    if not undecided:
        return memory.remembered_me()
    me = memory.me()
    known = {m.comment.author.id for ms in undecided for m in ms if m.comment.author}
    return me if me and me.id in known else memory.me(fresh=True)


def _each(
    setup: Setup, matches: Iterable[Match], marker: Marker, me: Account | None, *, bodies: bool
) -> Iterable[ReadResult]:
    """One result a match; the governing one carries the extras."""
    shape = _shape(setup, marker)
    selection = select(matches, shape, setup.trust, me)
    trusted = {match.comment.id for match in selection.trusted}
    for match in sorted(matches, key=lambda m: m.comment.id):
        governs = match is selection.governing
        yield _result(
            marker,
            match.comment,
            match.comment.id in trusted,
            selection.extras if governs else (),
            body=bodies,
        )


def _result(
    marker: Marker,
    comment: Comment,
    trusted: bool,
    extras: tuple[Extra, ...],
    *,
    body: bool = True,
) -> ReadResult:
    return ReadResult(
        marker=marker.text,
        family=marker.family,
        comment_id=comment.id,
        url=comment.html_url,
        author=author_name(comment),
        author_id=comment.author.id if comment.author else None,
        association=comment.association or None,
        trusted=trusted,
        created_at=comment.created_at,
        updated_at=comment.updated_at,
        edited=comment.updated_at != comment.created_at,
        minimized=comment.minimized,
        sha256=sha256(comment.body),
        body=comment.body if body else None,
        extras=extras,
    )


def _shape(setup: Setup, marker: Marker) -> Shape:
    """How a family's matches are selected; what nothing writes any more is read as a log."""
    return setup.contract.family(marker.family).shape or Shape.POST_NEW


def _latest_writes(entries: Iterable[Entry], api_url: str) -> Mapping[int, Entry]:
    """Per comment the entry that says what it should hold now; a deletion ends it."""
    latest: dict[int, Entry] = {}
    for entry in entries:
        record = entry.record
        if record.kind is not Kind.OUTCOME or record.api_url != api_url or not record.comment_id:
            continue
        if record.action in WRITTEN:
            latest[record.comment_id] = entry
        elif record.action == Action.DELETED:
            latest.pop(record.comment_id, None)
    return latest


def _live_flaw(transport: Transport, entry: Entry) -> Flaw | None:
    record = entry.record
    owner, _, name = record.repo.partition("/")
    where = (
        f"comment {record.comment_id} on {Thread(Repo(record.api_url, owner, name), record.number)}"
    )
    try:
        stored = transport.comment(Repo(record.api_url, owner, name), record.comment_id or 0)
    except Gone:
        return Flaw(seq=entry.seq, problem=f"{where} is gone")
    if sha256(stored.comment.body) == record.sha256_after:
        return None
    return Flaw(seq=entry.seq, problem=f"{where} holds another text than was written last")

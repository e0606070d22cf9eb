"""``audit verify --live``: whether GitHub still holds what the journal wrote last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..codec import sha256
from ..errors import Gone
from ..journal.interface import Entry, Flaw, Kind
from ..model import Action, Repo, Thread
from ..setup import Setup
from ..transport.interface import Transport
from .observing import in_session

WRITTEN = frozenset({Action.CREATED, Action.UPDATED, Action.POSTED, Action.UNCHANGED})


def live_flaws(setup: Setup) -> list[Flaw]:
    """Compare what the journal wrote last to each comment with what GitHub holds now."""
    latest = _latest_writes(setup.open_journal().entries(), setup.connection.api_url)
    return in_session(
        setup,
        lambda transport: [
            flaw for entry in latest.values() if (flaw := _live_flaw(transport, entry)) is not None
        ],
    )


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

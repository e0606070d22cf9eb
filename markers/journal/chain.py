"""The audit chain: sealing entries, opening them again, proving that none was touched.

What may live here: pure functions over entries, the same for every engine.  What may not: SQL,
files, the time of day.

An entry is sealed as one text, the canonical JSON (sorted keys, no spaces, ASCII only) of all that
``as_json`` shows but the hash; the hash is the SHA-256 of that text.  The text names the hash of
the entry before, which makes the chain.  So a line of ``audit export`` proves itself: take
``hash`` out, write the rest canonically, hash it.

A change, a gap and a wrong link show.  A cut-off tail, or a chain sealed anew from some entry to
the end, shows only against a hash that was kept elsewhere (``head``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from ..model import Reason
from .interface import Entry, Flaw, Kind, Record

GENESIS = "0" * 64
"""What the first entry names as the hash before it."""

_RECORD = tuple(field.name for field in fields(Record))
_UNREADABLE = Record(
    kind=Kind.OUTCOME,
    command="damaged",
    actor="",
    thread="",
    api_url="",
    repo="",
    number=0,
    family="",
    marker="",
    action="damaged",
    reason=Reason(code="damaged", detail="the entry cannot be read; audit verify says more"),
)


@dataclass(frozen=True, slots=True)
class Sealed:
    """An entry as an engine stores it: nothing else of it needs to be kept."""

    seq: int
    text: str
    hash: str


class Damaged(Exception):
    """The stored entry is not what was sealed; the message completes ``entry 7 ...``."""


def stamp(seconds: float) -> str:
    """Epoch seconds as UTC, ISO 8601 with milliseconds and ``Z``; sorts as text."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def to_bytes(body: str) -> bytes:
    """The exact bytes of a comment's body; a lone surrogate, which JSON can bring, is kept."""
    return body.encode("utf-8", "surrogatepass")


def from_bytes(content: bytes) -> str:
    """The body back from its bytes."""
    return content.decode("utf-8", "surrogatepass")


def digest(content: bytes) -> str:
    """Hex SHA-256 of exact bytes: the key of a body, the hash of a sealed text."""
    return hashlib.sha256(content).hexdigest()


def seal(
    record: Record, *, seq: int, at: str, version: str, replaced: str | None, previous: str
) -> Sealed:
    """Seal *record* as entry *seq*; *replaced* is a body's key, *previous* the hash before."""
    entry = Entry(
        seq=seq,
        at=at,
        version=version,
        record=record,
        replaced=replaced,
        previous=previous,
        hash="",
    )
    told = as_json(entry)
    del told["hash"]
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return Sealed(seq=seq, text=text, hash=digest(text.encode()))


def as_json(entry: Entry) -> dict[str, Any]:
    """The entry as one flat JSON object, as ``audit log``, ``show`` and ``export`` print it."""
    record = entry.record
    return {
        "seq": entry.seq,
        "at": entry.at,
        "version": entry.version,
        **{name: getattr(record, name) for name in _RECORD},
        "reason": asdict(record.reason) if record.reason else None,
        "request_ids": list(record.request_ids),
        "requests": dict(record.requests),
        "replaced": entry.replaced,
        "previous": entry.previous,
        "hash": entry.hash,
    }


def opened(sealed: Sealed) -> Entry:
    """The entry, proven to be what was sealed; raises ``Damaged``."""
    if not isinstance(sealed.text, str) or digest(to_bytes(sealed.text)) != sealed.hash:
        raise Damaged("was changed after it was written")
    entry = _decoded(sealed)
    if entry.seq != sealed.seq:
        raise Damaged(f"holds what was written as entry {entry.seq}")
    return entry


def shown(sealed: Sealed) -> Entry:
    """The entry as far as it can be read, for people to look at; proves nothing."""
    try:
        return replace(_decoded(sealed), seq=sealed.seq)
    except Damaged:
        return Entry(
            seq=sealed.seq,
            at="",
            version="",
            record=_UNREADABLE,
            replaced=None,
            previous="",
            hash=str(sealed.hash),
        )


def _decoded(sealed: Sealed) -> Entry:
    """Read the text leniently: what a later version adds is passed over."""
    try:
        told = json.loads(sealed.text)
        return Entry(
            seq=told["seq"],
            at=told["at"],
            version=told["version"],
            record=_record(told),
            replaced=told["replaced"],
            previous=told["previous"],
            hash=sealed.hash,
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Damaged("cannot be read") from error


def _record(told: Mapping[str, Any]) -> Record:
    known = {name: told[name] for name in _RECORD if name in told}
    reason = told.get("reason")
    return Record(
        **{
            **known,
            "kind": Kind(told["kind"]),
            "reason": None if reason is None else Reason(**reason),
            "request_ids": tuple(told.get("request_ids", ())),
            "requests": dict(told.get("requests", {})),
        }
    )


def verify(
    entries: Iterable[Sealed],
    *,
    bodies: Iterable[tuple[str, bytes]],
    listed: Mapping[int, str],
    head: str | None = None,
) -> list[Flaw]:
    """Prove the chain; *entries* come in order, oldest first.

    *bodies* are the kept ones by key, *listed* the threads of the intents that the engine holds
    to be open, by entry number.  *head* is a hash that must be in the chain.
    """
    spoiled = {key for key, content in bodies if not is_body(key, content)}
    walk = _Walk(spoiled, head)
    for sealed in entries:
        walk.step(sealed)
    walk.conclude(listed)
    return walk.flaws


def is_body(key: str, content: bytes) -> bool:
    """Whether a kept body is what its key says."""
    return isinstance(content, bytes) and digest(content) == key


class _Walk:
    """One walk along the chain, and what was found on the way."""

    def __init__(self, spoiled: set[str], head: str | None) -> None:
        self.flaws: list[Flaw] = []
        self._spoiled = spoiled
        self._unclaimed = set(spoiled)
        self._head = head
        self._head_seen = False
        self._last = 0
        self._previous = GENESIS
        self._open: dict[int, str] = {}

    def step(self, sealed: Sealed) -> None:
        """Judge one entry against the one before."""
        missing = sealed.seq - self._last - 1
        if missing:
            self._found(self._last + 1, _missing(self._last + 1, sealed.seq - 1))
        try:
            entry = opened(sealed)
        except Damaged as damage:
            self._found(sealed.seq, f"entry {sealed.seq} {damage}")
        else:
            self._judge(entry, follows=not missing)
        self._last, self._previous = sealed.seq, sealed.hash
        self._head_seen = self._head_seen or sealed.hash == self._head

    def conclude(self, listed: Mapping[int, str]) -> None:
        """Judge what only the whole chain can tell."""
        if not self.flaws:
            self._compare(listed)
        for key in sorted(map(str, self._unclaimed)):
            self._found(None, f"the kept body {key} is not what its key says, and no entry's")
        if self._head is not None and not self._head_seen:
            self._found(
                None,
                f"no entry has the hash {self._head[:80]}: the log ends at entry {self._last} and"
                " was cut off before that one, was sealed anew, or is another journal's",
            )

    def _judge(self, entry: Entry, *, follows: bool) -> None:
        if follows and entry.previous != self._previous:
            self._found(entry.seq, f"entry {entry.seq} does not follow from what is now before it")
        if entry.replaced in self._spoiled:
            self._unclaimed.discard(entry.replaced)
            self._found(entry.seq, f"the body kept with entry {entry.seq} was changed")
        if entry.record.kind is Kind.INTENT:
            self._open[entry.seq] = entry.record.thread
        elif entry.record.intent is not None:
            self._open.pop(entry.record.intent, None)

    def _compare(self, listed: Mapping[int, str]) -> None:
        for seq in sorted({seq for seq, _ in self._open.items() ^ listed.items()}):
            self._found(seq, f"the list of open intents is wrong about entry {seq}")

    def _found(self, seq: int | None, problem: str) -> None:
        self.flaws.append(Flaw(seq=seq, problem=problem))


def _missing(first: int, last: int) -> str:
    return (
        f"entry {first} is missing" if first == last else f"entries {first} to {last} are missing"
    )

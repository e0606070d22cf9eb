"""The audit chain: sealing entries and opening them again.

What may live here: pure functions over entries, the same for every engine.  What may not: SQL,
files, the time of day, the proof of a whole log (``proof``).

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
from .interface import Entry, Kind, Record

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


@dataclass(frozen=True, slots=True)
class Draft:
    """A text to be sealed, without what only the end of the chain can tell."""

    parts: tuple[str, str, str]
    """The hash of the entry before belongs between the first two, the number before the last."""

    def sealed(self, seq: int, previous: str) -> Sealed:
        """Seal it as entry *seq*, after the entry with the hash *previous*."""
        before, between, after = self.parts
        text = f"{before}{previous}{between}{seq}{after}"
        return Sealed(seq=seq, text=text, hash=digest(text.encode()))


def draft(record: Record, *, at: str, version: str, replaced: str | None) -> Draft:
    """Write down *record*; *replaced* is a body's key."""
    entry = Entry(
        seq=0, at=at, version=version, record=record, replaced=replaced, previous="", hash=""
    )
    told = as_json(entry)
    del told["hash"]
    first, second, third = (
        _canonical({key: told[key] for key in told if low < key < high})[1:-1]
        for low, high in (("", "previous"), ("previous", "seq"), ("seq", "~"))
    )
    return Draft((f'{{{first},"previous":"', f'",{second},"seq":', f",{third}}}"))


def _canonical(told: Mapping[str, Any]) -> str:
    return json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def seal(
    record: Record, *, seq: int, at: str, version: str, replaced: str | None, previous: str
) -> Sealed:
    """Seal *record* as entry *seq*; *replaced* is a body's key, *previous* the hash before."""
    return draft(record, at=at, version=version, replaced=replaced).sealed(seq, previous)


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
    if not _is_whole(sealed):
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


def is_body(key: str, content: bytes) -> bool:
    """Whether a kept body is what its key says."""
    return isinstance(content, bytes) and digest(content) == key


def first_break(entries: Iterable[Sealed]) -> int | None:
    """The number of the first of neighbouring entries that was changed or does not follow.

    It takes a fraction of the time of ``verify``, and proves less: only texts, hashes and links.
    """
    before: Sealed | None = None
    for sealed in entries:
        if not _is_whole(sealed) or not _follows(sealed, before):
            return sealed.seq if isinstance(sealed.seq, int) else 0
        before = sealed
    return None


def _is_whole(sealed: Sealed) -> bool:
    return isinstance(sealed.text, str) and digest(to_bytes(sealed.text)) == sealed.hash


def _follows(sealed: Sealed, before: Sealed | None) -> bool:
    # Within a JSON text these characters, unescaped, are nowhere but where the keys are.
    if f',"seq":{sealed.seq},' not in sealed.text:
        return False
    linked = before is None or f',"previous":"{before.hash}",' in sealed.text
    return linked and (before is None or sealed.seq == before.seq + 1)

"""The JSON documents, as plain dictionaries (design, section 3).

What may live here: the shape of each document, for success and for failure.  What may not:
printing, exit codes, requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..hooks import EVENTS
from ..journal.interface import Entry
from ..model import ReadResult, Reason, WriteResult
from .documents_stores import RECONCILE, STATES

if TYPE_CHECKING:
    from ..burst import BurstResult
    from ..burst.flushing import Delivery

SCHEMA_VERSION = 1
METHODS = ("GET", "POST", "PATCH", "DELETE")
Document = dict[str, Any]


@dataclass(slots=True)
class Subject:
    """What a command is about, as far as it is known by now; failures name it."""

    family: str | None = None
    marker: str | None = None
    repo: str | None = None
    number: int | None = None
    surface: str | None = None


def plain(value: Any) -> Any:
    """Turn frozen values into what JSON knows; an unknown line is left out of a reason."""
    if isinstance(value, Reason):
        line = {} if value.line is None else {"line": value.line}
        return {"code": value.code, "detail": value.detail, **line}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def written(result: WriteResult) -> Document:
    """The document of ``write``, ``delete`` and ``restore``; each method is counted, zero too."""
    document: Document = plain(result)
    document["requests"] = {method: result.requests.get(method, 0) for method in METHODS}
    return document


def bursted(result: BurstResult) -> Document:
    """The document of ``burst``: a write's document and a status for each entry, in order."""
    entries = [{**written(entry), "status": entry.status.value} for entry in result.results]
    return {**plain(result), "results": entries}


def delivered(value: Delivery) -> Document:
    """One queued write that was flushed: a write's document, its status and its id."""
    return {**written(value), "status": value.status.value, "id": value.id}


def found(result: ReadResult, *, body: bool) -> Document:
    """One marker comment; *body* is left out of lists."""
    document: Document = plain(result)
    if not body:
        del document["body"]
    return document


def entry(value: Entry) -> Document:
    """One audit entry, flat."""
    record = plain(value.record)
    rest = {"replaced": value.replaced, "previous": value.previous, "hash": value.hash}
    return {"seq": value.seq, "at": value.at, "version": value.version, **record, **rest}


def failed(command: str, *, action: str, reason: Reason, subject: Subject, result: Any) -> Document:
    """The document of a command that did not end well: its usual keys, null where unknown."""
    if isinstance(result, WriteResult):
        document = written(result)
    elif isinstance(result, ReadResult):
        document = found(result, body=True)
    elif isinstance(result, dict):
        document = result
    else:
        document = {**_usual(command), **_known(command, subject)}
    return {**document, "action": action, "reason": plain(reason)}


def _usual(command: str) -> Document:
    """The keys of a command; all that stands below ``state`` has some in common."""
    group, _, rest = command.partition(" ")
    store, _, verb = rest.partition(" ")
    common: Document = {"store": store or None, "verb": verb or None, "path": None, "warnings": []}
    return {**(common if group == "state" else {}), **EMPTY.get(command, {})}


def _known(command: str, subject: Subject) -> Document:
    keys = EMPTY.get(command, {})
    return {name: value for name, value in plain(subject).items() if name in keys}


_WRITE: Document = {
    **dict.fromkeys(field.name for field in fields(WriteResult)),
    "extras": [],
    "preserved": [],
    "warnings": [],
    "requests": dict.fromkeys(METHODS, 0),
}
_READ: Document = {
    **dict.fromkeys(field.name for field in fields(ReadResult)),
    "extras": [],
    "problems": [],
}
_SPINE: Document = {
    "repo": None,
    "number": None,
    "outcome": None,
    "detail": None,
    "plan_comment_id": None,
    "slices_comment_id": None,
    "generated_at": None,
    "ports": {},
    "slices": [],
    "slice": None,
    "skipped": [],
}
EMPTY: Mapping[str, Document] = {
    "write": _WRITE,
    "ledger": _WRITE,
    "mutex acquire": _WRITE,
    "mutex adopt": _WRITE,
    "mutex resolve": _WRITE,
    "delete": _WRITE,
    "restore": _WRITE,
    "read": _READ,
    "burst": {"results": [], "problems": []},
    "list": {"markers": None},
    "spine": _SPINE,
    "reconcile": RECONCILE,
    "lint": {"findings": None, "skipped": None, "fixed": None},
    "recover": {"settled": None},
    "flush": {"results": None},
    "queue list": {"queued": None},
    "queue drop": {"dropped": None},
    **STATES,
    "registry list": {"rows": None, "families": None},
    "audit log": {"entries": None},
    "audit export": {"entries": None},
    "audit verify": {"problems": None},
    "registry check": {"problems": None},
    "doctor": {"checks": None},
    "demo": {"steps": None},
    **{f"hook {event}": {"event": event, "answer": None, "troubles": []} for event in EVENTS},
}
"""The keys of each command's document, for failures that came before there was a result."""

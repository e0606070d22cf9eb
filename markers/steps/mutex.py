"""The record of a run's lock: as it is acquired, adopted and resolved.

What may live here: one record's text and how its status may move (contract, statement 29).  What
may not: who holds the lock among several records (``readers``), and writing.

::

    unresolved ──► adopted ──► resolved
         └────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..body import Body
from ..codec import inert
from ..errors import Conflict, Refused, echo
from ..payload.bullets import read_bullets, write_bullets
from ..payload.document import Document
from ..payload.flawed import Flawed

UNRESOLVED, ADOPTED, RESOLVED = "unresolved", "adopted", "resolved"
ADOPTER = "adopted_by_session_id"
REASON = "resolved_reason"
UNREADABLE = "record-unreadable"
"""The code of a record that cannot be changed as it stands."""


def acquired(*, number: int, contract_hash: str, now: str, run_id: str) -> str:
    """The payload of a new record; *now* is ISO 8601 in UTC with Z.

    *run_id* tells it from every other record: of two that say the same, each of two callers could
    take the other's for his own.
    """
    record = {
        "schema_version": 1,
        "issue": number,
        "status": UNRESOLVED,
        "contract_hash": contract_hash,
        "launched_at": now,
        "run_id": run_id,
    }
    return "\n".join(write_bullets(record)) + "\n"


def adopted(body: str, session_id: str | None) -> str:
    """The record as one whose run goes on in the session *session_id*, if it has a name.

    The session that has adopted it gets the same text back.  Raises ``Conflict``
    (``already-adopted``, ``already-resolved``) and ``Refused`` (``record-unreadable``).
    """
    record = _record(body)
    status, adopter = record.value["status"], record.value.get(ADOPTER)
    wanted = None if session_id is None else _one_line(session_id, "a session's id")
    if status == RESOLVED:
        why = echo(str(record.value.get(REASON) or "no reason given"))
        raise Conflict("already-resolved", f"the run is over ({why}): acquire the lock anew")
    if status == ADOPTED and adopter not in (None, "") and str(adopter) != wanted:
        detail = f"session {echo(str(adopter))} has adopted it already: `mutex resolve` ends that"
        raise Conflict("already-adopted", detail)
    named = {} if wanted is None else {ADOPTER: wanted}
    return _with(body, record, {"status": ADOPTED, **named})


def resolved(body: str, reason: str) -> str:
    """The record as one of a run that is over; the first reason that was given stands.

    Raises ``Refused`` (``record-unreadable``).
    """
    record = _record(body)
    wanted = _one_line(reason, "a reason")
    if record.value["status"] == RESOLVED:
        return body
    return _with(body, record, {"status": RESOLVED, REASON: wanted})


def _record(body: str) -> Document:
    try:
        record = read_bullets(Body(body).lines[1:], first_line=2)
    except Flawed as flawed:
        problem = flawed.problem
        raise Refused(UNREADABLE, problem.reason().detail, line=problem.line) from flawed
    status = record.value.get("status")
    if status not in (UNRESOLVED, ADOPTED, RESOLVED):
        detail = f"status is {echo(str(status))!r}, not unresolved, adopted or resolved"
        raise Refused(UNREADABLE, detail, line=record.line_of(("status",)))
    return record


def _one_line(text: str, what: str) -> str:
    """Free text as one line that cannot be taken for a marker."""
    line = " ".join(inert(text).split())
    if not line:
        raise Refused("empty", f"{what} is empty")
    return line


def _with(body: str, record: Document, fields: Mapping[str, Any]) -> str:
    """Set some bullets; a new one is put below the status, and no other line changes."""
    text = body
    for key, value in fields.items():
        if str(record.value.get(key)) != str(value):
            text = _set(text, record, key, write_bullets({key: value}))
    return text


def _set(text: str, record: Document, key: str, bullet: Sequence[str]) -> str:
    if key in record.value:
        line = record.line_of((key,))
        return Body(text).replaced(line, line, bullet)
    return Body(text).inserted(record.line_of(("status",)), bullet)

"""What was decided at the gates of a conversation, one JSON object a line (row SMC-21).

What may live here: what an event has to say, its line, reading a log; pure.  What may not: where a
log is, appending to it.

A finding's key is a decision's id too, so an id is any one word: the slug that the rules began with
would refuse the keys that reviews use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import clock
from ..errors import Refused, echo
from ..model import MAX_NUMBER

PHASES = ("experience", "design", "plan", "orchestration", "review")
OUTCOMES = ("asked", "gate-fails", "declined", "same-decision-resume", "greenfield-defer")
CLASSES = ("load-bearing", "routine", "not-applicable")
REVIEW = "review-disposition"
WINDOWS = ("pre-ask", "disposition", "judge-merge", "unknown", REVIEW)
ISSUE, PULL_REQUEST = "issue_number", "pull_request_number"
REQUIRED = (
    "decision_id",
    "phase",
    "outcome",
    "classification",
    "window_position",
    "timestamp",
)
OPTIONAL = (ISSUE, PULL_REQUEST, "session_key", "skip_reason")
_ID = re.compile(r"\S{1,200}")
Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Log:
    """What a log says: its events in order, and the lines (from 1) that are none."""

    events: tuple[Event, ...] = ()
    unread: tuple[int, ...] = ()


def _is_one_of(words: tuple[str, ...]) -> Callable[[Any], str | None]:
    return lambda value: None if value in words else f"is none of {', '.join(words)}"


def _is_id(value: Any) -> str | None:
    good = isinstance(value, str) and _ID.fullmatch(value)
    return None if good else "is not one word of up to 200 characters"


def _is_time(value: Any) -> str | None:
    try:
        clock.epoch(value)
    except (ValueError, TypeError):
        return "is no ISO 8601 time with a zone"
    return None


def _is_number(value: Any) -> str | None:
    good = type(value) is int and 1 <= value <= MAX_NUMBER
    return None if good else "is no number of an issue or pull request"


def _is_text(value: Any) -> str | None:
    return None if isinstance(value, str) else "is no text"


RULES: Mapping[str, Callable[[Any], str | None]] = {
    "decision_id": _is_id,
    "phase": _is_one_of(PHASES),
    "outcome": _is_one_of(OUTCOMES),
    "classification": _is_one_of(CLASSES),
    "window_position": _is_one_of(WINDOWS),
    "timestamp": _is_time,
    ISSUE: _is_number,
    PULL_REQUEST: _is_number,
    "session_key": _is_text,
    "skip_reason": _is_text,
}
"""From a field to what is wrong with a value; None where nothing is."""


def problems(event: Event) -> list[str]:
    """All that is wrong with an event."""
    found = [f"{name} is missing" for name in REQUIRED if name not in event]
    found += [f"{echo(name)} is not known" for name in event if name not in RULES]
    for name, rule in RULES.items():
        if name in event and (wrong := rule(event[name])):
            found.append(f"{name} {wrong}")
    return found + _contradictions(event)


def _contradictions(event: Event) -> list[str]:
    wanted = PULL_REQUEST if event.get("window_position") == REVIEW else ISSUE
    found = []
    if [name for name in (ISSUE, PULL_REQUEST) if name in event] != [wanted]:
        found.append(f"exactly one number goes with its window_position: {wanted}")
    if event.get("outcome") == "asked" and "skip_reason" in event:
        found.append("skip_reason is for what was not asked")
    return found


def line(event: Event) -> bytes:
    """The event as one line; raises ``Refused`` (``gate-event``) with all that is wrong."""
    wrong = problems(event)
    if wrong:
        raise Refused("gate-event", f"the event is not appended: {'; '.join(wrong)}")
    return json.dumps(event).encode() + b"\n"


def event_of(data: bytes) -> Event:
    """Read one event; raises ``Refused`` (``gate-event``) for what is no JSON object."""
    found = _object(data)
    if found is None:
        raise Refused("gate-event", "what was given is not one JSON object")
    return found


def read(data: bytes) -> Log:
    """Read a log: lines that are no event, a torn last one too, are counted and passed over."""
    events: list[Event] = []
    unread: list[int] = []
    for number, each in enumerate(data.split(b"\n"), start=1):
        if not each.strip():
            continue
        found = _object(each)
        if found is None or problems(found):
            unread.append(number)
        else:
            events.append(found)
    return Log(tuple(events), tuple(unread))


def _object(data: bytes) -> Event | None:
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None

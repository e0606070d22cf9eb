"""The queue of proposed follow-ups: its state line, and the keys that it holds.

What may live here: finding both in a body.  What may not: what a proposal says (its schema), which
state may follow which (``steps``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..body import Body
from ..errors import echo, line_at
from .fenced import yaml_fences
from .flawed import Flawed
from .problems import Problem

STATES = ("proposed", "claimed", "consumed")
"""In the order in which they follow one another, one step at a time."""
_LINE = re.compile(r"[ \t]*state:[ \t]*(.*?)[ \t]*")
# Found in the text, so that a payload that cannot be read loses no key.
_KEY = re.compile(r"followup_key:[ \t]*[\"']?(followup-[0-9a-f]{16})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The word of the state line, and the line."""

    word: str
    line: int


def state_of(body: Body) -> State:
    """The one state line between the marker and the payload; raises ``Flawed`` (``state``)."""
    found = _state_lines(body)
    if not found:
        raise Flawed(_problem(None, f"there is no line 'state: {STATES[0]}' before the payload"))
    if len(found) > 1:
        first, second = found[0].line, found[1].line
        raise Flawed(_problem(second, f"there are two state lines, see {line_at(first)}"))
    if found[0].word not in STATES:
        detail = f"{echo(found[0].word)!r} is not one of {', '.join(STATES)}"
        raise Flawed(_problem(found[0].line, detail))
    return found[0]


def _state_lines(body: Body) -> list[State]:
    fences = yaml_fences(body)
    before = range(2, fences[0].first if fences else len(body.lines) + 1)
    matches = ((n, _LINE.fullmatch(body.line(n))) for n in before if n not in body.fenced)
    return [State(word=match[1], line=n) for n, match in matches if match]


def _problem(line: int | None, detail: str) -> Problem:
    return Problem(code="state", detail=detail, field="state", line=line)


def keys_in(text: str) -> frozenset[str]:
    """The follow-up keys that a body holds, whether or not it can be read."""
    return frozenset(_KEY.findall(text))

"""The JSON that a harness sends to a hook, and the JSON that it wants back.

What may live here: reading and shaping, pure.  What may not: what is said.

Claude Code and Codex agree in all that is read here: ``trigger`` of a compaction, and
``tool_input.command`` of a shell command.  Both take ``additionalContext`` for what the model is to
see.  No permission is ever answered: ``permissionDecision: allow`` would skip the user's own
question in Claude Code, and Codex takes it for a failure.  Nor is the event's ``cwd`` read, which
follows every ``cd`` of the model: where a project is, the harness says by ``CLAUDE_PROJECT_DIR``
and by where it starts the hook.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LARGEST = 4 * 1024 * 1024
"""Bytes of an event that are read; what is pasted into a prompt can be long."""


class Unreadable(ValueError):
    """The event is not what a harness sends; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What an event says, as far as hooks ask; None where it says nothing of the kind."""

    trigger: str | None = None
    command: str | None = None


def read(data: bytes) -> Event:
    """Read an event; nothing at all is an event that says nothing.  Raises ``Unreadable``."""
    if len(data) > LARGEST:
        raise Unreadable(f"it has more than {LARGEST:,} bytes")
    if not data.strip():
        return Event()
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        raise Unreadable("it is not JSON") from None
    if not isinstance(told, dict):
        raise Unreadable("it is not a JSON object")
    tool = told.get("tool_input")
    return Event(
        trigger=_text(told, "trigger"),
        command=_text(tool, "command") if isinstance(tool, dict) else None,
    )


def _text(told: Mapping[str, Any], key: str) -> str | None:
    value = told.get(key)
    return value if isinstance(value, str) else None


def answer(name: str, context: str) -> Mapping[str, Any]:
    """The document that hands *context* to the model."""
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}}

"""What each store hands to another machine, and how it takes that in again.

What may live here: the two directions of each store, pure.  What may not: whether anything is
handed over (``reconciler``), how it is written down (``payload.session_state``).

Never handed over are ids of sessions, prompts, paths, and what gives an agent rights: what comes
out of a comment must not decide what a machine runs (stores, point 10).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from . import agent_box, session_md, trusted_memory
from .declared import Store
from .engine import Codec
from .json_text import JsonText
from .memory import store as memory_store
from .review_state import ReviewCodec, ReviewState
from .session_yaml import STORE as SESSION_YAML
from .session_yaml import require_characters
from .session_yaml_form import CODEC as SESSION_YAML_CODEC
from .session_yaml_form import State

T = TypeVar("T")
Content = Mapping[str, Any]
"""Values of JSON by the name of the field that a row may publish."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover(Generic[T]):
    """One store, seen as what it hands over."""

    store: Store
    codec: Codec[T]
    give: Callable[[T], Content]
    """All that could be handed over; a row's ``publishes`` picks from it."""
    take: Callable[[T, Content], T]
    """The state with the content in it; raises ``Refused`` for what the store cannot hold."""
    writer: str | None = None
    """As whom it is taken in, where the store says who may change what."""


def handovers(number: int, *, now: str, new_id: str, session: str) -> Mapping[str, Handover[Any]]:
    """All stores by name.

    *number* is the issue's, *now* the local time, *new_id* for a session that has no id yet,
    *session* the name of the one that asks.
    """
    return {
        session_md.STORE.name: Handover(
            store=session_md.STORE,
            codec=session_md.CODEC,
            give=_give_sections,
            take=_take_sections,
        ),
        SESSION_YAML.name: Handover(
            store=SESSION_YAML,
            codec=SESSION_YAML_CODEC,
            give=_give_task,
            take=lambda state, content: _take_task(
                replace(state, session_id=state.session_id or new_id, last_updated=now), content
            ),
        ),
        trusted_memory.NAME: Handover(
            store=trusted_memory.guest(),
            codec=trusted_memory.CODEC,
            give=_give_muted,
            take=_take_muted,
            writer=trusted_memory.writer_of(session),
        ),
        agent_box.STORE.name: Handover(
            store=agent_box.STORE,
            codec=agent_box.CODEC,
            give=_give_sessions,
            take=_take_sessions,
        ),
        "memory": Handover(
            store=memory_store("review-state"),
            codec=ReviewCodec(number),
            give=lambda state: {"review_state": state.document()},
            take=_take_review,
        ),
    }


_SECTIONS = {
    "constraints": session_md.CONSTRAINTS,
    "decisions": session_md.DECISIONS,
    "open_threads": session_md.THREADS,
}


def _give_sections(text: str) -> Content:
    return {name: session_md.entries(text, section) for name, section in _SECTIONS.items()}


def _take_sections(text: str, content: Content) -> str:
    for name, section in _SECTIONS.items():
        text = session_md.set_entries(text, section, content[name])
    return text


def _give_task(state: State) -> Content:
    task = {
        "name": state.task,
        "status": state.status,
        "predicted_steps": state.predicted_steps,
    }
    return {
        "mode": state.mode,
        "current_task": task,
        "context_summary": state.summary,
        "active_blockers": list(state.blockers),
        "recent_decisions": list(state.decisions),
        "completed_tasks": list(state.completed),
    }


def _take_task(state: State, content: Content) -> State:
    task = content["current_task"]
    lists: dict[str, Any] = {
        "blockers": tuple(content["active_blockers"]),
        "decisions": tuple(content["recent_decisions"]),
        "completed": tuple(content["completed_tasks"]),
    }
    texts = {
        "mode": content["mode"],
        "task": task["name"],
        "status": task["status"],
        "summary": content["context_summary"],
    }
    require_characters([*texts.values(), *(each for names in lists.values() for each in names)])
    return replace(state, predicted_steps=task["predicted_steps"], **texts, **lists)


def _give_muted(document: JsonText) -> Content:
    return {"muted_threads": document.get(trusted_memory.MUTED) or {}}


def _take_muted(document: JsonText, content: Content) -> JsonText:
    trusted_memory.require_known(document)
    return document.put(trusted_memory.MUTED, content["muted_threads"])


_SHOWN = re.compile(r"(?!-)[^\x00-\x1f\x7f-\x9f]{1,150}")


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 150 and agent_box.is_name(value)


def _is_shown(value: object) -> bool:
    return isinstance(value, str) and _SHOWN.fullmatch(value) is not None


_GIVEN = {"agent": _is_name, "remoteControlName": _is_shown}
"""From a field to what it must be, which the family's schema says as well."""
_ARRIVED = {"skipPermissions": False, "remoteControl": False, "hasRun": False, "stopped": True}
"""What a session begins with that another machine has listed: nothing runs of itself."""


def _give_sessions(document: JsonText) -> Content:
    listed = agent_box.sessions(document).items()
    return {
        "sessions": {
            name: {key: entry[key] for key, fits in _GIVEN.items() if fits(entry.get(key))}
            for name, entry in listed
            if isinstance(entry, dict) and _is_name(name)
        }
    }


def _take_sessions(document: JsonText, content: Content) -> JsonText:
    """Add the sessions that are new here; one that is listed stays as it is, and on the list.

    What a session runs, and with which rights, was decided on this machine.
    """
    for name, given in content["sessions"].items():
        if name not in agent_box.sessions(document):
            document = agent_box.add(document, name=name, found={**given, **_ARRIVED})
    return document


def _take_review(state: ReviewState, content: Content) -> ReviewState:
    return replace(state, **(content["review_state"] or {}))

"""``.agent/sessions/latest.yaml``: what an agent was at, for the session after a reset.

What may live here: what the store declares, and what its verbs make of its state; pure.  What may
not: files and locks (``engine``), how the state stands in the file (``session_yaml_form``).

The rules are those of the stores' page, "Store session-yaml"; its numbers are in the names of the
tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import Refused, echo
from .declared import OnBroken, Store
from .session_yaml_form import State, with_new

KEPT_DECISIONS = 10
LONGEST_LINE = 80
"""Characters of a summary; a longer one stands as a block."""

STORE = Store(
    name="session-yaml",
    file="latest.yaml",
    owner="update_state.py of skill-session-state",
    survival="within-worktree",
    on_broken=OnBroken.START_ANEW,
    volatile=(("last_updated",),),
    chain=("what the user says", "latest.yaml"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one call of ``update`` says."""

    mode: str
    task: str
    status: str
    summary: str
    predicted_steps: int = 0
    add_decisions: tuple[str, ...] = ()
    add_blockers: tuple[str, ...] = ()
    add_completed: tuple[str, ...] = ()
    clear_blockers: bool = False
    clear_first: bool = False
    """Clear, then add; with ``clear_blockers`` alone, what the same call adds is lost, as ever."""


def update(before: State, change: Change, *, now: str, new_id: str) -> State:
    """The state after a call; *now* is local, *new_id* for a file that has none.

    Raises ``Refused`` (``state-characters``) for what UTF-8 or YAML cannot hold.
    """
    added = (*change.add_decisions, *change.add_blockers, *change.add_completed)
    require_characters((change.mode, change.task, change.status, change.summary, *added))
    return replace(
        before,
        session_id=before.session_id or new_id,
        last_updated=now,
        mode=change.mode,
        task=change.task,
        status=change.status,
        predicted_steps=change.predicted_steps,
        summary=_ended(change.summary),
        blockers=_blockers(before.blockers, change),
        decisions=_newest(before.decisions, change.add_decisions),
        completed=with_new(before.completed, change.add_completed),
    )


def loses_blockers(change: Change) -> bool:
    """Whether what the call adds to the blockers goes with those that it clears."""
    return bool(change.clear_blockers and change.add_blockers and not change.clear_first)


def unread(state: State) -> str:
    """What there is to say of lines that could not be read; empty where all could be."""
    lines = [line.removeprefix("# ") for line in state.unread]
    count = f"{len(lines)} lines" if len(lines) > 1 else "one line"
    return f"{count} of it cannot be read, the first: {echo(lines[0])}" if lines else ""


def to_restore(state: State) -> Mapping[str, Any]:
    """What a session that begins takes over from the last one."""
    return {
        "mode": state.mode,
        "task": state.task,
        "status": state.status,
        "summary": said(state.summary),
        "blockers": list(state.blockers),
    }


def said(summary: str) -> str:
    """A summary as it was said: the line feed that ends a block is the block's own."""
    return summary.removesuffix("\n")


def _blockers(before: tuple[str, ...], change: Change) -> tuple[str, ...]:
    kept = () if change.clear_blockers or change.clear_first else before
    return kept if loses_blockers(change) else with_new(kept, change.add_blockers)


def _newest(before: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return (*before, *new)[-KEPT_DECISIONS:] if new else before


def _ended(summary: str) -> str:
    """A summary that stands as a block ends its last line."""
    is_block = "\n" in summary or len(summary) > LONGEST_LINE
    return f"{summary}\n" if is_block and not summary.endswith("\n") else summary


def require_characters(texts: Iterable[str]) -> None:
    """Raise ``Refused`` (``state-characters``) for what UTF-8 or YAML cannot hold."""
    for text in texts:
        if any(each == "\0" or "\ud800" <= each <= "\udfff" for each in text):
            raise Refused("state-characters", f"'{echo(text)}' holds what is no character of UTF-8")

"""How long an update of a local store takes: ``python -m bench.updating STORE`` prints seconds.

Lock, fresh read, change, temporary neighbour, fsync, rename and fsync of the directory, on the disk
that the checkout lies on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from markers.caches import (
    agent_box,
    memory,
    review_state,
    session_md,
    session_yaml,
    session_yaml_form,
    trusted_memory,
)
from markers.caches.declared import Store
from markers.caches.engine import Cabinet, Codec
from markers.caches.files import StateFile
from markers.paths import Place, Roots

from .inside import ROOT, tell
from .notes import notes

TIMES = 50
UUID = "7c5f2b8a-1d0e-4f6b-9a3c-5e2d4b6f8a10"


@dataclass(frozen=True, kw_only=True)
class Updates:
    """A store, and the change that is made to it the nth time."""

    store: Store
    codec: Codec[Any]
    change: Callable[[int], Callable[[Any], Any]]


def _work(nth: int) -> Callable[[session_yaml_form.State], session_yaml_form.State]:
    change = session_yaml.Change(
        mode="EXECUTION", task="Import", status=f"step {nth}", summary="Two are left.\nThen more."
    )
    return lambda state: session_yaml.update(state, change, now="", new_id=UUID)


def _review(nth: int) -> Callable[[review_state.ReviewState], review_state.ReviewState]:
    stages = {"defense_complete": bool(nth % 2)}
    now = "2026-07-01T00:00:00Z"
    return lambda state: review_state.changed(state, mode=None, stages=stages, now=now)


STORES = {
    "session-md": Updates(
        store=session_md.STORE,
        codec=session_md.CODEC,
        change=lambda nth: lambda text: session_md.add(text, session_md.THREADS, f"step {nth}"),
    ),
    "session-yaml": Updates(store=session_yaml.STORE, codec=session_yaml_form.CODEC, change=_work),
    "trusted-memory": Updates(
        store=trusted_memory.STORE,
        codec=trusted_memory.CODEC,
        change=lambda nth: lambda state: trusted_memory.mute(state, f"thread {nth}"),
    ),
    "agent-box": Updates(
        store=agent_box.STORE,
        codec=agent_box.CODEC,
        change=lambda nth: lambda state: agent_box.add(state, name=f"s-{nth}", found={}),
    ),
    "memory": Updates(
        store=memory.store("review-state"), codec=review_state.ReviewCodec(12), change=_review
    ),
}


def main(name: str) -> None:
    """Update one store so many times."""
    (ROOT / ".tmp").mkdir(exist_ok=True)
    with TemporaryDirectory(dir=ROOT / ".tmp") as made:
        root = Path(made)
        one = STORES[name]
        place = Place(name, root, (name,), Roots((root,)))
        cabinet = Cabinet(one.store, one.codec, StateFile(place=place))
        if name == "session-md":
            (root / name).write_text(notes(), encoding="utf-8")
        tell(TIMES, lambda nth: cabinet.update(one.change(nth)))


if __name__ == "__main__":
    main(sys.argv[1])

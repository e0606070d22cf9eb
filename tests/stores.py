"""A store of nothing but the engine's own rules, and what surrounds a state file in a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from markers.caches.declared import ANY, OnBroken, Store
from markers.caches.engine import Cabinet
from markers.caches.files import StateFile
from markers.caches.json_codec import JsonCodec
from markers.caches.json_text import JsonText
from markers.paths import Place, Roots

STORE = Store(
    name="sample",
    file="state.json",
    owner="owner",
    survival="within-worktree",
    current=2,
    accepts=frozenset({1, 2}),
    on_broken=OnBroken.START_ANEW,
    volatile=(("seen", ANY, "at"),),
    writers={"guest": (("guests", ANY), ("seen",))},
)
CODEC = JsonCodec("version", '{"version": 2}')


def place(root: Path, *parts: str) -> Place:
    """A file below *root*."""
    return Place(str(root.joinpath(*parts)), root, parts, Roots((root,)))


def state_file(root: Path, *parts: str, wait: float = 0.2, **more: Any) -> StateFile:
    """The state file that the tests share."""
    return StateFile(place=place(root, *(parts or ("state.json",))), wait=wait, **more)


def cabinet(root: Path, **declared: Any) -> Cabinet[JsonText]:
    """The sample store below *root*, declared otherwise where told so."""
    store = replace(STORE, **declared)
    return Cabinet(store, CODEC, state_file(root, posture=store.posture))


def names(root: Path) -> set[str]:
    """What lies in a directory."""
    return {path.name for path in root.iterdir()}


def putting(path: str, value: Any) -> Callable[[JsonText], JsonText]:
    """A change of one field, named with dots."""
    return lambda document: document.put(tuple(path.split(".")), value)

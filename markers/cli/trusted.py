"""What the verbs of ``state trusted-memory`` share: the file, who calls, how a field changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from ..caches import trusted_memory as store
from .common import Invocation
from .stored import chosen, state_file

if TYPE_CHECKING:
    from ..caches.declared import Path, Store
    from ..caches.engine import Cabinet, Updated
    from ..caches.json_text import JsonText
    from ..paths import Place

CALL = f"persist-marker state {store.NAME}"
EXITS = "0 done; 1 failed; 2 usage; 3 refused; 7 unavailable"
SESSION = "NANOCLAW_SESSION_NAME"


def environ(context: click.Context, name: str) -> str:
    """A variable of the environment; one that is not set is empty."""
    call: Invocation = context.find_root().obj
    return call.place.environ.get(name, "")


def session(context: click.Context) -> str:
    """The name of the session that calls."""
    return environ(context, SESSION) or store.DEFAULT


def place(context: click.Context) -> Place:
    """Where ``session-state.json`` is."""
    return chosen(context, "file", store.NAME)


def cabinet(context: click.Context, declared: Store) -> Cabinet[JsonText]:
    """The file, by the rules of who writes it."""
    from ..caches.engine import Cabinet

    return Cabinet(declared, store.CODEC, state_file(context, place(context), declared))


def change(
    context: click.Context,
    verb: Callable[[JsonText], JsonText],
    *,
    field: Path,
    writer: str,
    touch: bool = False,
) -> Updated[JsonText]:
    """Change a *field* as *writer*, who is not the owner, does it; no other field is judged."""
    return cabinet(context, store.guest()).update(
        verb, writer=writer, touch=touch, amiss=store.unfit(field)
    )

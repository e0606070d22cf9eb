"""The box that the options of ``state agent-box`` name, and the answers of its verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..caches import agent_box
from .common import Invocation
from .output import Answer
from .paths import surroundings
from .stored import chosen, state_file, told

if TYPE_CHECKING:
    from ..caches.supervising import Box, Done
    from ..paths import Place

NAME = agent_box.STORE.name
CALL = f"persist-marker state {NAME}"
EXITS = "0 done; 1 failed; 2 usage, no such session; 3 refused; 7 unavailable"
DIRECTORIES = {"side_dir": "side-dir", "live_dir": "live-dir", "transcripts": "transcripts"}
"""From a parameter to the kind of directory."""
_LOCK = "AGENT_BOX_REGISTRY_LOCK_FD"
name_argument = click.argument("name", metavar="NAME")


def registry_of(context: click.Context) -> Place:
    """Where the registry is."""
    return chosen(context, "registry", NAME)


def environ(context: click.Context) -> Mapping[str, str]:
    """The environment, without the variables that are empty."""
    call: Invocation = context.find_root().obj
    return call.place.environ


def home_of(context: click.Context) -> Path:
    """Where sessions without a directory of their own work."""
    call: Invocation = context.find_root().obj
    return surroundings(call.place).home


def box_of(context: click.Context) -> Box:
    """Registry and directories; a lock that the starting program hands over counts as held."""
    from ..caches.engine import Cabinet
    from ..caches.supervising import Box

    file = state_file(context, registry_of(context), agent_box.STORE)
    handed = environ(context).get(_LOCK, "")
    inherited = int(handed) if handed.isascii() and handed.isdigit() else None
    side, live, transcripts = (chosen(context, key, kind) for key, kind in DIRECTORIES.items())
    return Box(
        registry=Cabinet(agent_box.STORE, agent_box.CODEC, replace(file, inherited=inherited)),
        side=side,
        live=live,
        transcripts=transcripts,
    )


def told_of(context: click.Context, **found: Any) -> Answer:
    """The answer of a verb, about the registry."""
    return told(context, registry_of(context), **found)


def answer_of(context: click.Context, done: Done) -> Answer:
    """The answer of a verb that changes something."""
    what = " ".join(filter(None, (done.action.value, done.name, done.launch_id)))
    return told_of(
        context,
        action=done.action.value,
        lines=[what],
        warnings=done.warnings,
        name=done.name,
        launch_id=done.launch_id,
        wrote={"side_file": done.side_file, "registry": done.registry},
    )

"""What a harness's settings say about our hooks, and what is wrong with it.

What may live here: pure functions over a settings document.  What may not: files.

Claude Code's ``settings.json`` and Codex's ``hooks.json`` and ``config.toml`` share one form:
``hooks`` holds, by event, groups of a ``matcher`` and its ``hooks``, of which those of the type
``command`` have a ``command`` line.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import echo
from . import EVENTS

PROGRAM = "persist-marker"
_SHELL = frozenset("$~`*")
"""With one of these a program's name means what the shell makes of it: that is not judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One command line of ours in a harness's settings."""

    event: str
    """The harness's name of the event that it stands under."""
    program: str
    """As the command line spells it."""
    words: tuple[str, ...]
    """What follows the program."""


def entries(document: Any) -> list[Entry]:
    """The entries that call us; what is of another form is not ours."""
    return [
        entry
        for event, command in _commands(document)
        if (entry := _entry(event, command)) is not None
    ]


def _commands(document: Any) -> Iterator[tuple[str, str]]:
    for event, groups in _items(_of(document, "hooks")):
        for group in _list(groups):
            for handler in _list(_of(group, "hooks")):
                command = _of(handler, "command")
                if isinstance(command, str):
                    yield event, command


def _of(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _entry(event: str, command: str) -> Entry | None:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    for at, word in enumerate(words):
        if word.rpartition("/")[2] == PROGRAM and words[at + 1 : at + 2] == ["hook"]:
            return Entry(event=event, program=word, words=tuple(words[at + 1 :]))
    return None


def flaw(entry: Entry, is_there: Callable[[str], bool]) -> str | None:
    """What is wrong with an entry, as a sentence; *is_there* says whether a program is."""
    named = entry.words[1] if len(entry.words) > 1 else ""
    line = echo(" ".join((entry.program, *entry.words)))
    if named not in EVENTS:
        return f"{entry.event} calls `{line}`, which is no hook: {', '.join(EVENTS)} are"
    if EVENTS[named] != entry.event:
        return f"{entry.event} calls `{line}`, the hook of {EVENTS[named]}"
    if _SHELL.isdisjoint(entry.program) and not is_there(entry.program):
        return f"{entry.event} calls `{line}`, but there is no such program on PATH"
    return None

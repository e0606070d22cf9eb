"""What a harness's settings say about our hooks, and what is wrong with it.

What may live here: pure functions over a settings document.  What may not: files, and how a shell
line is read (``shell_lines``).

Claude Code's ``settings.json`` and Codex's ``hooks.json`` and ``config.toml`` share one form:
``hooks`` holds, by event, groups of a ``matcher`` and its ``hooks``, of which those of the type
``command`` have a ``command`` line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import echo
from . import EVENTS, shell_lines
from .shell_lines import Call

TOOL = "Bash"
"""What both harnesses call the tool that runs a command."""
_SHELL = frozenset("$~`*")
"""With one of these a program's name means what the shell makes of it: that is not judged."""
_SWITCHES: tuple[tuple[tuple[str, ...], bool], ...] = (
    (("disableAllHooks",), True),
    (("features", "codex_hooks"), False),
    (("features", "hooks"), False),
)
"""Keys that turn all hooks off, with the value that does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One command line in a harness's settings that calls us."""

    event: str
    """The harness's name of the event that it stands under."""
    line: str
    call: Call
    kind: Any = "command"
    """The handler's ``type``."""
    matcher: Any = None
    """Of the group."""
    grouped: bool = True
    """Whether it stands in the ``hooks`` of a group, as it has to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """What is wrong with an entry, or may be."""

    why: str
    sure: bool = True


def off(document: Any) -> str | None:
    """The key that turns all hooks of this file's harness off, where one does."""
    for keys, value in _SWITCHES:
        found = document
        for key in keys:
            found = _of(found, key)
        if found is value:
            return ".".join(keys)
    return None


def entries(document: Any) -> list[Entry]:
    """The entries that call us; what is of another form is not ours."""
    return [
        Entry(event=event, line=line, call=call, **about)
        for event, line, about in _commands(document)
        for call in shell_lines.calls(line)
    ]


def _commands(document: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for event, groups in _items(_of(document, "hooks")):
        for group in _list(groups):
            about = {"matcher": _of(group, "matcher")}
            for handler in _list(_of(group, "hooks")):
                yield from _command(event, handler, about)
            yield from _command(event, group, {**about, "grouped": False})


def _command(
    event: str, handler: Any, about: dict[str, Any]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    line = _of(handler, "command")
    if isinstance(line, str):
        yield event, line, {**about, "kind": _of(handler, "type")}


def _of(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def flaw(entry: Entry, is_there: Callable[[str], bool]) -> Flaw | None:
    """The worst that is wrong with an entry; *is_there* says whether a program is."""
    said = f"{entry.event} calls `{echo(entry.line)}`"
    call = entry.call
    if not call.program:
        return Flaw(why=f"{said}: it cannot be told whether that is a hook of ours", sure=False)
    if call.event not in EVENTS:
        return Flaw(why=f"{said}, which is no hook: {', '.join(EVENTS)} are")
    if EVENTS[call.event] != entry.event:
        return Flaw(why=f"{said}, the hook of {EVENTS[call.event]}")
    if _is_judged(call) and not is_there(call.program):
        return Flaw(why=f"{said}, but there is no such program on PATH", sure=call.first)
    for is_so, why in _DOUBTS.items():
        if is_so(entry):
            return Flaw(why=f"{said}{why}", sure=False)
    return None


def _is_judged(call: Call) -> bool:
    relative = "/" in call.program and not call.program.startswith("/")
    return _SHELL.isdisjoint(call.program) and not (relative and call.moved)


def _excludes_tool(entry: Entry) -> bool:
    """Whether a matcher keeps the survey guard from the one tool that it is for."""
    if entry.call.event != "pre-tool-use" or entry.matcher in (None, "", "*"):
        return False
    try:
        return re.search(entry.matcher, TOOL) is None
    except (TypeError, re.error, OverflowError, RecursionError):
        return True


_DOUBTS: Mapping[Callable[[Entry], bool], str] = {
    lambda entry: not entry.grouped: ", but not in the `hooks` of a group: the harness skips it",
    lambda entry: entry.kind != "command": ', but its `type` is not "command"',
    _excludes_tool: f", but its matcher does not match {TOOL}",
    lambda entry: entry.call.more: (
        " with more than the two words: that takes longer to start, one that is wrong leaves the "
        "hook silent, and with --json no harness can read the answer"
    ),
}
"""What may be wrong with an entry, the worst first."""

"""The form of ``latest.yaml``: reading it, whoever has written it, and writing it.

What may live here: the fields and how they stand in the file; pure.  What may not: what the verbs
make of them (``session_yaml``), how a line is read (``yaml_lines``).

Order and shape of the lines are those of the program that owns the file, whose reader looks for
them with regular expressions; only what stands in quotes is escaped, which that program did not do.
Keys of somebody else are kept as they stand, behind the store's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import yaml_lines as lines
from .declared import Path
from .engine import Broken

_TEXTS = {
    "session_id": "session_id",
    "last_updated": "last_updated",
    "mode": "mode",
    "context_summary": "summary",
}
_LISTS = {
    "active_blockers": "blockers",
    "recent_decisions": "decisions",
    "completed_tasks": "completed",
}
_TASK = "current_task"
_TASK_TEXTS = {"name": "task", "status": "status"}
_STEPS = "predicted_steps"
_MORE = "more"
_TASK_MORE = "task_more"
_KNOWN = (*_TEXTS, *_LISTS, _TASK, *_TASK_TEXTS, _STEPS)
_COUNT = re.compile(r"[+-]?[0-9]{1,16}")
LEAST_STEPS, MOST_STEPS = -(10**15), 10**15
"""What a file may say, and what may be published."""
_FLOW = re.compile(r"(?:[ \t]*(?:#[^\n]*|---[ \t]*)?\n)*(?:---)?[ \t]*[{\[]")
"""A text whose root, behind blank lines and comments, stands between brackets."""
_UNSEEN = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]')
"""What stands in quotes as an escape only."""
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BLOCK = re.compile(
    "(?!\\s)[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]+\n"
)
"""What a block says to the letter: no blank in front, and nothing that needs an escape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that the file says."""

    session_id: str = ""
    last_updated: str = ""
    """Where the machine stands, without a zone."""
    mode: str = ""
    task: str = ""
    status: str = ""
    predicted_steps: int = 0
    summary: str = ""
    """As YAML has it: one that stands as a block ends with a line feed."""
    blockers: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    task_more: str = ""
    """Lines of somebody else below ``current_task``."""
    more: str = ""
    """Lines of somebody else, as they stand at the end."""
    unread: tuple[str, ...] = field(default=(), compare=False)
    """Those of them that could not be read, and so became comments."""


def with_new(before: tuple[str, ...], new: Iterable[str]) -> tuple[str, ...]:
    """A list that is a set: what is there already is not added."""
    return (*before, *(text for text in dict.fromkeys(new) if text not in before))


def read(text: str) -> State:
    """Read the file, whoever has written it; of a repeated key the first one counts.

    Raises ``Broken`` for a text without any key of the store.
    """
    found: dict[str, Any] = {}
    more: list[str] = []
    unread: list[str] = []
    if _FLOW.match(text):
        raise Broken("it is written between brackets as a whole, which this program does not read")
    for block in lines.blocks(text, _KNOWN):
        rest, strange = _taken(block, found)
        noted = _noted(strange)
        unread += [line for line in noted if line not in map(str.strip, strange)]
        more += [*rest, *noted]
    if not found:
        raise Broken(
            "it holds none of the keys that the store has" if text.strip() else "it is empty"
        )
    return State(**found, more="\n".join(more).strip("\n"), unread=tuple(unread))


def write(state: State) -> str:
    """The file, line for line as its owner spells it."""
    written = [
        f"session_id: {quoted(state.session_id)}",
        f"last_updated: {quoted(state.last_updated)}",
        f"mode: {quoted(state.mode)}",
        "",
        f"{_TASK}:",
        f"  name: {quoted(state.task)}",
        f"  status: {quoted(state.status)}",
        f"  {_STEPS}: {state.predicted_steps}",
        *_indented(state.task_more),
        "",
        f"context_summary: {_text(state.summary)}",
    ]
    for key, name in _LISTS.items():
        texts = getattr(state, name)
        written += ["", f"{key}:", *([f"  - {quoted(text)}" for text in texts] or ["  []"])]
    if state.more:
        written += ["", state.more]
    return "\n".join(written) + "\n"


def quoted(text: str) -> str:
    """A text in quotes, escaped so that JSON and YAML read it alike."""
    return f'"{_UNSEEN.sub(_escaped, text)}"'


class Codec:
    """The form of the store: UTF-8, with either ending of lines."""

    def load(self, data: bytes) -> State:
        """Read it; raises ``Broken``."""
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Broken("it is not UTF-8") from None
        if "\0" in text:
            raise Broken("it holds a NUL, so it is no text")
        return read(text.replace("\r\n", "\n").replace("\r", "\n"))

    def dump(self, value: State) -> bytes:
        """Write it anew."""
        return write(value).encode()

    def fresh(self) -> State:
        """A state that says nothing."""
        return State()

    def version(self, value: State) -> None:
        """There is none."""

    def fields(self, value: State) -> Mapping[Path, Any]:
        """Every field by its path."""
        found: dict[Path, Any] = {(_TASK, _STEPS): value.predicted_steps}
        for key, name in _TASK_TEXTS.items():
            found[_TASK, key] = getattr(value, name)
        for key, name in {**_TEXTS, **_LISTS, _MORE: _MORE, _TASK_MORE: _TASK_MORE}.items():
            found[(key,)] = getattr(value, name)
        return found


CODEC = Codec()


_Rest = tuple[list[str], list[str]]
"""Lines of somebody else as they stand, and lines that are no YAML of the store's."""


def _taken(block: lines.Block, found: dict[str, Any]) -> _Rest:
    """Take what a block says; the answer is its lines that nobody here reads."""
    if block.key in _LISTS:
        name = _LISTS[block.key]
        texts, rest = lines.items(block)
        # A second list of the name is not what the first one says: nothing of it may be lost.
        found[name] = with_new(found.get(name, ()), texts) if name in found else texts
        return [], rest
    if block.key == _TASK and "task" not in found:
        return [], _taken_task(block, found)
    name = _TEXTS.get(block.key, "")
    if name and name not in found:
        found[name], rest = lines.scalar(block.first, block.lines)
        return [], rest
    if not block.key or name or block.key == _TASK:
        return [], block.raw
    return block.raw, []


def _taken_task(block: lines.Block, found: dict[str, Any]) -> list[str]:
    more: list[str] = []
    found.update(task="", status="", predicted_steps=0)
    flow = lines.mapping(block)
    if flow is None:
        left = [block.first] if block.first.strip() else []
        inner = lines.below(block)
    else:
        left, inner = [], [lines.Block(key, text, [f"{key}: {text}"]) for key, text in flow.items()]
    seen: set[str] = set()
    for each in inner:
        name = _TASK_TEXTS.get(each.key, _STEPS if each.key == _STEPS else "")
        if not each.key or name in seen:
            left += each.raw
        elif not name:
            more += each.raw
        else:
            seen.add(name)
            left += _taken_inner(name, each, found)
    found[_TASK_MORE] = "\n".join(more).strip("\n")
    return left


def _taken_inner(name: str, block: lines.Block, found: dict[str, Any]) -> list[str]:
    text, rest = lines.scalar(block.first, block.lines)
    if name != _STEPS:
        found[name] = text
    elif _COUNT.fullmatch(text) and LEAST_STEPS <= int(text) <= MOST_STEPS:
        found[name] = int(text)
    elif text:
        return block.raw
    return rest


def _noted(unread: Iterable[str]) -> list[str]:
    """Lines that are no YAML where they will stand, as comments: nothing is lost."""
    each = (line.strip() for joined in unread for line in joined.split("\n"))
    return [line if line.startswith("#") else f"# {line}" for line in each if line]


def _text(text: str) -> str:
    """A text as a block where ``|`` says just that, else in quotes."""
    if not _BLOCK.fullmatch(text) or text.endswith("\n\n"):
        return quoted(text)
    return "\n".join(["|", *(f"  {line}" for line in text[:-1].split("\n"))])


def _indented(text: str) -> list[str]:
    return [f"  {line}" if line else "" for line in text.split("\n")] if text else []


def _escaped(character: re.Match[str]) -> str:
    return _SHORT.get(character[0]) or f"\\u{ord(character[0]):04x}"

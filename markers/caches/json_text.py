"""A JSON object that is edited where it stands, so that what nobody touched keeps its bytes.

What may live here: finding a member, replacing, adding and removing it.  What may not: what the
members mean.  Numbers, escapes, spacing and order of all other members stay as they were written;
of a repeated key the last counts, as for every reader in use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .declared import Path

INDENT = 2
_SPACE = re.compile(r"[ \t\r\n]*")
_BOM = "\ufeff"


class NotJson(ValueError):
    """The text is no JSON object."""


@dataclass(frozen=True, slots=True)
class _Member:
    """Where a member stands: *start* is its key's quote, *end* is behind its value."""

    key: str
    start: int
    value: int
    end: int


@dataclass(frozen=True)
class JsonText:
    """A JSON object and its text."""

    text: str

    @classmethod
    def read(cls, data: bytes) -> JsonText:
        """Read UTF-8 (a byte order mark is kept); raises ``NotJson``."""
        try:
            made = cls(data.decode())
        except UnicodeDecodeError:
            raise NotJson("it is not UTF-8") from None
        made.value  # noqa: B018 - raises for what is no object
        return made

    @cached_property
    def value(self) -> dict[str, Any]:
        """The object; not to be changed."""
        try:
            found = json.loads(self.text.removeprefix(_BOM), parse_constant=_no_constant)
        except RecursionError:
            raise NotJson("it is nested too deeply") from None
        except ValueError as error:
            raise NotJson(f"it is not JSON ({error})") from None
        if not isinstance(found, dict):
            raise NotJson(f"it holds {_called(found)}, not an object")
        return found

    def get(self, path: Path) -> Any:
        """The value at *path*; None where there is none."""
        found: Any = self.value
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        return found

    def put(self, path: Path, value: Any) -> JsonText:
        """Let *path* hold *value*; objects that are missing on the way are made."""
        return JsonText(_put(self.text, _start(self.text), path, value, depth=1))

    def remove(self, path: Path) -> JsonText:
        """Take the member at *path* out; one that is not there is fine."""
        at = _start(self.text)
        for name in path[:-1]:
            member = _last(_members(self.text, at), name)
            if member is None or self.text[member.value] != "{":
                return self
            at = member.value
        return JsonText(_without(self.text, _members(self.text, at), path[-1]))

    def fields(self) -> Mapping[Path, Any]:
        """Every leaf by its path; an empty object is one."""
        return dict(_leaves(self.value, ()))


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _called(value: Any) -> str:
    kinds = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def _leaves(value: Any, path: Path) -> list[tuple[Path, Any]]:
    if not isinstance(value, dict) or not value:
        return [(path, value)]
    return [leaf for name, inner in value.items() for leaf in _leaves(inner, (*path, name))]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None  # noqa: S101 - it also matches nothing
    return found.end()


def _start(text: str) -> int:
    return _skip(text, len(_BOM) if text.startswith(_BOM) else 0)


def _members(text: str, at: int) -> list[_Member]:
    """The members of the object whose brace is at *at*; the text is known to be JSON."""
    decoder = json.JSONDecoder()
    found: list[_Member] = []
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, end = decoder.raw_decode(text, at)
        value = _skip(text, _skip(text, end) + 1)
        _, after = decoder.raw_decode(text, value)
        found.append(_Member(key, at, value, after))
        at = _skip(text, after)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _last(members: list[_Member], key: str) -> _Member | None:
    return next((each for each in reversed(members) if each.key == key), None)


def _put(text: str, at: int, path: Path, value: Any, depth: int) -> str:
    members = _members(text, at)
    member = _last(members, path[0])
    if member is None:
        for name in reversed(path[1:]):
            value = {name: value}
        return _added(text, at, members, path[0], value, depth)
    if len(path) > 1 and text[member.value] == "{":
        return _put(text, member.value, path[1:], value, depth + 1)
    for name in reversed(path[1:]):
        value = {name: value}
    return text[: member.value] + _written(value, _margin(text, member)) + text[member.end :]


def _margin(text: str, member: _Member) -> str | None:
    """What stands in front of the member on its line; None where others share the line."""
    line = text.rfind("\n", 0, member.start) + 1
    front = text[line : member.start]
    return front if line and not front.strip(" \t") else None


def _written(value: Any, margin: str | None) -> str:
    if margin is None:
        return json.dumps(value)
    return json.dumps(value, indent=INDENT).replace("\n", f"\n{margin}")


def _added(text: str, at: int, members: list[_Member], key: str, value: Any, depth: int) -> str:
    """The text with one more member, spaced as its neighbours are."""
    if not members:
        margin = " " * INDENT * depth
        inner = f"{json.dumps(key)}: {_written(value, margin)}"
        close = text.index("}", at)
        return f"{text[: at + 1]}\n{margin}{inner}\n{margin[INDENT:]}{text[close:]}"
    end, margin_or_none = members[-1].end, _margin(text, members[-1])
    inner = f"{json.dumps(key)}: {_written(value, margin_or_none)}"
    before = " " if margin_or_none is None else f"\n{margin_or_none}"
    return f"{text[:end]},{before}{inner}{text[end:]}"


def _without(text: str, members: list[_Member], key: str) -> str:
    """The text without any member of that name, and with the commas that are left right."""
    kept = [each for each in members if each.key != key]
    if len(kept) == len(members):
        return text
    if not kept:
        first, last = members[0].start, members[-1].end
        return text[: text.rindex("{", 0, first) + 1] + text[_skip(text, last) :]
    body = "".join(
        (_gap(text, members, each) if at else "") + text[each.start : each.end]
        for at, each in enumerate(kept)
    )
    return text[: members[0].start] + body + text[members[-1].end :]


def _gap(text: str, members: list[_Member], member: _Member) -> str:
    """What stands between *member* and the one before it: comma and spacing."""
    before = members[members.index(member) - 1]
    return text[before.end : member.start]

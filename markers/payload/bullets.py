"""``- **key**: value`` bullets: how a report shows an object to people, and reads back.

What may live here: the form of the bullets, both ways.  What may not: which keys there are.

A value is text as it stands there; only ``null`` and plain decimal integers are more, and those of
many digits stay text, since a hash may happen to have no letters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import echo
from .document import Document, Path, Place, repeated
from .flawed import Flawed
from .problems import Problem, dotted, told

_LONGEST = 10
_BULLET = re.compile(r"- \*\*(?P<key>[^*\s](?:[^*\r\n]*[^*\s])?)\*\*:(?:[ \t]+(?P<value>.*))?\Z")
_NEARLY = re.compile(
    r"[ \t]*+[-+*][ \t]++\*\*[ \t]*+(?P<key>[A-Za-z]\w*+)[ \t]*+(?::[ \t]*+\*\*|\*\*[ \t]*+:)",
    re.ASCII,
)
_NESTED = re.compile(r"  - (?P<item>.*)\Z")
_INTEGER = re.compile(r"(?:0|-?[1-9][0-9]*)\Z", re.ASCII)


def read_bullets(lines: Sequence[str], *, first_line: int) -> Document:
    """Read a mapping; *first_line* is the first line's number in the comment.

    Bullets below a key's bullet make a list or, where they have keys, a mapping.  Prose at the
    start of a line is passed over.  Raises ``Flawed`` with every problem.
    """
    reader = _Reader()
    for number, line in enumerate(lines, first_line):
        reader.line(line, number)
    if reader.problems:
        raise Flawed(*told(reader.problems))
    return Document(value=reader.value, place=(first_line, reader.places))


def near_bullets(lines: Sequence[str], *, first_line: int) -> Mapping[str, int]:
    """The keys of lines that were meant for a key's bullet and are prose, and where they stand.

    ``- **key:** value``, ``* **key**: value`` and their like.
    """
    found: dict[str, int] = {}
    for number, line in enumerate(lines, first_line):
        near = _NEARLY.match(line)
        if near and not _BULLET.match(line):
            found.setdefault(near["key"], number)
    return found


def write_bullets(value: Mapping[str, Any]) -> list[str]:
    """The bullets that read back as *value*: texts, integers and None, lists and mappings of them.

    Raises ``ValueError`` for what they cannot say.
    """
    return [line for key, item in value.items() for line in _written(key, item)]


class _Reader:
    """The bullets so far; *key* is that of the bullet which takes what stands below it."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self.places: dict[str, Place] = {}
        self.problems: list[Problem] = []
        self._key: str | None = None
        self._bare = False

    def line(self, line: str, number: int) -> None:
        """Take the next line."""
        bullet = _BULLET.match(line)
        if bullet:
            self._key = bullet["key"]
            self._bare = not (bullet["value"] or "").strip(" \t")
            self._put(self.value, self.places, bullet, number, ())
        elif not line.strip():
            return
        elif line[0] not in " \t":
            self._key = None
        elif self._key is not None:
            self._below(self._key, line, number)

    def _below(self, key: str, line: str, number: int) -> None:
        nested = _NESTED.match(line)
        if not nested or not self._bare:
            why = "stands below a value that is one line; bullets below it need a key without one"
            self._complain("syntax", (key,), why, line, number)
            return
        bullet = _BULLET.match(line[2:])
        if self.value[key] == "":
            self.value[key] = {} if bullet else []
            self.places[key] = (number, {} if bullet else [])
        place = self.places[key]
        places: Any = () if isinstance(place, int) else place[1]
        if isinstance(self.value[key], dict) is not bool(bullet):
            why = "is a bullet of another kind than those above it"
            self._complain("syntax", (key,), why, line, number)
        elif bullet:
            self._put(self.value[key], places, bullet, number, (key,))
        else:
            self.value[key].append(_scalar(nested["item"].strip(" \t")))
            places.append(number)

    def _put(
        self,
        values: dict[str, Any],
        places: dict[str, Place],
        bullet: re.Match[str],
        number: int,
        above: tuple[str, ...],
    ) -> None:
        key = bullet["key"]
        if key in values:
            self.problems.append(repeated((*above, key), number, places[key]))
        values[key] = _scalar((bullet["value"] or "").strip(" \t"))
        places[key] = number

    def _complain(self, code: str, path: Path, why: str, line: str, number: int) -> None:
        detail = f"{echo(line.strip())!r} {why}"
        problem = Problem(code=code, detail=detail, field=dotted(path), line=number)
        self.problems.append(problem)


def _scalar(text: str) -> Any:
    """What a bullet's text stands for."""
    if text in _WORDS:
        return _WORDS[text]()
    if _INTEGER.match(text) and len(text) <= _LONGEST:
        return int(text)
    inside = _unquoted(text)
    return text if inside is None or not _needs_quotes(inside) else inside


_WORDS: Mapping[str, Callable[[], Any]] = {"null": lambda: None, "[]": list, "{}": dict}


def _unquoted(text: str) -> str | None:
    """The text inside JSON's quotes; None where there are none."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return None
    try:
        inside = json.loads(text)
    except ValueError:
        return None
    return inside if isinstance(inside, str) else None


def _needs_quotes(text: str) -> bool:
    """Whether a text would read back as something else; such a one alone is quoted."""
    blank_ends = text != text.strip(" \t") or not text
    return blank_ends or bool(_AMBIGUOUS.search(text)) or _scalar(text) != text


_AMBIGUOUS = re.compile(r"\A\*\*|[\r\n]")
"""What looks like a key, and what is more than a line."""


def _written(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        yield _bullet(key)
        yield from (f"  {_bullet(inner)} {_spelled(each)}" for inner, each in value.items())
    elif isinstance(value, list | tuple) and value:
        yield _bullet(key)
        yield from (f"  - {_spelled(each)}" for each in value)
    else:
        yield f"{_bullet(key)} {_spelled(value)}"


def _bullet(key: str) -> str:
    made = f"- **{key}**:"
    found = _BULLET.match(made)
    if not found or found["key"] != key:
        raise ValueError(f"{echo(key)!r} cannot be the key of a bullet")
    return made


def _spelled(value: Any) -> str:
    if value is None or value in ([], {}, ()):
        return {type(None): "null", dict: "{}"}.get(type(value), "[]")
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if _needs_quotes(value) else value
    if type(value) is int and len(str(value)) <= _LONGEST:
        return str(value)
    raise ValueError(f"{echo(repr(value))} cannot be written as a bullet")

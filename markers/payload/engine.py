"""The JSON Schema engine: compiled once, offline, every pattern in linear time.

What may live here: compiling a schema, and what the engine finds, with its paths put right.  What
may not: words for people (``schema``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .document import Path
from .parts import written_out

MOST_PATTERN = 131_072
"""Bytes of a compiled pattern; each takes time for each byte of a text, see ``work``."""
_MOST_STATES = 262_144
"""Bytes that a pattern may take for what it remembers while it matches."""
_LONGEST = 20
_INDEX = re.compile(r"\+?[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that the engine has against a value."""

    kind: str
    """The engine's own word, such as ``additionalProperties``."""
    path: Path
    """Where in the value, its keys as they are spelled there."""
    facts: Mapping[str, Any]
    where: Path
    """Where in the schema, the keyword last."""


def engine(schema: Any, *, pattern_size: int = MOST_PATTERN) -> Any:
    """The engine for a schema; raises ``ValueError`` for what is none."""
    import jsonschema_rs  # 20 ms, for payloads and overlays only

    # The engine without backtracking: linear time.
    patterns = jsonschema_rs.RegexOptions(size_limit=pattern_size, dfa_size_limit=_MOST_STATES)
    # A value may be of any length, and the engine's own messages are not shown: it is masked.
    return jsonschema_rs.Draft202012Validator(
        schema, pattern_options=patterns, offline=True, mask=""
    )


class Compiled:
    """A schema without references that values are checked against.

    Raises ``ValueError`` for one that is none.
    """

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self._engine = engine(schema)
        self._keywords = _Spelling(schema)

    def valid(self, value: Any) -> bool:
        """Whether nothing is wrong with *value*."""
        return bool(self._engine.is_valid(value))

    def findings(self, value: Any, *, path: Path = (), where: Path = ()) -> Iterator[Finding]:
        """What is wrong with *value*, which stands at *path*; the schema does at *where*.

        The engine finds everything before it tells anything, which takes a dozen microseconds and
        two kilobytes each: ``search`` knows how much that may become.
        """
        spelling = _Spelling(value)
        for error in self._engine.iter_errors(value):
            yield self._finding(error, spelling, path, where)

    def _finding(self, error: Any, spelling: _Spelling, path: Path, where: Path) -> Finding:
        """What the engine found, with that which it found in each form of a choice."""
        facts = error.kind.as_dict()
        if "context" in facts:
            facts["context"] = [
                [self._finding(one, spelling, path, where) for one in form]
                for form in facts["context"]
            ]
        return Finding(
            kind=error.kind.name,
            path=(*path, *spelling.of(error)),
            facts=facts,
            where=(*where, *self._keywords.where(error)),
        )


def value_at(path: Sequence[str | int], value: Any) -> Any:
    """What *path*, which must be there, leads to."""
    for step in path:
        value = value[step]
    return value


@lru_cache(maxsize=64)
def compiled(schema_text: str) -> Compiled:
    """The schema of that text, compiled when it is first asked for; its references written out."""
    return Compiled(written_out(json.loads(schema_text)))


class _Spelling:
    """The keys of a value, or of a schema, as they are spelled.

    The engine takes keys such as ``7`` and ``+007`` for places in a list, and for the same place.
    """

    def __init__(self, value: Any) -> None:
        self._value = value
        self._numbers: dict[int, dict[int, list[str]]] = {}

    def of(self, error: Any) -> Path:
        """Where in the value the engine found something."""
        first, *others = self._spelled(error.instance_path, self._value)
        if others:
            judged = error.instance
            fits = (path for path in (first, *others) if value_at(path, self._value) == judged)
            return next(fits, first)
        return first

    def where(self, error: Any) -> Path:
        """By which keyword of the schema the engine found something."""
        return next(self._spelled(error.schema_path, self._value), ())

    def _spelled(self, path: Sequence[str | int], value: Any) -> Iterator[Path]:
        if not path:
            yield ()
            return
        part, *rest = path
        for key in self._keys(part, value):
            yield from ((key, *inner) for inner in self._spelled(rest, value[key]))

    def _keys(self, part: str | int, value: Any) -> Sequence[str | int]:
        """What a part of a path may stand for, as far as there is such a thing."""
        if isinstance(value, list):
            return (part,) if isinstance(part, int) and part < len(value) else ()
        if not isinstance(value, dict):
            return ()
        if isinstance(part, int):
            return self._numeric(value).get(part, ())
        return (part,) if part in value else ()

    def _numeric(self, mapping: Mapping[str, Any]) -> dict[int, list[str]]:
        if id(mapping) not in self._numbers:
            numbers: dict[int, list[str]] = {}
            for key in filter(_INDEX.fullmatch, mapping):
                short = key.lstrip("+0") or "0"
                if len(short) <= _LONGEST:
                    numbers.setdefault(int(short), []).append(key)
            self._numbers[id(mapping)] = numbers
        return self._numbers[id(mapping)]

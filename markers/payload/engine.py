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
from itertools import islice
from typing import Any

from .document import Path

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


class Compiled:
    """A schema that values are checked against; raises ``ValueError`` for one that is none."""

    def __init__(self, text: str) -> None:
        import jsonschema_rs  # 20 ms, for payloads and overlays only

        self.schema: Any = json.loads(text)
        options = jsonschema_rs.RegexOptions()  # the engine without backtracking: linear time
        # A value may be of any length, and the engine's own messages are not shown: it is masked.
        self._validator = jsonschema_rs.Draft202012Validator(
            self.schema, pattern_options=options, offline=True, mask=""
        )
        self._keywords = _Spelling(self.schema)

    def findings(self, value: Any, most: int | None = None) -> tuple[list[Finding], int]:
        """What is wrong with *value*: *most* findings, and how many there are beyond them."""
        errors = iter(self._validator.iter_errors(value))
        spelling = _Spelling(value)
        found = [self._finding(error, spelling) for error in islice(errors, most)]
        return found, sum(1 for _ in errors)

    def _finding(self, error: Any, spelling: _Spelling) -> Finding:
        """What the engine found, with that which it found in each form of a choice."""
        facts = error.kind.as_dict()
        if "context" in facts:
            forms = facts["context"]
            facts["context"] = [[self._finding(one, spelling) for one in form] for form in forms]
        return Finding(
            kind=error.kind.name,
            path=spelling.of(error),
            facts=facts,
            where=self._keywords.where(error),
        )


def value_at(path: Sequence[str | int], value: Any) -> Any:
    """What *path*, which must be there, leads to."""
    for step in path:
        value = value[step]
    return value


@lru_cache(maxsize=64)
def compiled(schema_text: str) -> Compiled:
    """The schema of that text, compiled when it is first asked for."""
    return Compiled(schema_text)


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

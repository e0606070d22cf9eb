"""A payload against its JSON Schema.

What may live here: which findings count, and how many are told.  What may not: the engine
(``engine``), words (``words``) and rules that a schema cannot say (``validators``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from .comments import cut_texts, hinted
from .document import Document
from .engine import Compiled, Finding, compiled, value_at
from .problems import MORE, MOST, Problem
from .search import Search
from .words import OF_SIZE, Reading, explained

_MORE = Problem(code=MORE, detail="there are more problems of this payload")
_SOMEWHERE = "it is not as its schema wants it, and too large to say where: make it smaller"
_TOO_MUCH = "it holds too much to be checked by its schema in time: make it smaller"


def check(document: Document, schema_text: str, *, at: Sequence[str | int] = ()) -> list[Problem]:
    """What the schema has against the part of *document* at path *at*, by line.

    At most ``MOST`` problems are told, and then that there are more; a last one may warn of
    comments.  A part that would take too long is refused for its size.  Raises ``ValueError`` for a
    text that is no schema.
    """
    schema = compiled(schema_text)
    part = value_at(at, document.value)
    reading = Reading(document=document, at=tuple(at), part=part, schema=schema.schema)
    searches = _searches(part, schema)
    if any(search.too_much for search, _ in searches):
        return [reading.problem("size", (), _TOO_MUCH)]
    told = _first(_found(searches, part), reading)
    if not document.cut:
        return told
    cut = cut_texts(document, schema.schema, tuple(at), {problem.field for problem in told})
    return [*hinted(told, document), *cut]


def _first(found: Iterator[Finding | None], reading: Reading) -> list[Problem]:
    """The first ``MOST`` problems by line, and that there are more if there are."""
    problems: list[Problem] = []
    more = False
    for finding in found:
        more = finding is None or len(problems) > MOST
        if finding is None or more:
            break
        problems += islice(explained(finding, reading), MOST + 1 - len(problems))
    if more and not problems:
        return [reading.problem("schema", (), _SOMEWHERE)]
    told = sorted(problems[:MOST], key=lambda problem: problem.line or 0)
    return [*told, _MORE] if more or len(problems) > MOST else told


def _searches(value: Any, schema: Compiled) -> list[tuple[Search, bool | None]]:
    """Searches for what the engine has against *value*, in which ``1.0`` is no integer.

    For the engine it is one.  So another number is shown to it in that place, and the number
    itself only to be measured: of each search that has to be told, only what is measured counts,
    or what is not.
    """
    fraction = _Fraction()
    shown = Search(json.loads(json.dumps(value), parse_float=fraction), schema)
    return [(shown, False), (Search(value, schema), True)] if fraction.whole else [(shown, None)]


def _found(searches: Sequence[tuple[Search, bool | None]], value: Any) -> Iterator[Finding | None]:
    """What the searches find, and None where one has left off."""
    for search, measured in searches:
        for finding in search.findings():
            if measured is None or _measured(finding, value) is measured:
                yield finding
    if any(search.left_off for search, _ in searches):
        yield None


class _Fraction:
    """Reads floats; of one that is whole it makes another, and *whole* says that there was one."""

    whole = False

    def __call__(self, text: str) -> float:
        value = float(text)
        if not value.is_integer():
            return value
        self.whole = True
        return 0.5


def _measured(finding: Finding, value: Any) -> bool:
    """Whether the engine judged a float by what it amounts to."""
    judged = value_at(finding.path, value)
    if type(judged) is not float:
        return False
    options = finding.facts.get("options", [finding.facts.get("expected_value")])
    alike = any(type(option) is float and option == judged for option in options)
    return finding.kind in OF_SIZE or alike

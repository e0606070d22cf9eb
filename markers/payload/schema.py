"""A payload against its JSON Schema.

What may live here: which findings count, and how many are told.  What may not: the engine
(``engine``), words (``words``) and rules that a schema cannot say (``validators``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .document import Document
from .engine import Compiled, Finding, compiled, value_at
from .problems import MOST, Problem, told
from .words import OF_SIZE, Reading, explained


def check(document: Document, schema_text: str, *, at: Sequence[str | int] = ()) -> list[Problem]:
    """All that the schema has against the part of *document* at path *at*, by line.

    At most ``MOST`` problems are told, and then how many more there are.  Raises ``ValueError``
    for a text that is no schema.
    """
    schema = compiled(schema_text)
    part = value_at(at, document.value)
    reading = Reading(document=document, at=tuple(at), part=part, schema=schema.schema)
    found, beyond = _found(schema, part)
    problems = [problem for each in found for problem in explained(each, reading)]
    beyond += max(0, len(problems) - MOST)
    return list(told(sorted(problems[:MOST], key=lambda p: p.line or 0), beyond))


def _found(schema: Compiled, value: Any) -> tuple[list[Finding], int]:
    """What the engine has against *value*, in which ``1.0`` is no integer.

    For the engine it is one.  So another number is shown to it in that place, and the number
    itself only to be measured.
    """
    fraction = _Fraction()
    shown = json.loads(json.dumps(value), parse_float=fraction)
    if not fraction.whole:
        return schema.findings(value, MOST)
    found = [each for each in schema.findings(shown)[0] if not _measured(each, value)]
    found += [each for each in schema.findings(value)[0] if _measured(each, value)]
    return found[:MOST], len(found[MOST:])


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

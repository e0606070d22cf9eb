"""``fenced-yaml``: one YAML fence that keeps to the family's schema, and what other rules add.

What may live here: the order in which a payload is judged.  What may not: the rules of any one
family.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from ..body import Body
from ..payload.document import Document
from ..payload.fenced import Fenced, the_fence
from ..payload.flawed import Flawed
from ..payload.problems import Problem
from ..payload.schema import check
from ..payload.yaml12 import read_yaml
from .cross_fields import unknown_version
from .interface import Case

Rule: TypeAlias = Callable[[Case, Document], Iterable[Problem]]
"""What a schema cannot say; asked beside the schema, so that all is told at once."""


def validate(case: Case) -> Iterator[Problem]:
    """Judge a family that has a schema and nothing more."""
    return judged(case)


def judged(
    case: Case,
    *,
    payload: Callable[[Body], Fenced] = the_fence,
    versions: Collection[int] = (),
    rules: Sequence[Rule] = (),
) -> Iterator[Problem]:
    """All that is wrong with a fenced payload."""
    try:
        fenced = payload(case.body)
        document = read_yaml(fenced.text, first_line=fenced.first_line)
    except Flawed as flawed:
        yield from flawed.problems
        if flawed.document is None:
            return
        document = flawed.document
    yield from checked(case, document, versions=versions, rules=rules)


def checked(
    case: Case,
    document: Document,
    *,
    versions: Collection[int] = (),
    rules: Sequence[Rule] = (),
) -> Iterator[Problem]:
    """All that is wrong with a payload that was read.

    One whose version is not among *versions* is judged no further: all that could be said about it
    would be a guess.
    """
    unknown = list(unknown_version(document, versions)) if versions else []
    if unknown:
        return iter(unknown)
    applied = rules if isinstance(document.value, dict) else ()
    against_schema = check(document, case.schema or "{}")
    return chain(against_schema, *(rule(case, document) for rule in applied))

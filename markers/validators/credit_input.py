"""``credit-input``: which adapter filled a port (contract, statement 20)."""

from __future__ import annotations

from collections.abc import Iterator

from ..payload.document import Document
from ..payload.problems import Problem
from .cross_fields import as_in_marker
from .fenced_yaml import judged
from .interface import Case


def validate(case: Case) -> Iterator[Problem]:
    """Judge one credit input."""
    return judged(case, rules=(_port,))


def _port(case: Case, document: Document) -> Iterator[Problem]:
    return as_in_marker(case, document, "port", dict(case.marker.params).get("port"))

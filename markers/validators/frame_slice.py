"""``frame-slice``: one step of a plan.

What may live here: what a slice's fields must be.  What may not: how it is read
(``payload.slices``), whether two slices have one id (``frame_slices``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..blocks import Block
from ..payload.document import Document
from ..payload.problems import Problem
from ..payload.slices import read_slice
from .block_rules import judged, the_block
from .cross_fields import problem_at
from .interface import Case

LISTS = ("provides", "depends-on", "ac-refs")
_IN_BRACKETS = re.compile(r"[a-z-]+[ \t]*:[ \t]*\[[^\[\]]*\][ \t]*")


def validate(case: Case) -> Iterator[Problem]:
    """Judge one slice."""
    return judged(case, read=_document, rules=(_lists, _port))


def _document(block: Block) -> Document:
    return read_slice(block).document


def _lists(case: Case, document: Document) -> Iterator[Problem]:
    """Lists that readers do not see: they look at the rest of the key's line alone."""
    block = the_block(case)
    for key in LISTS:
        if isinstance(document.value.get(key), list):
            line = block.inner[document.line_of((key,)) - block.inner_first]
            if not _IN_BRACKETS.fullmatch(line):
                detail = "stands on its key's line, in brackets: readers look nowhere else"
                yield problem_at(document, (key,), "list-form", detail)


def _port(_case: Case, document: Document) -> Iterator[Problem]:
    """A step that fills no port and does not say that it only explores."""
    value = document.value
    if value.get("provides") == [] and not str(value.get("coverage", "")).startswith("exploratory"):
        detail = "is empty: name a port, or say 'coverage: exploratory - WHY'"
        yield problem_at(document, ("provides",), "no-port", detail, warns=True)

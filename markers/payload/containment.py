"""The content of a phase-containment block, and the key by which its finding is told apart.

What may live here: reading a block, and whether its key is one to every reader.  What may not: what
the fields must be (``validators``), which block of a finding counts (``steps``).
"""

from __future__ import annotations

import re

from ..blocks import Block
from .document import Document
from .held import require_closed
from .known import PHASE_CONTAINMENT
from .lines import read_lines
from .problems import Problem

KEY = "finding_key"
_COMMENT = re.compile(r"[ \t]#")
_QUOTES = ("'", '"')


def read_containment(block: Block) -> Document:
    """The lines between the tags; raises ``Flawed``."""
    require_closed(block, PHASE_CONTAINMENT.name)
    return read_lines(block.inner, first_line=block.inner_first)


def cut_key(block: Block, document: Document) -> Problem | None:
    """A key with a ``#`` behind a blank (``spelling``).

    YAML begins a comment there.  Upstream's reader does so inside quotes, too, so that quotes would
    not keep two findings apart.
    """
    key, line = document.value.get(KEY), document.line_of((KEY,))
    if not isinstance(key, str):
        return None
    spelled = block.inner[line - block.inner_first].partition(":")[2].strip()
    if not _COMMENT.search(key if spelled.startswith(_QUOTES) else spelled):
        return None
    detail = (
        "a # behind a blank begins a comment, for some readers inside quotes, too: they take the "
        "key to end there, and two findings become one; leave the blank or the # out"
    )
    return Problem(code="spelling", detail=detail, field=KEY, line=line)

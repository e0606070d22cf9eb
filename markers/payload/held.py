"""What a block holds.

What may live here: that a block is whole, and its content as YAML.  What may not: what the content
means.
"""

from __future__ import annotations

from ..blocks import Block
from ..errors import line_at
from .document import Document
from .flawed import Flawed
from .problems import Problem
from .yaml12 import read_yaml


def require_closed(block: Block, name: str) -> None:
    """Raise ``Flawed`` (``unclosed-block``) where nothing closes the block called *name*.

    What closes another comment, which begins at the start of a line inside, was not meant for it.
    """
    if not block.closed:
        end = f"a line with the /{name}-{block.id} tag" if block.id else "-->"
        raise _unclosed(block, f"the {name} block that begins here is never closed by {end}")
    for number, line in enumerate(block.inner, block.inner_first):
        if not block.id and line.startswith("<!--"):
            detail = (
                f"the {name} block that begins here is not closed by --> before {line_at(number)}"
            )
            raise _unclosed(block, f"{detail}, where another comment begins")


def _unclosed(block: Block, detail: str) -> Flawed:
    return Flawed(Problem(code="unclosed-block", detail=detail, line=block.first))


def read_block(block: Block, name: str) -> Document:
    """The content as YAML 1.2; raises ``Flawed``."""
    require_closed(block, name)
    return read_yaml("\n".join(block.inner), first_line=block.inner_first)

"""What the validators of blocks have in common.

What may live here: questions about any block.  What may not: what one family wants of its blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..blocks import Block, find
from ..errors import line_at
from ..payload.document import Document
from ..payload.flawed import Flawed
from ..payload.held import read_block
from ..payload.problems import Problem
from .fenced_yaml import Rule, checked
from .interface import Case


def the_block(case: Case) -> Block:
    """The block that is judged; ``TypeError`` where the registry has a comment judged so."""
    if case.block is None:
        raise TypeError(f"{case.family.name} is no block")
    return case.block


def judged(
    case: Case,
    *,
    read: Callable[[Block], Document] | None = None,
    versions: Sequence[int] = (),
    rules: Sequence[Rule] = (),
) -> Iterator[Problem]:
    """All that is wrong with one block, by its family's schema and *rules*; YAML, if not *read*."""
    block = the_block(case)
    try:
        document = read(block) if read else read_block(block, case.family.name)
    except Flawed as flawed:
        return iter(flawed.problems)
    return checked(case, document, versions=versions, rules=rules)


def is_first(case: Case) -> bool:
    """Whether no other block of the family stands above the one that is judged.

    What concerns all of them is asked beside the first one alone, so that it is told once.
    """
    return find(case.body, case.family)[0].first == the_block(case).first


def alone(case: Case) -> Iterator[Problem]:
    """A second block of a family of which a body has one."""
    blocks = find(case.body, case.family)
    if is_first(case) and len(blocks) > 1:
        name, first = case.family.name, blocks[0].first
        detail = (
            f"there is a {name} block on {line_at(first)} already: with two, one reader may take "
            "this and another that one, so a comment has one"
        )
        yield Problem(code="block-twice", detail=detail, line=blocks[1].first)

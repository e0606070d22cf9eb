"""``phase-containment-ledger``: one head that allows blocks to be counted, and the blocks below it.

What may live here: how head and blocks stand in the comment (contract, statement 18).  What may
not: what they say.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..blocks import find
from ..errors import line_at
from ..payload.known import BRIEF_DISPOSITIONS, JUDGE_RULINGS, PHASE_CONTAINMENT
from ..payload.problems import Problem
from .interface import Case

HEADS = (JUDGE_RULINGS, BRIEF_DISPOSITIONS)


def validate(case: Case) -> Iterator[Problem]:
    """Judge one ledger; that one kind of head is there twice is said of the head itself."""
    heads = [(block.first, each.name) for each in HEADS for block in find(case.body, each)[:1]]
    if not heads:
        detail = "there is no judge-rulings and no brief_dispositions head: nothing allows a count"
        yield Problem(code="head-missing", detail=detail, line=1)
        return
    (line, name), *others = sorted(heads)
    for other, kind in others:
        detail = f"a {kind} head beside {name} on {line_at(line)}: which of the two reviews counts?"
        yield Problem(code="head-twice", detail=detail, line=other)
    for block in find(case.body, PHASE_CONTAINMENT)[:1]:
        if block.first < line:
            detail = f"blocks stand below the head, and the {name} head is on {line_at(line)}"
            yield Problem(code="head-order", detail=detail, line=block.first)

"""``proposed-followups``: the queue of follow-ups and its state (contract, statement 26)."""

from __future__ import annotations

from collections.abc import Iterator

from ..body import BLANKS
from ..payload.document import Document
from ..payload.fenced import yaml_fences
from ..payload.flawed import Flawed
from ..payload.followups import state_of
from ..payload.problems import Problem
from .cross_fields import repeated
from .fenced_yaml import judged
from .interface import Case


def validate(case: Case) -> Iterator[Problem]:
    """Judge one queue: its state line, its fence, its proposals."""
    try:
        state_of(case.body)
    except Flawed as flawed:
        yield from flawed.problems
    yield from _closing(case)
    yield from judged(case, rules=(_keys,))


def _closing(case: Case) -> Iterator[Problem]:
    """A closing fence that upstream's reader would go past."""
    for fence in yaml_fences(case.body)[:1]:
        if fence.closed and case.body.line(fence.last).rstrip(BLANKS) != "```":
            detail = "the fence is to be closed by a line of three backticks and nothing else"
            yield Problem(code="fence-closing", detail=detail, line=fence.last)


def _keys(_case: Case, document: Document) -> Iterator[Problem]:
    return repeated(document, ("proposals",), "followup_key")

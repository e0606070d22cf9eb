"""``plan-issue``: what a plan's front matter declares, and what the plan then holds.

What may live here: rules about the whole comment.  What may not: rules about one block in it, which
its own family has.

Upstream's writer takes any plan, so that little is refused here: what would leave a reader with two
answers, and words of closed lists.  All else is told.  What stands between two lines of dashes and
is no YAML may be prose between two rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..blocks import find
from ..body import Body
from ..errors import line_at
from ..model import Family
from ..payload.document import Document
from ..payload.flawed import Flawed
from ..payload.front_matter import front_matter
from ..payload.known import FRAME_SLICE, FRAME_SPINE, GOAL_CONTRACT
from ..payload.problems import Problem
from ..payload.schema import check
from ..payload.yaml12 import read_yaml
from .frame_slices import duplicate_slices
from .interface import Case

VARIANT = "plan-variant"
BRIEF, CONTRACT = "brief", "goal-contract"
CLOSED = (VARIANT, "spine-omitted")
"""The keys whose words are a closed list; a wrong one refuses."""
APART: Mapping[str, tuple[Family, ...]] = MappingProxyType(
    {BRIEF: (FRAME_SPINE, FRAME_SLICE, GOAL_CONTRACT), CONTRACT: (FRAME_SPINE,)}
)
"""The blocks that a plan of each variant cannot have: it would be two plans in one."""
SECTIONS = (
    "Problem and observed evidence",
    "Epistemic map",
    "Acceptance criteria",
    "Falsifiers",
    "Context inventory",
    "Evidence obligations",
)
"""The headings of a brief, which are numbered from 1."""
_DECLARED = re.compile(rf"[ \t]*{VARIANT}[ \t]*:")


def validate(case: Case) -> Iterator[Problem]:
    """Judge one plan."""
    lines = front_matter(case.body)
    declared = [n for n in lines if _DECLARED.match(case.body.line(n))]
    if len(declared) > 1:
        detail = f"{line_at(declared[0])} declares the plan's variant already: a plan is of one"
        yield Problem(code="variant-twice", detail=detail, field=VARIANT, line=declared[1])
    yield from _front_matter(case, lines, sure=bool(declared))
    yield from duplicate_slices(case.body)


def _front_matter(case: Case, lines: range, *, sure: bool) -> Iterator[Problem]:
    """Its fields, and what they ask of the plan; *sure* is that it is one, and no prose."""
    try:
        document = read_yaml("\n".join(case.body.between(lines)), first_line=lines.start)
    except Flawed as flawed:
        yield from (replace(problem, warns=not sure) for problem in flawed.problems)
        return
    value = document.value if isinstance(document.value, dict) else {}
    if value:
        for problem in check(document, case.schema or "{}"):
            yield replace(problem, warns=problem.field not in CLOSED)
    yield from _of_variant(case.body, document, value)


def _of_variant(body: Body, document: Document, value: Mapping[str, Any]) -> Iterator[Problem]:
    variant = value.get(VARIANT)
    line = document.line_of((VARIANT,))
    for family in APART.get(variant, ()) if isinstance(variant, str) else ():
        for block in find(body, family)[:1]:
            detail = f"the plan is a {variant} by {line_at(line)}: it has no {family.name} block"
            yield Problem(code="variant-block", detail=detail, line=block.first)
    if variant == BRIEF:
        yield from _sections(body, line)
    contracts = find(body, GOAL_CONTRACT)
    if variant == CONTRACT and not contracts:
        detail = "the plan declares a goal-contract, and there is no such block in it"
        yield Problem(code="block-missing", detail=detail, field=VARIANT, line=line)
    if variant != CONTRACT and contracts and not find(body, FRAME_SPINE):
        detail = f"the block is not read: the front matter does not say '{VARIANT}: {CONTRACT}'"
        yield Problem(code="variant-missing", detail=detail, line=contracts[0].first, warns=True)


def _sections(body: Body, line: int) -> Iterator[Problem]:
    """The six sections that a brief has once each."""
    hidden = body.fenced.union(*body.regions.comments)
    prose = [text for n, text in enumerate(body.lines, 1) if n not in hidden]
    for number, name in enumerate(SECTIONS, 1):
        heading = re.compile(rf"##[ \t]+{number}\.[ \t]+{name}\b", re.IGNORECASE)
        count = sum(heading.match(text) is not None for text in prose)
        if count != 1:
            times = f"{count} times" if count else "not at all"
            detail = f"a brief has the heading '## {number}. {name}' once, and it is there {times}"
            yield Problem(code="section", detail=detail, line=line, warns=True)

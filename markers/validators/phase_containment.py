"""``phase-containment``: where a finding came from, where it could be caught, and where it was.

What may live here: the arithmetic of phases and stages (contract, statement 24), and how blocks
stand beside each other.  What may not: the fields (the schema), and the heads that allow blocks
(``phase_containment_ledger``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ..blocks import Block, find
from ..errors import echo, line_at
from ..payload.containment import KEY, cut_key, read_containment
from ..payload.document import Document
from ..payload.flawed import Flawed
from ..payload.problems import Problem
from .block_rules import is_first, judged, the_block
from .cross_fields import problem_at
from .interface import Case

ORDINALS: Mapping[str, int] = MappingProxyType(
    {"experience": 0, "design": 1, "plan": 2, "implementation": 3}
)
"""Of the phases, in the order of the work."""
PROJECTIONS: Mapping[str, int] = MappingProxyType(
    {
        "design-challenge": 1,
        "plan-stress-test": 2,
        "brief-review": 2,
        "code-review": 3,
        "post-review-observer": 4,
    }
)
"""Of the stages: the last phase whose work a stage sees."""


def validate(case: Case) -> Iterator[Problem]:
    """Judge one block, and beside the first one how all of them go together."""
    yield from _number(case)
    yield from judged(case, read=read_containment, rules=(_spelled, _order, _distance, _surface))
    if is_first(case):
        yield from _repeated(find(case.body, case.family))


def _number(case: Case) -> Iterator[Problem]:
    block = the_block(case)
    if block.id != str(case.marker.number):
        detail = f"the block's tags say {block.id}, and the comment's marker {case.marker.number}"
        yield Problem(code="block-number", detail=detail, line=block.first)


def _spelled(case: Case, document: Document) -> Iterator[Problem]:
    problem = cut_key(the_block(case), document)
    if problem is not None:
        yield problem


def _order(_case: Case, document: Document) -> Iterator[Problem]:
    """A finding cannot be caught before it is there, nor be seen by a stage before its phase."""
    introduced, catchable, seen = _places(document)
    phase = document.value.get("catchable_phase")
    if introduced is not None and catchable is not None and introduced > catchable:
        before = document.value["introduced_phase"]
        detail = f"{phase} ({catchable}) is before {before} ({introduced}), which introduced it"
        yield problem_at(document, ("catchable_phase",), "phase-order", detail)
    if catchable is not None and seen is not None and catchable > seen:
        stage = document.value["caught_stage"]
        detail = f"{stage} ({seen}) is before {phase} ({catchable}), in which it could be caught"
        yield problem_at(document, ("caught_stage",), "phase-order", detail)


def _distance(_case: Case, document: Document) -> Iterator[Problem]:
    """The stored distance against the one that the phases give; never cut off at 0."""
    _, catchable, seen = _places(document)
    given = document.value.get("escape_distance")
    if catchable is None or seen is None or catchable > seen or type(given) is not int:
        return
    if given != seen - catchable:
        stage, phase = document.value["caught_stage"], document.value["catchable_phase"]
        right = f"{seen - catchable}, which is {stage} ({seen}) less {phase} ({catchable})"
        detail = f"{given} is not {right}"
        yield problem_at(document, ("escape_distance",), "escape-distance", detail)


def _surface(_case: Case, document: Document) -> Iterator[Problem]:
    """A key of another surface than the stage's: readers that count by stage pass such a block."""
    stage, key = document.value.get("caught_stage"), document.value.get(KEY)
    surface = key.partition(":")[0] if isinstance(key, str) else stage
    if surface in PROJECTIONS and stage in PROJECTIONS and surface != stage:
        detail = f"begins with {surface}, and caught_stage is {stage}: no reader counts that"
        yield problem_at(document, (KEY,), "finding-key-stage", detail, warns=True)


def _places(document: Document) -> tuple[int | None, int | None, int | None]:
    """The ordinals of the two phases and the stage's projection; None for what is no such word."""
    introduced, catchable, stage = (
        word if isinstance(word := document.value.get(key), str) else ""
        for key in ("introduced_phase", "catchable_phase", "caught_stage")
    )
    return ORDINALS.get(introduced), ORDINALS.get(catchable), PROJECTIONS.get(stage)


def _repeated(blocks: tuple[Block, ...]) -> Iterator[Problem]:
    """Findings that a block further up is about, too."""
    lines: dict[str, int] = {}
    for block in blocks:
        try:
            document = read_containment(block)
        except Flawed:
            continue
        key = document.value.get(KEY)
        if not isinstance(key, str):
            continue
        if key in lines:
            detail = f"{echo(key)!r} is that of the block on {line_at(lines[key])}, too"
            yield problem_at(document, (KEY,), "duplicate-finding-key", detail)
        lines.setdefault(key, block.first)

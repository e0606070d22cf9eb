"""``frame-spine``: whether what a plan's spine says holds together.

What may live here: rules across its lines.  What may not: the grammar of a line
(``payload.spine``).

A port may name a slice that the spine does not have: a real one does, and so this is told and
refuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from ..payload.flawed import Flawed
from ..payload.problems import Problem
from ..payload.spine import Spine, read_spine
from .block_rules import alone, the_block
from .cross_fields import problem_at
from .interface import Case


def validate(case: Case) -> Iterator[Problem]:
    """Judge one spine."""
    yield from alone(case)
    try:
        spine = read_spine(the_block(case))
    except Flawed as flawed:
        yield from flawed.problems
        return
    yield from _ports(spine)
    yield from _dependencies(spine)


def _ports(spine: Spine) -> Iterator[Problem]:
    """Steps that are no slices, or whose cycle is another in the slice itself."""
    for port, steps in spine.ports.items():
        path = ("ports", port)
        for step in steps:
            name, cycle = step["id"], step["cycle"]
            if name not in spine.slices:
                detail = f"{name} is not among the slices below"
                yield problem_at(spine.document, path, "unknown-slice", detail, warns=True)
            elif cycle not in (None, spine.slices[name]["cycle"]):
                own = spine.slices[name]["cycle"]
                detail = f"{name}#cycle:{cycle} is in cycle {own} among the slices below"
                yield problem_at(spine.document, path, "cycle", detail)


def _dependencies(spine: Spine) -> Iterator[Problem]:
    needs = {name: entry["depends_on"] for name, entry in spine.slices.items()}
    for name, others in needs.items():
        for other in others:
            if other not in needs:
                detail = f"{other} is not a slice of this spine"
                path = ("slices", name, "depends_on")
                yield problem_at(spine.document, path, "unknown-slice", detail)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1][::-1]  # each waits for the next, the last is the first
        words = " -> ".join(circle if len(circle) < 10 else [*circle[:9], "..."])
        path = ("slices", circle[0], "depends_on")
        detail = f"slices wait for each other: {words}"
        yield problem_at(spine.document, path, "dependency-circle", detail)

"""What is wrong with a comment's payload, by the rules that its family's registry file names.

What may live here: which validators judge a comment, and what becomes of one that breaks.  What may
not: the rules, which live one file each beside this one; I/O of any kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Protocol

from ..blocks import Block, find
from ..body import Body
from ..contract import Contract
from ..contract.names import VALIDATORS
from ..model import Family, Marker
from ..payload.problems import MORE, MOST, Problem
from .interface import Case, Validator

__all__ = ["Case", "Problem", "judge"]

# With what a block can begin: spares asking the whole contract about each line of prose.
_BEGINS_A_BLOCK = re.compile(r"<!--|[A-Za-z_-]+:[ \t]*\Z")


class _Module(Protocol):
    validate: Validator


def judge(text: str, marker: Marker, contract: Contract) -> tuple[Problem, ...]:
    """All that is wrong with the comment *text* that carries *marker*, in the order of its lines.

    The comment's own family judges it whole, and the families of the blocks in it judge these.  A
    validator that breaks is a problem that refuses, never a pass.
    """
    body = Body(text)
    found = _first(_judged_all(body, marker, contract))
    told = sorted((p for p in found if p.code != MORE), key=lambda problem: problem.line or 0)
    return tuple(told) if len(told) == len(found) <= MOST else (*told[:MOST], _more(found, told))


def _judged_all(body: Body, marker: Marker, contract: Contract) -> Iterator[Problem]:
    yield from _judged(_case(body, marker, contract.family(marker.family), contract))
    for family, block in _blocks(body, marker, contract):
        in_block = _judged(_case(body, marker, family, contract, block))
        yield from (_of_block(problem, family) for problem in in_block)


def _first(problems: Iterator[Problem]) -> list[Problem]:
    """As many as are told, and one more: that many are looked for, whatever a comment holds.

    Only those that refuse count: behind many warnings there may be one.
    """
    found: list[Problem] = []
    refusing = 0
    for problem in problems:
        found.append(problem)
        refusing += not problem.warns
        if refusing > MOST:
            break
    return found


def _of_block(problem: Problem, family: Family) -> Problem:
    """The problem, with the block's name where neither field nor detail says whose it is."""
    said = problem.field or family.name in problem.detail
    if said and not problem.field.startswith("["):
        return problem
    return replace(problem, field=family.name + problem.field)


def _more(found: Sequence[Problem], told: Sequence[Problem]) -> Problem:
    """That not all of those *found* are told; it refuses where one of the others does."""
    beyond = [problem for problem in found if problem.code == MORE] + list(told[MOST:])
    warns = all(problem.warns for problem in beyond)
    return Problem(code=MORE, detail="there are more problems, which are not shown", warns=warns)


def _case(
    body: Body, marker: Marker, family: Family, contract: Contract, block: Block | None = None
) -> Case:
    schema = contract.schemas[family.schema] if family.schema else None
    return Case(body=body, marker=marker, family=family, schema=schema, block=block)


def _blocks(body: Body, marker: Marker, contract: Contract) -> Iterator[tuple[Family, Block]]:
    for family in _families_inside(body, marker, contract):
        for block in find(body, family):
            yield family, block


def _families_inside(body: Body, marker: Marker, contract: Contract) -> Iterable[Family]:
    """The families of which a block may begin in the body, and whose place it is."""
    begun = (line for line in body.lines[1:] if _BEGINS_A_BLOCK.match(line))
    found = (contract.live_block(line.rstrip()) for line in begun)
    return {
        family.name: family
        for family in found
        if family is not None and marker.family in family.carriers
    }.values()


def _judged(case: Case) -> Iterator[Problem]:
    name = case.family.validator or ("fenced-yaml" if case.schema else None)
    if name is None:
        return
    try:
        yield from _validator(name)(case)
    except Exception as error:  # whatever it raised: a rule that breaks must refuse
        detail = (
            f"the validator {name} broke ({type(error).__name__}): this is a fault of "
            "persist-marker, please report it; nothing was accepted"
        )
        yield Problem(code="validator-broken", detail=detail)


def _validator(name: str) -> Validator:
    module: _Module = import_module(f".{VALIDATORS[name]}", __package__)
    return module.validate

"""``finding-dispositions``: a block of a design challenge's findings (contract, statement 23).

Where the contract is stricter than real comments are, these win: ids such as ``M1``, a fourth pass
in ``also_flagged_by``, and a pass that ran and has no entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ..blocks import find
from ..body import Body, Fence
from ..errors import line_at
from ..model import Family
from ..payload.document import Document, Path
from ..payload.fenced import inside, yaml_fences
from ..payload.flawed import Flawed
from ..payload.problems import Problem
from ..payload.schema import check
from ..payload.yaml12 import read_yaml
from .cross_fields import entries, problem_at
from .interface import Case

_HEAD = "finding_dispositions"
_ENTRIES = (_HEAD, "entries")
_UPSTREAM_ONLY = "artifact_citation_required"


def validate(case: Case) -> Iterator[Problem]:
    """Judge one block; upstream reads it as the whole of the YAML fence that it stands in."""
    if case.block is None:
        return
    line, fences = case.block.first, _fences_by_block(case.body, case.family)
    if line not in fences:
        yield _elsewhere(line, shown=line in case.body.fenced)
    elif line != (first := next(iter(fences))):
        detail = f"a comment holds one such block, and the first stands on {line_at(first)}"
        yield Problem(code="block-twice", detail=detail, line=line)
    else:
        yield from _inside(case, fences[line], line)


@lru_cache(maxsize=1)
def _fences_by_block(body: Body, family: Family) -> Mapping[int, Fence]:
    """The YAML fence of each block that stands in one, by the block's first line.

    It is asked for each block of a body, of which a stranger may have written thousands.
    """
    around = {n: fence for fence in yaml_fences(body) for n in fence.inner}
    return {
        block.first: around[block.first] for block in find(body, family) if block.first in around
    }


def _elsewhere(line: int, *, shown: bool) -> Problem:
    """A block outside a YAML fence; in code of another kind it is an example."""
    why = "it is taken for an example" if shown else "readers look for it there"
    detail = f"the block does not stand in a ```yaml fence in the first column, and {why}"
    return Problem(code="fence-missing", detail=detail, line=line, warns=shown)


def _inside(case: Case, fence: Fence, line: int) -> Iterator[Problem]:
    try:
        payload = inside(case.body, fence)
        document = read_yaml(payload.text, first_line=payload.first_line)
    except Flawed as flawed:
        yield from flawed.problems
        return
    if not isinstance(document.value, dict) or _HEAD not in document.value:
        detail = f"the line is not read as the key {_HEAD}, but as part of another text"
        yield Problem(code="type", detail=detail, line=line)
        return
    yield from check(document, case.schema or "{}", at=(_HEAD,))
    yield from _rules(document)


def _rules(document: Document) -> Iterator[Problem]:
    block = document.value[_HEAD]
    passes = block.get("passes_run") if isinstance(block, dict) else None
    ran = passes if isinstance(passes, list) else None
    for path, entry in entries(document, _ENTRIES):
        if _UPSTREAM_ONLY in entry:
            detail = "is no field of an entry: write artifact_citation itself where it is needed"
            yield problem_at(document, (*path, _UPSTREAM_ONLY), "unknown-field", detail)
        yield from _passes(document, path, entry, ran)


def _passes(
    document: Document, path: Path, entry: dict[str, Any], ran: list[Any] | None
) -> Iterator[Problem]:
    """An entry's own pass and those that also flagged it, against the passes that ran."""
    own = entry.get("pass")
    if ran is not None and own is not None and own not in ran:
        yield problem_at(document, (*path, "pass"), "pass", f"{own!r} is not in passes_run")
    others = entry.get("also_flagged_by")
    for number, other in enumerate(others if isinstance(others, list) else ()):
        place = (*path, "also_flagged_by", number)
        if other == own:
            yield problem_at(document, place, "pass", f"{other!r} is the entry's own pass")
        elif ran is not None and other not in ran:
            yield problem_at(document, place, "pass", f"{other!r} is not in passes_run")

"""``plan-issue-write-back-preserve``: a plan that is written again keeps what belongs to it.

What may live here: what is carried from the plan that governs into a candidate without it, and in
which order (contract, statement 16).  What may not: how a part is found and put (``carried``,
``pointers``), reading comments.

What the candidate has itself is never changed.  A candidate that says what governs already is left
alone, so that writing a plan twice costs no look at what it points to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from ..body import BLANKS, Body
from ..codec import normalise
from ..errors import Refused, line_at
from ..payload.known import LEDGER_REF
from . import carried
from .interface import Before, Pointed, Prepared, Seen
from .ledger_pointer import pointer_line
from .pointers import (
    SLICE_ID,
    Pointer,
    fault,
    lost_slice_id,
    near_pointers,
    pointers,
    spine_of,
    with_slice_id,
)

MOST = 10
"""How many pointers of a kind are looked at in the plan that governs; each costs a request."""

_ALONE = "does not stand alone on its line, in the first column"
_Targets = Mapping[int, Pointed | None]
_Part = Callable[[str], Prepared]
_WITH_A_LEDGER = (carried.left_to_the_ledger, carried.stress_test)
_WITHOUT = (carried.judge_rulings, carried.containment, carried.stress_test)


def _reads(seen: Seen) -> tuple[int, ...]:
    """The comments that the candidate's pointers name, and those it would inherit."""
    if _is_there_already(seen):
        return ()
    own = pointers(Body(seen.candidate), seen.marker.number)
    named = (pointer.id for pointer in (*_firsts(own), *_inherited(seen, own)))
    return tuple(dict.fromkeys(each for each in named if each is not None))


def _firsts(own: Iterable[Pointer]) -> Iterable[Pointer]:
    """One pointer of each kind: a second one is refused, wherever it leads."""
    return {pointer.kind: pointer for pointer in reversed([*own])}.values()


def _apply(seen: Seen, targets: _Targets) -> Prepared:
    if _is_there_already(seen):
        return Prepared(candidate=seen.candidate)
    candidate = Body(seen.candidate)
    own = pointers(candidate, seen.marker.number)
    _require_good(own, targets)
    _require_none_astray(candidate)
    made = Prepared(candidate=seen.candidate, warnings=tuple(_passed_over(seen, own)))
    for part in _parts(seen, own, targets):
        new = part(made.candidate)
        made = Prepared(
            candidate=new.candidate,
            preserved=made.preserved + new.preserved,
            warnings=made.warnings + new.warnings,
        )
    return made


def _is_there_already(seen: Seen) -> bool:
    return seen.governing is not None and normalise(seen.governing.body) == normalise(
        seen.candidate
    )


def _parts(seen: Seen, own: Sequence[Pointer], targets: _Targets) -> Iterator[_Part]:
    """What is carried, in order; the section comes last."""
    if seen.governing is None:
        return
    governing, inherited = Body(seen.governing.body), _inherited(seen, own)
    for pointer in inherited:
        yield partial(_pointer, pointer=pointer, governing=governing, targets=targets)
    good = (each for each in inherited if fault(each, _target(each, targets)) is None)
    has_ledger = any(each.kind == LEDGER_REF.name for each in (*own, *good))
    for part in _WITH_A_LEDGER if has_ledger else _WITHOUT:
        yield partial(part, governing=governing)


def _inherited(seen: Seen, own: Iterable[Pointer]) -> list[Pointer]:
    """The pointers that the candidate may inherit, the first ``MOST`` of each kind."""
    count: Counter[str] = Counter()
    found = []
    for pointer in _wanted(seen, own):
        count[pointer.kind] += 1
        if count[pointer.kind] <= MOST:
            found.append(pointer)
    return found


def _wanted(seen: Seen, own: Iterable[Pointer]) -> list[Pointer]:
    """The pointers of the plan that governs for which the candidate has room and none itself."""
    if seen.governing is None:
        return []
    taken = _taken(seen, own)
    theirs = pointers(Body(seen.governing.body), seen.marker.number)
    return [pointer for pointer in theirs if pointer.kind not in taken]


def _taken(seen: Seen, own: Iterable[Pointer]) -> set[str]:
    taken = {pointer.kind for pointer in own}
    return taken if spine_of(Body(seen.candidate)) else taken | {SLICE_ID}


def _passed_over(seen: Seen, own: Sequence[Pointer]) -> Iterator[str]:
    """What may be a pointer of the plan that governs, and was not even looked at."""
    if seen.governing is None:
        return
    governing = Body(seen.governing.body)
    beyond = len(_wanted(seen, own)) - len(_inherited(seen, own))
    if beyond:
        yield f"pointer-dropped: {beyond:,} more pointers of the plan that governs"
    taken = _taken(seen, own)
    astray = () if LEDGER_REF.name in taken else near_pointers(governing)
    for lines in islice(astray, 1):
        yield carried.left_behind(lines.start, f"a {LEDGER_REF.name} that {_ALONE}")
    lost = None if SLICE_ID in taken else lost_slice_id(governing)
    if lost is not None:
        yield carried.left_behind(lost, f"a {SLICE_ID} in a frame-spine that cannot be read")


def _require_none_astray(candidate: Body) -> None:
    for lines in near_pointers(candidate):
        detail = f"a {LEDGER_REF.name} that {_ALONE}: readers do not see it; mend it or take it out"
        raise Refused("bad-pointer", detail, line=lines.start)


def _require_good(own: Iterable[Pointer], targets: _Targets) -> None:
    lines: dict[str, int] = {}
    for pointer in own:
        why = fault(pointer, _target(pointer, targets))
        if pointer.kind in lines:
            why = f"is a second one beside that on {line_at(lines[pointer.kind])}"
        if why:
            detail = f"{pointer} {why}; take the line out or mend it"
            raise Refused("bad-pointer", detail, line=pointer.line)
        lines[pointer.kind] = pointer.line


def _pointer(text: str, *, pointer: Pointer, governing: Body, targets: _Targets) -> Prepared:
    """Carry one pointer if it is good and the first of its kind."""
    why = fault(pointer, _target(pointer, targets))
    if any(each.kind == pointer.kind for each in pointers(Body(text), None)):
        why = why or "is one more than a plan has"
    if why:
        dropped = f"pointer-dropped: {pointer} of the plan that governs {why}, and is not carried"
        return Prepared(candidate=text, warnings=(dropped,))
    put = _with_slice_id if pointer.kind == SLICE_ID else _with_ledger_ref
    return Prepared(candidate=put(text, pointer, governing), preserved=(str(pointer),))


def _target(pointer: Pointer, targets: _Targets) -> Pointed | None:
    return None if pointer.id is None else targets.get(pointer.id)


def _with_slice_id(text: str, pointer: Pointer, _governing: Body) -> str:
    body = Body(text)
    spine = spine_of(body)
    return with_slice_id(body, spine, int(pointer.value)) if spine else text


def _with_ledger_ref(text: str, pointer: Pointer, governing: Body) -> str:
    """Put it below the marker, after a blank line where one stood before it."""
    above = governing.between(range(2, pointer.line))
    gap = [""] if above and not "".join(above).strip(BLANKS) else []
    return Body(text).inserted(1, [*gap, pointer_line(pointer.value)])


STEP = Before(apply=_apply, reads=_reads, preserves=True)

"""From the payload to the body that is written: composed, carried on by steps, checked in full.

What may live here: steps 2, 3 and 5 of the protocol (design, section 4), and what steps ask to be
read for them.  What may not: any write, and what a step means (``steps``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .. import hygiene
from ..errors import Invalid, Refused, counted
from ..hygiene import Composed
from ..model import Reason
from ..payload.problems import Problem
from ..selection import Match, in_first_tier, is_mine
from ..steps import Before, Pointed, Seen, before
from ..validators import judge
from .call import Call, Told
from .lost import current

MADE = "in the comment as it would be"
"""Where something stands of which no line was handed over."""


def checked_candidate(call: Call) -> str:
    """Compose the candidate and check all that can be checked without a request.

    A body that is made from what governs cannot be checked before that is known: it is empty here.
    """
    order = call.order
    if order.revise is not None:
        return ""
    composed = hygiene.compose(order.payload, order.marker, call.setup.contract)
    call.in_front = composed.in_front
    candidate, call.given = _checked(call, composed)
    call.checked((*call.given.text, *call.given.payload))
    return candidate


def draft(call: Call, given: str, governing: Match | None) -> str:
    """The body to write beside what governs now; *given* is the checked candidate.

    What a step has changed is checked again like what a caller hands over.
    """
    order, there = call.order, governing.comment if governing else None
    call.preserved = ()
    if order.revise is not None:
        call.body = _made(call, order.revise(there.body if there else None))
        return call.body
    call.body = given
    seen = Seen(marker=order.marker, candidate=given, governing=there)
    for step in before(order.family):
        if order.preserve or not step.preserves:
            seen = _stepped(call, step, seen)
    if seen.candidate != given:
        call.body = _made(call, seen.candidate)
    return call.body


def _stepped(call: Call, step: Before, seen: Seen) -> Seen:
    targets = {each: _pointed(call, each) for each in step.reads(seen)}
    try:
        prepared = step.apply(seen, targets)
    except Refused as error:
        raise _as_given(error.reason, call.in_front) from error
    call.preserved += prepared.preserved
    for warning in prepared.warnings:
        call.warn(*counted(warning, call.in_front).split(": ", 1))
    return Seen(marker=seen.marker, candidate=prepared.candidate, governing=seen.governing)


def _as_given(reason: Reason, in_front: int) -> Refused:
    """A step's refusal with the lines of what the caller handed over."""
    problem = Problem(code=reason.code, detail=reason.detail, line=reason.line)
    given = problem.reason(in_front)
    return Refused(given.code, given.detail, line=given.line)


def _pointed(call: Call, comment_id: int) -> Pointed | None:
    """Read a comment that a pointer names; what cannot be read is an error, what is gone is not."""
    comment = current(call, comment_id)
    if comment is None:
        return None
    trusted = in_first_tier(comment, call.setup.trust) or is_mine(comment, call.memory.me())
    here = comment.issue_url.rpartition("/")[2] == str(call.order.thread.number)
    return Pointed(comment=comment, trusted=trusted, here=here)


def _made(call: Call, text: str) -> str:
    """Check a body that nobody has handed over as it is: its lines are those of the comment."""
    try:
        candidate, found = _checked(call, Composed(text))
    except Invalid as error:
        raise Invalid([_of_the_whole(problem) for problem in error.problems]) from error
    except Refused as error:
        whole = _of_the_whole(error.reason)
        raise Refused(whole.code, whole.detail, line=whole.line) from error
    call.checked(tuple(_told(call.given, found)))
    return candidate


def _told(given: Told, found: Told) -> Iterator[str]:
    """The warnings of a body that was made of what was *given*.

    Where the text still has what was told of it, that is told with the caller's own lines.
    """
    there = {_code(warning) for warning in found.text}
    known = [*(each for each in given.text if _code(each) in there), *given.payload]
    yield from known
    codes = set(map(_code, known))
    for warning in (*found.text, *found.payload):
        code, _, why = warning.partition(": ")
        if code not in codes:
            yield f"{code}: {MADE}: {why}"


def _code(warning: str) -> str:
    return warning.partition(": ")[0]


def _of_the_whole(reason: Reason) -> Reason:
    return replace(reason, detail=f"{MADE}: {reason.detail}")


def _checked(call: Call, composed: Composed) -> tuple[str, Told]:
    """The body as it is to be written, and the warnings."""
    order, setup = call.order, call.setup
    checked = hygiene.check(
        composed,
        order.marker,
        family=order.family,
        surface=order.surface,
        contract=setup.contract,
        policy=setup.policy,
        command=order.command,
    )
    problems = judge(checked.candidate, order.marker, setup.contract)
    wrong = [problem for problem in problems if not problem.warns]
    if wrong:
        raise Invalid([problem.reason(composed.in_front) for problem in wrong])
    told = [f"{each.code}: {each.reason(composed.in_front).detail}" for each in problems]
    return checked.candidate, Told(checked.warnings, tuple(told))

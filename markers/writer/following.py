"""The edits of other comments that belong to a write, each with an intent and audit of its own.

What may live here: step 12 of the protocol (design, section 4).  What may not: what is edited
(``steps``), and writing itself, which goes the way of every write.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from ..errors import Incomplete, Limited, MarkersError, Refused, Unreachable
from ..model import Action, Comment, WriteResult
from ..steps import After, after
from .attempts import deliver, planned
from .call import Call
from .losers import let_go
from .order import Order

NO_TARGET = "no-target"


def follow(call: Call, result: WriteResult) -> WriteResult:
    """Make the edits that belong to what was written, also where that stood there already.

    Raises ``Incomplete`` with the write's own result when one cannot be made; running the same
    write again makes it then.
    """
    for step in after(call.order.family):
        edit = _edit(call, step)
        call.follows = True
        try:
            _carried_out(call, edit)
        except (Limited, Unreachable):
            raise
        except MarkersError as error:
            raise _incomplete(call, edit, error) from error
        call.follows = False
    return _with_all_told(call, result)


def foresee(
    call: Call, result: WriteResult, *, before: Collection[str] = (), behind: Collection[str] = ()
) -> WriteResult:
    """Say beforehand which edit could not be made.

    Of a list of writes on the thread, the markers that are written *before* this one will be there
    then.  A target that is not there and is among those *behind* is refused (``order``).
    """
    for step in after(call.order.family):
        edit = _edit(call, step)
        target = edit.order.marker.text
        if target in before:
            continue
        try:
            planned(edit, "")
        except MarkersError as error:
            if error.reason.code == NO_TARGET and target in behind:
                raise _too_early(target, call) from error
            call.warn("step", f"as it is now, {_words(edit)} could not be edited: {error}")
    return _with_all_told(call, result)


def _too_early(target: str, call: Call) -> Refused:
    detail = (
        f"writing {call.order.marker.text} edits the comment with {target}, which is not there "
        "yet: put the entry that writes it first"
    )
    return Refused("order", detail)


def _edit(call: Call, step: After) -> Call:
    """The call that edits another comment of the thread, on the look that was made already."""
    order, contract = call.order, call.setup.contract
    marker = contract.parse(step.target(order.marker))
    assert marker is not None  # noqa: S101 - a step names a marker of a family of the contract
    edit = Call(
        setup=call.setup,
        order=Order(
            thread=order.thread,
            family=contract.family(marker.family),
            marker=marker,
            take_over=order.take_over,
            dry_run=order.dry_run,
            command=order.command,
            revise=_revision(step, marker.text, call.stands),
        ),
        transport=call.transport,
        companion=call,
    )
    if call.seen is not None and call.seen.of(marker.text):
        edit.glance = call.seen
    return edit


def _revision(step: After, target: str, written: Comment | None) -> Callable[[str | None], str]:
    def revise(body: str | None) -> str:
        if body is None:
            raise Refused(NO_TARGET, f"there is no comment with {target} on line 1")
        return step.edit(body, written) if written else body

    return revise


def _carried_out(call: Call, edit: Call) -> None:
    try:
        result = deliver(edit, "")
    except (Limited, Unreachable) as error:
        let_go(edit, error)
        raise
    except MarkersError as error:
        raise edit.failure(error) from error.__cause__
    if result.action is not Action.UNCHANGED and edit.stands is not None:
        call.followed.append((edit.order.marker.text, edit.stands))
    for warning in edit.warnings:
        call.warn(*warning.split(": ", 1))


def _words(edit: Call) -> str:
    return f"the comment with {edit.order.marker.text}"


def _incomplete(call: Call, edit: Call, error: MarkersError) -> Incomplete:
    own = call.stands
    written = f"comment {own.id} stands" if own else "the comment stands"
    result = call.result(Action.LANDED_INCOMPLETE, comment=own, body=call.body)
    detail = f"{written}, but {_words(edit)} was not edited: {error}; run the same write again"
    return Incomplete(error.reason.code, detail, result=result)


def _with_all_told(call: Call, result: WriteResult) -> WriteResult:
    return replace(result, warnings=tuple(call.warnings), requests=call.requests())

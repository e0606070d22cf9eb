"""Taking back and bringing back: ``delete`` and ``restore``, over the same writer."""

from __future__ import annotations

from ..errors import Absent, Conflict, Refused
from ..model import Action, Repo, Thread, WriteResult
from ..selection import author_name, is_mine
from ..setup import Setup
from .assessing import observe, selection_of
from .attempts import planned_again
from .call import Call
from .order import Order
from .protocol import in_rounds, told, write
from .queueing import first
from .recovery import marker_of
from .removal import remove


def delete(setup: Setup, order: Order) -> WriteResult:
    """Take back our own governing comment of a family that the registry calls deletable."""
    return told(Call.begin(setup, order), _delete)


def restore(setup: Setup, seq: int, *, dry_run: bool = False) -> WriteResult:
    """Write the body that journal entry *seq* replaced back to where it was.

    It goes the way of every write, checks included.  Raises ``Refused`` when there is no such
    entry, it replaced nothing, or its body was pruned.
    """
    return write(setup, _order_of(setup, seq, dry_run))


def _delete(call: Call) -> WriteResult:
    if not call.order.family.deletable:
        raise Refused("not-deletable", f"the registry does not let {call.order.family.name} go")
    return in_rounds(call, lambda: planned_again(call, lambda: _take_back(call)))


def _take_back(call: Call) -> WriteResult:
    first(call)
    selection = selection_of(call, observe(call))
    call.extras = selection.extras
    if selection.governing is None:
        raise Absent("absent", f"there is no {call.order.marker.text} to delete")
    target = selection.governing.comment
    if not is_mine(target, call.memory.me(fresh=True)):
        raise Conflict(
            "foreign-canonical", f"comment {target.id} was written by {author_name(target)}"
        )
    ref = remove(call, target)
    return call.result(Action.DELETED, before=target, audit=ref)


def _order_of(setup: Setup, seq: int, dry_run: bool) -> Order:
    journal = setup.open_journal()
    entry = journal.entry(seq)
    if entry is None:
        raise Refused("no-entry", f"the journal has no entry {seq}; see 'persist-marker audit log'")
    body = journal.body(entry.replaced) if entry.replaced else None
    if body is None:
        gone = "its body was pruned" if entry.replaced else "it replaced nothing"
        raise Refused("nothing-to-restore", f"journal entry {seq} cannot be restored: {gone}")
    record = entry.record
    if record.api_url != setup.connection.api_url:
        raise Refused("other-host", f"journal entry {seq} belongs to {record.api_url}")
    owner, _, name = record.repo.partition("/")
    return Order(
        thread=Thread(Repo(record.api_url, owner, name), record.number),
        family=setup.contract.family(record.family),
        marker=marker_of(setup, record),
        payload=body,
        dry_run=dry_run,
        command="restore",
    )

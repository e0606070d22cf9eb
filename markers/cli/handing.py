"""``publish`` and ``restore``: a store's content to an issue, and from there to another machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from .. import clock
from ..codec import derive
from ..model import Action, Marker, Row, Thread
from ..plan import Decision, OnConflict, Standing, Word, published, restored
from . import exits
from .common import Invocation, MarkerCommand, documented
from .documents import Document
from .outcomes import complain, document_of, lines_of
from .output import Answer
from .params import NUMBER
from .stored import state_file
from .trusted import session

if TYPE_CHECKING:
    from ..caches.handover import Handover
    from ..paths import Place
    from ..reconciler import Local, Wish

FAMILY = "session-state"
_EXITS = (
    "0 done, or nothing to do; 1 failed; 3 refused; 4 conflict; 5 landed, not as meant; 6 denied; "
    "7 unavailable; 8 unknown; 10 nothing there"
)
FindPlace = Callable[[click.Context, int], "Place"]
"""Where a store's file is; for those that have one for each issue, that of the number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verb:
    """One of the two ways."""

    name: str
    short: str
    long: str
    decide: Callable[[Standing], Decision]
    takes: OnConflict
    """Whose state it can be told to take."""
    words: str


_VERBS = (
    _Verb(
        name="publish",
        short="Publish what the row lists to an issue.",
        long="""Publish the store to an issue, so that work can go on on another machine.

        Only what the store's row lists is published (`persist-marker registry show`, key
        `publishes`). A comment that another machine has written since is not written over.""",
        decide=published,
        takes=OnConflict.CACHE,
        words="cache takes this machine's, and keeps a copy of the other.",
    ),
    _Verb(
        name="restore",
        short="Take in what was published to an issue.",
        long="""Take what was published to an issue into the store of this machine.

        What the row does not list stays as it is. A store that has changed since it was published
        or restored last is left alone, and what is replaced is kept aside first.""",
        decide=restored,
        takes=OnConflict.DURABLE,
        words="durable takes the comment's, and keeps a copy of the store.",
    ),
)


def add_handing(
    group: click.Group,
    store: str,
    place: FindPlace,
    before: Callable[[click.Context], object] = lambda _context: None,
) -> None:
    """Give a store's group the two verbs; *before* is done before either of them."""
    for verb in _VERBS:
        group.add_command(_command(verb, store, place, before))


def _command(
    verb: _Verb, store: str, place: FindPlace, before: Callable[[click.Context], object]
) -> click.Command:
    @click.command(
        verb.name,
        cls=MarkerCommand,
        short_help=verb.short,
        help=verb.long,
        **documented(
            example=f"persist-marker state {store} {verb.name} --repo acme/widgets --number 12",
            exits=_EXITS,
        ),
    )
    @click.option(
        "--number", type=NUMBER, required=True, metavar="N", help="The issue that carries it."
    )
    @click.option(
        "--on-conflict",
        type=click.Choice([OnConflict.REFUSE.value, verb.takes.value]),
        default=OnConflict.REFUSE.value,
        show_default=True,
        help=f"Whose state to take where both have changed: {verb.words}",
    )
    @click.pass_context
    def handed(context: click.Context, /, number: int, on_conflict: str) -> Answer:
        before(context)
        wish = _wish(context, store, place(context, number), number)
        return _carried(
            context, replace(wish, decide=verb.decide, on_conflict=OnConflict(on_conflict))
        )

    return handed


def _wish(context: click.Context, store: str, place: Place, number: int) -> Wish:
    from ..reconciler import Wish

    call: Invocation = context.find_root().obj
    call.subject.family, call.subject.number = FAMILY, number
    family, row = call.contract.family(FAMILY), _row(call, store)
    marker = derive(family, number, {"store": store})
    return Wish(
        row=row.id,
        thread=Thread(call.repo, number),
        family=family,
        marker=marker,
        local=_copy(context, row, place, marker),
        chain=row.chain,
        apply=True,
        create=True,
    )


def _row(call: Invocation, store: str) -> Row:
    return next(row for row in call.contract.rows.values() if row.store == store)


def _copy(context: click.Context, row: Row, place: Place, marker: Marker) -> Local:
    from ..caches.engine import Cabinet
    from ..caches.handover import handovers
    from ..reconciler.handing import StoreCopy

    call: Invocation = context.find_root().obj
    known = handovers(
        marker.number or 0, now=clock.local(), new_id=str(uuid4()), session=session(context)
    )
    handover: Handover[Any] = known[str(row.store)]
    return StoreCopy(
        cabinet=Cabinet(handover.store, handover.codec, state_file(context, place, handover.store)),
        handover=handover,
        publishes=row.publishes,
        marker=marker,
        contract=call.contract,
    )


def _carried(context: click.Context, wish: Wish) -> Answer:
    from ..reconciler import reconcile

    call: Invocation = context.find_root().obj
    outcome = reconcile(call.connect(call.repo.api_url), wish)
    complain(call, outcome, FAMILY)
    store = dict(wish.marker.params)["store"]
    found: Document = {"store": store, "verb": context.info_name, "path": wish.local.place}
    absent = outcome.decision is Word.ABSENT
    return Answer(
        document={**found, **document_of(outcome, applied=True)},
        lines=lines_of(outcome),
        code=exits.CODES[Action.ABSENT if absent else outcome.ended],
    )

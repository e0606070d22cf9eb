"""``doctor --repair-journal``: put a damaged journal out of the way, so that writing can go on."""

from __future__ import annotations

from ..errors import MarkersError
from ..journal.interface import Journal
from .common import Invocation
from .examination import OK, Check

NAME = "repair"


def repair(call: Invocation) -> Check:
    """Set the journal aside if it is damaged; one that is whole is left alone.

    Raises what a journal raises that cannot be used for another reason.
    """
    journal = call.unopened_journal
    flaws = journal.verify()
    if not flaws:
        found = f"{journal.place} is whole and was left alone"
        return Check(name=NAME, status=OK, detail=call.no_journal or found)
    lost = _left_in(journal)
    aside = journal.set_aside()
    return Check(
        name=NAME,
        status=OK,
        detail=f"the journal was damaged ({flaws[0].problem}); it is now {aside}, and the next"
        f" write makes a new one; {lost}",
    )


def _left_in(journal: Journal) -> str:
    """What nobody will settle or deliver any more."""
    try:
        open_intents, queued = len(journal.open_intents()), len(journal.queued())
    except MarkersError:
        return "look at the threads that were written to last: what was under way stays in it"
    return f"{open_intents} writes of unknown outcome and {queued} queued ones stay in it"

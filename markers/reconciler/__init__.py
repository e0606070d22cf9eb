"""The reconciler: a local copy against the comment that it belongs to.

What may live here: observe, decide, carry out, in this order.  What may not: the rules, which live
in ``plan`` (what follows from what is seen) and in the modules beside this one.

``reconcile`` works on any ``Local``: a row's cache file, which ``rows`` finds, as well as the part
of a store that goes to another machine.
"""

from __future__ import annotations

from ..setup import Setup
from .carrying import carry_out, told
from .interface import Local, Outcome, Source, Wish
from .observing import Seen, observe

__all__ = [
    "Local",
    "Outcome",
    "Seen",
    "Source",
    "Wish",
    "carry_out",
    "observe",
    "reconcile",
    "told",
]


def reconcile(setup: Setup, wish: Wish) -> Outcome:
    """Say how the two stand to each other and, with ``wish.apply``, bring them in step.

    What fails while it is carried out is told in the outcome, with what was done before.  Raises
    ``Refused`` for what may not be read or does not belong there, ``Unavailable`` (``journal``).
    """
    seen = observe(setup, wish)
    decision = wish.decide(seen.standing(wish))
    return carry_out(setup, wish, seen, decision) if wish.apply else told(wish, seen, decision)

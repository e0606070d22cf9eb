"""The one audited writer: every comment that this package writes goes through here.

``protocol`` and ``attempts`` hold the order of the rules; each rule lives in the module that its
name says: ``drafting`` makes and checks the body, ``assessing`` looks and plans, ``delivery``
sends, ``settling`` converges, ``following`` makes the edits that belong to a write, ``recovery``
settles what an interrupted call left behind, ``amending`` changes one certain comment,
``undoing`` takes back and brings back.
"""

from __future__ import annotations

from .amending import amend
from .order import Fold, Order
from .protocol import write
from .recovery import Settled, recover
from .undoing import delete, restore

__all__ = ["Fold", "Order", "Settled", "amend", "delete", "recover", "restore", "write"]

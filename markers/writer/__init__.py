"""The one audited writer: every comment that this package writes goes through here.

``protocol`` holds the order of the rules; each rule lives in the module that its name says:
``assessing`` looks and plans, ``delivery`` sends, ``settling`` converges, ``recovery`` settles what
an interrupted call left behind, ``undoing`` takes back and brings back.
"""

from __future__ import annotations

from .call import Order
from .protocol import write
from .recovery import Settled, recover
from .undoing import delete, restore

__all__ = ["Order", "Settled", "delete", "recover", "restore", "write"]

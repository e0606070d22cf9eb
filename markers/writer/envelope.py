"""An order as the journal's queue keeps it, and back.

What may live here: the document's form.  What may not: deciding what is queued or delivered.
"""

from __future__ import annotations

import json
from typing import Any

from ..contract import Contract
from ..errors import Refused
from ..model import Repo, Surface, Thread
from .order import Fold, Order

FORM = 1
"""Goes up when a document changes its meaning; a program refuses what it does not know."""


def packed(order: Order, account: str) -> str:
    """The order as JSON, with whose it is; a body made from what governs cannot be kept."""
    thread = order.thread
    return json.dumps(
        {
            "form": FORM,
            "account": account,
            "api_url": thread.repo.api_url,
            "repo": thread.repo.slug,
            "number": thread.number,
            "family": order.family.name,
            "marker": order.marker.text,
            "payload": order.payload,
            "surface": order.surface,
            "expect": order.expect,
            "take_over": order.take_over,
            "verify": order.verify,
            "fold": order.fold,
            "preserve": order.preserve,
            "command": order.command,
            "burst": order.burst,
        }
    )


def described(document: str) -> dict[str, Any]:
    """The document's fields; what another form says is not guessed at.

    Raises ``Refused`` (``queue-form``).
    """
    fields: dict[str, Any] = json.loads(document)
    if fields.get("form") != FORM:
        raise Refused("queue-form", "it was queued by another version of this program: use that")
    return fields


def unpacked(document: str, contract: Contract) -> Order:
    """The order again, by the contract as it is now.

    Raises ``Refused``: ``queue-form``, ``family-unknown``, ``marker-unknown``.
    """
    said = described(document)
    owner, _, name = said["repo"].partition("/")
    marker = contract.parse(said["marker"])
    if marker is None:
        raise Refused("marker-unknown", f"{said['marker']} is no family's marker any more")
    return Order(
        thread=Thread(Repo(said["api_url"], owner, name), said["number"]),
        family=contract.family(said["family"]),
        marker=marker,
        payload=said["payload"],
        surface=Surface(said["surface"]) if said["surface"] else None,
        expect=said["expect"],
        take_over=said["take_over"],
        verify=said["verify"],
        fold=Fold(said["fold"]) if said["fold"] else None,
        preserve=said["preserve"],
        command=said["command"],
        burst=said["burst"],
    )

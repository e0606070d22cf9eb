"""From a manifest's wishes to orders: markers, families, threads and payloads.

What may live here: what needs the contract and the payload files.  Every problem is told at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ..codec import derive
from ..contract import Contract
from ..errors import Refused, echo
from ..model import Family, Marker, Repo, Surface, Thread
from ..writer.order import Order
from .manifest import Faulty, Manifest, Problem, Wish

T = TypeVar("T")


def orders_of(
    manifest: Manifest,
    contract: Contract,
    repo: Repo,
    read: Callable[[str], str],
    *,
    queue: bool = False,
) -> list[Order]:
    """Build the orders; *read* gives the text of a payload file or raises ``Refused``.

    With *queue* each may wait in the journal while GitHub is away.  Raises ``Faulty`` with every
    problem of every entry.
    """
    orders: list[Order] = []
    problems: list[Problem] = []
    for at, wish in enumerate(manifest.wishes, 1):
        made = _Maker(at, problems).order(wish, contract, repo, read, manifest.digest)
        if made is not None:
            orders.append(replace(made, queue=queue))
    if problems:
        raise Faulty(problems)
    return orders


class _Maker:
    """Builds one order and keeps what is wrong with it, by key."""

    def __init__(self, at: int, problems: list[Problem]) -> None:
        self.at, self.problems = at, problems

    def order(
        self,
        wish: Wish,
        contract: Contract,
        repo: Repo,
        read: Callable[[str], str],
        digest: str,
    ) -> Order | None:
        """The order, or None where something is wrong."""
        target = self._told("marker" if wish.marker else "family", lambda: _target(wish, contract))
        payload = self._told("bodyFile", lambda: read(wish.body_file))
        if target is None or payload is None:
            return None
        family, marker, number = target
        body = hashlib.sha256(payload.encode()).hexdigest()
        return Order(
            thread=Thread(repo, number),
            family=family,
            marker=marker,
            payload=payload,
            surface=Surface(wish.surface) if wish.surface else None,
            expect=wish.expect,
            take_over=wish.take_over,
            preserve=wish.preserve,
            command="burst",
            burst=f"{digest}:{self.at}:{body}",
        )

    def _told(self, key: str, make: Callable[[], T]) -> T | None:
        try:
            return make()
        except Refused as error:
            key = _KEYS.get(error.reason.code, key)
            problem = Problem(
                entry=self.at, key=key, code=error.reason.code, detail=error.reason.detail
            )
            self.problems.append(problem)
            return None


_KEYS = {
    "param-missing": "params",
    "param-unknown": "params",
    "param-value": "params",
    "number": "number",
    "number-mismatch": "number",
}
"""The key at fault, where the code says more than which of the two spellings was used."""


def _target(wish: Wish, contract: Contract) -> tuple[Family, Marker, int]:
    if wish.marker is None:
        family = contract.family(wish.family or "")
        return family, derive(family, wish.number, wish.params), wish.number or 0
    marker = contract.parse(wish.marker)
    if marker is None:
        raise Refused("marker-unknown", f"{echo(wish.marker)!r} is no family's marker")
    number = marker.number if wish.number is None else wish.number
    if number is None:
        raise Refused("number", f"{marker.text} names no thread: add a number")
    if marker.number not in (None, number):
        raise Refused("number-mismatch", f"{marker.text} does not belong on {number}")
    return contract.family(marker.family), marker, number

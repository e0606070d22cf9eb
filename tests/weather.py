"""Bad weather at a forge: so many in a hundred requests meet a fault, each of another kind.

What took effect is noted before any fault can hide it.
"""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass

from markers.codec import sha256
from markers.forge import faults
from markers.forge.faults import Effect
from markers.forge.values import Answer, Call

KINDS: tuple[Callable[[], Effect], ...] = (
    lambda: faults.status(500),
    lambda: faults.status(502, landed=True),
    lambda: faults.html(503),
    lambda: faults.html(200, landed=True),
    lambda: faults.reset(),
    lambda: faults.reset(landed=True),
    lambda: faults.timeout(),
    lambda: faults.timeout(landed=True),
    lambda: faults.half_json(),
    lambda: faults.truncated(),
    lambda: faults.secondary(1),
    lambda: faults.secondary(1, code=429),
)


@dataclass(frozen=True, slots=True)
class Took:
    """One change on the server: a text that was stored, or a comment that is gone."""

    method: str
    what: str
    """Hash of the text, or id of the comment that was deleted."""
    at: float


class Weather:
    """Strikes *rate* of all requests; *struck* counts them, *effects* are all that took effect."""

    def __init__(self, rate: float, chance: int) -> None:
        self.rate = rate
        self.struck = 0
        self.effects: list[Took] = []
        self._drawn = random.Random(chance)  # noqa: S311 - a soak is to be repeatable
        self._lock = threading.Lock()
        self._now = threading.local()

    def effect(self) -> Effect:
        """What to arm a forge with, for all requests and for ever."""
        return Effect(before=self._before, after=self._after)

    def _before(self, call: Call) -> Call | Answer | None:
        """Draw for this request; it is answered by the thread that reads it."""
        with self._lock:
            hit = self._drawn.random() < self.rate
            self.struck += hit
            self._now.fault = self._drawn.choice(KINDS)() if hit else Effect()
        fault: Effect = self._now.fault
        return fault.before(call) if fault.before else None

    def _after(self, call: Call, answer: Answer) -> Answer | None:
        if call.writing and 200 <= answer.status < 300:
            self.effects.append(_took(call))
        fault: Effect = self._now.fault
        return fault.after(call, answer) if fault.after else None


def _took(call: Call) -> Took:
    if call.method == "DELETE":
        return Took("DELETE", call.path.rpartition("/")[2], call.at)
    return Took(call.method, sha256(json.loads(call.body)["body"]), call.at)

"""How far the time of a call goes for judging comments, and whose.

What may live here: the share of those who are not trusted, and what is known already.  What may
not: the order in which the others are judged (``observing``), the rules (``validators``).

Anybody can post comments that take long to judge, as many as he likes.  So those who may not speak
never take more than a small part of the time, and whoever may is judged before them.
"""

from __future__ import annotations

from ..clock import Deadline
from ..contract import Contract
from ..model import Comment, Marker
from ..payload.problems import Problem
from ..validators import judge

SHARE = 0.1
"""Of the time that is left, how much those may take who are not trusted, all together."""
LONGEST = 5.0
"""And never more seconds than this."""

Found = tuple[Problem, ...]


class Judge:
    """Judges each comment at most once, as long as there is time for it."""

    def __init__(self, contract: Contract, deadline: Deadline) -> None:
        self._contract = contract
        self._deadline = deadline
        self._strangers: Deadline | None = None
        self._found: dict[int, Found] = {}

    def of(self, comment: Comment, marker: Marker, *, trusted: bool) -> Found | None:
        """What the writer would find wrong with a comment; None when there is no time to look."""
        if comment.id not in self._found:
            if not self._deadline.remaining() or not (trusted or self._for_strangers()):
                return None
            self._found[comment.id] = _judged(comment.body, marker, self._contract)
        return self._found[comment.id]

    def _for_strangers(self) -> float:
        """Seconds left of their share, which begins with the first one."""
        if self._strangers is None:
            self._strangers = Deadline(min(LONGEST, SHARE * self._deadline.remaining()))
        return self._strangers.remaining()


def _judged(text: str, marker: Marker, contract: Contract) -> Found:
    """Judge as the writer does; whatever a comment holds, reading it must not fail."""
    try:
        return judge(text, marker, contract)
    except Exception as error:
        kind = type(error).__name__
        detail = f"it could not be judged ({kind}): a fault of persist-marker, please report it"
        return (Problem(code="validator-broken", detail=detail),)

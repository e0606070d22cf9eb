"""The fault table: the end of each cell, from rules about what a failure lets a client know.

A cell is a place (one request of a scene) and a fault, once or lasting.  The rules were written
from the protocol's words, not from what the program does:

* what never left, or was turned away by a limit, is waited out;
* what may have taken effect is looked for before it is repeated, and repeated only when its absence
  is proved;
* a final no is final;
* what this call has written is never said to be unwritten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from fault_kinds import ILLS, Ill, Tells
from fault_scenes import PLACES, SAME, Place, Role

from markers.model import Action
from markers.writer.recovery import LANDED, NOT_LANDED, TWIN


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a call ends, and what is so then."""

    action: Action | None = None
    """None is the scene's own success."""
    seen: tuple[int, int] = (1, 1)
    """How often, at least and at most, the server sees the write that fails."""
    also: tuple[str, ...] = ()
    """Writes that it sees besides."""
    open: str | None = None
    """What ``recover`` finds of the one intent that is left open; None where none is."""
    news: int = 1
    """How many comments hold marker and new text."""
    left: bool = False
    """Whether a comment too many is left, with a warning or because the server said it is gone."""


Rules = Mapping[Tells, tuple[End, End]]
"""For each sort of failure the end when it comes once, and when it lasts."""

DONE = End()
NEVER, TWICE, THREE_TIMES = (0, 0), (2, 2), (3, 3)
AFTER_WAITS = (-1, -1)
"""Once, and once more after each wait that fits into the deadline."""
MOST_POSTS = 8
"""Each is proved absent 15 s after it was sent: so many fit into the deadline."""


def _end(action: Action | None, seen: tuple[int, int] = (1, 1), **more: Any) -> End:
    """An end with the new text on the thread where the action says that it is there."""
    news = int(action in (None, Action.LANDED_UNVERIFIED))
    return End(**{"action": action, "seen": seen, "news": news, **more})


def _both(action: Action | None, seen: tuple[int, int] = (1, 1), **more: Any) -> tuple[End, End]:
    return (_end(action, seen, **more),) * 2


def _each(*tells: Tells, ends: tuple[End, End]) -> Rules:
    return dict.fromkeys(tells, ends)


PASSING = (Tells.NOT_SENT, Tells.LOST, Tells.DONE, Tells.LIMIT)
UNAVAILABLE, DENIED, REFUSED = Action.UNAVAILABLE, Action.DENIED, Action.REFUSED
CONFLICT, UNVERIFIED, WITHDRAWN = Action.CONFLICT, Action.LANDED_UNVERIFIED, Action.WITHDRAWN

_LOOK: Rules = {
    **_each(*PASSING, ends=(DONE, _end(UNAVAILABLE))),
    **_each(Tells.NO, Tells.GONE, Tells.TOO_LONG, ends=_both(DENIED)),
}
_SETTLE: Rules = {
    **_each(*PASSING, ends=(DONE, _end(UNVERIFIED))),
    **_each(Tells.NO, Tells.GONE, Tells.TOO_LONG, ends=_both(UNVERIFIED)),
}
_BACK: Rules = {
    **_SETTLE,
    # After the wait for a limit a new look reads it back as well.
    Tells.LIMIT: (DONE, DONE),
    # A replica may lag: it is read again for as long as a listing would be.
    **_each(Tells.GONE, Tells.ALTERED, ends=(DONE, _end(UNVERIFIED))),
}
# What has no line in a role cannot be met there: a page whose texts were changed is a page, and
# only what carries a text can be stored as another one.
RULES: Mapping[Role, Rules] = {
    Role.LOOK: _LOOK,
    Role.TARGET: {
        **_LOOK,
        # What is expected there is gone, or is not what was expected.
        **_each(Tells.GONE, Tells.ALTERED, ends=_both(CONFLICT)),
    },
    Role.TARGET_AGAIN: {
        **_LOOK,
        # Looked at and planned again, until it is clear that this does not end.
        **_each(Tells.GONE, Tells.ALTERED, ends=(DONE, _end(CONFLICT))),
    },
    Role.SETTLE: _SETTLE,
    Role.BACK: _BACK,
    Role.BACK_NEW: {
        **_BACK,
        # One repair, which reads back differently as well; then it is taken back.
        Tells.ALTERED: (DONE, _end(WITHDRAWN, also=("PATCH", "DELETE"))),
    },
    Role.CREATE: {
        Tells.NOT_SENT: (DONE, _end(UNAVAILABLE, NEVER)),
        Tells.LOST: (_end(None, TWICE), _end(Action.UNKNOWN, (2, MOST_POSTS), open=NOT_LANDED)),
        Tells.DONE: _both(None),
        Tells.LIMIT: (_end(None, TWICE), _end(UNAVAILABLE, AFTER_WAITS)),
        **_each(Tells.NO, Tells.GONE, ends=_both(DENIED)),
        Tells.TOO_LONG: _both(REFUSED),
        # Another text was answered, but a listing has ours; or that is what was stored.
        Tells.ALTERED: _both(None),
        Tells.MANGLED: _both(None, also=("PATCH",)),
    },
    Role.UPDATE: {
        Tells.NOT_SENT: (DONE, _end(UNAVAILABLE, NEVER)),
        Tells.LOST: (_end(None, TWICE), _end(UNAVAILABLE, THREE_TIMES)),
        Tells.DONE: _both(None),
        Tells.LIMIT: (_end(None, TWICE), _end(UNAVAILABLE, AFTER_WAITS)),
        Tells.NO: _both(DENIED),
        Tells.GONE: (_end(None, TWICE), _end(CONFLICT, THREE_TIMES)),
        Tells.TOO_LONG: _both(REFUSED),
        Tells.ALTERED: _both(UNVERIFIED),
        Tells.MANGLED: _both(UNVERIFIED, news=0),
    },
    Role.REPAIR: {
        # There is one repair: whatever becomes of it, a look shows whether it did its work.
        Tells.NOT_SENT: _both(WITHDRAWN, NEVER, also=("DELETE",)),
        **_each(Tells.DONE, Tells.ALTERED, ends=_both(None)),
        **_each(
            *(Tells.LOST, Tells.LIMIT, Tells.NO, Tells.GONE, Tells.TOO_LONG, Tells.MANGLED),
            ends=_both(WITHDRAWN, also=("DELETE",)),
        ),
    },
    Role.LOSER: {
        # The text is where it belongs: what cannot be deleted now is left to the next write.
        Tells.NOT_SENT: (DONE, _end(None, NEVER, left=True, open=TWIN)),
        Tells.LOST: (_end(None, TWICE), _end(None, THREE_TIMES, left=True, open=TWIN)),
        Tells.DONE: _both(None),
        Tells.LIMIT: _both(None, left=True, open=TWIN),
        **_each(Tells.NO, Tells.GONE, Tells.TOO_LONG, ends=_both(None, left=True)),
    },
    Role.DELETE: {
        Tells.NOT_SENT: (DONE, _end(UNAVAILABLE, NEVER)),
        Tells.LOST: (_end(None, TWICE), _end(UNAVAILABLE, THREE_TIMES)),
        Tells.DONE: _both(None),
        Tells.LIMIT: (_end(None, TWICE), _end(UNAVAILABLE, AFTER_WAITS)),
        Tells.NO: _both(DENIED),
        Tells.TOO_LONG: _both(REFUSED),
        Tells.GONE: _both(None, left=True),
    },
}
UNWRITTEN = frozenset({UNAVAILABLE, DENIED, REFUSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One fault at one place, and the end that it must have."""

    place: Place
    ill: Ill
    lasting: bool
    end: End

    @property
    def name(self) -> str:
        """As the test is called."""
        return f"{self.place.name}: {self.ill.name}, {'lasting' if self.lasting else 'once'}"

    @property
    def twin_stays(self) -> bool:
        """Whether two equal records remain: we may not delete one, or it was said to be gone."""
        return self.end.left and not self.end.open and self.place.scene is SAME


def _end_of(place: Place, ill: Ill, lasting: bool) -> End:
    end = RULES[place.role][ill.tells][lasting]
    if end.seen == AFTER_WAITS:
        end = replace(end, seen=(1 + ill.waits,) * 2)
    if place.stands and end.action in UNWRITTEN:
        end = replace(end, action=UNVERIFIED, news=1)
    if place.role is Role.UPDATE and place.stands:
        end = _of_second(end, ill)
    if place.role is Role.LOSER and end.left:
        # The twin holds our text, and its create is open; a duplicate from before has neither.
        end = replace(end, news=2) if place.stands else replace(end, open=None)
    return replace(end, news=0) if place.scene.done is Action.DELETED else end


def _of_second(end: End, ill: Ill) -> End:
    """Ours came second and is one too many: it is taken back, now or by the next write."""
    if end.action is UNVERIFIED and ill.tells in (Tells.NOT_SENT, Tells.LIMIT):
        # After a wait without the lock all is settled anew, and this first.
        return replace(end, action=UNAVAILABLE, also=("DELETE",), news=0)
    if end.action is CONFLICT:
        return replace(end, also=("DELETE",))
    if end.action is not UNVERIFIED:
        return end
    news, found = (2 if ill.tells is Tells.ALTERED else 1), TWIN
    if ill.tells is Tells.MANGLED:
        found = LANDED  # the earlier one has lost its marker
    return replace(end, open=found, news=news)


def cells() -> Iterator[Cell]:
    """All cells: each fault, once and lasting, wherever a request can meet it."""
    for place, ill, lasting in product(PLACES, ILLS, (False, True)):
        if ill.tells in RULES[place.role] and not (ill.spoils and place.method == "DELETE"):
            end = _end_of(place, ill, lasting)
            yield Cell(place=place, ill=ill, lasting=lasting, end=end)

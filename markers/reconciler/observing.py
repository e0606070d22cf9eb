"""What there is now: the local copy, the comment that governs, and what both held last.

What may live here: looking.  What may not: any write, what follows from what is seen (``plan``).

Only the comment that governs counts, by the rules of ``reading``.  A thread that cannot be read is
never one without a comment.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..errors import Denied, MarkersError, Refused, Unavailable, Unknown
from ..journal.interface import Base
from ..memory import Memory
from ..model import Reason, Shape
from ..plan import Standing, adds_only
from ..reading.observing import Observation, in_session
from ..setup import Setup
from ..thread import only
from ..transport.interface import Transport
from .faces import Face, face
from .interface import Source, Wish
from .openings import OPENINGS, opening


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """What GitHub holds."""

    face: Face | None = None
    body: str = ""
    """The comment as it is stored."""
    sha256: str | None = None
    """Of *body*, as the writer expects it; the face's differs where only blank lines do."""
    comment_id: int | None = None
    fallback: Face | None = None
    """Where no comment governs: what a further durable source of the row holds."""
    fallback_source: Source | None = None
    trouble: Reason | None = None
    """Why it could not be read."""
    others: tuple[str, ...] = ()
    """Comments with the marker that do not govern, each with the reason, where none governs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Both sides, and what they held when they were last in step."""

    raw: str | None = None
    """The local copy as it is stored."""
    local: Face | None = None
    remote: Remote = field(default_factory=Remote)
    base: Face | None = None
    """None also where it was held by a comment that is gone."""
    known: Base | None = None
    """As the journal keeps it."""

    def standing(self, wish: Wish) -> Standing:
        """What the decision depends on."""
        local, durable = self.local, self.remote.face
        return Standing(
            local=_hash(local),
            durable=_hash(durable),
            base=_hash(self.base),
            fallback=_hash(self.remote.fallback),
            unreadable=self.remote.trouble is not None,
            annotated=bool(local and durable and adds_only(local.payload, durable.payload)),
            shared=wish.shared,
            create=wish.create,
            on_conflict=wish.on_conflict,
        )


def _hash(seen: Face | None) -> str | None:
    return seen.sha256 if seen else None


def observe(setup: Setup, wish: Wish) -> Seen:
    """Look at both sides.

    Raises ``Refused`` for what may not be read or does not belong there, and ``Unavailable``
    (``journal``) where the base cannot be asked for: without it, an edit would pass for a stranger.
    """
    try:
        raw = wish.local.read()
    except Refused:
        raise
    except MarkersError as error:
        return Seen(remote=Remote(trouble=error.reason))
    remote = look(setup, wish)
    known = setup.open_journal().base(names_of(setup, wish))
    tells = known is not None and _tells(wish, known, remote)
    # What was never written into is no text of anybody; what was emptied since is one.
    new = known is None and raw is not None and wish.local.says_nothing(raw)
    return Seen(
        raw=raw,
        local=None if new else face(raw, wish.marker),
        remote=remote,
        base=face(known.text, wish.marker) if known and tells else None,
        known=known,
    )


def _tells(wish: Wish, known: Base, remote: Remote) -> bool:
    """Whether a base says something of the comment that governs now.

    Where the comment that held it is gone, another one is not that one having moved; of records,
    each of which is a comment of its own, a later one is.
    """
    now, then = remote.comment_id, known.comment_id
    if now is None or then is None or now == then:
        return True
    return wish.family.shape is Shape.POST_NEW and now > then


def names_of(setup: Setup, wish: Wish) -> list[str]:
    """The names under which the base of this pair may be kept, the surest last."""
    transport = setup.connection.begin(setup.deadline())
    threads = Memory(transport, wish.thread, setup.open_journal()).names()
    return [f"{thread} {wish.marker.text} {wish.local.key}" for thread in threads]


def look(setup: Setup, wish: Wish) -> Remote:
    """The comment that governs, else a further durable source of the row.

    Raises ``Refused`` (``surface``) where the marker does not belong on this thread.
    """
    try:
        return in_session(setup, lambda transport: _looked(setup, transport, wish))
    except (Unavailable, Denied, Unknown) as error:
        return Remote(trouble=error.reason)


def _looked(setup: Setup, transport: Transport, wish: Wish) -> Remote:
    marker = wish.marker
    seen = Observation(setup, transport, wish.thread, only(marker.text))
    governing = seen.governing(marker)
    if governing is None:
        extras = seen.selection(marker.text).extras
        others = tuple(f"{extra.id} by {extra.author} is {extra.why}" for extra in extras)
        return replace(_fallen_back(setup, transport, wish), others=others)
    for problem in governing.problems:
        if problem.code == "surface":
            raise Refused(problem.code, problem.detail)
    body = governing.body or ""
    return Remote(
        face=_spelled(wish, face(body, marker)),
        body=body,
        sha256=governing.sha256,
        comment_id=governing.comment_id,
    )


def _spelled(wish: Wish, seen: Face | None) -> Face | None:
    return seen and face(wish.local.spelled(seen.payload), wish.marker)


def _fallen_back(setup: Setup, transport: Transport, wish: Wish) -> Remote:
    source = next((each for each in OPENINGS if each in wish.chain), None)
    if source is None:
        return Remote()
    text = opening(setup, transport, wish.thread, source)
    return Remote(fallback=face(text, wish.marker), fallback_source=source)

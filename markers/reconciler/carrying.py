"""From a decision to what is done about it.

What may live here: the order of copy, comment, local copy and base.  What may not: what is decided
(``plan``), how a comment is written (``writer``).

What a side is about to lose is kept aside first.  The comment is written through the one writer,
which expects what was observed; the local copy under its lock, if it still is what was observed.
The base is set last, once both have held the text: whoever dies before that finds both sides equal,
or as they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ..errors import Conflict, MarkersError, few
from ..model import Action, Reason, WriteResult
from ..plan import ABSENT, Decision, Side, Word
from ..setup import Setup
from ..writer import Order, write
from .cached import changed
from .faces import Face, face
from .interface import Outcome, Source, Wish
from .merging import merged
from .observing import Seen, look, names_of

ENDS: Mapping[Word, Action] = {Word.CONFLICT: Action.CONFLICT, Word.UNKNOWN: Action.UNKNOWN}
"""What a decision by itself ends as; any other is well, whether carried out or not."""
COMMAND = "reconcile"
"""What the journal calls the writes."""
_CONTRADICTION = Reason(
    code="merge-conflict",
    detail="both have changed the same lines since they were last in step: nothing was written; "
    "choose --on-conflict durable or cache",
)
_MOVED_SINCE = Reason(
    code="moved-since",
    detail="the other side has changed since it was looked at: run it again",
)
_KEPT_ITS_OWN = Reason(
    code="kept-its-own",
    detail="what this machine decides itself stays as it is, so that the two still differ",
)
_MORE_THAN_SHARED = Reason(
    code="shared-copy",
    detail="lines that the comment had besides were carried forward, so that it holds more than "
    "the local copy, which serves other issues as well and stays as it is",
)


def told(wish: Wish, seen: Seen, decision: Decision) -> Outcome:
    """The decision as an outcome, with nothing done about it."""
    local, remote = seen.local, seen.remote
    return Outcome(
        decision=decision.word,
        row=wish.row,
        number=wish.thread.number,
        source=_source(wish, seen, decision),
        proof=decision.proof,
        hint=decision.hint,
        local_sha256=local.sha256 if local else None,
        durable_sha256=remote.face.sha256 if remote.face else None,
        base_sha256=seen.base.sha256 if seen.base else None,
        comment_id=remote.comment_id,
        reason=_named(decision.reason or remote.trouble, remote.others),
        ended=ENDS.get(decision.word, Action.UNCHANGED),
    )


def _named(reason: Reason | None, others: Sequence[str]) -> Reason | None:
    """The reason, and which comments do not govern where none does."""
    if not others:
        return reason
    listed = f"comments with the marker that do not govern: {few(others)}"
    if reason is None:
        return Reason(code="none-governs", detail=listed)
    return replace(reason, detail=f"{reason.detail}; {listed}")


def _source(wish: Wish, seen: Seen, decision: Decision) -> Source | None:
    """Whose text governs: the local copy's where it is as good, since readers ask it first."""
    if decision.word in (Word.UNKNOWN, Word.ABSENT):
        return None
    if decision.takes is Side.FALLBACK:
        return seen.remote.fallback_source
    mine = decision.takes is Side.LOCAL or decision.word is Word.IN_SYNC
    return wish.source if mine or seen.remote.face is None else Source.COMMENT


def carry_out(setup: Setup, wish: Wish, seen: Seen, decision: Decision) -> Outcome:
    """Do what was decided; the outcome says how far it came.  Raises nothing on purpose."""
    work = _Work(setup, wish, seen, told(wish, seen, decision))
    with work.failures_told():
        work.do(decision)
    return work.outcome


@dataclass(slots=True)
class _Work:
    """One decision being carried out."""

    setup: Setup
    wish: Wish
    seen: Seen
    outcome: Outcome
    kept: list[str] = field(default_factory=list)

    def do(self, decision: Decision) -> None:
        """All that belongs to it, in its order."""
        if decision.takes is None:
            return
        text = self._text(decision.takes)
        if text is None:
            return
        seen, remote = self.seen, self.seen.remote
        if decision.word is not Word.IN_SYNC:
            self._require_unchanged()
        for side in decision.keeps:
            self._keep(side)
        if decision.takes in (Side.LOCAL, Side.MERGED) and not _equal(text, remote.face):
            text = self._written(text)
        if text is None:
            return
        took = not _equal(text, seen.local)
        if took and not self._taken(text):
            return
        if decision.takes is Side.FALLBACK:
            return
        if decision.word is Word.IN_SYNC or self._in_step(text, took=took):
            self._agree(text)

    def _taken(self, text: Face) -> bool:
        """Bring the local copy to *text*; whether it holds just that."""
        held = self.wish.local.write(text.payload, self.seen.raw)
        if _equal(text, face(held, self.wish.marker)):
            return True
        self.outcome = replace(self.outcome, reason=_KEPT_ITS_OWN)
        return False

    def _in_step(self, text: Face, *, took: bool) -> bool:
        """Whether both hold *text* now: two programs may bring the same pair in step at once.

        The side that was written just now has said so itself; the other one is looked at again.
        """
        local = face(self.wish.local.read(), self.wish.marker)
        remote = look(self.setup, self.wish) if took else None
        if remote is not None and remote.trouble is not None:
            return False
        if _equal(text, local) and (remote is None or _equal(text, remote.face)):
            return True
        ended = Action.LANDED_INCOMPLETE
        self.outcome = replace(self.outcome, reason=_MOVED_SINCE, ended=ended)
        return False

    def _text(self, side: Side) -> Face | None:
        """What both are to hold; None where merging found contradictions."""
        seen = self.seen
        texts = {
            Side.LOCAL: seen.local,
            Side.DURABLE: seen.remote.face,
            Side.FALLBACK: seen.remote.fallback,
        }
        return texts[side] if side in texts else self._merged()

    def _merged(self) -> Face | None:
        sides = (self.seen.local, self.seen.base, self.seen.remote.face)
        # The table merges only where all three are known.
        text = face(merged(*(side.payload for side in sides if side)), self.wish.marker)
        if text is None:
            self._end(Word.CONFLICT, _CONTRADICTION)
        return text

    def _require_unchanged(self) -> None:
        """What was decided about an older local copy is not written anywhere."""
        if self.wish.local.read() != self.seen.raw:
            raise changed(self.wish.local.place)

    def _keep(self, side: Side) -> None:
        text = self.seen.raw if side is Side.LOCAL else self.seen.remote.body
        why = "cache" if side is Side.LOCAL else "comment"
        path = self.wish.local.keep(text or "", why)
        if path not in self.kept:
            self.kept.append(path)
        self.outcome = replace(self.outcome, kept_aside=tuple(self.kept))

    def _written(self, text: Face) -> Face | None:
        """Write the comment; the answer is what it holds now, None where that is not sure.

        A step of the family may have carried lines forward: then the local copy is brought to what
        the comment holds, after a copy of it.
        """
        result = write(self.setup, self._order(text))
        self._note(result)
        if result.sha256 == text.sha256:
            return text
        if self.wish.shared:
            self.outcome = replace(self.outcome, reason=_MORE_THAN_SHARED)
            return None
        now = look(self.setup, self.wish)
        if now.sha256 != result.sha256:
            why = now.trouble or _MOVED_SINCE
            self.outcome = replace(self.outcome, reason=why, ended=Action.LANDED_INCOMPLETE)
            return None
        self._keep(Side.LOCAL)
        return now.face

    def _order(self, text: Face) -> Order:
        wish = self.wish
        return Order(
            thread=wish.thread,
            family=wish.family,
            marker=wish.marker,
            payload=text.payload,
            expect=self.seen.remote.sha256 or ABSENT,
            command=COMMAND,
        )

    def _note(self, result: WriteResult) -> None:
        known = result.comment_id or self.outcome.comment_id
        self.outcome = replace(self.outcome, write=result, comment_id=known)

    def _agree(self, text: Face) -> None:
        """Keep what both have held, under the surest name that is known by now."""
        names, comment_id = names_of(self.setup, self.wish), self.outcome.comment_id
        known = self.seen.known
        same = known and (known.key, known.comment_id) == (names[-1], comment_id)
        if same and _equal(text, self.seen.base):
            return
        copy = f"{self.wish.marker.text} {self.wish.local.key}"
        journal = self.setup.open_journal()
        journal.set_base(names, text.body, copy=copy, comment_id=comment_id)

    def _end(self, word: Word, reason: Reason) -> None:
        """Another end than was decided: what was a proof of that proves nothing now."""
        ended = ENDS[word]
        self.outcome = replace(self.outcome, decision=word, proof=None, reason=reason, ended=ended)

    @contextmanager
    def failures_told(self) -> Iterator[None]:
        """Turn what ends the work early into its outcome; what was done before stays told."""
        try:
            yield
        except MarkersError as error:
            if isinstance(error.result, WriteResult):
                self._note(error.result)
            self.outcome = replace(self.outcome, reason=error.reason, ended=error.action)
            if isinstance(error, Conflict):
                self._end(Word.CONFLICT, error.reason)


def _equal(one: Face, other: Face | None) -> bool:
    return other is not None and one.sha256 == other.sha256

"""A local copy and its comment: how they stand to each other, to what is to be done about it.

What may live here: the question, its table, its answer (design, section 7).  What may not: any
request, clock or file.  The first rule whose condition holds decides; the last one always holds.

Compared are hashes: of the local copy, of the comment, and of the *base*, the text that both held
when they were last in step.  Time is never asked, since no clock proves which of two texts
descends from the other; the base does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from ..codec import lines_of, normalise
from ..model import Reason


class Word(StrEnum):
    """What a decision is called."""

    UNKNOWN = "unknown"
    GAP = "gap"
    ABSENT = "absent"
    IN_SYNC = "in-sync"
    CREATE_CACHE = "create-cache"
    CREATE_DURABLE = "create-durable"
    REFRESH_CACHE = "refresh-cache"
    WRITE_DURABLE = "write-durable"
    MERGE = "merge"
    CONFLICT = "conflict"


class Side(StrEnum):
    """Whose text is meant."""

    LOCAL = "local"
    DURABLE = "durable"
    """The comment's."""
    FALLBACK = "fallback"
    """That of a further durable source of the row, such as the issue's body."""
    MERGED = "merged"


class OnConflict(StrEnum):
    """Whose text the caller takes where the table alone would not choose."""

    REFUSE = "refuse"
    DURABLE = "durable"
    CACHE = "cache"
    MERGE = "merge"


class Proof(StrEnum):
    """Why one text is known to descend from the other."""

    BASE = "base"


ANNOTATION = "annotation"
"""The hint that the local copy is the comment with boxes ticked and lines added.

It is no proof: the same picture arises where another machine has removed lines.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What was seen, as hashes of what a comment would hold, and what the caller allows."""

    local: str | None = None
    durable: str | None = None
    base: str | None = None
    fallback: str | None = None
    """Looked at only where there is no comment."""
    unreadable: bool = False
    """Whether the thread could not be read: that is never an absent comment."""
    annotated: bool = False
    """Whether the local copy only adds to the comment."""
    shared: bool = False
    """Whether the local copy serves other threads as well, and is not to be overwritten."""
    create: bool = False
    on_conflict: OnConflict = OnConflict.REFUSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do: bring both sides to the text that it *takes*, after a copy of what it *keeps*."""

    word: Word
    takes: Side | None = None
    """None: nothing is written anywhere."""
    keeps: tuple[Side, ...] = ()
    """Texts that a side is about to lose, and that the other one does not have."""
    proof: Proof | None = None
    hint: str | None = None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One line of the table: what is seen, and the decision for each wish of the caller."""

    seen: str
    holds: Callable[[Standing], bool]
    decisions: Mapping[OnConflict, Decision]
    hinted: bool = False


def _always(decision: Decision, **others: Decision) -> Mapping[OnConflict, Decision]:
    """The same decision for each wish but those that are named."""
    return MappingProxyType({wish: others.get(wish.value, decision) for wish in OnConflict})


def _conflict(code: str, detail: str) -> Decision:
    return Decision(word=Word.CONFLICT, reason=Reason(code=code, detail=detail))


_REMOVED = _conflict(
    "durable-removed",
    "the comment was removed since both were last in step, and the local copy is there still: "
    "--on-conflict cache posts it again, or remove the copy yourself",
)
_NO_BASE = _conflict(
    "no-base",
    "they differ, and no text is known that both once held: there is nothing to merge from; choose "
    "--on-conflict durable or cache",
)
_BOTH_MOVED = _conflict(
    "both-moved",
    "both have changed since they were last in step; the comment governs, and both are left as "
    "they are: choose --on-conflict durable, cache or merge",
)
_SHARED = _conflict(
    "shared-copy",
    "the comment says otherwise than the local copy, which serves other issues as well and is "
    "never overwritten: --on-conflict cache writes the copy's text to the comment, or mend the "
    "copy by hand",
)
_NEEDS_CREATE = Reason(
    code="needs-create",
    detail="only the local copy is there, and its name does not say which repository it belongs "
    "to: add --create to post it",
)
_POST = Decision(word=Word.CREATE_DURABLE, takes=Side.LOCAL)
_TAKE_DURABLE = Decision(word=Word.REFRESH_CACHE, takes=Side.DURABLE, keeps=(Side.LOCAL,))
_TAKE_LOCAL = Decision(word=Word.WRITE_DURABLE, takes=Side.LOCAL, keeps=(Side.DURABLE,))
_MERGE = Decision(word=Word.MERGE, takes=Side.MERGED, keeps=(Side.LOCAL, Side.DURABLE))

STANDINGS: tuple[Rule, ...] = (
    Rule(
        seen="the thread could not be read",
        holds=lambda s: s.unreadable,
        decisions=_always(Decision(word=Word.UNKNOWN)),
    ),
    Rule(
        seen="neither",
        holds=lambda s: s.local is s.durable is s.fallback is None,
        decisions=_always(Decision(word=Word.ABSENT)),
    ),
    Rule(
        seen="only the comment",
        holds=lambda s: s.local is None and s.durable is not None,
        decisions=_always(Decision(word=Word.CREATE_CACHE, takes=Side.DURABLE)),
    ),
    Rule(
        seen="only a further durable source of the row",
        holds=lambda s: s.local is None,
        decisions=_always(Decision(word=Word.CREATE_CACHE, takes=Side.FALLBACK)),
    ),
    Rule(
        seen="the local copy and the comment are equal",
        holds=lambda s: s.local == s.durable,
        decisions=_always(Decision(word=Word.IN_SYNC, takes=Side.DURABLE)),
    ),
    Rule(
        seen="no comment; the local copy and a further durable source are equal",
        holds=lambda s: s.durable is None and s.local == s.fallback,
        decisions=_always(Decision(word=Word.IN_SYNC)),
    ),
    Rule(
        seen="only the local copy, base known",
        holds=lambda s: s.durable is None and s.base is not None,
        decisions=_always(_REMOVED, cache=_POST),
    ),
    Rule(
        seen="only the local copy, no base, with `--create`",
        holds=lambda s: s.durable is None and s.create,
        decisions=_always(_POST),
    ),
    Rule(
        seen="only the local copy, no base, without `--create`",
        holds=lambda s: s.durable is None,
        decisions=_always(Decision(word=Word.CREATE_DURABLE, reason=_NEEDS_CREATE)),
    ),
    Rule(
        seen="the local copy is the base, the comment has moved",
        holds=lambda s: s.local == s.base,
        decisions=_always(
            replace(_TAKE_DURABLE, proof=Proof.BASE),
        ),
    ),
    Rule(
        seen="the comment is the base, the local copy has moved",
        holds=lambda s: s.durable == s.base,
        decisions=_always(
            replace(_TAKE_LOCAL, proof=Proof.BASE),
        ),
    ),
    Rule(
        seen="they differ, no base",
        holds=lambda s: s.base is None,
        decisions=_always(_TAKE_DURABLE, cache=_TAKE_LOCAL, merge=_NO_BASE),
        hinted=True,
    ),
    Rule(
        seen="both have moved",
        holds=lambda _s: True,
        decisions=_always(_BOTH_MOVED, durable=_TAKE_DURABLE, cache=_TAKE_LOCAL, merge=_MERGE),
    ),
)


def settle(standing: Standing) -> Decision:
    """Decide; whoever carries it out has to look whether what was seen still is so."""
    rule = next(rule for rule in STANDINGS if rule.holds(standing))
    decision = rule.decisions[standing.on_conflict]
    if standing.shared and _overwrites(decision):
        takes_local = standing.on_conflict is OnConflict.CACHE and standing.local is not None
        decision = _TAKE_LOCAL if takes_local else _SHARED
    if rule.hinted and standing.annotated:
        decision = replace(decision, hint=ANNOTATION)
    return decision


_NEWER_THERE = _conflict(
    "durable-newer",
    "the comment holds another state than was published or restored here last: `restore` it first, "
    "or publish over it with --on-conflict cache",
)
_NEWER_HERE = _conflict(
    "local-newer",
    "the local state has changed since it was published: `publish` it, or restore over it with "
    "--on-conflict durable, which keeps a copy",
)
_NOTHING_HERE = Decision(
    word=Word.ABSENT,
    reason=Reason(code="nothing-to-publish", detail="the store has nothing to publish"),
)
_NOTHING_THERE = Decision(
    word=Word.ABSENT,
    reason=Reason(code="nothing-published", detail="there is nothing published to restore"),
)


_IN_STORES = {
    "both-moved": "both have changed since they were last in step: `publish --on-conflict cache` "
    "takes the state of this machine, `restore --on-conflict durable` that of the comment",
    "durable-removed": "the comment was removed since it was published: `publish --on-conflict "
    "cache` posts it again",
}


def _for_stores(decision: Decision) -> Decision:
    """The same decision, its reason in the words of the two verbs."""
    reason = decision.reason
    if reason is None or reason.code not in _IN_STORES:
        return decision
    return replace(decision, reason=replace(reason, detail=_IN_STORES[reason.code]))


def published(standing: Standing) -> Decision:
    """Decide for who only wants to write the comment: what else would be done is a conflict."""
    if standing.local is None and not standing.unreadable:
        return _NOTHING_HERE
    decision = _for_stores(settle(standing))
    if decision.takes is not Side.DURABLE or decision.word is Word.IN_SYNC:
        return decision
    return _TAKE_LOCAL if standing.on_conflict is OnConflict.CACHE else _NEWER_THERE


def restored(standing: Standing) -> Decision:
    """Decide for who only wants to change the local copy: what else would be done is a conflict."""
    if standing.durable is None and not standing.unreadable:
        return _NOTHING_THERE
    decision = _for_stores(settle(standing))
    if decision.takes is not Side.LOCAL:
        return decision
    return _TAKE_DURABLE if standing.on_conflict is OnConflict.DURABLE else _NEWER_HERE


def _overwrites(decision: Decision) -> bool:
    """Whether the local copy would get another text."""
    return decision.word is not Word.IN_SYNC and decision.takes not in (None, Side.LOCAL)


_TICKED = re.compile(r"^(\s*(?:[-*+]|[0-9]{1,9}[.)])\s+)\[[xX]\](?=\s|$)")


def adds_only(local: str, durable: str) -> bool:
    """Whether *local* is *durable* with boxes ticked and lines added, and nothing taken away."""
    there = iter(lines_of(normalise(local)))
    wanted = filter(None, lines_of(normalise(durable)))
    return all(any(_became(line, each) for each in there) for line in wanted)


def _became(line: str, now: str) -> bool:
    return now == line or _TICKED.sub(r"\1[ ]", now, count=1) == line

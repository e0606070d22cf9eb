"""Which of a thread's matches may speak, and which one governs.

What may live here: pure functions over matches, trust and identity.  What may not: requests.

Trust has two tiers (design, section 5).  First: author associations OWNER, MEMBER and COLLABORATOR,
and the users and apps that the user's settings name.  Second, only where the first has no match:
ourselves.  Whom the settings distrust is in neither, whatever else speaks for him.  Untrusted
matches never govern, are never written to and are always reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from .errors import Refused, echo
from .model import Account, Comment, Extra, Shape

ASSOCIATIONS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Whose comments may govern: the user's own setting, never a checkout's."""

    collaborators: bool = True
    users: frozenset[int] = frozenset()
    apps: frozenset[str] = frozenset()
    distrusted: frozenset[int] = frozenset()
    """Accounts that never count, not even as collaborators."""

    def without(self, user_id: int) -> Trust:
        """The same, but for an account that is distrusted from now on."""
        return replace(self, users=self.users - {user_id}, distrusted=self.distrusted | {user_id})

    def distrusts(self, account: Account | None) -> bool:
        """Whether the settings say that this account never counts."""
        return account is not None and account.id in self.distrusted


class Authored(Protocol):
    """What somebody wrote: a comment, or the text of an issue itself."""

    @property
    def author(self) -> Account | None:
        """None for a deleted account."""

    @property
    def association(self) -> str:
        """What the author is to the repository."""

    @property
    def app(self) -> str | None:
        """Through which app it was made."""


@dataclass(frozen=True, slots=True)
class Match:
    """A comment whose line 1 is a marker, with what the look knows about it."""

    marker: str
    comment: Comment


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The matches of one marker, told apart."""

    governing: Match | None
    trusted: tuple[Match, ...]
    """Ascending by id, the governing one included."""
    extras: tuple[Extra, ...]
    """Every other match, with the reason why it does not govern."""


def parse_trust(text: str) -> Trust:
    """Read ``collaborators,user:123,app:slug,-user:900``; an empty text trusts only ourselves.

    Raises ``Refused`` (``trust``) for any other word, and for an account that is named both ways.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    trust = Trust(
        collaborators="collaborators" in words,
        users=_ids(words, "user:"),
        apps=frozenset(w[4:] for w in words if w.startswith("app:") and w[4:]),
        distrusted=_ids(words, "-user:"),
    )
    known = spelled(trust).split(",")
    for word in words:
        if word not in known:
            raise Refused(
                "trust",
                f"trust names {echo(word)!r}; use collaborators, user:ID, app:SLUG, -user:ID",
            )
    for user in trust.users & trust.distrusted:
        raise Refused("trust", f"trust names user:{user} and -user:{user}; keep one of them")
    return trust


def _ids(words: Iterable[str], prefix: str) -> frozenset[int]:
    named = (word.removeprefix(prefix) for word in words if word.startswith(prefix))
    return frozenset(int(number) for number in named if number.isdecimal())


def spelled(trust: Trust) -> str:
    """The words that ``parse_trust`` reads as this trust."""
    words = ["collaborators"] if trust.collaborators else []
    words += [f"user:{user}" for user in sorted(trust.users)]
    words += [f"app:{app}" for app in sorted(trust.apps)]
    words += [f"-user:{user}" for user in sorted(trust.distrusted)]
    return ",".join(words)


def select(matches: Iterable[Match], shape: Shape, trust: Trust, me: Account | None) -> Selection:
    """Apply the one selector per family: the lowest trusted id of an upsert, else the highest."""
    ordered = sorted(matches, key=lambda match: match.comment.id)
    trusted = speaking(ordered, trust, me)
    governing = (trusted[0] if shape is Shape.UPSERT else trusted[-1]) if trusted else None
    ids = {m.comment.id for m in trusted}
    others = (m for m in ordered if m is not governing)
    extras = tuple(
        _extra(m.comment, None if m.comment.id in ids else distrust(m.comment, trust), shape)
        for m in others
    )
    return Selection(governing=governing, trusted=tuple(trusted), extras=extras)


def speaking(matches: Iterable[Match], trust: Trust, me: Account | None) -> list[Match]:
    """Those of *matches* that are trusted: all of one tier, the second only without the first.

    Who reads several markers together asks for all of them at once, or he would mix the tiers.
    """
    found = list(matches)
    first = [match for match in found if in_first_tier(match.comment, trust)]
    if first or trust.distrusts(me):
        return first
    return [match for match in found if is_mine(match.comment, me)]


def in_first_tier(comment: Authored, trust: Trust) -> bool:
    """Whether association or the user's settings trust the author; a deleted author never is."""
    if comment.author is None or trust.distrusts(comment.author):
        return False
    return (
        (trust.collaborators and comment.association in ASSOCIATIONS)
        or comment.author.id in trust.users
        or (comment.app is not None and comment.app in trust.apps)
    )


def is_mine(comment: Authored, me: Account | None) -> bool:
    """Whether the account behind the token wrote it; what is not known is not ours."""
    return me is not None and comment.author is not None and comment.author.id == me.id


def needs_identity(matches: Iterable[Match], trust: Trust) -> bool:
    """Whether who we are decides which match governs: there are matches, none in the first tier."""
    found = list(matches)
    return bool(found) and not any(in_first_tier(match.comment, trust) for match in found)


def author_name(comment: Comment) -> str:
    """The login for people's eyes; ``ghost`` for a deleted account, as GitHub shows it."""
    return comment.author.login if comment.author else "ghost"


def distrust(comment: Comment, trust: Trust) -> str:
    """Say why an untrusted author does not count, and which setting would make it count."""
    if comment.author is None:
        return "untrusted: its author's account is deleted"
    if trust.distrusts(comment.author):
        return f"untrusted: your settings distrust this account (-user:{comment.author.id})"
    standing = comment.association or "unknown"
    return (
        f"untrusted: author association {standing}; "
        f"MARKERS_TRUST=collaborators,user:{comment.author.id} would trust this account"
    )


def _extra(comment: Comment, untrusted: str | None, shape: Shape) -> Extra:
    if untrusted is not None:
        why = untrusted
    elif shape is Shape.UPSERT:
        why = "duplicate: a trusted comment with a lower id governs"
    else:
        why = "earlier record: a later trusted comment governs"
    return Extra(id=comment.id, author=author_name(comment), why=why)

"""One write call: what it works with, what it saw, and how its result and audit entries read.

What may live here: composing results and records.  What may not: decisions and requests.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from ..clock import Deadline
from ..codec import sha256
from ..errors import Denied, MarkersError, Refused, Unavailable, Unknown
from ..journal.interface import Journal, Kind, Record
from ..memory import Memory
from ..model import (
    Action,
    AuditRef,
    Comment,
    Extra,
    Reason,
    Shape,
    Surface,
    WriteResult,
)
from ..setup import Setup
from ..thread import Look
from ..transport.interface import Stored, Transport
from .endings import change_of, not_followed, not_recorded, not_settled
from .order import Landed, Order

METHODS = ("GET", "POST", "PATCH", "DELETE")
SUCCESSES = frozenset({Action.CREATED, Action.UPDATED, Action.POSTED, Action.DELETED})
"""Ends of a request that changed something, and of nothing else."""


@dataclass(frozen=True, slots=True)
class Told:
    """The warnings of one check, each ``code: detail``."""

    text: tuple[str, ...] = ()
    """Of what is to be published, whatever it means."""
    payload: tuple[str, ...] = ()
    """Of what it says, by the rules of its family."""


@dataclass(kw_only=True)
class Call:
    """The mutable state of one call; lives in one thread of execution."""

    setup: Setup
    order: Order
    transport: Transport
    surface: Surface | None = None
    extras: tuple[Extra, ...] = ()
    warnings: list[str] = field(default_factory=list)
    checks: tuple[str, ...] = ()
    """Those of the warnings that came from the last check of the body."""
    given: Told = Told()
    """What was told of the text that the caller handed over."""
    preserved: tuple[str, ...] = ()
    in_front: int = 0
    """How many lines of the candidate the caller did not hand over."""
    body: str = ""
    """The checked body, as planned last; steps may make it anew for each look."""
    stands: Comment | None = None
    """The comment that the last result names."""
    request_ids: list[str] = field(default_factory=list)
    intent: AuditRef | None = None
    """The intent of this call that has no outcome yet."""
    recovered: list[Landed] = field(default_factory=list)
    """What interrupted calls had written of the same marker, until the first plan is made."""
    landed: Landed | None = None
    """What stands on GitHub already of what this call wants to write."""
    pending: list[AuditRef] = field(default_factory=list)
    """Intents of creates that lost to an earlier canonical: open until the twin is gone."""
    twins: list[Comment] = field(default_factory=list)
    """Comments that this call created; those that the result does not name are taken back."""
    outdated: list[Comment] = field(default_factory=list)
    """Comments of ours from before, whose text has gone to the canonical; they go on success."""
    replanned: bool = False
    """Whether what was planned against has changed once already."""
    slot_reserved: bool = False
    """Whether this call has waited for its turn to create a comment."""
    companion: Call | None = None
    """Another call on the same thread, whose memory serves this one as well."""
    glance: Look | None = None
    """A look that others have made already; used for the next plan, once."""
    defers: bool = False
    """Whether what is written is settled later, together with others."""
    unsettled: Look | None = None
    """The look on which something was written that is still to be settled."""
    seen: Look | None = None
    """The look that was planned on last."""
    follows: bool = False
    """Whether it stands, and only the edits that belong to it are still to be made."""
    followed: list[tuple[str, Comment]] = field(default_factory=list)
    """Marker and comment of the edits that the steps after this write have made."""

    @classmethod
    def begin(cls, setup: Setup, order: Order, deadline: Deadline | None = None) -> Call:
        """Start the count of requests, and the deadline unless it is shared."""
        transport = setup.connection.begin(deadline or setup.deadline())
        return cls(setup=setup, order=order, transport=transport)

    @cached_property
    def journal(self) -> Journal:
        """The journal; nothing is written to GitHub unless it opens."""
        return self.setup.open_journal()

    @cached_property
    def memory(self) -> Memory:
        """Facts remembered for this token and thread; a dry run does without a journal."""
        if self.companion is not None:
            return self.companion.memory
        journal = self.setup.journal_if_any() if self.order.dry_run else self.journal
        return Memory(self.transport, self.order.thread, journal)

    def landing(self, comment: Comment, action: Action, before: Comment | None = None) -> Landed:
        """What this call has just written."""
        marker = self.order.marker.text
        return Landed(comment=comment, marker=marker, action=action, before=before, ours=True)

    def warn(self, code: str, detail: str) -> None:
        """Add a warning once."""
        warning = f"{code}: {detail}"
        if warning not in self.warnings:
            self.warnings.append(warning)

    def checked(self, warnings: tuple[str, ...]) -> None:
        """Keep the warnings of a check, in the place of those of the check before."""
        others = [each for each in self.warnings if each not in self.checks]
        self.warnings, self.checks = [*warnings, *others], warnings

    def heard(self, stored: Stored) -> Comment:
        """Keep the request id of an answer and hand on its comment."""
        if stored.request_id:
            self.request_ids.append(stored.request_id)
        return stored.comment

    def record(
        self,
        kind: Kind,
        action: str,
        *,
        target: Comment | None = None,
        comment_id: int | None = None,
        reason: Reason | None = None,
        after: str | None = None,
        above: int | None = None,
        meant: str | None = None,
        replaced: bool = False,
    ) -> AuditRef:
        """Append an audit entry; *target* is the comment as it was before."""
        order, thread = self.order, self.order.thread
        entry = Record(
            kind=kind,
            command=order.command,
            actor=self._actor(),
            thread=thread.key(),
            api_url=thread.repo.api_url,
            repo=thread.repo.slug,
            number=thread.number,
            surface=self.surface,
            family=order.family.name,
            marker=order.marker.text,
            action=action,
            comment_id=comment_id or (target.id if target else None),
            reason=reason,
            sha256_before=sha256(target.body) if target else None,
            sha256_after=None if after is None else sha256(after),
            above=above,
            meant=meant,
            intent=self.intent.seq if kind is Kind.OUTCOME and self.intent else None,
            request_ids=tuple(self.request_ids),
            requests=self.requests(),
        )
        body = target.body if replaced and target else None
        return self.journal.append(entry, replaced=body)

    def intend(
        self,
        action: str,
        meant: str,
        *,
        target: Comment | None = None,
        after: str | None = None,
        above: int | None = None,
        replaces: bool = True,
    ) -> None:
        """Record what is about to be sent, with the body that it *replaces*."""
        self.intent = self.record(
            Kind.INTENT,
            action,
            target=target,
            after=after,
            above=above,
            meant=meant,
            replaced=replaces and target is not None,
        )

    def conclude(
        self,
        action: str,
        *,
        target: Comment | None = None,
        comment_id: int | None = None,
        after: str | None = None,
        reason: Reason | None = None,
    ) -> AuditRef:
        """Record what became of it, with the body that was replaced.

        Raises ``NotVerified`` where a success cannot be recorded: it is not undone by that.
        """
        try:
            ref = self.record(
                Kind.OUTCOME,
                action,
                target=target,
                comment_id=comment_id,
                after=after,
                reason=reason,
                replaced=target is not None,
            )
        except Unavailable as error:
            if action not in SUCCESSES or self.intent is None:
                raise
            result = self.result(Action.LANDED_UNVERIFIED, comment=target)
            raise not_recorded(action, error, result) from error
        self.intent = None
        return ref

    def result(
        self,
        action: Action,
        *,
        comment: Comment | None = None,
        before: Comment | None = None,
        body: str | None = None,
        reason: Reason | None = None,
        audit: AuditRef | None = None,
    ) -> WriteResult:
        """Compose the result; *body* is the text that was meant."""
        order = self.order
        self.stands = shown = comment or before
        return WriteResult(
            action=action,
            reason=reason,
            family=order.family.name,
            marker=order.marker.text,
            repo=order.thread.repo.slug,
            number=order.thread.number,
            surface=self.surface or order.surface,
            comment_id=shown.id if shown else None,
            url=shown.html_url if shown else None,
            sha256=None if body is None else sha256(body),
            previous_sha256=sha256(before.body) if before else None,
            change=None if body is None else change_of(before.body if before else "", body),
            extras=self.extras,
            preserved=self.preserved,
            warnings=tuple(self.warnings),
            requests=self.requests(),
            audit=audit,
        )

    def failure(self, error: MarkersError) -> MarkersError:
        """Journal why a call ended without success; the answer is the error to raise, with result.

        An outcome that is unknown stays an open intent: the next write or ``recover`` settles it.
        What this call has written is never said to be unwritten, whatever failed afterwards.
        """
        unwritten = isinstance(error, Unavailable | Denied | Refused)
        if unwritten and self.follows:
            error = not_followed(error, self.result(error.action, comment=self.stands))
        elif unwritten and self.landed and self.landed.ours:
            error = not_settled(error, self.result(error.action, comment=self.landed.comment))
        known = error.result or self.result(error.action)
        ref = self.intent
        if not (isinstance(error, Unknown) and ref):
            ref = self._journal_failure(error, known.comment_id)
        error.result = replace(
            known,
            action=error.action,
            reason=error.reason,
            extras=self.extras,
            warnings=tuple(self.warnings),
            requests=self.requests(),
            audit=ref,
        )
        return error

    @property
    def landed_as(self) -> Action:
        """What a create of this family is called."""
        upsert = self.order.family.shape is Shape.UPSERT
        return Action.CREATED if upsert else Action.POSTED

    def requests(self) -> dict[str, int]:
        """Requests sent so far, by method."""
        counts = self.transport.counts
        return {method: counts.get(method, 0) for method in METHODS}

    def _journal_failure(self, error: MarkersError, comment_id: int | None) -> AuditRef | None:
        if self.order.dry_run:
            return None
        try:
            return self.conclude(error.action, comment_id=comment_id, reason=error.reason)
        except MarkersError:
            # The refusal itself is what the caller must hear; a journal that does not open
            # has stopped every write already.
            return None

    def _actor(self) -> str:
        me = self.memory.remembered_me()
        return f"{me.login} ({me.id})" if me else f"token:{self.transport.fingerprint}"

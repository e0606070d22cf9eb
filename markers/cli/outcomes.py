"""How an outcome of the reconciler reads, as a document and as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import Action
from . import exits
from .common import Invocation
from .documents import Document, plain, written

if TYPE_CHECKING:
    from ..reconciler import Outcome


def document_of(outcome: Outcome, applied: bool) -> Document:
    """The document of one outcome; what the write of it came to only where it was *applied*."""
    document: Document = plain(outcome)
    del document["ended"], document["write"]
    write = outcome.write
    return {**document, "write": written(write) if write else None} if applied else document


def complain(call: Invocation, outcome: Outcome, family: str | None) -> None:
    """Say on stderr what did not end well, as every command does."""
    if outcome.reason is None or _is_well(outcome):
        return
    surfaces = call.contract.family(family).surfaces if family else ()
    call.subject.family, call.subject.number = family, outcome.number
    call.subject.surface = surfaces[0].value if len(surfaces) == 1 else None
    call.complain(outcome.ended, call.subject, outcome.reason)


def _is_well(outcome: Outcome) -> bool:
    return exits.CODES[outcome.ended] == exits.OK


def lines_of(outcome: Outcome) -> list[str]:
    """The decision in one line, then what is to be known of it, and what was done about it."""
    grounds = [f"proof {outcome.proof}"] if outcome.proof else []
    grounds += [f"hint {outcome.hint}"] if outcome.hint else []
    grounds += [f"{outcome.source} governs"] if outcome.source else []
    aside = f" ({', '.join(grounds)})" if grounds else ""
    lines = [f"{outcome.decision} {outcome.row} {outcome.number}{aside}"]
    lines += [outcome.reason.detail] if outcome.reason and _is_well(outcome) else []
    write = outcome.write
    if write is not None and write.comment_id is not None and write.action is not Action.CONFLICT:
        lines.append(f"{write.action} {write.marker}: comment {write.comment_id} {write.url}")
    lines += [f"kept aside: {path}" for path in outcome.kept_aside]
    return lines

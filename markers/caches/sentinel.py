"""The sentinel of a session's bootstrap: a file with the id of the session that has done it.

What may live here: reading and writing it, and what follows from what it says.  What may not: how
a session is registered (``trusted_memory``).

An empty value never matches and is never written: it would match an empty variable for ever, and
no session would be bootstrapped again (stores, 15).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..errors import MarkersError
from .files import StateFile

VARIABLE = "CLAUDE_SESSION_ID"
MODE = 0o644


class Why(StrEnum):
    """Why a session has to be bootstrapped, or need not be."""

    NO_ID = "claude_session_id_missing"
    MISSING = "sentinel_missing"
    UNREADABLE = "sentinel_unreadable"
    EMPTY = "sentinel_empty"
    MISMATCH = "sentinel_mismatch"
    MATCH = "sentinel_match"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a session has to be bootstrapped."""

    needs_bootstrap: bool
    current: str
    stored: str | None
    reason: Why
    trouble: str = ""
    """What kept the sentinel from being read."""


def verdict(file: StateFile, current: str) -> Verdict:
    """Compare the sentinel with the session that runs; any doubt means that it is needed."""
    trouble, stored = "", None
    if current:
        try:
            data = file.read()
            stored = None if data is None else data.decode().strip()
        except MarkersError as error:
            trouble = error.reason.detail
        except UnicodeDecodeError:
            trouble = f"{file} is not UTF-8"
    why = Why.UNREADABLE if trouble else judged(current, stored)
    return Verdict(
        needs_bootstrap=why is not Why.MATCH,
        current=current,
        stored=stored,
        reason=why,
        trouble=trouble,
    )


def unknown(current: str, trouble: str) -> Verdict:
    """The verdict where the sentinel could not be looked at."""
    why = Why.UNREADABLE if current else Why.NO_ID
    return Verdict(needs_bootstrap=True, current=current, stored=None, reason=why, trouble=trouble)


def judged(current: str, stored: str | None) -> Why:
    """The table of what runs and what the sentinel says; None for no sentinel."""
    if not current:
        return Why.NO_ID
    if stored is None:
        return Why.MISSING
    if not stored:
        return Why.EMPTY
    return Why.MATCH if stored == current else Why.MISMATCH


def is_id(value: str) -> bool:
    """Whether a sentinel with this value is found again: one line, and something in it."""
    return bool(value) and value.isprintable() and value == value.strip()


def write(file: StateFile, value: str) -> None:
    """Write the sentinel whole; raises ``Failed`` and ``Refused``."""
    file.replace(value.encode())

"""Whether something that is to run once in a conversation has run (rows SMC-07, SMC-18, SMC-22).

What may live here: the text of each mark and what it means; pure.  What may not: files.

Whatever is doubtful means "run": running twice costs a moment, not running costs the check.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

UNKNOWN = "unknown"
"""What the reference pre-flight writes for a session that has no id: all such share one mark."""
_HASH = 16
"""Hex digits of a body's hash that are kept."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to run, and why."""

    run: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One issue's body, as a session has seen it."""

    number: int
    session: str
    body_hash: str

    @property
    def has_session(self) -> bool:
        """Whether the session is known; the mark of an unknown one would be anybody's."""
        return self.session not in ("", UNKNOWN)

    def text(self, now: str) -> bytes:
        """The mark's file."""
        said = {
            "issue_number": self.number,
            "session_id": self.session,
            "body_hash": self.body_hash,
            "injected_at": now,
        }
        return json.dumps(said, indent=2).encode() + b"\n"


def body_hash(text: str) -> str:
    """The hash of an issue's body, as the reference pre-flight keeps it."""
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH]


def verdict(mark: Mark, data: bytes | None) -> Verdict:
    """What the file says: only the same body, of the same issue, in the same session, is a skip."""
    if not mark.has_session:
        return Verdict(run=True, why="the session has no id")
    if data is None:
        return Verdict(run=True, why="there is no mark")
    try:
        said = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return Verdict(run=True, why="the mark is no JSON")
    wanted = {"issue_number": mark.number, "session_id": mark.session, "body_hash": mark.body_hash}
    if not isinstance(said, dict) or any(said.get(key) != value for key, value in wanted.items()):
        return Verdict(run=True, why="the mark is of another body, issue or session")
    return Verdict(run=False, why="the same body was seen in this session")


def presence(data: bytes | None) -> Verdict:
    """What a file says whose being there is all: anything in it is a skip."""
    if data is None or not data.strip():
        return Verdict(run=True, why="there is no mark")
    return Verdict(run=False, why="the mark is there")

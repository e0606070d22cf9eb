"""By which key a conversation, or else a worktree, finds its own files again.

What may live here: the order in which keys are looked for (contract, statements 33 and 34); pure.
What may not: asking git (``checkout``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .checkout import Checkout

NOBODY = "session"
"""The key where nothing else is known; all who know nothing share it."""
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
_PLAIN = re.compile(r"[^A-Za-z0-9]", re.ASCII)
_ISSUE = re.compile(r"issue-([0-9]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Key:
    """A part of a file's name, and how it was found."""

    slug: str
    strategy: str


def slug(text: str) -> str:
    """What is left of a text in a file's name; empty where nothing is."""
    return _UNFIT.sub("-", text).strip("-")


def session_slug(session: str) -> str:
    """The same as the reference pre-flight spells it: every other character becomes a dash."""
    return _PLAIN.sub("-", session)


def gate_key(session: str, checkout: Checkout) -> str:
    """The key of the gate events: session, else branch, else commit, else nobody's.

    A session of nothing but unfit characters is no session: all such would share one log.
    """
    ladder = {"s": session, "b": checkout.branch or "", "sha": checkout.sha or ""}
    slugs = {prefix: slug(text) for prefix, text in ladder.items()}
    return next((f"{prefix}-{found}" for prefix, found in slugs.items() if found), NOBODY)


def hygiene_key(session: str, checkout: Checkout) -> Key:
    """The key of a release decision, in the same order.

    A branch that is named after an issue, such as ``feature/issue-12-x``, is that issue's.
    """
    branch = checkout.branch or ""
    issue = _ISSUE.search(branch)
    ladder = (
        Key(slug(session), "session_id"),
        Key(issue[1] if issue else slug(branch), "branch_slug"),
        Key(slug(checkout.sha or ""), "session_fallback"),
    )
    return next((key for key in ladder if key.slug), Key(NOBODY, "session_fallback"))

"""Decision tables: what was observed and what is wanted, to what is to be done.

What may live here: frozen questions, ordered tables of rules, frozen answers.  What may not: any
request, clock or file.  The first rule whose condition holds decides; the last one always holds.
``writing`` decides about one write, ``standing`` about a local copy and its comment.
"""

from __future__ import annotations

from .standing import (
    Decision,
    OnConflict,
    Proof,
    Rule,
    Side,
    Standing,
    Word,
    adds_only,
    published,
    restored,
    settle,
)
from .writing import ABSENT, Effect, Governing, Move, Plan, Question, decide, effect_of_edit

__all__ = [
    "ABSENT",
    "Decision",
    "Effect",
    "Governing",
    "Move",
    "OnConflict",
    "Plan",
    "Proof",
    "Question",
    "Rule",
    "Side",
    "Standing",
    "Word",
    "adds_only",
    "decide",
    "effect_of_edit",
    "published",
    "restored",
    "settle",
]

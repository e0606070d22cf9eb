"""The table of docs/reconcile.md, from the decision table; run by ``make docs`` through cog."""

from __future__ import annotations

from markers.plan import Decision, OnConflict, Rule, Side
from markers.plan.standing import STANDINGS

_TAKES = {
    Side.LOCAL: "the comment gets the local text",
    Side.DURABLE: "the local copy gets the comment's text",
    Side.FALLBACK: "the local copy gets that text",
    Side.MERGED: "both get the merged text",
}
_KEPT = {Side.LOCAL: "the local text", Side.DURABLE: "the comment's text"}
_IN_STEP = "nothing is written but the base"


def _told(decision: Decision) -> str:
    parts = [f"`{decision.word}`"]
    if decision.word == "in-sync":
        parts.append(_IN_STEP if decision.takes else "nothing is written")
    elif decision.takes is not None:
        parts.append(_TAKES[decision.takes])
    if decision.keeps:
        parts.append(f"{' and '.join(_KEPT[side] for side in decision.keeps)} kept aside")
    if decision.proof:
        parts.append(f"proof `{decision.proof}`")
    if decision.reason:
        parts.append(f"code `{decision.reason.code}`")
    return ", ".join(parts)


def _wishes(rule: Rule) -> str:
    """What the wishes change that are not the default."""
    usual = rule.decisions[OnConflict.REFUSE]
    others = [wish for wish in OnConflict if rule.decisions[wish] != usual]
    return "; ".join(f"**{wish}**: {_told(rule.decisions[wish])}" for wish in others) or "-"


def standings() -> str:
    """One line a rule, in the order in which they are asked."""
    rows = [
        (rule.seen, _told(rule.decisions[OnConflict.REFUSE]), _wishes(rule)) for rule in STANDINGS
    ]
    head = ("seen", "decision", "with `--on-conflict`")
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

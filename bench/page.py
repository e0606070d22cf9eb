"""How the results read: Markdown tables, and a figure with its bar beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

KINDS = ("list", "GET", "POST", "PATCH", "DELETE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One promise: what was measured, the bar, and whether it holds."""

    what: str
    measured: str
    bar: str
    holds: bool


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = True) -> str:
    """A Markdown table; all columns but the first align to the right where they are *numbers*."""
    rule = ["---", *["---:" if numbers else "---"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows)) + "\n"


def figures(found: Iterable[Figure]) -> str:
    """The promises, one a line."""
    rows = ((f.what, f.measured, f.bar, "holds" if f.holds else "**missed**") for f in found)
    return table(("promise", "measured", "bar", ""), rows, numbers=False)


def requests(counts: Mapping[str, int]) -> str:
    """Requests by kind, conditional ones in brackets: ``12 list (2 conditional) + 1 PATCH``."""
    told = [f"{counts[kind]} {kind}" for kind in KINDS if counts.get(kind)]
    if counts.get("conditional"):
        told[0] += f" ({counts['conditional']} conditional)"
    return " + ".join(told) or "none"


def ms(seconds: float) -> str:
    """Milliseconds, whole."""
    return f"{seconds * 1000:.0f}"


def mib(size: float) -> str:
    """Mebibytes to a tenth."""
    return f"{size / 2**20:.1f}"

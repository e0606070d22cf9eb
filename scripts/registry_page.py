"""The tables of docs/registry.md, from the shipped registry; run by ``make docs`` through cog."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markers.contract import load
from markers.model import Family, Row


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _surfaces(family: Family) -> str:
    """Surfaces, with those that depend on a parameter behind them."""
    told = [surface.value for surface in family.surfaces]
    for name, by_value in family.surface_when.items():
        told += [f"{where.value} for {name} {value}" for value, where in by_value.items()]
    return ", ".join(told) or "-"


def _notes(family: Family) -> str:
    flags = ("empty", "deletable", "immutable")
    told = [flag for flag in flags if getattr(family, flag)]
    told += [
        f"{param.name}: {', '.join(param.values) or 'any slug'}"
        for param in family.params
        if f"{{{param.name}}}" in family.template
    ]
    return "; ".join(told) or "-"


def families() -> str:
    """One line a family; what the writer may write comes first."""
    found = sorted(load().families.values(), key=lambda f: (not f.writable, f.name))
    head = ("family", "marker", "status", "scope", "shape", "surface", "rows", "parameters, flags")
    rows = (
        (
            _code(f.name),
            _code(f.template),
            f.status.value,
            f.scope.value,
            f.shape.value if f.shape else "-",
            _surfaces(f),
            ", ".join(f.rows) or "-",
            _notes(f),
        )
        for f in found
    )
    return _table(head, rows)


def _line(row: Row) -> tuple[str, ...]:
    lives = "; ".join(f"{each.label} ({each.when})" for each in row.survival)
    durable = ", ".join(map(_code, row.families)) or "-"
    chain = ", then ".join(row.chain) or "-"
    owner = _code(row.owner) if row.owner else "-"
    return (row.id, row.shape, row.status.value, lives, durable, chain, owner, row.gap or "-")


def rows() -> str:
    """One line a row."""
    head = ("row", "state", "status", "lives", "families", "read chain", "owner", "gap")
    return _table(head, map(_line, load().rows.values()))

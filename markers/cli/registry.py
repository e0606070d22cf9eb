"""``persist-marker registry``: the contract as this install sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ..model import Family, Row, Shape
from . import exits
from .common import Invocation, MarkerCommand, MarkerGroup, documented
from .documents import Document, plain
from .output import Answer
from .paths import CONTRACT
from .target import complete_family

if TYPE_CHECKING:
    from ..bounded import Bounded

SELECTORS: Mapping[Shape | None, str] = {
    Shape.UPSERT: "lowest trusted id",
    Shape.POST_NEW: "highest trusted id",
    None: "none: nothing writes it",
}


@click.group(
    "registry",
    cls=MarkerGroup,
    short_help="Show and check rows and families.",
    **documented(
        example="persist-marker registry list",
        exits="0 shown; 1 `check` found problems; 3 refused",
    ),
)
def command() -> None:
    """Show the contract as this install sees it, --contract directories included."""


@command.command(
    "list",
    cls=MarkerCommand,
    short_help="All rows and families.",
    **documented(example="persist-marker registry list", exits="0 shown; 3 refused"),
)
@click.pass_obj
def list_all(call: Invocation, /) -> Answer:
    """Show all rows and families, each with its standing."""
    rows, families = call.contract.rows.values(), call.contract.families.values()
    lines = [f"{r.id}  {r.status}  {r.shape}" for r in rows]
    lines += [f"{f.name}  {f.status}  {f.scope}  {f.shape or '-'}  {f.template}" for f in families]
    return Answer(
        document={"rows": [_row(r) for r in rows], "families": [_brief(f) for f in families]},
        lines=lines,
    )


def _complete_name(
    context: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from ..contract import load

    rows = [CompletionItem(name) for name in load().rows if name.startswith(incomplete)]
    return [*complete_family(context, param, incomplete), *rows]


@command.command(
    "show",
    cls=MarkerCommand,
    short_help="One family or row.",
    **documented(
        example="persist-marker registry show plan-issue\npersist-marker registry show SMC-01",
        exits="0 shown; 3 no such family or row",
    ),
)
@click.argument("name", shell_complete=_complete_name)
@click.pass_obj
def show(call: Invocation, /, name: str) -> Answer:
    """Show rows, surface, shape, scope, selector and payload fields of family or row NAME."""
    if name.upper() in call.contract.rows:
        row = call.contract.row(name.upper())
        return _answer(_row(row))
    return _answer(_family(call.contract.family(name)))


@command.command(
    "check",
    cls=MarkerCommand,
    short_help="Lint registry files.",
    **documented(
        example="persist-marker registry check .tmp/my-families",
        exits="0 nothing wrong; 1 problems found; 3 refused",
    ),
)
@click.argument("directory", type=CONTRACT, required=False, metavar="[DIR]")
@click.pass_obj
def check(call: Invocation, /, directory: Bounded | None) -> Answer:
    """Check the registry files in DIR (below a scratch root), else the contract in use."""
    from .. import contract
    from ..config import overlays

    if directory is not None:
        found = contract.check(directory)
    else:
        own, foreign = overlays(call.settings)
        found = contract.problems(own, families_only=foreign)
    return Answer(
        document={"problems": plain(found)},
        lines=[str(problem) for problem in found] or ["nothing wrong"],
        code=exits.FOUND if found else exits.OK,
    )


def _brief(family: Family) -> Document:
    return {
        "name": family.name,
        "marker": family.template,
        "status": family.status.value,
        "scope": family.scope.value,
        "shape": plain(family.shape),
        "surface": plain(family.surfaces),
        "rows": list(family.rows),
        "writable": family.writable,
    }


def _family(family: Family) -> Document:
    """All that is declared, with the selector that reader and writer share in words."""
    document: Document = plain(family)
    document["marker"] = document.pop("template")
    document["surface"] = document.pop("surfaces")
    document["selector"] = SELECTORS[family.shape]
    document["contract_selection"] = document.pop("selection")
    document["payload"] = plain(family.payload)
    return document


def _row(row: Row) -> Document:
    document: Document = plain(row)
    return document


def _answer(document: Document) -> Answer:
    return Answer(document=document, lines=_lines(document))


def _lines(document: Document) -> list[str]:
    """``key: value`` for what is set; structures are indented below their key."""
    lines = []
    for key, value in document.items():
        if value in (None, [], {}, ""):
            continue
        if isinstance(value, str | int):
            lines.append(f"{key}: {value}")
        else:
            lines += [f"{key}:", *(f"  {line}" for line in _inside(value))]
    return lines


def _inside(value: Mapping[str, Any] | Sequence[Any]) -> list[str]:
    if isinstance(value, Mapping):
        return _lines(dict(value))
    if all(isinstance(item, str | int) for item in value):
        return [f"- {item}" for item in value]
    return [line for item in value for line in _item(item)]


def _item(item: Any) -> list[str]:
    inside = _inside(item) if isinstance(item, Mapping | Sequence) and item else [str(item)]
    return [f"- {inside[0]}", *(f"  {line}" for line in inside[1:])]

"""Which marker on which thread: the options that say so, and what they mean together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from ..codec import derive
from ..errors import Refused, Usage, echo
from ..model import Family, Marker, Surface, Thread
from .common import Invocation
from .params import KEY_VALUE, NUMBER

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The target as the command line spells it."""

    family: str | None
    number: int | None
    params: Sequence[tuple[str, str]]
    marker: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The marker, its family and the thread it belongs on."""

    thread: Thread
    family: Family
    marker: Marker


def complete_family(
    context: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the names of families that a comment carries."""
    del context
    from ..contract import load

    families = load().families.values()
    return [CompletionItem(f.name) for f in families if f.name.startswith(incomplete)]


def target_options(command: F) -> F:
    """Add ``--family --number --param --marker``."""
    options = (
        click.option(
            "--family", metavar="NAME", shell_complete=complete_family, help="The marker's family."
        ),
        click.option(
            "--number", type=NUMBER, metavar="N", help="The issue or pull request, by number."
        ),
        click.option(
            "--param",
            "params",
            type=KEY_VALUE,
            multiple=True,
            metavar="KEY=VALUE",
            help="A parameter of the family, such as phase=plan; may be repeated.",
        ),
        click.option(
            "--marker", metavar="TEXT", help="The whole marker, instead of --family and --param."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def asked(given: dict[str, Any]) -> Asked:
    """The target options among all that were given."""
    return Asked(
        family=given["family"],
        number=given["number"],
        params=given["params"],
        marker=given["marker"],
    )


def resolve(call: Invocation, wish: Asked) -> Target:
    """Derive or parse the marker and find its thread.

    Raises ``Usage`` where the options do not fit together, ``Refused`` (``marker-unknown``,
    ``number-mismatch``, ``family-unknown`` and the codec's own codes) where they mean nothing.
    """
    _fitting(wish)
    call.subject.family, call.subject.number = wish.family, wish.number
    family, marker = _derived(call, wish) if wish.marker is None else _parsed(call, wish)
    number = marker.number if wish.number is None else wish.number
    if number is None:
        raise Usage("number", f"{marker.text} names no thread: add --number N")
    call.subject.family, call.subject.number = family.name, number
    call.subject.marker = marker.text
    call.subject.surface = _only(family.surfaces_for(dict(marker.params)))
    repo = call.repo
    return Target(thread=Thread(repo, number), family=family, marker=marker)


def _fitting(wish: Asked) -> None:
    if (wish.family is None) == (wish.marker is None):
        raise Usage("target", "say which marker with either --family and --number, or --marker")
    if wish.family is not None and wish.number is None:
        raise Usage("number", "--family needs --number N")
    if wish.marker is not None and wish.params:
        raise Usage("param", "--param goes with --family; --marker has its parameters in its text")
    names = [name for name, _value in wish.params]
    if len(set(names)) < len(names):
        raise Usage("param", f"--param names {', '.join(sorted(set(names)))} more than once")


def _derived(call: Invocation, wish: Asked) -> tuple[Family, Marker]:
    family = call.contract.family(wish.family or "")
    return family, derive(family, wish.number, dict(wish.params))


def _parsed(call: Invocation, wish: Asked) -> tuple[Family, Marker]:
    text = (wish.marker or "").strip(" \t\r\n")
    marker = call.contract.parse(text)
    if marker is None:
        raise Refused(
            "marker-unknown",
            f"'{echo(text)}' is no family's marker; `persist-marker registry list` shows them",
        )
    call.subject.family, call.subject.marker = marker.family, text
    if marker.number is not None and wish.number not in (None, marker.number):
        raise Refused(
            "number-mismatch", f"{marker.text} belongs on {marker.number}, not on {wish.number}"
        )
    return call.contract.family(marker.family), marker


def _only(surfaces: Sequence[Surface]) -> str | None:
    return surfaces[0].value if len(surfaces) == 1 else None

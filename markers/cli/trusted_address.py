"""The verbs of ``state trusted-memory address``: the addresses in a user's profile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from ..caches import addresses
from .common import MarkerCommand, MarkerGroup, documented
from .documents import Document
from .output import Answer
from .stored import chosen, state_file, told
from .trusted import CALL, EXITS

if TYPE_CHECKING:
    from ..caches.engine import Cabinet
    from ..paths import Place

_NAME = addresses.STORE.name


@click.group(
    "address",
    cls=MarkerGroup,
    short_help="The addresses in the user's profile.",
    **documented(example=f"{CALL} address get current_home", exits=EXITS),
)
def address() -> None:
    """Read the `## Addresses` block of user_profile.md, and bring it to its newest version."""


@address.command(
    "get",
    cls=MarkerCommand,
    short_help="Print what the block says of a key.",
    **documented(
        example=f"{CALL} address get current_home",
        exits="0 printed; 1 no file, block or value, or an unknown version; 2 usage; 3 refused",
    ),
)
@click.argument("key", metavar="KEY")
@click.pass_context
def get(context: click.Context, /, key: str) -> Answer:
    """Print the value of KEY, such as current_home or home_airport; nothing is ever guessed.

    Of home_metro all values are printed, and none where there is none.
    """
    cabinet = _cabinet(context)
    seen, warning = cabinet.look(), ""
    if key in addresses.TOLERANT:
        found, warning = addresses.tolerated(seen, key)
    else:
        found = (addresses.value(addresses.require_text(seen), key),)
    return told(
        context,
        _profile(context),
        lines=found,
        warnings=[warning] if warning else [],
        key=key,
        values=list(found),
    )


@address.command(
    "migrate",
    cls=MarkerCommand,
    short_help="Bring the block to its newest version.",
    **documented(
        example=f"{CALL} address migrate",
        exits="0 it has the newest version; 1 it cannot be migrated; 2 usage; 3 refused",
    ),
)
@click.pass_context
def migrate(context: click.Context, /) -> Answer:
    """Stamp the block with its newest version; a current one is left as it is, byte for byte.

    A newer version, and a block without current_home or home_airport, are not touched.
    """
    cabinet = _cabinet(context)
    found = addresses.migrate(addresses.require_text(cabinet.look())).found
    action, warnings = "unchanged", tuple[str, ...]()
    if found != addresses.CURRENT:
        done = cabinet.update(lambda text: addresses.migrate(text).text)
        action, warnings = done.action.value, done.warnings
    profile = _profile(context)
    result: Document = {
        "migrated": action == "updated",
        "from": found,
        "to": addresses.CURRENT,
    }
    line = json.dumps({**result, "path": str(profile.path)})
    return told(context, profile, action=action, lines=[line], warnings=warnings, **result)


def _profile(context: click.Context) -> Place:
    return chosen(context, "profile", _NAME)


def _cabinet(context: click.Context) -> Cabinet[str]:
    from ..caches.engine import Cabinet

    file = state_file(context, _profile(context), addresses.STORE)
    return Cabinet(addresses.STORE, addresses.CODEC, file)

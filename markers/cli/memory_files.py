"""Where the files of ``state memory`` are, by what the options of its verbs say."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from ..caches import memory
from ..caches.memory import KINDS, Base
from ..errors import Usage
from .common import Invocation
from .params import NUMBER
from .stored import chosen, state_file

if TYPE_CHECKING:
    from ..caches.checkout import Checkout
    from ..caches.files import StateFile
    from ..caches.keys import Key
    from ..paths import Place

NAME = "memory"
CALL = f"persist-marker state {NAME}"
EXITS = "0 done; 1 failed; 2 usage; 3 refused; 7 unavailable"
_SESSIONS = ("CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID")
"""Where a harness says which session this is; the first that is set counts."""

id_option = click.option(
    "--id", "number", type=NUMBER, required=True, metavar="N", help="The issue."
)
ids_option = click.option(
    "--id",
    "numbers",
    type=NUMBER,
    multiple=True,
    metavar="N",
    help="The issue; again for a bundle.",
)
scope_option = click.option("--scope", metavar="WORD", help="Which of several files of the kind.")
session_option = click.option(
    "--session",
    metavar="ID",
    help="The session; by default what the harness says in the environment.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the options of a verb say of a file."""

    numbers: tuple[int, ...] = ()
    scope: str | None = None
    session: str | None = None


def root_of(context: click.Context) -> Place:
    """Where session memory is."""
    return chosen(context, "root", NAME)


def checkout_of(context: click.Context) -> Checkout:
    """The worktree that the command runs in."""
    from ..caches.checkout import look

    place = _call(context).place
    return look(place.top, place.directory)


def session_of(context: click.Context, said: str | None) -> str:
    """The session's id; empty where nobody says it."""
    environ = _call(context).place.environ
    return said or next((environ[name] for name in _SESSIONS if name in environ), "")


def hygiene_key(context: click.Context, session: str | None) -> Key:
    """The key of a release decision, and how it was found."""
    from ..caches.keys import hygiene_key

    return hygiene_key(session_of(context, session), checkout_of(context))


def _of_numbers(_context: click.Context, kind: str, said: Said) -> str:
    return memory.value_of(kind, said.numbers)


def _of_scope(_context: click.Context, _kind: str, said: Said) -> str:
    if not said.scope:
        raise Usage("scope", "this kind of file needs --scope")
    return said.scope


def _of_directory(context: click.Context, _kind: str, said: Said) -> str:
    from ..caches.keys import slug

    return said.scope or slug(str(checkout_of(context).top))[-memory.LONGEST_WORD :].strip("-.")


def _of_gate(context: click.Context, _kind: str, said: Said) -> str:
    from ..caches.keys import gate_key

    return gate_key(session_of(context, said.session), checkout_of(context))


def _of_hygiene(context: click.Context, _kind: str, said: Said) -> str:
    return hygiene_key(context, said.session).slug


def _of_run_once(context: click.Context, kind: str, said: Said) -> str:
    from ..caches.keys import session_slug

    memory.value_of("plan-issue", said.numbers)  # one number, as for a plan
    session = session_of(context, said.session)
    if not session:
        raise Usage("session", f"a file of {kind} needs --session: it would be anybody's")
    return f"{session_slug(session)}-issue-{said.numbers[0]}"


_VALUES: Mapping[str, Callable[[click.Context, str, Said], str]] = {
    "rate-limit": _of_scope,
    "install-prompt": _of_directory,
    "gate-events": _of_gate,
    "release-hygiene": _of_hygiene,
    "run-once": _of_run_once,
}
"""From a kind to what stands in the braces of its template, where that is no number."""


def place_of(context: click.Context, kind: str, said: Said) -> Place:
    """The file; raises ``Usage`` for what is not said, ``Refused`` for what is no name."""
    value = "" if KINDS[kind].is_fixed else _VALUES.get(kind, _of_numbers)(context, kind, said)
    return _placed(context, KINDS[kind].base, memory.path_of(kind, value))


def _placed(context: click.Context, base: Base, parts: tuple[str, ...]) -> Place:
    from ..caches.places import below
    from ..paths import Place, Roots

    if base is Base.MEMORY:
        return below(root_of(context), parts[-1])
    checkout = checkout_of(context)
    root = checkout.common if base is Base.COMMON else checkout.top
    return Place(str(root.joinpath(*parts)), root, parts, Roots((root,)))


def file_of(context: click.Context, kind: str, place: Place) -> StateFile:
    """The file with what its kind declares."""
    return state_file(context, place, memory.store(kind))


def listing(context: click.Context) -> list[tuple[memory.Found, Place]]:
    """All files of all kinds that are there, by their names."""
    found: list[tuple[memory.Found, Place]] = []
    for base, above in dict.fromkeys((kind.base, kind.parts[:-1]) for kind in KINDS.values()):
        at = _placed(context, base, (*above, "x"))
        for file in names_beside(at):
            place = _placed(context, base, (*above, file))
            read = memory.read_name(file, base)
            if read is not None and KINDS[read.kind].parts[:-1] == above:
                found.append((read, place))
    return found


def names_beside(file: Place) -> list[str]:
    """What is in the directory of a file; nothing where there is none."""
    from ..paths import missing_is_fine, walked

    names: list[str] = []
    with missing_is_fine(), walked(file, file.parts[:-1]) as at:
        names = os.listdir(at)  # noqa: PTH208 - pathlib takes no descriptor
    return sorted(names)


def _call(context: click.Context) -> Invocation:
    call: Invocation = context.find_root().obj
    return call

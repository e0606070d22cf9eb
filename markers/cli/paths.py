"""The one kind of value by which options and arguments name files.

Every path that the command line takes goes through ``BoundedPath``, which a test proves by walking
all commands.  That is what makes a broad allow-list entry for the command safe.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

from ..errors import Refused
from .params import ParamType

if TYPE_CHECKING:
    from ..bounded import Bounded
    from ..caches.places import Surroundings
    from ..config.settings import Place
    from ..journal.address import Address
    from ..paths import Place as Located

STDIN: Final = "-"


def _payload(value: str, place: Place) -> Callable[[], bytes]:
    """Reads the file at once and whole, when the command knows what it is about."""
    return _standard_input if value == STDIN else partial(read_payload, value, place)


def read_payload(value: str, place: Place) -> bytes:
    """The bytes of a payload file, bounded; a manifest names its payloads, too."""
    from ..paths import read_bounded

    return read_bounded(value, place.roots, cwd=place.directory)


def _standard_input() -> bytes:
    from ..paths import LIMIT

    if sys.stdin is None:
        raise Refused("stdin", "standard input is closed; name a file instead of -")
    data = sys.stdin.buffer.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise Refused("stdin", f"standard input holds more than {LIMIT:,} bytes")
    return data


def _directory(value: str, place: Place) -> Bounded:
    from ..bounded import directory_bounded

    return directory_bounded(value, place.roots, cwd=place.directory)


def _database(value: str, place: Place) -> Path:
    from ..paths import writable_file_bounded

    return writable_file_bounded(value, place.roots, cwd=place.directory)


def _journal(value: str, place: Place) -> Path | Address:
    """A name from the user's own file may lie anywhere; a path lies below the roots."""
    from ..config.settings import named_journal

    if value in place.own.journals or "://" in value:
        return named_journal(value, place, argument=True)
    return _database(value, place)


def _prose(value: str, place: Place) -> Located:
    """A file of the checkout, looked at now and read when its turn comes."""
    from ..paths import Roots, locate, open_bounded

    top = () if place.top is None else (place.top,)
    roots = Roots(tuple(dict.fromkeys((*top, *place.roots.directories))))
    open_bounded(value, roots, cwd=place.directory).close()
    return locate(value, roots, cwd=place.directory)


def _of_a_store(name: str, value: str, place: Place) -> Located:
    """A file or directory of a store, by its letters; what is there is looked at when opened."""
    from ..caches.places import named

    return named(name, value, surroundings(place))


def _directory_of_a_store(name: str, value: str, place: Place) -> Located:
    """A directory that no link leads to, or one that cannot be read: dealt with as by default."""
    from ..paths import walked

    located = _of_a_store(name, value, place)
    try:
        with walked(located, located.parts):
            pass
    except Refused as refusal:
        if refusal.reason.code not in _NOT_THERE:
            raise
    return located


_NOT_THERE = ("path-missing", "path-unreadable")
"""What is no rule's business: the store's own readers do without such a directory."""


def surroundings(place: Place) -> Surroundings:
    """What the places of stores depend on."""
    from ..caches.places import Surroundings

    return Surroundings(
        environ=place.environ, directory=place.directory, top=place.top, allowed=place.roots
    )


def _cache(value: str, place: Place) -> Located:
    """A row's file, by its letters; which name it must bear, and where, its row says later."""
    from ..caches.places import SPOTS, unlinked
    from ..paths import Roots, locate

    top, at = () if place.top is None else (place.top,), surroundings(place)
    roots = Roots(tuple(dict.fromkeys((SPOTS["memory"].root(at), *top, *place.roots.directories))))
    return locate(unlinked(value, at), roots, cwd=place.directory)


_STORES = (
    "session-md",
    "session-yaml",
    "trusted-memory",
    "sentinel",
    "addresses",
    "messages",
    "agent-box",
)
_DIRECTORIES = ("side-dir", "live-dir", "transcripts", "memory")
_KINDS: Mapping[str, tuple[Callable[[str, Place], Any], str]] = {
    "payload": (_payload, "file"),
    "contract": (_directory, "dir"),
    "database": (_database, "file"),
    "journal": (_journal, "file"),
    "prose": (_prose, "file"),
    "cache": (_cache, "file"),
    **{name: (partial(_of_a_store, name), "file") for name in _STORES},
    **{name: (partial(_directory_of_a_store, name), "dir") for name in _DIRECTORIES},
}


class BoundedPath(ParamType):
    """A path that is opened or refused while the command line is being read; a payload later.

    *kind* says what is made of it.  Raises ``Refused`` with a ``path-...`` code.
    """

    name = "path"

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._open, self._completion = _KINDS[kind]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Open it; only a shell that completes a line leaves it alone."""
        del param
        if ctx is None or ctx.resilient_parsing or not isinstance(value, str):
            return value
        return self._open(value, ctx.find_root().obj.place)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Let the shell complete file names."""
        del ctx, param
        return [CompletionItem(incomplete, type=self._completion)]


PAYLOAD = BoundedPath("payload")
CONTRACT = BoundedPath("contract")
DATABASE = BoundedPath("database")
JOURNAL = BoundedPath("journal")
PROSE = BoundedPath("prose")
CACHE = BoundedPath("cache")

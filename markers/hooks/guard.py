"""The survey guard: whether anybody has looked for what a command is about to set up.

What may live here: reading a command, pure.  What may not: running or refusing it.  The guard
never stands in the way: it adds a sentence (stores, statements 14 to 16).

A command counts where a segment of it *starts* with one of the words: neither ``sudo docker run``
nor ``FOO=1 docker run`` does, which keeps the guard predictable.  A separator inside quotes
separates nothing, and a command whose quotes do not close is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

ADVICE = (
    "survey-before-act: this looks like the setting up of a service. Before it is created, look "
    "whether it is there already (docker ps, docker compose ls, the compose file): if so, use that "
    "one. Either way note what you found with `persist-marker state session-md infra "
    '"NAME what and where"`. This is advice; the command is not held up.'
)
LONGEST = 2_000
"""Characters of a command that are kept in the log: a line has to be written in one go."""
_PIECE = re.compile(r"""(;|&&|\|\|)|'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^'"\\;&|]+|[^'"]""", re.DOTALL)
_PROVISIONS = re.compile(
    r"(?:(?:docker|podman|nerdctl)[ \t]+run|docker[ \t]+compose[ \t]+up|docker-compose[ \t]+up)"
    r"(?=\s|$)(?!\s+(?:--help|--version)(?:\s|$))(?!\s+-h\s*$)"
)
"""``docker run -h NAME`` is not for help: it names a host."""
_TOKEN = re.compile(r"[a-z0-9._-]+")


def provisions(command: str) -> bool:
    """Whether a segment of the command starts with what sets up a service."""
    if not _PROVISIONS.search(command):
        return False
    return any(_PROVISIONS.match(segment.strip()) for segment in _segments(command))


def _segments(command: str) -> Iterator[str]:
    """What stands between ``;``, ``&&`` and ``||``; nothing where a quote does not close."""
    pieces = list(_PIECE.finditer(command))
    if sum(len(piece[0]) for piece in pieces) != len(command):
        return
    start = 0
    for piece in pieces:
        if piece[1]:
            yield command[start : piece.start()]
            start = piece.end()
    yield command[start:]


def was_surveyed(command: str, names: Collection[str]) -> bool:
    """Whether one of the lower-case *names* is a whole token of the command."""
    return not set(names).isdisjoint(_TOKEN.findall(command.lower()))


def logged(command: str) -> str:
    """The line of the log: no character of the command can end or forge one."""
    shown = "".join(each for each in command if each == "\t" or each.isprintable())
    return f"survey-warn cmd={shown[:LONGEST]}"

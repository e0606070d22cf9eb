"""The survey guard: whether anybody has looked for what a command is about to set up.

What may live here: reading a command, pure.  What may not: running or refusing it.  The guard
never stands in the way: it adds a sentence (stores, statements 14 to 16).

A command counts where a segment of it *starts* with one of the words: neither ``sudo docker run``
nor ``FOO=1 docker run`` does, which keeps the guard predictable.  A separator inside quotes
separates nothing, and a command whose quotes do not close is not judged.  Who asks for help or the
version sets nothing up.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

ADVICE = (
    "survey-before-act: this looks like the setting up of a service. Before it is created, look "
    "whether it is there already (docker ps, docker compose ls, the compose file): if so, use that "
    "one. Either way note what you found with `persist-marker state session-md infra "
    '"NAME what and where"`. This is advice; the command is not held up.'
)
MOST = 64 * 1024
"""Characters of a command that is judged; a longer one is a script, and gets no advice."""
LONGEST = 2_000
"""Characters of a command that are kept in the log: a line has to be written in one go."""
_PIECE = re.compile(r"""(;|&&|\|\|)|'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^'"\\;&|]+|[^'"]""", re.DOTALL)
_PROVISIONS = re.compile(
    r"(?:(?:docker|podman|nerdctl)[ \t]+(run)|(?:docker[ \t]+compose|docker-compose)[ \t]+up)"
    r"(?=[\s;&|<>()]|$)"
)
"""The group tells a run of one image from a start of what a file lists."""
_WORD = re.compile(
    r"""(?:[ \t]|\\\n)*((?:'[^']*'|"(?:\\.|[^"\\])*"|\\[^\n]|[^\s'"\\;&|<>()])+)""", re.DOTALL
)
_HELP = frozenset({"--help", "--version"})
_UP_HELP = _HELP | {"-h"}
_RUN_HELP = _HELP | {"-h "}
"""``docker run -h NAME`` is not for help: it names a host."""
_SWITCHES = frozenset(
    {"--detach", "--disable-content-trust", "--init", "--interactive", "--no-healthcheck"}
    | {"--oom-kill-disable", "--privileged", "--publish-all", "--quiet", "--read-only", "--replace"}
    | {"--rm", "--rmi", "--sig-proxy", "--tty"}
)
"""Options of ``run`` that take no value; behind all others the next word is one."""
_LETTERS = "ditPq"
"""The same of one letter, which may stand together."""
_TOKEN = re.compile(r"[a-z0-9._-]+")


def provisions(command: str) -> bool:
    """Whether a segment of the command starts with what sets up a service."""
    if len(command) > MOST or not _PROVISIONS.search(command):
        return False
    return any(_sets_up(segment.strip()) for segment in _segments(command))


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


def _sets_up(segment: str) -> bool:
    found = _PROVISIONS.match(segment)
    if found is None:
        return False
    words = list(_words(segment, found.end()))
    return (_RUN_HELP if found[1] else _UP_HELP).isdisjoint(_options(words) if found[1] else words)


def _words(segment: str, at: int) -> Iterator[str]:
    """What follows, up to a pipe, a redirection or the end of the line, as it is spelled."""
    while word := _WORD.match(segment, at):
        yield word[1]
        at = word.end()


def _options(words: Iterable[str]) -> Iterator[str]:
    """The options of ``run`` itself, without values but for that of ``-h``.

    What follows the image is for its program.
    """
    waiting = iter(words)
    for word in waiting:
        if not word.startswith("-") or word == "--":
            return
        value = next(waiting, "") if _takes_next(word) else None
        yield f"{word} {value}" if word == "-h" else word


def _takes_next(option: str) -> bool:
    if option.startswith("--"):
        return "=" not in option and option not in _SWITCHES | _HELP
    rest = option[1:].lstrip(_LETTERS)
    return len(rest) == 1


def was_surveyed(command: str, names: Collection[str]) -> bool:
    """Whether one of the lower-case *names* is a whole token of the command."""
    return not set(names).isdisjoint(_TOKEN.findall(command.lower()))


def logged(command: str) -> str:
    """The line of the log: no character of the command can end or forge one."""
    shown = "".join(each if each.isprintable() else " " for each in command[:LONGEST])
    return f"survey-warn cmd={shown}"

"""How a shell line of a harness's settings calls us.

What may live here: reading such a line, pure.  What may not: what is wrong with the call.

Only the forms are read that people write around a hook (a list, a group, a redirection, ``sh -c``,
``cd`` and variables in front, ``python -m markers``); what seems to call us in another one is
answered as a call of which nothing is known.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from . import spoken

PROGRAM = "persist-marker"
LONGEST = 10_000
"""Characters of a line that is read."""
_NAMED = re.compile(rf"{PROGRAM}|-m\s+markers")
_HOOK = re.compile(r"\bhook\s")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_PYTHON = re.compile(r"python[0-9.]*")
_SEPARATES = frozenset("();|&\n")
_REDIRECTS = frozenset("<>")
_SHELLS = frozenset({"sh", "bash", "zsh", "dash"})
_AHEAD = frozenset(
    {"exec", "command", "nohup", "time", "env", "!", "{", "if", "then", "else", "do"}
)
"""Words in front of a program that change nothing for it."""
_COMMAND = re.compile(r"-[a-z]*c")
_DEEPEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of ``hook`` in a line."""

    program: str = ""
    """As the line spells it; empty where nothing is known but that we are named."""
    event: str = ""
    """The word behind ``hook``."""
    more: bool = False
    """Whether there is more on our command line than the two words."""
    first: bool = False
    """Whether the line begins with it, so that nothing before can have changed where it runs."""
    moved: bool = False
    """Whether there is a ``cd`` before."""


def calls(line: str) -> list[Call]:
    """The calls of ``hook`` in a shell line."""
    found = list(_calls(line, _DEEPEST)) if len(line) <= LONGEST else []
    named = None if found else _NAMED.search(line)
    return [Call()] if named and _HOOK.search(line, named.end()) else found


def _calls(line: str, deepest: int, *, first: bool = True, moved: bool = False) -> Iterator[Call]:
    for words in _segments(line):
        plain = list(_without_ahead(words))
        name = plain[0].rpartition("/")[2] if plain else ""
        first = first and plain[:1] == words[:1]
        if name in _SHELLS and deepest and (inner := _script(plain)) is not None:
            yield from _calls(inner, deepest - 1, first=first, moved=moved)
        elif (ours := _our_words(name, plain)) is not None:
            call = _call(plain[0], ours, first=first, moved=moved)
            yield from [call] if call else []
        moved, first = moved or name in ("cd", "pushd"), False


def _segments(line: str) -> Iterator[list[str]]:
    """The words of each command, without redirections; nothing where a quote does not close."""
    plain = line.replace("\\\n", " ")
    reader = shlex.shlex(plain, posix=True, punctuation_chars="".join(_REDIRECTS | _SEPARATES))
    reader.whitespace_split, reader.whitespace, reader.commenters = True, " \t\r", ""
    words: list[str] = []
    try:
        tokens = iter([*reader, ";"])
    except ValueError:
        return
    for token in tokens:
        if token and not _REDIRECTS.isdisjoint(token) and set(token) <= _REDIRECTS | _SEPARATES:
            next(tokens, None)
            if words and words[-1].isdigit():
                words.pop()
        elif token and set(token) <= _SEPARATES:
            if words:
                yield words
            words = []
        else:
            words.append(token)


def _without_ahead(words: Sequence[str]) -> Iterator[str]:
    ahead = True
    for word in words:
        ahead = ahead and (word in _AHEAD or _ASSIGNED.fullmatch(word) is not None)
        if not ahead:
            yield word


def _script(words: Sequence[str]) -> str | None:
    """What a shell is told to run: the word behind ``-c``."""
    for at, word in enumerate(words[:-1]):
        if _COMMAND.fullmatch(word):
            return words[at + 1]
    return None


def _our_words(name: str, words: Sequence[str]) -> Sequence[str] | None:
    """What follows our name; None for another program."""
    if name == PROGRAM:
        return words[1:]
    if _PYTHON.fullmatch(name) and list(words[1:3]) == ["-m", "markers"]:
        return words[3:]
    return None


def _call(program: str, ours: Sequence[str], *, first: bool, moved: bool) -> Call | None:
    end = next((at for at, word in enumerate(ours) if word.startswith("#")), len(ours))
    words = ours[:end]
    said = spoken(words)
    if next(said, "") != "hook":
        return None
    event = next(said, "")
    more = len(words) > 2
    return Call(program=program, event=event, more=more, first=first, moved=moved)

"""``state agent-box rotate --hook``: exit code 0 and not a word, whatever is wrong.

What may live here: telling that call from all others, and keeping it quiet.  What may not: what the
call does (``state_agent_box``).

A session runs it when it starts, and must go on: not even a broken settings file or an option that
nobody knows may be heard of (stores, 27).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from itertools import pairwise
from pathlib import Path

_GROUPS = ("state", "agent-box")
_VERB = "rotate"
_HOOK = "--hook"
_HELP = ("-h", "--help")
_FLAGS = ("--json", "-v", "--verbose", "-q", "--quiet")
"""The options in front of the verb that take no value."""


def is_silent(words: Sequence[str]) -> bool:
    """Whether the command line is that of the hook, also with options that nobody knows."""
    if _HOOK not in words or _VERB not in words or any(word in _HELP for word in words):
        return False
    front = words[: words.index(_VERB)]
    return _GROUPS[1] in front and set(_plain(front)) <= {*_GROUPS}


def _plain(words: Sequence[str]) -> list[str]:
    """The words that are neither options nor can be the values of such."""
    return [
        word
        for before, word in pairwise(("", *words))
        if not word.startswith("-")
        and (not before.startswith("-") or before in _FLAGS or "=" in before)
    ]


def run(words: Sequence[str], command: Callable[[list[str]], object]) -> None:
    """Run *command* on the words, unheard; the event is taken in to its end in any case."""
    with (
        Path(os.devnull).open("w") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
        suppress(BaseException),
    ):
        try:
            command([*words])
        finally:
            from .hooking import drained

            drained(sys.stdin)

"""Taking tokens out of what is printed.

What may live here: which strings go, and from what.  What may not: printing.  Bodies of comments
are left as they are stored: ``read`` promises them so, and their hash would say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import MASK

SHORTEST = 8
"""Characters of a token: to take out a shorter one would take words apart."""
STORED = frozenset({"body"})


class Mask:
    """The tokens of one run; a server, or whoever wrote the command line, may repeat them."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._in_use: set[str] = set()

    def learn(self, token: str) -> None:
        """Take out this token from now on, wherever it came from."""
        self._in_use.add(token)

    def known(self, text: str) -> str:
        """*text* without the tokens in use."""
        return _without(text, self._in_use)

    def thorough(self, text: str) -> str:
        """*text* without any token that is known, and without what has the shape of one."""
        from ..hygiene.secrets import masked  # only what went wrong needs the table of shapes

        return masked(_without(text, {*self._in_use, *self._exported()}))

    def _exported(self) -> Iterator[str]:
        names = (name for name in self._environ if name.endswith("_TOKEN") or name == "PGPASSWORD")
        return (self._environ[name] for name in names)


def _without(text: str, tokens: set[str]) -> str:
    for token in sorted(tokens, key=len, reverse=True):
        if len(token) >= SHORTEST:
            text = re.sub(re.escape(token), MASK, text, flags=re.IGNORECASE)
    return text


def cleaned(value: Any, clean: Callable[[str], str], key: str = "") -> Any:
    """A JSON value with *clean* done to its texts, but to what is shown as it is stored."""
    if isinstance(value, str):
        return value if key in STORED else clean(value)
    if isinstance(value, dict):
        return {name: cleaned(item, clean, name) for name, item in value.items()}
    if isinstance(value, list):
        return [cleaned(item, clean) for item in value]
    return value

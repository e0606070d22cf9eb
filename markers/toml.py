"""Reading TOML that somebody else wrote, within bounds.

What may live here: what makes a file safe to read at all.  What may not: what it says.

Python's reader takes quadratic time for a key of many dotted parts, follows any nesting, and reads
numbers that Python will not print again.  A file that needs any of these is none of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

MOST_PARTS = 20
MOST_DEPTH = 40
_INTEGERS = range(-(2**63), 2**63)
"""What TOML asks a reader to take."""
_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(
    rf"(?:^[ \t]*+\[{{0,2}}|[{{,])[ \t]*+(?:{_PART}\.[ \t]*+){{{MOST_PARTS}}}", re.M
)


def loads(data: bytes) -> dict[str, Any]:
    """Read a document; raises ``ValueError`` with what is wrong, for any bytes that are not one."""
    import tomllib  # a start that reads no settings can spare it

    text = data.decode()
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {MOST_PARTS} parts")
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    _bounded(document)
    return document


def _bounded(document: dict[str, Any]) -> None:
    level: list[Any] = [document]
    for _ in range(MOST_DEPTH):
        level = [value for item in level for value in _inside(item)]
        if any(isinstance(value, int) and value not in _INTEGERS for value in level):
            raise ValueError("a number has more than 64 bits")
        if not level:
            return
    raise ValueError("it is nested too deeply")


def _inside(item: Any) -> Iterator[Any]:
    if isinstance(item, dict):
        yield from item.values()
    elif isinstance(item, list):
        yield from item

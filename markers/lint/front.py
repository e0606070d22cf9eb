"""Front matter: the YAML or TOML between two fences at the top of a page.

What may live here: how many lines it has.  What may not: what they say.  The front matter of a
comment stands elsewhere and has its own rule (``payload.front_matter``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NOTHING = re.compile(r"[ \t]*(?:#.*)?")


@dataclass(frozen=True, slots=True)
class _Kind:
    end: re.Pattern[str]
    key: re.Pattern[str]
    more: re.Pattern[str]
    """What else may stand on a line below the first key."""


_KINDS = {
    "---": _Kind(
        end=re.compile(r"(?:---|\.\.\.)[ \t]*"),
        key=re.compile(r"[\w\"'$](?:[^:]|:(?![ \t]|\Z))*:(?:[ \t].*)?"),
        more=re.compile(r"(?:[ \t]|-[ \t]|-\Z|[\]}]).*"),
    ),
    "+++": _Kind(
        end=re.compile(r"\+\+\+[ \t]*"),
        key=re.compile(r"(?:\[|[\w\"'][^=]*=).*"),
        more=re.compile(r".*"),
    ),
}


def front_lines(lines: Iterable[str]) -> int:
    """How many of *lines*, which come without their ends, are front matter, fences included.

    A page may as well begin with a rule between paragraphs: what stands between the two fences must
    look like a mapping, line by line.
    """
    following = iter(lines)
    kind = _KINDS.get(next(following, "").rstrip(" \t"))
    return _length(kind, following) if kind else 0


def _length(kind: _Kind, lines: Iterable[str]) -> int:
    keyed = False
    for number, line in enumerate(lines, 2):
        if kind.end.fullmatch(line):
            return number if keyed else 0
        if kind.key.fullmatch(line):
            keyed = True
        elif not (_NOTHING.fullmatch(line) or (keyed and kind.more.fullmatch(line))):
            return 0
    return 0

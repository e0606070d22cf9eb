"""The ``## Addresses`` block of a user's profile: what programs may read of that page.

What may live here: where the block is, what a line of it says, which versions are known, and the
step from one to the next; pure.  What may not: files (``engine``), and what follows from an
address.

Only the lines between the heading and the next heading of level 2 count; a line ends where it ends,
so that a blank value never takes the next line's.  Readers of an address fail closed; those of the
neighbourhood's names take whatever they cannot read for none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Failed, echo
from .declared import Path, Store
from .engine import Broken, Condition, Seen, require_allowed

CURRENT = 2
TOLERANT = frozenset({"home_metro"})
"""Keys that may be missing, and may be given more than once."""
REQUIRED = ("current_home", "home_airport")
STAMP = "schema_version"

STORE = Store(
    name="addresses",
    file="user_profile.md",
    owner="migrate-addresses-block.py of trusted-memory",
    survival="within-worktree",
    current=CURRENT,
    accepts=frozenset({1, CURRENT}),
    chain=("## Addresses",),
)

_HEADING = re.compile(r"[ \t]*##[ \t]+Addresses[ \t\r]*")
_NEXT = re.compile(r"[ \t]*##[ \t]+[^ \t\r]")
_COMMENT = re.compile(r"(<!--[^>]{0,400}?schema[ \t]+v)[0-9]+")
_NUMBER = re.compile(r"[0-9]{1,9}")
_BLANK = " \t\r"
_MARK = "\ufeff"
"""A byte order mark, which may stand before the first line."""
_NO_BLOCK = "addresses-block"
_MEND = "see `persist-marker state trusted-memory where` for the file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """What a migration has come to."""

    text: str
    found: int | None
    """The version that the block stated."""


class Codec:
    """The form of the profile: UTF-8 text, whose every byte is kept."""

    def load(self, data: bytes) -> str:
        """Read it; raises ``Broken``."""
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise Broken("it is not UTF-8") from None

    def dump(self, value: str) -> bytes:
        """The same bytes again."""
        return value.encode()

    def fresh(self) -> str:
        """A page without the block."""
        return ""

    def version(self, value: str) -> None:
        """None of the page itself: the block's is judged by who needs the block."""

    def fields(self, value: str) -> Mapping[Path, Any]:
        """The whole text is one field."""
        return {("text",): value}


CODEC = Codec()


def values(text: str, key: str) -> tuple[str, ...]:
    """What the block says of a key, in order; a blank value says nothing.

    Raises ``Failed``: ``addresses-block``, ``addresses-version``.
    """
    lines = _block(text)
    _known_version(lines)
    return tuple(value for name, value in map(_said, lines) if name == key and value)


def value(text: str, key: str) -> str:
    """The first value of a key; raises ``Failed`` (``addresses-key``) where there is none."""
    found = values(text, key)
    if not found:
        why = (
            f"the '## Addresses' block does not say {echo(key)}: add the line '- {echo(key)}: ...'"
        )
        raise Failed("addresses-key", f"{why}; nothing is guessed; {_MEND}")
    return found[0]


def require_text(seen: Seen[str]) -> str:
    """The profile's text; raises ``Failed`` (``state-...``) where it cannot be read.

    Raises ``Refused`` (``path-...``) where it is not to be opened at all.
    """
    require_allowed(seen)
    if seen.value is None:
        mend = "the '## Addresses' block is read from there: mend it, or name another file"
        raise Failed(f"state-{seen.condition}", f"{seen.why}; {mend}")
    return seen.value


def tolerated(seen: Seen[str], key: str) -> tuple[tuple[str, ...], str]:
    """The values of a key for who can do without, and what there is to say about it.

    Without a profile or without the block there is nothing to say.
    """
    unset = f"{echo(key)} is taken for unset"
    if seen.value is None:
        missing = seen.condition is Condition.MISSING
        return (), "" if missing else f"{seen.why}: {unset}"
    try:
        return values(seen.value, key), ""
    except Failed as error:
        absent = error.reason.code == _NO_BLOCK
        return (), "" if absent else f"{error.reason.detail}: {unset}"


def migrate(text: str) -> Migrated:
    """Stamp the block with the current version, and say so in its comment; touch nothing else.

    Raises ``Failed``: ``addresses-block``, ``addresses-version``, ``addresses-key``.
    """
    found = _known_version(_block(text))
    if found == CURRENT:
        return Migrated(text=text, found=found)
    for key in REQUIRED:
        value(text, key)
    lines = text.split("\n")
    start, end = _bounds(lines)
    block = _stamped(lines[start:end])
    return Migrated(text="\n".join([*lines[:start], *_noted(block), *lines[end:]]), found=found)


def _bounds(lines: list[str]) -> tuple[int, int]:
    """The first line of the block and the one behind its last."""
    plain = [lines[0].removeprefix(_MARK), *lines[1:]]
    start = next((at for at, line in enumerate(plain, 1) if _HEADING.fullmatch(line)), None)
    if start is None:
        raise Failed(_NO_BLOCK, f"the profile has no '## Addresses' block; {_MEND}")
    ends = (at for at in range(start, len(lines)) if _NEXT.match(lines[at]))
    return start, next(ends, len(lines))


def _block(text: str) -> list[str]:
    lines = text.split("\n")
    start, end = _bounds(lines)
    return lines[start:end]


def _said(line: str) -> tuple[str, str]:
    """Key and value of a line; two blanks for what is no such line."""
    entry = line.strip(_BLANK)
    key, colon, said = entry.removeprefix("-").partition(":")
    return (key.strip(_BLANK), said.strip(_BLANK)) if colon and entry[0] == "-" else ("", "")


def _known_version(lines: list[str]) -> int | None:
    """The version that the block states; None where it states none, as before there were any."""
    stated = next((said for key, said in map(_said, lines) if key == STAMP and said), None)
    if stated is None:
        return None
    if not _NUMBER.fullmatch(stated) or int(stated) not in STORE.accepts:
        known = " and ".join(map(str, sorted(STORE.accepts)))
        why = f"the '## Addresses' block is of version {echo(stated)}; this program knows {known}"
        mend = "upgrade this program, and do not change the stamp by hand"
        if not _NUMBER.fullmatch(stated):
            mend = "a version is a number; mend the stamp"
        raise Failed("addresses-version", f"{why}: {mend}")
    return int(stated)


def _stamped(block: list[str]) -> list[str]:
    """The block with the current version in its stamp, which is added where there is none."""
    at = _stamp_at(block)
    if at is not None:
        return [*block[:at], _restamped(block[at]), *block[at + 1 :]]
    first = next(at for at, line in enumerate(block) if _said(line)[0])
    ending = "\r" if block[first].endswith("\r") else ""
    return [*block[:first], f"- {STAMP}: {CURRENT}{ending}", *block[first:]]


def _restamped(line: str) -> str:
    head, _, rest = line.partition(":")
    gap = rest[: len(rest) - len(rest.lstrip(" \t"))] if rest.strip(_BLANK) else " "
    tail = rest[len(rest.rstrip(_BLANK)) :] if rest.strip(_BLANK) else rest.lstrip(" \t")
    return f"{head}:{gap}{CURRENT}{tail}"


def _stamp_at(block: list[str]) -> int | None:
    """The line of the stamp: the first with a value, else the first blank one."""
    stamps = [at for at, line in enumerate(block) if _said(line)[0] == STAMP]
    told = [at for at in stamps if _said(block[at])[1]]
    return next(iter([*told, *stamps]), None)


def _noted(block: list[str]) -> list[str]:
    """The block whose comment names the version, if it has one that does."""
    text = _COMMENT.sub(lambda comment: f"{comment[1]}{CURRENT}", "\n".join(block), count=1)
    return text.split("\n")

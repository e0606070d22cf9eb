"""The values in a ``frame-spine`` block, each from the text behind its key.

What may live here: what each key takes.  What may not: where a key may stand (``spine``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..body import BLANKS
from .times import STAMP_FORM, is_stamp

VERSIONS = ("1", "2")
SLICE_ID = r"s[0-9]+"
_TOKEN = re.compile(rf"({SLICE_ID})(?:#cycle:([0-9]{{1,9}}))?(#terminal)?")
_ITEM = re.compile(r"[^\[\]{}\"']+")
_COMMENT_ID = re.compile(r"[1-9][0-9]{0,18}")
_NUMBER = re.compile(r"[0-9]{1,9}")


class Unfit(Exception):
    """A value that its key does not take: a code, and what the key takes."""

    def __init__(self, code: str, wanted: str) -> None:
        super().__init__(wanted)
        self.code = code
        self.wanted = wanted


def text_of(text: str) -> str:
    """Any text will do."""
    return text


def _version(text: str) -> int:
    if text not in VERSIONS:
        raise Unfit("schema-version", f"a version that is known here: {' or '.join(VERSIONS)}")
    return int(text)


def _stamp(text: str) -> str:
    if not is_stamp(text):
        raise Unfit("pattern", STAMP_FORM)
    return text


def _comment_id(text: str) -> int | None:
    if text and not _COMMENT_ID.fullmatch(text):
        raise Unfit("pattern", "the id of a comment, in digits")
    return int(text) if text else None


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise Unfit("type", "a number in at most nine digits")
    return int(text)


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise Unfit("type", "true or false")
    return text == "true"


def _mode(text: str) -> str:
    if text not in ("serial", "parallel"):
        raise Unfit("enum", "one of serial, parallel")
    return text


def _items(text: str) -> Iterator[str]:
    if not (text.startswith("[") and text.endswith("]") and len(text) > 1):
        raise Unfit("type", "a list in brackets")
    inside = text[1:-1].strip(BLANKS)
    for item in (part.strip(BLANKS) for part in inside.split(",")) if inside else ():
        if not _ITEM.fullmatch(item):
            raise Unfit("type", "a list of plain words in brackets, with commas between them")
        yield item


def _list(text: str) -> list[str]:
    return list(_items(text))


def _slice_ids(text: str) -> list[str]:
    found = list(_items(text))
    if not all(re.fullmatch(SLICE_ID, item) for item in found):
        raise Unfit("pattern", "a list of slices such as [s1, s2]")
    return found


def tokens(text: str) -> list[dict[str, Any]]:
    """The steps that fill a port."""
    return [_token(item) for item in _items(text)]


def _token(item: str) -> dict[str, Any]:
    match = _TOKEN.fullmatch(item)
    if match is None:
        raise Unfit("pattern", "a list of steps such as [s1, s3#cycle:2, s7#cycle:3#terminal]")
    cycle = int(match[2]) if match[2] else None
    return {"id": match[1], "cycle": cycle, "terminal": bool(match[3])}


TOP: Mapping[str, Callable[[str], Any]] = {
    "spine_schema_version": _version,
    "generated_at": _stamp,
    "coverage": text_of,
    "slice_comment_id": _comment_id,
}
FIELDS: Mapping[str, Callable[[str], Any]] = {
    "execution_mode": _mode,
    "rc": text_of,
    "ac_refs": _list,
    "depends_on": _slice_ids,
    "cycle": _number,
    "terminal": _boolean,
    "adapter": text_of,
}
"""The keys of a slice that mean something; readers pass over others, and so does this."""

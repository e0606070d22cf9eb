"""A file's bytes as text and back, the byte-order mark kept.

What may live here: what makes bytes text at all.  What may not: what the text says.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass


class Unreadable(Exception):
    """What is not looked at as prose; *why* completes "the file ..."."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Prose:
    """A file's text, without the byte-order mark that it may begin with."""

    text: str
    mark: bytes = b""

    def encoded(self, text: str) -> bytes:
        """The bytes of the same file with *text* in it."""
        return self.mark + text.encode()


def decode(data: bytes) -> Prose:
    """Read UTF-8; raises ``Unreadable`` for binary files and other encodings."""
    if b"\0" in data:
        raise Unreadable("is binary")
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        return Prose(data[len(mark) :].decode(), mark)
    except UnicodeDecodeError:
        raise Unreadable("is not UTF-8") from None

"""Taking a body out of its content coding, a small piece at a time.

What may live here: pure functions over pieces of bytes.  What may not: reading them, counting them
(whoever takes the pieces stops when there are enough).

A few bytes can unpack to gigabytes, and codings on top of each other multiply: so only the one
coding that was asked for is taken, once, and no more of it is unpacked than is taken.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

ACCEPTED = "gzip"
"""For ``Accept-Encoding``."""
STEP = 64 * 1024
"""The largest piece that comes out, in bytes."""

_GZIP = ("gzip", "x-gzip")
_GZIP_WINDOW = zlib.MAX_WBITS | 16


class Unreadable(Exception):
    """The body is not packed in a way that is taken; the message completes ``the answer ...``."""


def unpacked(pieces: Iterable[bytes], coding: str) -> Iterator[bytes]:
    """The body before *coding* (the ``Content-Encoding``) was applied; raises ``Unreadable``.

    No body at all needs no unpacking, whatever the coding says.
    """
    codings = [name for each in coding.lower().split(",") if (name := each.strip())]
    codings = [name for name in codings if name != "identity"]
    if not codings:
        return iter(pieces)
    if len(codings) == 1 and codings[0] in _GZIP:
        return _gunzipped(pieces)
    return _refused(pieces, coding)


def _refused(pieces: Iterable[bytes], coding: str) -> Iterator[bytes]:
    for piece in pieces:
        if piece:
            raise Unreadable(f"is packed as {coding!r}, and only {ACCEPTED} was asked for")
        yield piece


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    begun = False
    for piece in pieces:
        begun = begun or bool(piece)
        yield from _steps(unpacker, piece)
        if unpacker.unused_data:
            raise Unreadable("goes on after the end of what was packed")
    if begun:
        yield from _steps(unpacker, b"")
        if not unpacker.eof:
            raise Unreadable("breaks off in the middle of what was packed")


def _steps(unpacker: zlib._Decompress, packed: bytes) -> Iterator[bytes]:
    """All that *packed* gives; what is ready may exceed one step even when all is read."""
    while True:
        try:
            step = unpacker.decompress(packed, STEP)
        except zlib.error as error:
            raise Unreadable("is not packed as it says") from error
        packed = unpacker.unconsumed_tail
        if step:
            yield step
        elif not packed:
            return

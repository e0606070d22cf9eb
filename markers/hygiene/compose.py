"""From what the caller hands over to the exact body that is about to be written.

What may live here: reading bytes as text, and putting the marker in front.  What may not: judging
the body (``hygiene``).  Design, section 4, step 2.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from ..codec import first_line, lines_of, matches
from ..errors import Refused
from ..model import Marker
from .invisible import bare, is_blank
from .lookalikes import FirstLine, Known, refusal

BOM = "\ufeff"
# All of Unicode's control characters (Cc) but tab, CR and LF; NEL (U+0085) is one of them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# The longer ones first: the UTF-16 mark is how the UTF-32 mark begins.
_WIDE = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


@dataclass(frozen=True, slots=True)
class Composed:
    """A body that is about to be written."""

    text: str
    in_front: int = 0
    """How many lines of it the caller did not hand over: the marker and the blank line below."""


def decode(raw: bytes) -> str:
    """Read a payload's bytes as UTF-8; one byte-order mark at the start is dropped.

    Raises ``Refused``: ``encoding`` for any other encoding and for surrogates, and
    ``control-character``.
    """
    for mark, name in _WIDE.items():
        if raw.startswith(mark):
            raise Refused("encoding", f"the payload is {name}: save it as UTF-8", line=1)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(lines_of(raw[: error.start].decode("utf-8")))
        raise Refused(
            "encoding",
            f"the payload is not UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start}, "
            f"line {line}; save it as UTF-8",
            line=line,
        ) from None
    return legal(text)


def legal(text: str, in_front: int = 0) -> str:
    """*text* without its byte-order mark, when GitHub can store it unchanged.

    Raises ``Refused`` as ``decode`` does: a library's caller can hand over any string.  The line
    is counted without those that were put *in_front*.
    """
    text = text.removeprefix(BOM)
    surrogate = _SURROGATE.search(text)
    if surrogate:
        raise _at(surrogate, in_front, "encoding", "half a surrogate pair, which UTF-8 cannot hold")
    control = _CONTROL.search(text)
    if control:
        hint = " (is it UTF-16?)" if control[0] == "\0" else ""
        raise _at(control, in_front, "control-character", f"a control character{hint}")
    return text


def _at(match: re.Match[str], in_front: int, code: str, what: str) -> Refused:
    line = len(lines_of(match.string[: match.start()])) - in_front
    return Refused(code, f"line {line} holds U+{ord(match[0]):04X}, {what}: take it out", line=line)


def compose(payload: str, marker: Marker, contract: Known) -> Composed:
    """The body to write: *payload* with *marker* on line 1.

    A payload whose first line is the marker is used as it is.  Raises ``Refused`` as ``legal``
    does, with a code of ``lookalikes`` for a first line that only looks like a marker, and
    ``marker-not-first`` for the marker after blank lines.
    """
    text = legal(payload)
    if matches(text, marker.text):
        return Composed(text)
    first = FirstLine(first_line(text), marker, contract)
    if first.is_lookalike():
        raise refusal(first)
    _refuse_late(text, marker)
    if is_blank(text) and contract.family(marker.family).empty:
        return Composed(marker.text, 1)
    return Composed(f"{marker.text}\n\n{text}", 2)


def _refuse_late(text: str, marker: Marker) -> None:
    """Refuse the marker as the first line that can be seen, but not line 1."""
    for number, line in enumerate(lines_of(text), 1):
        if not is_blank(line):
            if bare(line) == marker.text:
                raise Refused(
                    "marker-not-first",
                    f"{marker.text} stands on line {number}, after blank lines: "
                    "it must be line 1, or be left out",
                    line=number,
                )
            return


def payload_of(candidate: str) -> str:
    """All that follows line 1."""
    return "\n".join(lines_of(candidate)[1:])

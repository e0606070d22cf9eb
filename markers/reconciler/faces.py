"""One text in its two forms: alone, as a local copy has it, and below its marker, as a comment.

What may live here: going from either to both.  What may not: files, requests, judging a text.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..codec import lines_of, matches, sha256
from ..hygiene.compose import BOM
from ..model import Marker

_BLANKS = " \t"


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """A text that is not blank."""

    payload: str
    """Alone: no blank lines around it, one line end after it."""
    body: str
    """Below its marker and one blank line."""
    sha256: str
    """Of *body*: what a comment of it would have."""


def face(text: str | None, marker: Marker) -> Face | None:
    """See a text by itself, whichever form it comes in; None for one that is missing or blank.

    The blank lines between marker and text, which other writers do without, are no part of it.
    """
    if text is None:
        return None
    whole = text.removeprefix(BOM)
    lines = lines_of(whole)[1:] if matches(whole, marker.text) else lines_of(whole)
    filled = [at for at, line in enumerate(lines) if line.strip(_BLANKS)]
    if not filled:
        return None
    # A byte order mark is no part of a text, wherever it begins.
    payload = "\n".join(lines[filled[0] : filled[-1] + 1]).removeprefix(BOM) + "\n"
    body = f"{marker.text}\n\n{payload}"
    return Face(payload=payload, body=body, sha256=sha256(body))

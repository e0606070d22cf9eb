"""Files of session memory that are texts as they are: plan, bundle and design.

What may live here: putting one in place of another.  What may not: how they are called
(``memory``), and which of two texts governs (the reconciler).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..codec import lines_of, normalise, parse
from ..errors import Failed, Refused, echo
from ..hygiene.compose import BOM
from ..model import Action, Family, Marker
from .engine import require_unmoved
from .files import StateFile


@dataclass(frozen=True, slots=True)
class Put:
    """What putting a text has come to."""

    action: Action
    kept: str | None = None
    """The copy of the text that was there."""


def read(file: StateFile) -> str:
    """The text; raises ``Failed`` (``state-missing``, ``state-broken``)."""
    data = file.read()
    if data is None:
        raise Failed("state-missing", f"{file} does not exist")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Failed("state-broken", f"{file} is not UTF-8") from None


def require_own(text: str, own: Marker | None, families: Iterable[Family]) -> None:
    """Raise ``Refused`` (``memory-marker``) for a text that begins with another one's marker."""
    first = next((line.strip() for line in lines_of(text.removeprefix(BOM)) if line.strip()), "")
    found = parse(first, families)
    if found is not None and (own is None or found.text != own.text):
        why = f"it is a comment of {echo(found.text)}, and would be taken for this file's text"
        raise Refused("memory-marker", f"the text begins with another marker: {why}")


def text_of(data: bytes) -> str:
    """What can be kept; raises ``Refused`` (``memory-text``) for what is blank or not UTF-8."""
    text = _text(data)
    if text is None or not text.strip() or "\0" in text:
        raise Refused("memory-text", "the text is blank, has a NUL, or is not UTF-8")
    return text


def put(file: StateFile, data: bytes) -> Put:
    """Let the file hold *data*; of another text that was there a copy is kept.

    Nothing is written where both say the same after normalisation.  Raises ``Refused`` as
    ``text_of`` does, ``Unavailable`` (``state-changed``), and as ``StateFile.held`` does.
    """
    text = text_of(data)
    with file.held(lambda _warning: None) as held:
        before = held.read()
        if before is None:
            held.write(data)
            return Put(Action.CREATED)
        old = _text(before)
        if old is not None and normalise(old) == normalise(text):
            return Put(Action.UNCHANGED)
        kept = file.keep_aside(before, "replaced")
        held.write(data, last=lambda: require_unmoved(held, before))
    return Put(Action.UPDATED, kept)


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None

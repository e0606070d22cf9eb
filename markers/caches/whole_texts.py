"""Files of session memory that are texts as they are: plan, bundle and design.

What may live here: putting one in place of another.  What may not: how they are called
(``memory``), and which of two texts governs (the reconciler).
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from ..codec import normalise
from ..errors import Failed, Refused
from ..model import Action
from .engine import require_unmoved
from .files import StateFile

_MARK = 12
"""Hex digits of its hash in the name of a copy: the same text again is the same copy."""


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


def put(file: StateFile, data: bytes) -> Put:
    """Let the file hold *data*; of another text that was there a copy is kept.

    Nothing is written where both say the same after normalisation.  Raises ``Refused``
    (``memory-text``) for what is blank or not UTF-8, ``Unavailable`` (``state-changed``), and as
    ``StateFile.held`` does.
    """
    text = _text(data)
    if text is None or not text.strip() or "\0" in text:
        raise Refused("memory-text", "the text is blank, has a NUL, or is not UTF-8")
    with file.held(lambda _warning: None) as held:
        before = held.read()
        if before is None:
            held.write(data)
            return Put(Action.CREATED)
        old = _text(before)
        if old is not None and normalise(old) == normalise(text):
            return Put(Action.UNCHANGED)
        kept = file.keep_aside(f"{held.name}.replaced-{sha256(before).hexdigest()[:_MARK]}", before)
        held.write(data, last=lambda: require_unmoved(held, before))
    return Put(Action.UPDATED, kept)


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None

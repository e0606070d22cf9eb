"""What a family's comments say together, by the rule that its registry file names.

What may live here: which reader reads a family, and what becomes of one that breaks.  What may not:
the rules, which live one file each beside this one; I/O of any kind.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Protocol

from ..codec import derive
from ..contract import Contract
from ..contract.names import READERS
from ..errors import Unavailable
from ..model import Marker
from .interface import NOT_JUDGED, Needs, Reader, Reading, Sighting, View

__all__ = [
    "NOT_JUDGED",
    "Needs",
    "Reading",
    "Sighting",
    "View",
    "answer",
    "lines_on",
    "needs",
    "read",
]


class _Module(Protocol):
    READER: Reader


def needs(marker: Marker, contract: Contract) -> Needs:
    """What must be looked for beside *marker*; nothing for a family without a rule of its own."""
    name = contract.family(marker.family).reader
    return _reader(name).needs(marker, contract) if name else Needs()


def read(view: View) -> Reading | None:
    """The family's reading; None for a family without a rule of its own.

    A reader that breaks, or that needs what was not judged, never hides the comment: its reading
    says ``broken`` and nothing else, so that nobody takes what is missing in it for an answer.
    """
    try:
        return answer(view)
    except Unavailable as error:
        return {"summary": error.reason.detail, "broken": error.reason.code}
    except Exception as error:
        kind = type(error).__name__
        name = view.contract.family(view.marker.family).reader
        summary = f"the reader {name} broke ({kind}): a fault of persist-marker, please report it"
        return {"summary": summary, "broken": kind}


def answer(view: View) -> Reading | None:
    """The same for who cannot go on without: raises ``Unavailable`` (``not-judged``)."""
    name = view.contract.family(view.marker.family).reader
    return _reader(name).read(view) if name else None


def lines_on(number: int, contract: Contract) -> frozenset[str]:
    """First lines that some family's rule counts on a thread beside the markers themselves."""
    named = (f for f in contract.comment_families if f.reader and not f.params)
    return frozenset(
        line
        for family in named
        for line in needs(derive(family, number), contract).lines
        if contract.parse(line) is None
    )


@cache
def _reader(name: str) -> Reader:
    module: _Module = import_module(f".{READERS[name]}", __package__)
    return module.READER

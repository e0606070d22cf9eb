"""The only place that maps what happened to an exit code (design, section 3)."""

from __future__ import annotations

from types import MappingProxyType

import click

from ..errors import MarkersError, Usage
from ..model import Action
from . import INTERRUPTED, stems_from_interrupt
from .output import Unprinted

OK = 0
FOUND = 1
USAGE = 2
INCOMPLETE = 5
UNKNOWN = 8
BUG = 70
UNPRINTED = 74
"""What was done is done, but nobody could be told: ``EX_IOERR`` of sysexits, as 70 is its
``EX_SOFTWARE``."""

CODES = MappingProxyType(
    {
        Action.CREATED: OK,
        Action.UPDATED: OK,
        Action.POSTED: OK,
        Action.UNCHANGED: OK,
        Action.PLANNED: OK,
        Action.QUEUED: OK,
        Action.DELETED: OK,
        Action.FAILED: FOUND,
        Action.REFUSED: 3,
        Action.CONFLICT: 4,
        Action.LANDED_UNVERIFIED: INCOMPLETE,
        Action.LANDED_INCOMPLETE: INCOMPLETE,
        Action.WITHDRAWN: INCOMPLETE,
        Action.DENIED: 6,
        Action.UNAVAILABLE: 7,
        Action.UNKNOWN: UNKNOWN,
        Action.ABSENT: 10,
    }
)

ALSO = MappingProxyType(
    {
        Usage: ("usage", USAGE),
        click.UsageError: ("usage", USAGE),
        click.exceptions.Abort: ("interrupted", INTERRUPTED),
        KeyboardInterrupt: ("interrupted", INTERRUPTED),
        Unprinted: ("unprinted", UNPRINTED),
    }
)


def of(error: BaseException) -> tuple[str, int]:
    """The word for JSON's ``action`` and the exit code; what nobody expected is a bug."""
    for kind, answer in ALSO.items():
        if isinstance(error, kind):
            return answer
    if isinstance(error, MarkersError):
        return error.action.value, CODES[error.action]
    if stems_from_interrupt(error):
        return ALSO[KeyboardInterrupt]
    return "bug", BUG

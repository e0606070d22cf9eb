"""The error tree over the model's values.

::

    MarkersError
    ├── Usage            flags or environment are malformed            (click's own exit code)
    ├── Failed           a local store cannot be used                  (failed)
    ├── Refused          a check said no before any write              (refused)
    │   ├── Invalid      a payload breaks rules of its family: all of them
    │   └── Rejected     the server found the body itself wrong (422)  (refused)
    ├── Conflict         what is there is not what the caller expects  (conflict)
    ├── NotVerified      written, but it reads back differently        (landed-unverified)
    ├── Incomplete       written, but a step after it failed           (landed-incomplete)
    ├── Withdrawn        what was created was taken back               (withdrawn)
    ├── Denied           GitHub says no                                (denied)
    │   ├── Gone         there is nothing at that address (404, 410)
    │   └── Moved        it is somewhere else now
    ├── Unavailable      nothing was written; later may help           (unavailable)
    │   ├── Limited      a rate limit, with the seconds to wait
    │   └── Unreachable  no connection was made
    ├── Unknown          a write may or may not have landed            (unknown)
    │   └── Broken       the connection failed after the request began
    └── Absent           no trusted match                              (absent)

Leaves say whose doing it was; ``action`` is what the result says, and the command line maps it to
the exit code.  ``Limited`` and ``Unreachable`` promise that nothing took effect: whoever retries
relies on that promise and on nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from .model import Action, Reason

ECHO = 80
"""How many characters of what is refused a message may show."""
FEW = 5
"""How many of a list a message names."""
MASK = "***"
"""Stands for a token in what is shown."""
# Letters and digits mixed, up to the end: what follows the first few may be most of a token.
_LINE_AT = re.compile("\ue000([0-9]+)\ue001")
_CUT_WORD = re.compile(r"(?=[\w\\-]*[0-9])(?=[\w\\-]*[A-Za-z])([\w\\-]{12})[\w\\-]+$", re.ASCII)


def echo(text: str) -> str:
    """Show refused text: at most 80 characters, those that cannot be seen as escapes.

    Of a token that is cut off there, which nobody could know by its shape any more, only the first
    few characters are shown.
    """
    seen = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[: ECHO + 1])
    return seen if len(seen) <= ECHO else _CUT_WORD.sub(r"\1", seen[: ECHO - 1]) + "…"


def few(items: Sequence[object]) -> str:
    """The first few of *items* for a message, and how many more there are."""
    named = ", ".join(map(str, items[:FEW]))
    return f"{named} and {len(items) - FEW:,} more" if len(items) > FEW else named


def line_at(number: int) -> str:
    """Name a line of the comment in a message; ``counted`` spells it as its reader counts.

    What stands around the number cannot be seen, so that ``echo`` lets none of it through.
    """
    return f"\ue000{number}\ue001"


def counted(text: str, in_front: int = 0) -> str:
    """Spell the lines that a message names, *in_front* of which its reader has not written."""
    return _LINE_AT.sub(lambda found: f"line {max(1, int(found[1]) - in_front)}", text)


class MarkersError(Exception):
    """Root of all that this package raises on purpose.

    *reason* carries code and detail; *result* the ``WriteResult`` (or ``ReadResult``) of the call
    where there is one.
    """

    action: ClassVar[Action] = Action.UNAVAILABLE

    def __init__(
        self, code: str, detail: str, *, line: int | None = None, result: Any = None
    ) -> None:
        super().__init__(detail)
        self.reason = Reason(code=code, detail=detail, line=line)
        self.result = result

    def explained(self, more: str) -> MarkersError:
        """Add a sentence to the detail and return the same error."""
        self.reason = replace(self.reason, detail=f"{self.reason.detail} {more}")
        self.args = (self.reason.detail,)
        return self


class Usage(MarkersError):
    """A flag or an environment variable is malformed: nothing was looked at."""

    action = Action.REFUSED


class Failed(MarkersError):
    """A local store cannot be read, locked or written: what was there is there still."""

    action = Action.FAILED


class Refused(MarkersError):
    """A check said no before any write."""

    action = Action.REFUSED


class Invalid(Refused):
    """A payload that breaks rules of its family; *problems* has all of them."""

    def __init__(self, problems: Sequence[Reason]) -> None:
        first, count = problems[0], len(problems)
        many = f"{count} problems: " if count > 1 else ""
        told = "; ".join(_told(problem, count) for problem in problems)
        super().__init__(first.code, many + told, line=first.line)
        self.problems = tuple(problems)


def _told(problem: Reason, among: int) -> str:
    """The detail; of several problems each with its own line and rule."""
    line = f"line {problem.line}: " if problem.line else ""
    return problem.detail if among == 1 else f"{line}{problem.detail} [{problem.code}]"


class Rejected(Refused):
    """The server answered 422 (or 400): it read the body and would not have it."""


class Conflict(MarkersError):
    """What is there is not what the caller expected, or is another account's."""

    action = Action.CONFLICT


class NotVerified(MarkersError):
    """It was written but reads back differently, or cannot be found."""

    action = Action.LANDED_UNVERIFIED


class Incomplete(MarkersError):
    """It was written; a step that belongs to it failed."""

    action = Action.LANDED_INCOMPLETE


class Withdrawn(MarkersError):
    """What we created could not be verified and was taken back."""

    action = Action.WITHDRAWN


class Denied(MarkersError):
    """GitHub says no, and would say so again."""

    action = Action.DENIED


class Gone(Denied):
    """404 or 410: there is nothing at that address, or nothing for this token to see."""


class Moved(Denied):
    """The address redirects to another host or number; the detail names it."""


class Unavailable(MarkersError):
    """Nothing was written; later may help."""

    action = Action.UNAVAILABLE


class Limited(Unavailable):
    """A rate limit: nothing took effect.  *wait* is in seconds; None when GitHub did not say."""

    def __init__(self, code: str, detail: str, *, wait: float | None) -> None:
        super().__init__(code, detail)
        self.wait = wait


class Unreachable(Unavailable):
    """No connection was made: nothing took effect."""


class Unknown(MarkersError):
    """A write may or may not have landed."""

    action = Action.UNKNOWN


class Broken(Unknown):
    """The connection or the answer failed after the request began: it may have taken effect."""


class Absent(MarkersError):
    """No trusted match."""

    action = Action.ABSENT

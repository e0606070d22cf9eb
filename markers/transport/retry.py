"""When a request or a whole round is tried again: by effect, never by status.

Two policies and no third; nothing below or above them repeats anything.

* ``reads``: one GET.  Repeating it harms nobody, so passing trouble is tried again a few times.
* ``rounds``: one look-and-write round.  Only ``Limited`` and ``Unreachable``, which promise that
  nothing took effect, are waited out; what may have taken effect is the writer's to settle.

Waits go through ``markers.clock`` and never past the deadline.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeVar

from .. import clock
from ..clock import Deadline
from ..errors import Broken, Limited, MarkersError, Unavailable, Unreachable

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")
Jitter = Callable[[], float]
"""A number from 0 to 1, drawn anew for each wait."""
OnWait = Callable[[float, str], None]
"""Told the seconds and the reason before each wait."""
Pause = Callable[[MarkersError, int], float | None]
"""From an error, and how many of its kind there were, to a wait; None: do not try again."""

READ_PAUSES = (0.5, 1.0, 2.0)
ROUND_PAUSES = (0.5, 2.0, 4.0)
READ_LIMIT = 5.0
"""The longest wait for a limit that a single read sits out, in seconds."""
BLIND_WAIT = 60.0
"""The first wait for a limit where GitHub does not say how long; it doubles each time."""
_SPREAD = 0.25
_MOST_SPREAD = 10.0


def reads(deadline: Deadline, *, jitter: Jitter = random.random) -> Policy:
    """The policy of one GET: ``reads(deadline)(call)``.

    Raises ``Limited`` for a longer limit, and a plain ``Unavailable``, which no round repeats, when
    trouble does not pass.
    """
    return Policy(deadline, _read_pause, (Broken, Unreachable), jitter=jitter)


def rounds(
    deadline: Deadline, on_wait: OnWait | None = None, *, jitter: Jitter = random.random
) -> Policy:
    """The policy of a whole round: ``rounds(deadline)(round)``.

    Raises ``Unavailable`` (``limited`` or ``unreachable``) when the wait that is asked for does
    not fit into the deadline, or nobody answered several times.
    """
    return Policy(deadline, _round_pause, (Limited, Unreachable), jitter=jitter, on_wait=on_wait)


def _read_pause(error: MarkersError, count: int) -> float | None:
    if isinstance(error, Limited):
        short = error.wait is not None and error.wait <= READ_LIMIT
        return error.wait if short and count <= len(READ_PAUSES) else None
    passing = isinstance(error, (Broken, Unreachable))
    return READ_PAUSES[count - 1] if passing and count <= len(READ_PAUSES) else None


def _round_pause(error: MarkersError, count: int) -> float | None:
    if isinstance(error, Limited):
        return BLIND_WAIT * 2 ** min(count - 1, 10) if error.wait is None else error.wait
    if isinstance(error, Unreachable) and count <= len(ROUND_PAUSES):
        return ROUND_PAUSES[count - 1]
    return None


@dataclass(frozen=True, slots=True)
class Policy:
    """Calls a function until it succeeds, fails for good or has no time left."""

    deadline: Deadline
    pause: Pause
    passing: tuple[type[MarkersError], ...]
    """What is raised as a plain ``Unavailable`` in the end; other errors are raised as they are."""
    jitter: Jitter
    on_wait: OnWait | None = None

    def __call__(self, call: Callable[[], T]) -> T:
        """Run *call*.

        A first failure is handed to tenacity as its first attempt: importing it takes longer than
        most calls, and a call that succeeds at once does without.
        """
        try:
            return call()
        except MarkersError as error:
            if not isinstance(error, self.passing) and self.pause(error, 1) is None:
                raise
            failed = [error]

        def attempt() -> T:
            if failed:
                raise failed.pop()
            return call()

        return self._repeated(attempt)

    def _repeated(self, attempt: Callable[[], T]) -> T:
        from tenacity import Retrying

        run = _Run(self)
        return Retrying(
            retry=run.failed,
            wait=lambda _: run.wait or 0.0,
            stop=lambda _: run.wait is None or run.wait >= self.deadline.remaining(),
            before_sleep=run.announce,
            retry_error_callback=run.give_up,
            sleep=clock.sleep,
        )(attempt)


class _Run:
    """One call's attempts, in tenacity's terms."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.seen: Counter[type[MarkersError]] = Counter()
        self.wait: float | None = None

    def failed(self, state: RetryCallState) -> bool:
        """Judge the attempt; other exceptions than ours go their way."""
        error = _error_of(state)
        if error is None:
            return False
        self.seen[type(error)] += 1
        pause = self.policy.pause(error, self.seen[type(error)])
        self.wait = None if pause is None else pause + self._extra(pause)
        return True

    def _extra(self, pause: float) -> float:
        """Jitter only ever adds: a wait that GitHub asks for is never cut short."""
        return min(pause * _SPREAD, _MOST_SPREAD) * self.policy.jitter()

    def announce(self, state: RetryCallState) -> None:
        """Tell whoever watches, before the wait."""
        error = _error_of(state)
        if self.policy.on_wait is not None and error is not None and self.wait is not None:
            self.policy.on_wait(self.wait, error.reason.detail)

    def give_up(self, state: RetryCallState) -> NoReturn:
        """Raise what the policy's caller is to see."""
        error = _error_of(state)
        assert error is not None  # noqa: S101 - only our own errors are judged
        if not isinstance(error, self.policy.passing):
            raise error
        ended = self._ended(self.seen[type(error)])
        raise Unavailable(error.reason.code, f"{error.reason.detail}; {ended}") from error

    def _ended(self, tries: int) -> str:
        deadline = self.policy.deadline
        if self.wait is None:
            return f"tried {tries} times in vain: try again later"
        return (
            f"waiting {self.wait:,.0f} s does not fit into the {deadline.remaining():,.0f} s left "
            f"of the deadline of {deadline.seconds:,.0f} s: try again later, or with a longer "
            "--deadline"
        )


def _error_of(state: RetryCallState) -> MarkersError | None:
    error = state.outcome.exception() if state.outcome is not None else None
    return error if isinstance(error, MarkersError) else None

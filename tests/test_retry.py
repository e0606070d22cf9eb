"""The two retry policies: what is tried again, after which wait, and until when."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from markers import clock
from markers.clock import Deadline, FakeClock
from markers.errors import (
    Broken,
    Denied,
    Gone,
    Limited,
    MarkersError,
    Rejected,
    Unavailable,
    Unreachable,
)
from markers.transport.retry import Policy, reads, rounds


@pytest.fixture
def time() -> Iterator[FakeClock]:
    """A clock on which waits take no time and are listed."""
    with clock.use(FakeClock()) as fake:
        yield fake


def limited(wait: float | None) -> Limited:
    """A limit as the wire reports it."""
    return Limited("limited", "slow down", wait=wait)


def broken() -> Broken:
    """A 502."""
    return Broken("server-error", "the server answered 502")


def unreachable() -> Unreachable:
    """A refused connection."""
    return Unreachable("unreachable", "nobody answers")


def failing(*errors: MarkersError) -> Callable[[], str]:
    """A call that fails with each error in turn and then succeeds."""
    left = list(errors)

    def call() -> str:
        if left:
            raise left.pop(0)
        return "done"

    return call


def reading(seconds: float = 120) -> Policy:
    """The reads' policy without jitter."""
    return reads(Deadline(seconds), jitter=lambda: 0.0)


def writing(seconds: float = 120) -> Policy:
    """The rounds' policy without jitter."""
    return rounds(Deadline(seconds), jitter=lambda: 0.0)


def test_read_outlives_passing_trouble(time: FakeClock) -> None:
    """A read is tried four times, with growing waits."""
    assert reading()(failing(broken(), broken(), broken())) == "done"
    assert time.slept == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("trouble", [broken, unreachable])
def test_read_gives_up(time: FakeClock, trouble: Callable[[], MarkersError]) -> None:
    """After four tries it is plainly unavailable, so that no round repeats it on top."""
    with pytest.raises(Unavailable) as caught:
        reading()(failing(*(trouble() for _ in range(4))))
    assert type(caught.value) is Unavailable
    assert caught.value.reason.code == trouble().reason.code
    assert "tried 4 times" in str(caught.value)
    assert len(time.slept) == 3


def test_read_sits_out_short_limits_only(time: FakeClock) -> None:
    """Up to five seconds are waited in place; a longer or unsaid limit is the round's."""
    assert reading()(failing(limited(5), limited(2))) == "done"
    assert time.slept == [5, 2]
    for wait in (5.5, None):
        with pytest.raises(Limited) as caught:
            reading()(failing(limited(wait)))
        assert caught.value.wait == wait
    with pytest.raises(Limited):
        reading()(failing(*(limited(1) for _ in range(4))))
    assert time.slept == [5, 2, 1, 1, 1]


def test_read_stays_within_the_deadline(time: FakeClock) -> None:
    """A wait that does not fit is not begun, and the answer names the deadline."""
    with pytest.raises(Unavailable, match=r"deadline of 1 s.*--deadline") as caught:
        reading(1)(failing(broken(), broken()))
    assert caught.value.reason.code == "server-error"
    assert time.slept == [0.5]
    with pytest.raises(Limited):
        reading(3)(failing(limited(4)))
    assert time.slept == [0.5]


@pytest.mark.parametrize(
    "final",
    [
        Denied("locked", "locked"),
        Gone("not-found", "gone"),
        Rejected("rejected", "no"),
        Unavailable("not-github", "HTML"),
    ],
)
@pytest.mark.parametrize("policy", [reading, writing])
def test_final_answers_are_final(
    time: FakeClock, policy: Callable[[], Policy], final: MarkersError
) -> None:
    """What would be said again is raised as it is, first or later, without a wait for it."""
    with pytest.raises(type(final)) as caught:
        policy()(failing(final))
    assert caught.value is final
    with pytest.raises(type(final)) as caught:
        policy()(failing(unreachable(), final))
    assert caught.value is final
    assert time.slept == [0.5]


def test_round_waits_as_told(time: FakeClock) -> None:
    """A limit's own wait counts; each one that says nothing doubles the wait from a minute on."""
    call = failing(limited(None), limited(2), limited(None), limited(1))
    assert writing(3600)(call) == "done"
    assert time.slept == [60, 2, 240, 1]
    time.slept.clear()
    assert writing(3600)(failing(limited(None), limited(None), limited(None))) == "done"
    assert time.slept == [60, 120, 240]


def test_round_tries_to_connect_four_times(time: FakeClock) -> None:
    """Refused connections are tried again up to four times; limits between do not count."""
    assert writing()(failing(unreachable(), limited(1), unreachable(), unreachable())) == "done"
    assert time.slept == [0.5, 1, 2.0, 4.0]
    with pytest.raises(Unavailable) as caught:
        writing()(failing(*(unreachable() for _ in range(4))))
    assert (type(caught.value), caught.value.reason.code) == (Unavailable, "unreachable")


def test_round_never_repeats_what_may_have_landed(time: FakeClock) -> None:
    """``Broken`` is the writer's to settle: sending it again would make twins."""
    error = broken()
    with pytest.raises(Broken) as caught:
        writing()(failing(error))
    assert caught.value is error
    assert time.slept == []


def test_round_that_cannot_wait_says_why(time: FakeClock) -> None:
    """A limit longer than the deadline says both times and what to do."""
    with pytest.raises(Unavailable) as caught:
        writing(120)(failing(limited(3600)))
    assert (type(caught.value), caught.value.reason.code) == (Unavailable, "limited")
    assert "3,600 s" in str(caught.value)
    assert "120 s" in str(caught.value)
    assert "--deadline" in str(caught.value)
    assert time.slept == []


def test_jitter_only_adds(time: FakeClock) -> None:
    """Waiting less than told would be a limit again; waiting much longer helps nobody."""
    draws = iter([0.0, 0.5, 1.0, 1.0])
    policy = rounds(Deadline(9000), jitter=lambda: next(draws))
    policy(failing(limited(8), limited(8), limited(8), limited(3600)))
    assert time.slept == [8, 9, 10, 3610]
    for _ in range(20):
        rounds(Deadline(60))(failing(limited(8)))
    assert all(8 <= wait <= 10 for wait in time.slept[4:])


def test_wait_is_announced(time: FakeClock) -> None:
    """Whoever watches is told each wait and its reason before it begins."""
    told: list[tuple[float, str, int]] = []
    policy = rounds(
        Deadline(900),
        lambda seconds, reason: told.append((seconds, reason, len(time.slept))),
        jitter=lambda: 0.0,
    )
    assert policy(failing(limited(7), unreachable())) == "done"
    assert told == [(7, "slow down", 0), (0.5, "nobody answers", 1)]


def test_other_errors_pass(time: FakeClock) -> None:
    """A bug or an interrupt is nobody's to retry, at whichever attempt it comes."""
    errors: list[BaseException] = [unreachable(), KeyboardInterrupt()]

    def call() -> None:
        raise errors.pop(0)

    with pytest.raises(KeyboardInterrupt):
        writing()(call)
    with pytest.raises(IndexError):
        writing()(call)
    assert time.slept == [0.5]


def test_success_costs_no_import() -> None:
    """A call that succeeds at once does without tenacity, which takes long to import."""
    script = (
        "import sys; from markers.clock import Deadline; from markers.transport.retry import reads;"
        "print(reads(Deadline(1))(lambda: 'done'), 'tenacity' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["done", "False"]

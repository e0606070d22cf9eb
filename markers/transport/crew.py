"""Running read calls side by side, within a bound, on threads that are kept for the next time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

T = TypeVar("T")


class Crew:
    """At most *size* threads; none are started before there is work for two.

    A call must not itself wait for the crew.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ThreadPoolExecutor | None = None
        self._lock = Lock()

    def run(self, calls: Sequence[Callable[[], T]], bound: int) -> list[T]:
        """The results in order; the first failure is raised once what had begun has ended.

        At most *bound* run at the same time.  An interrupt is not held up by what has begun.
        """
        bound = min(bound, self.size, len(calls))
        if bound <= 1:
            return [call() for call in calls]
        from concurrent.futures import FIRST_COMPLETED, wait

        pool, todo = self._threads(), iter(calls)
        running: set[Future[T]] = set()
        begun: list[Future[T]] = []
        while True:
            while len(running) < bound and (call := next(todo, None)) is not None:
                begun.append(pool.submit(call))
                running.add(begun[-1])
            if not running:
                return [future.result() for future in begun]
            done, running = wait(running, return_when=FIRST_COMPLETED)
            if any(future.exception() for future in done):
                wait(running)
                raise next(error for future in begun if (error := future.exception()))

    def close(self) -> None:
        """Let the threads go; one that a silent server holds is not waited for."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _threads(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.size, "markers-read")
            return self._pool

"""GitHub's limits: so many requests an hour, and so much new content a minute."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field

from .answers import Halt, limited_primary, limited_secondary
from .values import Token

HOUR = 3600
MINUTE = 60


@dataclass(slots=True)
class _Window:
    reset: int
    used: int = 0
    created: deque[float] = field(default_factory=deque)


class Limits:
    """Counts by token; *per_hour*, *anonymous* and *creations_per_minute* may be set at any time.

    Content creation is not limited unless a number is set: GitHub's own is 80.
    """

    def __init__(self) -> None:
        self.per_hour = 5000
        self.anonymous = 60
        self.creations_per_minute: int | None = None
        self._windows: dict[str, _Window] = {}
        self._lock = threading.Lock()

    def spend(self, token: Token | None, now: float) -> None:
        """Count one request; raise ``Halt`` when the hour's are used up."""
        with self._lock:
            window = self._window(token, now)
            if window.used >= self._most(token):
                raise Halt(limited_primary(_who(token), window.reset, self._most(token)))
            window.used += 1

    def give_back(self, token: Token | None, now: float) -> None:
        """A 304 costs nothing."""
        with self._lock:
            window = self._window(token, now)
            window.used = max(0, window.used - 1)

    def create(self, token: Token, now: float) -> None:
        """Count one comment or issue; raise ``Halt`` when there were too many in a minute."""
        if self.creations_per_minute is None:
            return
        with self._lock:
            created = self._window(token, now).created
            while created and created[0] <= now - MINUTE:
                created.popleft()
            if len(created) >= self.creations_per_minute:
                wait = max(1, -int(-(created[0] + MINUTE - now) // 1))
                raise Halt(limited_secondary(str(wait)))
            created.append(now)

    def state(self, token: Token | None, now: float) -> dict[str, int]:
        """Limit, use, rest and the time of the reset."""
        with self._lock:
            window, most = self._window(token, now), self._most(token)
        used = min(window.used, most)
        return {"limit": most, "used": used, "remaining": most - used, "reset": window.reset}

    def headers(self, token: Token | None, now: float) -> dict[str, str]:
        """The same as headers."""
        state = self.state(token, now)
        return {
            **{f"x-ratelimit-{name}": str(value) for name, value in state.items()},
            "x-ratelimit-resource": "core",
        }

    def _most(self, token: Token | None) -> int:
        return self.per_hour if token else self.anonymous

    def _window(self, token: Token | None, now: float) -> _Window:
        key = token.value if token else ""
        window = self._windows.get(key)
        if window is None or now >= window.reset:
            created = window.created if window else deque()
            window = self._windows[key] = _Window(int(now) + HOUR, created=created)
        return window


def _who(token: Token | None) -> str:
    if token is None:
        return "127.0.0.1"
    kind = "installation" if token.kind == "installation" else "user"
    return f"{kind} ID {token.user.id}"

"""Connections that end with their request: every wait is cut to what is left of its time.

What may live here: wrapping the streams of a client library, and finding a host's addresses.  What
may not: importing that library (the wrapped objects are known by what they do), HTTP.

A client library's own timeouts are for one wait each.  They begin anew with each byte that comes,
each piece that goes and each address that is tried, so that a server which drips outlasts them.
"""

from __future__ import annotations

import math
import socket
import threading
from collections.abc import Iterable
from ssl import SSLContext
from typing import Any, Protocol

from .. import clock

PIECE = 4096
"""How much is written at once, in bytes: a system takes so little whole or makes us wait."""


class NotConnected(Exception):
    """No connection was made in time, or the host has no address: nothing was sent."""


class Overdue(Exception):
    """The time of the request is over, after it was begun."""


class Moment(threading.local):
    """When the request that this thread is sending must have ended."""

    until: float = math.inf

    def cut(self, asked: float | None, late: Exception) -> float:
        """*asked* seconds, or as many as are left; raises *late* when none are."""
        left = self.until - clock.monotonic()
        if left <= 0:
            raise late
        return left if asked is None else min(asked, left)


class Stream(Protocol):
    """A connection, as a client library knows it; *timeout* is in seconds."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Some bytes, none at the end."""

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it."""

    def close(self) -> None:
        """Hang up."""

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None, timeout: float | None
    ) -> Stream:
        """The same connection with TLS on top."""

    def get_extra_info(self, info: str) -> Any:
        """What the library itself asks about the socket."""


class Backend(Protocol):
    """What makes connections for a client library."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None,
        local_address: str | None,
        socket_options: Iterable[Any] | None,
    ) -> Stream:
        """Connect."""


class TimelyStream:
    """A stream whose every wait ends by the moment."""

    def __init__(self, inner: Stream, moment: Moment) -> None:
        self._inner = inner
        self._moment = moment

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Some bytes, none at the end."""
        return self._inner.read(max_bytes, self._moment.cut(timeout, Overdue()))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send in pieces: within one, the library's clock begins anew with each part sent."""
        for start in range(0, len(buffer), PIECE):
            piece = buffer[start : start + PIECE]
            self._inner.write(piece, self._moment.cut(timeout, Overdue()))

    def close(self) -> None:
        """Hang up."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> TimelyStream:
        """The same connection with TLS on top; the request is sent only after that."""
        left = self._moment.cut(timeout, NotConnected("no time was left for TLS"))
        inner = self._inner.start_tls(ssl_context, server_hostname, left)
        return TimelyStream(inner, self._moment)

    def get_extra_info(self, info: str) -> Any:
        """What the library itself asks about the socket."""
        return self._inner.get_extra_info(info)


class TimelyBackend:
    """Makes timely streams; *timeout* is for all addresses of a host together."""

    def __init__(self, inner: Backend, moment: Moment) -> None:
        self._inner = inner
        self._moment = moment

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> TimelyStream:
        """Connect to the first address that answers; raises what the last one raised."""
        late = NotConnected("no time was left to connect")
        end = clock.monotonic() + self._moment.cut(timeout, late)
        failed: Exception = late
        for address in _addresses(host, port, end - clock.monotonic()):
            left = end - clock.monotonic()
            if left <= 0:
                break
            try:
                inner = self._inner.connect_tcp(address, port, left, local_address, socket_options)
            except Exception as error:
                failed = error  # of the library's own kinds; the last one is raised below
            else:
                return TimelyStream(inner, self._moment)
        raise failed


def _addresses(host: str, port: int, seconds: float) -> list[str]:
    """The addresses of *host*, each once; raises ``NotConnected``."""
    try:
        socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return _looked_up(host, port, seconds)
    return [host]


def _looked_up(host: str, port: int, seconds: float) -> list[str]:
    """Ask the resolver on a thread of its own: the system gives its questions no time limit."""
    found: list[str] = []
    trouble: list[Exception] = []

    def ask() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.extend(dict.fromkeys(str(answer[4][0]) for answer in answers))
        except (OSError, UnicodeError) as error:
            trouble.append(error)

    asking = threading.Thread(target=ask, name="markers-lookup", daemon=True)
    asking.start()
    asking.join(seconds)
    if trouble:
        raise NotConnected(str(trouble[0])) from trouble[0]
    if asking.is_alive() or not found:
        raise NotConnected("its name was not resolved in time")
    return found

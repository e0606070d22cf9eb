"""A line to a server that counts round trips: how often somebody waited for an answer."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class Trips:
    """Stands before the server at *port* while the block runs.

    It is one round trip each time that the client speaks after the server has spoken.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._fragile = False
        self._count = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.cut()
        self._door.close()

    def take(self) -> int:
        """Round trips since the last time."""
        with self._lock:
            count, self._count = self._count, 0
        return count

    def cut(self) -> None:
        """Break all lines, without a word."""
        with self._lock:
            lines, self._open = self._open, []
        for line in lines:
            with suppress(OSError):  # the other end may have been first
                line.shutdown(socket.SHUT_RDWR)
            line.close()

    def cut_at_next(self) -> None:
        """Break the line at the next word of a client, which the server does not hear any more."""
        self._fragile = True

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._door.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            with self._lock:
                self._open += [client, server]
            turn = _Turn()
            for source, target, asks in ((client, server, True), (server, client, False)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(
                    target=self._pump, args=(source, target, asks, turn), daemon=True
                ).start()

    def _pump(self, source: socket.socket, target: socket.socket, asks: bool, turn: _Turn) -> None:
        try:
            while data := source.recv(65_536):
                if asks and self._fragile:
                    self._fragile = False
                    return self.cut()
                with self._lock:
                    self._count += asks and not turn.asked
                    turn.asked = asks
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            return None


class _Turn:
    """Who spoke last on one line."""

    asked = False

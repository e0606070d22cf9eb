"""The forge on a socket: HTTP/1.1 with keep-alive, on loopback only, plain or over TLS.

Connection faults become real here: a reset is an RST on the wire, a timeout is silence until the
client goes away or *hang* seconds are over.
"""

from __future__ import annotations

import gzip
import re
import select
import socket
import ssl
import struct
import sys
import threading
import time
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from types import TracebackType
from typing import Any, Self

from .app import Forge
from .values import Answer

LOOPBACK = "127.0.0.1"
LARGEST_REQUEST = 16 * 1024 * 1024
_WORTH_ZIPPING = 1024
_SIZE = re.compile(rb"[0-9a-fA-F]{1,8}")
_RESET = struct.pack("ii", 1, 0)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 120
    server: _Server

    def _serve(self) -> None:
        body = self._body()
        if body is None:
            return
        try:
            answer = self.server.forge.handle(
                self.command, self._target(), dict(self.headers), body
            )
        except ConnectionResetError:
            self._reset()
        except TimeoutError:
            self._hang()
            self._reset()
        else:
            self._write(answer)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve  # noqa: N815 - the base class's names

    def _target(self) -> str:
        """What is asked for; over TLS the whole address, so that the answer's links say https."""
        host = self.headers.get("Host", "")
        return f"https://{host}{self.path}" if self.server.secure and host else self.path

    def _body(self) -> bytes | None:
        """The request's body; None when it was answered already, since it cannot be read."""
        length = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = _joined(self.rfile)
            if body is not None:
                return body
            self.send_error(HTTPStatus.BAD_REQUEST)
        elif "Transfer-Encoding" in self.headers or not length.isdigit():
            self.send_error(HTTPStatus.LENGTH_REQUIRED)
        elif int(length) > LARGEST_REQUEST:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            return self.rfile.read(int(length))
        self.close_connection = True
        return None

    def _write(self, answer: Answer) -> None:
        headers, body = dict(answer.headers), answer.body
        if "Content-Length" in headers:
            self.close_connection = True
        elif self._zips(body):
            headers["Content-Encoding"], body = "gzip", _zipped(body)
        if answer.status not in (204, 304):
            headers.setdefault("Content-Length", str(len(body)))
        phrase = HTTPStatus(answer.status).phrase
        lines = [f"HTTP/1.1 {answer.status} {phrase}", "Server: forge"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if self.close_connection:
            lines.append("Connection: close")
        head = "\r\n".join(lines) + "\r\n\r\n"
        self.wfile.write(head.encode("latin-1") + body)

    def _zips(self, body: bytes) -> bool:
        wanted = "gzip" in self.headers.get("Accept-Encoding", "")
        return wanted and len(body) >= _WORTH_ZIPPING

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        # The reader shares the socket: the reset goes out when the last of the two is closed.
        self.rfile.close()
        self.connection.close()

    def _hang(self) -> None:
        end = time.monotonic() + self.server.hang
        while time.monotonic() < end and not self.server.stopping.is_set():
            if select.select([self.connection], [], [], 0.02)[0] and self._gone():
                return

    def _gone(self) -> bool:
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Keep quiet: ``Forge.log`` has it all."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 128

    def __init__(
        self, forge: Forge, port: int, hang: float, tls: ssl.SSLContext | None = None
    ) -> None:
        self.forge, self.hang, self.secure = forge, hang, tls is not None
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        super().__init__((LOOPBACK, port), _Handler)
        if tls is not None:
            # Each connection's own thread shakes hands: a client that stalls holds up nobody.
            self.socket = tls.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error; anything else is printed."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def hang_up(self) -> None:
        """End the connections that are kept alive, so that their threads end."""
        self.stopping.set()
        for request in list(self._open):
            try:
                request.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


class ForgeServer:
    """A forge that listens on loopback while the ``with`` block runs.

    *port* 0 is any free one; *hang* bounds, in seconds, how long a timeout fault keeps silent.
    *tls* has the certificate to show; with it the address is https.  Reset and timeout faults are
    for plain http.
    """

    def __init__(
        self,
        forge: Forge,
        port: int = 0,
        *,
        hang: float = 30.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.forge = forge
        self._server = _Server(forge, port, hang, tls)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Base URL of its API, without a trailing slash."""
        scheme = "https" if self._server.secure else "http"
        return f"{scheme}://{LOOPBACK}:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()

    def wait(self) -> None:
        """Wait until somebody interrupts."""
        self._thread.join()


def serve(forge: Forge, port: int = 0) -> ForgeServer:
    """Put a forge on loopback; listening begins and ends with the ``with`` block.

    Raises ``OSError`` when the port is taken.
    """
    return ForgeServer(forge, port)


def _joined(stream: BufferedIOBase) -> bytes | None:
    """A body in chunks, as gh sends what it reads from a pipe; None when broken or too large."""
    body = b""
    while True:
        size = stream.readline(20).strip()
        if not _SIZE.fullmatch(size) or len(body) + int(size, 16) > LARGEST_REQUEST:
            return None
        piece = stream.read(int(size, 16))
        if stream.readline(3) != b"\r\n":
            return None
        if not piece:
            return body
        body += piece


@lru_cache(maxsize=32)
def _zipped(body: bytes) -> bytes:
    return gzip.compress(body, compresslevel=1, mtime=0)

"""One bound on a whole request: servers, networks and resolvers that are slow in any part."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress

import pytest

from markers.errors import Broken, MarkersError, Unreachable
from markers.transport.interface import Request
from markers.transport.rest import HttpxSender

BOUND = 0.2
SLACK = 1.0
"""What a loaded machine may add; each of these servers goes on for far longer than this."""
Serve = Callable[[socket.socket], None]


def dripping(*parts: bytes, pause: float = 0.02) -> Serve:
    """Send *parts* with a pause after each; the last one for ever."""

    def serve(line: socket.socket) -> None:
        line.recv(65536)
        for part in itertools.chain(parts[:-1], itertools.repeat(parts[-1])):
            line.sendall(part)
            time.sleep(pause)

    return serve


def sipping(line: socket.socket) -> None:
    """Take the request in small sips, and never all of it."""
    while line.recv(2048):
        time.sleep(0.01)


HEAD = b"HTTP/1.1 200 OK\r\n"
SLOW: dict[str, Serve] = {
    "status line": dripping(b"H", b"T", b"T", b"P", b"/", b"1", b".", b"1", b" ", b"2"),
    "headers": dripping(HEAD, b"X: y\r\n"),
    "one header": dripping(HEAD, b"X: ", b"y"),
    "informational": dripping(b"HTTP/1.1 102 Processing\r\n\r\n"),
    "informational at once": dripping(b"HTTP/1.1 102 Processing\r\n\r\n" * 500, pause=0),
    "body": dripping(HEAD + b"Content-Length: 100000\r\n\r\n", b" "),
    "chunks": dripping(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "trailers": dripping(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n"),
    "taking the request": sipping,
}


@pytest.fixture
def listening() -> Iterator[Callable[[Serve], str]]:
    """Start servers that treat each connection as they are told; the answer is an address."""
    with ExitStack() as stack:

        def start(serve: Serve) -> str:
            server = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

            def run() -> None:
                with suppress(OSError):
                    while True:
                        line, _ = server.accept()
                        with line, suppress(OSError):
                            serve(line)

            threading.Thread(target=run, daemon=True).start()
            stack.callback(server.shutdown, socket.SHUT_RDWR)
            return f"http://127.0.0.1:{server.getsockname()[1]}"

        yield start


@pytest.fixture
def sender() -> Iterator[HttpxSender]:
    """A sender that is closed."""
    with closing(HttpxSender()) as made:
        yield made


def fails(sender: HttpxSender, url: str, body: bytes | None = None) -> tuple[MarkersError, float]:
    """The error of a request that has ``BOUND`` seconds, and how long it took."""
    method = "GET" if body is None else "POST"
    began = time.monotonic()
    with pytest.raises(MarkersError) as caught:
        sender.send(Request(method=method, url=url, headers={}, body=body), timeout=BOUND)
    return caught.value, time.monotonic() - began


@pytest.mark.parametrize("part", SLOW)
def test_no_part_of_a_request_outlasts_its_bound(
    listening: Callable[[Serve], str], sender: HttpxSender, part: str
) -> None:
    """Whatever a server does slowly, byte by byte, the request ends in time."""
    url = listening(SLOW[part])
    error, seconds = fails(sender, f"{url}/x", body=b"x" * 2**23 if SLOW[part] is sipping else None)
    assert (type(error), error.reason.code) == (Broken, "timeout"), error
    assert seconds < BOUND + SLACK


def test_kept_connection_is_bound_anew(
    listening: Callable[[Serve], str], sender: HttpxSender
) -> None:
    """The bound is each request's own, on a connection that an earlier one has opened, too."""

    def serve(line: socket.socket) -> None:
        line.recv(65536)
        line.sendall(HEAD + b"Content-Length: 2\r\n\r\n[]")
        dripping(HEAD, b"X: y\r\n")(line)

    url = listening(serve)
    request = Request(method="GET", url=f"{url}/x", headers={})
    assert sender.send(request, timeout=5).body == b"[]"
    error, seconds = fails(sender, f"{url}/x")
    assert error.reason.code == "timeout"
    assert seconds < BOUND + SLACK


def test_all_addresses_of_a_host_share_the_bound(
    sender: HttpxSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host with many addresses, none of which answers, takes no longer than one."""
    with ExitStack() as stack:
        deaf = stack.enter_context(closing(socket.socket()))
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        address = deaf.getsockname()
        for _ in range(3):  # fill the queue, so that connecting hangs
            waiting = stack.enter_context(closing(socket.socket()))
            waiting.setblocking(False)
            waiting.connect_ex(address)
        real = socket.getaddrinfo

        def resolve(host: str, *args: object, **more: object) -> object:
            if host != "many.invalid" or more.get("flags"):
                return real(host, *args, **more)
            names = [f"127.0.0.{last}" for last in range(1, 9)]
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (name, 0)) for name in names]

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        monkeypatch.setattr(socket, "create_connection", _always(address))
        error, seconds = fails(sender, f"http://many.invalid:{address[1]}/x")
    assert isinstance(error, Unreachable)
    assert seconds < BOUND + SLACK


def _always(address: tuple[str, int]) -> Callable[..., socket.socket]:
    """Connections that all go to one place, whatever they are meant for."""
    real = socket.create_connection
    return lambda _asked, *args, **more: real(address, *args, **more)


def test_second_address_is_tried(
    listening: Callable[[Serve], str], sender: HttpxSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host whose first address refuses is reached at its second."""

    def serve(line: socket.socket) -> None:
        line.recv(65536)
        line.sendall(HEAD + b"Content-Length: 2\r\n\r\n[]")

    port = int(listening(serve).rpartition(":")[2])
    real = socket.getaddrinfo

    def resolve(host: str, *args: object, **more: object) -> object:
        if host != "two.invalid" or more.get("flags"):
            return real(host, *args, **more)
        names = ("::1", "127.0.0.1")
        return [(0, socket.SOCK_STREAM, 6, "", (name, port)) for name in names]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    request = Request(method="GET", url=f"http://two.invalid:{port}/x", headers={})
    assert sender.send(request, timeout=5).body == b"[]"


def test_silent_resolver_is_left_behind(
    sender: HttpxSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is never resolved ends in time, and nothing was sent."""
    freed = threading.Event()

    def resolve(*_args: object, **more: object) -> list[object]:
        if more.get("flags"):
            raise socket.gaierror(socket.EAI_NONAME, "no number")
        freed.wait(30)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    try:
        error, seconds = fails(sender, "http://slow.invalid/x")
    finally:
        freed.set()
    assert isinstance(error, Unreachable)
    assert "its name was not resolved in time" in str(error)
    assert seconds < BOUND + SLACK


def test_name_without_address_says_so(sender: HttpxSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the resolver says is passed on."""

    def resolve(*_args: object, **_more: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    error, _seconds = fails(sender, "http://nobody.invalid/x")
    assert isinstance(error, Unreachable)
    assert "Name or service not known" in str(error)

"""Content codings: what is unpacked, what is refused, and how little memory a bomb gets."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markers.errors import Broken
from markers.transport import rest
from markers.transport.interface import Request, Response
from markers.transport.rest import HttpxSender
from markers.transport.unpacking import STEP, Unreadable, unpacked

MEGA = 2**20


def cut(content: bytes, size: int) -> Iterator[bytes]:
    """*content* in pieces."""
    return (content[start : start + size] for start in range(0, len(content), size))


def bomb(size: int) -> bytes:
    """*size* blanks, packed as tightly as it goes."""
    return gzip.compress(b" " * size, 9)


@given(st.binary(max_size=3000), st.integers(1, 50), st.sampled_from(["gzip", "X-GZIP, identity"]))
def test_gzip_is_unpacked_however_it_is_cut(content: bytes, size: int, coding: str) -> None:
    """What was packed comes out whole, whatever pieces it came in."""
    assert b"".join(unpacked(cut(gzip.compress(content), size), coding)) == content


@pytest.mark.parametrize("coding", ["", "identity", " Identity , identity"])
def test_plain_bodies_pass(coding: str) -> None:
    """What is not packed is left as it is."""
    assert list(unpacked([b"a", b"", b"b"], coding)) == [b"a", b"", b"b"]


@pytest.mark.parametrize("coding", ["gzip", "br", "gzip, gzip"])
def test_no_body_needs_no_unpacking(coding: str) -> None:
    """A 304 may name a coding and has no body."""
    assert b"".join(unpacked([], coding)) == b"".join(unpacked([b""], coding)) == b""


@pytest.mark.parametrize(
    ("content", "coding", "why"),
    [
        (gzip.compress(gzip.compress(b"x")), "gzip, gzip", "only gzip was asked for"),
        (gzip.compress(b"x"), "gzip,x-gzip,identity", "only gzip was asked for"),
        (zlib.compress(b"x"), "deflate", "only gzip was asked for"),
        (b"x", "br", "'br'"),
        (b"plain", "gzip", "not packed as it says"),
        (gzip.compress(b"x" * 1000)[:-9], "gzip", "breaks off"),
        (gzip.compress(b"x") + b"more", "gzip", "goes on"),
        (gzip.compress(b"x") + gzip.compress(b"y"), "gzip", "goes on"),
    ],
    ids=["twice", "named", "deflate", "br", "plain", "short", "more", "another"],
)
def test_other_packings_are_refused(content: bytes, coding: str, why: str) -> None:
    """Codings on top of each other, other codings and what is not whole are no answer."""
    with pytest.raises(Unreadable, match=why):
        list(unpacked([content], coding))


def test_no_piece_is_large() -> None:
    """A piece that unpacks to a thousand times its size comes out in steps."""
    steps = [len(step) for step in unpacked([bomb(4 * MEGA)], "gzip")]
    assert (max(steps), sum(steps)) == (STEP, 4 * MEGA)


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Response]]:
    """Send a request to a server that answers with these bytes, named as this coding."""
    monkeypatch.setattr(rest, "MAX_ANSWER", MEGA)
    told: list[tuple[bytes, str]] = []
    asked: list[str | None] = []

    class Packed(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers.get("Accept-Encoding"))
            content, coding = told[-1]
            self.send_response(200)
            self.send_header("Content-Encoding", coding)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            try:
                self.wfile.write(content)
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    with (
        ThreadingHTTPServer(("127.0.0.1", 0), Packed) as server,
        closing(HttpxSender()) as sender,
    ):
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/x"

        def send(content: bytes, coding: str) -> Response:
            told.append((content, coding))
            return sender.send(Request(method="GET", url=url, headers={}), timeout=5)

        yield send
        assert set(asked) == {"gzip"}
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("make", "coding", "code"),
    [
        (lambda: bomb(200 * MEGA), "gzip", "answer-too-large"),
        (lambda: gzip.compress(bomb(200 * MEGA), 9), "gzip, gzip", "unreadable"),
        (lambda: gzip.compress(b"x") + b"x" * 8 * MEGA, "gzip", "unreadable"),
    ],
    ids=["one layer", "two layers", "a tail"],
)
def test_bomb_takes_little_memory(
    answered: Callable[..., Response], make: Callable[[], bytes], coding: str, code: str
) -> None:
    """A small answer that unpacks to much is given up before it takes more than is allowed."""
    assert answered(gzip.compress(b"[]"), "gzip").body == b"[]"
    content = make()
    tracemalloc.start()
    try:
        with pytest.raises(Broken) as caught:
            answered(content, coding)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.reason.code == code
    assert peak < 4 * MEGA

"""The forge on a real socket: keep-alive, gzip, and connection faults as a client meets them."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest
from forge_client import THREAD

from markers.forge import faults
from markers.forge.app import Forge
from markers.forge.server import ForgeServer, serve

HEADERS = {"User-Agent": "test", "Authorization": "Bearer forge-bot"}


@pytest.fixture
def client(forge_server: ForgeServer) -> Iterator[httpx.Client]:
    """A real client that follows and repeats nothing."""
    with httpx.Client(base_url=forge_server.url, headers=HEADERS, timeout=5) as made:
        yield made


def test_a_comment_round_trip(client: httpx.Client, forge: Forge) -> None:
    """POST, GET, PATCH and DELETE over the wire."""
    made = client.post(THREAD, json={"body": "🌈\r\nx"})
    assert made.status_code == 201
    at = made.json()["url"]
    assert client.get(at).json()["body"] == "🌈\r\nx"
    assert client.patch(at, json={"body": "y"}).json()["body"] == "y"
    assert client.delete(at).status_code == 204
    assert forge.comments("acme/widgets", 12) == []


def test_links_and_redirects_can_be_followed(client: httpx.Client, forge: Forge) -> None:
    """All addresses are those of the socket that the client used."""
    forge.fill("acme/widgets", 12, 150)
    first = client.get(THREAD, params={"per_page": 100})
    assert len(client.get(first.links["next"]["url"]).json()) == 50
    forge.rename("acme/widgets", "acme/gadgets")
    answer = client.post(THREAD, json={"body": "x"}, follow_redirects=True)
    assert (answer.status_code, answer.history[0].status_code) == (201, 307)


def test_one_connection_serves_many_requests(forge_server: ForgeServer) -> None:
    """HTTP/1.1 keep-alive: answers without a body included, and 304."""
    connection = http.client.HTTPConnection("127.0.0.1", forge_server.port, timeout=5)
    connection.connect()
    ours = connection.sock.getsockname()
    connection.request("PUT", "/repos/acme/widgets/issues/12/lock", headers=HEADERS)
    assert connection.getresponse().read() == b""
    tag = ""
    for status in (200, 304, 304):
        connection.request("GET", THREAD, headers={**HEADERS, "If-None-Match": tag})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (status, b"[]" if status == 200 else b"")
        tag = answer.headers["ETag"]
    assert connection.sock.getsockname() == ours
    connection.close()


def test_gzip_only_when_asked(client: httpx.Client, forge: Forge) -> None:
    """Long answers are packed for who accepts it, and say the same."""
    forge.fill("acme/widgets", 12, 30)
    packed = client.get(THREAD)
    plain = client.get(THREAD, headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"])
    assert packed.json() == plain.json()
    assert "content-encoding" not in plain.headers


@pytest.mark.parametrize("landed", [False, True])
def test_reset_is_a_reset(client: httpx.Client, forge: Forge, landed: bool) -> None:
    """The connection ends with an RST, before or after the effect; the next one is fine."""
    forge.faults.add("POST", "", faults.reset(landed=landed))
    with pytest.raises(httpx.ReadError):
        client.post(THREAD, json={"body": "x"})
    assert len(forge.comments("acme/widgets", 12)) == landed
    assert client.get(THREAD).status_code == 200


@pytest.mark.parametrize("landed", [False, True])
def test_timeout_is_silence(client: httpx.Client, forge: Forge, landed: bool) -> None:
    """No byte comes until the client gives up."""
    forge.faults.add("POST", "", faults.timeout(landed=landed))
    with pytest.raises(httpx.ReadTimeout):
        client.post(THREAD, json={"body": "x"}, timeout=0.1)
    assert len(forge.comments("acme/widgets", 12)) == landed


def test_silence_is_bounded(forge: Forge) -> None:
    """A client without patience of its own is let go after the bound."""
    forge.faults.add("GET", "", faults.timeout())
    with ForgeServer(forge, hang=0.05) as server, pytest.raises(httpx.ReadError):
        httpx.get(server.url + THREAD, headers=HEADERS, timeout=5)


def test_truncated_answer_breaks_off(client: httpx.Client, forge: Forge) -> None:
    """The client reads fewer bytes than were announced."""
    forge.fill("acme/widgets", 12, 30)
    forge.faults.add("GET", "", faults.truncated())
    with pytest.raises(httpx.RemoteProtocolError):
        client.get(THREAD)


def test_half_json_is_whole_by_length(client: httpx.Client, forge: Forge) -> None:
    """Half of the JSON arrives as a complete answer, gzip or not."""
    forge.fill("acme/widgets", 12, 30)
    forge.faults.add("GET", "", faults.half_json(), times=2)
    for encoding in ("gzip", "identity"):
        answer = client.get(THREAD, headers={"Accept-Encoding": encoding})
        assert answer.status_code == 200
        with pytest.raises(json.JSONDecodeError):
            answer.json()


def test_eight_clients_at_once(forge_server: ForgeServer) -> None:
    """Threads do not mix answers up."""
    seen: list[bool] = []

    def post(name: str) -> None:
        with httpx.Client(base_url=forge_server.url, headers=HEADERS) as client:
            for turn in range(5):
                text = f"{name}-{turn}"
                seen.append(client.post(THREAD, json={"body": text}).json()["body"] == text)

    threads = [threading.Thread(target=post, args=(str(n),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 40
    assert len(forge_server.forge.comments("acme/widgets", 12)) == 40


def test_it_listens_on_loopback_only(forge_server: ForgeServer) -> None:
    """The socket is bound to 127.0.0.1 and to no other address."""
    assert forge_server.url == f"http://127.0.0.1:{forge_server.port}"
    with socket.socket() as other, pytest.raises(OSError, match=r"refused|unreachable"):
        other.connect(("127.0.0.2", forge_server.port))


def test_stopping_ends_kept_connections(forge: Forge) -> None:
    """Leaving the block ends what is kept alive and frees the port."""
    with serve(forge) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection.request("GET", THREAD, headers=HEADERS)
        connection.getresponse().read()
        port = server.port
    assert connection.sock.recv(1) == b""
    connection.close()
    with serve(forge, port) as again:
        assert again.port == port


def test_taken_port_is_an_error(forge_server: ForgeServer) -> None:
    """A port that somebody listens on cannot be had."""
    with pytest.raises(OSError, match="in use"):
        serve(forge_server.forge, forge_server.port)


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Transfer-Encoding": "gzip"}, 411), ({"Content-Length": "99999999"}, 413)],
)
def test_bodies_that_cannot_be_read(
    forge_server: ForgeServer, headers: dict[str, str], status: int
) -> None:
    """A body without a length, and one far too large, are turned away unread."""
    connection = http.client.HTTPConnection("127.0.0.1", forge_server.port, timeout=5)
    connection.putrequest("POST", THREAD)
    for name, value in {**HEADERS, **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == status
    connection.close()


def test_a_body_in_chunks_is_a_body(client: httpx.Client, forge_server: ForgeServer) -> None:
    """What comes in chunks is put together, and the connection goes on."""
    for text in ("a" * 70_000, "🌈"):
        data = json.dumps({"body": text}).encode()
        pieces = (data[at : at + 8_192] for at in range(0, len(data), 8_192))
        assert client.post(THREAD, content=pieces).json()["body"] == text
    assert [e.method for e in forge_server.forge.writes] == ["POST", "POST"]


@pytest.mark.parametrize(
    "chunks", [b"zz\r\n", b"-1\r\n", b"2\r\nabc\r\n", b"ffffffff\r\n", b"\r\n"]
)
def test_chunks_that_are_none(forge_server: ForgeServer, chunks: bytes) -> None:
    """A size that is none, a wrong one or a huge one is turned away."""
    head = f"POST {THREAD} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", forge_server.port), timeout=5) as line:
        line.sendall(head.encode() + chunks)
        assert line.recv(100).startswith(b"HTTP/1.1 400 ")
    assert not forge_server.forge.log

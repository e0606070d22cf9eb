"""Sending over real sockets on loopback: what arrives, and what each kind of trouble becomes."""

from __future__ import annotations

import gzip
import ipaddress
import json
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from markers.errors import Broken, MarkersError, Unavailable, Unreachable
from markers.transport import rest
from markers.transport.interface import Request, Response, Sender
from markers.transport.rest import HttpxSender

TOKEN = "t" * 8
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json"}


class Handler(BaseHTTPRequestHandler):
    """Behaves as the path says; ``/echo`` answers with the request itself."""

    protocol_version = "HTTP/1.1"
    peers: set[int]
    """Client ports seen: one for each connection."""

    def answer(self) -> None:
        """Read the request and do what its path says."""
        self.peers.add(self.client_address[1])
        self.sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        {
            "/cut": self.cut,
            "/drip": self.drip,
            "/garbage": self.garbage,
            "/gzip": self.gzip,
            "/hang": self.hang,
            "/moved": self.moved,
            "/not-gzip": self.not_gzip,
            "/reset": self.reset,
        }.get(self.path.partition("?")[0], self.echo)()

    do_GET = do_POST = do_PATCH = answer  # noqa: N815 - the base class calls them

    def reply(self, body: bytes, status: int = 200, **headers: str) -> None:
        """A whole answer."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def echo(self) -> None:
        """Say what arrived."""
        seen = {name.lower(): value for name, value in self.headers.items()}
        said = {"method": self.command, "path": self.path, "headers": seen}
        self.reply(json.dumps({**said, "body": self.sent.decode()}).encode(), X_Odd="A, b")

    def gzip(self) -> None:
        """Compressed."""
        self.reply(gzip.compress(b"[]" + b" " * 4096), Content_Encoding="gzip")

    def not_gzip(self) -> None:
        """Claims to be compressed."""
        self.reply(b"plain", Content_Encoding="gzip")

    def moved(self) -> None:
        """A redirect."""
        self.reply(b"", 307, Location="/echo")

    def cut(self) -> None:
        """Less than was promised."""
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"[{")
        self.close_connection = True

    def drip(self) -> None:
        """A byte at a time, for ever, each well within any timeout."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        try:
            for _ in range(1000):
                self.wfile.write(b" ")
                time.sleep(0.02)
        except OSError:
            self.close_connection = True

    def garbage(self) -> None:
        """No HTTP at all."""
        self.wfile.write(b"SSH-2.0-OpenSSH\r\n")
        self.close_connection = True

    def hang(self) -> None:
        """Nothing until the other side has had enough."""
        self.connection.recv(1)
        self.close_connection = True

    def reset(self) -> None:
        """Cut the connection at once, after the request was read."""
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
        self.close_connection = True
        self.wfile = open("/dev/null", "wb")  # noqa: PTH123, SIM115 - the base class flushes it

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""


class Quiet(ThreadingHTTPServer):
    """A server that keeps its clients' broken connections to itself."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Expected here: the tests break connections on purpose."""


def serving(context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve on a free port of loopback until the test ends."""
    handler = type("Fresh", (Handler,), {"peers": set()})
    with Quiet(("127.0.0.1", 0), handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own proxies and certificates play no part."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[str]:
    """A plain server."""
    yield from serving()


@pytest.fixture
def sender() -> Iterator[HttpxSender]:
    """A sender that is closed."""
    made = HttpxSender()
    yield made
    made.close()


def get(url: str) -> Request:
    """A read."""
    return Request(method="GET", url=url, headers=HEADERS)


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_request_arrives_as_it_is(server: str, sender: Sender) -> None:
    """Method, query, headers and exact bytes arrive; nothing of our own list is replaced."""
    body = '{"body": "a\\r\\n\U0001f308"}'
    headers = {**HEADERS, "User-Agent": "handoff-markers/0", "Content-Type": "application/json"}
    for method in ("POST", "PATCH"):
        request = Request(
            method=method, url=f"{server}/echo?a=b%3Ac", headers=headers, body=body.encode()
        )
        answer = sender.send(request, timeout=5)
        said = json.loads(answer.body)
        assert (said["method"], said["path"], said["body"]) == (method, "/echo?a=b%3Ac", body)
        assert said["headers"]["user-agent"] == "handoff-markers/0"
        assert said["headers"]["authorization"] == f"Bearer {TOKEN}"
        assert said["headers"]["accept"] == "application/json"
        assert said["headers"]["content-length"] == str(len(body.encode()))
    assert (answer.status, answer.headers["x-odd"]) == (200, "A, b")


def test_answer_is_unpacked(server: str, sender: Sender) -> None:
    """Bodies come decoded, whatever they travelled in."""
    assert sender.send(get(f"{server}/gzip"), timeout=5).body.strip() == b"[]"


def test_nothing_is_followed(server: str, sender: Sender) -> None:
    """A redirect is an answer like any other."""
    answer = sender.send(get(f"{server}/moved"), timeout=5)
    assert (answer.status, answer.headers["location"], answer.body) == (307, "/echo", b"")


def test_connection_is_kept(sender: Sender) -> None:
    """Requests in a row share one connection; side by side they are as many."""
    handler = type("Fresh", (Handler,), {"peers": set()})
    with Quiet(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/echo"
        for _ in range(5):
            sender.send(get(url), timeout=5)
        assert len(handler.peers) == 1
        sender.close()
        server.shutdown()
        thread.join()


def test_threads_share_one_sender(server: str, sender: Sender) -> None:
    """Answers do not get mixed up between threads."""
    wrong: list[int] = []

    def run(number: int) -> None:
        for step in range(10):
            path = f"/echo?{number}-{step}"
            answer: Response = sender.send(get(server + path), timeout=5)
            if json.loads(answer.body)["path"] != path:
                wrong.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/cut", "connection-lost"),
        ("/drip", "timeout"),
        ("/garbage", "connection-lost"),
        ("/hang", "timeout"),
        ("/not-gzip", "unreadable"),
        ("/reset", "connection-lost"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_trouble_after_the_request_is_broken(
    server: str, sender: Sender, path: str, code: str, method: str
) -> None:
    """Once a request has left, no failure promises that it had no effect."""
    body = b"{}" if method == "POST" else None
    request = Request(method=method, url=server + path, headers=HEADERS, body=body)
    began = time.monotonic()
    with pytest.raises(Broken) as caught:
        sender.send(request, timeout=0.15)
    assert caught.value.reason.code == code
    assert time.monotonic() - began < 2
    assert TOKEN not in str(caught.value)
    assert str(caught.value).isprintable()


def test_answer_has_a_largest_size(
    server: str, sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer without end, or one that unpacks to one, is cut off; the size is the unpacked."""
    monkeypatch.setattr(rest, "MAX_ANSWER", 1000)
    with pytest.raises(Broken) as caught:
        sender.send(get(f"{server}/gzip"), timeout=5)
    assert caught.value.reason.code == "answer-too-large"


def test_no_connection_is_unreachable(sender: Sender) -> None:
    """Refused, or no way to ask: nothing was sent, and the answer says where to look."""
    for url in (f"http://127.0.0.1:{closed_port()}/x", "gopher://x/y"):
        with pytest.raises(Unreachable) as caught:
            sender.send(get(url), timeout=2)
        assert url in str(caught.value)
        assert "--api-url" in str(caught.value)


def test_late_connection_is_unreachable(sender: Sender) -> None:
    """Who never ends the handshake was never sent the request."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"https://127.0.0.1:{mute.getsockname()[1]}/x"
        with pytest.raises(Unreachable, match=r"no connection within 0\.15 s"):
            sender.send(get(url), timeout=0.15)


def test_plain_http_goes_through_no_proxy(
    server: str, sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token in plain http stays on this machine, whatever HTTP_PROXY says."""
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{closed_port()}")
    assert sender.send(get(f"{server}/echo"), timeout=5).status == 200


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """A proxy that wants a login; the answer is what it was asked."""
    asked: list[bytes] = []

    class Refusal(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            asked.append(self.requestline.encode())
            self.send_error(407)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    with Quiet(("127.0.0.1", 0), Refusal) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{server.server_port}")
        yield asked
        server.shutdown()
        thread.join()


def test_https_goes_through_the_proxy(sender: Sender, proxy: list[bytes]) -> None:
    """HTTPS_PROXY is used, and a proxy that refuses means that nothing was sent."""
    with pytest.raises(Unreachable, match=r"proxy.*407"):
        sender.send(get("https://api.github.invalid/x"), timeout=5)
    assert proxy == [b"CONNECT api.github.invalid:443 HTTP/1.1"]


def test_no_proxy_is_honoured(
    secure: tuple[str, Path],
    sender: Sender,
    proxy: list[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A host in NO_PROXY is asked directly."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(secure[1]))
    assert sender.send(get(f"{secure[0]}/echo"), timeout=5).status == 200
    assert proxy == []


@pytest.mark.parametrize("proxy", ["gopher://user:s3cret@x", "socks5://user:s3cret@x:1"])
def test_unusable_proxy_is_named_without_its_password(
    sender: Sender, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    """A proxy address that cannot be used names the variables; nothing of its login appears."""
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(Unavailable, match="HTTPS_PROXY") as caught:
        sender.send(get("https://nobody.invalid/x"), timeout=5)
    assert caught.value.reason.code == "proxy-settings"
    assert "s3cret" not in str(caught.value)


# Certificates


def key_and_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A self-signed certificate for this machine, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / f"{name}.pem", folder / f"{name}.key"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server with a certificate of its own authority, and that certificate."""
    certificate, key = key_and_certificate(tmp_path, "server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    for url in serving(context):
        yield url, certificate


def test_unknown_authority_is_unreachable(secure: tuple[str, Path], sender: Sender) -> None:
    """A certificate that nobody vouches for stops before the token is sent, and says the cure."""
    with pytest.raises(Unreachable, match="SSL_CERT_FILE") as caught:
        sender.send(get(f"{secure[0]}/echo"), timeout=5)
    assert "not trusted" in str(caught.value)


def test_authority_from_the_environment(
    secure: tuple[str, Path], sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SSL_CERT_FILE adds an authority of one's own."""
    monkeypatch.setenv("SSL_CERT_FILE", str(secure[1]))
    assert sender.send(get(f"{secure[0]}/echo"), timeout=5).status == 200


def test_client_certificate_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that wants a certificate gets the one from the settings, and refuses without."""
    certificate, key = key_and_certificate(tmp_path, "server")
    mine, mine_key = key_and_certificate(tmp_path, "client")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.load_verify_locations(mine)
    context.verify_mode = ssl.CERT_REQUIRED
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    for url in serving(context):
        outcomes: list[Callable[[], HttpxSender]] = [
            lambda: HttpxSender(str(mine), str(mine_key)),
            HttpxSender,
        ]
        known, unknown = (made() for made in outcomes)
        assert known.send(get(f"{url}/echo"), timeout=5).status == 200
        with pytest.raises(MarkersError):
            unknown.send(get(f"{url}/echo"), timeout=5)
        known.close()
        unknown.close()


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "client"])
def test_missing_certificate_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """A certificate that cannot be read is a named setting, not a traceback."""
    missing = str(tmp_path / "missing.pem")
    if variable == "SSL_CERT_FILE":
        monkeypatch.setenv(variable, missing)
    sender = HttpxSender(missing if variable == "client" else None)
    with pytest.raises(Unavailable, match=variable) as caught:
        sender.send(get("https://nobody.invalid/x"), timeout=5)
    assert caught.value.reason.code == "tls-settings"


def test_command_line_of_httpx_is_not_loaded() -> None:
    """Importing our sender leaves out what httpx would load for its own command line."""
    script = (
        "import sys, markers.transport.rest, httpx; "
        "print([n for n in ('rich', 'pygments', 'click', 'httpx._main') if n in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"

"""What a server reflects of our request: never the token, never more than a bounded line."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markers import clock
from markers.clock import Deadline
from markers.errors import MarkersError
from markers.model import Repo, Thread
from markers.transport import quoting, wire
from markers.transport.api import Api, GitHub
from markers.transport.interface import Request, Response
from markers.transport.rest import HttpxSender

API = "https://api.github.com"
REPO = Repo(API, "acme", "widgets")
THREAD = Thread(REPO, 12)
TOKEN = "ghp_" + "Xy1" * 12
LONG = "z" * 3000
HERE = f"{API}/repos/acme/widgets/issues/12/comments"
REQUEST = wire.reading(HERE, wire.headers(TOKEN))
LONGEST_DETAIL = 1500
ISSUE = {"number": 12, "comments": 1}


def comment(**changes: Any) -> dict[str, Any]:
    """A comment in which a server put the token wherever it may put text, but the body."""
    made = {
        "id": 5,
        "body": "text",
        "html_url": f"{API}/{TOKEN}/{LONG}",
        "issue_url": f"{API}/repos/acme/widgets/issues/12",
        "created_at": "2022-07-19T04:38:30Z",
        "updated_at": "2022-07-19T04:38:31Z",
        "user": {"login": f"pat\n{TOKEN.upper()}{LONG}", "id": 900},
        "author_association": f"{TOKEN} {LONG}",
        "performed_via_github_app": {"slug": f"{TOKEN}{LONG}"},
    }
    return {**made, **changes}


USER = {"id": 900, "login": TOKEN, "data": {"viewer": {"databaseId": 900, "login": TOKEN}}}
BODIES: dict[str, bytes] = {
    "list": json.dumps([comment()]).encode(),
    "comment": json.dumps(comment()).encode(),
    "issue": json.dumps(ISSUE).encode(),
    "user": json.dumps(USER).encode(),
    "message": json.dumps({"message": f"Bad {TOKEN}\r\n\x1b[31m{LONG}"}).encode(),
    "errors": json.dumps({"errors": [{"message": TOKEN}, TOKEN, {"field": TOKEN}]}).encode(),
    "page": f"<html>{TOKEN}</html>".encode(),
    "nothing": b"",
    "broken": f'{{"{TOKEN}": '.encode(),
    "half": json.dumps([comment(id=None)]).encode(),
}
HEADERS: dict[str, dict[str, str]] = {
    "plain": {"content-type": "application/json"},
    "type": {"content-type": f"text/{TOKEN.lower()}; {LONG}"},
    "reference": {"content-type": "application/json", "x-github-request-id": TOKEN},
    "limit": {"retry-after": TOKEN, "x-ratelimit-remaining": TOKEN, "gh-limited-by": TOKEN},
    "foreign link": {"link": f'<https://{TOKEN}@evil.example/{TOKEN}?{TOKEN}>; rel="next"'},
    "own link": {"link": f'<{API}/{TOKEN}/x?page=2>; rel="next"'},
    "foreign place": {"location": f"https://evil.example/{TOKEN}/{LONG}"},
    "own place": {"location": f"/repos/{TOKEN}/widgets/issues/12/comments"},
}
CALLS: dict[str, Callable[[Api], Any]] = {
    "page": lambda api: api.page(THREAD, 1),
    "second page": lambda api: (api.page(THREAD, 1), api.page(THREAD, 2)),
    "comment": lambda api: api.comment(REPO, 5),
    "issue": lambda api: api.issue(THREAD),
    "viewer": lambda api: api.viewer(),
    "create": lambda api: api.create(THREAD, "text"),
    "edit": lambda api: api.edit(REPO, 5, "text"),
    "delete": lambda api: api.delete(REPO, 5),
}
STATUSES = (200, 201, 204, 206, 301, 304, 307, 400, 401, 403, 404, 407, 408, 410, 413, 418, 422)


class Reflecting:
    """Answers everything in one way; a ``Sender``."""

    def __init__(self, answer: Response) -> None:
        self.answer = answer

    def send(self, request: Request, *, timeout: float) -> Response:
        """The one answer."""
        del request, timeout
        return self.answer

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("headers", HEADERS)
def test_token_comes_back_from_no_answer(call: str, headers: str) -> None:
    """Neither a value nor an error holds the token, wherever in an answer a server puts it."""
    for status in (*STATUSES, 429, 500, 502, 599):
        for body in BODIES.values():
            answer = Response(status=status, headers=HEADERS[headers], body=body)
            with clock.use(clock.FakeClock()):
                api = GitHub(Reflecting(answer), API, TOKEN, "f00d").begin(Deadline(60))
                said = outcome(lambda api=api: CALLS[call](api))
            assert TOKEN.lower() not in said.lower(), (status, body)


def outcome(call: Callable[[], Any]) -> str:
    """What a call makes of it: the value, or an error with all that led to it."""
    try:
        return repr(call())
    except MarkersError as error:
        detail = error.reason.detail
        assert detail.isprintable()
        assert len(detail) < LONGEST_DETAIL
        return f"{detail} {error!r}"


def test_page_is_named_for_what_it_is() -> None:
    """An HTML page whose header says JSON is called a page, not JSON."""
    answer = Response(status=200, headers=HEADERS["plain"], body=b" <html>")
    with pytest.raises(MarkersError, match="answered with a page of HTML or XML instead of JSON"):
        wire.read_issue(answer, REQUEST)


@pytest.fixture
def saying() -> Iterator[Callable[[bytes], str]]:
    """Start servers that answer every connection with the same bytes."""
    servers: list[socket.socket] = []

    def start(answer: bytes) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)

        def run() -> None:
            try:
                while True:
                    line, _ = server.accept()
                    with line:
                        line.recv(65536)
                        line.sendall(answer)
            except OSError:
                return

        threading.Thread(target=run, daemon=True).start()
        return f"127.0.0.1:{server.getsockname()[1]}"

    yield start
    for server in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


@pytest.mark.parametrize(
    "answer",
    [
        f"{TOKEN}\r\n\r\n",
        f"HTTP/1.1 2{TOKEN} OK\r\n\r\n",
        f"HTTP/1.1 200 OK\r\n{TOKEN}\r\n\r\n",
        f"HTTP/1.1 200 OK\r\nContent-Length: {TOKEN}\r\n\r\n",
        f"HTTP/1.1 200 OK\r\nTransfer-Encoding: {TOKEN}\r\n\r\n",
        f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{TOKEN}\r\n",
        f"HTTP/1.1 200 OK\r\nContent-Encoding: {TOKEN}\r\nContent-Length: 1\r\n\r\nx",
    ],
)
def test_token_comes_back_from_no_broken_answer(
    saying: Callable[[bytes], str], answer: str
) -> None:
    """What is no HTTP is described without the token."""
    url = f"http://{saying(answer.encode())}/x"
    with closing(HttpxSender()) as sender, pytest.raises(MarkersError) as caught:
        sender.send(wire.reading(url, wire.headers(TOKEN)), timeout=5)
    assert TOKEN not in str(caught.value)
    assert str(caught.value).isprintable()


def test_proxy_login_comes_back_from_no_proxy(
    saying: Callable[[bytes], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a proxy's refusal only the status is told: its words may repeat the login it was sent."""
    proxy = saying(b"HTTP/1.1 407 not with aHVudGVyMg==\r\nContent-Length: 0\r\n\r\n")
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:hunter2@{proxy}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with closing(HttpxSender()) as sender, pytest.raises(MarkersError, match="407") as caught:
        sender.send(wire.reading("https://nobody.invalid/x", {}), timeout=5)
    assert "aHVudGVyMg" not in str(caught.value)


@given(st.text(max_size=100), st.text(max_size=100), st.integers(1, 60))
def test_told_is_one_bounded_line_without_the_token(before: str, after: str, longest: int) -> None:
    """Whatever stands around it, the token goes, and what is left is printable and short."""
    said = quoting.told(f"{before}{TOKEN}{after}", REQUEST, longest)
    assert TOKEN not in said
    assert said.isprintable()
    assert len(said) <= longest


@pytest.mark.parametrize("name", ["pat", "helper-bot[bot]", "Zoë", "a b"])
def test_ordinary_names_are_left_alone(name: str) -> None:
    """What is short and printable is repeated as it is."""
    assert quoting.told(name, REQUEST, 20) == name

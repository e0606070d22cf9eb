"""GitHub's operations over a scripted sender: which requests go out, and what comes of answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from markers import clock
from markers.clock import Deadline, FakeClock
from markers.errors import (
    Broken,
    Denied,
    Gone,
    Limited,
    MarkersError,
    Moved,
    Rejected,
    Unavailable,
    Unreachable,
)
from markers.model import Account, Repo, Surface, Thread
from markers.transport.api import IN_FLIGHT, Api, GitHub
from markers.transport.interface import Connection, Page, Request, Response, Transport

API = "https://api.github.com"
REPO = Repo(API, "acme", "widgets")
THREAD = Thread(REPO, 12)
BASE = f"{API}/repos/acme/widgets/issues"
NUMERIC = f"{API}/repositories/77/issues"
TOKEN = "t" * 8
JSON = {"content-type": "application/json"}

Step = Response | MarkersError | Callable[[Request], Response]


class Script:
    """A sender that plays its steps in order and keeps what it was sent."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.sent: list[Request] = []
        self.timeouts: list[float] = []
        self.closed = False

    def send(self, request: Request, *, timeout: float) -> Response:
        """Play the next step."""
        self.sent.append(request)
        self.timeouts.append(timeout)
        step = self.steps.pop(0)
        if isinstance(step, MarkersError):
            raise step
        return step if isinstance(step, Response) else step(request)

    def close(self) -> None:
        """Remember it."""
        self.closed = True

    @property
    def lines(self) -> list[str]:
        """Method and address of each request, without the part that all share."""
        return [f"{r.method} {r.url.removeprefix(API)}" for r in self.sent]


@pytest.fixture(autouse=True)
def time() -> Iterator[FakeClock]:
    """A clock on which waits take no time."""
    with clock.use(FakeClock()) as fake:
        yield fake


def view(script: Script, seconds: float = 120, **options: Any) -> Api:
    """A fresh view over the script."""
    return GitHub(script, API, TOKEN, "f00d", **options).begin(Deadline(seconds))


def answer(data: Any = b"", status: int = 200, **headers: str) -> Response:
    """An answer in JSON, or in the bytes given."""
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status=status, headers={**JSON, **named}, body=body)


def comment(number: int = 5, body: str = "text") -> dict[str, Any]:
    """A comment as GitHub writes it."""
    return {
        "id": number,
        "body": body,
        "html_url": f"https://github.com/acme/widgets/issues/12#issuecomment-{number}",
        "issue_url": f"{BASE}/12",
        "created_at": "2022-07-19T04:38:30Z",
        "updated_at": "2022-07-19T04:38:30Z",
        "user": {"login": "pat", "id": 7},
    }


def linked(*relations: str) -> str:
    """A Link header: ``next=2`` stands for page 2 of the numeric listing."""
    made = []
    for relation in relations:
        rel, number = relation.split("=")
        made.append(f'<{NUMERIC}/12/comments?per_page=100&page={number}>; rel="{rel}"')
    return ", ".join(made)


def test_interfaces_are_met() -> None:
    """The connection and its view are what the rest of the house asks for."""
    script = Script()
    connection: Connection = GitHub(script, API, TOKEN, "f00d")
    transport: Transport = connection.begin(Deadline(3))
    assert (transport.fingerprint, dict(transport.counts)) == ("f00d", {})
    connection.close()
    assert script.closed
    assert TOKEN not in repr(vars(transport))


def test_pages_follow_the_last_link() -> None:
    """After page 1 each page is the ``last`` link with its number, numeric address and all."""
    script = Script(
        answer([comment(1)], link=linked("next=2", "last=4")),
        answer([comment(4)], link=linked("first=1", "prev=3")),
        answer([comment(3)]),
        answer([comment(2)]),
    )
    api = view(script)
    pages = [api.page(THREAD, number) for number in (1, 4, 3, 2)]
    assert [page.comments[0].id for page in pages if page] == [1, 4, 3, 2]
    assert script.lines == [
        "GET /repos/acme/widgets/issues/12/comments?per_page=100",
        *(f"GET /repositories/77/issues/12/comments?per_page=100&page={n}" for n in (4, 3, 2)),
    ]
    assert api.repo_id == 77
    assert dict(api.counts) == {"GET": 4}


def test_pages_follow_the_next_link_where_the_last_has_no_number() -> None:
    """A listing by cursor is read serially, each ``next`` link as it was."""
    cursor = f'<{NUMERIC}/12/comments?after=abc>; rel="next", <{NUMERIC}/x?before=z>; rel="last"'
    script = Script(answer([comment(1)], link=cursor), answer([comment(2)]))
    api = view(script)
    first = api.page(THREAD, 1)
    assert first is not None
    assert (first.more, first.last) == (True, None)
    api.page(THREAD, 2)
    assert script.lines[1] == "GET /repositories/77/issues/12/comments?after=abc"


def test_since_is_a_listing_of_its_own() -> None:
    """Links of one listing do not lead another one astray."""
    script = Script(
        answer([comment(1)], link=linked("next=2", "last=2")),
        answer([]),
        answer([]),
    )
    api = view(script)
    api.page(THREAD, 1)
    api.page(THREAD, 1, since="2022-07-19T04:38:30Z")
    api.page(THREAD, 2, since="2022-07-19T04:38:30Z")
    stamp = "since=2022-07-19T04%3A38%3A30Z"
    assert script.lines[1].endswith(f"comments?per_page=100&{stamp}")
    assert script.lines[2].endswith(f"comments?per_page=100&{stamp}&page=2")


def test_conditional_page() -> None:
    """304 is None where an ETag was sent, and a failure where none was."""
    script = Script(*[answer(b"", 304)] * 5)
    api = view(script)
    assert api.page(THREAD, 1, etag='"e"') is None
    assert script.sent[0].headers["If-None-Match"] == '"e"'
    with pytest.raises(Unavailable):
        api.page(THREAD, 1)


def test_reads_are_repeated_and_counted(time: FakeClock) -> None:
    """A 502, a cut list and a lost connection are asked again; each attempt counts."""
    script = Script(
        answer(b"<html>", 502), answer(b'[{"id"'), Broken("connection-lost", "x"), answer([])
    )
    api = view(script)
    assert api.page(THREAD, 1) is not None
    assert dict(api.counts) == {"GET": 4}
    assert len(time.slept) == 3


def test_unreadable_list_ends_the_look() -> None:
    """A page that stays broken is ``unavailable``, never an empty page."""
    html = answer(b"<html>", content_type="text/html")
    for step in (answer(b"", 502), answer(b'[{"id"'), answer(b"[{}]"), html):
        with pytest.raises(Unavailable) as caught:
            view(Script(*[step] * 4)).page(THREAD, 1)
        assert type(caught.value) is Unavailable
    assert caught.value.reason.code == "not-github"
    assert "check --api-url" in str(caught.value)


def test_foreign_link_sends_nothing_there() -> None:
    """A list that continues elsewhere is denied and the token stays."""
    evil = '<https://evil.example/x?page=2>; rel="next"'
    script = Script(answer([comment()], link=evil))
    with pytest.raises(Denied):
        view(script).page(THREAD, 1)
    assert len(script.sent) == 1


def test_other_hosts_never_see_the_token() -> None:
    """A repository of another host is denied before any request."""
    script = Script()
    other = Repo("https://ghe.example/api/v3", "acme", "widgets")
    api = view(script)
    calls: list[Callable[[], object]] = [
        lambda: api.page(Thread(other, 1), 1),
        lambda: api.comment(other, 1),
        lambda: api.issue(Thread(other, 1)),
        lambda: api.create(Thread(other, 1), "x"),
        lambda: api.edit(other, 1, "x"),
        lambda: api.delete(other, 1),
    ]
    for call in calls:
        with pytest.raises(Denied) as caught:
            call()
        assert caught.value.reason.code == "host-not-allowed"
    assert script.sent == []


def test_single_reads() -> None:
    """One comment and one issue."""
    script = Script(
        answer(comment(5)),
        answer({"number": 12, "pull_request": {}, "comments": 1}),
        answer({}, 404),
    )
    api = view(script)
    assert api.comment(REPO, 5).comment.id == 5
    assert api.issue(THREAD).surface is Surface.PULL_REQUEST
    with pytest.raises(Gone):
        api.comment(REPO, 6)
    assert script.lines == [
        "GET /repos/acme/widgets/issues/comments/5",
        "GET /repos/acme/widgets/issues/12",
        "GET /repos/acme/widgets/issues/comments/6",
    ]


def test_writes_are_sent_once() -> None:
    """POST, PATCH and DELETE go out as they are, and their answers come back."""
    script = Script(answer(comment(9, "a"), 201), answer(comment(9, "b")), answer(b"", 204))
    api = view(script)
    assert api.create(THREAD, "a").comment.id == 9
    assert api.edit(REPO, 9, "b").comment.body == "b"
    api.delete(REPO, 9)
    assert script.lines == [
        "POST /repos/acme/widgets/issues/12/comments",
        "PATCH /repos/acme/widgets/issues/comments/9",
        "DELETE /repos/acme/widgets/issues/comments/9",
    ]
    assert [json.loads(r.body) for r in script.sent if r.body] == [{"body": "a"}, {"body": "b"}]
    assert dict(api.counts) == {"POST": 1, "PATCH": 1, "DELETE": 1}
    assert {r.headers["Authorization"] for r in script.sent} == {f"Bearer {TOKEN}"}


WRITES: list[Callable[[Api], object]] = [
    lambda api: api.create(THREAD, "x"),
    lambda api: api.edit(REPO, 5, "x"),
    lambda api: api.delete(REPO, 5),
]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    ("step", "error"),
    [
        (answer(b"", 502), Broken),
        (answer({"message": "x"}, 403, retry_after="2"), Limited),
        (answer({"message": "x"}, 429), Limited),
        (answer({"message": "archived"}, 403), Denied),
        (answer({}, 404), Gone),
        (answer({}, 410), Gone),
        (answer({}, 422), Rejected),
        (answer({}, 401), Denied),
        (answer(b"", 304), Broken),
        (Broken("timeout", "x"), Broken),
        (Unreachable("unreachable", "x"), Unreachable),
    ],
)
def test_failed_write_is_never_repeated(
    write: Callable[[Api], object], step: Step, error: type[MarkersError], time: FakeClock
) -> None:
    """A write is sent once and says by its error whether it may have landed."""
    script = Script(step)
    with pytest.raises(error) as caught:
        write(view(script))
    assert type(caught.value) is error
    assert len(script.sent) == 1
    assert time.slept == []


@pytest.mark.parametrize("write", WRITES[:2])
@pytest.mark.parametrize("body", [b"<html>", b'{"id": 5', b"[]", b"{}"])
def test_write_whose_answer_is_unreadable_may_have_landed(
    write: Callable[[Api], object], body: bytes
) -> None:
    """A 2xx that is no comment leaves the write unknown."""
    with pytest.raises(Broken):
        write(view(Script(answer(body, 200))))


def test_redirects_keep_method_body_and_query() -> None:
    """A renamed repository is followed for reads (301) and writes (307); its id is learnt."""
    script = Script(
        answer(b"", 301, location=f"{NUMERIC}/12/comments"),
        answer([comment()]),
        answer(b"", 307, location=f"{NUMERIC}/12/comments"),
        answer(comment(9), 201),
        answer(b"", 307, location=f"{NUMERIC}/comments/9"),
        answer(b"", 204),
    )
    api = view(script)
    page = api.page(THREAD, 1)
    assert page is not None
    assert (page.repo_id, api.repo_id) == (77, 77)
    api.create(THREAD, "x")
    api.delete(REPO, 9)
    assert script.lines[1::2] == [
        "GET /repositories/77/issues/12/comments?per_page=100",
        "POST /repositories/77/issues/12/comments",
        "DELETE /repositories/77/issues/comments/9",
    ]
    assert script.sent[3].body == script.sent[2].body
    assert dict(api.counts) == {"GET": 2, "POST": 2, "DELETE": 2}


def test_redirects_end() -> None:
    """Five hops are followed; a sixth is a loop. Another host is not followed at all."""
    hop = answer(b"", 307, location=f"{NUMERIC}/12/comments")
    script = Script(*[hop] * 6)
    with pytest.raises(Moved):
        view(script).create(THREAD, "x")
    assert len(script.sent) == 6
    away = Script(
        answer(b"", 307, location="https://evil.example/repositories/7/issues/12/comments")
    )
    with pytest.raises(Moved, match=r"evil\.example"):
        view(away).create(THREAD, "x")
    assert len(away.sent) == 1


def test_nothing_is_sent_after_the_deadline(time: FakeClock) -> None:
    """No request begins late, and none may take longer than what is left (30 s at most)."""
    script = Script(answer([]), answer([]))
    api = view(script, 40)
    api.page(THREAD, 1)
    time.sleep(30)
    api.page(THREAD, 1)
    assert script.timeouts == [30, 10]
    time.sleep(10)
    calls: list[Callable[[Api], object]] = [*WRITES, lambda api: api.page(THREAD, 1)]
    for call in calls:
        with pytest.raises(Unavailable) as caught:
            call(api)
        assert caught.value.reason.code == "deadline"
    assert dict(api.counts) == {"GET": 2}


def test_viewer_is_asked_of_rest_first() -> None:
    """A user's token is known to ``GET /user``."""
    script = Script(answer({"login": "pat", "id": 7}))
    assert view(script).viewer() == Account(7, "pat")
    assert script.lines == ["GET /user"]


@pytest.mark.parametrize("status", [401, 403, 404])
def test_viewer_of_an_installation_is_asked_of_graphql(status: int) -> None:
    """Tokens of app installations have no ``/user``; GraphQL knows them."""
    viewer = {"data": {"viewer": {"login": "github-actions[bot]", "databaseId": 41898282}}}
    script = Script(answer({"message": "not accessible by integration"}, status), answer(viewer))
    assert view(script).viewer() == Account(41898282, "github-actions[bot]")
    assert script.lines == ["GET /user", "POST /graphql"]
    assert json.loads(script.sent[1].body or b"") == {"query": "{viewer{login databaseId}}"}


def test_minimising_is_one_mutation_at_the_graphql_address() -> None:
    """The comment's node id, classified as outdated; never to another host than the token's."""
    done = {"data": {"minimizeComment": {"minimizedComment": {"isMinimized": True}}}}
    script = Script(answer(done))
    view(script).minimise(REPO, "IC_x")
    assert script.lines == ["POST /graphql"]
    sent = json.loads(script.sent[0].body or b"")
    assert sent["variables"] == {"input": {"subjectId": "IC_x", "classifier": "OUTDATED"}}
    with pytest.raises(Denied):
        view(Script()).minimise(Repo("https://evil.example", "acme", "widgets"), "IC_x")


@pytest.mark.parametrize(
    "steps",
    [
        [answer({}, 401), answer({}, 401)],
        [answer({}, 403), answer({"errors": [{"type": "FORBIDDEN"}]})] + [answer({})] * 3,
        [answer(b"", 502)] * 4,
        [answer({}, 429)],
        [answer({}, 403), Unreachable("unreachable", "x")] + [Unreachable("unreachable", "x")] * 3,
        [answer(b"<html>", content_type="text/html")] * 4,
    ],
)
def test_unlearnt_viewer_is_nobody(steps: list[Step]) -> None:
    """Who cannot be learnt is nobody; that is no error."""
    assert view(Script(*steps)).viewer() is None


class Counting:
    """A sender that notes how many requests are under way at once."""

    def __init__(self, size: int = 2) -> None:
        self.body = b"[" + b" " * (size - 2) + b"]"
        self.lock = threading.Lock()
        self.now = self.most = 0

    def send(self, request: Request, *, timeout: float) -> Response:
        """Answer after a moment."""
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        threading.Event().wait(0.01)
        with self.lock:
            self.now -= 1
        return answer(self.body)

    def close(self) -> None:
        """Nothing to let go of."""


def pages(api: Api, count: int) -> list[Callable[[], Page | None]]:
    """Reads of *count* pages."""
    return [partial(api.page, THREAD, number) for number in range(1, count + 1)]


def test_side_by_side_is_bounded_and_ordered() -> None:
    """Calls run at once within the bound; answers come in the order of the calls."""
    sender = Counting()
    api = GitHub(sender, API, TOKEN, "f00d", max_side_by_side=3).begin(Deadline(60))
    found = api.side_by_side(pages(api, 12))
    assert [page.number for page in found if page] == list(range(1, 13))
    assert 1 < sender.most <= 3
    assert dict(api.counts) == {"GET": 12}
    assert api.side_by_side([]) == []


def test_large_pages_are_read_fewer_at_once() -> None:
    """What is in flight stays bounded in bytes: large pages are read one after another."""
    sender = Counting(IN_FLIGHT // 2 + 1)
    api = GitHub(sender, API, TOKEN, "f00d").begin(Deadline(60))
    api.page(THREAD, 1)
    api.side_by_side(pages(api, 3))
    assert sender.most == 1


def test_first_failure_is_raised_and_the_rest_dropped() -> None:
    """One page that fails ends the look: what has not begun is not begun."""
    begun: list[int] = []

    def call(number: int) -> Callable[[], int]:
        def run() -> int:
            begun.append(number)
            if number == 1:
                raise Gone("not-found", "it is not there")
            threading.Event().wait(0.02)
            return number

        return run

    api = view(Script(), max_side_by_side=2)
    with pytest.raises(Gone):
        api.side_by_side([call(number) for number in range(40)])
    assert len(begun) < 40


def test_deadline_bounds_repeated_reads(time: FakeClock) -> None:
    """Repeating stops where the deadline does, and says so."""
    script = Script(*[answer(b"", 502)] * 4)
    with pytest.raises(Unavailable, match="--deadline"):
        view(script, 1).page(THREAD, 1)
    assert len(script.sent) == 2

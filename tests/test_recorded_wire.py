"""Our reading of the wire, checked against recorded answers of GitHub's own API.

The recordings are other projects' data and no part of this one: ``RECORDED_DIR`` names the folder
that holds them, and without it these tests are skipped.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from markers.errors import Broken, Denied, Gone, Limited, MarkersError, Rejected
from markers.model import Surface
from markers.transport import links, wire
from markers.transport.failures import failure
from markers.transport.interface import Request, Response

FOLDER = Path(os.environ.get("RECORDED_DIR") or "/nonexistent")
API = "https://api.github.com"
NOW = 1_700_000_000
LIST = re.compile(r"/repos/[^/]+/[^/]+/issues/\d+/comments")
ONE = re.compile(r"/repos/[^/]+/[^/]+/issues/comments/\d+")

pytestmark = pytest.mark.needs("recordings")


@dataclass(frozen=True)
class Exchange:
    """One recorded request and its answer."""

    source: str
    request: Request
    response: Response

    @property
    def path(self) -> str:
        """Path of the request."""
        return urlsplit(self.request.url).path


def exchange(
    source: Path, method: str, url: str, status: int, headers: Mapping[str, str], body: bytes
) -> Exchange:
    """Put one recording into our own words."""
    named = {name.lower(): value for name, value in headers.items()}
    sent = None if method.upper() in ("GET", "DELETE") else b"{}"
    request = Request(
        method=method.upper(), url=url, headers=wire.headers("none-of-ours"), body=sent
    )
    name = str(source.relative_to(FOLDER))
    return Exchange(name, request, Response(status=int(status), headers=named, body=body))


def joined(value: str | list[str]) -> str:
    """A header that was recorded as one value or as several."""
    return value if isinstance(value, str) else ", ".join(value)


def filled(text: str) -> str:
    """A recorded header with its placeholders for times filled in."""

    def moment(match: re.Match[str]) -> str:
        offset = re.search(r"offset='(\d+) second", match[0])
        at = NOW + int(offset[1] if offset else 0)
        return str(at) if "unix" in match[0] else formatdate(at, usegmt=True)

    return re.sub(r"\{\{.*?\}\}", moment, text)


def of_hub4j() -> Iterator[Exchange]:
    """One file for each request; bodies in files beside, some of which were not kept."""
    for path in sorted(FOLDER.glob("hub4j__github-api/**/mappings/*.json")):
        recorded = json.loads(path.read_text(encoding="utf-8"))
        asked, said = recorded["request"], recorded["response"]
        aside = path.parents[1] / "__files" / said.get("bodyFileName", "")
        if "bodyFileName" in said and not aside.exists():
            continue
        body = aside.read_bytes() if aside.is_file() else said.get("body", "").encode()
        headers = {name: filled(joined(value)) for name, value in said["headers"].items()}
        url = API + (asked.get("url") or asked.get("urlPath"))
        yield exchange(path, asked["method"], url, said["status"], headers, body)


def of_cassettes() -> Iterator[Exchange]:
    """Cassettes of two kinds of recorder; bodies in base64, some of them compressed."""
    kinds = ("octokit__octokit.rb/spec/**/*.json", "sigmavirus24__github3.py/tests/**/*.json")
    for path in sorted(path for kind in kinds for path in FOLDER.glob(kind)):
        for recorded in json.loads(path.read_text(encoding="utf-8"))["http_interactions"]:
            asked, said = recorded["request"], recorded["response"]
            raw = base64.b64decode(said["body"].get("base64_string", ""))
            body = raw or said["body"].get("string", "").encode()
            headers = {name: joined(value) for name, value in said["headers"].items()}
            if body[:2] == b"\x1f\x8b":
                body = gzip.decompress(body)
            status = said["status"]["code"] if "status" in said else said["status_code"]
            yield exchange(path, asked["method"], asked["uri"], status, headers, body)


def of_fixtures() -> Iterator[Exchange]:
    """Fixtures with headers as one flat list."""
    for path in sorted(FOLDER.glob("octokit__fixtures*/*/raw-fixture.json")):
        for said in json.loads(path.read_text(encoding="utf-8")):
            flat = said["rawHeaders"]
            headers = dict(zip(flat[::2], flat[1::2], strict=True))
            body = b"" if said["response"] == "" else json.dumps(said["response"]).encode()
            url = API + said["path"]
            yield exchange(path, said["method"], url, said["status"], headers, body)


@pytest.fixture(scope="module")
def recorded() -> list[Exchange]:
    """All recordings."""
    return [*of_hub4j(), *of_cassettes(), *of_fixtures()]


def judged(one: Exchange) -> MarkersError:
    """What we make of a failure."""
    return failure(one.response, one.request, NOW)


def from_(recorded: list[Exchange], name: str, status: int) -> Exchange:
    """The one recording of that name and status."""
    (found,) = [e for e in recorded if name in e.source and e.response.status == status]
    return found


def raw(one: Exchange) -> Any:
    """The recorded JSON."""
    return json.loads(one.response.body)


def test_lists_are_read_whole(recorded: list[Exchange]) -> None:
    """Every recorded comment list comes out with all its ids, bodies, authors and times."""
    lists = [
        e
        for e in recorded
        if LIST.fullmatch(e.path) and e.request.method == "GET" and e.response.status == 200
    ]
    sizes = []
    for one in lists:
        found = links.read_links(one.response, one.request)
        page = wire.read_page(one.response, one.request, 1, found)
        sizes.append(len(page.comments))
        for comment, said in zip(page.comments, raw(one), strict=True):
            assert (comment.id, comment.body) == (said["id"], said.get("body") or "")
            assert comment.updated_at == said["updated_at"]
            assert comment.html_url == said["html_url"]
            assert comment.author is not None
            assert (comment.author.id, comment.author.login) == (
                said["user"]["id"],
                said["user"]["login"],
            )
    assert len(lists) > 25
    assert 0 in sizes
    assert max(sizes) >= 3


def test_single_comments_are_read(recorded: list[Exchange]) -> None:
    """Every recorded answer to POST, PATCH and GET of one comment is a stored comment."""
    seen = set()
    for one in recorded:
        created = LIST.fullmatch(one.path) and one.request.method == "POST"
        if (created or ONE.fullmatch(one.path)) and 200 <= one.response.status < 204:
            stored = wire.read_comment(one.response, one.request)
            assert stored.comment.id == raw(one)["id"]
            assert stored.comment.body == (raw(one).get("body") or "")
            assert stored.request_id is not None
            assert stored.date is not None
            seen.add(one.request.method)
    assert seen == {"GET", "PATCH", "POST"}


def test_update_and_delete(recorded: list[Exchange]) -> None:
    """A recorded PATCH is read like any comment; a recorded DELETE is an empty 204."""
    patched = from_(recorded, "_update_comment", 200)
    assert wire.read_comment(patched.response, patched.request).comment.id == 255559982
    deleted = [e for e in recorded if ONE.fullmatch(e.path) and e.request.method == "DELETE"]
    assert [(e.response.status, e.response.body) for e in deleted] == [(204, b"")]


LIMITS = [
    ("AbuseLimitHandlerTest/wiremock/testHandler_Fail/", 403, 30),
    ("AbuseLimitHandlerTest/wiremock/testHandler_HttpStatus_Fail/", 403, 30),
    ("AbuseLimitHandlerTest/wiremock/testHandler_Wait/", 403, 2),
    ("AbuseLimitHandlerTest/wiremock/testHandler_WaitStuck/", 403, 3),
    ("testHandler_Wait_Secondary_Limits/", 403, None),
    ("testHandler_Wait_Secondary_Limits_Body_Marker_Only/", 403, None),
    ("testHandler_Wait_Secondary_Limits_Too_Many_Requests/", 429, 8),
    ("testHandler_Wait_Secondary_Limits_Too_Many_Requests_Date_Retry_After/", 429, 8),
    ("Date_Retry_After_Missing_Date_Header/", 429, 8),
    ("testHandler_Wait_Secondary_Limits_Too_Many_Requests_No_Retry_After/", 429, None),
    ("RateLimitHandlerTest/wiremock/testHandler_Fail/", 403, 4),
    ("RateLimitHandlerTest/wiremock/testHandler_Wait/", 403, 4),
    ("RateLimitHandlerTest/wiremock/testHandler_WaitStuck/", 403, 4),
    ("RateLimitHandlerTest/wiremock/testHandler_Wait_Missing_Date_Header/", 403, 4),
    ("AuthorizationTokenRefreshTest/", 403, 2),
]


@pytest.mark.parametrize(("name", "status", "wait"), LIMITS)
def test_limits_are_told_from_refusals(
    recorded: list[Exchange], name: str, status: int, wait: float | None
) -> None:
    """Each recorded limit is one, with the wait that its headers ask for."""
    error = judged(from_(recorded, name, status))
    assert isinstance(error, Limited)
    assert error.wait == wait


def test_every_failure_is_classified(recorded: list[Exchange]) -> None:
    """Each recorded status above 399 becomes the error that it means."""
    meant = {401: Denied, 403: Limited, 404: Gone, 422: Rejected, 429: Limited, 503: Broken}
    seen = set()
    for one in recorded:
        if one.response.status >= 400:
            assert type(judged(one)) is meant[one.response.status], one.source
            seen.add(one.response.status)
    assert seen == set(meant)


def test_outage_is_an_html_page(recorded: list[Exchange]) -> None:
    """GitHub's page for an outage is quoted as what it is, not in full."""
    error = judged(from_(recorded, "testCatchServiceDownException", 503))
    assert "an HTML page" in error.reason.detail
    assert len(error.reason.detail) < 400


def test_rename_is_followed(recorded: list[Exchange]) -> None:
    """A renamed repository answers 301 to GET and 307 to PATCH, with its numeric address."""
    moved = [e for e in recorded if e.response.status in links.REDIRECTS]
    assert {(e.request.method, e.response.status) for e in moved} == {("GET", 301), ("PATCH", 307)}
    for one in moved:
        target = links.redirected(one.request, one.response)
        assert target.url == one.response.headers["location"]
        assert (target.method, target.body) == (one.request.method, one.request.body)
        assert links.repo_id_of(target.url) == int(target.url.rpartition("/")[2])


def test_links_are_numeric(recorded: list[Exchange]) -> None:
    """Recorded links lead to numeric addresses, which give the repository's id and last page."""
    pages = [
        links.read_links(e.response, e.request)
        for e in recorded
        if "link" in e.response.headers and "/issues" in e.path
    ]
    assert (417862, 73) in {(found.repo_id, found.last_page) for found in pages}
    followed = [found for found in pages if found.next]
    assert len(followed) >= 3
    for found in followed:
        assert found.repo_id is not None
        assert found.next is not None
        assert links.with_page(found.last or "", 2).endswith("page=2")


def test_issues_are_read(recorded: list[Exchange]) -> None:
    """A recorded issue is one, with its number and count."""
    (one,) = [e for e in recorded if e.source.endswith("2-r_k_t_issues_3.json")]
    issue = wire.read_issue(one.response, one.request)
    assert (issue.number, issue.surface) == (3, Surface.ISSUE)
    assert issue.comments == raw(one)["comments"]


def test_viewer_is_read(recorded: list[Exchange]) -> None:
    """Each recorded ``GET /user`` names an account."""
    users = [e for e in recorded if e.path == "/user" and e.response.status == 200]
    assert len(users) > 10
    for one in users:
        assert wire.read_viewer(one.response, one.request).login == raw(one)["login"]


def answered(document: Any) -> tuple[Response, Request]:
    """A document of an event as if it were an answer."""
    headers = {"content-type": "application/json; charset=utf-8"}
    body = json.dumps(document).encode()
    asked = Request(method="GET", url=f"{API}/", headers={})
    return Response(status=200, headers=headers, body=body), asked


def test_documents_of_events_are_read() -> None:
    """Comments and issues in recorded events are the same documents, and are read the same way."""
    path = FOLDER / "octokit__webhooks-examples" / "events-subset.json"
    events = json.loads(path.read_text(encoding="utf-8"))["issue_comment"]
    assert len(events) > 5
    for event in events:
        stored = wire.read_comment(*answered(event["comment"]))
        assert stored.comment.body == event["comment"]["body"]
        issue = wire.read_issue(*answered(event["issue"]))
        assert issue.number == event["issue"]["number"]
        pull = "pull_request" in event["issue"]
        assert issue.surface is (Surface.PULL_REQUEST if pull else Surface.ISSUE)


NOT_EXCHANGES = {
    "events-subset.json",  # read by the test above
    "normalized-fixture.json",  # the raw one beside it, without what varies
}


def test_every_recording_is_read(recorded: list[Exchange]) -> None:
    """Each recorded exchange is among those that are judged, unless its body was not kept."""
    read = {one.source for one in recorded}
    there = [path for path in FOLDER.rglob("*.json") if "__files" not in path.parts]
    unread = {
        path
        for path in there
        if path.name not in NOT_EXCHANGES and str(path.relative_to(FOLDER)) not in read
    }
    assert len(read) > 100
    assert {path.parents[1].name for path in unread} <= {"testCached404"}

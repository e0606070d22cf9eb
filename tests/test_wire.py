"""Reading and writing the wire: each oddity of GitHub's as a literal, then whatever bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markers.__about__ import __version__
from markers.errors import (
    Broken,
    Denied,
    Gone,
    Limited,
    MarkersError,
    Moved,
    Refused,
    Rejected,
)
from markers.model import Account, Repo, Surface, Thread
from markers.transport import links, wire
from markers.transport.failures import MAX_QUOTE, failure
from markers.transport.interface import Page, Request, Response

API = "https://api.github.com"
THREAD = Thread(Repo(API, "acme", "widgets"), 12)
LIST = f"{API}/repos/acme/widgets/issues/12/comments?per_page=100"
ONE = f"{API}/repos/acme/widgets/issues/comments/5"
TOKEN = "ghp_" + "x" * 36
COMMON = wire.headers(TOKEN)
DATE = "Tue, 19 Jul 2022 04:40:37 GMT"
NOW = 1658205637.0
JSON = {"content-type": "application/json; charset=utf-8"}


def get(url: str = LIST) -> Request:
    """A read, of the list unless said otherwise."""
    return wire.reading(url, COMMON)


def post(url: str = f"{API}/repos/acme/widgets/issues/12/comments") -> Request:
    """A write."""
    return wire.writing("POST", url, COMMON, {"body": "text"})


def answer(data: Any = b"", status: int = 200, **headers: str) -> Response:
    """An answer in JSON, or in the bytes given."""
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status=status, headers={**JSON, **named}, body=body)


def comment(**changes: Any) -> dict[str, Any]:
    """A comment as GitHub writes it."""
    made = {
        "id": 5722505167,
        "body": "<!-- plan-issue-12 -->\r\ntext \U0001f308",
        "html_url": "https://github.com/acme/widgets/issues/12#issuecomment-5722505167",
        "issue_url": f"{API}/repos/acme/widgets/issues/12",
        "created_at": "2022-07-19T04:38:30Z",
        "updated_at": "2022-07-19T04:38:31Z",
        "user": {"login": "helper-bot[bot]", "id": 900},
        "author_association": "MEMBER",
    }
    return {**made, **changes}


def without(*names: str) -> dict[str, Any]:
    """A comment that lacks fields."""
    return {name: value for name, value in comment().items() if name not in names}


def read(response: Response, request: Request | None = None, number: int = 1) -> Page:
    """Read a page the way ``api`` does."""
    asked = request or get()
    return wire.read_page(response, asked, number, links.read_links(response, asked))


def judged(data: Any, status: int, request: Request | None = None, **headers: str) -> MarkersError:
    """What an answer that is no success means."""
    return failure(answer(data, status, **headers), request or get(), NOW)


# Requests


def test_headers_name_us_and_the_version() -> None:
    """GitHub answers 403 without a User-Agent and 400 to an unknown API version."""
    assert dict(COMMON) == {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {TOKEN}",
        "User-Agent": f"handoff-markers/{__version__}",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    assert wire.headers(TOKEN, "2026-03-10")["X-GitHub-Api-Version"] == "2026-03-10"


def test_body_is_sent_as_utf8_and_unchanged() -> None:
    """What is sent is the text's own characters: line ends, blanks and emoji as they are."""
    text = " a\r\nb\t\n\U0001f308 é \x00"
    request = wire.writing("POST", LIST, COMMON, {"body": text})
    assert json.loads(request.body or b"") == {"body": text}
    assert "\U0001f308".encode() in (request.body or b"")
    assert request.headers["Content-Type"] == "application/json"


def test_half_a_surrogate_pair_is_refused() -> None:
    """Text that cannot be UTF-8 is refused by name, before any request."""
    with pytest.raises(Refused) as caught:
        wire.writing("POST", LIST, COMMON, {"body": "\ud800"})
    assert caught.value.reason.code == "encoding"


def test_addresses_are_quoted() -> None:
    """Names stay inside their path segment, and ``since`` keeps its colons encoded."""
    odd = Thread(Repo(f"{API}", "a/b", "c?d"), 3)
    assert links.issue_url(odd) == f"{API}/repos/a%2Fb/c%3Fd/issues/3"
    since = links.first_page_url(THREAD, "2022-09-22T10:48:18Z")
    assert since == f"{LIST}&since=2022-09-22T10%3A48%3A18Z"
    for name in ("..", ".", ""):
        with pytest.raises(Refused, match="--repo OWNER/NAME"):
            links.repo_url(Repo(API, "acme", name))


@pytest.mark.parametrize(
    ("api_url", "graphql"),
    [
        (API, f"{API}/graphql"),
        ("https://ghe.example/api/v3", "https://ghe.example/api/graphql"),
        ("https://api.acme.ghe.com", "https://api.acme.ghe.com/graphql"),
        ("http://127.0.0.1:8", "http://127.0.0.1:8/graphql"),
    ],
)
def test_graphql_address_follows_the_rest_one(api_url: str, graphql: str) -> None:
    """GraphQL is beside v3 on GitHub Enterprise Server and below the API's root elsewhere."""
    assert links.graphql_url(api_url) == graphql


# Pages and links


def test_page_is_read_whole() -> None:
    """A page carries its comments, its links' numbers, its ETag and the server's time."""
    found = read(
        answer(
            [comment(), comment(id=5722505168)],
            link=(
                f'<{API}/repositories/417862/issues/12/comments?per_page=100&page=2>; rel="next", '
                f'<{API}/repositories/417862/issues/12/comments?per_page=100&page=7>; rel="last"'
            ),
            etag='W/"abc"',
            date=DATE,
        )
    )
    assert [c.id for c in found.comments] == [5722505167, 5722505168]
    assert (found.number, found.last, found.more, found.repo_id) == (1, 7, True, 417862)
    assert (found.etag, found.date) == ('W/"abc"', NOW)


def test_last_page_has_no_last_link() -> None:
    """GitHub's last page links to ``first`` and ``prev`` only, and an empty thread to nothing."""
    first = f'<{LIST}&page=1>; rel="first", <{LIST}&page=1>; rel="prev"'
    assert (read(answer([], link=first)).last, read(answer([], link=first)).more) == (None, False)
    assert read(answer([])).repo_id is None
    assert read(answer([]), get(f"{API}/repositories/9/issues/12/comments")).repo_id == 9


@pytest.mark.parametrize(
    ("header", "following", "last"),
    [
        (f"<{LIST}&page=2>; rel=next, <{LIST}&page=3>; rel=last", "&page=2", 3),
        (f'<{LIST}&page=2>; rel="next last"', "&page=2", 2),
        (f'<{LIST}&page=2>; title="a, b"; REL="Next"', "&page=2", None),
        (f'<{LIST}&after=Y3Vy>; rel="next", <{LIST}&before=x>; rel="last"', "&after=Y3Vy", None),
        (f'<{LIST}&page=0>; rel="last"', None, None),
        ('</repositories/1/x?page=2>; rel="next"', None, None),
        ("<>; rel=", None, None),
        ("nonsense", None, None),
    ],
)
def test_links_are_read_as_written(header: str, following: str | None, last: int | None) -> None:
    """Quotes, several relations, other parameters, cursors; what has no number has no last page."""
    found = links.read_links(answer([], link=header), get())
    assert found.last_page == last
    if following is not None:
        assert found.next == LIST + following


def test_only_the_page_of_the_last_link_is_replaced() -> None:
    """``per_page`` and all else of the ``last`` link stay as GitHub wrote them."""
    url = f"{API}/repositories/1/issues/2/comments?since=a%3Ab&page=17&per_page=100"
    assert links.with_page(url, 3) == url.replace("page=17", "page=3")


@pytest.mark.parametrize(
    "foreign",
    [
        "https://evil.example/repositories/1/issues/12/comments?page=2",
        "http://api.github.com/repositories/1/issues/12/comments?page=2",
        "https://api.github.com:444/x?page=2",
        "https://api.github.com@evil.example/x?page=2",
        "https://user:pw@api.github.com/x?page=2",
        "//evil.example/x?page=2",
        "https://api.github.com\\@evil.example/x",
        "https://api.github.com.evil.example/x",
        "https://api.github.com\u3002evil.example/x",
        "https://[::1/x",
        "https://api.github.com:99999999/x",
        "https://api.github.com /x",
        "file:///etc/passwd",
    ],
)
@pytest.mark.parametrize("rel", ["next", "last"])
def test_foreign_link_is_never_followed(foreign: str, rel: str) -> None:
    """A link to another origin would carry the token there."""
    with pytest.raises(Denied) as caught:
        read(answer([], link=f'<{foreign}>; rel="{rel}"'))
    assert caught.value.reason.code == "foreign-link"
    assert "pw" not in str(caught.value)


def test_own_origin_is_recognised_in_other_spellings() -> None:
    """Letter case, the default port and a path alone are still our own origin."""
    for spelled in ("HTTPS://API.github.com:443/a?page=2", "/a?page=2"):
        found = links.read_links(answer([], link=f'<{spelled}>; rel="next"'), get())
        assert found.next == f"{API}/a?page=2"


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        (b"<html>sign in</html>", "text/html", "not-github"),
        (b"<!DOCTYPE html>", "application/json", "not-github"),
        (b'{"message": "hello"}', "application/json", "not-github"),
        (b"null", "application/json", "not-github"),
        (b"", "text/plain", "not-github"),
    ],
)
def test_what_is_no_list_is_not_github(body: bytes, kind: str, code: str) -> None:
    """A 200 that is HTML, or JSON but no array, is no list: asked again, then not GitHub's."""
    with pytest.raises(Broken) as caught:
        read(answer(body, content_type=kind))
    assert caught.value.reason.code == code
    assert "--api-url" in str(caught.value)


BROKEN = [
    b'[{"id": 1, "body"',
    b"",
    b"[1]",
    b"[null]",
    b"[{}]",
    b'[{"id": NaN}]',
    b'[{"id": 1, "id": 2}]',
    b"[" * 200_000,
    b"\xff\xfe[\x00]\x00",
    b"[" + b"9" * 5000 + b"]",
    *(
        json.dumps([comment(), broken]).encode()
        for broken in (
            *(without(n) for n in ("id", "html_url", "issue_url", "created_at", "updated_at")),
            comment(id="7"),
            comment(id=True),
            comment(id=0),
            comment(id=2**64),
            comment(body=7),
            comment(created_at="yesterday"),
            comment(updated_at="2022-07-19T04:38:31"),
            comment(html_url=None),
        )
    ),
]


@pytest.mark.parametrize("body", BROKEN)
def test_half_a_list_is_no_list(body: bytes) -> None:
    """A list that is cut or has one broken element is an incomplete answer, never a short page."""
    with pytest.raises(Broken) as caught:
        read(answer(body))
    assert caught.value.reason.code == "incomplete-answer"


def test_comment_is_read_leniently() -> None:
    """A deleted author, no body, no association and no app are all facts, not faults."""
    bare = without("body", "author_association")
    bare["user"] = None
    one = read(answer([bare])).comments[0]
    assert (one.body, one.association, one.author, one.app, one.minimized) == (
        "",
        "",
        None,
        None,
        None,
    )
    assert read(answer([comment(user={"login": "ghost"}, body=None)])).comments[0].author is None


def test_comment_is_read_exactly() -> None:
    """Line ends, trailing blanks, NUL and emoji come out as they are stored; ids are 64 bits."""
    text = "<!-- m -->\r\nx \t\n\x00\U0001f308"
    one = read(answer([comment(body=text)])).comments[0]
    assert (one.id, one.body, one.author) == (5722505167, text, Account(900, "helper-bot[bot]"))
    assert (one.association, one.updated_at) == ("MEMBER", "2022-07-19T04:38:31Z")


def test_half_a_surrogate_pair_is_shown_as_replaced() -> None:
    """A stored half pair must not stop the hash of the body that carries it."""
    stored = b"[%s]" % json.dumps(comment(body="@")).encode().replace(b'"@"', rb'"a\ud800b"')
    assert read(answer(stored)).comments[0].body == "a\N{REPLACEMENT CHARACTER}b"


@pytest.mark.parametrize(
    ("minimized", "seen"), [(None, False), ({"reason": "spam"}, True), (True, True), (False, False)]
)
def test_minimized_is_known_only_where_it_is_said(minimized: Any, seen: bool) -> None:
    """``minimized: null`` says visible; a server without the field says nothing."""
    assert read(answer([comment(minimized=minimized)])).comments[0].minimized is seen


def test_app_is_named_by_its_slug() -> None:
    """The app through which a comment was made is its slug, if it has one."""
    made = [
        comment(performed_via_github_app={"id": 1, "slug": "x-app"}),
        comment(performed_via_github_app={"id": 1}),
    ]
    assert [c.app for c in read(answer(made)).comments] == ["x-app", None]


def test_etag_that_cannot_be_sent_back_is_dropped() -> None:
    """An ETag goes into our next request's headers, so it has to be plain ASCII."""
    assert read(answer([], etag='"\u00e9"')).etag is None
    assert wire.reading(LIST, COMMON, '"a"').headers["If-None-Match"] == '"a"'


# Single values


def test_stored_comment_names_its_request() -> None:
    """A write's answer carries the comment, GitHub's id of the request and its time."""
    said = answer(comment(), 201, date=DATE, x_github_request_id="0682:0EDB:62D6")
    stored = wire.read_comment(said, post())
    assert (stored.comment.id, stored.request_id, stored.date) == (
        5722505167,
        "0682:0EDB:62D6",
        NOW,
    )
    odd = answer(comment(), x_github_request_id="a b\x1b[31m", date="soon")
    assert wire.read_comment(odd, get()).request_id is None
    assert wire.read_comment(odd, get()).date is None


@pytest.mark.parametrize(
    "said",
    [
        answer(b"<html>", 200, content_type="text/html"),
        answer(b'{"id": 1', 201),
        answer([], 201),
        answer(b"", 202),
        answer(without("id"), 201),
    ],
)
def test_unreadable_answer_to_a_write_may_have_landed(said: Response) -> None:
    """A write answered 2xx that cannot be read is ``Broken``: its effect is unknown."""
    with pytest.raises(Broken, match="may have taken effect"):
        wire.read_comment(said, post())


def test_another_comment_is_not_the_one_asked_for() -> None:
    """An answer about another id is no answer."""
    with pytest.raises(Broken, match="not 5"):
        wire.read_comment(answer(comment(id=6)), get(ONE), comment_id=5)


def test_issue_is_told_from_pull_request() -> None:
    """A pull request is an issue that carries ``pull_request``."""
    issue = wire.read_issue(answer({"number": 12, "locked": True, "comments": 3}), get())
    assert (issue.number, issue.surface, issue.locked, issue.comments) == (
        12,
        Surface.ISSUE,
        True,
        3,
    )
    pull = {"number": 12, "pull_request": {"url": "x"}, "comments": None}
    assert wire.read_issue(answer(pull), get()).surface is Surface.PULL_REQUEST
    with pytest.raises(Broken):
        wire.read_issue(answer({"id": 1}), get())


def test_viewer_is_read_from_both_apis() -> None:
    """REST says ``id``, GraphQL ``databaseId``; GraphQL's errors come as 200 without data."""
    assert wire.read_viewer(answer({"login": "pat", "id": 7}), get()) == Account(7, "pat")
    data = {"data": {"viewer": {"login": "github-actions[bot]", "databaseId": 41898282}}}
    assert wire.read_graphql_viewer(answer(data), post()).id == 41898282
    for odd in ({"errors": [{"type": "RATE_LIMITED"}]}, {"data": None}, {"data": {"viewer": 1}}):
        with pytest.raises(Broken):
            wire.read_graphql_viewer(answer(odd), post())
    with pytest.raises(Broken):
        wire.read_viewer(answer({"login": "pat"}), get())


def test_minimising_is_read_and_its_refusal_is_said() -> None:
    """``isMinimized`` is the proof; ``errors`` are a no; anything else may have taken effect."""
    done = {"data": {"minimizeComment": {"minimizedComment": {"isMinimized": True}}}}
    wire.read_minimised(answer(done), post())
    refusal = {"errors": [{"type": "FORBIDDEN", "message": "lee may not"}], "data": None}
    with pytest.raises(Denied, match="lee may not"):
        wire.read_minimised(answer(refusal), post())
    not_done = {"data": {"minimizeComment": {"minimizedComment": {"isMinimized": False}}}}
    for odd in (not_done, {"data": None}, {}, []):
        with pytest.raises(Broken):
            wire.read_minimised(answer(odd), post())


@pytest.mark.parametrize(
    ("node_id", "seen"),
    [("IC_kwDOABC", "IC_kwDOABC"), ("MDEyOklzc3Vl==", "MDEyOklzc3Vl=="), (7, None), ("a b", None)],
)
def test_node_id_is_kept_only_where_it_can_be_sent_back(node_id: Any, seen: str | None) -> None:
    """It is opaque; what is odd counts as missing, not as an error."""
    assert wire.read_comment(answer(comment(node_id=node_id)), get(ONE)).comment.node_id == seen


# Limits

SECONDARY = {
    "message": "You have exceeded a secondary rate limit and have been temporarily blocked from "
    "content creation. Please retry your request again later."
}
PLAIN = {"message": "Must have push access to repository"}
LIMITS: list[tuple[int, Any, dict[str, str], float | None]] = [
    (403, SECONDARY, {}, None),
    (403, SECONDARY, {"retry-after": "30"}, 30),
    (403, PLAIN, {"retry-after": "30", "x-ratelimit-remaining": "4000"}, 30),
    (403, PLAIN, {"retry-after": ""}, None),
    (403, PLAIN, {"retry-after": " ", "x-ratelimit-remaining": "0",
                  "x-ratelimit-reset": "1658205647"}, 11),
    (403, PLAIN, {"retry-after": "0"}, 1),
    (403, PLAIN, {"retry-after": "soon"}, None),
    (403, PLAIN, {"retry-after": "9" * 400}, None),
    (403, PLAIN, {"retry-after": "Tue, 19 Jul 2022 04:40:45 GMT"}, 8),
    (403, PLAIN, {"retry-after": "Tue, 19 Jul 2022 04:40:45 GMT",
                  "date": "Tue, 19 Jul 2022 04:40:40 GMT"}, 5),
    (403, PLAIN, {"retry-after": "Tue, 19 Jul 2022 04:00:00 GMT"}, 1),
    (403, PLAIN, {"gh-limited-by": "search-elapsed-time-shared-grouped"}, None),
    (403, PLAIN, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1658205697"}, 61),
    (403, PLAIN, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1658205697",
                  "date": "Tue, 19 Jul 2022 04:41:30 GMT"}, 8),
    (403, PLAIN, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1658205637"}, 1),
    (403, PLAIN, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1658200000"}, None),
    (403, PLAIN, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "later"}, None),
    (403, PLAIN, {"x-ratelimit-remaining": "0"}, None),
    (403, SECONDARY, {"x-ratelimit-remaining": "21", "x-ratelimit-reset": "1658205697"}, None),
    (403, {"message": "API rate limit exceeded for user ID 1."}, {}, None),
    (403, {"message": "You have triggered an ABUSE DETECTION mechanism."}, {}, None),
    (403, {"message": "Validation", "errors": ["was submitted too quickly"]}, {}, None),
    (403, b"", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1658205638"}, 2),
    (429, PLAIN, {}, None),
    (429, PLAIN, {"retry-after": "8"}, 8),
    (429, b"<html>slow down</html>", {"retry-after": "2"}, 2),
]  # fmt: skip


@pytest.mark.parametrize(("status", "data", "headers", "wait"), LIMITS)
def test_limit_and_its_wait(
    status: int, data: Any, headers: dict[str, str], wait: float | None
) -> None:
    """Retry-After, else the reset of a used-up budget, else unsaid; never a wait of nothing."""
    for request in (get(), post()):
        error = judged(data, status, request, **headers)
        assert isinstance(error, Limited)
        assert error.reason.code == "limited"
        assert error.wait == wait


# Refusals

REFUSALS: list[tuple[int, str, str, str]] = [
    (401, "Bad credentials", "bad-credentials", "expired or revoked"),
    (403, "Unable to create comment because issue is locked.", "locked", "locked"),
    (403, "Repository was archived so is read-only.", "archived", "archived"),
    (403, "Commenting is disabled on issues with more than 2500 comments", "thread-full", "2,500"),
    (422, "Commenting is disabled on issues with more than 2500 comments", "thread-full", "2,500"),
    (403, "Resource not accessible by integration", "permission", "issues: write"),
    (403, "Resource not accessible by integration", "permission", "pull-requests: write"),
    (403, "Resource not accessible by integration", "permission", "fork"),
    (403, "Resource not accessible by personal access token", "permission", "issues: write"),
    (403, "Must have admin rights to Repository.", "permission", "issues: write"),
    (403, "Resource protected by organization SAML enforcement.", "single-sign-on", "authorise"),
    (403, "The organization has an IP allow list enabled", "ip-allow-list", "IP address"),
    (403, "User is blocked", "blocked", "may not comment"),
    (403, "No such luck", "forbidden", "No such luck"),
    (407, "", "proxy-login", "HTTPS_PROXY"),
    (409, "Conflict", "http-status", "409"),
    (451, "Repository access blocked", "http-status", "451"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "message", "code", "words"), REFUSALS)
def test_refusal_is_named_and_quoted(status: int, message: str, code: str, words: str) -> None:
    """A no that stays a no has its code, what to do about it, and GitHub's own words."""
    error = judged({"message": message}, status, post())
    assert type(error) is Denied
    assert error.reason.code == code
    assert words in error.reason.detail
    assert message[:MAX_QUOTE] in error.reason.detail


def test_reading_needs_the_reading_permission() -> None:
    """A read that is forbidden asks for no more than the right to read."""
    error = judged({"message": "Resource not accessible by integration"}, 403, get())
    assert "issues: read" in error.reason.detail
    assert "issues: write" not in error.reason.detail


@pytest.mark.parametrize(("status", "code"), [(404, "not-found"), (410, "gone")])
def test_nothing_there(status: int, code: str) -> None:
    """404 and 410 name the address; GitHub says 404 also to who may not see."""
    error = judged({"message": "Not Found"}, status, get(ONE))
    assert type(error) is Gone
    assert (error.reason.code, ONE in error.reason.detail) == (code, True)


@pytest.mark.parametrize(
    ("status", "data", "code"),
    [
        (
            422,
            {
                "message": "Validation Failed",
                "errors": [
                    {
                        "resource": "IssueComment",
                        "code": "unprocessable",
                        "field": "data",
                        "message": "Body is too long (maximum is 65536 characters)",
                    }
                ],
            },
            "too-large",
        ),
        (422, {"message": "body is too long (maximum is 65536 characters)"}, "too-large"),
        (413, b"<html>413</html>", "too-large"),
        (422, {"message": 'Invalid request.\n\n"body" wasn\'t supplied.'}, "rejected"),
        (422, {"message": "Validation Failed", "errors": [{"field": "body", "code": "x"}]},
         "rejected"),
        (400, {"message": "Problems parsing JSON"}, "rejected"),
        (422, b"", "rejected"),
    ],
)  # fmt: skip
def test_body_that_the_server_will_not_have(status: int, data: Any, code: str) -> None:
    """422 and 400 are ``Rejected``; too long has its own code in each of GitHub's spellings."""
    error = judged(data, status, post())
    assert isinstance(error, Rejected)
    assert error.reason.code == code


@pytest.mark.parametrize("status", [500, 502, 503, 504, 599, 408])
def test_server_error_may_have_landed(status: int) -> None:
    """A 5xx does not mean "not written"; a read may simply ask again."""
    page = b"<!DOCTYPE html><html>Unicorn!</html>"
    wrote = judged(page, status, post(), x_github_request_id="A:1")
    assert isinstance(wrote, Broken)
    assert "may have taken effect" in wrote.reason.detail
    assert "request A:1" in wrote.reason.detail
    asked = judged(page, status, get())
    assert isinstance(asked, Broken)
    assert "may have taken effect" not in asked.reason.detail


def test_odd_success_of_a_write_is_unknown() -> None:
    """A 303 or 304 to a write promises nothing; to a read it is no GitHub."""
    assert isinstance(judged(b"", 303, post()), Broken)
    assert isinstance(judged(b"", 304, post()), Broken)
    assert judged(b"", 303, get()).reason.code == "not-github"


def test_quote_is_bounded_and_harmless() -> None:
    """GitHub's message cannot drive a terminal, flood it, or show the token."""
    hostile = "\x1b[2J\u202e" + TOKEN + "\r\nnext " + "y" * 5000
    detail = judged({"message": hostile, "errors": "z"}, 403, post()).reason.detail
    assert detail.isprintable()
    assert TOKEN not in detail
    assert "*** next yyy" in detail
    assert detail.count("y") <= MAX_QUOTE


# Redirects

MOVED = f"{API}/repositories/515436299"


@pytest.mark.parametrize("status", sorted(links.REDIRECTS))
@pytest.mark.parametrize(
    ("request_", "location", "target"),
    [
        (get(), f"{MOVED}/issues/12/comments", f"{MOVED}/issues/12/comments?per_page=100"),
        (get(), "/repositories/1/issues/12/comments?page=9",
         f"{API}/repositories/1/issues/12/comments?per_page=100"),
        (post(), f"{MOVED}/issues/12/comments", f"{MOVED}/issues/12/comments"),
        (post(ONE), f"{MOVED}/issues/comments/5", f"{MOVED}/issues/comments/5"),
        (get(f"{API}/repos/acme/widgets"), MOVED, MOVED),
        (get("https://ghe.example/api/v3/repos/a/b/issues/1"),
         "https://GHE.example:443/api/v3/repositories/3/issues/1",
         "https://ghe.example/api/v3/repositories/3/issues/1"),
    ],
)  # fmt: skip
def test_redirect_keeps_everything_but_the_repository(
    status: int, request_: Request, location: str, target: str
) -> None:
    """Method, body, headers and query survive every redirect to the same thing."""
    made = links.redirected(request_, answer(b"", status, location=location))
    assert made.url == target
    assert (made.method, made.body, made.headers) == (
        request_.method,
        request_.body,
        request_.headers,
    )


@pytest.mark.parametrize(
    "location",
    [
        "",
        f"{MOVED}/issues/13/comments",
        f"{MOVED}/issues/comments/12",
        f"{MOVED}/pulls/12/comments",
        MOVED,
        "https://evil.example/repositories/1/issues/12/comments",
        "http://api.github.com/repositories/1/issues/12/comments",
        "https://api.github.com:8443/repositories/1/issues/12/comments",
        "https://t:k@api.github.com/repositories/1/issues/12/comments",
        f"{API}/api/v3/repositories/1/issues/12/comments",
        f"{API}/login?return_to=%2F",
        "https://[",
        "\u202e",
    ],
)
def test_redirect_elsewhere_is_named_and_not_followed(location: str) -> None:
    """Another host, port, scheme, number or kind of thing is ``Moved``, with the new address."""
    with pytest.raises(Moved) as caught:
        links.redirected(post(), answer(b"", 307, location=location))
    assert caught.value.reason.code == "moved"
    assert "t:k" not in str(caught.value)
    assert str(caught.value).isprintable()
    if location.startswith("https://evil"):
        assert "https://evil.example/repositories/1/issues/12/comments" in str(caught.value)


def test_what_is_in_no_repository_does_not_move() -> None:
    """``/user`` has no other address."""
    with pytest.raises(Moved):
        links.redirected(get(f"{API}/user"), answer(b"", 301, location=f"{API}/user"))


def test_redirect_teaches_the_repository_id() -> None:
    """The numeric address gives the repository's id away, and nothing else does."""
    assert links.repo_id_of(f"{MOVED}/issues/12/comments?page=2") == 515436299
    assert links.repo_id_of(MOVED) == 515436299
    assert links.repo_id_of(f"{LIST}&x=/repositories/1/") is None


# Whatever bytes

HEADER_NAMES = (
    "content-type", "date", "etag", "gh-limited-by", "link", "location", "retry-after",
    "x-github-request-id", "x-ratelimit-remaining", "x-ratelimit-reset",
)  # fmt: skip
JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*comment(), "message", "errors", "data"]), inner)
    ),
    max_leaves=8,
).map(lambda data: json.dumps(data).encode())
VALUES = st.text(max_size=40) | st.sampled_from(
    ["0", DATE, "9" * 30, "application/json", f'<{LIST}&page=2>; rel="next"', MOVED, "-1",
     "Mon, 1 Jan 0000 00:00:00 -9999", "https://[x", "<//[>; rel=last"]
)  # fmt: skip
ANSWERS = st.builds(
    Response,
    status=st.integers(100, 700) | st.sampled_from([200, 301, 401, 403, 404, 422, 429]),
    headers=st.dictionaries(st.sampled_from(HEADER_NAMES), VALUES),
    body=st.binary(max_size=60) | JSON_LIKE,
)
ASKED = st.sampled_from([get(), post(), get(ONE), post(ONE), get(f"{API}/user")])
READERS: list[Callable[[Response, Request], object]] = [
    read,
    wire.read_comment,
    wire.read_issue,
    wire.read_viewer,
    wire.read_graphql_viewer,
    wire.read_minimised,
    lambda response, request: links.redirected(request, response),
]


@settings(max_examples=300, deadline=None)
@given(ANSWERS, ASKED)
def test_any_answer_is_a_value_or_a_named_error(said: Response, asked: Request) -> None:
    """Whatever a server sends, reading it ends in a value or one of our own errors."""
    error = failure(said, asked, NOW)
    assert isinstance(error, MarkersError)
    assert error.reason.detail.isprintable()
    if isinstance(error, Limited):
        assert error.wait is None or error.wait >= 1
    for reader in READERS:
        try:
            reader(said, asked)
        except MarkersError as caught:
            assert caught.reason.code  # noqa: PT017 - a value is as good an end as an error


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.sampled_from([LIST, "http://127.0.0.1:8/x", "https://[::1]:9/"]))
def test_followable_address_is_on_our_origin(url: str, base: str) -> None:
    """Whatever an answer names, what is followed begins with our own scheme, host and port."""
    for spelled in (url, f"//{url}", f"https://{url}", base + url):
        target = links.followable(spelled, base)
        origin = "/".join(base.split("/")[:3])
        assert target is None or target == origin or target[len(origin)] in "/?"
        assert target is None or target.startswith(origin)


def test_only_what_is_kept_is_read_whole() -> None:
    """Of the others the ids are read; the page's first proves the surface and is always there."""
    found = answer([comment(id=n, body=f"<!-- m-{n} -->\n\ntext") for n in (3, 5, 8)])
    asked = get()
    links_found = links.read_links(found, asked)
    page = wire.read_page(found, asked, 1, links_found, lambda line: line == "<!-- m-8 -->")
    assert page.ids == (3, 5, 8)
    assert [each.id for each in page.comments] == [3, 8]

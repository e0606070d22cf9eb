"""Writing requests and reading answers, as values: no I/O, no time, no retrying.

What may live here: pure functions from literals to values or errors.  What may not: anything that
sends, waits or remembers.  GitHub's oddities are read leniently where the model has a word for them
(no user, no body, no association) and are errors where it has not: half a list is no list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ..__about__ import __version__
from ..codec import first_line
from ..errors import MarkersError, Refused
from ..model import Account, Comment, Surface
from .failures import http_date, refused_by_graphql, request_id, unreadable
from .interface import Issue, Keep, Page, Request, Response, Stored
from .links import Links, repo_id_of
from .quoting import target, told

API_VERSION = "2022-11-28"
"""Of GitHub's REST API; an unknown version is answered 400."""

VIEWER_QUERY = "{viewer{login databaseId}}"
MINIMISE = (
    "mutation($input:MinimizeCommentInput!)"
    "{minimizeComment(input:$input){minimizedComment{isMinimized}}}"
)

LONGEST_NAME = 100
"""How much of an account's or app's name is kept, in characters; GitHub's own are far shorter."""
LONGEST_URL = 2000

_NODE_ID = re.compile(r"[\w=+/:-]{1,200}", re.ASCII)
_SURROGATES = re.compile("[\ud800-\udfff]")
_LISTED = re.compile(r"/issues/([0-9]{1,18})/comments(?:\?|$)")


class _Unlike(ValueError):
    """The answer is not of the expected shape; the text says where."""


def headers(token: str, api_version: str = API_VERSION) -> dict[str, str]:
    """What every request carries."""
    return {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {token}",
        "User-Agent": f"handoff-markers/{__version__}",
        "X-GitHub-Api-Version": api_version,
    }


def reading(url: str, common: Mapping[str, str], etag: str | None = None) -> Request:
    """A GET; conditional where *etag* is given.

    GitHub marks its answers as fresh for a minute: a cache on the way is told to ask each time.
    """
    wanted = {**common, "Cache-Control": "no-cache"}
    if etag is not None:
        wanted["If-None-Match"] = etag
    return Request(method="GET", url=url, headers=wanted)


def writing(
    method: str, url: str, common: Mapping[str, str], payload: Mapping[str, Any] | None = None
) -> Request:
    """A POST, PATCH or DELETE; text that is not Unicode is ``Refused``, not mended."""
    if payload is None:
        return Request(method=method, url=url, headers=common)
    try:
        body = json.dumps(payload, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Refused("encoding", "the text holds half a surrogate pair: save it again") from error
    return Request(
        method=method, url=url, headers={**common, "Content-Type": "application/json"}, body=body
    )


def minimising(url: str, common: Mapping[str, str], node_id: str) -> Request:
    """The mutation that hides a comment as outdated."""
    wanted = {"subjectId": node_id, "classifier": "OUTDATED"}
    return writing("POST", url, common, {"query": MINIMISE, "variables": {"input": wanted}})


def read_page(
    response: Response, request: Request, number: int, links: Links, keep: Keep | None = None
) -> Page:
    """A page of comments, whole or not at all; *keep* says which are wanted more than by id."""
    data = _document(response, request)
    if not isinstance(data, list):
        raise unreadable(
            request, "not-github", f"{target(request)} did not answer with a list of comments"
        )
    try:
        ids = tuple(_id(_fields(item), "id") for item in data)
        comments = tuple(
            _comment(item, request)
            for at, item in enumerate(data)
            if at == 0 or keep is None or keep(first_line(_body(item)))
        )
        _require_of_thread(comments, request)
    except _Unlike as error:
        raise _incomplete(request, error) from error
    return Page(
        ids=ids,
        comments=comments,
        number=number,
        last=links.last_page,
        more=links.next is not None,
        etag=_etag(response),
        date=http_date(response.headers.get("date")),
        repo_id=links.repo_id or repo_id_of(request.url),
    )


def read_comment(response: Response, request: Request, comment_id: int | None = None) -> Stored:
    """One comment, as answered to GET, POST or PATCH; it must be *comment_id* where that is given.

    Raises ``Broken`` for a write that cannot be read: it may have landed.
    """
    data = _document(response, request)
    try:
        comment = _comment(data, request)
        if comment_id not in (None, comment.id):
            raise _Unlike(f"it is comment {comment.id}, not {comment_id}")
    except _Unlike as error:
        raise _incomplete(request, error) from error
    date = http_date(response.headers.get("date"))
    return Stored(comment=comment, request_id=request_id(response, request), date=date)


def read_issue(response: Response, request: Request, number: int | None = None) -> Issue:
    """An issue or pull request; it must be *number* where that is given."""
    data = _document(response, request)
    try:
        fields = _fields(data)
        if number not in (None, _id(fields, "number")):
            raise _Unlike(f"it is number {fields['number']}, not {number}")
        return Issue(
            number=_id(fields, "number"),
            surface=Surface.ISSUE if fields.get("pull_request") is None else Surface.PULL_REQUEST,
            locked=fields.get("locked") is True,
            comments=_count(fields.get("comments")) or 0,
        )
    except _Unlike as error:
        raise _incomplete(request, error) from error


def read_nothing(response: Response, request: Request) -> None:
    """The answer to a DELETE, which has no body: who says more is not GitHub."""
    if response.body.strip():
        kind = _kind(response, request)
        raise unreadable(request, "not-github", f"{target(request)} answered with {kind}")


def read_viewer(response: Response, request: Request) -> Account:
    """The account of ``GET /user``."""
    data = _document(response, request)
    try:
        return _account(_fields(data), "id", request)
    except _Unlike as error:
        raise _incomplete(request, error) from error


def read_graphql_viewer(response: Response, request: Request) -> Account:
    """The account of GraphQL's ``viewer``; errors there come as 200 without data."""
    data = _document(response, request)
    try:
        viewer = _fields(_fields(_fields(data).get("data")).get("viewer"))
        return _account(viewer, "databaseId", request)
    except _Unlike as error:
        raise _incomplete(request, error) from error


def read_minimised(response: Response, request: Request) -> None:
    """That a comment is hidden now; what GraphQL refuses comes as 200 with ``errors``."""
    data = _document(response, request)
    try:
        fields = _fields(data)
        if fields.get("errors"):
            raise refused_by_graphql(response, request)
        answer = _fields(_fields(fields.get("data")).get("minimizeComment"))
        if _fields(answer.get("minimizedComment")).get("isMinimized") is not True:
            raise _Unlike("it does not say that the comment is hidden")
    except _Unlike as error:
        raise _incomplete(request, error) from error


def _document(response: Response, request: Request) -> Any:
    """The JSON of a success."""
    try:
        return json.loads(
            response.body.decode("utf-8-sig"),
            parse_constant=_no_constant,
            object_pairs_hook=_unique,
        )
    except (ValueError, RecursionError) as error:
        if _is_json(response):
            raise _incomplete(request, error) from error
        kind = _kind(response, request)
        raise unreadable(
            request, "not-github", f"{target(request)} answered with {kind} instead of JSON"
        ) from error


def _require_of_thread(comments: Iterable[Comment], request: Request) -> None:
    """A page of another thread is no page: something on the way mixes up its answers."""
    asked = _LISTED.search(request.url)
    for comment in comments:
        number = comment.issue_url.rpartition("/")[2]
        if asked is not None and number != asked[1]:
            raise _Unlike(f"comment {comment.id} is of number {number[:20]}, not {asked[1]}")


def _etag(response: Response) -> str | None:
    """The ETag, where it can be sent back as it is."""
    etag = response.headers.get("etag", "")
    return etag if etag.isascii() and etag.isprintable() and etag else None


def _is_json(response: Response) -> bool:
    kind = response.headers.get("content-type", "").lower()
    return "json" in kind and not _is_markup(response)


def _is_markup(response: Response) -> bool:
    return response.body.lstrip()[:1] == b"<"


def _kind(response: Response, request: Request) -> str:
    """What the body is: a page shows itself, whatever its header says."""
    if _is_markup(response):
        return "a page of HTML or XML"
    named = told(response.headers.get("content-type", ""), request, 60)
    return repr(named) if named else "nothing in particular"


def _incomplete(request: Request, error: Exception) -> MarkersError:
    why = str(error) if isinstance(error, _Unlike) else type(error).__name__
    return unreadable(
        request,
        "incomplete-answer",
        f"the answer to {request.method} {target(request)} cannot be read whole ({why})",
    )


def _no_constant(name: str) -> Any:
    raise _Unlike(f"{name} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Unlike("a key is there twice")
    return made


def _comment(item: Any, request: Request) -> Comment:
    fields = _fields(item)
    association = fields.get("author_association")
    return Comment(
        id=_id(fields, "id"),
        body=_body(fields),
        html_url=told(_text(fields.get("html_url"), "html_url"), request, LONGEST_URL),
        issue_url=_text(fields.get("issue_url"), "issue_url"),
        created_at=_moment(fields, "created_at"),
        updated_at=_moment(fields, "updated_at"),
        author=_author(fields.get("user"), request),
        association=_name(association, request) or "",
        app=_slug(fields.get("performed_via_github_app"), request),
        minimized=fields["minimized"] not in (None, False) if "minimized" in fields else None,
        node_id=_node_id(fields.get("node_id")),
    )


def _body(fields: Mapping[str, Any]) -> str:
    """The text; a comment without one is empty."""
    return _text("" if fields.get("body") is None else fields["body"], "body")


def _fields(item: Any) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        raise _Unlike(f"{type(item).__name__} where an object belongs")
    return item


def _count(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**63 else None


def _id(fields: Mapping[str, Any], name: str) -> int:
    value = _count(fields.get(name))
    if not value:
        raise _Unlike(f"{name} is missing or no positive number")
    return value


def _text(value: Any, name: str) -> str:
    """A string that can be encoded: half a surrogate pair is shown as U+FFFD."""
    if not isinstance(value, str):
        raise _Unlike(f"{name} is missing or no text")
    return value if value.isascii() else _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", value)


def _moment(fields: Mapping[str, Any], name: str) -> str:
    """An ISO 8601 time with a zone, as GitHub wrote it."""
    value = fields.get(name)
    try:
        zoned = isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        zoned = False
    if not isinstance(value, str) or not zoned:
        raise _Unlike(f"{name} is missing or no time with a zone")
    return value


def _author(user: Any, request: Request) -> Account | None:
    """The author; None for a deleted account, which has no user or one without id."""
    try:
        return _account(_fields(user), "id", request)
    except _Unlike:
        return None


def _account(fields: Mapping[str, Any], key: str, request: Request) -> Account:
    login = told(_text(fields.get("login"), "login"), request, LONGEST_NAME)
    return Account(id=_id(fields, key), login=login)


def _slug(app: Any, request: Request) -> str | None:
    return _name(app.get("slug"), request) if isinstance(app, dict) else None


def _node_id(value: Any) -> str | None:
    """An opaque name that is only ever sent back; an odd one counts as missing."""
    return value if isinstance(value, str) and _NODE_ID.fullmatch(value) else None


def _name(value: Any, request: Request) -> str | None:
    """A word that is shown and compared, as ``told``: names end up in results and the journal."""
    return told(value, request, LONGEST_NAME) if isinstance(value, str) else None

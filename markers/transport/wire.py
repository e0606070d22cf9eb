"""Writing requests and reading answers, as values: no I/O, no time, no retrying.

What may live here: pure functions from literals to values or errors.  What may not: anything that
sends, waits or remembers.  What the answers consist of is ``parts``'; half a list is no list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..__about__ import __version__
from ..codec import first_line
from ..errors import MarkersError, Refused
from ..model import Account, Comment, Surface
from .failures import http_date, refused_by_graphql, request_id, unreadable
from .interface import Issue, Keep, Page, Request, Response, Stored
from .links import Links, repo_id_of
from .parts import (
    Unlike,
    account_of,
    authorship_of,
    body_of,
    comment_of,
    count_of,
    fields_of,
    id_of,
)
from .quoting import target, told

API_VERSION = "2022-11-28"
"""Of GitHub's REST API; an unknown version is answered 400."""

VIEWER_QUERY = "{viewer{login databaseId}}"
MINIMISE = (
    "mutation($input:MinimizeCommentInput!)"
    "{minimizeComment(input:$input){minimizedComment{isMinimized}}}"
)

_LISTED = re.compile(r"/issues/([0-9]{1,18})/comments(?:\?|$)")


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
        ids = tuple(id_of(fields_of(item), "id") for item in data)
        comments = tuple(
            comment_of(item, request)
            for at, item in enumerate(data)
            if at == 0 or keep is None or keep(first_line(body_of(item)))
        )
        _require_of_thread(comments, request)
    except Unlike as error:
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
        comment = comment_of(data, request)
        if comment_id not in (None, comment.id):
            raise Unlike(f"it is comment {comment.id}, not {comment_id}")
    except Unlike as error:
        raise _incomplete(request, error) from error
    date = http_date(response.headers.get("date"))
    return Stored(comment=comment, request_id=request_id(response, request), date=date)


def read_issue(response: Response, request: Request, number: int | None = None) -> Issue:
    """An issue or pull request; it must be *number* where that is given."""
    data = _document(response, request)
    try:
        fields = fields_of(data)
        if number not in (None, id_of(fields, "number")):
            raise Unlike(f"it is number {fields['number']}, not {number}")
        return Issue(
            number=id_of(fields, "number"),
            surface=Surface.ISSUE if fields.get("pull_request") is None else Surface.PULL_REQUEST,
            locked=fields.get("locked") is True,
            comments=count_of(fields.get("comments")) or 0,
            body=body_of(fields),
            **authorship_of(fields, request),
        )
    except Unlike as error:
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
        return account_of(fields_of(data), "id", request)
    except Unlike as error:
        raise _incomplete(request, error) from error


def read_graphql_viewer(response: Response, request: Request) -> Account:
    """The account of GraphQL's ``viewer``; errors there come as 200 without data."""
    data = _document(response, request)
    try:
        viewer = fields_of(fields_of(fields_of(data).get("data")).get("viewer"))
        return account_of(viewer, "databaseId", request)
    except Unlike as error:
        raise _incomplete(request, error) from error


def read_minimised(response: Response, request: Request) -> None:
    """That a comment is hidden now; what GraphQL refuses comes as 200 with ``errors``."""
    data = _document(response, request)
    try:
        fields = fields_of(data)
        if fields.get("errors"):
            raise refused_by_graphql(response, request)
        answer = fields_of(fields_of(fields.get("data")).get("minimizeComment"))
        if fields_of(answer.get("minimizedComment")).get("isMinimized") is not True:
            raise Unlike("it does not say that the comment is hidden")
    except Unlike as error:
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
            raise Unlike(f"comment {comment.id} is of number {number[:20]}, not {asked[1]}")


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
    why = str(error) if isinstance(error, Unlike) else type(error).__name__
    return unreadable(
        request,
        "incomplete-answer",
        f"the answer to {request.method} {target(request)} cannot be read whole ({why})",
    )


def _no_constant(name: str) -> Any:
    raise Unlike(f"{name} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise Unlike("a key is there twice")
    return made

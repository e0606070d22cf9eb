"""What an answer that is not a success means: status, headers and body in, one error out.

What may live here: pure functions and the tables they read.  What may not: I/O, time (it comes in
as an argument), and waiting.

The promise that the writer builds on: ``Limited`` means that nothing took effect, ``Denied`` and
``Rejected`` that it never will, ``Broken`` that it may have.  The rules are GitHub's:
https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from ..errors import Broken, Denied, Gone, Limited, MarkersError, Rejected
from .interface import Request, Response
from .quoting import masked, target, told

MAX_QUOTE = 400
"""How much of GitHub's own message is repeated, in characters."""

_LIMIT_WORDS = re.compile(
    r"secondary rate|abuse detection|temporarily blocked from content creation"
    r"|was submitted too quickly|API rate limit exceeded",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(r"body is too long", re.IGNORECASE)
_SECONDS = re.compile(r"[0-9]{1,9}")
_REFERENCE = re.compile(r"[\w:.-]{1,80}", re.ASCII)
_MOMENT = re.compile(r"[0-9]{1,12}")
_NEEDS = (
    "the token lacks a permission: it needs 'issues: write' (for a pull request 'pull-requests: "
    "write' or 'issues: write'). In a pull request from a fork, and for Dependabot, GITHUB_TOKEN "
    "is read-only whatever the workflow says: write from a workflow_run job instead"
)
_NEEDS_READ = "the token lacks a permission: it needs 'issues: read' or 'pull-requests: read'"

_FULL = "the conversation is full: GitHub takes no more than 2,500 comments; go on in a new issue"
_SIGN_ON = "the organisation wants single sign-on: authorise the token for it in GitHub's settings"

_REFUSALS: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), code, words)
    for pattern, code, words in (
        (r"more than 2,?500 comments", "thread-full", _FULL),
        (r"\blocked\b", "locked", "the conversation is locked: a maintainer has to unlock it"),
        (r"\barchived\b", "archived", "the repository is archived and so read-only"),
        (r"not accessible by|must have .*(?:access|rights)|push access", "permission", _NEEDS),
        (r"\bSAML\b|\bSSO\b", "single-sign-on", _SIGN_ON),
        (r"IP allow list", "ip-allow-list", "the organisation does not accept this IP address"),
        (r"\bblocked\b|interaction", "blocked", "the account may not comment there"),
    )
)
"""Sorts of 403 by GitHub's own words (and a full thread, by whatever status); first match wins."""


def is_write(request: Request) -> bool:
    """Whether sending the request may change something."""
    return request.method not in ("GET", "HEAD")


def failure(response: Response, request: Request, now: float) -> MarkersError:
    """Name what went wrong; *now* (epoch seconds) counts only where the answer has no ``Date``.

    A 5xx is ``Broken`` for reads, too: whoever may ask again does.
    """
    usual = _server_error if response.status >= 500 else _other
    return _BY_STATUS.get(response.status, usual)(response, request, now)


def unreadable(request: Request, code: str, detail: str) -> MarkersError:
    """A success that cannot be read: it is ``Broken``, since an outage shows pages for people, too.

    A read is repeated, and only when it stays so is the address wrong.  Codes are ``not-github``
    and ``incomplete-answer``.
    """
    if is_write(request):
        return Broken(code, f"{detail}; the {request.method} may have taken effect all the same")
    if code == "not-github":
        return Broken(code, f"{detail}: check --api-url (or GITHUB_API_URL) and the proxy")
    return Broken(code, detail)


def refused_by_graphql(response: Response, request: Request) -> MarkersError:
    """What GraphQL would not do: it says so in a 200 with ``errors``, and nothing was done."""
    return Denied(
        "graphql", f"GitHub's GraphQL would not have it (errors: {said(response, request)})"
    )


def http_date(text: str | None) -> float | None:
    """An HTTP date in epoch seconds; None for anything else."""
    try:
        moment = parsedate_to_datetime(text or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def request_id(response: Response, request: Request) -> str | None:
    """GitHub's own name for the request, for its support; None where it is missing or odd."""
    reference = response.headers.get("x-github-request-id", "")
    odd = not _REFERENCE.fullmatch(reference) or masked(reference, request) != reference
    return None if odd else reference


def said(response: Response, request: Request) -> str:
    """GitHub's message as one bounded line: no control characters, and the token never."""
    return told(" ".join(_messages(response)) or "no message", request, MAX_QUOTE)


def _messages(response: Response) -> list[str]:
    try:
        data = json.loads(response.body)
    except (ValueError, RecursionError):
        return ["an HTML page"] if b"<html" in response.body[:2000].lower() else []
    if not isinstance(data, dict):
        return []
    errors = data.get("errors")
    listed = errors if isinstance(errors, list) else [errors]
    found = [data.get("message"), *(_error_text(error) for error in listed[:10])]
    return [text for text in found if isinstance(text, str) and text]


def _error_text(error: Any) -> Any:
    """A validation error's message, or ``field: code`` where it has none."""
    if not isinstance(error, Mapping):
        return error
    return error.get("message") or f"{error.get('field')}: {error.get('code')}"


def _bad_credentials(response: Response, request: Request, _now: float) -> MarkersError:
    return Denied(
        "bad-credentials",
        "GitHub does not accept the token: it is mistyped, expired or revoked, or belongs to "
        f"another host (401: {said(response, request)})",
    )


def _forbidden(response: Response, request: Request, now: float) -> MarkersError:
    if _is_limit(response):
        return _limited(response, request, now)
    message = said(response, request)
    for pattern, code, words in _REFUSALS:
        if pattern.search(message):
            hint = _NEEDS_READ if words is _NEEDS and not is_write(request) else words
            return Denied(code, f"{hint} (403: {message})")
    return Denied("forbidden", f"GitHub forbids it and would again (403: {message})")


def _is_limit(response: Response) -> bool:
    headers = response.headers
    return (
        "retry-after" in headers
        or "gh-limited-by" in headers
        or headers.get("x-ratelimit-remaining", "").strip() == "0"
        or bool(_LIMIT_WORDS.search(response.body[:20_000].decode("utf-8", "replace")))
    )


def _limited(response: Response, request: Request, now: float) -> MarkersError:
    wait = _wait(response.headers, now)
    told = "without saying for how long" if wait is None else f"for {wait:.0f} s"
    detail = f"a rate limit of GitHub asks to wait {told} ({response.status}: "
    return Limited("limited", f"{detail}{said(response, request)})", wait=wait)


def _wait(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait, at least one; None when GitHub does not say.

    ``Retry-After`` counts first (seconds or a date; it is sometimes blank), then the reset time of
    a used-up budget.  A reset time in the past says nothing: it is no leave to go on at once.
    """
    server_now = http_date(headers.get("date"))
    at = now if server_now is None else server_now
    told = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(told):
        return max(1.0, float(told))
    until = http_date(told)
    if until is not None:
        return max(1.0, until - at)
    reset = headers.get("x-ratelimit-reset", "").strip()
    if headers.get("x-ratelimit-remaining", "").strip() == "0" and _MOMENT.fullmatch(reset):
        left = float(reset) - at + 1
        return left if left >= 1 else None
    return None


def _not_found(response: Response, request: Request, _now: float) -> MarkersError:
    return Gone(
        "not-found",
        f"there is nothing at {target(request)}, or nothing that this token may see: check "
        f"repository and number, and the token's access (404: {said(response, request)})",
    )


def _gone(response: Response, request: Request, _now: float) -> MarkersError:
    return Gone(
        "gone",
        f"{target(request)} is no longer there: it was deleted, or issues are switched off "
        f"(410: {said(response, request)})",
    )


def _rejected(response: Response, request: Request, now: float) -> MarkersError:
    if not is_write(request):
        return _other(response, request, now)  # there was nothing of ours in it to reject
    message = said(response, request)
    full, code, words = _REFUSALS[0]
    if full.search(message):
        return Denied(code, f"{words} ({response.status}: {message})")
    if response.status == 413 or _TOO_LONG.search(message):
        return Rejected("too-large", f"the body is too large for the server: {message}")
    return Rejected("rejected", f"GitHub would not take it ({response.status}: {message})")


def _proxy_login(response: Response, request: Request, _now: float) -> MarkersError:
    return Denied(
        "proxy-login",
        "the proxy wants a login: put it in HTTPS_PROXY, or name the host in NO_PROXY "
        f"(407: {said(response, request)})",
    )


def _other(response: Response, request: Request, _now: float) -> MarkersError:
    what = f"the server answered {response.status} to {request.method} {target(request)}"
    if response.status < 400:
        return unreadable(request, "not-github", f"{what}, which GitHub does not")
    return Denied("http-status", f"{what}: {said(response, request)}")


def _server_error(response: Response, request: Request, _now: float) -> MarkersError:
    reference = request_id(response, request)
    named = f", request {reference}" if reference else ""
    doubt = "; it may have taken effect all the same" if is_write(request) else ""
    return Broken(
        "server-error",
        f"the server answered {response.status} to {request.method} {target(request)}"
        f"{named}: {said(response, request)}{doubt}",
    )


_BY_STATUS: Mapping[int, Callable[[Response, Request, float], MarkersError]] = {
    400: _rejected,
    401: _bad_credentials,
    403: _forbidden,
    404: _not_found,
    407: _proxy_login,
    408: _server_error,
    410: _gone,
    413: _rejected,
    422: _rejected,
    429: _limited,
}

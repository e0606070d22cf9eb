"""Answers, and GitHub's words when it says no.

Texts that are not established on GitHub (a blank body, a deleted issue, no right to edit) are the
forge's own and say the same thing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .values import Answer

DOCS = "https://docs.github.com/rest"
JSON_TYPE = "application/json; charset=utf-8"
LOCKED = "Unable to create comment because issue is locked."
ARCHIVED = "Repository was archived so is read-only."
FULL = "Commenting is disabled on issues with more than 2500 comments"
NO_RIGHT = {
    "pat": "Resource not accessible by personal access token",
    "installation": "Resource not accessible by integration",
}
SECONDARY = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from content"
    " creation. Please retry your request again later."
)


class Halt(Exception):
    """Stops a handler: *answer* is what the client gets; it need not be an error."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def encode(value: object) -> bytes:
    """JSON as GitHub writes it: compact, UTF-8, nothing escaped that need not be."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def as_json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer with a JSON body."""
    return raw_json(encode(value), status, headers)


def raw_json(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer with a body that is JSON already."""
    return Answer(status=status, headers={"Content-Type": JSON_TYPE, **(headers or {})}, body=body)


def no_content() -> Answer:
    """204."""
    return Answer(status=204)


def error(
    status: int,
    message: str,
    *,
    docs: str = DOCS,
    errors: Sequence[Mapping[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """GitHub's error document."""
    document: dict[str, Any] = {"message": message}
    if errors:
        document["errors"] = list(errors)
    document |= {"documentation_url": docs, "status": str(status)}
    return as_json(document, status, headers)


def not_found() -> Answer:
    """404: it is not there, or not for this token to see."""
    return error(404, "Not Found")


def moved(status: int, location: str) -> Answer:
    """301 for reads, 307 for writes, with the new address in the document, too."""
    document = {
        "message": "Moved Permanently",
        "url": location,
        "documentation_url": f"{DOCS}/using-the-rest-api/best-practices#follow-redirects",
    }
    return as_json(document, status, {"Location": location})


def invalid(errors: Sequence[Mapping[str, Any]]) -> Answer:
    """422 with a list of what is wrong."""
    return error(422, "Validation Failed", errors=errors)


def malformed(what: str) -> Answer:
    """422 for a document of the wrong shape."""
    return error(422, f"Invalid request.\n\n{what}")


def limited_primary(who: str, reset: int, limit: int) -> Answer:
    """403: the hour's requests are used up."""
    headers = {
        "x-ratelimit-limit": str(limit),
        "x-ratelimit-remaining": "0",
        "x-ratelimit-used": str(limit),
        "x-ratelimit-reset": str(reset),
        "x-ratelimit-resource": "core",
    }
    docs = f"{DOCS}/overview/rate-limits-for-the-rest-api"
    return error(403, f"API rate limit exceeded for {who}.", docs=docs, headers=headers)


def limited_secondary(retry_after: str | None, status: int = 403) -> Answer:
    """403 or 429: too much at once; GitHub does not always say for how long."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    docs = f"{DOCS}/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"
    return error(status, SECONDARY, docs=docs, headers=headers)

"""Answers to another question than ours: something on the way mixes them up, or is not GitHub."""

from __future__ import annotations

from typing import Any

import pytest
from test_wire import API, COMMON, LIST, ONE, answer, comment, get, read

from markers.errors import Broken, Denied
from markers.transport import wire
from markers.transport.failures import failure
from markers.transport.interface import Request

OTHER = {"issue_url": f"{API}/repos/acme/widgets/issues/13"}


@pytest.mark.parametrize("listed", [LIST, f"{API}/repositories/9/issues/12/comments?page=2"])
def test_a_page_of_another_thread_is_no_page(listed: str) -> None:
    """Whichever of its comments gives it away."""
    assert len(read(answer([comment(), comment(id=9)]), get(listed)).ids) == 2
    with pytest.raises(Broken) as caught:
        read(answer([comment(), comment(id=9, **OTHER)]), get(listed))
    assert caught.value.reason.code == "incomplete-answer"
    assert "number 13" in str(caught.value)


def test_another_issue_is_not_the_issue() -> None:
    """It must be the number that was asked for, where one was."""
    pull: dict[str, Any] = {"number": 13, "pull_request": {}}
    with pytest.raises(Broken, match="number 13, not 12"):
        wire.read_issue(answer(pull), get(), number=12)
    assert wire.read_issue(answer(pull), get(), number=13).number == 13


@pytest.mark.parametrize("body", [b"", b" \r\n"])
def test_a_delete_is_answered_with_nothing(body: bytes) -> None:
    """GitHub says 204; any other success without a word will do."""
    wire.read_nothing(answer(body), deleting())


@pytest.mark.parametrize("body", [b"<html>Welcome to our network</html>", b'{"id": 1}'])
def test_a_delete_that_is_answered_with_something_is_unclear(body: bytes) -> None:
    """A page of whoever stands between us says nothing about the comment."""
    with pytest.raises(Broken) as caught:
        wire.read_nothing(answer(body), deleting())
    assert caught.value.reason.code == "not-github"


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_read_is_not_rejected_for_its_body(status: int) -> None:
    """It has none: the server's no is a no."""
    error = failure(answer({"message": "Nope"}, status), get(), 0.0)
    assert type(error) is Denied
    assert "Nope" in str(error)


def deleting() -> Request:
    """A DELETE of one comment."""
    return wire.writing("DELETE", ONE, COMMON)

"""Recorded answers, replayed without a network: the whole command against what a server once said.

``cassettes/source.json`` says which server that was.  The ones that ship come from the embedded
forge; ``make record`` records them anew against a real scratch repository.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import Shell, shell, stage

from markers import clock
from markers.model import MAX_NUMBER

__all__ = ["shell"]

HOME = Path(__file__).parents[1] / "cassettes"
SOURCE = HOME / "source.json"
CASSETTES = sorted(HOME.glob("*.yaml"))
FAMILY = "goal-run-stage"
SENT = {"accept", "content-type", "if-none-match", "x-github-api-version"}
ANSWERED = {
    "content-type",
    "date",
    "etag",
    "link",
    "location",
    "retry-after",
    "server",
    "x-github-request-id",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
}
PLACE = ("api_url", "repo", "issue")
LONG = ("long_issue", "long_comment")
"""An issue with more than 100 comments and the id of its one marker comment; may be missing."""


def _request(request: Any) -> Any:
    request.headers = {k: v for k, v in request.headers.items() if k.lower() in SENT}
    return request


def _response(response: dict[str, Any]) -> dict[str, Any]:
    kept = {k: v for k, v in response["headers"].items() if k.lower() in ANSWERED}
    return {**response, "headers": kept}


@pytest.fixture(scope="module")
def vcr_cassette_dir() -> str:
    """Beside the tests, not among them: the cassettes are records, not code."""
    return str(HOME)


@pytest.fixture
def vcr_config() -> dict[str, Any]:
    """Only named headers are kept, and a request matches by its body as well."""
    return {
        "before_record_request": _request,
        "before_record_response": _response,
        "decode_compressed_response": True,
        "match_on": ["method", "scheme", "host", "port", "path", "query", "body"],
        "allow_playback_repeats": False,
    }


@pytest.fixture
def source(record_mode: str) -> dict[str, Any]:
    """Which server the cassettes are of: from the environment while recording."""
    if record_mode == "none":
        found = json.loads(SOURCE.read_text(encoding="utf-8"))
        assert isinstance(found, dict)
        return found
    place = {name: os.environ[f"RECORD_{name.upper()}"] for name in PLACE}
    long = {name: os.environ.get(f"RECORD_{name.upper()}", "") for name in LONG}
    place |= long if all(long.values()) else {}
    origin = os.environ.get("RECORD_ORIGIN", "a real repository")
    SOURCE.write_text(json.dumps({"origin": origin, **place}, indent=2) + "\n", encoding="utf-8")
    return place


@pytest.fixture
def there(shell: Shell, source: dict[str, Any], record_mode: str) -> Iterator[Shell]:
    """A shell at that server; replayed, no time passes and the token is none."""
    recording = record_mode != "none"
    shell.export(
        GITHUB_API_URL=source["api_url"],
        GH_REPO=source["repo"],
        GH_TOKEN=os.environ["RECORD_TOKEN"] if recording else "replayed",
        MARKERS_TEST_NO_PACING="1",
    )
    with nullcontext() if recording else clock.use(clock.FakeClock()):
        yield shell


@pytest.fixture
def target(source: dict[str, Any]) -> tuple[str, ...]:
    """The issue that the cassettes are about."""
    return ("--family", FAMILY, "--number", str(source["issue"]))


@pytest.mark.vcr
@pytest.mark.block_network
@pytest.mark.default_cassette("life.yaml")
def test_life_of_a_comment(there: Shell, target: tuple[str, ...]) -> None:
    """Created, unchanged, updated, read, listed, taken back, gone: each as it says."""
    assert there.write(stage("Stage one.\n", target), target=target).document["action"] == "created"
    assert (
        there.write(stage("Stage one.\n", target), target=target).document["action"] == "unchanged"
    )
    updated = there.write(stage("Stage two.\n", target), target=target).document
    assert (updated["action"], updated["change"]["lines_added"]) == ("updated", 1)
    read = there.run("read", *target, "--json").document
    assert read["body"].endswith("\n\nStage two.\n")
    assert (read["trusted"], read["sha256"]) == (True, updated["sha256"])
    listed = there.run("list", "--number", target[-1], "--family", FAMILY, "--json").document
    assert [each["comment_id"] for each in listed["markers"]] == [read["comment_id"]]
    assert there.run("delete", *target, "--json").document["action"] == "deleted"
    assert there.run("read", *target, "--json").code == 10


@pytest.mark.vcr
@pytest.mark.block_network
@pytest.mark.default_cassette("expected.yaml")
def test_expect(there: Shell, target: tuple[str, ...]) -> None:
    """Under --expect the target is read again, then updated; an old picture writes nothing."""
    made = there.write(stage("Stage one.\n", target), "--expect", "absent", target=target).document
    assert made["action"] == "created"
    assert there.write(stage("Stage two.\n", target), "--expect", "absent", target=target).code == 4
    changed = there.write(
        stage("Stage two.\n", target), "--expect", made["sha256"], target=target
    ).document
    assert (changed["action"], changed["previous_sha256"]) == ("updated", made["sha256"])
    old = there.write(stage("Stage three.\n", target), "--expect", made["sha256"], target=target)
    assert (old.code, old.document["requests"]["PATCH"]) == (4, 0)
    assert there.run("delete", *target, "--json").document["action"] == "deleted"


@pytest.mark.vcr
@pytest.mark.block_network
@pytest.mark.default_cassette("pages.yaml")
def test_several_pages(there: Shell, source: dict[str, Any]) -> None:
    """A thread of several pages is read to its end, where the marker is."""
    if LONG[0] not in source:
        pytest.skip("the cassettes have no thread of several pages")
    words = ("list", "--number", source[LONG[0]], "--family", FAMILY, "--json")
    listed = there.run(*words).document["markers"]
    assert [str(each["comment_id"]) for each in listed] == [source[LONG[1]]]


@pytest.mark.vcr
@pytest.mark.block_network
@pytest.mark.default_cassette("no-such-issue.yaml")
def test_no_such_issue(there: Shell) -> None:
    """An issue that is not there is denied, and nothing is sent to it."""
    target = ("--family", FAMILY, "--number", str(MAX_NUMBER))
    ran = there.write(stage("Stage one.\n", target), target=target)
    assert (ran.code, ran.document["action"]) == (6, "denied")
    assert ran.document["requests"]["POST"] == 0


@pytest.mark.vcr
@pytest.mark.block_network
@pytest.mark.default_cassette("wrong-token.yaml")
def test_wrong_token(there: Shell, target: tuple[str, ...]) -> None:
    """A token that the server does not know is denied at the first request."""
    there.export(GH_TOKEN="nobodys")
    ran = there.write(stage("Stage one.\n", target), target=target)
    assert (ran.code, ran.document["action"]) == (6, "denied")


@pytest.mark.vcr(record_mode="none")
@pytest.mark.block_network
@pytest.mark.default_cassette("life.yaml")
def test_another_text_is_not_in_the_cassette(
    there: Shell, target: tuple[str, ...], record_mode: str
) -> None:
    """A write of another text finds no answer: a wrong body cannot pass for the recorded one."""
    if record_mode != "none":
        pytest.skip("recording")
    ran = there.write(stage("Another stage.\n", target), target=target)
    assert ran.code != 0
    assert "CannotOverwriteExistingCassette" in ran.err


@pytest.mark.block_network
def test_the_network_is_blocked() -> None:
    """What is not in a cassette does not get out, loopback included."""
    with socket.socket() as line, pytest.raises(RuntimeError, match="Network is disabled"):
        line.connect(("127.0.0.1", 9))


@pytest.mark.parametrize("cassette", CASSETTES, ids=lambda path: path.name)
def test_cassettes_carry_no_more_than_they_may(cassette: Path) -> None:
    """Only the headers on the list are in a cassette: no token, no cookie, no address."""
    recorded = yaml.safe_load(cassette.read_text(encoding="utf-8"))["interactions"]
    assert recorded
    for each in recorded:
        assert {name.lower() for name in each["request"]["headers"]} <= SENT
        assert {name.lower() for name in each["response"]["headers"]} <= ANSWERED


def test_cassettes_say_where_they_come_from(source: dict[str, Any]) -> None:
    """Beside the cassettes stands which server they are of, and each request went there."""
    assert set(PLACE) <= set(source)
    for cassette in CASSETTES:
        recorded = yaml.safe_load(cassette.read_text(encoding="utf-8"))["interactions"]
        assert all(each["request"]["uri"].startswith(source["api_url"]) for each in recorded)

"""The command against a real GitHub: ``make live``, for whoever has a scratch repository.

Not among the usual tests.  Each test leaves the issue as it found it; all together create a handful
of comments, a second apart as GitHub asks.  ``test_live_script`` tries them on the embedded server.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from command_line import Shell, shell, stage

from markers.codec import sha256
from markers.model import MAX_NUMBER

__all__ = ["shell"]

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

FAMILY = "goal-run-stage"
TEXT = "Stage “one”: 🌈 e\u0301 &amp; \\n\n\n- [ ] a\t\n"


@pytest.fixture
def issue() -> str:
    """The scratch issue's number."""
    return os.environ["RECORD_ISSUE"]


@pytest.fixture
def target(issue: str) -> tuple[str, ...]:
    """The marker that is written and taken back."""
    return ("--family", FAMILY, "--number", issue)


@pytest.fixture
def live(shell: Shell, target: tuple[str, ...]) -> Iterator[Shell]:
    """A shell at the repository that the environment names; what is left over is taken back."""
    shell.export(
        GITHUB_API_URL=os.environ["RECORD_API_URL"],
        GH_REPO=os.environ["RECORD_REPO"],
        GH_TOKEN=os.environ["RECORD_TOKEN"],
    )
    yield shell
    shell.run("delete", *target)


def test_life_of_a_comment(live: Shell, target: tuple[str, ...], issue: str) -> None:
    """Created, unchanged, updated, read byte for byte, restored, taken back."""
    text = stage(TEXT, target)
    body = f"<!-- {FAMILY}-{issue} -->\n\n{text}"
    made = live.write(text, target=target).document
    assert (made["action"], made["sha256"]) == ("created", sha256(body))
    assert live.write(text, target=target).document["action"] == "unchanged"
    changed = live.write(stage("Stage two.\n", target), target=target).document
    assert (changed["action"], changed["comment_id"]) == ("updated", made["comment_id"])
    assert live.run("restore", str(changed["audit"]["seq"])).code == 0
    assert live.run("read", *target, "--body").out == body.encode()
    assert live.run("audit", "verify", "--live").code == 0
    assert live.run("delete", *target, "--json").document["action"] == "deleted"
    assert live.run("read", *target, "--json").code == 10


def test_expect(live: Shell, target: tuple[str, ...]) -> None:
    """The right hash writes, the old one does not."""
    made = live.write(stage("Stage one.\n", target), "--expect", "absent", target=target).document
    assert live.write(stage("Stage two.\n", target), "--expect", "absent", target=target).code == 4
    assert (
        live.write(stage("Stage two.\n", target), "--expect", made["sha256"], target=target).code
        == 0
    )
    assert (
        live.write(stage("Stage three.\n", target), "--expect", made["sha256"], target=target).code
        == 4
    )


def test_a_race_has_one_winner(live: Shell, target: tuple[str, ...]) -> None:
    """Two processes without a common journal: one creates, one conflicts, one comment is left."""
    words = ("write", *target, "--expect", "absent", "--body-file", "-")

    def one(name: str) -> int:
        journal = str(live.home / f"{name}.sqlite3")
        return live.spawn(
            *words, stdin=stage(f"{name}.\n", target).encode(), MARKERS_JOURNAL=journal
        ).code

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(one, ("one", "two"))) == [0, 4]
    listed = live.run("list", *target[2:], "--family", FAMILY, "--json").document
    assert len(listed["markers"]) == 1


def test_what_is_denied(live: Shell, target: tuple[str, ...]) -> None:
    """A number of nothing and a token of nobody exit 6."""
    nowhere = ("--family", FAMILY, "--number", str(MAX_NUMBER))
    assert live.write(stage(TEXT, nowhere), target=nowhere).code == 6
    live.export(GH_TOKEN="nobodys")
    assert live.write(stage(TEXT, target), target=target).code == 6
    live.export(GH_TOKEN=os.environ["RECORD_TOKEN"])

"""``state agent-box rotate --hook``: nothing is heard of it, whatever is wrong (statement 27)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from boxes import A, B, Home, home, shell

from markers.cli.silent import is_silent

__all__ = ["home", "shell"]

EVENT = json.dumps({"session_id": B}).encode()
BOX = ("state", "agent-box")
HOOK = (*BOX, "rotate", "--hook")


@pytest.mark.parametrize(
    "words",
    [
        (*BOX, "--live-dir", "/etc/passwd", "rotate", "--hook"),
        (*BOX, "--live-dir", ".tmp/file", "rotate", "--hook"),
        (*BOX, "--live-dir", ".tmp/link", "rotate", "--hook"),
        (*BOX, "--bogus", "rotate", "--hook"),
        (*BOX, "--bogus", "value", "rotate", "--hook"),
        (*BOX, "rotate", "--hook", "--bogus"),
        (*BOX, "rotate", "--hook", "a", "b", "c"),
        (*HOOK, "--json"),
        ("--json", *HOOK),
        ("--deadline", "never", *HOOK),
        (*HOOK, "--contract", "/nowhere"),
    ],
    ids=" ".join,
)
def test_box_27_no_option_is_heard_of(home: Home, words: tuple[str, ...]) -> None:
    """Options that are refused, unknown or too many end in silence and exit 0."""
    (home.shell.scratch / "file").write_text("")
    (home.shell.scratch / "link").symlink_to(home.live)
    home.shell.export(AGENT_BOX_SESSION_ID=A)
    ran = home.shell.run(*words, stdin=EVENT)
    assert (ran.code, ran.out, ran.err) == (0, b"", "")


def test_box_27_broken_settings_are_not_heard_of(home: Home) -> None:
    """The user's own settings file cannot be read: silence, and the next start derives the id."""
    home.shell.own_file.write_text("x = [")
    home.shell.export(AGENT_BOX_SESSION_ID=A)
    ran = home.shell.run(*HOOK, stdin=EVENT)
    assert (ran.code, ran.out, ran.err) == (0, b"", "")


def test_box_27_a_directory_that_is_gone_is_not_heard_of(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor a working directory that is not there any more."""
    gone = home.shell.home / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    ran = home.shell.run(*HOOK, stdin=EVENT)
    assert (ran.code, ran.out, ran.err) == (0, b"", "")


@pytest.mark.parametrize("words", [HOOK, (*BOX, "--bogus", "rotate", "--hook")], ids=" ".join)
def test_box_27_the_event_is_taken_in_first(home: Home, words: tuple[str, ...]) -> None:
    """A harness can finish writing an event that is larger than a pipe, also where all fails."""
    event = json.dumps({"x": "y" * 300_000, "session_id": B}).encode()
    with subprocess.Popen(
        home.shell.command(*words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**home.shell.env, "AGENT_BOX_SESSION_ID": A},
        cwd=home.shell.top,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(event)
        process.stdin.close()
        assert process.stdout is not None
        assert (process.stdout.read(), process.wait(30)) == (b"", 0)
    assert (home.live / A).exists() == (words == HOOK)


def test_box_27_closed_streams_are_no_trouble(home: Home) -> None:
    """Neither a stdin nor an output that is not there."""
    command = " ".join(home.shell.command(*HOOK)) + " <&- >&- 2>&-"
    done = subprocess.run(  # noqa: S602 - the words are ours
        command, shell=True, env=home.shell.env, cwd=home.shell.top, check=False, timeout=30
    )
    assert done.returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        (*BOX, "rotate", A, B),
        (*HOOK, "--help"),
        (*BOX, "add", "rotate", "--prompt", "--hook"),
        (*BOX, "--json", "add", "rotate", "--prompt", "--hook"),
        (*BOX, "show", "--hook"),
        ("state", "session-md", "constraint", "agent-box", "rotate", "--hook"),
        ("rotate", "--hook"),
    ],
    ids=" ".join,
)
def test_no_other_call_is_silenced(words: tuple[str, ...]) -> None:
    """Only the hook's own call is kept quiet."""
    assert not is_silent(words)


def test_box_04_and_12_directories_that_cannot_be_read_are_done_without(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory that is named and may not be read costs what the default one costs: nothing."""
    directory = home.shell.scratch / "closed"
    directory.mkdir()
    really = os.open

    def denied(name: str, *more: int, **at: int) -> int:
        if Path(name).name == "closed":
            raise PermissionError(13, "Permission denied")
        return really(name, *more, **at)

    monkeypatch.setattr(os, "open", denied)
    for option in ("--side-dir", "--live-dir", "--transcripts"):
        ran = home.run(option, ".tmp/closed", "launch-id", "portal")
        assert (ran.code, ran.document["launch_id"]) == (0, A)
    ran = home.run("--side-dir", ".tmp/closed", "record-launch", "portal", A)
    assert (ran.code, ran.document["wrote"]) == (0, {"side_file": False, "registry": True})
    assert "the side file was not written" in ran.document["warnings"][0]

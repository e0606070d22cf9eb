"""A hook never fails a session: whatever is wrong, it exits 0 and says so in one line."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import Ran, Shell, shell

from markers import clock
from markers.cli import hooking
from markers.hooks import EVENTS, answering

__all__ = ["shell"]

NOTES = "## Constraints\n- shown\n"
STATE = "SESSION-STATE.md"
EVENT = b'{"trigger": "auto", "tool_input": {"command": "docker run x"}}'


def hook(shell: Shell, event: str, stdin: bytes = EVENT, **env: str) -> Ran:
    """The hook as a process of its own; it exits 0, and nothing it says is a traceback."""
    ran = shell.spawn("hook", event, stdin=stdin, **env)
    assert ran.code == 0, ran
    assert "Traceback" not in ran.err
    for line in ran.err.splitlines():
        assert line.startswith(f"persist-marker: hook {event}: "), line
    return ran


STDIN = {
    "empty": b"",
    "blank": b" \n",
    "not JSON": b"{",
    "binary": bytes(range(256)) * 99,
    "another root": b"[1, 2]",
    "a number": b"9" * 5000,
    "nested": b"[" * 200_000,
    "surrogate": b'{"trigger": "\\ud800", "tool_input": {"command": "docker run \\ud800"}}',
    "NUL": b'{"trigger": "a\\u0000b", "tool_input": {"command": "docker run \\u0000"}}',
    "huge": b'{"prompt": "' + b"x" * (9 * 1024 * 1024) + b'"}',
}


@pytest.mark.parametrize("kind", STDIN)
def test_any_standard_input(shell: Shell, kind: str) -> None:
    """Whatever the event is, the views are shown, and what cannot be read is told in one line."""
    (shell.top / STATE).write_text(NOTES, encoding="utf-8")
    for event in ("session-start", "pre-tool-use", "pre-compact"):
        ran = hook(shell, event, STDIN[kind])
        told = kind not in ("empty", "blank", "surrogate", "NUL")
        assert ran.err.count("\n") == told, ran
        assert (b"shown" in ran.out) == (event == "session-start")


FILES: dict[str, bytes] = {
    "not UTF-8": b"## Constraints\n- \xff\xfe shown\n",
    "UTF-16": NOTES.encode("utf-16"),
    "NUL": b"## Constraints\n- \x00 shown\n",
    "too large": NOTES.encode() + b"- x\n" * 2**16,
}


@pytest.mark.parametrize("kind", [*FILES, "directory", "fifo"])
def test_notes_that_cannot_be_read(shell: Shell, kind: str) -> None:
    """Nothing of them is shown, and one line says why."""
    path = shell.top / STATE
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.write_bytes(FILES[kind])
    for event in EVENTS:
        ran = shell.run("hook", event, stdin=EVENT)
        # A log of what is there needs no text.
        told = event != "pre-compact" or kind in ("directory", "fifo")
        assert (ran.code, ran.out, ran.err.count("\n")) == (0, b"", told), (event, ran)


def test_notes_that_may_not_be_read(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that the system does not open is told, too."""
    (shell.top / STATE).write_text(NOTES, encoding="utf-8")
    usual = os.open

    def denied(path: Any, *more: Any, **options: Any) -> int:
        if path == STATE:
            raise PermissionError(13, "Permission denied")
        return usual(path, *more, **options)

    monkeypatch.setattr(os, "open", denied)
    ran = shell.run("hook", "session-start")
    assert (ran.code, ran.out, ran.err.count("\n")) == (0, b"", 1)
    assert "Permission denied" in ran.err


def closing(shell: Shell, descriptors: str) -> subprocess.CompletedProcess[bytes]:
    """The hook with standard streams that the shell closed."""
    command = " ".join([*shell.command("hook", "session-start"), descriptors])
    return subprocess.run(
        ["sh", "-c", command], cwd=shell.top, env=shell.env, check=False, capture_output=True
    )


@pytest.mark.parametrize(
    ("descriptors", "shown"),
    [
        ("<&-", True),
        ("0>x", True),
        ("2>&-", True),
        (">&-", False),
        (">/dev/full", False),
        ("<&- >&- 2>&-", False),
    ],
)
def test_streams_that_are_closed_or_full(shell: Shell, descriptors: str, shown: bool) -> None:
    """Standard streams that are closed, full or of the wrong kind do not change the exit code."""
    (shell.top / STATE).write_text(NOTES, encoding="utf-8")
    done = closing(shell, descriptors)
    assert done.returncode == 0, done
    assert b"Traceback" not in done.stderr
    assert (b"shown" in done.stdout) == shown


def test_a_reader_that_goes_away(shell: Shell) -> None:
    """A harness that stopped listening gets no failure."""
    (shell.top / STATE).write_text(NOTES, encoding="utf-8")
    process = subprocess.Popen(
        shell.command("hook", "session-start"),
        cwd=shell.top,
        env=shell.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    process.stdin.close()
    assert process.wait(20) == 0


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_being_stopped_is_no_failure(shell: Shell, which: signal.Signals) -> None:
    """Ctrl-C and being told to end, while the event is waited for, end it with 0."""
    process = subprocess.Popen(
        shell.command("hook", "session-start"),
        cwd=shell.top,
        env=shell.env,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # Python catches Ctrl-C itself before we do; the other two are caught after it, and by us alone.
    caught, bits = Path(f"/proc/{process.pid}/status"), 1 << (signal.SIGTERM - 1)
    bits |= 1 << (signal.SIGHUP - 1)
    while caught.exists() and bits & ~int(caught.read_text().split("SigCgt:")[1].split()[0], 16):
        time.sleep(0.01)
    if not caught.exists():
        time.sleep(0.2)  # a system that does not tell
    process.send_signal(which)
    assert process.wait(20) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""
    for stream in (process.stdin, process.stderr):
        assert stream is not None
        stream.close()


def test_an_event_that_does_not_end(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that nobody closes, or fills for ever, is listened to for a while and no longer."""
    monkeypatch.setattr(hooking, "LISTENING", 0.1)
    with Path("/dev/zero").open("rb") as endless:
        assert len(hooking.drained(endless)) == hooking.LARGEST + 1
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as stream, os.fdopen(theirs, "wb") as harness:
        harness.write(b"{}")
        harness.flush()
        assert hooking.drained(stream) == b"{}"


def test_a_directory_that_is_gone(shell: Shell) -> None:
    """Without a working directory the hook says so, unless the harness names the project."""
    gone = shell.home / "gone"
    gone.mkdir()
    (shell.top / STATE).write_text(NOTES, encoding="utf-8")
    command = f"rmdir {gone}; {' '.join(shell.command('hook', 'session-start'))} </dev/null"
    for variables, shown in (({}, False), ({"CLAUDE_PROJECT_DIR": str(shell.top)}, True)):
        gone.mkdir(exist_ok=True)
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=gone,
            env={**shell.env, **variables},
            check=False,
            capture_output=True,
        )
        assert done.returncode == 0
        assert (b"shown" in done.stdout) == shown
        assert (b"working directory" in done.stderr) == (not shown)


BROKEN = {
    "HOME": {"HOME": "/nowhere"},
    "no HOME": {"HOME": ""},
    "journal": {"MARKERS_JOURNAL": "/dev/null/journal"},
    "server": {"MARKERS_JOURNAL": "postgresql://db.example/x"},
    "engine": {"MARKERS_JOURNAL": "mysql://x"},
    "roots": {"MARKERS_ROOTS": "relative"},
    "locale": {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
}


@pytest.mark.parametrize("kind", BROKEN)
def test_an_environment_that_is_wrong(shell: Shell, kind: str) -> None:
    """What is wrong with settings that a hook does not need is nobody's concern."""
    (shell.top / STATE).write_text(NOTES + "- é\n", encoding="utf-8")
    ran = hook(shell, "session-start", **BROKEN[kind])
    assert (b"shown" in ran.out, ran.err) == (True, "")
    assert 1 <= hook(shell, "pre-tool-use", b"{", **BROKEN[kind]).err.count("\n") <= 2


def test_settings_that_are_broken(shell: Shell) -> None:
    """Neither the user's own nor the checkout's settings are read for an answer."""
    shell.own_file.write_text("nonsense = [", encoding="utf-8")
    (shell.top / "pyproject.toml").write_text("[tool.handoff-markers]\nx = 1\n", encoding="utf-8")
    (shell.top / ".github").mkdir()
    (shell.top / ".github/handoff-markers.toml").write_text("[[[", encoding="utf-8")
    (shell.top / STATE).write_text(NOTES, encoding="utf-8")
    ran = hook(shell, "session-start")
    assert (b"shown" in ran.out, ran.err) == (True, "")
    told = hook(shell, "session-start", b"{").err
    assert told.count("\n") == 2  # that the event is broken, and why the journal does not have it
    assert "config.toml" in told


def test_a_fault_of_our_own(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug is told with its place, and the session goes on."""

    def buggy(*_args: object) -> None:
        raise ZeroDivisionError

    (shell.top / STATE).write_text(NOTES, encoding="utf-8")
    monkeypatch.setattr(answering, "_is_fit", buggy)
    for line in (("hook", "session-start"), ("hook", "session-start", "-v")):
        ran = shell.run(*line)
        assert (ran.code, ran.out) == (0, b"")
        assert "ZeroDivisionError in test_hooks_failing, line" in ran.err


def test_an_installation_that_is_broken(shell: Shell) -> None:
    """Even a package whose parts cannot be imported lets the session go on."""
    script = (
        "import sys; sys.modules['markers.cli.hooking'] = None\n"
        "from markers.cli import main; sys.argv[1:] = ['hook', 'session-start']; sys.exit(main())"
    )
    done = subprocess.run(
        [*shell.command()[:1], "-c", script], env=shell.env, check=False, capture_output=True
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"persist-marker: hook session-start: ModuleNotFoundError\n"


def entries(shell: Shell) -> list[dict[str, Any]]:
    """What the journal has."""
    found = shell.run("audit", "log", "--json").document["entries"]
    assert shell.run("audit", "verify").code == 0
    return list(found)


def test_trouble_is_in_the_journal(shell: Shell) -> None:
    """What went wrong can be found later; what went well leaves no trace."""
    (shell.top / STATE).write_text(NOTES, encoding="utf-8")
    hook(shell, "session-start")
    assert not (shell.home / ".local").exists()
    hook(shell, "session-start", b"{")
    (entry,) = entries(shell)
    assert (entry["kind"], entry["command"]) == ("outcome", "hook session-start")
    assert (entry["action"], entry["reason"]["code"]) == ("failed", "hook-event")
    assert shell.run("audit", "log").text.rstrip().endswith("failed (hook-event)")
    shell.run("hook", "session-start", "--json", stdin=b"[]")
    assert len(entries(shell)) == 2


def test_the_same_trouble_is_in_the_journal_once_an_hour(shell: Shell) -> None:
    """A hook runs at every turn: what goes wrong at each of them does not fill the journal."""
    for _ in range(3):
        for event in ("session-start", "pre-compact"):
            ran = shell.run("hook", event, stdin=b"{")
            assert ran.err.count("\n") == 1  # it is said each time all the same
    assert len(entries(shell)) == 2
    later = clock.FakeClock(time.time() + hooking.AGAIN + 60)
    with clock.use(later):
        shell.run("hook", "session-start", stdin=b"{")
    assert len(entries(shell)) == 3


def test_a_journal_that_is_busy_is_not_waited_for(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal gets less than a second; a hook that it holds up says so and ends."""
    monkeypatch.setattr(hooking, "_keep", lambda *_: time.sleep(0.2))
    monkeypatch.setattr(hooking, "KEEPING", 0.01)
    ran = shell.run("hook", "session-start", stdin=b"{")
    assert (ran.code, ran.err.count("\n")) == (0, 2)
    assert "the journal did not take this within" in ran.err


def test_a_journal_that_is_locked_ends_soon(shell: Shell) -> None:
    """Another process that holds the journal costs a hook less than a second and its exit code."""
    hook(shell, "session-start", b"{")
    (path,) = shell.home.rglob("journal.sqlite3")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    began = time.monotonic()
    ran = hook(shell, "session-start", b"[]")
    assert time.monotonic() - began < 10
    assert ran.err.count("\n") == 2
    holder.rollback()
    holder.close()
    assert len(entries(shell)) == 1


@pytest.mark.parametrize("event", EVENTS)
def test_events_as_harnesses_send_them(shell: Shell, event: str) -> None:
    """The fields that Claude Code and Codex send beside those that are read do no harm."""
    (shell.top / STATE).write_text(NOTES, encoding="utf-8")
    claude = {"session_id": "s", "transcript_path": "/x", "cwd": "/y", "permission_mode": "plan"}
    codex = {**claude, "transcript_path": None, "model": "m", "turn_id": "t"}
    for common in (claude, codex):
        told = {**common, "hook_event_name": EVENTS[event], "prompt": "p", "source": "startup"}
        tool = {"tool_name": "Bash", "tool_use_id": "u", "tool_input": {"command": "docker run x"}}
        ran = shell.run("hook", event, stdin=json.dumps({**told, **tool}).encode())
        assert (ran.code, ran.err) == (0, "")
        assert (ran.out == b"") == (event == "pre-compact")

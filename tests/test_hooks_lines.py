"""How hooks are called: our own command line, and the lines that settings have for it."""

from __future__ import annotations

import subprocess
from typing import Any

import click
import pytest
from command_line import Shell, shell
from hypothesis import given
from hypothesis import strategies as st

from markers.cli.common import Documented
from markers.hooks import EVENTS, VALUED, event_of, settings, shell_lines

__all__ = ["shell"]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize(
    "line",
    [
        "hook EVENT --nonsense",
        "hook EVENT more words",
        "hook EVENT --deadline",
        "hook EVENT --deadline never",
        "hook EVENT --journal=../j",
        "hook EVENT --contract /etc",
        "hook EVENT --repo=",
        "--nonsense hook EVENT",
        "--deadline nonsense hook EVENT",
        "hook --nonsense EVENT",
    ],
)
def test_a_wrong_command_line_is_no_veto(shell: Shell, line: str, event: str) -> None:
    """A harness takes exit code 2 for a veto: whatever else is wrong, a hook ends with 0."""
    (shell.top / "SESSION-STATE.md").write_text("## Constraints\n- x\n", encoding="utf-8")
    ran = shell.run(*line.replace("EVENT", event).split(), stdin=b"{}")
    assert (ran.code, ran.out, ran.err.count("\n")) == (0, b"", 1), ran
    assert shell.run("audit", "log").text.count(f"hook {event}") == 1


def test_a_wrong_command_line_as_a_process(shell: Shell) -> None:
    """So it is as a process of its own, whose event is taken from it all the same."""
    ran = shell.spawn("hook", "session-start", "--nonsense", stdin=b'{"prompt": "' + b"x" * 2**20)
    assert (ran.code, ran.out, ran.err.count("\n")) == (0, b"", 1), ran


def test_json_tells_what_is_wrong(shell: Shell) -> None:
    """With --json the trouble is in the one document, as that of every hook."""
    ran = shell.run("hook", "pre-compact", "--nonsense", "--json")
    document = ran.document
    assert (ran.code, document["event"], document["answer"]) == (0, "pre-compact", None)
    assert [each["code"] for each in document["troubles"]] == ["usage"]
    assert not (shell.top / ".codex").exists()  # with a wrong option nothing is done


def test_other_commands_keep_their_exit_codes(shell: Shell) -> None:
    """Only who calls a hook by its name is spared: its words as values of others are no hook."""
    for line in (("hook",), ("hook", "nope"), ("hook", "nope", "session-start")):
        assert shell.run(*line).code == 2
    assert shell.run("write", "--marker", "hook", "session-start").code == 2
    assert shell.run("--repo", "hook", "session-start").code == 2
    assert event_of(["--repo", "hook", "--json", "hook", "-v", "session-start"]) == "session-start"


def test_options_with_values_are_known() -> None:
    """Which options of every command take a value is what the command line says."""
    options = [each for each in Documented("x").params if isinstance(each, click.Option)]
    assert {name for each in options if not each.is_flag for name in each.opts} == VALUED


def test_a_directory_that_is_gone_and_a_relative_project(shell: Shell) -> None:
    """The message says what is wrong with the variable: that it is relative, or not set."""
    for value, why in (("sub", "is relative to it"), ("", "is not set")):
        gone = shell.home / "gone"
        gone.mkdir()
        command = f"rmdir {gone}; {' '.join(shell.command('hook', 'session-start'))} </dev/null"
        env = {**shell.env, "CLAUDE_PROJECT_DIR": value}
        done = subprocess.run(["sh", "-c", command], cwd=gone, env=env, capture_output=True)
        assert done.returncode == 0
        assert f"CLAUDE_PROJECT_DIR {why}".encode() in done.stderr


def entry(event: str, command: str, **more: Any) -> dict[str, Any]:
    """A settings document with one command."""
    return {"hooks": {event: [{"hooks": [{"type": "command", "command": command, **more}]}]}}


START = "persist-marker hook session-start"


@pytest.mark.parametrize(
    "line",
    [
        START,
        f"{START}; true",
        f"{START} >/dev/null",
        f"{START} 2>&1 | tee -a log",
        f"{START}&&true",
        f"{START} || true",
        f"{START} &",
        f"({START})",
        f"{{ {START}; }}",
        f"{START} # as the page has it",
        f"true\n{START}\n",
        f"bash -c '{START}'",
        f'/bin/sh -lc "cd x; {START}"',
        f"cd sub && {START}",
        f"A=b exec {START}",
        f"if true; then {START}; fi",
        "persist-marker \\\n hook session-start",
        "cd sub && missing/persist-marker hook session-start",
        '"$HOME/.local/bin/persist-marker" hook session-start',
        "/opt/bin/persist-marker hook session-start",
        "python3 -m markers hook session-start",
    ],
)
def test_a_call_is_known_in_a_shell_line(line: str) -> None:
    """The usual forms around a hook are read, and nothing is wrong with them."""
    (found,) = settings.entries(entry("SessionStart", line))
    assert found.call.event == "session-start"
    assert settings.flaw(found, lambda program: not program.startswith("missing")) is None


@pytest.mark.parametrize(
    ("event", "line", "wrong", "sure"),
    [
        ("SessionStart", "persist-marker hook sesion-start", "no hook", True),
        ("SessionStart", "persist-marker hook", "no hook", True),
        ("PreCompact", f"{START}; true", "the hook of SessionStart", True),
        ("Stop", "bash -c 'persist-marker hook pre-compact'", "the hook of PreCompact", True),
        ("SessionStart", "missing/persist-marker hook session-start", "no such program", True),
        ("SessionStart", f"command -v x && missing/{START}", "no such program", False),
        ("SessionStart", f"{START} --json", "more than the two words", False),
        ("SessionStart", "persist-marker --json hook session-start", "the two words", False),
        ("SessionStart", f"timeout 5 {START}", "cannot be told", False),
        ("SessionStart", f"echo '{START}'", "cannot be told", False),
        ("SessionStart", "persist-marker 'hook x", "cannot be told", False),
        ("SessionStart", f"{START} {'x' * shell_lines.LONGEST}", "cannot be told", False),
    ],
)
def test_what_is_wrong_with_a_line(event: str, line: str, wrong: str, sure: bool) -> None:
    """An entry has to name one of our hooks, under its own event, and a program that is there."""
    (found,) = settings.entries(entry(event, line))
    flaw = settings.flaw(found, lambda program: not program.startswith("missing"))
    assert flaw is not None
    assert (wrong in flaw.why, flaw.sure) == (True, sure)


def matched(matcher: object) -> dict[str, Any]:
    """A settings document with a matcher for the survey guard."""
    (group,) = entry("PreToolUse", "persist-marker hook pre-tool-use")["hooks"]["PreToolUse"]
    return {"hooks": {"PreToolUse": [{"matcher": matcher, **group}]}}


@pytest.mark.parametrize(
    ("document", "wrong"),
    [
        (entry("SessionStart", START, type="prompt"), "`type`"),
        ({"hooks": {"SessionStart": [{"hooks": [{"command": START}]}]}}, "`type`"),
        ({"hooks": {"SessionStart": [{"type": "command", "command": START}]}}, "of a group"),
        (matched("Write"), "Bash"),
        (matched("("), "Bash"),
        (matched(3), "Bash"),
    ],
)
def test_what_a_harness_may_not_run(document: Any, wrong: str) -> None:
    """Another type, no group, a matcher for other tools: the entry may be of no use."""
    (found,) = settings.entries(document)
    flaw = settings.flaw(found, lambda _program: True)
    assert flaw is not None
    assert (wrong in flaw.why, flaw.sure) == (True, False)


@pytest.mark.parametrize("matcher", ["Bash", "^Bash$", "Edit|Bash", "*", "", ".*"])
def test_matchers_of_the_shell_tool(matcher: str) -> None:
    """A matcher that lets the shell tool through is fine."""
    (found,) = settings.entries(matched(matcher))
    assert settings.flaw(found, lambda _program: True) is None


def test_switches() -> None:
    """The keys that turn all hooks off are known, and only with the value that does."""
    assert settings.off({"disableAllHooks": True}) == "disableAllHooks"
    assert settings.off({"features": {"codex_hooks": False}}) == "features.codex_hooks"
    for document in ({}, [], {"disableAllHooks": False}, {"features": {"codex_hooks": True}}):
        assert settings.off(document) is None


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {"hooks": []},
        {"hooks": {"SessionStart": {}}},
        {"hooks": {"SessionStart": [3, {"hooks": [None, {"command": 3}]}]}},
        entry("SessionStart", "other-program hook session-start"),
        entry("SessionStart", "persist-marker read --number 1 > ~/hooks/log"),
        entry("SessionStart", "persist-marker 'hook"),
        entry("SessionStart", "python -m other hook session-start"),
    ],
)
def test_what_is_not_ours_is_left_alone(document: object) -> None:
    """Other programs' entries, and documents of another form, are nobody's fault here."""
    assert settings.entries(document) == []


@given(st.text() | st.text("persit-mak hook'\"\\;&|<>()#\n$-cbash", max_size=80))
def test_any_line_is_read(line: str) -> None:
    """No line of settings makes the reading fail."""
    for found in settings.entries(entry("SessionStart", line)):
        settings.flaw(found, lambda _program: True)

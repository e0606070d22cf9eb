"""The settings that the page shows work as they are pasted, and ``doctor`` judges such settings."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from command_line import Shell, at_forge, forge, shell

from markers.hooks import EVENTS, settings

__all__ = ["at_forge", "forge", "shell"]

PAGE = (Path(__file__).parents[1] / "docs" / "hooks.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The one block of the page in *language*."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return str(found)


CLAUDE, CODEX = block("json"), block("toml")
DOCUMENTS: dict[str, Any] = {"claude": json.loads(CLAUDE), "codex": tomllib.loads(CODEX)}


@pytest.mark.parametrize("harness", DOCUMENTS)
def test_pasted_settings_name_every_event_once(harness: str) -> None:
    """Both examples have one entry for each of our hooks, under that hook's own event."""
    found = settings.entries(DOCUMENTS[harness])
    assert sorted(entry.event for entry in found) == sorted(EVENTS.values())
    for entry in found:
        assert settings.flaw(entry, lambda _program: True) is None
        assert entry.words[2:] == ()


@pytest.mark.parametrize("harness", DOCUMENTS)
def test_pasted_commands_run(shell: Shell, harness: str) -> None:
    """Each command line, run by a shell as harnesses do, answers its event."""
    (shell.top / "SESSION-STATE.md").write_text("## Constraints\n- x\n", encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{shell.env['PATH']}"
    event = json.dumps({"trigger": "auto", "tool_input": {"command": "docker run y"}})
    for name, groups in DOCUMENTS[harness]["hooks"].items():
        ran = subprocess.run(
            ["sh", "-c", groups[0]["hooks"][0]["command"]],
            input=event,
            cwd=shell.top,
            env={**shell.env, "PATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        assert ran.stderr == ""
        if name != "PreCompact":
            assert json.loads(ran.stdout)["hookSpecificOutput"]["hookEventName"] == name
    assert (shell.top / ".codex/session-state.checkpoints").exists()


def test_page_names_the_figures_of_the_code() -> None:
    """The bounds that the page states are those that hold."""
    from markers.cli.hooking import LISTENING
    from markers.hooks import framing, guard, tracked

    assert f"at most {framing.LIMIT:,} bytes" in PAGE
    assert (LISTENING, tracked.PATIENCE) == (5, 2)
    for words in ("docker run", "docker compose up", "docker-compose up", "podman run"):
        assert f"`{words}`" in PAGE
        assert guard.provisions(f"{words} x")


def test_ignored_lines_cover_what_is_written(shell: Shell) -> None:
    """The lines for .gitignore keep all files of the hooks out of git."""
    (shell.top / ".gitignore").write_text(block("gitignore"), encoding="utf-8")
    (shell.top / "SESSION-STATE.md").write_text("## Constraints\n- x\n", encoding="utf-8")
    event = json.dumps({"tool_input": {"command": "docker run y"}}).encode()
    for where in ("", str(shell.top)):
        shell.export(CLAUDE_PROJECT_DIR=where)
        for name in EVENTS:
            assert shell.run("hook", name, stdin=event).code == 0
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    done = subprocess.run(status, cwd=shell.top, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["??", ".gitignore"]


def entry(event: str, command: str) -> dict[str, Any]:
    """A settings document with one command."""
    return {"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}}


@pytest.mark.parametrize(
    ("event", "command", "wrong"),
    [
        ("SessionStart", "persist-marker hook session-start", None),
        ("SessionStart", "/opt/bin/persist-marker hook session-start || true", None),
        ("SessionStart", '"$HOME/.local/bin/persist-marker" hook session-start', None),
        ("SessionStart", "persist-marker hook sesion-start", "no hook"),
        ("SessionStart", "persist-marker hook", "no hook"),
        ("PreCompact", "persist-marker hook session-start", "the hook of SessionStart"),
        ("Stop", "persist-marker hook pre-compact", "the hook of PreCompact"),
        ("SessionStart", "missing/persist-marker hook session-start", "no such program"),
    ],
)
def test_what_is_wrong_with_an_entry(event: str, command: str, wrong: str | None) -> None:
    """An entry has to name one of our hooks, under its own event, and a program that is there."""
    (found,) = settings.entries(entry(event, command))
    flaw = settings.flaw(found, lambda program: not program.startswith("missing"))
    assert (flaw is None) == (wrong is None)
    assert wrong is None or wrong in str(flaw)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {"hooks": []},
        {"hooks": {"SessionStart": {}}},
        {"hooks": {"SessionStart": [3, {"hooks": [None, {"command": 3}]}]}},
        entry("SessionStart", "other-program hook session-start"),
        entry("SessionStart", "persist-marker read --number 1"),
        entry("SessionStart", "persist-marker 'hook"),
    ],
)
def test_what_is_not_ours_is_left_alone(document: object) -> None:
    """Other programs' entries, and documents of another form, are nobody's fault here."""
    assert settings.entries(document) == []


def check(shell: Shell, name: str) -> dict[str, str]:
    """What ``doctor`` says of one thing."""
    ran = shell.run("doctor", "--json")
    (found,) = [each for each in ran.document["checks"] if each["name"] == name]
    assert ran.code == 1 or found["status"] != "fail"
    return dict(found)


def put(path: Path, text: str) -> None:
    """Write a settings file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_doctor_and_hooks(shell: Shell) -> None:
    """None set up is fine; those of both harnesses are found; a broken entry fails."""
    assert check(shell, "hooks")["status"] == "ok"
    shell.export(PATH=f"{Path(sys.executable).parent}{os.pathsep}{shell.env['PATH']}")
    put(shell.home / ".claude/settings.json", CLAUDE)
    put(shell.top / ".codex/config.toml", CODEX)
    found = check(shell, "hooks")
    assert found["status"] == "ok"
    assert all(found["detail"].count(event) == 2 for event in EVENTS)
    put(shell.top / ".claude/settings.local.json", CLAUDE.replace("session-start", "start"))
    found = check(shell, "hooks")
    assert found["status"] == "fail"
    assert "settings.local.json" in found["detail"]
    assert found["mend"] == "docs/hooks.md"
    put(shell.top / ".claude/settings.local.json", "{")
    assert check(shell, "hooks")["status"] == "warn"
    (shell.top / ".claude/settings.local.json").unlink()
    os.mkfifo(shell.top / ".claude/settings.local.json")
    shell.export(PATH=os.defpath)
    assert check(shell, "hooks")["status"] == "fail"  # the program is not on PATH any more


def test_doctor_and_local_state(shell: Shell) -> None:
    """State that git tracks fails with its mend, state that is not ignored is a warning."""
    assert check(shell, "local state")["status"] == "ok"
    for name in (".agent/sessions/latest.yaml", ".claude/survey-guard.warns"):
        put(shell.top / name, "x\n")
        found = check(shell, "local state")
        assert (found["status"], Path(name).name in found["detail"]) == ("warn", True)
        subprocess.run(["git", "add", "-f", name], cwd=shell.top, check=True)
        found = check(shell, "local state")
        assert found["status"] == "fail"
        mend = found["mend"].split("`")[1]
        subprocess.run(["sh", "-c", mend], cwd=shell.top, check=True, capture_output=True)
        put(shell.top / ".gitignore", f"{block('gitignore')}\n")
        assert check(shell, "local state")["status"] == "ok"
        (shell.top / ".gitignore").unlink()
        (shell.top / name).unlink()

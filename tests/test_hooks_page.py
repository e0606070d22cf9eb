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
        assert entry.line == f"persist-marker hook {entry.call.event}"


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
    assert f"above {framing.LONGEST:,} bytes" in PAGE
    assert f"above {guard.MOST // 1024} KiB" in PAGE
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
    put(shell.top / ".claude/settings.local.json", CLAUDE + " " * 1024 * 1024)
    found = check(shell, "hooks")
    assert (found["status"], "too large" in found["detail"]) == ("warn", True)
    (shell.top / ".claude/settings.local.json").unlink()
    os.mkfifo(shell.top / ".claude/settings.local.json")
    shell.export(PATH=os.defpath)
    assert check(shell, "hooks")["status"] == "fail"  # the program is not on PATH any more


def test_doctor_and_entries_that_may_be_wrong(shell: Shell) -> None:
    """What no harness runs, or may not run as it was meant, is a warning."""
    own = shell.home / ".claude/settings.json"
    document = json.loads(CLAUDE.replace("persist-marker", f"{sys.executable} -m markers"))
    put(own, json.dumps(document))
    assert check(shell, "hooks")["status"] == "ok"
    put(own, json.dumps({**document, "disableAllHooks": True}))
    found = check(shell, "hooks")
    assert (found["status"], "`disableAllHooks`" in found["detail"]) == ("warn", True)
    put(own, '{"disableAllHooks": true}')
    assert check(shell, "hooks")["status"] == "ok"  # there are none that could be meant
    put(own, json.dumps(document).replace("session-start", "session-start --json"))
    found = check(shell, "hooks")
    assert (found["status"], "--json" in found["detail"]) == ("warn", True)


def test_doctor_and_a_git_that_does_not_tell(shell: Shell) -> None:
    """State of which git does not tell is a warning: hooks do not show it."""
    put(shell.top / "SESSION-STATE.md", "x\n")
    put(shell.top / ".gitignore", block("gitignore"))
    assert check(shell, "local state")["status"] == "ok"
    (shell.top / ".git/HEAD").write_text("nonsense\n", encoding="utf-8")
    found = check(shell, "local state")
    assert (found["status"], "git does not tell" in found["detail"]) == ("warn", True)


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

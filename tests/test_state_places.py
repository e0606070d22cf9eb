"""Where stores lie when variables name links or nothing, and what git would take in."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Shell, shell

from markers.caches.places import Surroundings, default
from markers.errors import Usage
from markers.paths import Roots

__all__ = ["shell"]

UPDATE = ("--mode", "M", "--task", "T", "--status", "S", "--summary", "X")
MAKERS = {
    "session-md init": "SESSION-STATE.md*",
    "session-md show": "SESSION-STATE.md*",
    "session-md thread x": "SESSION-STATE.md*",
    f"session-yaml update {' '.join(UPDATE)}": ".agent/sessions/",
}


def surrounded(shell: Shell, **environ: str) -> Surroundings:
    """Where a program runs that has these variables."""
    return Surroundings(environ=environ, directory=shell.top, top=shell.top, allowed=Roots(()))


@pytest.mark.parametrize("words", MAKERS)
def test_md_and_yaml_13_a_file_that_git_would_take_in_is_told_once(
    shell: Shell, words: str
) -> None:
    """The verb that makes the file names the line for .gitignore; the next one says nothing."""
    verb = ("state", *words.split(), "--json")
    (warning,) = shell.run(*verb).document["warnings"]
    assert f"add {MAKERS[words]} to .gitignore" in warning
    assert shell.run(*verb).document["warnings"] == []


@pytest.mark.parametrize("words", MAKERS)
def test_md_and_yaml_13_that_line_is_enough(shell: Shell, words: str) -> None:
    """With it nothing is told, and git's status is clean."""
    (shell.top / ".gitignore").write_text(f"{MAKERS[words]}\n.gitignore\n.tmp/\n")
    assert shell.run("state", *words.split(), "--json").document["warnings"] == []
    status = ("git", "status", "--porcelain")
    assert subprocess.run(status, cwd=shell.top, capture_output=True, check=True).stdout == b""


@pytest.mark.parametrize("words", MAKERS)
def test_md_and_yaml_13_outside_a_checkout_git_is_not_asked(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """Where there is no checkout there is nothing to tell."""
    monkeypatch.chdir(shell.home)
    assert shell.run("state", *words.split(), "--json").document["warnings"] == []


@pytest.mark.parametrize(
    ("words", "inside"),
    [
        ("session-md thread x", "SESSION-STATE.md"),
        (f"session-yaml update {' '.join(UPDATE)}", ".agent/sessions/latest.yaml"),
    ],
)
def test_a_linked_project_is_the_users_choice(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: str, inside: str
) -> None:
    """Links on the way to the project that the harness names are followed, those below are not."""
    monkeypatch.chdir(shell.home)
    real, link = shell.home / "real", shell.home / "link"
    real.mkdir()
    link.symlink_to(real)
    shell.export(CLAUDE_PROJECT_DIR=str(link))
    assert shell.run("state", *words.split()).code == 0
    assert (real / inside).is_file()
    store = words.split()[0]
    named = shell.run("state", store, "--file", str(link / inside), "where", "--json")
    assert named.document["path"] == str(real / inside)
    (real / inside).rename(real / "kept")
    (real / inside).symlink_to(real / "kept")
    assert shell.run("state", *words.split()).code == 3


def test_a_linked_session_memory_is_the_users_choice(shell: Shell) -> None:
    """So it is with the root of session memory."""
    real, link = shell.home / "real", shell.home / "link"
    real.mkdir()
    link.symlink_to(real)
    shell.export(MARKERS_MEMORY_ROOT=str(link))
    assert shell.run("state", "memory", "review-state", "set", "--id", "12").code == 0
    assert (real / "review-state-12.md").is_file()


def test_a_file_that_a_variable_names_may_lie_behind_a_link(shell: Shell) -> None:
    """The directory of a file that the user's variable names is the user's own, too."""
    real, link = shell.home / "real", shell.home / "link"
    real.mkdir()
    link.symlink_to(real)
    (real / "sessions.json").write_text('{"sessions": {}}')
    shell.export(AGENT_BOX_SESSIONS_FILE=str(link / "sessions.json"))
    assert shell.run("state", "agent-box", "add", "portal").code == 0
    assert "portal" in (real / "sessions.json").read_text()


@pytest.mark.parametrize("verb", [("init",), ("thread", "x"), ("show",), ("digest",), ("where",)])
@pytest.mark.parametrize("spelt", ["default", "named"])
def test_md_09_a_project_that_is_not_there_is_not_made(
    shell: Shell, verb: tuple[str, ...], spelt: str
) -> None:
    """A misspelt CLAUDE_PROJECT_DIR is told by its name, and no directory is made."""
    missing = shell.home / "mispelt"
    shell.export(CLAUDE_PROJECT_DIR=str(missing))
    option = ("--file", str(missing / "SESSION-STATE.md")) if spelt == "named" else ()
    ran = shell.run("state", "session-md", *option, *verb, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (2, "project-missing")
    assert "CLAUDE_PROJECT_DIR" in ran.err
    assert not missing.exists()


def test_an_empty_home_is_none(shell: Shell) -> None:
    """HOME= counts as unset: the system's word for the home directory is taken."""
    shell.export(HOME="")
    here = surrounded(shell)
    assert here.home == Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert default("agent-box", here).root == here.home / ".config/agent-box"
    assert surrounded(shell, HOME="/srv/x").home == Path("/srv/x")


def test_no_home_at_all_is_told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system does not know the user either, nothing is guessed."""

    def unknown(_uid: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(Usage, match="HOME is not set"):
        default("side-dir", surrounded(shell))


def symbolic(path: Path, target: Path) -> None:
    """A link by name."""
    path.symlink_to(target)


def hard(path: Path, target: Path) -> None:
    """A second name."""
    path.hardlink_to(target)


READERS: dict[str, list[tuple[str, ...]]] = {
    "SESSION-STATE.md": [("session-md", "show"), ("session-md", "digest")],
    "latest.yaml": [("session-yaml", "show"), ("session-yaml", "boot")],
    "session-state.json": [("trusted-memory", "show")],
    "user_profile.md": [("trusted-memory", "address", "get", "current_home")],
    "sessions.json": [("agent-box", "launch-id", "portal")],
}
OPTIONS = {"user_profile.md": "--profile", "sessions.json": "--registry"}


@pytest.mark.parametrize("make", [symbolic, hard])
@pytest.mark.parametrize("name", READERS)
def test_what_a_writer_refuses_a_reader_refuses(
    shell: Shell, name: str, make: Callable[[Path, Path], None]
) -> None:
    """A link, symbolic or hard, is exit 3 for readers as it is for writers."""
    (shell.scratch / "target").write_text("{}")
    make(shell.scratch / name, shell.scratch / "target")
    option = OPTIONS.get(name, "--file")
    for store, *verb in READERS[name]:
        ran = shell.run("state", store, option, f".tmp/{name}", *verb, "--json")
        assert (ran.code, ran.document["action"]) == (3, "refused"), ran

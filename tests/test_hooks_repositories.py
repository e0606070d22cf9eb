"""Repositories of odd shape, and gits that do not tell: what they have is found all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Shell, shell
from test_hooks_trust import NOTES, STATE, git, noted, repository

from markers import programs
from markers.hooks import tracked
from markers.hooks.tracked import Standing, standing

__all__ = ["shell"]


def held(at: Path) -> Path:
    """A repository that has the notes in a commit; the answer is the notes' path."""
    git(repository(at), "add", noted(at).name)
    git(at, "commit", "-q", "-m", "notes")
    return at / STATE


def _work_tree_above(at: Path) -> Path:
    below = repository(at / "a/b")
    git(below, "config", "core.worktree", str(at))
    path = noted(below)
    git(below, "add", STATE)
    return path


def _work_tree_below(at: Path) -> Path:
    repository(at)
    git(at, "config", "core.worktree", str(at / "a"))
    path = noted(at / "a")
    git(path.parent, "add", STATE)
    return path


def _work_tree_elsewhere(at: Path) -> Path:
    path = held(at)
    git(at, "config", "core.worktree", str(at.parent))
    return path


def _no_index(at: Path) -> Path:
    path = held(at)
    (at / ".git/index").unlink()
    return path


def _taken_out_of_the_index(at: Path) -> Path:
    path = held(at / "a")
    git(at / "a", "rm", "-q", "--cached", STATE)
    return path


def _emptied(at: Path) -> Path:
    path = held(at)
    git(at, "read-tree", "--empty")
    return path


def _odd_commit(at: Path) -> Path:
    """Names that git could take for patterns, and for options of its own."""
    repository(at)
    path = noted(at / "*[a]/:(top)\n\\/-x")
    git(at, "add", ".")
    git(at, "commit", "-q", "-m", "notes")
    git(at, "rm", "-rq", "--cached", ".")
    return path


def _odd_index(at: Path) -> Path:
    repository(at)
    path = noted(at / "*[A]?/:(top)\n\\/-x")
    git(at, "add", ".")
    return path


def _submodule(at: Path) -> Path:
    held(at.with_name("origin"))
    repository(at)
    source = str(at.with_name("origin"))
    git(at, "-c", "protocol.file.allow=always", "submodule", "add", "-q", source, "a/sub")
    git(at, "commit", "-q", "-m", "submodule")
    (at / "a/sub/.git").unlink()
    return at / "a/sub" / STATE


def _submodule_of_the_commit(at: Path) -> Path:
    path = _submodule(at)
    (at / ".git/index").unlink()
    return path


def _no_work_tree(at: Path) -> Path:
    path = held(at)
    git(at, "config", "core.bare", "true")
    return path


HAVING: tuple[Callable[[Path], Path], ...] = (
    *(_work_tree_above, _work_tree_below, _work_tree_elsewhere, _no_index, _taken_out_of_the_index),
    *(_emptied, _odd_commit, _odd_index, _submodule, _submodule_of_the_commit, _no_work_tree),
)


@pytest.mark.parametrize("has", HAVING, ids=lambda has: has.__name__.strip("_"))
def test_what_a_repository_has_is_tracked(shell: Shell, has: Callable[[Path], Path]) -> None:
    """Index, commit and submodules count, wherever the work tree begins."""
    path = has(shell.home / "theirs")
    assert standing(path, shell.env) is Standing.TRACKED
    shell.export(CLAUDE_PROJECT_DIR=str(path.parent))
    ran = shell.run("hook", "session-start", stdin=b"{}")
    assert (ran.code, ran.out) == (0, b"")
    assert "tracked by git" in ran.err


def _without_commits(at: Path) -> Path:
    at.mkdir()
    git(at, "init", "-q")
    return noted(at)


def _committed_away(at: Path) -> Path:
    path = held(at)
    git(at, "rm", "-q", "--cached", STATE)
    git(at, "commit", "-q", "-m", "mine alone")
    return path


def _of_another_directory(at: Path) -> Path:
    held(at)
    return noted(at / "a")


def _similar_names(at: Path) -> Path:
    repository(at)
    noted(at / "xSESSION-STATE.md")
    noted(at, "SESSION-STATE.mdx")
    noted(at / "a", "b")
    git(at, "add", ".")
    return noted(at / "a*")


def _beside_worktrees(at: Path) -> Path:
    """A bare repository that .git names, its worktrees beside it, as some like to work."""
    held(at.with_name("origin"))
    source = str(at.with_name("origin"))
    subprocess.run(["git", "clone", "-q", "--bare", source, str(at / ".bare")], check=True)
    (at / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    return noted(at / "notes")


LACKING: tuple[Callable[[Path], Path], ...] = (
    *(_without_commits, _committed_away, _of_another_directory, _similar_names, _beside_worktrees),
)


@pytest.mark.parametrize("lacks", LACKING, ids=lambda lacks: lacks.__name__.strip("_"))
def test_what_no_repository_has_is_shown(shell: Shell, lacks: Callable[[Path], Path]) -> None:
    """A file of one's own is shown in a repository of any shape."""
    path = lacks(shell.home / "mine")
    assert standing(path, shell.env) is Standing.UNTRACKED
    shell.export(CLAUDE_PROJECT_DIR=str(path.parent))
    ran = shell.run("hook", "session-start", stdin=b"{}")
    assert (b"obey" in ran.out, ran.err) == (True, "")


def test_a_repository_that_variables_name_is_asked_too(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who keeps the history elsewhere says so by GIT_DIR and GIT_WORK_TREE."""
    at, history = shell.home / "mine", shell.home / "history.git"
    path = noted(at)
    git(shell.home, "init", "-q", "--bare", str(history))
    git(at, f"--git-dir={history}", "--work-tree=.", "add", STATE)
    monkeypatch.chdir(at)
    assert standing(path, shell.env) is Standing.OUTSIDE
    for tree in (".", str(at)):
        named = {"GIT_DIR": "../history.git", "GIT_WORK_TREE": tree}
        assert standing(path, {**shell.env, **named}) is Standing.TRACKED
    other = {"GIT_DIR": str(history), "GIT_WORK_TREE": str(shell.top)}
    assert standing(path, {**shell.env, **other}) is Standing.UNTRACKED
    assert standing(path, {**shell.env, "GIT_DIR": "/nowhere"}) is Standing.UNTOLD
    assert standing(path, {**shell.env, "GIT_DIR": ""}) is Standing.OUTSIDE


def fake_git(shell: Shell, script: str) -> dict[str, str]:
    """Variables with which a script is called for git."""
    program = shell.home / "bin/git"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return {**shell.env, "PATH": f"{program.parent}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    "script",
    ["echo warning: x >&2", "exit 1", "exit 3", "kill -9 $$", "yes", "yes >&2", "exec /nowhere"],
)
def test_a_git_that_does_not_answer_plainly_does_not_tell(shell: Shell, script: str) -> None:
    """A complaint, another exit code, or words without end are not taken for "untracked"."""
    path = noted(shell.top)
    began = time.monotonic()
    for command in ("ls-files", "*"):
        words = f'case "$*" in *{command}*) {script};; *) echo;; esac'
        assert standing(path, fake_git(shell, words)) is not Standing.TRACKED
        if command == "ls-files" or script != "exit 1":
            assert standing(path, fake_git(shell, words)) is Standing.UNTOLD
    assert time.monotonic() - began < 2 * tracked.PATIENCE


def test_what_is_heard_is_bounded() -> None:
    """Of either stream so many bytes and no more; standard error does not stand in the way."""
    told = programs.hear(["sh", "-c", "echo a; echo b >&2; exit 3"], seconds=9, most=2)
    assert (told.code, told.out, told.err) == (3, b"a\n", b"b\n")
    for script in ("echo ab", "echo ab >&2", "exec >&- 2>&-; sleep 30"):
        with pytest.raises(programs.Silent):
            programs.hear(["sh", "-c", script], seconds=0.2, most=2)


def test_who_stops_a_hook_stops_git(shell: Shell) -> None:
    """Git, and what git has started, does not outlive a hook that is told to end."""
    noted(shell.top)
    env = fake_git(shell, f"sleep 60 & echo $! > {shell.home}/child; wait")
    process = subprocess.Popen(
        shell.command("hook", "session-start"),
        cwd=shell.top,
        env=env,
        stdin=subprocess.DEVNULL,
    )
    child = shell.home / "child"
    while not (child.exists() and child.read_text()):
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            os.kill(int(child.read_text()), 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{child.read_text().strip()}/stat").read_text().split()[2] == "Z":
            return  # it is dead, and nobody has asked yet
        time.sleep(0.01)
    pytest.fail("what git has started goes on")


def test_another_spelling_is_not_shown(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file answers to any case, the notes are the file that is spelled as they are."""
    noted(shell.top, STATE.lower())

    def folding(usual: Callable[..., Any]) -> Callable[..., Any]:
        def asked(path: Any, *more: Any, **options: Any) -> Any:
            if isinstance(path, str | os.PathLike) and os.fspath(path).endswith(STATE):
                path = os.fspath(path).removesuffix(STATE) + STATE.lower()
            return usual(path, *more, **options)

        return asked

    for name in ("open", "stat", "lstat"):
        monkeypatch.setattr(os, name, folding(getattr(os, name)))
    ran = shell.run("hook", "session-start", stdin=b"{}")
    assert (ran.code, ran.out, ran.err.count("\n")) == (0, b"", 1)
    assert "spelled otherwise" in ran.err


@pytest.mark.parametrize("how", ["tracked", "untold"])
def test_no_line_is_added_to_a_log_of_gits(shell: Shell, how: str) -> None:
    """A log that git tracks, or may track, stays as it is; that is told, and the advice given."""
    logs = [shell.top / ".codex" / name for name in ("session-state.checkpoints",)]
    logs.append(shell.top / ".codex/survey-guard.warns")
    for log in logs:
        log.parent.mkdir(exist_ok=True)
        log.write_text("theirs\n", encoding="utf-8")
    git(shell.top, "add", "-f", ".codex")
    if how == "untold":
        (shell.top / ".git/HEAD").write_text("nonsense\n", encoding="utf-8")
    event = b'{"trigger": "auto", "tool_input": {"command": "docker run x"}}'
    for name, shown in (("pre-compact", False), ("pre-tool-use", True)):
        ran = shell.run("hook", name, stdin=event)
        assert (ran.code, b"survey-before-act" in ran.out) == (0, shown)
        assert ran.err.count("\n") == 1
        assert "nothing is added to .codex/" in ran.err
    assert [log.read_text("utf-8") for log in logs] == ["theirs\n"] * 2


def test_a_linked_state_counts_as_none(shell: Shell) -> None:
    """The log says whether there are notes that could be shown, and a link is not followed."""
    (shell.home / "other").write_text(NOTES, encoding="utf-8")
    (shell.top / STATE).symlink_to(shell.home / "other")
    ran = shell.run("hook", "pre-compact", stdin=b"{}")
    assert (ran.code, ran.err.count("\n")) == (0, 1)
    log = (shell.top / ".codex/session-state.checkpoints").read_text("utf-8")
    assert log == "compaction-checkpoint trigger=unknown state_present=no\n"

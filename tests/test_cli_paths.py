"""No option of any command names a file outside its bounds: the whole command line is walked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from command_line import TARGET, Ran, Shell, at_forge, forge, shell

from markers.cli.paths import BoundedPath
from markers.cli.root import root
from markers.forge import Forge
from markers.hooks import event_of

__all__ = ["at_forge", "forge", "shell"]

PATH_WORDS = ("file", "path", "dir", "db", "database", "folder", "journal", "contract", "manifest")
DIRECTORIES = ("contract", "side-dir", "live-dir", "transcripts", "memory")
UNBOUNDED = (click.Path, click.File)
NEEDED = {
    "write": [*TARGET, "--body-file", ".tmp/good.md"],
    "read": [*TARGET],
    "list": ["--number", "12"],
    "lint": [".tmp/good.md"],
    "ledger": ["--number", "12", "--mode", "plan"],
    "mutex acquire": ["--number", "12"],
    "mutex adopt": ["--number", "12"],
    "mutex resolve": ["--number", "12"],
    "delete": [*TARGET],
    "reconcile": ["--row", "SMC-01", "--number", "12"],
    "restore": ["1"],
    "registry show": ["plan-issue"],
    "audit show": ["1"],
    "audit prune": ["--older-than", "1"],
    "forge serve": ["--port", "0"],
    "state memory put": ["plan-issue", "--id", "12", "--body-file", ".tmp/good.md"],
    "state memory run-once check": ["--id", "12", "--body-file", ".tmp/good.md"],
    "state memory run-once mark": ["--id", "12", "--body-file", ".tmp/good.md"],
}
"""What each command needs besides the path under test."""
VERBS: dict[Any, list[str]] = {
    "registry": ["list"],
    "audit": ["log"],
    "queue": ["list"],
    "mutex": ["acquire", "--number", "12"],
    "forge": ["serve", "--port", "0"],
    "state": ["session-md", "where"],
    "state session-md": ["show"],
    "state session-yaml": ["show"],
    "state trusted-memory": ["show"],
    "state trusted-memory pending": ["clear"],
    "state trusted-memory address": ["get", "current_home"],
    "state agent-box": ["launch-id", "portal"],
    "state memory": ["put", "plan-issue", "--id", "12", "--body-file", ".tmp/good.md"],
}
"""What follows a group's own options; that of one option is of that option's alone."""


def leaves(group: click.Group, above: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """All commands that do something, by their full name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, (*above, name))
        else:
            yield " ".join((*above, name)), command


def commands(group: click.Group) -> Iterator[click.Command]:
    """All commands and groups, the root included."""
    yield group
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from commands(command) if isinstance(command, click.Group) else [command]


def words_of(param: click.Parameter) -> set[str]:
    """The words by which a parameter is known to its users."""
    names = [*param.opts, str(param.name), param.metavar or ""]
    return {word.lower() for name in names for word in name.replace("_", "-").split("-")}


def takes_path(param: click.Parameter) -> bool:
    """Whether type or name says that it is a path."""
    sounds = any(part in PATH_WORDS for word in words_of(param) for part in word.split("|"))
    flag = isinstance(param, click.Option) and param.is_flag
    return isinstance(param.type, BoundedPath) or (sounds and not flag)


def inner_groups(group: click.Group, above: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """All groups below another, by their full name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield " ".join((*above, name)), command
            yield from inner_groups(command, (*above, name))


PATH_PARAMS = [
    pytest.param(name, param, id=f"{name} {param.opts[0]}")
    for name, command in (*leaves(root), *inner_groups(root))
    for param in command.params
    if takes_path(param)
]


def test_the_walk_finds_what_there_is() -> None:
    """The walk sees the options that are known to name files, on every command."""
    found = {(str(p.values[0]), p.values[1].opts[0]) for p in PATH_PARAMS}
    assert ("write", "--body-file") in found
    assert ("forge serve", "--db") in found
    assert ("registry check", "directory") in found
    for name, _command in leaves(root):
        assert {(name, "--journal"), (name, "--contract")} <= found


def test_every_path_is_bounded() -> None:
    """Whatever takes a path, by type or by name, takes it as ``BoundedPath``."""
    for command in commands(root):
        for param in command.params:
            assert not isinstance(param.type, UNBOUNDED), param
            if takes_path(param):
                assert isinstance(param.type, BoundedPath), f"{command.name} {param.opts}"


@pytest.fixture
def traps(at_forge: Shell) -> dict[str, str]:
    """Ways out of the scratch root, by kind, each as one would type it."""
    outside = at_forge.home / "outside"
    (outside / "families").mkdir(parents=True)
    secret = outside / "secret.md"
    secret.write_text("secret\n", encoding="utf-8")
    scratch = at_forge.scratch
    (scratch / "good.md").write_text("good\n", encoding="utf-8")
    (scratch / "link.md").symlink_to(secret)
    (scratch / "dangling").symlink_to(outside / "new.db")
    (scratch / "linked").symlink_to(outside)
    os.link(secret, scratch / "hard.md")
    os.mkfifo(scratch / "fifo")
    (scratch / "sub").mkdir()
    (scratch / "sub/families").symlink_to(outside / "families")
    return {
        "parent": ".tmp/../../outside/secret.md",
        "harmless parent": ".tmp/sub/../good.md",
        "absolute": str(secret),
        "beside": "pyproject.toml",
        "system": "/etc/passwd",
        "device": "/dev/null",
        "link": ".tmp/link.md",
        "dangling link": ".tmp/dangling",
        "below a link": ".tmp/linked/secret.md",
        "linked directory": ".tmp/linked",
        "hard link": ".tmp/hard.md",
        "fifo": ".tmp/fifo",
        "empty": "",
        "relative to home": "~/outside/secret.md",
        "url": "file:///etc/passwd",
    }


def snapshot(directory: Path) -> dict[str, tuple[int, int]]:
    """Name, size and time of everything below a directory."""
    found = [directory, *sorted(directory.rglob("*"))]
    return {str(p): (p.lstat().st_size, p.lstat().st_mtime_ns) for p in found}


def arguments(name: str, param: click.Parameter, path: str) -> list[str]:
    """The command line that hands *path* to *param*."""
    needed = list(NEEDED.get(name, []))
    if param.opts[0] in needed:
        at = needed.index(param.opts[0])
        del needed[at : at + 2]
    given = [f"{param.opts[0]}={path}"] if isinstance(param, click.Option) else [path]
    verb = VERBS.get((name, param.opts[0]), VERBS.get(name, []))
    return [*name.split(), *needed, *given, *verb, "--json"]


def refusal(ran: Ran, name: str) -> str:
    """The code of a refusal; a hook tells it as its trouble, since failing would stop a prompt."""
    if event_of(name.split()) is None:
        assert (ran.code, ran.document["action"]) == (3, "refused"), ran
        return str(ran.document["reason"]["code"])
    assert (ran.code, ran.document["answer"]) == (0, None), ran
    (trouble,) = ran.document["troubles"]
    assert trouble["detail"] in ran.err
    return str(trouble["code"])


@pytest.mark.parametrize(("name", "param"), PATH_PARAMS)
def test_no_escape(
    at_forge: Shell, forge: Forge, traps: dict[str, str], name: str, param: click.Parameter
) -> None:
    """Every way out is refused on every option that takes a path, before anything is touched."""
    forge.forget()
    if event_of(name.split()) is not None:  # tells the journal, but one of a server
        at_forge.export(MARKERS_JOURNAL="postgresql://db.example/x")
    before = snapshot(at_forge.home)
    for kind, path in traps.items():
        ran = at_forge.run(*arguments(name, param, path))
        assert refusal(ran, name).startswith(("path-", "journal-engine")), kind
        assert "secret\n" not in ran.err + ran.text
    assert snapshot(at_forge.home) == before
    assert not forge.counts


@pytest.mark.parametrize(("name", "param"), PATH_PARAMS)
def test_a_file_is_no_directory(
    at_forge: Shell, traps: dict[str, str], name: str, param: click.Parameter
) -> None:
    """A directory where a file is meant, and a file where a directory is meant, are refused."""
    assert isinstance(param.type, BoundedPath)
    wrong = ".tmp/good.md" if param.type.kind in DIRECTORIES else ".tmp/sub"
    ran = at_forge.run(*arguments(name, param, wrong))
    assert refusal(ran, name).startswith("path-"), ran


def test_escape_inside_a_contract(at_forge: Shell, traps: dict[str, str]) -> None:
    """A link inside a contract directory is refused when it is met."""
    for line in (("registry", "check", ".tmp/sub"), ("registry", "list", "--contract", ".tmp/sub")):
        ran = at_forge.run(*line, "--json")
        assert (ran.code, ran.document["reason"]["code"]) == (3, "path-symlink")


def test_the_root_itself_may_not_be_a_link(at_forge: Shell) -> None:
    """A scratch root that is a symbolic link opens nothing."""
    real = at_forge.home / "real"
    at_forge.scratch.rename(real)
    at_forge.scratch.symlink_to(real)
    (real / "body.md").write_text("text\n", encoding="utf-8")
    ran = at_forge.run("write", *TARGET, "--body-file", ".tmp/body.md", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "path-symlink")


def test_more_roots_by_environment_and_own_file(at_forge: Shell) -> None:
    """Only the user's environment and own file add roots."""
    more, third = at_forge.home / "more", at_forge.home / "third"
    for directory in (more, third):
        directory.mkdir()
        (directory / "body.md").write_text("text\n", encoding="utf-8")
    line = ("write", *TARGET, "--json", "--dry-run", "--body-file")
    assert at_forge.run(*line, str(more / "body.md")).code == 3
    at_forge.export(MARKERS_ROOTS=f"{more}{os.pathsep}")
    assert at_forge.run(*line, str(more / "body.md")).code == 0
    assert at_forge.run(*line, str(third / "body.md")).code == 3
    at_forge.own_file.write_text(f'roots = ["{third}"]\n', encoding="utf-8")
    assert at_forge.run(*line, str(third / "body.md")).code == 0
    at_forge.export(MARKERS_ROOTS="relative")
    assert at_forge.run(*line, str(more / "body.md")).code == 3


def test_journal_flag_takes_names_of_the_own_file(at_forge: Shell) -> None:
    """--journal takes a file below the roots or a name that the user's file defines."""
    elsewhere = at_forge.home / "elsewhere.sqlite3"
    assert at_forge.run("audit", "log", "--journal", str(elsewhere), "--json").code == 3
    assert at_forge.run("audit", "log", "--journal", ".tmp/j.sqlite3", "--json").code == 0
    text = f'journals = {{ team = "{elsewhere}" }}\n'
    at_forge.own_file.write_text(text, encoding="utf-8")
    assert at_forge.write("t", "--journal", "team").code == 0
    assert elsewhere.exists()

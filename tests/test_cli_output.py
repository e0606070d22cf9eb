"""What leaves the command: one document at most, in any locale, to any reader, doing no harm."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command_line import PLAN, TARGET, Shell, at_forge, bodies, forge, shell

import markers.cli
from markers.cli import documents, exits, main
from markers.cli.output import harmless, show
from markers.cli.root import COMMANDS, root
from markers.errors import Usage
from markers.forge import Forge, seed

__all__ = ["at_forge", "forge", "shell"]

LINES = [
    ("--version",),
    ("--help",),
    ("write", "--help"),
    ("audit", "log", "--help"),
    ("list", "--number", "12"),
    ("read", *TARGET),
    ("read", *TARGET, "--all"),
    ("read", *TARGET, "--body"),
    ("registry", "list"),
    ("registry", "show", "plan-issue"),
    ("registry", "check"),
    ("audit", "log"),
    ("audit", "show", "1"),
    ("audit", "verify"),
    ("audit", "export"),
    ("audit", "prune", "--older-than", "1"),
    ("recover",),
    ("restore", "1"),
    ("restore", "999"),
    ("doctor",),
    ("demo",),
    ("nonsense",),
    ("write",),
]


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_exactly_one_document(at_forge: Shell, line: tuple[str, ...]) -> None:
    """With --json every exit prints exactly one document, with its schema version."""
    at_forge.write("text")
    for words in ((*line, "--json"), ("--json", *line)):
        ran = at_forge.run(*words)
        assert ran.out.count(b"\n") == 1
        assert ran.document["schema_version"] == 1
        assert ran.out.isascii()


@pytest.mark.parametrize("line", [x for x in LINES if "--help" not in x], ids=" ".join)
def test_documents_keep_their_keys(shell: Shell, line: tuple[str, ...]) -> None:
    """A command that fails prints the keys that it has when it succeeds."""
    ran = shell.run(*line, "--json")
    name = " ".join(word for word in line[:2] if word.isalpha() and word in ALL_WORDS)
    for key in documents.EMPTY.get(name, {}):
        assert key in ran.document, ran


ALL_WORDS = {word for name in documents.EMPTY for word in name.split()}


def test_bug(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug is exit 70 with one document; the traceback only with -v, and without tokens."""
    token = "forge-" + "very-secret"

    def broken(_self: object) -> None:
        raise RuntimeError(f"boom {token}")

    monkeypatch.setattr(markers.cli.common.Invocation, "contract", property(broken))
    shell.export(GH_TOKEN=token)
    ran = shell.run("registry", "list", "--json")
    assert (ran.code, ran.document["action"]) == (70, "bug")
    assert "boom" not in ran.err
    assert "Traceback" not in ran.err
    loud = shell.run("registry", "list", "--json", "-v")
    assert "Traceback" in loud.err
    assert "boom ***" in loud.err
    assert token not in loud.err + loud.text


def test_interrupt_anywhere(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C before any request is exit 130 with one document, too."""

    def interrupted(_self: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(markers.cli.common.Invocation, "contract", property(interrupted))
    ran = shell.run("registry", "list", "--json")
    assert (ran.code, ran.document["action"]) == (130, "interrupted")


def test_codes_of_what_is_no_action() -> None:
    """Usage, interruption and bugs have the codes of the table."""
    assert exits.of(click.UsageError("x")) == ("usage", 2)
    assert exits.of(Usage("x", "y")) == ("usage", 2)
    assert exits.of(KeyboardInterrupt()) == ("interrupted", 130)
    assert exits.of(ValueError()) == ("bug", 70)


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp437"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii:strict"},
        {"LANG": "", "LC_ALL": ""},
    ],
)
def test_locales(at_forge: Shell, forge: Forge, locale: dict[str, str]) -> None:
    """Whatever the locale, bytes are stored as given, read back exactly, and JSON is the same."""
    text = "e\u0301 \u6f22\u5b57 \U0001f308 gr\u00fc\u00dfe \u2028 end\n"
    body = at_forge.payload(text)
    written = at_forge.spawn("write", *TARGET, "--body-file", body, **locale)
    assert written.code == 0, written.err
    assert bodies(forge)[0] == f"{PLAN}\n\n{text}"
    again = at_forge.spawn("write", *TARGET, "--body-file", "-", stdin=text.encode(), **locale)
    assert again.text.startswith("unchanged ")
    exact = at_forge.spawn("read", *TARGET, "--body", **locale)
    assert exact.out == bodies(forge)[0].encode()
    assert at_forge.spawn("read", *TARGET, "--json", **locale).document["body"] == bodies(forge)[0]
    refused = at_forge.spawn("read", "--family", "\u6f22\u5b57", "--number", "1", **locale)
    assert refused.code == 3, refused.err


def test_closed_stdout(at_forge: Shell, forge: Forge) -> None:
    """A reader that went away changes nothing about the write, and nothing is said about it."""
    body = at_forge.payload("text")
    for how in ("| true", ">&-"):
        line = shlex.join(at_forge.command("write", *TARGET[:3], "12", "--body-file", body, "-v"))
        script = f"set -o pipefail; sleep 0.05; {line} {how}"
        done = subprocess.run(
            ["bash", "-c", script],
            env=at_forge.env,
            cwd=at_forge.top,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b""), how
    assert len(bodies(forge)) == 1


@pytest.mark.parametrize(
    "text",
    ["\x1b[31mred", "a\rb", "a\x07", "\x9b31m", "\u202egnp", "\u2028", "\x7f", "\ud800", "\0"],
)
def test_harmless(text: str) -> None:
    """Control, format and separating characters are shown as escapes."""
    shown = harmless(f"x{text}y")
    assert shown.isprintable()
    assert shown.startswith("x")
    assert "\\" in shown


def test_a_line_stays_one(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Line ends inside what is shown are escapes; only we end lines."""
    show(["a\nb\rc\u2028d", "", "e"])
    assert capsysbinary.readouterr().out == b"a\\nb\\rc\\u2028d\n\ne\n"
    show([])
    assert capsysbinary.readouterr().out == b""


def test_hostile_words_are_harmless(at_forge: Shell, forge: Forge) -> None:
    """What strangers wrote and what the command line says is shown without its escapes."""
    evil = "\x1b]0;owned\x07"
    for words in (
        ("read", "--family", evil, "--number", "1"),
        ("read", "--marker", f"<!-- {evil} -->"),
        ("list", "--number", evil),
        ("registry", "show", evil),
        ("list", "--number", "12", f"--{evil}"),
        (evil,),
    ):
        ran = at_forge.run(*words)
        assert ran.code in (2, 3)
        assert "\x1b" not in ran.err
        assert "\x07" not in ran.err
        assert b"\x1b" not in ran.out


def test_quiet(at_forge: Shell, forge: Forge) -> None:
    """Warnings go to stderr, and -q keeps them to the document."""
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"{PLAN}\n\none", at=forge.clock() - 600)
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"{PLAN}\n\ntwo", at=forge.clock() - 500)
    loud = at_forge.write("text")
    assert "persist-marker: warning: duplicates" in loud.err
    quiet = at_forge.write("more", "-q")
    assert quiet.err == ""
    assert quiet.document["warnings"]


def test_version_is_light(tmp_path: Path) -> None:
    """--version imports neither click nor httpx nor anything else that takes time."""
    script = (
        "import sys; from markers.cli import main; code = main(['--version']);"
        "heavy = {'click', 'httpx', 'yaml', 'jsonschema_rs', 'tenacity', 'markdown_it', 'asyncio',"
        "'importlib.metadata', 'markers.model'};"
        "print(code, sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.splitlines() == [f"persist-marker {markers.__version__}", "0 []"]


@pytest.mark.parametrize("name", COMMANDS)
def test_only_the_called_command_is_imported(name: str) -> None:
    """Asking for one command's help loads that command's module and no other's."""
    script = (
        "import sys; from markers.cli import main; main([sys.argv[1], '--help']);"
        "print(*(m for m in sys.modules if m.startswith('markers.cli.')), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, name], capture_output=True, text=True, check=True
    )
    loaded = {module.removeprefix("markers.cli.") for module in done.stderr.split()}
    assert loaded & set(COMMANDS.values()) == {COMMANDS[name]}
    assert "httpx" not in done.stderr


def test_elsewhere(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """On neither Linux nor macOS there is one clear line."""
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(["list", "--number", "1"]) == 3
    captured = capsys.readouterr()
    assert "Linux and macOS only" in captured.err
    assert captured.err.count("\n") == 1


def all_commands(group: click.Group) -> list[click.Command]:
    """All commands below a group."""
    context = click.Context(group)
    found = [group.get_command(context, name) for name in group.list_commands(context)]
    deep = [c for each in found if isinstance(each, click.Group) for c in all_commands(each)]
    return [*(each for each in found if each is not None), *deep]


def test_every_command_has_an_example_and_its_codes() -> None:
    """Each command's help has an example that one can type, and its exit codes."""
    for command in all_commands(root):
        text = command.get_help(click.Context(command, info_name=command.name))
        assert "Example:" in text, command.name
        assert "persist-marker " in text, command.name
        assert "Exit codes: 0 " in text, command.name
        assert command.short_help, command.name


def test_completion(at_forge: Shell) -> None:
    """The shell's completion knows commands, families and rows."""
    env = {"_PERSIST_MARKER_COMPLETE": "bash_complete"}
    for words, index, wanted in (
        ("persist-marker w", "1", "plain,write"),
        ("persist-marker read --family plan-", "3", "plain,plan-issue"),
        ("persist-marker registry show SMC-01", "3", "plain,SMC-01"),
    ):
        ran = at_forge.spawn(COMP_WORDS=words, COMP_CWORD=index, **env)
        assert wanted in ran.text.splitlines(), ran
    script = at_forge.spawn(_PERSIST_MARKER_COMPLETE="bash_source")
    assert "_PERSIST_MARKER_COMPLETE" in script.text


def test_module_is_the_command(at_forge: Shell) -> None:
    """``python -m markers`` and the installed command are the same."""
    beside = Path(sys.executable).parent / "persist-marker"
    installed = subprocess.run(
        [beside, "registry", "show", "SMC-01", "--json"],
        env=at_forge.env,
        cwd=at_forge.top,
        capture_output=True,
        check=True,
    )
    assert (
        json.loads(installed.stdout)
        == at_forge.spawn("registry", "show", "SMC-01", "--json").document
    )
    assert os.access(beside, os.X_OK)

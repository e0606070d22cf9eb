"""How a run ends: without a command, with a full disk, at Ctrl-C, in a directory that is gone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command_line import PLAN, TARGET, Ran, Shell, at_forge, forge, shell

from markers.cli import exits, main, stems_from_interrupt
from markers.cli.root import root
from markers.errors import Refused
from markers.forge import Forge, seed

__all__ = ["at_forge", "forge", "shell"]


@pytest.mark.parametrize("group", [(), ("forge",), ("audit",), ("registry",)])
def test_no_command(shell: Shell, group: tuple[str, ...]) -> None:
    """Naming no command shows all there are, as help does, and is a usage error."""
    ran = shell.run(*group)
    assert (ran.code, ran.out) == (2, b"")
    lines = ran.err.splitlines()
    assert lines[0].startswith(f"Usage: {' '.join(('persist-marker', *group))} ")
    assert lines[:-1] == shell.run(*group, "--help").text.splitlines()
    assert lines[-1].startswith("persist-marker: USAGE (-, -/-): no command was named")
    assert "\\n" not in ran.err


@pytest.mark.parametrize("line", [("--json",), ("--json", "audit"), ("audit", "--json")])
def test_no_command_for_programs(shell: Shell, line: tuple[str, ...]) -> None:
    """With --json there is one usage document."""
    ran = shell.run(*line)
    assert (ran.code, ran.document["action"]) == (2, "usage")
    assert len(ran.document["reason"]["detail"]) < 100


def onto_full_disk(at: Shell, *words: str, **env: str) -> Ran:
    """Run with a stdout that takes nothing."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            at.command(*words),
            env={**at.env, **env},
            cwd=at.top,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    return Ran(done.returncode, b"", done.stderr.decode())


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_full_disk_after_a_write(at_forge: Shell, forge: Forge, more: tuple[str, ...]) -> None:
    """What happened to the write is said in words, and the exit code is neither 0 nor a bug's."""
    body = at_forge.payload("text")
    ran = onto_full_disk(at_forge, "write", *TARGET, "--body-file", body, *more)
    (comment,) = forge.comments(seed.REPO, seed.ISSUE)
    assert ran.code == exits.UNPRINTED
    assert "all went well, but the result could not be printed (No space left on device)" in ran.err
    assert f"created {PLAN} on acme/widgets#12: comment {comment.id} http" in ran.err
    assert "Traceback" not in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        ("--version",),
        ("--help",),
        ("list", "--number", "12"),
        ("audit", "export"),
        ("registry", "list", "--json"),
        ("forge", "serve"),
        ("demo",),
    ],
    ids=" ".join,
)
def test_full_disk(at_forge: Shell, line: tuple[str, ...]) -> None:
    """A result that cannot be printed is said, not swallowed, whatever it is."""
    at_forge.write("text")
    ran = onto_full_disk(at_forge, *line)
    assert ran.code == exits.UNPRINTED, ran
    assert "No space left on device" in ran.err
    assert "Traceback" not in ran.err
    assert "Exception ignored" not in ran.err


def test_full_disk_after_a_failure(at_forge: Shell) -> None:
    """A failure keeps its own code: stderr has told it."""
    ran = onto_full_disk(at_forge, "read", *TARGET, "--json")
    assert ran.code == 10
    assert "ABSENT" in ran.err


def test_closed_stdout_of_a_version(shell: Shell) -> None:
    """A reader that went away is nobody to complain to."""
    for how in ("| true", ">&-"):
        line = f"set -o pipefail; {sys.executable} -m markers --version {how}"
        script = ["bash", "-c", line]
        done = subprocess.run(
            script, env=shell.env, cwd=shell.top, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b""), how


GONE = [
    ("write", *TARGET, "--body-file", "-"),
    ("list", "--number", "12"),
    ("read", *TARGET),
    ("audit", "log"),
    ("registry", "check", ".tmp/x"),
    ("registry", "list"),
    ("recover",),
]


@pytest.mark.parametrize("line", GONE, ids=" ".join)
def test_working_directory_that_is_gone(
    at_forge: Shell, monkeypatch: pytest.MonkeyPatch, line: tuple[str, ...]
) -> None:
    """A working directory that was removed is one clear line."""
    gone = at_forge.home / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    ran = at_forge.run(*line, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "directory"), ran
    assert "No such file or directory" in ran.err
    assert ran.err.count("\n") == 1
    doctor = at_forge.run("doctor", "--json")
    assert doctor.code == 1
    assert "working directory" in doctor.text


def test_interrupt_in_disguise() -> None:
    """Ctrl-C inside an import comes out as another error; what is our own keeps its meaning."""

    def disguised(kind: type[Exception], how: str) -> Exception:
        try:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as interrupt:
                if how == "cause":
                    raise kind("no module") from interrupt
                if how == "none":
                    raise kind("no module") from None
                raise kind("no module")  # noqa: B904 - that is the point
        except kind as error:
            return error

    for how in ("cause", "none", "context"):
        for kind in (ImportError, SyntaxError, RuntimeError):
            assert exits.of(disguised(kind, how)) == ("interrupted", 130)
    assert exits.of(ImportError("x")) == ("bug", 70)
    assert not stems_from_interrupt(None)
    looped = ValueError()
    looped.__context__ = RuntimeError()
    looped.__context__.__context__ = looped
    assert not stems_from_interrupt(looped)
    refused = Refused("x", "y")
    refused.__context__ = KeyboardInterrupt()
    assert exits.of(refused) == ("refused", 3)


BREAKS = """
import sys
class Breaking:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt:
                raise {error}("broken in the middle")
sys.meta_path.insert(0, Breaking())
from markers.cli import main
sys.argv = ["persist-marker", "registry", "list", "--json"]
sys.exit(main())
"""


@pytest.mark.parametrize("name", ["markers.cli.root", "markers.cli.registry", "markers.contract"])
@pytest.mark.parametrize("error", ["ImportError", "SyntaxError"])
def test_interrupt_while_modules_are_imported(shell: Shell, name: str, error: str) -> None:
    """Whichever module Ctrl-C breaks into, it is an interruption and one document."""
    script = BREAKS.format(name=name, error=error)
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=shell.env,
        cwd=shell.top,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 130, done.stderr
    assert json.loads(done.stdout)["action"] == "interrupted"
    assert b"Traceback" not in done.stderr


LATE = """
import os, signal, sys, threading
from markers.cli import main
sys.argv = ["persist-marker", "registry", "list"]
code = main()
threading._register_atexit(lambda: os.kill(os.getpid(), signal.SIGINT))
sys.exit(code)
"""


def test_interrupt_right_after_success(shell: Shell) -> None:
    """Ctrl-C while the interpreter ends says nothing, and the work stays done."""
    done = subprocess.run(
        [sys.executable, "-c", LATE], env=shell.env, cwd=shell.top, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"plan-issue" in done.stdout


def test_interrupt_while_the_answer_is_printed(at_forge: Shell, forge: Forge) -> None:
    """A reader that does not read is left behind at once, without a second answer."""
    at_forge.write("text " * 20_000)
    process = subprocess.Popen(
        at_forge.command("read", *TARGET, "--json"),
        env=at_forge.env,
        cwd=at_forge.top,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    first = os.read(process.stdout.fileno(), 1)  # the answer has begun, and the pipe is full
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == b""
    assert (first + out).count(b'"schema_version"') == 1


def test_main_as_a_function_leaves_signals_alone(shell: Shell) -> None:
    """Whoever calls ``main`` keeps his own handler."""
    before = signal.getsignal(signal.SIGINT)
    assert main(["registry", "list"]) == 0
    assert signal.getsignal(signal.SIGINT) is before


def test_background_process_goes_on_ignoring(shell: Shell) -> None:
    """Where Ctrl-C is ignored from outside, it stays so."""
    script = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        "from markers.cli import main; sys.argv = ['persist-marker', 'registry', 'list'];"
        "main(); sys.stderr.write(str(signal.getsignal(signal.SIGINT) is signal.SIG_IGN))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=shell.env,
        cwd=shell.top,
        capture_output=True,
        check=True,
    )
    assert done.stderr == b"True"


def test_the_code_of_what_was_not_printed_is_documented() -> None:
    """The code for what could not be printed is in the help's own list."""
    assert f"{exits.UNPRINTED} done, but " in root.get_help(click.Context(root))

"""The survey guard: what counts as setting up a service, what was surveyed, and what is logged."""

from __future__ import annotations

import json
import subprocess
import time

import pytest
from command_line import Shell, shell
from hypothesis import given
from hypothesis import strategies as st

from markers.hooks import guard

__all__ = ["shell"]

FIRES = [
    "docker run nginx",
    "docker run -d --name web nginx",
    "docker compose up",
    "docker compose up -d",
    "docker-compose up",
    "docker-compose up --build web",
    "podman run redis",
    "nerdctl run redis",
    "  docker run nginx  ",
    "docker  run nginx",
    "docker\trun nginx",
    "cd /srv && docker run nginx",
    "cd /srv; docker compose up",
    "docker ps || docker run nginx",
    "docker ps&&docker run nginx",
    "docker ps;docker run nginx",
    "docker run --help; docker run nginx",
    'docker run -e GREETING="hi; there" postgres:16',
    "docker run -h db.internal postgres",
    "docker run nginx --help",
    "docker run \\\n  -d nginx",
    "docker run x\nsurvey-warn cmd=FORGED",
    "docker compose up; docker ps",
    "docker-compose up&&curl localhost",
    "docker compose up;",
    "docker compose up||true",
    "docker compose up>log",
    "docker compose up 2>&1 | tee log",
    "docker run|cat",
    "docker run&",
    "docker run -d nginx --help",
    "docker run -p 80:80 nginx --help",
    "docker run --name --help nginx",
    "docker run -dp 80:80 nginx -h",
    "docker run --rm -it alpine sh -c 'ls --help'",
    "docker run -h db.internal nginx -h",
    "docker compose up | less --help",
    "docker compose up\n--help",
    "docker run -- nginx --help",
]
SILENT = [
    "",
    "docker ps",
    "docker compose ls",
    "docker compose down",
    "docker compose upgrade",
    "docker-compose upload",
    "docker runner",
    "dockerrun x",
    "docker build .",
    "Docker run nginx",
    "echo docker run nginx",
    "printf docker run nginx",
    "gh pr create --title x --body docker run hello-world",
    "git commit -m 'first; docker run nginx'",
    'git commit -m "first && docker run nginx"',
    "echo first\\; docker run nginx",
    "sudo docker run nginx",
    "FOO=1 docker run nginx",
    "time docker run nginx",
    "(docker run nginx)",
    "cat x | docker run -i nginx",
    "sleep 1 & docker run nginx",
    "docker run --help",
    "docker run -h",
    "docker run --version",
    "docker run -d --help",
    "docker run -d -h",
    "docker run -p 80:80 --help",
    "docker run -p80:80 --name=x -dit --rm --help",
    "docker run --help|less",
    "docker run \\\n  --help",
    "docker compose up --build --help",
    "docker compose up web --help",
    "docker compose up -h; true",
    "docker-compose up -d --help >help.txt",
    "docker compose upgrade>log",
    "docker run-x",
    "docker compose up --help",
    "podman run --help",
    "cd x\ndocker run nginx",
    "echo it's; docker run nginx",
    'echo "; docker run nginx',
]


@pytest.mark.parametrize("command", FIRES)
def test_md_14_setting_up_a_service_counts(command: str) -> None:
    """A segment that starts with one of the five words counts, wherever it stands."""
    assert guard.provisions(command)


@pytest.mark.parametrize("command", SILENT)
def test_md_14_nothing_else_counts(command: str) -> None:
    """Other commands, mentions, prefixes, help and version forms, and open quotes do not count."""
    assert not guard.provisions(command)


SURVEYED = frozenset({"rabbitmq", "my-db.v2", "web_1"})


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("docker run -d rabbitmq:3.13-management", True),
        ("docker run -d RabbitMQ", True),
        ("docker run library/rabbitmq", True),
        ("docker run --name=web_1 nginx", True),
        ("docker run my-db.v2", True),
        ("docker run -d rabbitmq-exporter", False),
        ("docker run rabbitmq.local", False),
        ("docker run my-db", False),
        ("docker run postgres", False),
        ("docker run rabbit mq", False),
    ],
)
def test_md_15_a_name_is_a_whole_token(command: str, found: bool) -> None:
    """A surveyed name counts as a whole token, in either case; ., _ and - stay inside tokens."""
    assert guard.was_surveyed(command, SURVEYED) is found


def test_md_15_nothing_surveyed_suppresses_nothing() -> None:
    """Without a survey every service is new."""
    assert not guard.was_surveyed("docker run rabbitmq", frozenset())


@given(st.text())
def test_md_16_no_command_forges_a_line(command: str) -> None:
    """Whatever a command holds, the log gets one line without control characters."""
    line = guard.logged(command)
    assert line.startswith("survey-warn cmd=")
    assert line.splitlines() == [line]
    assert line.isprintable()
    assert len(line) == min(guard.LONGEST, len(command)) + len("survey-warn cmd=")


def test_md_16_line_ends_are_taken_out() -> None:
    """CR, LF and what cannot be printed become blanks; the rest stays as it was typed."""
    assert guard.logged("docker run\r\n\tÜnïcode") == "survey-warn cmd=docker run   Ünïcode"


@given(st.text(alphabet="dockerunps ;&|'\"\\\n-hx", max_size=60))
def test_any_command_is_judged(command: str) -> None:
    """No command makes the guard fail, and what it fires at holds the words."""
    if guard.provisions(command):
        assert "docker" in command


def test_a_long_command_is_judged_in_time() -> None:
    """The longest command that is judged, quotes and separators in it, is so without delay."""
    began = time.process_time()
    assert guard.provisions("'" + "x;" * 30_000 + "' && docker run nginx")
    assert not guard.provisions('echo "' + "\\" * 30_000 + "; docker run nginx")
    for piece in ("docker run x;", "docker  run -d ", "\\\n", "&&", "'a' "):
        command = "docker run " + piece * (guard.MOST // len(piece))
        guard.provisions(command[: guard.MOST])
    assert time.process_time() - began < 2


def test_a_longer_command_is_not_judged() -> None:
    """What is longer is allowed without advice, and costs next to nothing."""
    command = "docker run nginx;"
    assert guard.provisions(command.ljust(guard.MOST))
    assert not guard.provisions(command.ljust(guard.MOST + 1))
    began = time.process_time()
    assert not guard.provisions("docker run nginx" + "&&" * 2_000_000)
    assert time.process_time() - began < 0.5


INFRA = """## Constraints
- [surveyed:postgres] only in the infrastructure it counts

## Existing infrastructure
- [surveyed:RabbitMQ] broker on :5552
- [redis] an old entry
- kafka runs somewhere
- <!-- [surveyed:placeholder] -->
"""


def advised(shell: Shell, command: str) -> bool:
    """Whether the hook advises, in the harness's own form, and permits nothing by itself."""
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash"}
    ran = shell.run(
        *("hook", "pre-tool-use"),
        stdin=json.dumps({**event, "tool_input": {"command": command}}).encode(),
    )
    assert (ran.code, ran.err) == (0, "")
    if not ran.out:
        return False
    (told,) = json.loads(ran.out).values()
    assert told == {"hookEventName": "PreToolUse", "additionalContext": guard.ADVICE}
    return True


def test_md_15_what_suppresses(shell: Shell) -> None:
    """A recorded [surveyed:NAME] suppresses; plain [name], prose and placeholders never do."""
    (shell.top / "SESSION-STATE.md").write_text(INFRA, encoding="utf-8")
    assert not advised(shell, "docker run rabbitmq:3")
    for name in ("postgres", "redis", "kafka", "placeholder", "broker"):
        assert advised(shell, f"docker run {name}"), name
    assert not advised(shell, "docker ps")


def test_md_16_advice_is_logged(shell: Shell) -> None:
    """Each advice leaves a line where the harness keeps its files; no other command does."""
    shell.export(CLAUDE_PROJECT_DIR=str(shell.top))
    for command in ("docker run a\nb", "docker ps", "docker run c"):
        advised(shell, command)
    log = shell.top / ".claude/survey-guard.warns"
    lines = ["survey-warn cmd=docker run a b", "survey-warn cmd=docker run c"]
    assert log.read_text("utf-8").splitlines() == lines


def test_md_16_what_cannot_be_read_allows(shell: Shell) -> None:
    """An unreadable state and an unreadable event allow in silence, and are told on stderr."""
    (shell.top / "SESSION-STATE.md").mkdir()
    event = json.dumps({"tool_input": {"command": "docker run x"}}).encode()
    for stdin in (event, b"{", b"\xff", b"[]"):
        ran = shell.run("hook", "pre-tool-use", stdin=stdin)
        assert (ran.code, ran.out, ran.err.count("\n")) == (0, b"", 1)


@pytest.mark.parametrize(
    "event", [{}, {"tool_input": None}, {"tool_input": {"command": 3}}, {"tool_input": "docker"}]
)
def test_other_tools_are_none_of_its_business(shell: Shell, event: object) -> None:
    """An event without a shell command gets no answer."""
    ran = shell.run("hook", "pre-tool-use", stdin=json.dumps(event).encode())
    assert (ran.code, ran.out, ran.err) == (0, b"", "")


def test_a_tracked_survey_suppresses_nothing(shell: Shell) -> None:
    """A stranger's notes do not talk the guard out of its advice."""
    state = shell.top / "SESSION-STATE.md"
    state.write_text(INFRA, encoding="utf-8")
    subprocess.run(["git", "add", "-f", state.name], cwd=shell.top, check=True)
    stdin = json.dumps({"tool_input": {"command": "docker run rabbitmq"}}).encode()
    ran = shell.run("hook", "pre-tool-use", stdin=stdin)
    assert ran.code == 0
    assert b"survey-before-act" in ran.out
    assert "tracked by git" in ran.err

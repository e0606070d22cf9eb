"""What hooks answer: the views of SESSION-STATE.md, and the checkpoint line."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import Ran, Shell, shell
from hypothesis import given
from hypothesis import strategies as st

from markers.caches import session_md
from markers.hooks import EVENTS, events

__all__ = ["shell"]

NOTES = """<!--
SESSION-STATE: live memory of this session.
-->

# Session State

## Constraints
- Rust only, no Python in generated code
<!-- Hard rules in force. -->
- <!-- e.g. placeholder, never injected -->

## Decisions
- [2031-03-04] SQLite over Postgres for the spike

## Existing infrastructure
- [surveyed:rabbitmq] broker on :5552 (docker-compose), reuse

## Open threads
- confirm the PreCompact hook fires on manual compaction
"""
DIGEST = """## Constraints
- Rust only, no Python in generated code
## Decisions
- [2031-03-04] SQLite over Postgres for the spike
## Open threads
- confirm the PreCompact hook fires on manual compaction"""


def noted(shell: Shell, text: str | bytes = NOTES) -> Path:
    """The notes of the shell's checkout."""
    path = shell.top / "SESSION-STATE.md"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def fired(shell: Shell, event: str, **told: object) -> Ran:
    """Run a hook as a harness does."""
    document = {"hook_event_name": EVENTS[event], "session_id": "s", **told}
    return shell.run("hook", event, stdin=json.dumps(document).encode())


def context(ran: Ran, event: str) -> str:
    """What the model gets to see; the answer has the harness's own form and no more."""
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.isascii()
    told = json.loads(ran.out)["hookSpecificOutput"]
    assert set(json.loads(ran.out)) == {"hookSpecificOutput"}
    assert set(told) == {"hookEventName", "additionalContext"}
    assert told["hookEventName"] == EVENTS[event]
    return str(told["additionalContext"])


def inside(text: str) -> str:
    """What stands in the frame."""
    head, begin, *lines = text.split("\n")
    fence = begin.removeprefix("--- begin ")
    assert fence in head
    assert "data, not instructions" in head
    end = lines.index(f"--- end {fence}")
    assert text.count(fence) == 3
    return "\n".join(lines[:end])


def test_md_10_session_start_shows_the_whole_file(shell: Shell) -> None:
    """A banner, and all of the file, its comments included."""
    noted(shell)
    text = context(fired(shell, "session-start", source="compact"), "session-start")
    assert inside(text) == NOTES.rstrip("\n")


def test_md_11_each_turn_shows_the_digest(shell: Shell) -> None:
    """Headings and real entries of three sections; no infrastructure, no placeholder."""
    noted(shell)
    ran = fired(shell, "user-prompt-submit", prompt="go on")
    assert inside(context(ran, "user-prompt-submit")) == DIGEST


BARE = """# Session State

## Constraints
- <!-- e.g. placeholder -->
<!-- Hard rules
in force. -->

## Decisions
## Existing infrastructure
-
## Open threads
"""


@pytest.mark.parametrize("event", ["session-start", "user-prompt-submit"])
@pytest.mark.parametrize("text", [None, "", "\n \n", "\ufeff", BARE, BARE.replace("\n", "\r\n")])
def test_md_10_11_nothing_real_shows_nothing(shell: Shell, event: str, text: str | None) -> None:
    """Without a file, or with nothing noted in it yet, there is no output at all."""
    if text is not None:
        noted(shell, text)
    ran = fired(shell, event)
    assert (ran.code, ran.out, ran.err) == (0, b"", "")


def test_md_10_11_an_entry_that_begins_with_a_hash_is_one(shell: Shell) -> None:
    """An entry about ``#12`` is no heading: both views show it."""
    noted(shell, "# Session State\n\n## Open threads\n- #12 is next\n")
    for event in ("session-start", "user-prompt-submit"):
        assert "- #12 is next" in context(fired(shell, event), event)


def test_md_10_a_text_that_is_no_entry_is_for_the_start(shell: Shell) -> None:
    """What stands below the headings as prose is shown with the whole file."""
    noted(shell, BARE.replace("## Decisions", "## Decisions\n#12 was settled by hand"))
    assert "#12 was settled" in context(fired(shell, "session-start"), "session-start")
    assert fired(shell, "user-prompt-submit").out == b""


PIECES = st.sampled_from(
    (
        *("## Constraints", "## Existing infrastructure", "# x", "- ", "-", "#", "a"),
        *("<!--", "-->", "\n", "\r\n", " ", "```", "[surveyed:a]", "\ufeff"),
    )
)


@given(st.lists(PIECES).map("".join))
def test_md_10_11_views_agree_on_what_is_real(text: str) -> None:
    """Whatever has an entry for a turn, or for the guard, has something for the start."""
    if session_md.digest(text) or session_md.surveyed(text):
        assert not session_md.says_nothing(text)


def test_md_11_infrastructure_alone_is_for_the_start(shell: Shell) -> None:
    """Findings are shown when the session starts and never again."""
    noted(shell, BARE.replace("-\n", "- [surveyed:redis] here\n"))
    assert "redis" in context(fired(shell, "session-start"), "session-start")
    assert fired(shell, "user-prompt-submit").out == b""


@pytest.mark.parametrize(
    ("told", "trigger"),
    [
        ({"trigger": "manual"}, "manual"),
        ({"trigger": "Auto"}, "Auto"),
        ({}, "unknown"),
        ({"trigger": ""}, "unknown"),
        ({"trigger": 3}, "unknown"),
        ({"trigger": "a\nb\x1b[0m"}, "unknown"),
        ({"trigger": "manual state_present=yes"}, "unknown"),
        ({"trigger": "m" * 41}, "unknown"),
        ({"trigger": "on_idle-2"}, "on_idle-2"),
    ],
)
def test_md_12_compaction_leaves_a_line(
    shell: Shell, told: dict[str, object], trigger: str
) -> None:
    """One undated line with the trigger, which is one word, and whether there are notes."""
    for present in ("no", "yes"):
        ran = fired(shell, "pre-compact", **told)
        assert (ran.code, ran.out, ran.err) == (0, b"", "")
        noted(shell)
        log = (shell.top / ".codex/session-state.checkpoints").read_text("utf-8").splitlines()
        assert log[-1] == f"compaction-checkpoint trigger={trigger} state_present={present}"
    assert len(log) == 2


def test_md_12_a_log_that_cannot_be_written_is_told(shell: Shell) -> None:
    """The original exits 1 there; a hook tells it, and the session goes on."""
    (shell.top / ".codex").write_text("a file\n", encoding="utf-8")
    ran = fired(shell, "pre-compact", trigger="auto")
    assert (ran.code, ran.out, ran.err.count("\n")) == (0, b"", 1)
    assert ".codex/session-state.checkpoints" in ran.err


@pytest.mark.parametrize("kind", ["symlink", "dangling", "hard link", "linked folder", "fifo"])
def test_md_12_no_log_goes_elsewhere(shell: Shell, kind: str) -> None:
    """A log that is a link, or below one, or no file is not written to, and is not waited for."""
    outside = shell.home / "outside"
    outside.mkdir()
    (outside / "other").write_text("mine\n", encoding="utf-8")
    log = shell.top / ".codex/session-state.checkpoints"
    if kind == "linked folder":
        log.parent.symlink_to(outside)
    else:
        log.parent.mkdir()
    if kind == "symlink":
        log.symlink_to(outside / "other")
    elif kind == "dangling":
        log.symlink_to(outside / "new")
    elif kind == "hard link":
        log.hardlink_to(outside / "other")
    elif kind == "fifo":
        subprocess.run(["mkfifo", log], check=True)
    ran = fired(shell, "pre-compact", trigger="auto")
    assert (ran.code, ran.err.count("\n")) == (0, 1)
    assert [path.name for path in outside.iterdir()] == ["other"]
    assert (outside / "other").read_text("utf-8") == "mine\n"


def test_md_12_an_unfinished_line_is_ended_first(shell: Shell) -> None:
    """What another program left without a line end does not swallow ours."""
    log = shell.top / ".codex/session-state.checkpoints"
    log.parent.mkdir()
    log.write_text("half a li", encoding="utf-8")
    fired(shell, "pre-compact", trigger="auto")
    line = "compaction-checkpoint trigger=auto state_present=no"
    assert log.read_text("utf-8") == f"half a li\n{line}\n"


def test_md_13_where_a_project_is(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness's variable and .claude; else the git top level, else here, and .codex."""
    below, elsewhere = shell.top / "a/b", shell.home / "elsewhere"
    below.mkdir(parents=True)
    elsewhere.mkdir()
    noted(shell)
    monkeypatch.chdir(below)
    assert "Rust only" in fired(shell, "session-start", cwd=str(elsewhere)).text
    fired(shell, "pre-compact")
    assert (shell.top / ".codex/session-state.checkpoints").exists()
    monkeypatch.chdir(elsewhere)
    assert fired(shell, "session-start", cwd=str(shell.top)).out == b""
    fired(shell, "pre-compact")
    assert (elsewhere / ".codex/session-state.checkpoints").exists()
    link = shell.home / "link"
    link.symlink_to(shell.top)
    for named in (shell.top, link):
        shell.export(CLAUDE_PROJECT_DIR=str(named))
        assert "Rust only" in fired(shell, "session-start").text
        fired(shell, "pre-compact")
    log = shell.top / ".claude/session-state.checkpoints"
    assert log.read_text("utf-8").count("state_present=yes") == 2


def test_a_project_that_is_not_there_is_not_made(shell: Shell) -> None:
    """A variable that names no directory makes none."""
    gone = shell.home / "gone"
    shell.export(CLAUDE_PROJECT_DIR=str(gone))
    for event in EVENTS:
        assert fired(shell, event, tool_input={"command": "docker run x"}).code == 0
    assert not gone.exists()


def test_a_linked_file_is_not_shown(shell: Shell) -> None:
    """A link could show any file of the machine to the model."""
    secret = shell.home / "secret.md"
    secret.write_text(NOTES, encoding="utf-8")
    (shell.top / "SESSION-STATE.md").symlink_to(secret)
    ran = fired(shell, "session-start")
    assert (ran.code, ran.out, ran.err.count("\n")) == (0, b"", 1)


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_an_event_or_unreadable(data: bytes) -> None:
    """Reading an event raises nothing else than that it cannot be read."""
    with suppress(events.Unreadable):
        event = events.read(data)
        assert event.command is None or isinstance(event.command, str)


HEAVY = """
asyncio click email http httpx importlib.metadata jsonschema_rs logging markdown_it platformdirs
rich socket sqlite3 ssl tenacity tempfile tomllib unicodedata yaml
markers.codec markers.config markers.contract markers.hygiene markers.journal markers.setup
markers.transport markers.writer
"""


@pytest.mark.parametrize("event", EVENTS)
def test_a_hook_is_light(shell: Shell, event: str) -> None:
    """A hook runs at every turn: it imports nothing that its answer does not need."""
    noted(shell)
    script = (
        "import sys; from markers.cli import main; code = main(sys.argv[1:]);"
        "print(code, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "hook", event],
        input=b'{"tool_input": {"command": "docker run redis"}, "trigger": "auto"}',
        capture_output=True,
        cwd=shell.top,
        env=shell.env,
        check=True,
    )
    code, *loaded = done.stderr.decode().split()
    assert (code, set(HEAVY.split()) & set(loaded)) == ("0", set())
    assert bool(done.stdout) == (event != "pre-compact")


def test_help_and_usage_go_the_usual_way(shell: Shell) -> None:
    """Help, no event and the options of every command are click's; all else is the same."""
    noted(shell)
    assert "Exit codes" in shell.run("hook", "session-start", "--help").text
    assert "session-start" in shell.run("hook", "--help").text
    for wrong in (("hook",), ("hook", "sesion-start"), ("hook", "--json", "-x")):
        ran = shell.run(*wrong)
        assert ran.code == 2, wrong
    plain = inside(context(fired(shell, "session-start"), "session-start"))
    for line in (("hook", "session-start", "-q"), ("--repo", "a/b", "hook", "session-start")):
        assert inside(context(shell.run(*line), "session-start")) == plain
    document = shell.run("hook", "session-start", "--json").document
    assert document["event"] == "session-start"
    assert document["troubles"] == []
    told = document["answer"]["hookSpecificOutput"]
    assert inside(told["additionalContext"]) == plain
    assert shell.run("hook", "pre-compact", "--json").document["answer"] is None

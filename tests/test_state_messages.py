"""What the verbs of stores say, and what they leave on a disk that is full."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from boxes import Home, home, shell
from command_line import Shell
from conversations import Conversation, talk
from stores import CODEC, STORE, cabinet, names, putting, state_file

from markers import clock
from markers.caches.engine import Cabinet
from markers.caches.session_md import add, drop, set_entries
from markers.errors import Failed, Refused, Unavailable

__all__ = ["home", "shell", "talk"]


@contextmanager
def somebody_locks(path: Path) -> Iterator[None]:
    """Another program holds the file's lock."""
    held = subprocess.Popen(
        ["flock", f"{path}.lock", "sh", "-c", "echo held; cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert held.stdin is not None
    assert held.stdout is not None
    assert held.stdout.readline() == b"held\n"
    try:
        yield
    finally:
        held.communicate()


def test_box_15_what_went_on_without_the_lock_does_not_deny_it(home: Home) -> None:
    """A warning about a lock that was not had says for how long, and not that nothing was done."""
    with somebody_locks(home.registry):
        ran = home.run("stop", "portal", "--deadline", "0.123456")
    (warning,) = ran.document["warnings"]
    assert (ran.code, home.sessions()["portal"]["stopped"]) == (0, True)
    assert "nothing was written" not in warning
    assert re.search(r"for 0\.[0-9]{1,2} s$", warning), warning


@pytest.mark.parametrize(("wait", "said"), [(9.99987, "10 s"), (0.05, "0.05 s"), (2.5, "2.5 s")])
def test_seconds_are_told_in_hundredths(tmp_path: Path, wait: float, said: str) -> None:
    """What is left of a deadline has no digits that nobody needs."""
    store = Cabinet(STORE, CODEC, state_file(tmp_path, wait=wait))
    held = somebody_locks(tmp_path / "state.json")
    with held, clock.use(clock.FakeClock()), pytest.raises(Unavailable, match=f"for {said}$"):
        store.update(putting("a", 1))


def test_init_tells_what_was_there_already(shell: Shell) -> None:
    """Only a file that was made is called initialized."""
    path = shell.top / "SESSION-STATE.md"
    assert shell.run("state", "session-md", "init").text == f"initialized {path}\n"
    assert shell.run("state", "session-md", "init").text == f"already there: {path}\n"


def test_values_are_shown_as_the_file_spells_them(talk: Conversation) -> None:
    """True is true, null is null, a list is JSON."""
    run = talk.shell.run
    assert run("state", "memory", "review-state", "set", "--id", "12").code == 0
    shown = run("state", "memory", "review-state", "show", "--id", "12").text
    assert "prosecution_complete: false\n" in shown
    words = ("state", "memory", "release-hygiene")
    shown = run(*words, "set", "--touched", "a.md", "--session", "s").text
    assert '["a.md"]' in shown
    assert "None" not in shown


@pytest.mark.parametrize(
    ("ids", "why"),
    [(("12",), "of 2 to 50 different numbers, not of 1"), (("12", "12"), "names each number once")],
)
def test_a_number_that_is_named_twice(talk: Conversation, ids: tuple[str, ...], why: str) -> None:
    """A number twice is told as that, and not as too many."""
    ran = talk.run("path", "plan-bundle", *(word for each in ids for word in ("--id", each)))
    assert (ran.code, ran.document["reason"]["code"]) == (3, "memory-name")
    assert why in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("session-md", "thread", "a\nb"),
        ("trusted-memory", "show"),
        ("agent-box", "stop", "a\nb"),
        ("memory", "rate-limit", "show", "--scope", "a\nb"),
    ],
    ids=" ".join,
)
def test_a_character_that_cannot_be_seen_is_escaped_once(
    talk: Conversation, words: tuple[str, ...]
) -> None:
    """The escape of a line feed has one backslash."""
    talk.shell.export(NANOCLAW_SESSION_NAME="a\nb")
    words = ("trusted-memory", "register") if words[0] == "trusted-memory" else words
    ran = talk.shell.run("state", *words)
    assert ran.code in (2, 3)
    assert r"a\u000ab" in ran.err
    assert r"\\u000a" not in ran.err


def test_choices_are_told_in_one_line(talk: Conversation) -> None:
    """The list of kinds has no escapes of lines and tabulators in it."""
    ran = talk.shell.run("state", "memory", "path")
    assert ran.code == 2
    assert "plan-issue" in ran.err
    assert r"\n" not in ran.err
    assert r"\t" not in ran.err


@pytest.mark.parametrize(
    ("store", "words"),
    [
        ("session-md", ("thread", "a\nb")),
        ("session-yaml", ("--file", "/etc/passwd", "show")),
        ("trusted-memory", ("address", "get", "current_home")),
        ("agent-box", ("stop", "none")),
        ("memory", ("get", "plan-issue", "--id", "1")),
    ],
)
def test_a_failure_names_the_store(talk: Conversation, store: str, words: tuple[str, ...]) -> None:
    """Where other commands name a family, a store's verbs name the store."""
    assert f"({store}, -/-): " in talk.shell.run("state", store, *words).err


@pytest.mark.parametrize(
    ("stamp", "said"), [("3", "upgrade this program"), ("new", "a version is a number")]
)
def test_trusted_22_what_to_do_about_a_version(shell: Shell, stamp: str, said: str) -> None:
    """A newer version wants a newer program; what is no number wants mending."""
    path = shell.scratch / "user_profile.md"
    path.write_text(f"## Addresses\n- schema_version: {stamp}\n- current_home: x\n")
    profile = ("--profile", ".tmp/user_profile.md")
    ran = shell.run("state", "trusted-memory", *profile, "address", "get", "current_home")
    assert ran.code == 1
    assert said in ran.err


def full(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """A disk that takes so many more files to the end, and then none."""
    really, left = os.fsync, [after]

    def fsync(descriptor: int) -> None:
        if left[0] == 0:
            raise OSError(28, "No space left on device")
        left[0] -= 1
        really(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)


def test_a_copy_that_cannot_be_kept_whole_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk there is no half a copy, the broken file stays, and the file is named."""
    path = tmp_path / "state.json"
    path.write_bytes(b"broken")
    full(monkeypatch, 0)
    with pytest.raises(Failed, match=re.escape(f"{path} cannot be written (No space")):
        cabinet(tmp_path).update(putting("a", 1))
    assert names(tmp_path) == {"state.json", "state.json.lock"}
    assert path.read_bytes() == b"broken"


def test_a_text_that_cannot_be_kept_aside_is_not_replaced(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is there an empty file among what is kept aside."""
    talk.file("plan-issue-12.md").write_text("old\n")
    body = talk.shell.payload("new\n")
    full(monkeypatch, 2)
    ran = talk.run("put", "plan-issue", "--id", "12", "--body-file", body)
    assert (ran.code, ran.document["reason"]["code"]) == (1, "state-unwritable")
    assert talk.file("plan-issue-12.md").read_text() == "old\n"
    assert names(talk.root / "kept-aside") <= {".gitignore"}


ALONE = "# T\r\n## Constraints\r- a\r## Decisions\r\n- b\r\n"


def test_md_d_a_carriage_return_alone_is_refused() -> None:
    """Readers differ on whether it ends a line: an entry could land in another section."""
    for change in (
        lambda: add(ALONE, "Constraints", "x"),
        lambda: drop(ALONE, "a"),
        lambda: set_entries(ALONE, "Decisions", ["x"]),
    ):
        with pytest.raises(Refused) as caught:
            change()
        assert caught.value.reason.code == "state-lines"


def test_md_d_a_file_with_carriage_returns_alone_is_shown(shell: Shell) -> None:
    """Reading is no harm; a writer is refused and leaves the file as it is."""
    path = shell.top / "SESSION-STATE.md"
    path.write_bytes(ALONE.encode())
    assert shell.run("state", "session-md", "show").out == ALONE.encode()
    assert shell.run("state", "session-md", "constraint", "x").code == 3
    assert path.read_bytes() == ALONE.encode()


@pytest.mark.parametrize(
    ("kind", "first", "code"),
    [
        ("plan-issue", "<!-- plan-issue-6 -->", 3),
        ("plan-issue", "\ufeff\n <!-- plan-issue-6 --> ", 3),
        ("plan-issue", "<!-- design-issue-5 -->", 3),
        ("design-issue", "<!-- plan-issue-5 -->", 3),
        ("plan-bundle", "<!-- plan-issue-5 -->", 3),
        ("plan-issue", "<!-- plan-issue-5 -->", 0),
        ("design-issue", "<!-- design-issue-5 -->", 0),
        ("plan-issue", "<!-- a comment -->", 0),
        ("plan-issue", "see <!-- plan-issue-6 -->", 0),
    ],
)
def test_memory_01_a_text_with_another_marker_is_refused(
    talk: Conversation, kind: str, first: str, code: int
) -> None:
    """A cache holds its own text, with or without its own marker, and nobody else's."""
    more = ("--id", "7") if kind == "plan-bundle" else ()
    body = talk.shell.payload(f"{first}\n\nPlan.\n")
    ran = talk.run("put", kind, "--id", "5", *more, "--body-file", body)
    assert ran.code == code
    if code:
        assert ran.document["reason"]["code"] == "memory-marker"
        assert not talk.root.exists()

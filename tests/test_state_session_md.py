"""``state session-md``: its acceptance statements, by number, and what it makes of bad input."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Ran, Shell, shell

from markers import clock
from markers.caches.session_md import CODEC, SECTION_OF, STORE, add
from markers.caches.session_template import ORCHESTRATION, TEMPLATE
from markers.paths import LIMIT

__all__ = ["shell"]

BARE = ("init", "init-orchestrator", "show", "digest", "where")
VERBS = (*BARE, "drop", *SECTION_OF)
WRITING = [("init",), ("init-orchestrator",), ("drop", "a"), *((verb, "a") for verb in SECTION_OF)]


def state(shell: Shell, *words: str) -> Ran:
    """One verb."""
    return shell.run("state", "session-md", *words)


def file(shell: Shell) -> Path:
    """Where the file is by default."""
    return shell.top / "SESSION-STATE.md"


def left(shell: Shell) -> dict[str, bytes]:
    """All files of the checkout but git's and the scratch root's."""
    found = (path for path in shell.top.iterdir() if path.name not in (".git", ".tmp"))
    return {path.name: path.read_bytes() for path in found}


def in_section(shell: Shell, name: str) -> str:
    """The first line under a heading."""
    lines = file(shell).read_text(encoding="utf-8").split("\n")
    return lines[lines.index(f"## {name}") + 1]


@contextmanager
def somebody_locks(shell: Shell) -> Iterator[None]:
    """Another open file keeps us out, as another process would."""
    with (shell.top / "SESSION-STATE.md.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.mark.parametrize("words", [(), ("",), ("constraints",), ("INIT",)])
def test_md_01_no_or_an_unknown_verb_is_usage(shell: Shell, words: tuple[str, ...]) -> None:
    """The valid ones are listed, exit 2, and nothing is written."""
    ran = state(shell, *words)
    assert ran.code == 2
    assert all(verb in ran.err for verb in VERBS)
    assert left(shell) == {}


@pytest.mark.parametrize("verb", [*SECTION_OF, "drop"])
@pytest.mark.parametrize("words", [(), ("",), ("  ", "\t")])
def test_md_01_verbs_that_need_text(shell: Shell, verb: str, words: tuple[str, ...]) -> None:
    """Without any it is usage, and nothing is written."""
    assert state(shell, verb, *words).code == 2
    assert left(shell) == {}


@pytest.mark.parametrize("verb", BARE)
def test_md_01_verbs_that_take_no_text(shell: Shell, verb: str) -> None:
    """With one it is usage, and nothing is written."""
    assert state(shell, verb, "text").code == 2
    assert left(shell) == {}


@pytest.mark.parametrize("words", [*WRITING, ("show",)])
def test_md_02_every_verb_makes_the_file(shell: Shell, words: tuple[str, ...]) -> None:
    """It begins with the template, readable for all as the owner's umask would have it."""
    ran = state(shell, *words, "--json")
    assert (ran.code, ran.document["action"]) == (0, "created")
    assert "# Session State" in file(shell).read_text()
    assert file(shell).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("verb", ["digest", "where"])
def test_what_only_looks_makes_nothing(shell: Shell, verb: str) -> None:
    """Neither file nor lock."""
    assert state(shell, verb).code == 0
    assert left(shell) == {}


@pytest.mark.parametrize("verb", SECTION_OF)
def test_md_02_a_missing_heading_is_exit_1(shell: Shell, verb: str) -> None:
    """Nothing is written, and the message says what to do."""
    file(shell).write_text("# Session State\n")
    ran = state(shell, verb, "text")
    assert ran.code == 1
    assert "run `init`" in ran.err
    assert file(shell).read_text() == "# Session State\n"


def test_md_03_init_leaves_a_file_alone(shell: Shell) -> None:
    """Whatever text is in it, neither bytes nor times move."""
    file(shell).write_text("mine\n")
    before = file(shell).stat()
    ran = state(shell, "init", "--json")
    assert (ran.code, ran.document["action"]) == (0, "unchanged")
    after = file(shell).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_md_04_init_orchestrator_twice(shell: Shell) -> None:
    """Four constraints; the second run adds none and says so."""
    first = state(shell, "init-orchestrator")
    assert state(shell, "digest").text.splitlines()[1:5] == [f"- {each}" for each in ORCHESTRATION]
    once = file(shell).read_bytes()
    second = state(shell, "init-orchestrator")
    assert (first.code, second.code) == (0, 0)
    assert "already present" in second.text
    assert file(shell).read_bytes() == once


@pytest.mark.parametrize("verb", ["constraint", "thread"])
def test_md_05_words_are_joined_and_stored_verbatim(shell: Shell, verb: str) -> None:
    """As the shell handed them over, joined with blanks; a dash in front goes behind ``--``."""
    assert state(shell, verb, "--", "-x", r"C:\n\t", '"q"', "##  a").code == 0
    assert in_section(shell, SECTION_OF[verb]) == r'- -x C:\n\t "q" ##  a'


def test_md_05_a_decision_has_the_local_date(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """The day is that of the place where the machine stands."""
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    import time

    time.tzset()
    try:
        with clock.use(clock.FakeClock(1_930_390_200.0)):  # 2031-03-04 11:30 UTC
            state(shell, "decision", "one queue")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert "- [2031-03-05] one queue\n" in (shell.top / "SESSION-STATE.md").read_text()


def test_md_06_infra_names_its_subject(shell: Shell) -> None:
    """The first word becomes the name; text without one is stored with a warning."""
    assert state(shell, "infra", "RabbitMQ broker", "-q").err == ""
    assert in_section(shell, "Existing infrastructure") == "- [surveyed:RabbitMQ] broker"
    assert "guard" in state(shell, "infra", "(the) broker").err
    assert in_section(shell, "Existing infrastructure") == "- (the) broker"


def test_md_07_drop_tells_on_stderr(shell: Shell) -> None:
    """Bullets of every section that hold the text go; how many, stderr says."""
    state(shell, "constraint", "keep x.y")
    state(shell, "thread", "see x.y too")
    state(shell, "thread", "see X.Y")
    ran = state(shell, "drop", "x.y")
    assert (ran.code, ran.text, ran.err) == (0, "", "dropped 2 bullet(s) matching: x.y\n")
    assert state(shell, "digest").text.splitlines()[-1] == "- see X.Y"
    ran = state(shell, "drop", "x.y", "--json")
    assert (ran.document["action"], ran.document["dropped"]) == ("unchanged", [])


@pytest.mark.parametrize("verb", SECTION_OF)
def test_md_08_success_is_one_line(shell: Shell, verb: str) -> None:
    """It names section and entry; the entry stands straight under the heading."""
    ran = state(shell, verb, "first", "words")
    entry = in_section(shell, SECTION_OF[verb])
    assert ran.text == f"added under {SECTION_OF[verb]}: {entry}\n"
    again = state(shell, verb, "first", "words", "--json")
    assert again.document["entry"] == entry.removeprefix("- ")
    assert again.document["action"] == "unchanged"


def test_md_09_where_the_file_is(shell: Shell) -> None:
    """In CLAUDE_PROJECT_DIR, else at the git top level; an empty variable is none."""
    below = shell.top / "a" / "b"
    below.mkdir(parents=True)
    os.chdir(below)
    assert state(shell, "where", "--json").document["path"] == str(file(shell))
    shell.export(CLAUDE_PROJECT_DIR=str(below))
    assert state(shell, "init").text == f"initialized {below / 'SESSION-STATE.md'}\n"
    shell.export(CLAUDE_PROJECT_DIR="")
    assert state(shell, "where", "--json").document["root"] == str(shell.top)


def test_md_11_the_digest_of_a_file(shell: Shell) -> None:
    """What hooks show at every turn; nothing where nothing was noted."""
    state(shell, "infra", "rabbit here")
    assert (state(shell, "digest").code, state(shell, "digest").text) == (0, "")
    state(shell, "thread", "go on")
    assert state(shell, "digest").text.splitlines()[-2:] == ["## Open threads", "- go on"]
    assert "rabbit" not in state(shell, "digest").text


def test_md_17_where_says_whether_git_tracks_it(shell: Shell) -> None:
    """State is never committed; one that is gets a warning."""
    state(shell, "init")
    told = state(shell, "where", "--json").document
    assert (told["exists"], told["tracked"]) == (True, False)
    assert told["lock"] == f"{file(shell)}.lock"
    subprocess.run(["git", "add", "SESSION-STATE.md"], cwd=shell.top, check=True)
    ran = state(shell, "where")
    assert "tracked by git: yes" in ran.text
    assert "warning" in ran.err


def test_show_is_the_file_byte_for_byte(shell: Shell) -> None:
    """Also what a terminal could take for something else; JSON has it as text."""
    data = b"\xef\xbb\xbf## Constraints\r\n- \x1b[31mred\r\nno end"
    file(shell).write_bytes(data)
    assert state(shell, "show").out == data
    assert state(shell, "show", "--json").document["text"].encode() == data
    assert not (shell.top / "SESSION-STATE.md.lock").exists()


WRITER = """
import sys
from pathlib import Path
from markers.caches.engine import Cabinet
from markers.caches.files import StateFile
from markers.caches.session_md import CODEC, STORE, add
from markers.paths import Place, Roots
root = Path(sys.argv[1])
place = Place(STORE.file, root, (STORE.file,), Roots((root,)))
cabinet = Cabinet(STORE, CODEC, StateFile(place=place, wait=60))
for at in range(50):
    cabinet.update(lambda text: add(text, "Constraints", f"{sys.argv[2]} {at}"))
"""


def test_md_d_two_writers_lose_nothing(shell: Shell) -> None:
    """Two processes add 50 constraints each, and all hundred are there."""
    command = [sys.executable, "-c", WRITER, str(shell.top)]
    both = [subprocess.Popen([*command, name], env=os.environ) for name in ("one", "two")]
    assert [process.wait(60) for process in both] == [0, 0]
    found = state(shell, "digest").text.splitlines()
    assert {f"- {name} {at}" for name in ("one", "two") for at in range(50)} <= set(found)
    assert sorted(left(shell)) == ["SESSION-STATE.md", "SESSION-STATE.md.lock"]


def test_a_lock_that_is_held_for_ever(shell: Shell) -> None:
    """The wait ends, nothing is written, exit 7; looking needs no lock."""
    state(shell, "init")
    with somebody_locks(shell):
        ran = state(shell, "constraint", "a", "--deadline", "0.1", "--json")
        assert (ran.code, ran.document["reason"]["code"]) == (7, "state-locked")
        assert state(shell, "show").code == 0
    assert file(shell).read_text() == TEMPLATE


def test_a_writer_without_a_lock_is_not_overwritten(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The older writer takes none: what it writes meanwhile stays, and ours is to be run again."""
    state(shell, "init")
    theirs = add(TEMPLATE, "Constraints", "theirs").encode()

    def late(value: str) -> bytes:
        file(shell).write_bytes(theirs)
        return value.encode()

    monkeypatch.setattr(type(CODEC), "dump", staticmethod(late))
    ran = state(shell, "constraint", "ours", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (7, "state-changed")
    assert left(shell)["SESSION-STATE.md"] == theirs


BROKEN = [
    pytest.param(b"\x00\x01\x02", id="binary"),
    pytest.param(b"## Constraints\n\xff\xfe\n", id="not UTF-8"),
    pytest.param("## Constraints\n".encode("utf-16"), id="UTF-16"),
]


@pytest.mark.parametrize("data", BROKEN)
@pytest.mark.parametrize("words", WRITING)
def test_what_is_no_text_is_never_written_to(
    shell: Shell, data: bytes, words: tuple[str, ...]
) -> None:
    """The file is refused and stays as it is."""
    file(shell).write_bytes(data)
    ran = state(shell, *words, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "state-broken")
    assert file(shell).read_bytes() == data


@pytest.mark.parametrize("data", BROKEN)
@pytest.mark.parametrize("verb", ["show", "digest"])
def test_what_is_no_text_is_not_shown(shell: Shell, data: bytes, verb: str) -> None:
    """A reader has no usable state."""
    file(shell).write_bytes(data)
    ran = state(shell, verb, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (1, "state-broken")


@pytest.mark.parametrize(
    ("data", "after"),
    [
        (b"## Constraints\r\n- a\r\n", b"## Constraints\r\n- b\r\n- a\r\n"),
        (b"\xef\xbb\xbf## Constraints\n", b"\xef\xbb\xbf## Constraints\n- b\n"),
        (b"# Half\n## Constraints", b"# Half\n## Constraints\n- b\n"),
    ],
    ids=["carriage returns", "byte order mark", "half written"],
)
def test_odd_but_readable_files(shell: Shell, data: bytes, after: bytes) -> None:
    """They are written to in their own way; the sections that are gone are exit 1."""
    file(shell).write_bytes(data)
    assert state(shell, "constraint", "b").code == 0
    assert file(shell).read_bytes() == after
    assert state(shell, "thread", "b").code == 1
    assert file(shell).read_bytes() == after


def test_an_empty_file_has_no_sections(shell: Shell) -> None:
    """It is not taken for a missing one."""
    file(shell).write_bytes(b"")
    assert state(shell, "constraint", "b").code == 1
    assert state(shell, "show").out == b""
    assert file(shell).read_bytes() == b""


@pytest.mark.parametrize("words", [*WRITING, ("show",)])
def test_a_directory_in_its_place(shell: Shell, words: tuple[str, ...]) -> None:
    """It is no state that could be read: exit 1."""
    file(shell).mkdir()
    assert state(shell, *words).code == 1
    assert not list(file(shell).iterdir())


@pytest.mark.parametrize("words", [("show",), ("constraint", "a")])
def test_a_file_that_may_not_be_read(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Exit 1, and nothing is written."""
    state(shell, "init")
    real = os.open

    def denied(path: str, *args: int, **at: int) -> int:
        if path == STORE.file:
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **at)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", denied)
        ran = state(shell, *words, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (1, "state-unreadable")
    assert file(shell).read_text() == TEMPLATE


def test_a_file_that_would_grow_too_large(shell: Shell) -> None:
    """Nothing is written that nobody could read again."""
    data = b"## Constraints\n".ljust(LIMIT - 2, b"x")
    file(shell).write_bytes(data)
    assert state(shell, "constraint", "one more").code == 1
    assert file(shell).read_bytes() == data


@pytest.mark.parametrize("name", ["SESSION-STATE.md", "SESSION-STATE.md.lock"])
def test_links_are_not_followed(shell: Shell, name: str) -> None:
    """Neither the file's nor the lock's; what they point to stays as it is."""
    target = shell.home / "target"
    target.write_text(TEMPLATE)
    (shell.top / name).symlink_to(target)
    ran = state(shell, "constraint", "a", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "path-symlink")
    assert target.read_text() == TEMPLATE


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("../SESSION-STATE.md", "path-parent"),
        ("/etc/SESSION-STATE.md", "path-outside"),
        ("other.md", "path-name"),
        ("SESSION-STATE.md/" + "x" * 300, "path-name"),
        ("", "path-invalid"),
    ],
)
def test_file_stays_within_bounds(shell: Shell, given: str, code: str) -> None:
    """Another place bears the file's name and lies below the project or the user's roots."""
    ran = state(shell, "--file", given, "init", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, code)
    assert left(shell) == {}


def test_file_names_another_place(shell: Shell) -> None:
    """Below a root, with directories made on the way."""
    given = ".tmp/deep/SESSION-STATE.md"
    assert state(shell, "--file", given, "thread", "a").code == 0
    assert "- a\n" in (shell.top / given).read_text()
    assert left(shell) == {}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\n## Decisions", "entry-lines"),
        ("a --> b", "entry-comment"),
        ("<!-- b", "entry-comment"),
    ],
)
@pytest.mark.parametrize("verb", SECTION_OF)
def test_md_d_a_refused_text_is_not_echoed_whole(
    shell: Shell, verb: str, text: str, code: str
) -> None:
    """Newlines and comment delimiters are refused, exit 3; at most 80 characters are shown."""
    ran = state(shell, verb, text + "z" * 500, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, code)
    assert "z" * 80 not in ran.err
    assert left(shell).get("SESSION-STATE.md") is None


def test_a_failure_has_the_verbs_keys(shell: Shell) -> None:
    """Whatever ends a verb, its document has the keys that it has when all goes well."""
    file(shell).write_text("")
    good = state(shell, "--file", ".tmp/SESSION-STATE.md", "thread", "a", "--json").document
    bad = state(shell, "thread", "a", "--json").document
    assert {*good, "reason"} == {*bad}
    assert json.dumps([bad[key] for key in ("store", "verb", "path", "action")]) == json.dumps(
        ["session-md", "thread", None, "failed"]
    )

"""``state session-yaml``: its acceptance statements, by number, and what it makes of bad input."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from command_line import Ran, Shell, shell
from hypothesis import example, given
from hypothesis import strategies as st
from side_by_side import side_by_side

from markers import clock
from markers.caches import session_yaml as store
from markers.caches.engine import Broken
from markers.caches.session_yaml import Change
from markers.caches.session_yaml_form import CODEC, LEAST_STEPS, MOST_STEPS, State, read, write
from markers.errors import Refused
from markers.paths import LIMIT

__all__ = ["shell"]

SAMPLE = """\
session_id: "2d7e8c1a-5b3f-4f0e-8a9b-6c5d4e3f2a1b"
last_updated: "2031-03-04T08:15:00.123456"
mode: "EXECUTION"

current_task:
  name: "Import wizard"
  status: "Wiring the parser"
  predicted_steps: 4

context_summary: |
  Parser done, two fixtures left.
  Next: error table.

active_blockers:
  - "Waiting for the sample export"

recent_decisions:
  - "Chose streaming over batch"

completed_tasks:
  []
"""
SAID = {
    "--mode": "EXECUTION",
    "--task": "Import wizard",
    "--status": "Wiring the parser",
    "--summary": "Parser done, two fixtures left.\nNext: error table.",
}
AGAIN = (*(word for pair in SAID.items() for word in pair), "--predicted-steps", "4")
"""What makes the sample out of itself."""
ID = "2d7e8c1a-5b3f-4f0e-8a9b-6c5d4e3f2a1b"


def state(shell: Shell, *words: str) -> Ran:
    """One verb."""
    return shell.run("state", "session-yaml", *words)


def update(shell: Shell, *more: str, **other: str) -> Ran:
    """``update``, with all that it needs."""
    said = {**SAID, **{f"--{name}": text for name, text in other.items()}}
    return state(shell, "update", *(word for pair in said.items() for word in pair), *more)


def file(shell: Shell) -> Path:
    """Where the file is by default; its directory is made."""
    path = shell.top / ".agent/sessions/latest.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def left(shell: Shell, text: str | bytes) -> Path:
    """The file as somebody left it."""
    path = file(shell)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def loaded(path: Path) -> dict[str, object]:
    """What a YAML library reads."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def changed(before: str, *, now: str = "now", **change: object) -> State:
    """The state that a call makes of a file."""
    said = Change(**{"mode": "m", "task": "t", "status": "s", "summary": "u", **change})
    return store.update(read(before), said, now=now, new_id="new")


@contextmanager
def somebody_locks(path: Path) -> Iterator[None]:
    """Another open file keeps us out, as another process would."""
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.mark.parametrize("kind", ["directory", "file"])
def test_yaml_01_git_beats_the_variable(shell: Shell, kind: str) -> None:
    """The nearest ancestor with .git, a directory or a file, is the root, whatever is exported."""
    shell.export(CLAUDE_PROJECT_DIR=str(shell.home))
    if kind == "file":
        (shell.top / ".git").rename(shell.home / "real")
        (shell.top / ".git").write_text("gitdir: ../real\n")
    assert update(shell).code == 0
    assert file(shell).exists()
    assert not (shell.home / ".agent").exists()


def test_yaml_01_from_a_subdirectory(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run from below updates the root's file, makes no stray tree and keeps the session's id."""
    update(shell)
    first = loaded(file(shell))["session_id"]
    (shell.top / "deep/down").mkdir(parents=True)
    monkeypatch.chdir(shell.top / "deep/down")
    assert update(shell, status="deeper").code == 0
    assert loaded(file(shell))["session_id"] == first
    assert loaded(file(shell))["current_task"]["status"] == "deeper"
    assert not list((shell.top / "deep").rglob(".agent"))


@pytest.mark.parametrize(("named", "root"), [("project", "project"), ("none", "cwd"), ("", "cwd")])
def test_yaml_01_without_git(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, named: str, root: str
) -> None:
    """Without .git CLAUDE_PROJECT_DIR counts if it is a directory, else the working directory."""
    for name in ("project", "cwd"):
        (shell.home / name).mkdir()
    monkeypatch.chdir(shell.home / "cwd")
    shell.export(CLAUDE_PROJECT_DIR=str(shell.home / named) if named else "")
    assert update(shell).code == 0
    assert (shell.home / root / ".agent/sessions/latest.yaml").exists()


@pytest.mark.parametrize("missing", SAID)
def test_yaml_02_what_is_required(shell: Shell, missing: str) -> None:
    """Each of the four is required: usage, exit 2, nothing written."""
    words = [word for name, text in SAID.items() if name != missing for word in (name, text)]
    assert state(shell, "update", *words).code == 2
    assert not (shell.top / ".agent").exists()


def test_yaml_02_both_spellings(shell: Shell) -> None:
    """Options are known with dashes and, as the original has them, with underscores."""
    dashes = ["--predicted-steps", "3", "--add-decision", "d", "--add-blocker", "b"]
    dashes += ["--add-completed-task", "c"]
    assert update(shell, *dashes).code == 0
    first = file(shell).read_text()
    file(shell).unlink()
    assert update(shell, *(word.replace("d-", "d_") for word in dashes)).code == 0
    volatile = re.compile("(session_id|last_updated): .*")
    assert volatile.sub("", file(shell).read_text()) == volatile.sub("", first)
    assert update(shell, "--clear_blockers").code == 0
    assert loaded(file(shell))["active_blockers"] == []
    assert update(shell, "--predicted-steps", "x").code == 2


def test_yaml_02_no_steps_are_none(shell: Shell) -> None:
    """The steps default to 0, whatever was there before."""
    left(shell, SAMPLE)
    update(shell)
    assert loaded(file(shell))["current_task"]["predicted_steps"] == 0


def test_yaml_03_the_file_is_made(shell: Shell) -> None:
    """The directory is made as needed, a missing file gets a new uuid4, an existing id is kept."""
    assert update(shell, "--json").document["action"] == "created"
    known = str(loaded(file(shell))["session_id"])
    assert uuid.UUID(known).version == 4
    update(shell, mode="PLANNING")
    assert loaded(file(shell))["session_id"] == known


def test_yaml_a_the_shape_is_the_originals() -> None:
    """Order, blank lines and forms of the values are those of the sample, byte for byte."""
    assert write(read(SAMPLE)) == SAMPLE
    assert write(State()).count("  []\n") == 3


def test_yaml_a_local_time(shell: Shell) -> None:
    """The time is local, with microseconds and without a zone."""
    with clock.use(clock.FakeClock(1_930_378_500.25)):
        update(shell)
    stamp = str(loaded(file(shell))["last_updated"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.250000", stamp)


@pytest.mark.parametrize("length", [80, 81])
def test_yaml_a_a_long_summary_is_a_block(shell: Shell, length: int) -> None:
    """More than 80 characters, or a line feed, make a block; anything else stands in quotes."""
    update(shell, summary="x" * length)
    block = "context_summary: |\n  " in file(shell).read_text()
    assert block == (length > 80)
    assert state(shell, "boot", "--json").document["restore"]["summary"] == "x" * length


def test_yaml_04_locked_for_ever(shell: Shell) -> None:
    """flock(2) on the sidecar keeps us out, for a bounded time; readers need no lock."""
    path = left(shell, SAMPLE)
    with somebody_locks(path):
        ran = update(shell, "--deadline", "0.1", "--json")
        assert state(shell, "boot").code == 0
    assert (ran.code, ran.document["reason"]["code"]) == (7, "state-locked")
    assert path.read_text() == SAMPLE


def test_yaml_04_the_lock_stays(shell: Shell) -> None:
    """The lock is beside the file, empty, and never removed."""
    update(shell)
    assert file(shell).with_name("latest.yaml.lock").read_bytes() == b""


ORIGINAL = """
import fcntl
GO
path = sys.argv[1]
for number in range(50):
    with open(path + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open(path) as file:
            text = file.read()
        time.sleep(0.002)
        head, _, tail = text.partition("completed_tasks:\\n")
        tail = tail.replace("  []\\n", "") + f'  - "theirs {number}"\\n'
        with open(path, "w") as file:
            file.write(head + "completed_tasks:\\n" + tail)
"""
OURS = """
from pathlib import Path
from markers.caches import session_yaml as store
from markers.caches.engine import Cabinet
from markers.caches.files import StateFile
from markers.caches.session_yaml_form import CODEC
from markers.paths import Place, Roots
GO
path = Path(sys.argv[1])
place = Place(str(path), path.parent, (path.name,), Roots((path.parent,)))
cabinet = Cabinet(store.STORE, CODEC, StateFile(place=place))
for number in range(50):
    change = store.Change(
        mode="m", task="t", status=str(number), summary="s", add_completed=(f"ours {number}",)
    )
    cabinet.update(lambda before: store.update(before, change, now="now", new_id="id"))
"""


def test_yaml_05_two_programs_lose_nothing(shell: Shell) -> None:
    """50 tasks each, of this program and of one that locks and writes as the original does."""
    path = left(shell, SAMPLE)
    assert side_by_side(path, ORIGINAL, OURS) == [0, 0]
    expected = {f"{who} {number}" for who in ("ours", "theirs") for number in range(50)}
    assert set(read(path.read_text()).completed) == expected


def test_yaml_06_sets_and_the_newest_ten() -> None:
    """Blockers and tasks are sets; decisions repeat, and the newest ten stay, oldest first."""
    done = changed(
        SAMPLE, add_blockers=("Waiting for the sample export", "b", "b"), add_completed=("c", "c")
    )
    assert done.blockers == ("Waiting for the sample export", "b")
    assert done.completed == ("c",)
    many = changed(SAMPLE, add_decisions=tuple(map(str, [*range(9), 8, 8])))
    assert many.decisions == ("1", "2", "3", "4", "5", "6", "7", "8", "8", "8")


@pytest.mark.parametrize(
    ("flags", "blockers", "warned"),
    [
        (("--clear-blockers",), [], False),
        (("--clear-blockers", "--add-blocker", "new"), [], True),
        (("--clear-blockers", "--clear-first", "--add-blocker", "new"), ["new"], False),
        (("--clear-first", "--add-blocker", "new"), ["new"], False),
        (("--clear-first",), [], False),
    ],
)
def test_yaml_07_clearing(
    shell: Shell, flags: tuple[str, ...], blockers: list[str], warned: bool
) -> None:
    """Clearing wins over adding in one call, with a warning, unless --clear-first is given."""
    left(shell, SAMPLE)
    ran = update(shell, *flags, "--json")
    assert ran.code == 0
    assert loaded(file(shell))["active_blockers"] == blockers
    assert bool(ran.document["warnings"]) == warned


def test_yaml_08_the_call_beats_the_file() -> None:
    """What is no list is overwritten; the lists come from the file."""
    done = changed(SAMPLE, now="later")
    assert (done.mode, done.task, done.status, done.summary) == ("m", "t", "s", "u")
    assert (done.predicted_steps, done.last_updated, done.session_id) == (0, "later", ID)
    assert done.decisions == ("Chose streaming over batch",)


def test_yaml_08_nothing_new_is_not_written(shell: Shell) -> None:
    """The time alone is no reason to write, unless it is asked for."""
    path = left(shell, SAMPLE)
    before = path.stat()
    ran = state(shell, "update", *AGAIN)
    assert (ran.code, ran.text) == (0, f"Session state unchanged: {path} (Locked)\n")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert state(shell, "update", *AGAIN, "--touch", "--json").document["action"] == "updated"
    assert read(path.read_text()).last_updated != read(SAMPLE).last_updated


def test_yaml_08_repeated_additions_all_count(shell: Shell) -> None:
    """An option that adds may be repeated; an empty addition is none, as ever."""
    update(shell, "--add-decision", "a", "--add-decision", "b", "--add-blocker", "")
    assert loaded(file(shell))["recent_decisions"] == ["a", "b"]
    assert loaded(file(shell))["active_blockers"] == []


def test_yaml_09_one_line(shell: Shell) -> None:
    """Success is one line and exit 0."""
    (shell.top / ".gitignore").write_text(".agent/sessions/\n")
    ran = update(shell)
    assert (ran.code, ran.text) == (0, f"Session state updated: {file(shell)} (Locked)\n")
    assert ran.err == ""


def test_yaml_09_failure_is_one_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails is exit 1 and one line; the old file is whole and no other is left."""
    path = left(shell, SAMPLE)

    def full(*_names: object, **_at: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    ran = update(shell)
    assert (ran.code, ran.text, ran.err.count("\n")) == (1, "", 1)
    assert path.read_text() == SAMPLE
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name, f"{path.name}.lock"]


def test_yaml_10_boot(shell: Shell) -> None:
    """A session that begins is given mode, task, status, summary and blockers."""
    left(shell, SAMPLE)
    assert state(shell, "boot", "--json").document["restore"] == {
        "mode": "EXECUTION",
        "task": "Import wizard",
        "status": "Wiring the parser",
        "summary": SAID["--summary"],
        "blockers": ["Waiting for the sample export"],
    }
    assert state(shell, "boot").text.splitlines() == [
        "mode: EXECUTION",
        "task: Import wizard",
        "status: Wiring the parser",
        "summary: Parser done, two fixtures left.",
        "summary: Next: error table.",
        "blocker: Waiting for the sample export",
    ]


@pytest.mark.parametrize("verb", ["boot", "show"])
def test_yaml_10_nothing_to_take_over(shell: Shell, verb: str) -> None:
    """Deleting the file is a fresh start: readers find nothing, and make nothing."""
    ran = state(shell, verb)
    assert ran.code == 0
    assert ran.text.startswith("no usable prior state: ")
    assert state(shell, verb, "--json").document["condition"] == "missing"
    assert not (shell.top / ".agent").exists()


def test_yaml_11_the_last_boundary_is_what_boots(shell: Shell) -> None:
    """A terminal status, the finished task and settled blockers replace the escalation before."""
    update(shell, "--add-blocker", "roast pending", status="escalated, no commit")
    update(shell, "--clear-blockers", "--add-completed-task", "Import wizard", status="accepted")
    restore = state(shell, "boot", "--json").document["restore"]
    assert (restore["status"], restore["blockers"]) == ("accepted", [])
    assert loaded(file(shell))["completed_tasks"] == ["Import wizard"]


@pytest.mark.parametrize("verb", ["boot", "show", "where"])
def test_yaml_12_who_only_reads_writes_nothing(shell: Shell, verb: str) -> None:
    """No verb but update touches the file or makes its lock."""
    path = left(shell, SAMPLE)
    before = path.stat()
    assert state(shell, verb).code == 0
    assert path.stat() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_yaml_13_git_sees_nothing(shell: Shell) -> None:
    """Where the directory is ignored a run leaves git's status clean; a tracked file is told."""
    (shell.top / ".gitignore").write_text(".agent/sessions/\n.tmp/\n.gitignore\n")
    update(shell)
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=shell.top, capture_output=True, check=True
    )
    assert status.stdout == b""
    where = state(shell, "where", "--json").document
    assert (where["tracked"], where["lock"]) == (False, f"{file(shell)}.lock")
    subprocess.run(["git", "add", "-f", str(file(shell))], cwd=shell.top, check=True)
    assert state(shell, "where", "--json").document["tracked"] is True


SPECIAL = list(" \t\n\r\"\\'#-:|>[]{}ab\x85\u2028\u2029\ufeff\x07\x7f")
TEXTS = st.text(
    st.one_of(st.sampled_from(SPECIAL), st.characters(exclude_categories=["Cs"])), max_size=20
)
SUMMARIES = st.one_of(TEXTS, TEXTS.map(lambda text: f"{text}\n"), st.just("--- \n...\n"))
LISTS = st.lists(TEXTS, max_size=3).map(tuple)
STATES = st.builds(
    State,
    session_id=TEXTS,
    last_updated=TEXTS,
    mode=TEXTS,
    task=TEXTS,
    status=TEXTS,
    predicted_steps=st.integers(LEAST_STEPS, MOST_STEPS),
    summary=SUMMARIES,
    blockers=LISTS,
    decisions=LISTS,
    completed=LISTS,
)


@given(STATES)
@example(State(summary="one\n\n   \n  two\t\nthree: \"3\" \\ 'x' # y\n"))
@example(State(summary="  leading\nx\n", blockers=('- "a', "b: |", "")))
def test_yaml_d2_whatever_is_written_is_read(state: State) -> None:
    """What was said comes back, for this reader and for any that knows YAML."""
    text = write(state)
    assert CODEC.load(text.encode()) == state
    found = yaml.safe_load(text)
    assert found["current_task"] == {
        "name": state.task,
        "status": state.status,
        "predicted_steps": state.predicted_steps,
    }
    for key, value in {
        "session_id": state.session_id,
        "last_updated": state.last_updated,
        "mode": state.mode,
        "context_summary": state.summary,
        "active_blockers": list(state.blockers),
        "recent_decisions": list(state.decisions),
        "completed_tasks": list(state.completed),
    }.items():
        assert found[key] == value


@given(STATES)
def test_yaml_a_readers_by_pattern_find_every_item(state: State) -> None:
    """A reader that knows the lines and no YAML finds the id and as many items as there are."""
    text = write(state)
    for key, items in {
        "active_blockers": state.blockers,
        "recent_decisions": state.decisions,
        "completed_tasks": state.completed,
    }.items():
        section = re.search(rf"^{key}:\s*\n((?:\s+-\s.*\n)*)", text, re.MULTILINE)
        assert section is not None
        assert len(re.findall(r'^\s+-\s+".*"$', section[1], re.MULTILINE)) == len(items)
    assert re.match(r'session_id: "[^\n]*"\n', text)


def test_yaml_d1_a_posix_lock_is_another(shell: Shell) -> None:
    """What locks with lockf does not exclude flock, so it does not keep us out either."""
    path = left(shell, SAMPLE)
    with path.with_name("latest.yaml.lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        assert update(shell, "--deadline", "0.5").code == 0


def test_yaml_d2_the_file_is_replaced_whole(shell: Shell) -> None:
    """A reader that has the old file open goes on reading the old file; its mode is kept."""
    path = left(shell, SAMPLE)
    path.chmod(0o640)
    with path.open() as old:
        update(shell, mode="NEXT")
        assert old.read() == SAMPLE
    assert read(path.read_text()).mode == "NEXT"
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('  - "say "hi" now"', 'say "hi" now'),
        ('  - "C:\\path\\dir"', "C:\\path\\dir"),
        ('  - "ends with \\"', "ends with \\"),
        ('  - "first\nsecond"', "first\nsecond"),
        ('  - "first\n\nthird: x"', "first\n\nthird: x"),
        ('  - "cut off', "cut off"),
        ("  - no quotes #4", "no quotes #4"),
        ("  - 'it''s'", "it's"),
        ('- "not indented"', "not indented"),
        ('    -   "deep"  ', "deep"),
        ('  - "tab\\tand \\u00e9" # note', "tab\tand é"),
        ("  - goes on\n    below", "goes on below"),
        ("  - |\n    a\n    b", "a\nb\n"),
    ],
)
def test_yaml_d3_old_files_lose_nothing(shell: Shell, line: str, said: str) -> None:
    """An unescaped or broken item is read as it was meant, and so are all behind it."""
    before = SAMPLE.replace('  - "Waiting for the sample export"', f'{line}\n  - "next"')
    path = left(shell, before)
    assert update(shell, "--add-blocker", "new").code == 0
    assert loaded(path)["active_blockers"] == [said, "next", "new"]
    assert loaded(path)["recent_decisions"] == ["Chose streaming over batch"]


@pytest.mark.parametrize("key", ["mode", "name", "status"])
def test_yaml_d3_quotes_in_a_value(key: str) -> None:
    """What stands unescaped in a value is read as it was meant, over several lines, too."""
    before = re.sub(rf"{key}: .*", lambda _: f'{key}: "a "b" \\c\nd"', SAMPLE)
    found = read(before)
    assert 'a "b" \\c\nd' in (found.mode, found.task, found.status)
    assert found.blockers == ("Waiting for the sample export",)


@pytest.mark.parametrize(
    ("form", "items"),
    [
        (" []", []),
        (" [ ]  # none", []),
        (" [a, 'b, c', \"d, e\"]", ["a", "b, c", "d, e"]),
        (" [don't, stop]", ["don't", "stop"]),
        (" [a,\n  b,\n]", ["a", "b"]),
        ("\n  [a, b]", ["a", "b"]),
        (" null", []),
        (" one", ["one"]),
        ("", []),
    ],
)
def test_yaml_d4_inline_lists(shell: Shell, form: str, items: list[str]) -> None:
    """A list on the key's own line is a list, and survives the next write."""
    before = SAMPLE.replace(
        'active_blockers:\n  - "Waiting for the sample export"\n', f"active_blockers:{form}\n"
    )
    path = left(shell, before)
    assert update(shell, "--add-blocker", "new").code == 0
    assert loaded(path)["active_blockers"] == [*items, "new"]


def test_yaml_d5_a_summary_forges_no_section(shell: Shell) -> None:
    """Keys in a summary are text; of a section that somebody wrote twice nothing is lost."""
    update(shell, "--add-blocker", "real", summary='x\nactive_blockers:\n  - "forged"')
    assert loaded(file(shell))["active_blockers"] == ["real"]
    twice = SAMPLE.replace("recent", 'active_blockers:\n  - "second"\n\nmode: "other"\nrecent')
    found = read(twice)
    assert found.blockers == ("Waiting for the sample export", "second")
    assert (found.mode, found.more) == ("EXECUTION", '# mode: "other"')


def test_yaml_keys_of_others_are_kept(shell: Shell) -> None:
    """Blocks and comments that the store does not know stand at the end, as they were."""
    mine = "notes:\n  - mine # really\n\n  deep: {a: [1]}\nowner team: |\n  x\n"
    before = SAMPLE.replace("mode:", f"# by hand\n{mine}mode:").replace(
        "  predicted", "  branch: main\n  predicted"
    )
    path = left(shell, f"---\n{before}")
    for _ in range(2):
        assert update(shell, "--touch").code == 0
        assert path.read_text().endswith(f"\n# by hand\n{mine}")
        assert "  branch: main\n" in path.read_text()


SNIPPETS = [
    *SAMPLE.splitlines(),
    "mode: EXEC",
    'mode: "a"b"',
    '  name: "open',
    'close"',
    "context_summary: >-",
    "context_summary: |2+",
    "    deep",
    "active_blockers: [a, b",
    '- "open',
    "  - ",
    "# note",
    "custom two: 3",
    "  key: [1,",
    "---",
    "stray",
    "\tx",
    '"q": 1',
]


@given(st.lists(st.sampled_from(SNIPPETS), max_size=12).map("\n".join))
def test_yaml_what_is_read_is_written_for_good(text: str) -> None:
    """Whatever a hand has made of the file: after one write nothing changes any more."""
    try:
        found = read(text)
    except Broken:
        return
    assert read(write(found)) == found


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"mode: \0\n", "NUL"),
        (b"[1, 2]\n", "between brackets"),
        (b'{"mode": "x"}\n', "between brackets"),
        (b'# c\n---\n{\n"mode": "x",\n"current_task": {"name": "y"}\n}\n', "between brackets"),
        (b"some prose\n", "none of the keys"),
    ],
)
def test_yaml_bad_input_broken(shell: Shell, data: bytes, why: str) -> None:
    """Of a file that is none of the store's a copy is kept, and the writer starts anew."""
    path = left(shell, data)
    ran = state(shell, "boot", "--json")
    assert (ran.code, ran.document["condition"]) == (0, "broken")
    assert why in ran.document["why"]
    done = update(shell, "--json")
    assert (done.code, done.document["action"]) == (0, "updated")
    assert Path(done.document["kept"]).read_bytes() == data
    assert loaded(path)["mode"] == "EXECUTION"


@pytest.mark.parametrize("data", [b"", b"\n  \n", b"\xef\xbb\xbf", b"---\n", b"# nothing yet\n"])
def test_yaml_bad_input_empty(shell: Shell, data: bytes) -> None:
    """An empty or blank file is no usable prior state; the writer begins anew."""
    path = left(shell, data)
    for verb in ("boot", "show"):
        assert state(shell, verb).text.startswith("no usable prior state: ")
        assert state(shell, verb, "--json").document["condition"] == "broken"
    assert Path(update(shell, "--json").document["kept"]).read_bytes() == data
    assert loaded(path)["mode"] == "EXECUTION"


def test_yaml_bad_input_endings_and_mark(shell: Shell) -> None:
    """Either ending of lines and a byte order mark make no difference."""
    path = left(shell, b"\xef\xbb\xbf" + SAMPLE.replace("\n", "\r\n").encode())
    assert state(shell, "update", *AGAIN, "--json").document["action"] == "unchanged"
    assert update(shell, "--add-blocker", "new").code == 0
    assert loaded(path)["active_blockers"] == ["Waiting for the sample export", "new"]


@pytest.mark.parametrize("cut", range(1, len(SAMPLE), 7))
def test_yaml_bad_input_half_written(cut: int) -> None:
    """Of a file that was cut off anywhere, what is whole is read, and the next write mends it."""
    try:
        found = changed(SAMPLE[:cut], add_blockers=("new",))
    except Broken:
        assert cut < len("session_id:")
        return
    assert found.blockers[-1] == "new"
    assert CODEC.load(CODEC.dump(found)) == found


def test_yaml_bad_input_directory(shell: Shell) -> None:
    """A directory in the file's place is a failure for writers, and no prior state for readers."""
    file(shell).mkdir()
    ran = update(shell, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (1, "state-unreadable")
    ran = state(shell, "show", "--json")
    assert (ran.code, ran.document["state"]) == (0, None)
    assert ran.document["warnings"] == [ran.document["why"]]


def test_yaml_bad_input_no_permission(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """What may not be read: exit 1 for a writer; a reader warns and has no prior state."""
    path = left(shell, SAMPLE)
    really = os.open

    def denied(name: str, *more: int, **at: int) -> int:
        if name == path.name:
            raise PermissionError(13, "Permission denied")
        return really(name, *more, **at)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", denied)
        ran = update(shell)
        assert (ran.code, ran.err.count("\n")) == (1, 1)
        ran = state(shell, "boot")
        assert (ran.code, ran.err.count("\n")) == (0, 1)
        assert ran.text.startswith("no usable prior state: ")
    assert path.read_text() == SAMPLE


def test_yaml_bad_input_too_large(shell: Shell) -> None:
    """A file beyond all measure is not read."""
    path = left(shell, SAMPLE + "#" * LIMIT)
    assert update(shell).code == 1
    assert path.stat().st_size > LIMIT


@pytest.mark.parametrize("what", ["file", "lock", "directory"])
def test_yaml_bad_input_links(shell: Shell, what: str) -> None:
    """No part of the path, and not the lock, may be a link; nothing behind it is touched."""
    outside = shell.home / "outside"
    outside.mkdir()
    path = file(shell)
    if what == "directory":
        path.parent.rmdir()
        path.parent.symlink_to(outside)
    else:
        name = path if what == "file" else path.with_name("latest.yaml.lock")
        name.symlink_to(outside / "target")
    ran = update(shell, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "path-symlink")
    assert not list(outside.iterdir())


@pytest.mark.parametrize(
    ("named", "code"),
    [
        (".tmp/other.yaml", "path-name"),
        ("../latest.yaml", "path-parent"),
        ("/etc/latest.yaml", "path-outside"),
        (f".tmp/{'x' * 300}/latest.yaml", "path-invalid"),
        ("", "path-invalid"),
    ],
)
def test_yaml_bad_input_names(shell: Shell, named: str, code: str) -> None:
    """A place that is named bears the store's name and lies below the roots."""
    words = [word for pair in SAID.items() for word in pair]
    ran = state(shell, "--file", named, "update", *words, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, code)


def test_yaml_another_place(shell: Shell) -> None:
    """--file names another file below the roots."""
    words = [word for pair in SAID.items() for word in pair]
    assert state(shell, "--file", ".tmp/latest.yaml", "update", *words).code == 0
    assert loaded(shell.scratch / "latest.yaml")["mode"] == "EXECUTION"
    assert not (shell.top / ".agent").exists()


@pytest.mark.parametrize(
    "text",
    ["a\nb", "-->", "<!-- x", "## Head", '"quotes"', "back\\slash", "- item", "'", "\x1b[0m"],
)
def test_yaml_bad_input_texts(shell: Shell, text: str) -> None:
    """Any text is kept to the letter in every field."""
    ran = update(
        shell,
        *("--add-decision", text, "--add-blocker", text, "--add-completed-task", text, "--json"),
        **dict.fromkeys(("mode", "task", "status"), text),
        summary=f"x {text}",
    )
    assert ran.code == 0
    found = loaded(file(shell))
    assert found["mode"] == text
    assert found["current_task"] == {"name": text, "status": text, "predicted_steps": 0}
    assert [found[key] for key in ("active_blockers", "recent_decisions")] == [[text], [text]]
    assert json.loads(ran.out)["state"]["summary"] == f"x {text}"


@pytest.mark.parametrize("text", ["a\0b", "a\udcff"])
def test_yaml_bad_input_no_characters(text: str) -> None:
    """A NUL, and what is no character, are refused wherever they stand."""
    for field in ("mode", "task", "status", "summary"):
        with pytest.raises(Refused, match="no character"):
            changed(SAMPLE, **{field: text})
    with pytest.raises(Refused, match="no character"):
        changed(SAMPLE, add_blockers=(text,))

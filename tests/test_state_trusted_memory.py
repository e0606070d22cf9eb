"""``state trusted-memory``: its acceptance statements, by number, and bad input."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import Ran, Shell, shell
from side_by_side import side_by_side

from markers import clock
from markers.caches import messages, sentinel
from markers.caches import trusted_memory as store
from markers.caches.json_text import JsonText
from markers.caches.places import Surroundings, default
from markers.errors import Refused
from markers.paths import LIMIT, Place, Roots

__all__ = ["shell"]

ID = "3f0c9b1e-77aa-4c1d-9c55-0a1b2c3d4e5f"
NOW = 1_930_378_500.0
STAMP = "2031-03-04T08:15:00Z"
LATER = "2031-03-04T09:15:00Z"
SAMPLE = """\
{
  "schema_version": 1,
  "sessions": {
    "default": {
      "started": "2031-03-04T08:15:00Z",
      "epoch": 1930378500,
      "session_id": "3f0c9b1e-77aa-4c1d-9c55-0a1b2c3d4e5f",
      "last_seen": "2031-03-04T08:15:00Z"
    },
    "maintenance": {
      "started": "2031-03-04T08:20:00Z",
      "epoch": 1930378800,
      "session_id": null,
      "last_seen": "2031-03-04T09:05:00Z"
    }
  },
  "session_id": null,
  "pending_response": {"message_id": "8841", "preview": "Hm", "reacted_at": "2031-03-04T08:15:00Z"},
  "seen_email_ids": ["m-1001", "m-1002"],
  "muted_threads": {"t-77": true},
  "theirs": [1e2, "\\u00e9"]
}"""
NEWER = SAMPLE.replace('"schema_version": 1', '"schema_version": 2')
FILES = {
    "--file": "session-state.json",
    "--sentinel": "session_bootstrapped",
    "--profile": "user_profile.md",
    "--messages-db": "messages.db",
}
FIELD_VERBS = {
    "pending_response": ("pending", "set", "--message-id", "1", "--preview", "x"),
    "seen_email_ids": ("seen", "m-9"),
    "muted_threads": ("mute", "t-9"),
}
SESSION = "NANOCLAW_SESSION_NAME"
WRITING = [("register",), *FIELD_VERBS.values(), ("heartbeat",), ("pending", "clear")]


def state(shell: Shell, *words: str) -> Ran:
    """One verb, with all its files below the scratch root; mails are seen by `maintenance`."""
    named = (word for option, name in FILES.items() for word in (option, f".tmp/{name}"))
    before = shell.env.get(SESSION, "")
    shell.export(**{SESSION: "maintenance" if words[:1] == ("seen",) else before})
    try:
        return shell.run("state", "trusted-memory", *named, *words)
    finally:
        shell.export(**{SESSION: before})


def at(shell: Shell, option: str = "--file") -> Path:
    """One of the files."""
    return shell.scratch / FILES[option]


def left(shell: Shell, text: str | bytes = SAMPLE) -> Path:
    """The file as somebody left it."""
    at(shell).write_bytes(text.encode() if isinstance(text, str) else text)
    return at(shell)


def database(shell: Shell, *ids: object) -> Path:
    """The messages' database, with a row for each id."""
    with closing(sqlite3.connect(at(shell, "--messages-db"))) as made, made:
        made.execute("CREATE TABLE sessions (group_folder, session_name, session_id)")
        made.executemany("INSERT INTO sessions VALUES ('g', 'n', ?)", [(each,) for each in ids])
    return at(shell, "--messages-db")


def registered(text: str, name: str = "default", known: str | None = ID, now: float = NOW) -> Any:
    """What registering makes of a document, as JSON reads it."""
    after = store.register(JsonText(text), session=name, session_id=known, now=now)
    return json.loads(after.text)


@contextmanager
def somebody_locks(path: Path) -> Iterator[None]:
    """Another open file keeps us out, as another process would."""
    with path.with_name(f"{path.name}.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def places(shell: Shell, **environ: str) -> Surroundings:
    """Where a program runs that has these variables."""
    return Surroundings(
        environ=environ, directory=shell.top, top=shell.top, allowed=Roots((shell.scratch,))
    )


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_trusted_01_every_writer_takes_the_lock(shell: Shell, words: tuple[str, ...]) -> None:
    """A held lock keeps every writer out, for a bounded time; the lock file is never removed."""
    path = left(shell)
    with somebody_locks(path):
        ran = state(shell, *words, "--deadline", "0.1", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (7, "state-locked")
    assert path.read_text() == SAMPLE
    assert path.with_name("session-state.json.lock").read_bytes() == b""


ORIGINAL = """
import fcntl, json, os
GO
path = sys.argv[1]
for number in range(50):
    with open(path + ".lock", "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open(path) as file:
            state = json.load(file)
        time.sleep(0.002)
        state["seen_email_ids"].append(f"theirs {number}")
        with open(path + ".tmp", "w") as file:
            json.dump(state, file, indent=2)
        os.replace(path + ".tmp", path)
"""
OURS = """
from pathlib import Path
from markers.caches import trusted_memory as store
from markers.caches.engine import Cabinet
from markers.caches.files import StateFile
from markers.paths import Place, Roots
GO
path = Path(sys.argv[1])
place = Place(str(path), path.parent, (path.name,), Roots((path.parent,)))
cabinet = Cabinet(store.guest(), store.CODEC, StateFile(place=place))
for number in range(50):
    cabinet.update(lambda before: store.mute(before, f"ours {number}"), writer=store.MAIN)
"""


def test_trusted_02_two_programs_lose_nothing(shell: Shell) -> None:
    """50 changes each, of this program and of one that locks and writes as the original does."""
    path = left(shell)
    assert side_by_side(path, ORIGINAL, OURS) == [0, 0]
    found = json.loads(path.read_text())
    assert len(found["seen_email_ids"]) == 52
    assert len(found["muted_threads"]) == 51


def test_trusted_03_the_mode_is_kept(shell: Shell) -> None:
    """A new file is 0644; an old one keeps its mode, and a missing directory is made."""
    named = ("--file", ".tmp/deep/down/session-state.json")
    assert shell.run("state", "trusted-memory", *named, "mute", "t-1").code == 0
    made = shell.scratch / "deep/down/session-state.json"
    assert made.stat().st_mode & 0o777 == 0o644
    made.chmod(0o600)
    assert shell.run("state", "trusted-memory", *named, "mute", "t-2").code == 0
    assert made.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_trusted_04_a_write_that_fails(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """It is exit 1 and the first error is told; the old file is whole and no other is left."""
    path = left(shell)

    def full(*_names: object, **_at: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    ran = state(shell, *words, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (1, "state-unwritable")
    assert "No space" in ran.err
    assert path.read_text() == SAMPLE
    assert {each.name for each in shell.scratch.iterdir()} == {path.name, f"{path.name}.lock"}


def test_trusted_05_a_lock_that_cannot_be_opened(shell: Shell) -> None:
    """It is exit 1, one line, and nothing is written."""
    path = left(shell)
    path.with_name(f"{path.name}.lock").mkdir()
    ran = state(shell, "seen", "m-9")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert path.read_text() == SAMPLE


@pytest.mark.parametrize("words", [*WRITING, ("show",)], ids=" ".join)
def test_trusted_05_unreadable_state(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """What the system does not let us read is exit 1, and nothing is written."""
    path = left(shell)
    really = os.open

    def denied(name: str, *more: int, **where: int) -> int:
        if name == path.name:
            raise PermissionError(13, "Permission denied")
        return really(name, *more, **where)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", denied)
        ran = state(shell, *words, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (1, "state-unreadable")
    assert path.read_text() == SAMPLE


def test_trusted_06_the_owner_touches_its_own_only(shell: Shell) -> None:
    """All bytes but those of the session, the mirror and the version are as they were."""
    path = left(shell)
    shell.export(NANOCLAW_SESSION_NAME="maintenance")
    database(shell, "other")
    with clock.use(clock.FakeClock(NOW)):
        assert state(shell, "register").code == 0
    entry = SAMPLE.split('"maintenance": ')[1].split("}")[0] + "}"
    new = entry.replace("null", '"other"').replace("1930378800", "1930378500")
    new = new.replace("08:20:00", "08:15:00").replace("09:05:00", "08:15:00")
    expected = SAMPLE.replace(entry, new).replace('"session_id": null', '"session_id": "other"')
    assert path.read_text() == expected


def test_trusted_06_the_owner_may_write_nothing_else() -> None:
    """Other sessions and fields are not the owner's, in whichever session it runs."""
    own = store.owned("default").writers[store.OWNER]
    assert own == (("sessions", "default"), ("session_id",), ("schema_version",))


@pytest.mark.parametrize(
    "text", ['{"session_id": "old"}', '{"session_id": "old", "sessions": {"default": {}}}', "{}"]
)
def test_trusted_07_legacy_becomes_version_1(shell: Shell, text: str) -> None:
    """A file without a version is read, and gets its version at the owner's next write."""
    path = left(shell, text)
    assert state(shell, "show", "--json").document["condition"] == "usable"
    database(shell, ID)
    assert state(shell, "register").code == 0
    first = json.loads(path.read_text())
    assert (first["schema_version"], first["session_id"]) == (1, ID)
    assert list(first)[-1] == "schema_version"
    assert state(shell, "register").code == 0
    second = json.loads(path.read_text())
    for each in (first, second):
        for name in ("started", "epoch", "last_seen"):
            each["sessions"]["default"].pop(name)
    assert first == second


def test_trusted_08_a_missing_file(shell: Shell) -> None:
    """It is made: sessions, mirror, version; two blanks, ASCII, no final newline."""
    database(shell, "é")
    with clock.use(clock.FakeClock(NOW)):
        ran = state(shell, "register", "--json")
    assert ran.document["action"] == "created"
    entry = {"started": STAMP, "epoch": int(NOW), "session_id": "é", "last_seen": STAMP}
    expected = {"sessions": {"default": entry}, "session_id": "é", "schema_version": 1}
    assert at(shell).read_text() == json.dumps(expected, indent=2)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        SAMPLE.encode()[:-30],
        b"\xff\x00",
        b"[]",
        b"null",
        b'{"schema_version": "1"}',
        b'{"schema_version": true}',
        b"[" * 100_000,
    ],
    ids=["empty", "open", "half", "binary", "list", "null", "text", "true", "deep"],
)
def test_trusted_08_a_broken_file(shell: Shell, data: bytes) -> None:
    """The owner warns, keeps a copy and starts anew; readers and all others leave it alone."""
    path = left(shell, data)
    assert state(shell, "show", "--json").document["condition"] == "broken"
    for verb in FIELD_VERBS.values():
        ran = state(shell, *verb, "--json")
        assert (ran.code, ran.document["reason"]["code"]) == (3, "state-broken")
    assert path.read_bytes() == data
    ran = state(shell, "register", "--json")
    assert ran.code == 0
    assert any("started anew" in each for each in ran.document["warnings"])
    assert Path(ran.document["kept"]).read_bytes() == data
    assert json.loads(path.read_text())["schema_version"] == 1


def test_trusted_08_sessions_that_are_none(shell: Shell) -> None:
    """Sessions that are no object begin anew, with a warning and a copy; all else stays."""
    path = left(shell, before := '{"sessions": [7], "x": 1}')
    assert state(shell, "show", "--json").document["condition"] == "broken"
    ran = state(shell, "register", "--json")
    assert any("its sessions is not an object" in each for each in ran.document["warnings"])
    assert Path(ran.document["kept"]).read_text() == before
    found = json.loads(path.read_text())
    assert (found["x"], list(found["sessions"])) == (1, ["default"])


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        (NEWER, "newer"),
        (SAMPLE.replace('"schema_version": 1', '"schema_version": 0'), "broken"),
        ("[]", "broken"),
    ],
)
def test_trusted_09_who_is_not_the_owner(shell: Shell, text: str, condition: str) -> None:
    """A newer version, or what is none: no usable prior state, and no write."""
    path = left(shell, text)
    ran = state(shell, "show")
    assert (ran.code, ran.text.startswith("no usable prior state: ")) == (0, True)
    shown = state(shell, "show", "--json").document
    assert (shown["condition"], shown["state"], shown["session_id"]) == (condition, None, None)
    for verb in FIELD_VERBS.values():
        assert state(shell, *verb).code == 3
    assert path.read_text() == text


def test_trusted_09_who_is_not_the_owner_migrates_nothing(shell: Shell) -> None:
    """In a file without a version others write their field, and no version."""
    path = left(shell, '{"session_id": "old"}\n')
    assert state(shell, "seen", "m-1").code == 0
    assert path.read_text() == '{"session_id": "old", "seen_email_ids": ["m-1"]}\n'


def test_trusted_10_missing_is_no_prior_state(shell: Shell) -> None:
    """A reader makes nothing of a file that is not there, not even a lock."""
    ran = state(shell, "show", "--json")
    assert (ran.code, ran.document["condition"], ran.document["state"]) == (0, "missing", None)
    assert not list(shell.scratch.iterdir())


def test_trusted_11_each_field_has_its_writers() -> None:
    """Who may write what is declared, and the sentinel and the profile are files of their own."""
    assert store.STORE.writers == {
        "the heartbeat": (("sessions", "maintenance", "last_seen"), ("pending_response",)),
        "the session maintenance": (("seen_email_ids",),),
        "the session default": (("pending_response",), ("muted_threads",)),
        "another session than default and maintenance": (),
    }


@pytest.mark.parametrize(
    "words",
    [FIELD_VERBS["pending_response"], ("pending", "clear"), ("mute", "t"), ("unmute", "t-77")],
)
def test_trusted_11_another_sessions_field(shell: Shell, words: tuple[str, ...]) -> None:
    """A field that is not one's own is refused, and nothing is written."""
    path = left(shell)
    shell.export(NANOCLAW_SESSION_NAME="maintenance")
    ran = state(shell, *words, "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "state-field")
    assert path.read_text() == SAMPLE


def test_trusted_12_one_version_is_known() -> None:
    """What is read is what is written: a second version comes with readers first."""
    assert (store.STORE.current, store.STORE.accepts) == (1, {1})


@pytest.mark.parametrize(
    ("text", "name", "value", "source"),
    [
        (SAMPLE, "default", ID, "sessions.default.session_id"),
        (
            SAMPLE.replace('"session_id": null,\n  "p', '"session_id": "m",\n  "p'),
            "x",
            "m",
            "session_id",
        ),
        (SAMPLE, "maintenance", None, None),
        ('{"session_id": "m", "sessions": {"a": {"session_id": null}}}', "a", None, None),
        ('{"session_id": "m"}', "default", "m", "session_id"),
        ("{}", "default", None, None),
    ],
)
def test_trusted_13_whose_id_it_is(
    shell: Shell, text: str, name: str, value: str | None, source: str | None
) -> None:
    """A session's own field counts, even null; without one, the mirror, which never wins."""
    left(shell, text)
    shell.export(NANOCLAW_SESSION_NAME=name)
    shown = state(shell, "show", "--json").document
    assert (shown["session_id"], shown["source"]) == (value, source)


def test_trusted_13_the_mirror_follows() -> None:
    """The top-level id is that of whoever registered last."""
    found = registered(SAMPLE, "maintenance", "second")
    assert (found["session_id"], found["sessions"]["default"]["session_id"]) == ("second", ID)
    assert registered(SAMPLE, "maintenance", None)["session_id"] is None


@pytest.mark.parametrize(
    ("exported", "name"), [(None, "default"), ("", "default"), ("maintenance", "maintenance")]
)
def test_trusted_14_the_name(shell: Shell, exported: str | None, name: str) -> None:
    """It is NANOCLAW_SESSION_NAME, else `default`; an empty variable counts as unset."""
    if exported is not None:
        shell.export(NANOCLAW_SESSION_NAME=exported)
    assert state(shell, "register", "--json").document["session_name"] == name
    assert list(json.loads(at(shell).read_text())["sessions"]) == [name]


@pytest.mark.parametrize("name", ["a/b", "..", ".", "x" * 300, "a\nb", "*"])
def test_trusted_14_no_name(shell: Shell, name: str) -> None:
    """What can be no name is refused before anything is written."""
    shell.export(NANOCLAW_SESSION_NAME=name)
    ran = state(shell, "register", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "state-name")
    assert not list(shell.scratch.iterdir())


def no_table(shell: Shell) -> None:
    """A database without the table."""
    with closing(sqlite3.connect(at(shell, "--messages-db"))) as made, made:
        made.execute("CREATE TABLE other (session_id)")


def linked(shell: Shell) -> None:
    """A link where the database should be."""
    real = database(shell, ID)
    real.rename(real.with_name("real.db"))
    real.symlink_to("real.db")


NO_ID: dict[str, Callable[[Shell], object]] = {
    "missing": lambda _shell: None,
    "no table": no_table,
    "empty": lambda shell: database(shell),
    "null": lambda shell: database(shell, None),
    "number": lambda shell: database(shell, 7),
    "no database": lambda shell: at(shell, "--messages-db").write_text("x" * 5000),
    "directory": lambda shell: at(shell, "--messages-db").mkdir(),
    "link": linked,
}


@pytest.mark.parametrize("why", NO_ID)
def test_trusted_15_no_id(shell: Shell, why: str) -> None:
    """Whatever is wrong with the database, the id is null, stderr says so, and the exit is 0."""
    NO_ID[why](shell)
    ran = state(shell, "register")
    assert ran.code == 0
    assert "no session id" in ran.err
    assert json.loads(ran.out)["session_id"] is None
    assert json.loads(at(shell).read_text())["sessions"]["default"]["session_id"] is None


def test_trusted_15_the_first_row(shell: Shell) -> None:
    """The first row counts; that there are more is told, since it may be another session's."""
    path = database(shell, ID, "second")
    before = path.read_bytes()
    ran = state(shell, "register", "--json")
    assert ran.document["session_id"] == ID
    assert any("several rows" in each for each in ran.document["warnings"])
    assert path.read_bytes() == before


def test_trusted_15_a_locked_database(shell: Shell) -> None:
    """It is waited for, for ten seconds at most, and then it is no id."""
    path = database(shell, ID)
    assert messages.SECONDS == 10
    place = Place(str(path), path.parent, (path.name,), Roots((path.parent,)))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        found, note = messages.session_id(place, seconds=0.05)
    assert found is None
    assert "locked" in note
    assert messages.session_id(place) == (ID, "")


def test_trusted_16_the_sentinel(shell: Shell) -> None:
    """It holds the id and nothing else, is written whole, and makes no lock."""
    shell.export(CLAUDE_SESSION_ID="run-1")
    assert state(shell, "register", "--json").document["wrote_sentinel"] is True
    path = at(shell, "--sentinel")
    assert path.read_bytes() == b"run-1"
    assert path.stat().st_mode & 0o777 == 0o644
    assert not path.with_name(f"{path.name}.lock").exists()


@pytest.mark.parametrize("value", [None, "", " ", "a\nb", " a"])
def test_trusted_16_never_an_empty_sentinel(shell: Shell, value: str | None) -> None:
    """Without an id that can be found again none is written: a note, and exit 0."""
    if value is not None:
        shell.export(CLAUDE_SESSION_ID=value)
    ran = state(shell, "register")
    assert (ran.code, json.loads(ran.out)["wrote_sentinel"]) == (0, False)
    assert "no sentinel" in ran.err
    assert not at(shell, "--sentinel").exists()
    assert state(shell, "needs-bootstrap").code == 0


def test_trusted_16_the_state_comes_first(shell: Shell) -> None:
    """A state that cannot be written leaves no sentinel; a sentinel that cannot be is exit 1."""
    shell.export(CLAUDE_SESSION_ID="run-1")
    at(shell).mkdir()
    assert state(shell, "register").code == 1
    assert not at(shell, "--sentinel").exists()
    at(shell).rmdir()
    at(shell, "--sentinel").mkdir()
    assert state(shell, "register").code == 1
    assert json.loads(at(shell).read_text())["schema_version"] == 1


@pytest.mark.parametrize(
    ("current", "stored", "reason", "code"),
    [
        ("", b"", "claude_session_id_missing", 0),
        ("", b"run-1", "claude_session_id_missing", 0),
        ("run-1", None, "sentinel_missing", 0),
        ("run-1", b"\xff", "sentinel_unreadable", 0),
        ("run-1", b"", "sentinel_empty", 0),
        ("run-1", b" \n", "sentinel_empty", 0),
        ("run-1", b"done", "sentinel_mismatch", 0),
        ("run-1", b"run-1", "sentinel_match", 1),
        ("run-1", b"run-1\n", "sentinel_match", 1),
    ],
)
def test_trusted_17_needs_bootstrap(
    shell: Shell, current: str, stored: bytes | None, reason: str, code: int
) -> None:
    """Exit 0 is needed and 1 is not; one JSON line says why.  A sentinel by hand never matches."""
    shell.export(CLAUDE_SESSION_ID=current)
    if stored is not None:
        at(shell, "--sentinel").write_bytes(stored)
    ran = state(shell, "needs-bootstrap")
    said = json.loads(ran.out)
    assert (ran.code, said["reason"], said["needs_bootstrap"]) == (code, reason, code == 0)
    assert list(said) == ["needs_bootstrap", "current", "stored", "reason"]
    assert said["current"] == current
    assert state(shell, "needs-bootstrap", "--json").document["reason"] == reason


def test_trusted_17_a_sentinel_that_is_no_file(shell: Shell) -> None:
    """A directory or a link in its place cannot be read: bootstrap, with a note."""
    shell.export(CLAUDE_SESSION_ID="run-1")
    at(shell, "--sentinel").mkdir()
    ran = state(shell, "needs-bootstrap")
    assert (ran.code, json.loads(ran.out)["reason"]) == (0, "sentinel_unreadable")
    at(shell, "--sentinel").rmdir()
    (shell.scratch / "real").write_text("run-1")
    at(shell, "--sentinel").symlink_to("real")
    ran = state(shell, "needs-bootstrap")
    assert (ran.code, json.loads(ran.out)["reason"]) == (0, "sentinel_unreadable")
    assert "link" in ran.err


def test_trusted_17_only_equal_ids_match() -> None:
    """Nothing but two equal ids that are not empty is a match."""
    words = ("", "a", "b", None)
    matching = [
        (x, y) for x in words[:3] for y in words if sentinel.judged(x or "", y) == "sentinel_match"
    ]
    assert matching == [("a", "a"), ("b", "b")]


def test_trusted_18_one_line(shell: Shell) -> None:
    """Success is one JSON line with these five keys."""
    database(shell, ID)
    ran = state(shell, "register")
    assert ran.text.count("\n") == 1
    assert json.loads(ran.text) == {
        "session_id": ID,
        "session_name": "default",
        "schema_version": 1,
        "wrote_state": True,
        "wrote_sentinel": False,
    }


def test_trusted_24_places(shell: Shell) -> None:
    """Each file lies where the original has it; variables name profile and database elsewhere."""
    usual = {name: str(default(name, places(shell)).path) for name in ("addresses", "messages")}
    assert usual == {
        "addresses": "/workspace/trusted/user_profile.md",
        "messages": "/workspace/store/messages.db",
    }
    at_home = places(shell, USER_PROFILE_PATH="/x/me.md", MARKERS_MESSAGES_DB="db/y.db")
    assert default("addresses", at_home).path == Path("/x/me.md")
    assert default("messages", at_home).path == shell.top / "db/y.db"
    where = shell.run("state", "trusted-memory", "where", "--json").document
    assert where["path"] == "/workspace/group/session-state.json"
    assert where["lock"] == "/workspace/group/session-state.json.lock"
    assert where["sentinel"] == f"{os.path.realpath('/tmp')}/session_bootstrapped"  # noqa: S108 - the original's


def test_trusted_25_set_work_clear(shell: Shell) -> None:
    """The field is set before the work and null after the reply; clearing twice changes nothing."""
    path = left(shell, '{"schema_version": 1}')
    with clock.use(clock.FakeClock(NOW)):
        assert state(shell, "pending", "set", "--message-id", "8841", "--preview", "é\n").code == 0
    expected = {"message_id": "8841", "preview": "é\n", "reacted_at": STAMP}
    assert json.loads(path.read_text())["pending_response"] == expected
    cleared = state(shell, "pending", "clear", "--json").document
    assert (cleared["cleared"], cleared["action"]) == (expected, "updated")
    assert json.loads(path.read_text())["pending_response"] is None
    assert state(shell, "pending", "clear", "--json").document["action"] == "unchanged"


def test_trusted_25_another_message_is_pending(shell: Shell) -> None:
    """There is room for one: what is replaced is told."""
    left(shell)
    ran = state(shell, *FIELD_VERBS["pending_response"], "--json")
    assert ran.document["warnings"] == ["another message was pending: 8841"]


@pytest.mark.parametrize(
    ("reacted_at", "after", "goes"),
    [
        (STAMP, 3599, True),
        (STAMP, 3601, False),
        ("yesterday", 3601, True),
        (None, 3601, True),
        ("2031-03-04T08:15:00", 3601, True),
    ],
)
def test_trusted_25_the_heartbeat_clears_what_is_stale(
    shell: Shell, reacted_at: str | None, after: int, goes: bool
) -> None:
    """From whichever session, and it is given what was there, to repost or report it."""
    pending = {"message_id": "8841", "reacted_at": reacted_at}
    path = left(shell, json.dumps({"pending_response": pending}))
    shell.export(NANOCLAW_SESSION_NAME="maintenance")
    with clock.use(clock.FakeClock(clock.epoch(LATER))):
        ran = state(shell, "pending", "clear", "--stale-after", str(after), "--json")
    assert ran.code == 0
    assert ran.document["cleared"] == (pending if goes else None)
    assert json.loads(path.read_text())["pending_response"] == (None if goes else pending)


def test_trusted_a_the_heartbeat(shell: Shell) -> None:
    """It moves one time of the maintenance session, and makes no session."""
    path = left(shell)
    with clock.use(clock.FakeClock(clock.epoch(LATER))):
        assert state(shell, "heartbeat").text == f"last seen: {LATER}\n"
    assert path.read_text() == SAMPLE.replace("2031-03-04T09:05:00Z", LATER)
    left(shell, '{"sessions": {}}')
    ran = state(shell, "heartbeat", "--json")
    assert (ran.document["action"], path.read_text()) == ("unchanged", '{"sessions": {}}')


def test_trusted_a_seen_and_muted(shell: Shell) -> None:
    """Ids are added once, in order, the newest N of them kept; threads are muted and unmuted."""
    path = left(shell)
    assert state(shell, "seen", "m-1002", "m-1003", "m-1003").text == "seen: 3\n"
    assert json.loads(path.read_text())["seen_email_ids"] == ["m-1001", "m-1002", "m-1003"]
    assert state(shell, "seen", "m-1004", "--keep", "2").text == "seen: 2\n"
    assert state(shell, "seen", "m-1004", "--json").document["action"] == "unchanged"
    assert state(shell, "mute", "t-78").text == "muted: t-78\n"
    assert state(shell, "mute", "t-77", "--json").document["action"] == "unchanged"
    assert state(shell, "unmute", "t-77").code == 0
    found = json.loads(path.read_text())
    assert (found["seen_email_ids"], found["muted_threads"]) == (
        ["m-1003", "m-1004"],
        {"t-78": True},
    )


@pytest.mark.parametrize("verb", FIELD_VERBS)
def test_trusted_a_a_field_of_a_new_file(shell: Shell, verb: str) -> None:
    """Where there is no file yet, it begins with that field; the owner adds the rest."""
    assert state(shell, *FIELD_VERBS[verb], "--json").document["action"] == "created"
    assert list(json.loads(at(shell).read_text())) == [verb]


@pytest.mark.parametrize(
    "words",
    [
        ("seen",),
        ("seen", ""),
        ("mute", " "),
        ("unmute", ""),
        ("pending", "set", "--message-id", "", "--preview", "x"),
        ("pending", "set", "--message-id", "1"),
        ("pending", "clear", "--stale-after", "0"),
        ("pending",),
        ("address",),
        (),
        ("forget",),
    ],
)
def test_trusted_bad_input_usage(shell: Shell, words: tuple[str, ...]) -> None:
    """Missing and empty words are usage, and nothing is written."""
    assert state(shell, *words).code == 2
    assert not at(shell).exists()


def test_trusted_d_no_downgrade(shell: Shell) -> None:
    """The owner refuses a newer version, in whichever session, and writes no sentinel."""
    path = left(shell, NEWER)
    shell.export(CLAUDE_SESSION_ID="run-1")
    ran = state(shell, "register", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "state-newer")
    assert path.read_text() == NEWER
    assert not at(shell, "--sentinel").exists()


def test_trusted_d_nothing_of_a_broken_file_is_lost(shell: Shell) -> None:
    """Two broken files after each other leave two copies."""
    for text in ("{broken", "{broken again"):
        left(shell, text)
        assert state(shell, "register").code == 0
    copies = sorted(path.read_text() for path in shell.scratch.glob("*.corrupt-*"))
    assert copies == ["{broken", "{broken again"]


def test_trusted_d_a_session_keeps_its_beginning() -> None:
    """Registered again under the same id, only `last_seen` moves; unknown sub-keys always stay."""
    mine = SAMPLE.replace(
        '"started": "2031-03-04T08:15', '"mood": [1.0], "started": "2031-03-04T08:15'
    )
    again = registered(mine, now=clock.epoch(LATER))["sessions"]["default"]
    assert (again["started"], again["epoch"], again["last_seen"]) == (STAMP, int(NOW), LATER)
    other = registered(mine, known="other", now=clock.epoch(LATER))["sessions"]["default"]
    assert (other["started"], other["epoch"], other["last_seen"]) == (LATER, int(NOW) + 3600, LATER)
    assert again["mood"] == other["mood"] == [1.0]
    unknown = registered(mine, known=None, now=clock.epoch(LATER))["sessions"]["default"]
    assert (unknown["started"], unknown["session_id"]) == (LATER, None)


def test_trusted_bad_input_large_and_ended(shell: Shell) -> None:
    """A byte order mark, CRLF and a final newline stay; a file beyond all measure is exit 1."""
    data = b"\xef\xbb\xbf" + SAMPLE.replace("\n", "\r\n").encode() + b"\r\n"
    path = left(shell, data)
    assert state(shell, "unmute", "t-77").code == 0
    assert path.read_bytes() == data.replace(b'{"t-77": true}', b"{}")
    left(shell, " " * LIMIT + "{}")
    assert state(shell, "register").code == 1
    assert path.stat().st_size > LIMIT


@pytest.mark.parametrize("what", ["file", "lock"])
def test_trusted_bad_input_links(shell: Shell, what: str) -> None:
    """Neither the file nor its lock may be a link; nothing behind it is touched."""
    name = at(shell) if what == "file" else at(shell).with_name("session-state.json.lock")
    name.symlink_to("elsewhere")
    ran = state(shell, "register", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "path-symlink")
    assert not (shell.scratch / "elsewhere").exists()


@pytest.mark.parametrize("option", FILES)
def test_trusted_bad_input_names(shell: Shell, option: str) -> None:
    """Each place that is named bears the store's name and lies below the roots."""
    for named, code in (
        (".tmp/other.json", "path-name"),
        (f"../{FILES[option]}", "path-parent"),
        (f"/etc/{FILES[option]}", "path-outside"),
        ("", "path-invalid"),
    ):
        ran = shell.run("state", "trusted-memory", option, named, "where", "--json")
        assert (ran.code, ran.document["reason"]["code"]) == (3, code), named


@pytest.mark.parametrize("text", ["a\nb", "-->", "## Head", '"quotes"', "back\\slash", "\x1b[0m"])
def test_trusted_bad_input_texts(shell: Shell, text: str) -> None:
    """Any text is kept to the letter, since JSON can hold it."""
    assert state(shell, "pending", "set", "--message-id", text, "--preview", text).code == 0
    assert state(shell, "seen", "--", text).code == 0
    assert state(shell, "mute", "--", text).code == 0
    found = json.loads(at(shell).read_text())
    assert found["pending_response"]["preview"] == found["seen_email_ids"][0] == text
    assert list(found["muted_threads"]) == [text]


def test_trusted_names_of_sessions_are_checked() -> None:
    """A name that would match every session of the table of writers is none."""
    with pytest.raises(Refused, match="name of a session"):
        store.owned("*")

"""``state trusted-memory``: fields of another shape than the store's, and who may write which."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Ran, Shell, shell

from markers import clock
from markers.caches import trusted_memory as store
from markers.caches.json_text import JsonText

__all__ = ["shell"]

SESSION = "NANOCLAW_SESSION_NAME"
OWN = {"started": "2031-03-04T08:15:00Z", "epoch": 1930378500, "session_id": "s", "last_seen": "x"}
LONG = ["precious " * 40]
"""More than any message would show."""


@pytest.fixture
def state_file(shell: Shell) -> Path:
    """Where the file is."""
    return shell.scratch / "session-state.json"


def state(shell: Shell, *words: str, name: str = "") -> Ran:
    """One verb of the session *name*, with its files below the scratch root."""
    shell.export(**{SESSION: name})
    named = ("--file", ".tmp/session-state.json", "--sentinel", ".tmp/session_bootstrapped")
    return shell.run("state", "trusted-memory", *named, *words, "--json")


def left(path: Path, value: Any) -> str:
    """The file as somebody left it; its text."""
    path.write_text(json.dumps(value))
    return path.read_text()


def copies(path: Path) -> list[str]:
    """What was kept beside it."""
    return [each.read_text() for each in sorted(path.parent.glob(f"{path.name}.corrupt-*"))]


@pytest.mark.parametrize(
    "value",
    [
        {"sessions": LONG, "theirs": 1},
        {"sessions": None, "theirs": 1},
        {"sessions": {"default": LONG}, "theirs": 1},
        {"sessions": {"default": None}, "theirs": 1},
        {"sessions": {"default": {**OWN, "started": LONG}}, "theirs": 1},
        {"sessions": {"default": {**OWN, "last_seen": LONG}}, "theirs": 1},
        {"sessions": {"default": {**OWN, "epoch": "soon"}}, "theirs": 1},
        {"sessions": {"default": {**OWN, "session_id": LONG}}, "theirs": 1},
        {"session_id": LONG, "theirs": 1},
    ],
    ids=[
        "sessions",
        "no sessions",
        "entry",
        "no entry",
        "started",
        "last_seen",
        "epoch",
        "id",
        "mirror",
    ],
)
def test_trusted_08_what_registration_cannot_carry_over_is_kept(
    shell: Shell, state_file: Path, value: dict[str, Any]
) -> None:
    """A file with a shape that the owner's write undoes is kept whole, with a warning, once."""
    before = left(state_file, value)
    ran = state(shell, "register")
    assert (ran.code, copies(state_file)) == (0, [before])
    assert any(str(ran.document["kept"]) in each for each in ran.document["warnings"])
    found = json.loads(state_file.read_text())
    assert (found["theirs"], set(found["sessions"]["default"])) == (1, set(OWN))
    assert state(shell, "register").document["kept"] is None
    assert copies(state_file) == [before]


@pytest.mark.parametrize(
    "value",
    [
        {"pending_response": 7},
        {"muted_threads": []},
        {"seen_email_ids": {}},
        {"sessions": {"b": 1}},
    ],
)
def test_trusted_06_what_is_not_the_owners_is_no_reason_for_a_copy(
    shell: Shell, state_file: Path, value: dict[str, Any]
) -> None:
    """Another one's field is left as it is, whatever its shape."""
    left(state_file, value)
    assert state(shell, "register").document["kept"] is None
    found = json.loads(state_file.read_text())
    (name,) = value
    kept = found[name] if name != "sessions" else {"b": found[name]["b"]}
    assert (kept, copies(state_file)) == (value[name], [])


VERBS: dict[str, tuple[str, tuple[str, ...], Any]] = {
    "pending set": ("default", ("pending", "set", "--message-id", "1", "--preview", "x"), dict),
    "pending clear": ("default", ("pending", "clear"), type(None)),
    "stale": ("maintenance", ("pending", "clear", "--stale-after", "9"), type(None)),
    "mute": ("default", ("mute", "t"), dict),
    "seen": ("maintenance", ("seen", "m"), list),
    "heartbeat": ("default", ("heartbeat",), str),
}
FIELDS = {
    "pending set": ("pending_response",),
    "pending clear": ("pending_response",),
    "stale": ("pending_response",),
    "mute": ("muted_threads",),
    "seen": ("seen_email_ids",),
    "heartbeat": store.LAST_SEEN,
}
GOOD: dict[str, Any] = {
    "sessions": {"maintenance": OWN},
    "session_id": None,
    "pending_response": None,
    "seen_email_ids": [],
    "muted_threads": {},
}


@pytest.mark.parametrize("verb", VERBS)
def test_trusted_09_a_field_of_another_shape_is_begun_anew_by_its_writer(
    shell: Shell, state_file: Path, verb: str
) -> None:
    """Its own verb is the way out of it; the whole file is kept, and nothing else changes."""
    name, words, kind = VERBS[verb]
    spoilt = JsonText(json.dumps(GOOD)).put(FIELDS[verb], 7)
    state_file.write_text(spoilt.text)
    ran = state(shell, *words, name=name)
    assert (ran.code, copies(state_file)) == (0, [spoilt.text])
    after = JsonText(state_file.read_text())
    assert isinstance(after.get(FIELDS[verb]), kind)
    assert after.put(FIELDS[verb], 7).value == spoilt.value
    state(shell, *words, name=name)
    assert len(copies(state_file)) == 1


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("spoilt", [("pending_response",), ("muted_threads",), ("sessions", "b")])
def test_trusted_09_a_verb_judges_its_own_field(
    shell: Shell, state_file: Path, verb: str, spoilt: tuple[str, ...]
) -> None:
    """Another one's field of a wrong shape is no dead end, and stays as it is."""
    name, words, _kind = VERBS[verb]
    if spoilt == FIELDS[verb]:
        spoilt = ("session_id",)
    state_file.write_text(JsonText(json.dumps(GOOD)).put(spoilt, 7).text)
    assert state(shell, *words, name=name).code == 0
    assert JsonText(state_file.read_text()).get(spoilt) == 7
    assert copies(state_file) == []


def test_trusted_09_a_reader_says_how_a_session_is_mended(shell: Shell, state_file: Path) -> None:
    """An entry that is no object is no usable prior state until it is registered anew."""
    left(state_file, {"sessions": {"other": 7}})
    assert "`register` under that name" in state(shell, "show").document["why"]
    state(shell, "register", name="other")
    assert state(shell, "show").document["condition"] == "usable"


def test_trusted_09_no_heartbeat_without_sessions(shell: Shell, state_file: Path) -> None:
    """Sessions that are none are their owner's to mend: the heartbeat is refused."""
    before = left(state_file, {"sessions": 7})
    ran = state(shell, "heartbeat")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "state-broken")
    assert state_file.read_text() == before


@pytest.mark.parametrize(
    ("words", "name", "code"),
    [
        (("seen", "m"), "maintenance", 0),
        (("seen", "m"), "default", 3),
        (("seen", "m"), "", 3),
        (("seen", "m"), "other", 3),
        (("mute", "t"), "maintenance", 3),
        (("mute", "t"), "other", 3),
        (("pending", "clear", "--stale-after", "9"), "other", 0),
        (("heartbeat",), "default", 0),
        (("heartbeat",), "other", 0),
    ],
)
def test_trusted_11_who_writes_what(
    shell: Shell, state_file: Path, words: tuple[str, ...], name: str, code: int
) -> None:
    """Fields belong to sessions by name; the heartbeat is a program of its own."""
    before = left(state_file, {**GOOD, "pending_response": {"message_id": "1"}})
    ran = state(shell, *words, name=name)
    assert ran.code == code
    if code:
        assert ran.document["reason"]["code"] == "state-field"
        assert ", but for the session " in ran.err
        assert state_file.read_text() == before


def test_trusted_09_version_0_is_not_told_as_newer(shell: Shell, state_file: Path) -> None:
    """A version that there never was is a broken file: kept by the owner, refused by others."""
    before = left(state_file, {"schema_version": 0, "x": 1})
    assert state(shell, "show").document["condition"] == "broken"
    ran = state(shell, "mute", "t")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "state-broken")
    assert "upgrade" not in ran.err
    assert state(shell, "register").code == 0
    assert copies(state_file) == [before]


@pytest.mark.parametrize("words", [(), ("--sentinel", "/etc/passwd"), ("--sentinel", "x")])
def test_trusted_17_whatever_hinders_it_is_needed(shell: Shell, words: tuple[str, ...]) -> None:
    """Exit 0 and a warning where settings or options are refused: the answer is 0 or 1 alone."""
    if not words:
        shell.own_file.write_text("x = [")
    shell.export(CLAUDE_SESSION_ID="id")
    ran = shell.run("state", "trusted-memory", *words, "needs-bootstrap", "--json")
    told = ran.document
    assert (ran.code, told["needs_bootstrap"], told["current"]) == (0, True, "id")
    assert (told["reason"], len(told["warnings"])) == ("sentinel_unreadable", 1)
    assert json.loads(shell.run("state", "trusted-memory", *words, "needs-bootstrap").out) == {
        key: told[key] for key in ("needs_bootstrap", "current", "stored", "reason")
    }


def test_trusted_17_a_failure_of_another_verb_stays_one(shell: Shell) -> None:
    """The exit codes of all other verbs are as ever."""
    shell.own_file.write_text("x = [")
    assert shell.run("state", "trusted-memory", "show").code == 3


def test_trusted_d_a_beginning_that_is_none_is_mended() -> None:
    """A session that is registered again keeps its beginning only where it has one."""
    text = json.dumps({"sessions": {"default": {**OWN, "started": 7}}})
    after = store.register(JsonText(text), session="default", session_id="s", now=1_930_378_500.0)
    assert after.get(("sessions", "default", "started")) == clock.iso(1_930_378_500.0)
    assert after.get(("sessions", "default", "epoch")) == OWN["epoch"]

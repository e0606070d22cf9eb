"""The store ``agent-box``: its acceptance statements by number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from boxes import ENTRY, STORE, UNREADABLE, A, B, C, D, Home, box, home, locked, shell, times
from hypothesis import given
from hypothesis import strategies as st
from stores import place

from markers.caches import agent_box, launching, side_files
from markers.caches.agent_box import Wish, free_name, is_id
from markers.caches.json_text import JsonText
from markers.caches.launching import Recorded, Source, to_record
from markers.errors import MarkersError

__all__ = ["home", "shell"]


def test_box_01_intent_and_observation_are_apart(home: Home) -> None:
    """The operator's verbs touch the registry alone; the launch id is in the side file alone."""
    assert home.run("stop", "portal").code == 0
    assert home.run("restart", "portal").code == 0
    assert home.run("add", "docs").code == 0
    assert not list(home.side.iterdir())
    assert home.run("record-launch", "portal", A).code == 0
    assert json.loads((home.side / "portal.json").read_bytes()) == {"launchSessionId": A}


@pytest.mark.parametrize("field", ["agent", "stopped", "extraArgs"])
def test_box_01_the_supervisor_may_not_change_intent(tmp_path: Path, field: str) -> None:
    """What the operator wants is not the supervisor's to write, even by mistake."""
    (tmp_path / "sessions.json").write_bytes(b'{"sessions": {"a": {"agent": "x"}}}')
    registry = box(tmp_path).registry
    with pytest.raises(MarkersError, match="not for supervisor to change"):
        registry.update(lambda d: d.put(("sessions", "a", field), "y"), writer="supervisor")
    assert (tmp_path / "sessions.json").read_bytes() == b'{"sessions": {"a": {"agent": "x"}}}'


def test_box_02_and_08_two_rotations_end_at_the_newest_segment(home: Home) -> None:
    """A to B, then B to C: each start resumes the newest one and never an older one again."""
    for known in (A, B, C):
        home.transcript(known)
    assert home.run("record-launch", "portal", A).code == 0
    for before, after in ((A, B), (B, C)):
        assert home.run("rotate", before, after).code == 0
        found = home.launch()
        assert (found["launch_id"], found["rotated_from"]) == (after, before)
        assert (found["source"], found["has_run"]) == ("live-record", True)
        assert home.run("record-launch", "portal", after).code == 0
    assert home.launch()["launch_id"] == C
    assert home.sessions()["portal"]["boxSessionId"] == C


def test_box_03_one_function_spells_the_path(tmp_path: Path) -> None:
    """The side file of a session is the directory, its name and an ending."""
    directory = place(tmp_path)
    assert side_files.side_file(directory, "portal").place.path == tmp_path / "portal.json"


@pytest.mark.parametrize(
    ("side", "source"),
    [
        (f'{{"launchSessionId":"{B}"}}\n', Source.SIDE_FILE),
        (f'\n{{"launchSessionId": "{B}", "more": 1}}', Source.SIDE_FILE),
        (None, Source.REGISTRY),
        ("", Source.REGISTRY),
        ("{", Source.REGISTRY),
        ("[]", Source.REGISTRY),
        ('{"launchSessionId": 7}', Source.REGISTRY),
        ('{"launchSessionId": null}', Source.REGISTRY),
        ('{"launchSessionId": "../../etc/passwd"}', Source.REGISTRY),
        ('{"launchSessionId": "--------1111-4222-8333-444455556666"}', Source.REGISTRY),
        (f'{{"launchSessionId": "{B}\\n"}}', Source.REGISTRY),
        ("\udcff", Source.REGISTRY),
    ],
)
def test_box_04_side_file_then_registry(home: Home, side: str | None, source: str) -> None:
    """A side file that is missing, empty, broken or no UUID is a miss: the registry is asked."""
    if side is not None:
        (home.side / "portal.json").write_text(side, errors="surrogateescape")
    found = home.launch()
    assert found["source"] == source
    assert found["launch_id"] == (B if source == Source.SIDE_FILE else A)


@pytest.mark.parametrize("registry", [None, "", "abc", 7, "aaaaaaaa-1111-4222-8333-44445555666/"])
def test_box_04_an_id_is_minted_where_both_miss(home: Home, registry: object) -> None:
    """Without a usable id anywhere a new UUID is made, and nothing is written."""
    home.write({"portal": {**ENTRY, "boxSessionId": registry}})
    before = times(home.registry)
    first, second = home.launch(), home.launch()
    assert first["source"] == "minted"
    assert is_id(first["launch_id"])
    assert first["launch_id"] != second["launch_id"]
    assert times(home.registry) == before
    assert not list(home.side.iterdir())


@pytest.mark.parametrize(
    ("side", "has_run", "launched"),
    [(A, False, True), (None, True, True), (None, False, False), (None, "true", False)],
)
def test_box_05_launched(home: Home, side: str | None, has_run: object, launched: bool) -> None:
    """A session was launched where its side file answers, else where ``hasRun`` is true itself."""
    home.write({"portal": {**ENTRY, "hasRun": has_run}})
    if side:
        home.launched("portal", side)
    assert home.launch()["launched"] is launched


@pytest.mark.parametrize(
    ("agent", "stored", "transcript", "has_run"),
    [
        ("claude", True, False, False),
        ("claude", False, True, True),
        ("codex", True, False, True),
        ("codex", False, True, False),
        ("shell", True, False, True),
    ],
)
def test_box_06_has_run_is_derived(
    home: Home, agent: str, stored: bool, transcript: bool, has_run: bool
) -> None:
    """For claude the transcript decides, for others the launch; the stored copy never does."""
    home.write({"portal": {**ENTRY, "agent": agent, "hasRun": stored}})
    if transcript:
        home.transcript(A)
    assert home.launch()["has_run"] is has_run


@pytest.mark.parametrize(
    ("below", "found"), [(".", True), ("p", True), ("p/q", True), ("p/q/r", False)]
)
def test_box_06_transcripts_are_looked_for_three_levels_deep(
    home: Home, below: str, found: bool
) -> None:
    """A transcript lies at most three levels below the directory."""
    home.transcript(A, below=below)
    assert home.launch()["has_run"] is found


@pytest.mark.parametrize("without", ["claude", "launched", "transcript", "shape"])
def test_box_07_when_a_live_record_is_not_followed(home: Home, without: str) -> None:
    """Only claude, only launched, only to a transcript, only to what looks like an id."""
    agent = "codex" if without == "claude" else "claude"
    home.write({"portal": {**ENTRY, "agent": agent, "hasRun": without != "launched"}})
    (home.live / A).write_text("../x\n" if without == "shape" else f"{B}\n")
    if without != "transcript":
        home.transcript(B)
    assert home.launch()["launch_id"] == A


def test_box_07_one_hop_and_no_further(home: Home) -> None:
    """A record is followed once: the next one belongs to a start that has not been yet."""
    home.launched("portal", A)
    for before, after in ((A, B), (B, C)):
        (home.live / before).write_text(f"{after}\n")
        home.transcript(after)
    assert home.launch()["launch_id"] == B


def test_box_09_a_reverted_registry_does_not_matter(home: Home) -> None:
    """After a lost update brought back an old id and ``hasRun`` false, the side file resumes."""
    home.launched("portal", C)
    home.transcript(C)
    found = home.launch()
    assert (found["launch_id"], found["has_run"], found["launched"]) == (C, True, True)


@given(st.text(alphabet="0123456789abcdefABCDEF-/.\n ", min_size=30, max_size=40) | st.text())
def test_box_10_only_the_shape_of_an_id_is_one(text: str) -> None:
    """Eight, three times four and twelve hex digits; no dash stands for one, no line follows."""
    parts = text.split("-")
    fits = [len(part) for part in parts] == [8, 4, 4, 4, 12] and all(
        set(part) <= set("0123456789abcdefABCDEF") for part in parts
    )
    assert is_id(text) is fits
    assert is_id(A)


@pytest.mark.parametrize(
    "value", ["../x", "abc", f"{A}\n", "-" * 36, f"{A}x", "", "--help", A.replace("1", "٣")]
)
def test_box_10_ids_are_checked_before_they_are_written(home: Home, value: str) -> None:
    """What a reader would not take for an id is not written as one either."""
    for words in (("record-launch", "portal", "--", value), ("rotate", "--", A, value)):
        assert home.shell.run("state", "agent-box", *words).code == 2
    assert not list(home.side.iterdir())
    assert not list(home.live.iterdir())


@pytest.mark.parametrize(
    ("side", "registry", "has_run", "side_written", "mirror_written"),
    [
        (None, A, False, True, True),  # a first start
        (None, None, False, True, True),
        (A, A, True, False, False),  # the same again
        (B, B, True, True, True),  # a rotation that was adopted
        (None, A, True, True, False),  # the start that migrates
        (None, B, True, True, True),
        (A, B, False, False, False),  # a reverted registry is nobody's news
    ],
)
def test_box_11_and_13_what_a_start_writes(
    side: str | None, registry: str | None, has_run: bool, side_written: bool, mirror_written: bool
) -> None:
    """The side file where the id is news; the copy at a first start or a rotation only."""
    known = Recorded(agent="claude", side=side, registry=registry, has_run=has_run)
    todo = to_record(known, A)
    assert (todo.side, todo.mirror) == (side_written, mirror_written)


def test_box_11_a_session_that_fails_every_two_seconds_writes_nothing(home: Home) -> None:
    """Starting with the same id again and again leaves both files as they are."""
    assert home.run("record-launch", "portal", A).document["action"] == "updated"
    before = times(home.registry, home.side / "portal.json")
    for _ in range(3):
        ran = home.run("record-launch", "portal", A)
        assert ran.document["action"] == "unchanged"
        assert ran.document["wrote"] == {"side_file": False, "registry": False}
    assert times(home.registry, home.side / "portal.json") == before


def test_box_12_a_side_file_that_cannot_be_written_costs_no_start(home: Home) -> None:
    """The start goes on with a warning, and no temporary file stays."""
    home.side.rmdir()
    home.side.write_text("in the way")
    ran = home.run("record-launch", "portal", A)
    assert (ran.code, ran.document["wrote"]) == (0, {"side_file": False, "registry": True})
    assert "side file was not written" in ran.document["warnings"][0]
    assert sorted(p.name for p in home.registry.parent.iterdir()) == [
        "sessions.json",
        "sessions.json.lock",
    ]


def test_box_13_the_mirror_never_creates_an_entry(home: Home) -> None:
    """A session that was delisted or stopped meanwhile is told as gone, and stays so."""
    for sessions in ({}, {"portal": {**ENTRY, "stopped": True}}):
        home.write(sessions)
        ran = home.run("record-launch", "portal", A)
        assert (ran.code, ran.document["reason"]["code"]) == (1, "session-gone")
        assert home.sessions() == sessions
        assert not list(home.side.iterdir())
    document = JsonText('{"sessions": {}}')
    assert agent_box.started(document, name="portal", launch_id=A) == document


def test_box_14_the_first_prompt_fires_once(home: Home) -> None:
    """A first start clears it; all that the operator said besides stays byte for byte."""
    assert home.run("record-launch", "portal", B).code == 0
    expected = {**ENTRY, "initialPrompt": None, "boxSessionId": B, "hasRun": True}
    assert home.sessions() == {"portal": expected}


def test_box_19_names_that_are_not_listed_are_swept(home: Home) -> None:
    """The files of sessions that are gone go; all that is no name of a session stays."""
    stays = [home.launched("portal", A), home.launched("od.d", A), home.side / "portal.json.tmp"]
    stays[-1].write_text("theirs")
    (home.side / "dir.json").mkdir()
    goes = home.launched("gone", A)
    ran = home.run("sweep")
    assert (ran.code, ran.document["deleted"], ran.document["left"]) == (
        0,
        ["gone.json"],
        ["dir.json"],
    )
    assert all(path.exists() for path in stays)
    assert not goes.exists()
    assert "could not be deleted: dir.json" in ran.document["warnings"][0]


@pytest.mark.parametrize("kind", [*UNREADABLE, "missing", "directory", "link"])
def test_box_20_an_unreadable_registry_deletes_nothing(home: Home, kind: str) -> None:
    """Whatever is wrong with the registry, no side file goes, and the registry stays as it is."""
    kept = [home.launched("portal", A), home.launched("gone", B)]
    home.registry.unlink()
    if kind == "directory":
        home.registry.mkdir()
    elif kind == "link":
        (home.shell.home / "real.json").write_text('{"sessions": {}}')
        home.registry.symlink_to(home.shell.home / "real.json")
    elif kind != "missing":
        home.write_raw(UNREADABLE[kind])
    before = list(home.registry.parent.iterdir())
    ran = home.run("sweep")
    assert (ran.code, ran.document["action"]) == (0, "unchanged")
    assert "nothing was swept" in ran.document["warnings"][0]
    assert all(path.exists() for path in kept)
    assert list(home.registry.parent.iterdir()) == before


def test_box_20_an_empty_registry_deletes_all(home: Home) -> None:
    """A registry that lists nobody is an answer, and the last file goes with the last session."""
    home.launched("portal", A)
    home.launched("gone", B)
    home.write({})
    assert home.run("sweep").document["deleted"] == ["gone.json", "portal.json"]
    assert not list(home.side.iterdir())


def test_box_20_a_sweep_without_the_lock_deletes_nothing(home: Home) -> None:
    """Who is adding a session right now must not lose its file."""
    kept = home.launched("gone", A)
    with locked(home.registry):
        ran = home.run("sweep", "--deadline", "0.1")
    assert (ran.code, kept.exists()) == (7, True)


def test_box_21_a_stopped_session_keeps_its_file(home: Home) -> None:
    """Stopped is not gone: its conversation goes on when it is started again."""
    home.launched("portal", C)
    assert home.run("stop", "portal").code == 0
    assert home.run("sweep").document["deleted"] == []
    assert home.run("restart", "portal").code == 0
    assert home.launch()["launch_id"] == C


@pytest.mark.parametrize("by", ["rm", "another program"])
def test_box_21_a_name_that_is_used_again_gets_no_old_id(home: Home, by: str) -> None:
    """Neither after ``rm`` nor where somebody delisted it without a sweep since."""
    home.launched("portal", C)
    if by == "rm":
        assert home.run("rm", "portal").code == 0
        assert not list(home.side.iterdir())
    else:
        home.write({})
    minted = home.run("add", "portal").document["launch_id"]
    found = home.launch()
    assert (found["launch_id"], found["source"]) == (minted, "registry")
    assert minted not in (A, C)


def test_box_23_stop_and_restart_are_a_flag(home: Home) -> None:
    """The flag is there only when it is true; setting it twice is no write."""
    assert home.run("stop", "portal").document["action"] == "updated"
    assert home.sessions()["portal"] == {**ENTRY, "stopped": True}
    before = times(home.registry)
    assert home.run("stop", "portal").document["action"] == "unchanged"
    assert times(home.registry) == before
    assert home.run("restart", "portal").document["action"] == "updated"
    assert home.sessions()["portal"] == ENTRY
    assert home.run("restart", "portal").document["action"] == "unchanged"


@pytest.mark.parametrize(
    "words",
    [
        ("stop", "nobody"),
        ("restart", "nobody"),
        ("launch-id", "nobody"),
        ("show", "nobody"),
        ("stop",),
        ("stop", "portal", "--no-such-option"),
        ("add", "a/b"),
        ("add", ".."),
        ("add", "a" * 151),
        ("add", "a\nb"),
        ("add", "ä"),
        ("add", "x", "--agent", "../bin"),
        ("rm", "a b"),
        ("launch-id", "../../x"),
        ("rotate", A),
        ("nothing",),
    ],
)
def test_box_24_usage_is_exit_2(home: Home, words: tuple[str, ...]) -> None:
    """Names that are none, sessions that are none and unknown options; nothing is written."""
    before = home.registry.read_bytes()
    assert home.run(*words).code == 2
    assert home.registry.read_bytes() == before


@pytest.mark.parametrize("registry", ["there", "missing"])
def test_box_24_already_gone_is_success(home: Home, registry: str) -> None:
    """Taking off the list what is not on it is done already, and makes no file."""
    if registry == "missing":
        home.registry.unlink()
    before = sorted(home.registry.parent.iterdir())
    ran = home.run("rm", "nobody")
    assert (ran.code, ran.document["action"]) == (0, "unchanged")
    if registry == "missing":
        assert sorted(home.registry.parent.iterdir()) == before
        assert home.run("stop", "nobody").code == 2
        assert sorted(home.registry.parent.iterdir()) == before


@pytest.mark.parametrize(
    ("taken", "cwd", "name"),
    [
        ([], None, "claude"),
        (["claude"], "/src/portal", "portal"),
        (["claude", "portal"], "/src/portal/", "portal-2"),
        (["claude", "portal", *(f"portal-{n}" for n in range(2, 9))], "/src/portal", "portal-9"),
        (["claude", "portal", *(f"portal-{n}" for n in range(2, 10))], "/p/portal", "claude-0bad"),
        (["claude"], "/srv/agent", "claude-0bad"),
        (["claude"], None, "claude-0bad"),
        (["claude"], "/src/my site!", "my-site"),
        (["claude"], "/src/" + "x" * 149, "claude-0bad"),
        (["claude", "claude-0bad"], None, "claude-1bad"),
    ],
)
def test_box_25_names_that_are_made(taken: list[str], cwd: str | None, name: str) -> None:
    """The agent, else its directory, up to nine of it, else four hex digits."""
    chances = iter(["0bad", "1bad"])
    wish = Wish(agent="claude", working_directory=cwd)
    assert free_name(taken, wish, "/srv/agent", lambda: next(chances)) == name


def test_box_25_a_session_without_a_name_is_listed(home: Home) -> None:
    """The answer says which name it was given, and the entry has every field."""
    home.registry.unlink()
    ran = home.run("add", "--prompt", "do", "--arg", "--model", "--arg", "x", "--ask-permissions")
    assert (ran.document["name"], ran.document["action"]) == ("claude", "created")
    assert home.sessions() == {
        "claude": {
            "agent": "claude",
            "skipPermissions": False,
            "remoteControl": True,
            "remoteControlName": None,
            "workingDirectory": None,
            "extraArgs": ["--model", "x"],
            "initialPrompt": "do",
            "resumePrompt": None,
            "boxSessionId": ran.document["launch_id"],
            "hasRun": False,
        }
    }
    assert home.registry.stat().st_mode & 0o777 == 0o600
    assert json.loads(home.registry.read_bytes())["version"] == 1


@pytest.mark.parametrize("kind", [*UNREADABLE, "missing"])
def test_box_26_a_reader_never_fails(home: Home, kind: str) -> None:
    """A registry with any trouble lists nobody; the trouble is told on the side."""
    home.registry.unlink()
    if kind != "missing":
        home.write_raw(UNREADABLE[kind])
    ran = home.run("show")
    assert (ran.code, ran.document["sessions"]) == (0, {})
    assert ran.document["condition"] in ("missing", "broken", "newer")
    assert ran.document["warnings"]


def test_box_26_show_names_what_is_derived(home: Home) -> None:
    """State and launch id of each session, and the entry as the operator wrote it."""
    home.write({"portal": ENTRY, "odd": 7, "od/d": {"agent": 3}})
    home.launched("portal", B)
    rows = home.run("show").document["sessions"]
    assert list(rows) == ["portal", "od/d"]
    assert rows["portal"]["launch_id"] == B
    assert rows["portal"]["entry"] == ENTRY
    assert (rows["od/d"]["agent"], rows["od/d"]["launch_id"]) == ("", None)
    told = home.shell.run("state", "agent-box", "show", "portal").text
    assert told == f"portal claude wanted (never ran) {B}\n"


def test_box_27_the_hook_notes_the_live_id(home: Home) -> None:
    """A SessionStart event and the launch id of the pane make a record, in silence."""
    home.shell.export(AGENT_BOX_SESSION_ID=A)
    event = json.dumps({"session_id": B, "source": "clear"}).encode()
    ran = home.shell.run("state", "agent-box", "rotate", "--hook", stdin=event)
    assert (ran.code, ran.out, ran.err) == (0, b"", "")
    assert (home.live / A).read_bytes() == f"{B}\n".encode()
    assert [path.name for path in home.live.iterdir()] == [A]


@pytest.mark.parametrize(
    ("launched", "event"),
    [
        ("", f'{{"session_id": "{B}"}}'),
        ("../x", f'{{"session_id": "{B}"}}'),
        (A, ""),
        (A, "{"),
        (A, "[]"),
        (A, '{"session_id": 7}'),
        (A, '{"session_id": "../x"}'),
        (A, "[" * 100_000),
    ],
)
def test_box_27_a_hook_never_fails(home: Home, launched: str, event: str) -> None:
    """Whatever it is given, it ends well, says nothing and writes nothing."""
    home.shell.export(AGENT_BOX_SESSION_ID=launched)
    ran = home.shell.run("state", "agent-box", "rotate", "--hook", stdin=event.encode())
    assert (ran.code, ran.out, ran.err) == (0, b"", "")
    assert not list(home.live.iterdir())


def test_box_27_a_hook_survives_a_directory_in_the_way(home: Home) -> None:
    """A record that cannot be written is no trouble of the session."""
    home.shell.export(AGENT_BOX_SESSION_ID=A)
    (home.live / A).mkdir()
    event = f'{{"session_id": "{B}"}}'.encode()
    ran = home.shell.run("state", "agent-box", "rotate", "--hook", stdin=event)
    assert (ran.code, ran.out, ran.err) == (0, b"", "")


@pytest.mark.parametrize("text", ["a\nb", "-->", "## x", "\"'\\", "\x00", "ä\u2028", "-n"])
def test_texts_are_kept_as_they_are(home: Home, text: str) -> None:
    """A prompt is data: whatever is in it comes back, and no other field changes."""
    if "\x00" not in text:
        assert home.run("add", "new", f"--prompt={text}", f"--cwd={text}").code == 0
        assert home.sessions()["new"]["initialPrompt"] == text
    assert home.sessions()["portal"] == ENTRY


def test_where_names_all_places(home: Home) -> None:
    """Registry, lock, root and the three directories, and that git does not track the file."""
    found = home.run("where").document
    assert found["path"] == str(home.registry)
    assert found["lock"] == f"{home.registry}.lock"
    assert (found["side_dir"], found["live_dir"]) == (str(home.side), str(home.live))
    assert (found["transcripts"], found["tracked"]) == (str(home.projects), False)


def test_other_places_can_be_named(home: Home) -> None:
    """Registry and directories may lie below the scratch root, and nowhere else."""
    scratch = home.shell.scratch
    options = ("--registry", ".tmp/sessions.json", "--side-dir", ".tmp/side")
    assert home.run(*options, "add", "x").code == 0
    assert home.run(*options, "record-launch", "x", D).code == 0
    assert "x" in json.loads((scratch / "sessions.json").read_bytes())["sessions"]
    assert (scratch / "side/x.json").exists()
    assert home.run("--registry", ".tmp/other.json", "show").code == 3
    for option in ("--registry", "--side-dir", "--live-dir", "--transcripts"):
        assert home.run(option, "/etc/sessions.json", "show").code == 3
        assert home.run(option, ".tmp/../sessions.json", "show").code == 3


def test_the_box_can_say_where_its_registry_is(home: Home) -> None:
    """The variable of the box's own programs counts, as it does for them."""
    there = home.shell.home / "elsewhere" / "sessions.json"
    home.shell.export(AGENT_BOX_SESSIONS_FILE=str(there))
    assert home.run("add", "x").document["path"] == str(there)
    assert "x" in json.loads(there.read_bytes())["sessions"]
    assert list(home.sessions()) == ["portal"]


def test_a_minted_id_answers_as_a_script_needs_it(home: Home) -> None:
    """For people the id comes first on its line, and its source behind it."""
    assert home.shell.run("state", "agent-box", "launch-id", "portal").text == f"{A} registry\n"


def test_the_mirror_fields_are_declared() -> None:
    """The store says which fields repeat another, and that they may go."""
    assert {mirror.field[-1] for mirror in STORE.mirrors} == {"boxSessionId", "hasRun"}
    assert all(mirror.until for mirror in STORE.mirrors)
    assert launching.Source.SIDE_FILE in STORE.chain[0].replace(" ", "-")

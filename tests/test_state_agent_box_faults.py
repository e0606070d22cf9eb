"""The store ``agent-box``: its lock, many writers at once, and faults that are no more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from boxes import ENTRY, UNREADABLE, A, B, C, D, Home, box, home, locked, shell

from markers.caches import agent_box
from markers.caches.agent_box import Wish
from markers.errors import MarkersError

__all__ = ["home", "shell"]


def test_box_15_a_lock_held_for_long_is_gone_without(home: Home) -> None:
    """After the wait it is written without the lock, with a warning."""
    with locked(home.registry):
        ran = home.run("stop", "portal", "--deadline", "0.1")
    assert (ran.code, ran.document["action"]) == (0, "updated")
    assert "without its lock" in ran.document["warnings"][0]
    assert home.sessions()["portal"]["stopped"] is True


def test_box_15_a_lock_that_cannot_be_opened_is_gone_without(home: Home) -> None:
    """A directory in place of the lock file does not keep the box from working."""
    home.registry.with_name("sessions.json.lock").mkdir()
    ran = home.run("stop", "portal")
    assert (ran.code, home.sessions()["portal"]["stopped"]) == (0, True), ran


def test_box_15_a_linked_lock_is_refused(home: Home, tmp_path: Path) -> None:
    """A lock file that is a link could lock, or make, a file anywhere."""
    lock = home.registry.with_name("sessions.json.lock")
    lock.symlink_to(tmp_path / "elsewhere")
    ran = home.run("stop", "portal")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "path-symlink")
    assert not (tmp_path / "elsewhere").exists()


def test_box_16_the_lock_is_reentrant(tmp_path: Path) -> None:
    """Who holds the lock writes without waiting for itself."""
    made = box(tmp_path, wait=0.05)
    made.add(Wish(agent="claude"), "a", "/")
    with made.registry.file.held(pytest.fail):
        assert not made.flag(agent_box.stop, "a").warnings


def test_box_16_a_lock_that_is_handed_over_counts(home: Home) -> None:
    """A program that was started under the lock takes the descriptor that a variable names."""
    command = home.shell.command("state", "agent-box", "add", "hook", "--json", "--deadline", "5")
    with locked(home.registry) as lock:
        done = subprocess.run(
            command,
            env={**home.shell.env, "AGENT_BOX_REGISTRY_LOCK_FD": str(lock)},
            pass_fds=(lock,),
            capture_output=True,
            cwd=home.shell.top,
            check=True,
            timeout=30,
        )
    assert json.loads(done.stdout)["warnings"] == []
    assert "hook" in home.sessions()


def test_box_16_a_descriptor_of_another_file_is_not_the_lock(home: Home) -> None:
    """A variable that names no lock, or nothing, is as if it were not there."""
    with locked(home.registry), (home.side / "other").open("w") as other:
        for value in (str(other.fileno()), "987", "x", "-1"):
            home.shell.export(AGENT_BOX_REGISTRY_LOCK_FD=value)
            ran = home.run("stop", "portal", "--deadline", "0.05")
            assert "without its lock" in ran.document["warnings"][0], value


def test_box_17_a_free_name_is_free_when_it_is_taken(home: Home) -> None:
    """A name that is taken is refused, and the entry that has it stays as it is."""
    before = home.registry.read_bytes()
    ran = home.run("add", "portal", "--agent", "codex")
    assert (ran.code, ran.document["reason"]["code"]) == (2, "name-taken")
    assert home.registry.read_bytes() == before


ADDS = """
import sys
from pathlib import Path
sys.path[:0] = {tests!r}
from boxes import box
from markers.caches.agent_box import Wish
made = box(Path(sys.argv[1]))
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    made.add(Wish(agent="claude"), f"{{sys.argv[2]}}-{{number}}", "/")
"""
FOREIGN = """
import fcntl, json, os, sys
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
path = root + "/sessions.json"
sys.stdin.readline()
for number in range(count):
    with open(path + ".lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        document = json.load(open(path))
        document["sessions"][f"{name}-{number}"] = {"agent": "codex"}
        with open(path + "." + name, "w") as file:
            json.dump(document, file)
        os.rename(path + "." + name, path)
"""


def race(root: Path, programs: list[str], count: int) -> set[str]:
    """Let the programs add *count* sessions each at once; the answer is all that is listed."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(root), f"w{number}", str(count)],
            stdin=subprocess.PIPE,
        )
        for number, program in enumerate(programs)
    ]
    for each in running:
        assert each.stdin is not None
        each.stdin.write(b"go\n")
        each.stdin.close()
    assert [each.wait(60) for each in running] == [0] * len(programs)
    return set(json.loads((root / "sessions.json").read_bytes())["sessions"])


@pytest.mark.parametrize("foreign", [0, 2])
def test_box_18_four_writers_lose_nothing(tmp_path: Path, foreign: int) -> None:
    """Four writers add 25 sessions each and 100 are there, also beside writers of another make."""
    here = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    (tmp_path / "sessions.json").write_text('{"version": 1, "sessions": {}}')
    ours = ADDS.format(tests=here)
    found = race(tmp_path, [*[ours] * (4 - foreign), *[FOREIGN] * foreign], 25)
    assert found == {f"w{writer}-{number}" for writer in range(4) for number in range(25)}


def test_box_18_two_processes_lose_nothing_in_fifty_each(tmp_path: Path) -> None:
    """Two writers of fifty changes each: a hundred are there."""
    here = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    assert len(race(tmp_path, [ADDS.format(tests=here)] * 2, 50)) == 100


def test_box_18_a_delete_that_races_a_first_start_wins(tmp_path: Path) -> None:
    """Whichever comes first, a session that was taken off the list is never on it again."""
    made = box(tmp_path)
    for number in range(40):
        name = f"s{number}"
        made.add(Wish(agent="claude"), name, "/")
        gate = threading.Barrier(2)

        def start(name: str = name, gate: threading.Barrier = gate) -> None:
            gate.wait()
            try:
                made.record_launch(name, A)
            except MarkersError as error:
                assert error.reason.code == "session-gone"  # noqa: PT017 - the other order

        starting = threading.Thread(target=start)
        starting.start()
        gate.wait()
        threading.Event().wait(number % 8 / 2000)  # so that either comes first now and then
        made.remove(name)
        starting.join()
    assert json.loads((tmp_path / "sessions.json").read_bytes())["sessions"] == {}
    made.sweep()
    assert not list((tmp_path / "side").glob("*"))


def test_fault_live_records_are_reclaimed(home: Home) -> None:
    """Records of ids that no listed session was launched with go on demand, and no others."""
    home.launched("portal", B)
    for known in (A, B, C):
        (home.live / known).write_text(f"{D}\n")
    (home.live / "README").write_text("theirs")
    assert home.run("sweep").document["deleted"] == []
    assert home.run("sweep", "--live-records").document["deleted"] == [C]
    assert sorted(path.name for path in home.live.iterdir()) == sorted([A, B, "README"])


def test_fault_live_records_stay_where_a_side_file_cannot_be_read(home: Home) -> None:
    """An id that is not known may be any: nothing goes."""
    (home.side / "portal.json").mkdir()
    (home.live / C).write_text(f"{D}\n")
    gone = home.launched("gone", A)
    assert home.run("sweep", "--live-records").code == 1
    assert gone.exists()
    assert (home.live / C).exists()


CHANGES: dict[str, tuple[str, ...]] = {
    "add": ("add", "new"),
    "rm": ("rm", "portal"),
    "stop": ("stop", "portal"),
    "restart": ("restart", "portal"),
    "record-launch": ("record-launch", "portal", A),
}


@pytest.mark.parametrize("verb", CHANGES)
@pytest.mark.parametrize("kind", UNREADABLE)
def test_fault_nothing_is_written_after_a_failed_read(home: Home, verb: str, kind: str) -> None:
    """A registry that cannot be read is never replaced by an almost empty one."""
    home.write_raw(UNREADABLE[kind])
    kept = home.launched("portal", B)
    ran = home.run(*CHANGES[verb])
    assert ran.code in (1, 3)
    assert ran.document["reason"]["code"] in ("state-broken", "state-newer")
    assert home.registry.read_bytes() == UNREADABLE[kind]
    assert kept.exists()


@pytest.mark.parametrize("verb", ["add", "rm", "stop", "restart", "record-launch", "launch-id"])
@pytest.mark.parametrize("kind", ["directory", "link", "no permission"])
def test_fault_what_cannot_be_opened_is_not_replaced(
    home: Home, verb: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory, a link or a file of somebody else in its place ends the command."""
    home.registry.rename(home.shell.home / "real.json")
    if kind == "directory":
        home.registry.mkdir()
    elif kind == "link":
        home.registry.symlink_to(home.shell.home / "real.json")
    else:
        home.write({"portal": ENTRY})
        monkeypatch.setattr(os, "open", denying("sessions.json"))
    words = CHANGES.get(verb, ("launch-id", "portal"))
    assert home.run(*words).code in (1, 3)
    assert (home.shell.home / "real.json").exists()
    assert sorted(p.name for p in home.registry.parent.iterdir())[0] == "sessions.json"


def denying(name: str) -> Callable[..., int]:
    """``os.open`` of a user who may not open files called *name*."""
    really = os.open

    def opened(path: Any, *words: Any, **more: Any) -> int:
        if path == name:
            raise PermissionError(13, "Permission denied")
        return really(path, *words, **more)

    return opened


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_fault_what_another_program_wrote_is_kept(home: Home, newline: str, mark: str) -> None:
    """Unknown keys, entries that are no objects, order, spacing, CRLF and BOM survive a change."""
    text = '{\n\t"x-note": [1e400, "\\u00e4"],\n\t"sessions": {\n\t\t"odd": 7,\n\t\t"portal": '
    text = mark + (text + "%s\n\t}\n}").replace("\n", newline)
    before = text % '{"agent":"claude","their":[1,2]}'
    home.write_raw(before.encode())
    assert home.run("stop", "portal").code == 0
    after = text % '{"agent":"claude","their":[1,2], "stopped": true}'
    assert home.registry.read_bytes() == after.encode()


def test_fault_an_entry_that_is_no_object_is_left_alone(home: Home) -> None:
    """It cannot be flagged, and it can be taken off the list."""
    home.write({"odd": 7})
    assert home.run("stop", "odd").document["reason"]["code"] == "session-entry"
    assert home.sessions() == {"odd": 7}
    assert home.run("rm", "odd").code == 0
    assert home.sessions() == {}

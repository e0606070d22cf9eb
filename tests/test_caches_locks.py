"""The lock of a state file, beside others who lock as its owner does (stores, point 3)."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest
from stores import cabinet, names, place, putting, state_file

from markers.caches.declared import Posture
from markers.caches.files import StateFile
from markers.caches.locks import locked
from markers.errors import Failed, Refused, Unavailable
from markers.model import Action

ROOT = Path(__file__).parents[1]
ENV = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}


@contextmanager
def somebody_locks(root: Path) -> Iterator[None]:
    """Another open file of this process: ``flock`` keeps it out as it does another process."""
    with (root / "state.json.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def spawned(code: str, *args: str) -> subprocess.Popen[bytes]:
    """A Python process with the tests' own modules at hand."""
    return subprocess.Popen([sys.executable, "-c", dedent(code), *args], env=ENV)


def test_a_lock_held_for_ever_ends_in_unavailable(tmp_path: Path) -> None:
    """The wait is bounded, and nothing is written."""
    (tmp_path / "state.json").write_text('{"version": 2}')
    with somebody_locks(tmp_path), pytest.raises(Unavailable) as caught:
        cabinet(tmp_path).update(putting("a", 1))
    assert caught.value.reason.code == "state-locked"
    assert (tmp_path / "state.json").read_text() == '{"version": 2}'


def test_a_store_may_go_on_without_its_lock(tmp_path: Path) -> None:
    """It writes in the end, and warns."""
    with somebody_locks(tmp_path):
        done = cabinet(tmp_path, posture=Posture.GO_ON).update(putting("a", 1))
    assert done.action is Action.CREATED
    assert "without its lock" in done.warnings[0]


def test_a_lock_that_is_given_back_is_taken(tmp_path: Path) -> None:
    """Whoever waits goes on within the next poll."""
    file = state_file(tmp_path, wait=5)
    freed = threading.Event()

    def hold() -> None:
        with somebody_locks(tmp_path):
            freed.wait(5)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        threading.Timer(0.15, freed.set).start()
        with file.held(pytest.fail) as held:
            held.write(b"x")
    finally:
        holder.join()


@pytest.mark.parametrize("posture", list(Posture))
def test_a_lock_file_that_is_a_link_is_refused(tmp_path: Path, posture: Posture) -> None:
    """A link could make us lock, or make, a file elsewhere: no posture goes on."""
    (tmp_path / "state.json.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused) as caught:
        cabinet(tmp_path, posture=posture).update(putting("a", 1))
    assert caught.value.reason.code == "path-symlink"
    assert names(tmp_path) == {"state.json.lock"}


def test_a_lock_file_that_cannot_be_opened_fails(tmp_path: Path) -> None:
    """A directory in its place: fail closed, or go on with a warning."""
    (tmp_path / "state.json.lock").mkdir()
    with pytest.raises(Failed) as caught:
        cabinet(tmp_path).update(putting("a", 1))
    assert caught.value.reason.code == "state-lock"
    assert not (tmp_path / "state.json").exists()
    done = cabinet(tmp_path, posture=Posture.GO_ON).update(putting("a", 1))
    assert "without its lock" in done.warnings[0]


def test_the_lock_is_re_entrant_in_one_thread_only(tmp_path: Path) -> None:
    """An update inside an update of the same thread goes through; another thread waits."""
    file = state_file(tmp_path)
    seen: list[str] = []

    def other() -> None:
        with pytest.raises(Unavailable), file.held(seen.append):
            seen.append("in")

    with file.held(pytest.fail), file.held(pytest.fail) as inner:
        inner.write(b"x")
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == []
    with file.held(pytest.fail):
        pass


def test_a_lock_file_that_is_cleaned_away_locks_nobody_out(tmp_path: Path) -> None:
    """Whoever waited on the removed file takes the new one, so that two never hold it at once."""
    file = state_file(tmp_path, wait=5)
    lock = tmp_path / "state.json.lock"
    held_there: list[int] = []
    with somebody_locks(tmp_path):
        thread = threading.Thread(target=lambda: held_there.append(holding(file)))
        thread.start()
        time.sleep(0.1)
        lock.unlink()
    thread.join()
    assert held_there == [lock.stat().st_ino]


def holding(file: StateFile) -> int:
    """The inode of the lock file that lies there while the lock is held."""
    with file.held(pytest.fail):
        return Path(f"{file}.lock").stat().st_ino


def test_children_do_not_inherit_it(tmp_path: Path) -> None:
    """A child that outlives the holder does not keep the lock."""
    file = state_file(tmp_path)
    with file.held(pytest.fail):
        child = subprocess.Popen(["sleep", "5"], close_fds=False)
    try:
        with file.held(pytest.fail):
            pass
    finally:
        child.kill()
        child.wait()


def test_a_lock_that_was_handed_over_counts_as_held(tmp_path: Path) -> None:
    """A program started by the holder, with the descriptor, goes on under the same lock."""
    where = place(tmp_path, "state.json")
    with (tmp_path / "state.json.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        at = os.open(tmp_path, os.O_RDONLY)
        try:
            with locked(where, at, wait=0, inherited=file.fileno()):
                pass
            with (tmp_path / "other").open("a") as other:
                strange = locked(where, at, wait=0, inherited=other.fileno())
                with pytest.raises(Unavailable), strange:
                    pass
        finally:
            os.close(at)


WRITER = """
    import sys
    from pathlib import Path
    from stores import cabinet, state_file
    from markers.caches.engine import Cabinet
    from dataclasses import replace
    root, name = Path(sys.argv[1]), sys.argv[2]
    store = cabinet(root)
    store = Cabinet(store.store, store.codec, replace(store.file, wait=60))
    for at in range(50):
        store.update(lambda document: document.put((name, str(at)), at))
    """


def test_two_processes_lose_none_of_fifty_writes_each(tmp_path: Path) -> None:
    """Each of 100 read-modify-writes is there in the end."""
    processes = [spawned(WRITER, str(tmp_path), name) for name in ("one", "two")]
    assert [process.wait(60) for process in processes] == [0, 0]
    value = cabinet(tmp_path).look().value
    assert value is not None
    assert {name: len(value.get((name,))) for name in ("one", "two")} == {"one": 50, "two": 50}


@pytest.mark.needs("flock")
def test_a_shell_program_with_flock_and_we_lose_nothing(tmp_path: Path) -> None:
    """A program that locks with ``flock(1)`` and replaces the file, as the originals do."""
    script = """
        for i in $(seq 50); do
          flock "$0/state.json.lock" sh -c '
            text=$(cat "$0/state.json")
            sleep 0.002
            printf "%s, \\"sh$1\\": 1}" "${text%\\}}" > "$0/next"
            mv "$0/next" "$0/state.json"' "$0" "$i"
        done"""
    (tmp_path / "state.json").write_text('{"version": 2}')
    shell = subprocess.Popen(["sh", "-c", dedent(script), str(tmp_path)])
    ours = spawned(WRITER, str(tmp_path), "one")
    assert (shell.wait(60), ours.wait(60)) == (0, 0)
    value = cabinet(tmp_path).look().value
    assert value is not None
    assert len(value.get(("one",))) == 50
    assert sum(name.startswith("sh") for name in value.value) == 50


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from stores import cabinet, putting
    root, steps = Path(sys.argv[1]), 0
    ours = ("replacing.py", "files.py", "locks.py", "engine.py", "paths.py")

    def child(last):
        count = 0
        def trace(frame, event, arg):
            nonlocal count
            if not frame.f_code.co_filename.endswith(ours):
                return None
            count += event == "line"
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace
        sys.settrace(trace)
        cabinet(root).update(putting("a", last))
        sys.settrace(None)
        os._exit(0)

    while True:
        steps += 1
        pid = os.fork()
        if pid == 0:
            child(steps)
        _, status = os.waitpid(pid, 0)
        text = (root / "state.json").read_text()
        assert text in ('{"version": 2, "a": -1}', '{"version": 2, "a": %d}' % steps), text
        (root / "state.json").write_text('{"version": 2, "a": -1}')
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0
            break
        assert steps < 2000
    print(steps)
    """


def test_kill_9_at_every_line_of_a_write_leaves_a_whole_file(tmp_path: Path) -> None:
    """The old text or the new one, and the lock is free: only a temporary file may stay."""
    (tmp_path / "state.json").write_text('{"version": 2, "a": -1}')
    process = subprocess.run(
        [sys.executable, "-c", dedent(KILLED), str(tmp_path)],
        env=ENV, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert int(process.stdout) > 100
    others = names(tmp_path) - {"state.json", "state.json.lock"}
    assert others
    assert all(name.startswith(".state.json.") and name.endswith(".tmp") for name in others)
    assert cabinet(tmp_path).update(putting("b", 1)).action is Action.UPDATED

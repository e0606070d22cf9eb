"""A SQLite journal among processes that die, wait and are interrupted."""

from __future__ import annotations

import gc
import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from journals import INTENT, OTHER, THREAD, outcome

from markers import clock
from markers.errors import Refused, Unavailable
from markers.journal import locks
from markers.journal.sqlite import SqliteJournal

PRELUDE = """
import dataclasses, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from journals import INTENT, THREAD
from markers.journal.sqlite import SqliteJournal
journal = SqliteJournal(Path(sys.argv[1]))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a journal is to be; the directory is missing."""
    return tmp_path / "state" / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    """A journal on a file that is not there yet."""
    with closing(SqliteJournal(path)) as journal:
        yield journal


def start(path: Path, script: str) -> subprocess.Popen[str]:
    """Run *script* in another process, with ``journal`` on *path*."""
    code = PRELUDE + textwrap.dedent(script)
    command = [sys.executable, "-c", code, str(path), str(Path(__file__).parent)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def killed(path: Path, script: str) -> None:
    """Run *script*, which says ``ready`` and waits, and kill it there."""
    with start(
        path, f"{textwrap.dedent(script)}\nprint('ready', flush=True)\nsignal.pause()"
    ) as it:
        assert it.stdout is not None
        assert it.stdout.readline() == "ready\n"
        it.kill()
        assert it.wait() == -signal.SIGKILL


def lock_file(path: Path) -> Path:
    """The file behind the lock of ``THREAD``."""
    return Path(f"{path}.locks") / hashlib.sha256(THREAD.encode()).hexdigest()


class TestProcesses:
    """Several processes on one file, and processes that die."""

    def test_many_at_once_from_nothing(self, path):
        """Processes that find no journal make one, and one chain, together."""
        script = "for _ in range(20): journal.append(INTENT, replaced='x')"
        processes = [start(path, script) for _ in range(4)]
        for process in processes:
            with process:
                assert process.wait() == 0
        with closing(SqliteJournal(path)) as journal:
            assert [entry.seq for entry in journal.entries()] == list(range(1, 81))
            assert journal.verify() == []

    def test_many_threads_from_nothing(self, path):
        """Threads with a journal each do the same."""
        journals = [SqliteJournal(path) for _ in range(6)]
        gate = threading.Barrier(len(journals))

        def work(journal: SqliteJournal) -> None:
            gate.wait()
            with closing(journal):
                journal.append(INTENT)

        threads = [threading.Thread(target=work, args=(journal,)) for journal in journals]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with closing(SqliteJournal(path)) as journal:
            assert len(journal.latest(9)) == 6

    def test_killed_after_the_intent(self, path, journal):
        """An intent that was recorded before the crash is there, open, and the chain goes on."""
        killed(path, "journal.append(INTENT, replaced='before')")
        (entry,) = journal.open_intents([THREAD])
        assert entry.record == INTENT
        assert journal.body(entry.replaced) == "before"
        journal.append(outcome(entry.seq))
        assert journal.open_intents() == []
        assert journal.verify() == []

    def test_killed_inside_a_transaction(self, path, journal):
        """What was not committed never was."""
        journal.append(INTENT)
        killed(
            path,
            """
            db = journal._made().db
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO audit VALUES (2, 'half', 'half')")
            """,
        )
        assert journal.append(INTENT).seq == 2
        assert journal.verify() == []

    def test_killed_while_making_the_journal(self, path, journal):
        """A file that has no tables yet is finished by the next who comes."""
        killed(
            path,
            """
            from markers.journal import database
            database._create(journal.path, 5)
            """,
        )
        assert journal.append(INTENT).seq == 1

    def test_a_lock_dies_with_its_holder(self, path, journal):
        """Another process keeps us out while it lives and not a moment longer."""
        hold = "lock = journal.lock([THREAD], wait=0); lock.__enter__(); print('held', flush=True)"
        with start(path, f"{hold}; signal.pause()") as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(Unavailable, match="another writer"), journal.lock([THREAD], wait=0):
                pytest.fail("two writers at once")
            with journal.lock([OTHER], wait=0):
                pass
            holder.kill()
            with journal.lock([THREAD], wait=5):
                pass


class TestLockFiles:
    """The files behind the locks."""

    def test_a_removed_file_does_not_split_the_lock(self, path, journal):
        """After somebody cleared the lock files away, two later comers still exclude each other."""
        held = journal.lock([THREAD], wait=0)
        with held:
            lock_file(path).unlink()
        with (
            journal.lock([THREAD], wait=0),
            pytest.raises(Unavailable, match="another writer"),
            journal.lock([THREAD], wait=0),
        ):
            pytest.fail("two writers at once")

    def test_a_file_replaced_between_opening_and_locking(self, path, journal, monkeypatch):
        """A lock on a file that is no longer at its path is not taken for the lock."""
        journal.append(INTENT)
        real, removed = locks.fcntl.flock, []

        def flock(file: Any, operation: int) -> None:
            if not removed:
                removed.append(lock_file(path))
                removed[0].unlink()
            real(file, operation)

        monkeypatch.setattr(locks.fcntl, "flock", flock)
        with clock.use(clock.FakeClock()), journal.lock([THREAD], wait=1):
            assert removed[0].exists()
            with pytest.raises(Unavailable), journal.lock([THREAD], wait=0):
                pytest.fail("two writers at once")

    def test_a_symlink_is_not_followed(self, path, journal, tmp_path):
        """A link planted among the lock files leads nowhere."""
        with journal.lock([THREAD], wait=0):
            file = lock_file(path)
            file.unlink()
        file.symlink_to(tmp_path / "target")
        with pytest.raises(Unavailable) as caught, journal.lock([THREAD], wait=0):
            pytest.fail("locked a link")
        assert caught.value.reason.code == "journal"
        assert not (tmp_path / "target").exists()

    def test_a_pipe_keeps_nobody_waiting(self, path, journal):
        """A pipe planted among the lock files is an error at once, not a wait for its reader."""
        with journal.lock([THREAD], wait=0):
            file = lock_file(path)
            file.unlink()
        os.mkfifo(file)
        with pytest.raises(Unavailable) as caught, journal.lock([THREAD], wait=0):
            pytest.fail("locked a pipe")
        assert caught.value.reason.code == "journal"

    @pytest.mark.parametrize("there", [True, False], ids=["to a directory", "to nothing"])
    def test_a_linked_directory_is_refused(self, path, journal, tmp_path, there):
        """Locks that would lie elsewhere are refused, and nothing is made there."""
        path.parent.mkdir()
        elsewhere = tmp_path / "elsewhere"
        if there:
            elsewhere.mkdir()
        Path(f"{path}.locks").symlink_to(elsewhere)
        for use in (lambda: journal.append(INTENT), journal.lock([THREAD], wait=0).__enter__):
            with pytest.raises(Refused) as caught:
                use()
            assert caught.value.reason.code == "journal-symlink"
        assert elsewhere.exists() == there
        assert not there or not list(elsewhere.iterdir())

    def test_a_directory_swapped_for_a_link_is_not_followed(
        self, path, journal, tmp_path, monkeypatch
    ):
        """Who swaps the directory after it was looked at gains nothing."""
        journal.append(INTENT)
        folder = Path(f"{path}.locks")
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()

        def swap(_folder: Path) -> None:
            folder.rename(tmp_path / "before")
            folder.symlink_to(elsewhere)

        monkeypatch.setattr(locks, "make_folder", swap)
        with pytest.raises(Unavailable), journal.lock([THREAD], wait=0):
            pytest.fail("locked elsewhere")
        assert not list(elsewhere.iterdir())


def interrupted(step: int, call: Callable[[], Any]) -> bool:
    """Call, with Ctrl-C at the *step*-th line that runs in the journal; whether it came."""
    left = step

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.endswith(("contextlib.py", *WATCHED)):
            return None
        left -= event in ("line", "return")
        if left == 0:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


WATCHED = tuple(
    f"journal/{name}.py"
    for name in ("sqlite", "sql", "database", "locks", "private", "trouble", "chain")
)


@pytest.fixture
def collected() -> Iterator[Callable[[], int]]:
    """Collect what the test itself left lying about; all older objects are passed over."""
    gc.freeze()
    yield gc.collect
    gc.unfreeze()


class TestInterrupt:
    """Ctrl-C at any moment."""

    # What is caught between being opened and being owned is closed when the process ends; here the
    # collector stands for that, which warns.
    @pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
    @pytest.mark.parametrize("fresh", [True, False], ids=["new file", "open journal"])
    def test_whole_or_not_at_all(self, tmp_path, fresh, collected):
        """Ctrl-C at each line of an append leaves a whole entry or none, and a usable journal."""
        step, came, journal, count = 0, True, SqliteJournal(tmp_path / "0"), 0
        while came:
            step += 1
            if fresh:
                journal.close()
                journal, count = SqliteJournal(tmp_path / str(step)), 0
            came = interrupted(step, partial(journal.append, INTENT, replaced=f"body {step}"))
            collected()
            found = len(list(journal.entries()))
            assert found in (count, count + 1)
            assert len(journal.open_intents()) == found
            count = journal.append(INTENT).seq
            assert count == found + 1
            assert journal.verify() == []
        journal.close()
        assert step > 30

    def test_a_transaction_left_behind(self, journal):
        """Even if a second Ctrl-C stops the rolling back, the next call starts clean."""
        journal.append(INTENT)
        journal._made().db.execute("BEGIN IMMEDIATE")
        journal._session.db.execute("DELETE FROM open_intent")
        assert journal.append(INTENT).seq == 2
        assert len(journal.open_intents()) == 2

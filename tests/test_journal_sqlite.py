"""What a journal in a SQLite file owes beyond the common suite: its files and their trouble."""

from __future__ import annotations

import os
import resource
import sqlite3
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from journals import INTENT, THREAD

from markers import clock
from markers.clock import Deadline
from markers.errors import Refused, Unavailable
from markers.journal import chain, database, locks, sqlite
from markers.journal.interface import SCHEMA_VERSION, DamagedJournal, Kind
from markers.journal.schema import SQLITE
from markers.journal.sqlite import SqliteJournal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a journal is to be; the directory is missing."""
    return tmp_path / "state" / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    """A journal on a file that is not there yet."""
    with closing(SqliteJournal(path)) as journal:
        yield journal


@contextmanager
def without_privilege(*places: Path) -> Iterator[None]:
    """Be an ordinary user who owns *places*: root may write everywhere."""
    if os.geteuid() != 0:
        yield
        return
    for place in places:
        os.chown(place, 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A directory that an ordinary user can get to."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def mode(path: Path) -> int:
    """Permission bits."""
    return stat.S_IMODE(path.lstat().st_mode)


class TestFiles:
    """Who may look at it."""

    def test_private_from_the_start(self, path, journal):
        """Directories are 0700 and files 0600, whatever the umask."""
        before = os.umask(0)
        try:
            journal.append(INTENT)
            with journal.lock([THREAD], wait=0):
                pass
        finally:
            os.umask(before)
        files = [path, Path(f"{path}-wal"), Path(f"{path}-shm"), *Path(f"{path}.locks").iterdir()]
        assert {mode(file) for file in files} == {0o600}
        assert {mode(path.parent), mode(Path(f"{path}.locks"))} == {0o700}

    def test_a_loose_file_is_tightened_a_directory_is_not(self, path, journal):
        """What the file grants to others is taken away; the user's directory is the user's."""
        journal.append(INTENT)
        journal.close()
        path.chmod(0o664)
        path.parent.chmod(0o755)
        assert len(journal.latest(1)) == 1
        assert (mode(path), mode(path.parent)) == (0o600, 0o755)

    def test_symlink(self, path, tmp_path):
        """A link is not followed, be it to a journal, to another file or to nothing."""
        path.parent.mkdir()
        path.symlink_to(tmp_path / "target")
        with closing(SqliteJournal(path)) as journal, pytest.raises(Refused) as caught:
            journal.append(INTENT)
        assert caught.value.reason.code == "journal-symlink"
        assert not (tmp_path / "target").exists()

    def test_nothing_is_made_before_it_is_needed(self, path, journal):
        """Holding a journal costs nothing until it is used."""
        journal.close()
        assert not path.parent.exists()

    def test_a_blank_file_becomes_a_journal(self, path, journal):
        """A file made by mktemp will do."""
        path.parent.mkdir()
        path.touch()
        assert journal.append(INTENT).seq == 1
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)

    def test_pruned_bodies_leave_the_disk(self, path, journal):
        """A dropped body is not left behind in unused pages or in the WAL, and space comes back."""
        secret = "not to be found again " * 20_000
        journal.append(replace(INTENT, kind=Kind.OUTCOME), replaced=secret)
        journal.append(INTENT)
        with clock.use(clock.FakeClock(4_000_000_000)):
            assert journal.prune(clock.now()) == 1
        left = [file.read_bytes() for file in path.parent.iterdir() if file.is_file()]
        assert not any(b"not to be found" in content for content in left)
        assert path.stat().st_size < 100_000

    def test_queued_texts_leave_the_disk(self, path, journal):
        """What was delivered or dropped is not left behind in the file or in its log."""
        given = journal.enqueue(THREAD, "not to be found again " * 20_000)
        journal.dequeue(given)
        left = [file.read_bytes() for file in path.parent.iterdir() if file.is_file()]
        assert not any(b"not to be found" in content for content in left)
        assert path.stat().st_size < 100_000

    def test_version_1_is_brought_up(self, path, journal, monkeypatch):
        """A journal of the first version gets what is new, and keeps what it has."""
        with monkeypatch.context() as before:
            before.setattr(database, "SQLITE", SQLITE[:1])
            database.made(path, patience=1).close()
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA user_version").fetchone() == (1,)
            sealed = chain.seal(
                INTENT, seq=1, at=chain.stamp(0), version="0", replaced=None, previous=chain.GENESIS
            )
            with db:
                db.execute("INSERT INTO audit VALUES (1, ?, ?)", (sealed.text, sealed.hash))
                db.execute("INSERT INTO open_intent VALUES (1, ?, NULL)", (THREAD,))
        assert journal.verify() == []
        with clock.use(clock.FakeClock(50)):
            assert journal.age(journal.entry(1)) == 50
        assert journal.append(INTENT).seq == 2
        assert journal.enqueue(THREAD, "a") == 1
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)

    def test_version_2_is_brought_up(self, path, journal, monkeypatch):
        """A question for a base brings the tables of the version before it up first."""
        with monkeypatch.context() as before:
            before.setattr(database, "SQLITE", SQLITE[:2])
            database.made(path, patience=1).close()
        assert journal.base(["pair"]) is None
        journal.set_base(["pair"], "text")
        assert journal.base(["pair"]).text == "text"

    def test_a_base_that_was_changed_is_not_acted_upon(self, path, journal):
        """A base text that is not what was kept is damage."""
        journal.set_base(["pair"], "text")
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE base SET content = ?", (b"another",))
        with pytest.raises(DamagedJournal):
            journal.base(["pair"])


def fails(journal: SqliteJournal) -> str:
    """Append in vain; the error's detail, which names the journal."""
    with closing(journal), pytest.raises(Unavailable) as caught:
        journal.append(INTENT)
    assert caught.value.reason.code == "journal"
    assert str(journal.path) in caught.value.reason.detail
    return caught.value.reason.detail


class TestTrouble:
    """What cannot be used says so, says why and what to do."""

    def test_not_a_database(self, path, journal):
        """Some other file is left as it is."""
        path.parent.mkdir()
        path.write_text("dear diary, " * 100)
        assert "it is not a database; move it away, or name another" in fails(journal)
        assert path.read_text() == "dear diary, " * 100

    def test_another_programs_database(self, path, journal):
        """Another program's tables are not joined by ours."""
        path.parent.mkdir()
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE songs (title)")
        assert "another program's database" in fails(journal)
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("songs",)]

    @pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
    def test_not_a_file(self, path, journal, make):
        """A directory or a pipe is no journal, and does not make the command hang."""
        path.parent.mkdir()
        make(path)
        assert "not a regular file" in fails(journal)

    def test_the_directory_cannot_be_made(self, path, journal):
        """A file where the directory should be."""
        path.parent.touch()
        assert f"Not a directory: {path}; check the owner and the mode" in fails(journal)

    def test_no_permission(self, open_folder):
        """A directory that may not be written to."""
        open_folder.chmod(0o555)
        with without_privilege(open_folder):
            detail = fails(SqliteJournal(open_folder / "journal.db"))
        assert "Permission denied" in detail

    def test_read_only(self, open_folder):
        """A journal that may only be read is of no use to a writer, and stays as it is."""
        path = open_folder / "journal.db"
        with closing(SqliteJournal(path)) as journal:
            journal.append(INTENT)
        before = path.read_bytes()
        path.chmod(0o400)
        with without_privilege(open_folder, path):
            detail = fails(SqliteJournal(path))
        assert "it cannot be written to; check the owner and the mode" in detail
        assert path.read_bytes() == before

    def test_newer(self, path, journal):
        """A later version's journal is refused, to readers too, and is not touched."""
        journal.append(INTENT)
        journal.close()
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        for use in (lambda: journal.append(INTENT), lambda: journal.latest(1)):
            with pytest.raises(Refused, match="upgrade handoff-markers") as caught:
                use()
            assert caught.value.reason.code == "journal-newer"
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("SELECT count(*) FROM audit").fetchone() == (1,)

    def test_busy(self, path, journal, monkeypatch):
        """Who finds the file held for too long is told; reading and opening wait for nobody."""
        journal.append(INTENT)
        monkeypatch.setattr(sqlite, "LEAST_SECONDS", 0.05)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            second = SqliteJournal(path, deadline=Deadline(0))
            assert len(second.latest(1)) == 1
            assert "another process has kept it busy" in fails(second)
        assert journal.verify() == []

    def test_no_wait_outlasts_the_deadline(self, path, journal, monkeypatch):
        """A journal that others hold is waited for as long as the command has time, all in all."""
        monkeypatch.setattr(sqlite, "LEAST_SECONDS", 0.01)
        journal.append(INTENT)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            with closing(SqliteJournal(path, deadline=Deadline(0.2))) as second:
                for _ in range(4):
                    assert "another process has kept it busy" in fails(second)
        assert 0.2 <= time.monotonic() - began < 1.5

    def test_waits_grow_again_with_the_deadline(self, path, journal):
        """A deadline that is moved (pacing) gives the journal its patience back."""
        deadline = Deadline(0)
        with closing(SqliteJournal(path, deadline=deadline)) as patient:
            patient.append(INTENT)
            deadline.extend(60)
            patient.append(INTENT)
            (wait,) = patient._session.db.execute("PRAGMA busy_timeout").fetchone()
        assert wait == sqlite.BUSY_SECONDS * 1000

    def test_making_waits_no_longer_than_the_deadline(self, path, monkeypatch):
        """Who finds another process making the journal waits within the deadline, too."""
        monkeypatch.setattr(sqlite, "LEAST_SECONDS", 0.01)
        began = time.monotonic()
        making = locks.hold(database.lock_folder(path), (f"the new journal {path}",), wait=0)
        with making, closing(SqliteJournal(path, deadline=Deadline(0.1))) as second:
            with pytest.raises(Unavailable, match="another writer") as caught:
                second.append(INTENT)
            assert caught.value.reason.code == "locked-out"
        assert time.monotonic() - began < 1.5

    @pytest.mark.parametrize("beside", ["", "-wal", "-shm", "-journal"])
    def test_links_beside_it(self, path, journal, tmp_path, beside):
        """A link in the place of any of its files is refused, and what it leads to untouched."""
        journal.append(INTENT)
        journal.close()
        target = tmp_path / "target"
        target.write_bytes(b"x")
        target.chmod(0o644)
        place = Path(f"{path}{beside}")
        place.unlink(missing_ok=True)
        place.symlink_to(target)
        with pytest.raises(Refused) as caught:
            journal.latest(1)
        assert caught.value.reason.code == "journal-symlink"
        assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b"x", 0o644)

    def test_disk_full(self, path, journal):
        """When the disk is full an append leaves nothing, and the next one with room succeeds."""
        journal.append(INTENT)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
        try:
            with pytest.raises(Unavailable, match="full") as caught:
                journal.append(INTENT, replaced="x" * 400_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert caught.value.reason.code == "journal"
        assert [entry.seq for entry in journal.entries()] == [1]
        assert journal.append(INTENT, replaced="x" * 400_000).seq == 2
        assert journal.verify() == []

    def test_damaged_pages(self, path, journal):
        """A file with a torn page is reported as damaged, not as a bug."""
        for _ in range(50):
            journal.append(INTENT)
        journal.close()
        content = path.read_bytes()
        path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
        with pytest.raises(DamagedJournal, match=r"its pages are torn.*--repair-journal"):
            list(journal.entries())

"""A SQLite journal that a disk, a copy or a hand has damaged: what is noticed, and the way on."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from command_line import Shell, at_forge, bodies, forge, shell
from hypothesis import given, settings
from hypothesis import strategies as st
from journals import INTENT, THREAD, outcome

from markers import clock
from markers.errors import MarkersError, Refused, Unavailable
from markers.forge import Forge
from markers.journal.interface import DamagedJournal, Entry
from markers.journal.sqlite import SqliteJournal

__all__ = ["at_forge", "forge", "shell"]
ENTRIES = 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a journal is to be; the directory is missing."""
    return tmp_path / "state" / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    """A journal on a file that is not there yet."""
    with closing(SqliteJournal(path)) as journal:
        yield journal


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Entry]]:
    """A journal of some pages, at rest, and its entries."""
    path = tmp_path_factory.mktemp("whole") / "journal.db"
    with closing(SqliteJournal(path)) as journal:
        with journal.lock([THREAD], wait=0):
            for number in range(0, ENTRIES, 2):
                journal.append(INTENT, replaced=f"body {number} " * 20)
                journal.append(outcome(number + 1))
        journal.append(INTENT)
        return path, list(journal.entries())


def copy_of(path: Path, folder: Path, content: bytes) -> Path:
    """The journal with another content, its locks beside it as ever."""
    made = folder / path.name
    made.write_bytes(content)
    (folder / f"{path.name}.locks").mkdir(mode=0o700)
    return made


def seen(path: Path) -> tuple[list[int | None], list[Entry] | None, str]:
    """What the proof, a reader and a writer make of a file: flaws, entries, the writer's error."""
    with closing(SqliteJournal(path)) as journal:
        try:
            flaws = [flaw.seq for flaw in journal.verify()]
        except MarkersError as error:
            return [], None, error.reason.code
        try:
            entries: list[Entry] | None = list(journal.entries())
        except Unavailable:
            entries = None
        try:
            journal.append(INTENT)
        except MarkersError as error:
            return flaws, entries, error.reason.code
        return flaws, entries, ""


class TestBits:
    """Flipped bits and cut-off ends."""

    @given(data=st.data())
    @settings(max_examples=120, deadline=None)
    def test_one_bit(self, data, whole, tmp_path_factory):
        """Whichever bit of the file flips: nothing more is written, or everything is as it was."""
        path, entries = whole
        content = bytearray(path.read_bytes())
        at = data.draw(st.integers(0, len(content) * 8 - 1))
        content[at // 8] ^= 1 << at % 8
        found = seen(copy_of(path, tmp_path_factory.mktemp("bit"), bytes(content)))
        flaws, read, refused = found
        assert refused or (not flaws and read == entries), (at, found)

    @pytest.mark.parametrize("part", [0.001, 0.3, 0.6, 0.9, 0.999])
    def test_a_cut_off_end(self, whole, tmp_path, part):
        """A truncated file is found out; the first entry that cannot be read is named."""
        path, _ = whole
        content = path.read_bytes()
        cut = copy_of(path, tmp_path, content[: int(len(content) * part)])
        flaws, _, refused = seen(cut)
        assert flaws
        assert flaws[0] is None or 1 <= flaws[0] <= ENTRIES + 1
        assert refused == "journal"

    def test_an_entry_that_was_flipped(self, whole, tmp_path):
        """The proof names the first bad entry, and nothing is added until it is set aside."""
        path, _ = whole
        content = path.read_bytes()
        at = content.index(b'"seq":30,')
        flipped = copy_of(path, tmp_path, content[:at] + b'"seQ":30,' + content[at + 9 :])
        with closing(SqliteJournal(flipped)) as journal:
            assert journal.verify()[0].seq == 30
            for _ in range(2):
                with pytest.raises(DamagedJournal, match=r"its entry 30 .* --repair-journal"):
                    journal.append(INTENT)
            aside = Path(journal.set_aside())
            assert journal.append(INTENT).seq == 1
            assert journal.verify() == []
        assert b'"seQ":30,' in aside.read_bytes()

    def test_a_file_that_is_no_database_any_more(self, path, journal):
        """Where a journal has been, what is there now is a damaged one; elsewhere it is a file."""
        with journal.lock([THREAD], wait=0):
            journal.append(INTENT)
        journal.close()
        path.write_bytes(b"\0" * 100)
        assert [flaw.seq for flaw in journal.verify()] == [1]
        with pytest.raises(DamagedJournal, match="it is no database any more"):
            journal.append(INTENT)
        shutil.rmtree(f"{path}.locks")
        with pytest.raises(Unavailable, match="it is not a database; move it away") as caught:
            journal.append(INTENT)
        assert not isinstance(caught.value, DamagedJournal)

    def test_a_mark_that_was_changed(self, path, journal):
        """A journal that no longer says that it is one is not taken for another program's."""
        journal.append(INTENT)
        journal.close()
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA application_id = 7")
        with pytest.raises(DamagedJournal, match="the mark that tells whose file it is"):
            journal.append(INTENT)


class TestSettingAside:
    """Putting a damaged journal out of use."""

    def test_all_its_files_keep_together(self, path, journal):
        """The file, its log and its index move under a name with the time; nothing is lost."""
        journal.append(INTENT)
        with (
            clock.use(clock.FakeClock()),
            closing(sqlite3.connect(path)) as other,  # who keeps the log from being folded in
        ):
            other.execute("SELECT * FROM audit").fetchall()
            aside = Path(journal.set_aside())
            assert aside == path.with_name("journal.db.damaged-20270115T080000Z")
            assert {each.name.removeprefix(aside.name) for each in path.parent.glob("*Z*")} == {
                "",
                "-wal",
                "-shm",
            }
            assert not path.exists()
            assert journal.append(INTENT).seq == 1
            assert Path(journal.set_aside()).name.endswith("Z-again")
        with closing(SqliteJournal(aside)) as kept:
            assert len(kept.latest(9)) == 1

    def test_whoever_has_it_open_goes_on_in_the_new_one(self, path, journal):
        """No entry goes to a file that was set aside, and a lock from before holds no more."""
        with closing(SqliteJournal(path)) as other:
            other.append(INTENT)
            with journal.lock([THREAD], wait=0):
                journal.append(INTENT)
                aside = other.set_aside()
                with pytest.raises(Unavailable, match="lost while it was held") as caught:
                    journal.check_lock()
                assert caught.value.reason.code == "lock-lost"
            assert journal.append(INTENT).seq == 1
        with closing(SqliteJournal(Path(aside))) as kept:
            assert len(kept.latest(9)) == 2

    def test_there_is_none(self, journal):
        """Nothing is set aside where nothing is."""
        with pytest.raises(Unavailable, match="there is none; nothing was set aside"):
            journal.set_aside()


class TestLocks:
    """A lock that is checked before a write."""

    def test_cleared_away(self, path, journal):
        """Who cleared the lock files away let another writer in: nothing more is written."""
        with journal.lock([THREAD], wait=0):
            journal.check_lock()
            shutil.rmtree(f"{path}.locks")
            with closing(SqliteJournal(path)) as other, other.lock([THREAD], wait=0):
                for act in (journal.check_lock, lambda: journal.append(INTENT)):
                    with pytest.raises(Unavailable, match="lost while it was held"):
                        act()
                other.check_lock()
        journal.check_lock()


class TestCopies:
    """A file that is copied while it is used."""

    @pytest.mark.parametrize("with_log", [True, False], ids=["with its log", "alone"])
    def test_in_use(self, path, journal, tmp_path, with_log):
        """What a copy holds is the beginning of the log, or it is found to be damaged."""
        journal.append(INTENT)
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                journal.append(INTENT, replaced=str(random.random()) * 50)  # noqa: S311 - a text

        writer = threading.Thread(target=work)
        writer.start()
        try:
            copies = [self._copy(path, tmp_path / f"copy{n}", with_log) for n in range(8)]
        finally:
            stop.set()
            writer.join()
        entries = list(journal.entries())
        for copy in copies:
            flaws, read, refused = seen(copy)
            assert flaws or refused or read == entries[: len(read or ())], copy

    def _copy(self, path: Path, folder: Path, with_log: bool) -> Path:
        folder.mkdir()
        for suffix in ("", "-wal") if with_log else ("",):
            shutil.copyfile(f"{path}{suffix}", folder / f"{path.name}{suffix}")
        return folder / path.name

    def test_a_shorter_copy_needs_a_head(self, path, journal, tmp_path):
        """A copy without its log is a log that ends earlier: only a hash kept elsewhere tells."""
        journal.append(INTENT)
        journal.close()
        refs = [journal.append(INTENT) for _ in range(3)]
        copy = self._copy(path, tmp_path / "copy", with_log=False)
        with closing(SqliteJournal(copy)) as short:
            assert short.verify() == []
            (flaw,) = short.verify(refs[-1].hash)
            assert "the log ends at entry 1 and was cut off" in flaw.problem


def damage(path: Path) -> None:
    """Change one letter of the first entry in the file."""
    content = path.read_bytes()
    at = content.index(b'"seq":1,')
    path.write_bytes(content[:at] + b'"seQ":1,' + content[at + 8 :])


class TestCommand:
    """What somebody at the command line sees, and does."""

    @pytest.fixture
    def path(self, at_forge: Shell) -> Path:
        """The journal after two writes."""
        for text in ("One.\n", "Two.\n"):
            assert at_forge.write(text).code == 0
        return next(at_forge.home.rglob("journal.sqlite3"))

    def test_from_damage_to_the_next_write(self, at_forge: Shell, forge: Forge, path: Path) -> None:
        """The proof names the entry, writing stops, the repair tells the new name, writing goes."""
        damage(path)
        before = bodies(forge)
        proof = at_forge.run("audit", "verify", "--json")
        assert (proof.code, proof.document["problems"][0]["seq"]) == (1, 1)
        stopped = at_forge.write("Three.\n")
        assert (stopped.code, stopped.document["reason"]["code"]) == (7, "journal")
        assert "doctor --repair-journal" in stopped.err
        assert bodies(forge) == before
        told = {c["name"]: c for c in at_forge.run("doctor", "--json").document["checks"]}
        assert (told["journal"]["status"], "repair" in told) == ("fail", False)
        assert "--repair-journal" in told["journal"]["mend"]
        repaired = at_forge.run("doctor", "--repair-journal", "--json")
        told = {c["name"]: c for c in repaired.document["checks"]}
        (aside,) = path.parent.glob("*.damaged-*Z")
        assert str(aside) in told["repair"]["detail"]
        assert (told["repair"]["status"], told["journal"]["status"]) == ("ok", "ok")
        assert at_forge.write("Three.\n").code == 0
        assert at_forge.run("audit", "verify").code == 0

    def test_a_whole_one_is_left_alone(self, at_forge: Shell, path: Path) -> None:
        """Nothing is done to a journal that is whole, or is not there, and that is said."""
        before = path.read_bytes()
        for there in (True, False):
            told = at_forge.run("doctor", "--repair-journal", "--json").document["checks"]
            assert told[0]["name"] == "repair"
            words = "is whole and was left alone" if there else "there is no journal yet"
            assert words in told[0]["detail"]
            if there:
                assert path.read_bytes() == before
                path.unlink()
        assert list(path.parent.glob("*.damaged-*")) == []

    def test_what_is_not_damaged_is_not_moved(self, at_forge: Shell) -> None:
        """Another program's database and a later version's journal stay where they are."""
        theirs = at_forge.scratch / "songs.db"
        with closing(sqlite3.connect(theirs)) as db:
            db.execute("CREATE TABLE songs (title)")
        newer = at_forge.scratch / "newer.db"
        with closing(SqliteJournal(newer)) as journal:
            journal.append(INTENT)
        with closing(sqlite3.connect(newer)) as db:
            db.execute("PRAGMA user_version = 99")
        for path in (theirs, newer):
            ran = at_forge.run("doctor", "--repair-journal", "--journal", f".tmp/{path.name}")
            assert ran.code == 1
            assert path.exists()
        assert not [each for each in os.listdir(at_forge.scratch) if "damaged" in each]  # noqa: PTH208 - names

    def test_nothing_readable(self, at_forge: Shell, path: Path) -> None:
        """A file of which nothing can be read is named, set aside and replaced all the same."""
        path.write_bytes(b"nothing of it is left" * 100)
        proof = at_forge.run("audit", "verify", "--json")
        assert proof.code == 1
        assert proof.document["problems"][0]["problem"].startswith("entry 1 cannot be read")
        repaired = at_forge.run("doctor", "--repair-journal")
        assert ".damaged-" in repaired.text
        assert at_forge.write("Three.\n").code == 0


def test_refusals_are_not_damage(path, journal):
    """A link in the journal's place is refused by everything that would move it."""
    path.parent.mkdir()
    path.symlink_to(path.parent / "target")
    with pytest.raises(Refused):
        journal.set_aside()
    assert path.is_symlink()

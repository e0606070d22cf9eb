"""Tampering with a SQLite journal, and how it is found."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from journals import INTENT, OTHER, THREAD, outcome

from markers.errors import Unavailable
from markers.journal import chain, sqlite
from markers.journal.interface import DamagedJournal
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
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as somebody with a SQLite shell sees it, triggers dropped."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for name in ("no_update", "no_delete", "at_end"):
            db.execute(f"DROP TRIGGER IF EXISTS audit_{name}")
        yield db


def reseal(db: sqlite3.Connection, seq: int, **changes: Any) -> None:
    """Change an entry and give it the hash that it then has, as a careful forger would."""
    text, _ = db.execute("SELECT entry, hash FROM audit WHERE seq = ?", (seq,)).fetchone()
    entry = chain.opened(chain.Sealed(seq, text, chain.digest(text.encode())))
    told = {"seq": seq, "at": entry.at, "version": entry.version, "replaced": entry.replaced}
    sealed = chain.seal(replace(entry.record, **changes), previous=entry.previous, **told)
    db.execute(
        "UPDATE audit SET entry = ?, hash = ? WHERE seq = ?", (sealed.text, sealed.hash, seq)
    )


def swap(db: sqlite3.Connection, seq: int) -> None:
    """Let an entry and the next change places."""
    for old, new in ((seq, -1), (seq + 1, seq), (-1, seq + 1)):
        db.execute("UPDATE audit SET seq = ? WHERE seq = ?", (new, old))


def edit(db: sqlite3.Connection, seq: int) -> None:
    """Change one letter."""
    db.execute("UPDATE audit SET entry = replace(entry, 'octo', 'Octo') WHERE seq = ?", (seq,))


def statement(sql: str) -> Callable[[sqlite3.Connection, int], Any]:
    """A tampering in one statement about entry ``:seq``."""
    return lambda db, seq: db.execute(sql, {"seq": seq})


TAMPERINGS: dict[str, tuple[Callable[[sqlite3.Connection, int], Any], int, str]] = {
    "edited": (edit, 0, "was changed after it was written"),
    "edited and sealed anew": (
        lambda db, seq: reseal(db, seq, actor="eve (2)"),
        1,
        "does not follow from what is now before it",
    ),
    "removed": (statement("DELETE FROM audit WHERE seq = :seq"), 0, "is missing"),
    "no JSON": (statement("UPDATE audit SET entry = '{' WHERE seq = :seq"), 0, "was changed"),
    "no text": (
        statement("UPDATE audit SET entry = CAST(entry AS BLOB) WHERE seq = :seq"),
        0,
        "was changed",
    ),
    "no UTF-8": (
        statement("UPDATE audit SET entry = CAST(x'ff7b' AS TEXT) WHERE seq = :seq"),
        0,
        "was changed",
    ),
    "blank added": (
        statement("UPDATE audit SET entry = entry || ' ' WHERE seq = :seq"),
        0,
        "was changed",
    ),
    "unknown kind": (
        lambda db, seq: reseal(db, seq, kind="rumour"),
        0,
        "cannot be read",
    ),
    "hash": (statement("UPDATE audit SET hash = 'f' WHERE seq = :seq"), 0, "was changed"),
    "hash of another type": (
        statement("UPDATE audit SET hash = CAST(hash AS BLOB) WHERE seq = :seq"),
        0,
        "was changed",
    ),
    "swapped": (swap, 0, "holds what was written as entry"),
    "copied over": (
        statement(
            "UPDATE audit SET (entry, hash) = (SELECT entry, hash FROM audit WHERE seq = 1)"
            " WHERE seq = :seq"
        ),
        0,
        "holds what was written as entry 1",
    ),
    "body": (
        statement("UPDATE body SET content = CAST('forged' AS BLOB) WHERE key = :seq"),
        0,
        "the body kept with entry",
    ),
    "body of another type": (
        statement("UPDATE body SET content = CAST(content AS TEXT) WHERE key = :seq"),
        0,
        "the body kept with entry",
    ),
    "intent taken off the list": (
        statement("DELETE FROM open_intent WHERE seq = :seq"),
        0,
        "the list of open intents is wrong about entry",
    ),
    "intent of another thread": (
        statement("UPDATE open_intent SET thread = 'elsewhere' WHERE seq = :seq"),
        0,
        "the list of open intents is wrong about entry",
    ),
}


def tampered(path: Path, name: str, seq: int) -> None:
    """Do it to entry *seq*, behind the journal's back."""
    act = TAMPERINGS[name][0]
    with raw(path) as db:
        if name.startswith("body"):
            (text,) = db.execute("SELECT entry FROM audit WHERE seq = ?", (seq,)).fetchone()
            subject = chain.opened(chain.Sealed(seq, text, chain.digest(text.encode()))).replaced
        else:
            subject = seq
        act(db, subject)


class TestTampering:
    """The log only grows; whoever gets around that is found out."""

    @pytest.mark.parametrize(
        "sql",
        [
            "UPDATE audit SET hash = 'x' WHERE seq = 1",
            "DELETE FROM audit",
            "INSERT OR REPLACE INTO audit VALUES (1, '{}', 'x')",
            "INSERT INTO audit VALUES (7, '{}', 'x')",
        ],
    )
    def test_the_table_refuses(self, path, journal, sql):
        """No statement changes, removes, replaces or leaves out an entry."""
        journal.append(INTENT)
        with (
            closing(sqlite3.connect(path)) as db,
            pytest.raises(sqlite3.IntegrityError, match="the audit log only grows"),
        ):
            db.execute(sql)

    @pytest.mark.parametrize("name", TAMPERINGS)
    def test_found(self, path, journal, name):
        """Each way to tamper in the middle is found, at its place, in words; listing goes on."""
        for number in range(5):
            journal.append(INTENT, replaced=f"body {number}")
        tampered(path, name, 3)
        _, later, words = TAMPERINGS[name]
        flaw = journal.verify()[0]
        assert flaw.seq == 3 + later
        assert words in flaw.problem
        assert len(list(journal.entries())) == len(journal.latest(9)) >= 4

    @given(
        shape=st.lists(st.sampled_from(["intent", "outcome", "body"]), min_size=3, max_size=12),
        name=st.sampled_from(sorted(TAMPERINGS)),
        at=st.integers(0, 20),
    )
    @settings(max_examples=60, deadline=None)
    def test_found_in_any_history(self, shape, name, at):
        """Whatever the history, one tampering before the last entry is found."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "journal.db"
            with closing(SqliteJournal(path)) as journal:
                for number, kind in enumerate(shape, start=1):
                    body = f"body {number}" if kind == "body" else None
                    record = INTENT if kind == "intent" else replace(outcome(99), intent=None)
                    journal.append(record, replaced=body)
                seq = 2 + at % (len(shape) - 2)
                assume(not name.startswith("body") or shape[seq - 1] == "body")
                assume(not name.startswith("intent") or shape[seq - 1] == "intent")
                assert journal.verify() == []
                tampered(path, name, seq)
                assert journal.verify() != []

    def test_a_cut_off_tail_needs_a_head(self, path, journal):
        """What was cut off the end shows only against a hash that was kept elsewhere."""
        refs = [journal.append(outcome(99)) for _ in range(3)]
        with raw(path) as db:
            db.execute("DELETE FROM audit WHERE seq > 1")
        assert journal.verify() == []
        (flaw,) = journal.verify(refs[-1].hash)
        assert "the log ends at entry 1 and was cut off" in flaw.problem

    def test_several_missing(self, path, journal):
        """A hole is one flaw that names its bounds, the beginning of the log included."""
        for _ in range(6):
            journal.append(outcome(99))
        with raw(path) as db:
            db.execute("DELETE FROM audit WHERE seq IN (1, 2, 5)")
        problems = [flaw.problem for flaw in journal.verify()]
        assert problems == ["entries 1 to 2 are missing", "entry 5 is missing"]

    def test_a_body_of_nobody(self, path, journal):
        """A planted body that is not what its key says is found too."""
        journal.append(INTENT)
        with raw(path) as db:
            db.execute("INSERT INTO body VALUES ('key', 'text', 'at')")
        (flaw,) = journal.verify()
        assert flaw.seq is None
        assert "the kept body key" in flaw.problem

    @pytest.mark.parametrize("name", ["edited", "no JSON", "unknown kind", "copied over"])
    def test_nobody_acts_on_a_damaged_entry(self, path, journal, name):
        """Settling and restoring stop at it, of its own thread only."""
        for thread in (THREAD, OTHER, THREAD):
            journal.append(replace(INTENT, thread=thread))
        tampered(path, name, 2)
        for act in (journal.open_intents, lambda: journal.open_intents([OTHER])):
            with pytest.raises(Unavailable, match=r"its entry 2 .* audit verify` says more"):
                act()
        with pytest.raises(Unavailable):
            journal.entry(2)
        assert [entry.seq for entry in journal.open_intents([THREAD])] == [1, 3]

    def test_a_changed_body_is_not_given_out(self, path, journal):
        """A forged body would be restored as ours; a pruned one is simply not there."""
        journal.append(INTENT, replaced="true")
        key = journal.entry(1).replaced
        tampered(path, "body", 1)
        with pytest.raises(Unavailable, match="was changed"):
            journal.body(key)

    @pytest.mark.parametrize("name", ["edited", "hash", "hash of another type", "no text"])
    def test_nothing_is_added_to_a_damaged_end(self, path, journal, name):
        """A newest entry that is not what was written stops the log; the proof names it."""
        for _ in range(2):
            journal.append(INTENT)
        tampered(path, name, 2)
        with pytest.raises(DamagedJournal, match=r"its entry 2 was changed.*--repair-journal"):
            journal.append(INTENT)
        assert [entry.seq for entry in journal.entries()] == [1, 2]
        assert journal.verify()[0].seq == 2

    @pytest.mark.parametrize("name", ["edited", "removed", "swapped", "copied over"])
    def test_who_opens_a_log_looks_at_its_newest_entries(self, path, journal, name):
        """Damage among them stops whoever comes next, whichever entry it is."""
        for _ in range(6):
            journal.append(INTENT)
        journal.close()
        tampered(path, name, 3)
        with pytest.raises(DamagedJournal, match=r"its entry [34] was changed, or does not follow"):
            journal.append(INTENT)

    def test_older_damage_is_for_the_proof(self, path, journal, monkeypatch):
        """Of a long log only the newest entries are looked at before a write."""
        monkeypatch.setattr(sqlite, "RECENT", 4)
        for _ in range(8):
            journal.append(INTENT)
        journal.close()
        tampered(path, "edited", 3)
        assert journal.append(INTENT).seq == 9
        assert journal.verify()[0].seq == 3
        with pytest.raises(DamagedJournal, match="a proof found what was changed"):
            journal.append(INTENT)

    def test_a_log_that_was_mended_goes_on(self, path, journal):
        """What stopped the log is forgotten by the first proof that finds nothing."""
        journal.append(INTENT)
        with raw(path) as db:
            (text,) = db.execute("SELECT entry FROM audit").fetchone()
            edit(db, 1)
        assert journal.verify() != []
        with raw(path) as db:
            db.execute("UPDATE audit SET entry = ?", (text,))
        with pytest.raises(DamagedJournal):
            journal.append(INTENT)
        assert journal.verify("f" * 64) != []
        assert journal.append(INTENT).seq == 2

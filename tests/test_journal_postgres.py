"""What a journal on PostgreSQL owes beyond the common suite: sessions, locks, clocks, trouble."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from databases import DATABASES
from journals import INTENT, OTHER, THREAD, outcome

from bench.postgres import cluster
from bench.trips import Trips
from markers import clock
from markers.clock import Deadline
from markers.errors import Refused, Unavailable
from markers.journal import address, postgres, postgres_session
from markers.journal.interface import SCHEMA_VERSION, DamagedJournal, Kind
from markers.journal.postgres import PostgresJournal
from markers.journal.schema import POSTGRES

pytestmark = pytest.mark.needs("postgres")
ENDED = """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""
PID = "SELECT pid FROM pg_stat_activity WHERE application_name = 'handoff-markers'"
HOLDER = """
import signal, sys
sys.path[:0] = sys.argv[2:]
from journals import THREAD
from markers.journal import address
from markers.journal.postgres import PostgresJournal
journal = PostgresJournal(address.read(sys.argv[1]))
with journal.lock([THREAD], wait=0):
    print("held", flush=True)
    signal.pause()
"""


def ask(folder: Path, statement: str) -> list[Any]:
    """What somebody with a shell of his own is told by the database."""
    return DATABASES.ask(folder, statement)


def end_sessions(folder: Path) -> None:
    """End all sessions of the database but the one that says so."""
    ask(folder, ENDED)


@pytest.fixture
def another(tmp_path: Path) -> Iterator[Callable[[], PostgresJournal]]:
    """Open one more journal on the same database."""
    with ExitStack() as opened:
        place = address.read(DATABASES.url(tmp_path))
        yield lambda: opened.enter_context(closing(PostgresJournal(place)))


@pytest.fixture
def journal(another: Callable[[], PostgresJournal]) -> PostgresJournal:
    """A journal in an empty database."""
    return another()


@pytest.fixture
def trips() -> Iterator[Trips]:
    """A line to the server that counts, and can be cut."""
    with Trips(DATABASES.cluster.port) as line:
        yield line


@pytest.fixture
def far(trips: Trips, tmp_path: Path) -> Iterator[PostgresJournal]:
    """A journal at the other end of that line."""
    url = DATABASES.url(tmp_path).replace(str(DATABASES.cluster.port), str(trips.port))
    with closing(PostgresJournal(address.read(url))) as journal:
        yield journal


class TestLocks:
    """A lock lives as long as the session that took it."""

    def test_a_lost_session_is_a_lost_lock(self, journal, another, tmp_path):
        """Who held a thread when its session ended neither appends an intent nor sends."""
        with journal.lock([THREAD], wait=0):
            end_sessions(tmp_path)
            with another().lock([THREAD], wait=0):
                for act in (journal.check_lock, lambda: journal.append(INTENT), journal.check_lock):
                    with pytest.raises(Unavailable, match="lost while it was held") as caught:
                        act()
                    assert caught.value.reason.code == "lock-lost"
            assert list(journal.entries()) == []
        with journal.lock([THREAD], wait=0):
            assert journal.append(INTENT).seq == 1
            journal.check_lock()

    def test_another_thread_of_execution_takes_its_lock_anew(self, journal, tmp_path):
        """A session that was lost concerns who held a lock in it, and nobody who came later."""
        with journal.lock([THREAD], wait=0):
            end_sessions(tmp_path)
            came = []

            def second() -> None:
                with journal.lock([OTHER], wait=0):
                    journal.check_lock()
                    came.append(journal.append(INTENT).seq)

            other = threading.Thread(target=second)
            other.start()
            other.join()
            assert came == [1]
            with pytest.raises(Unavailable, match="lost while"):
                journal.check_lock()

    def test_an_old_proof_is_not_enough(self, far, trips, monkeypatch):
        """A session that has been silent for a while is asked before anything is sent."""
        monkeypatch.setattr(postgres_session, "_ALIVE", -1.0)
        with far.lock([THREAD], wait=0):
            trips.take()
            far.check_lock()
            assert trips.take() == 1
            trips.cut_at_next()
            with pytest.raises(Unavailable, match="lost while"):
                far.check_lock()

    def test_a_lock_dies_with_its_holder(self, journal, tmp_path):
        """Another process keeps us out while it lives, and not when it was killed."""
        folders = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
        words = [sys.executable, "-c", HOLDER, DATABASES.url(tmp_path), *folders]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(Unavailable, match="another writer"), journal.lock([THREAD], wait=0):
                pytest.fail("two writers at once")
            holder.kill()
            with journal.lock([THREAD], wait=5):
                journal.check_lock()

    def test_the_server_looks_for_dead_holders(self, journal, tmp_path):
        """A machine that vanished loses its locks after the seconds that the docs name."""
        journal.append(INTENT)
        session = journal._session
        names = ("idle", "interval", "count")
        idle, every, times = (
            int(session.ask(f"SELECT current_setting('tcp_keepalives_{name}')")[0][0])
            for name in names
        )
        assert idle + every * times == postgres_session.DEAD_AFTER == 25
        docs = (Path(__file__).parents[1] / "docs" / "journal.md").read_text(encoding="utf-8")
        assert f"about {postgres_session.DEAD_AFTER} seconds" in docs


class TestRoundTrips:
    """What a far server costs."""

    def test_each_step_of_a_write(self, far, trips):
        """Facts, lock (with what is asked next), turn, intent, outcome, unlock: one trip each.

        On a busy machine the counter may take one word for two, or put it to the step beside: so
        the whole write counts, with room for one.
        """
        far.append(outcome(99))
        assert 5 <= sum(self.trips_of_a_write(far, trips)) <= 7

    @staticmethod
    def trips_of_a_write(far, trips) -> list[int]:
        """Round trips of each step of one write."""
        counts = []

        def step(act: Callable[[], Any]) -> Any:
            trips.take()
            found = act()
            counts.append(trips.take())
            return found

        step(lambda: far.recall_all(["a", "b"]))
        held = far.lock([THREAD, OTHER], wait=0)
        step(held.__enter__)
        assert step(lambda: far.open_intents([OTHER, THREAD])) == []
        assert step(lambda: far.queued([THREAD, OTHER])) == []
        step(lambda: far.pace("octo", minute=80, hour=500, gap=1))
        seq = step(lambda: far.append(INTENT, replaced="old")).seq
        step(far.check_lock)
        step(lambda: far.append(outcome(seq), replaced="old"))
        step(lambda: held.__exit__(None, None, None))
        return counts

    def test_what_came_along_is_never_old(self, journal, another):
        """What was answered with the lock holds until the next change, and is used once."""
        other = another()
        with journal.lock([THREAD], wait=0):
            seq = journal.append(INTENT).seq
            assert [entry.seq for entry in journal.open_intents([THREAD])] == [seq]
        with journal.lock([THREAD], wait=0):
            assert [entry.seq for entry in journal.open_intents([THREAD])] == [seq]
            given = other.enqueue(THREAD, "{}")
            assert journal.queued([THREAD]) == []
            assert [each.id for each in journal.queued([THREAD])] == [given]
        with other.lock([THREAD], wait=0):
            other.append(outcome(seq))
        assert journal.open_intents([THREAD]) == []


class TestClocks:
    """Programs whose clocks differ share the database's."""

    @pytest.fixture
    def apart(self, another) -> list[tuple[PostgresJournal, clock.FakeClock]]:
        """Two journals on one database, with clocks that differ by ten days."""
        return [(another(), clock.FakeClock(1_800_000_000.0 + days * 86_400)) for days in (0, 10)]

    def test_one_pace(self, apart):
        """Slots are a gap apart, whoever reserves them and whatever time it thinks it is."""
        waits = []
        for journal, time_there in apart * 2:
            with clock.use(time_there):
                waits.append(journal.pace("octo", minute=80, hour=500, gap=10))
        assert waits == pytest.approx([0, 10, 20, 30], abs=1)

    def test_the_age_of_an_intent(self, apart):
        """How long a write may still be under way does not depend on who started it."""
        (ahead, late), (behind, early) = apart
        with clock.use(late):
            ahead.append(INTENT)
        with clock.use(early):
            (entry,) = behind.open_intents()
            assert behind.age(entry) == pytest.approx(0, abs=2)
            early.sleep(100)
            assert behind.age(entry) == pytest.approx(100, abs=2)

    def test_pruning_goes_by_age(self, apart):
        """A body is as old as it is, not as its writer's clock said."""
        for (journal, time_there), body in zip(apart, ("first", "second"), strict=True):
            with clock.use(time_there):
                journal.append(outcome(99), replaced=body)
        for journal, time_there in apart:
            with clock.use(time_there):
                assert journal.prune(clock.now() - 3600) == 0
        with clock.use(apart[1][1]) as time_there:
            time_there.sleep(7200)
            assert apart[1][0].prune(clock.now() - 3600) == 2

    def test_entries_keep_their_writers_time_and_the_logs_order(self, apart):
        """Times in the log are what each program thought; numbers say what came first."""
        for journal, time_there in apart[::-1]:
            with clock.use(time_there):
                journal.append(INTENT)
        days = [entry.at[:10] for entry in apart[0][0].entries()]
        assert days == ["2027-01-25", "2027-01-15"]
        assert apart[0][0].verify() == []


class TestAway:
    """A server that goes away and comes back."""

    def test_a_session_that_ended_between_two_calls(self, journal, tmp_path):
        """The next call begins another, and nobody notices."""
        journal.append(INTENT)
        end_sessions(tmp_path)
        assert journal.append(outcome(1)).seq == 2
        end_sessions(tmp_path)
        assert [entry.seq for entry in journal.entries()] == [1, 2]

    def test_an_outcome_finds_its_way(self, far, trips):
        """A line that breaks under an outcome costs another session; under an intent the write."""
        far.append(INTENT)
        trips.cut_at_next()
        assert far.append(outcome(1)).seq == 2
        trips.cut_at_next()
        with pytest.raises(Unavailable, match="the server ended the connection"):
            far.append(INTENT)
        assert far.append(INTENT).seq == 3
        assert far.verify() == []

    def test_a_server_that_is_stopped_and_started(self):
        """While it is away each call says so; when it is back they go on, with a whole chain."""
        with ExitStack() as ends:
            server = ends.enter_context(cluster(fsync="off"))
            journal = ends.enter_context(closing(PostgresJournal(address.read(server.url()))))
            with journal.lock([THREAD], wait=0):
                journal.append(INTENT)
                server.stop()
                for act in (journal.check_lock, lambda: journal.append(outcome(1))):
                    with pytest.raises(Unavailable):
                        act()
            with pytest.raises(Unavailable, match="nothing listens there") as caught:
                journal.open_intents()
            assert caught.value.reason.code == "journal"
            server.start()
            with journal.lock([THREAD], wait=0):
                assert [entry.seq for entry in journal.open_intents([THREAD])] == [1]
                journal.append(outcome(1))
            assert journal.verify() == []

    def test_a_server_that_never_answers(self, journal, tmp_path, monkeypatch):
        """Who does not speak is hung up on when the time is up."""
        monkeypatch.setattr(postgres, "LEAST_SECONDS", 0.05)
        monkeypatch.setattr(postgres_session, "GRACE", 0.05)
        journal.append(INTENT)
        [(pid,)] = ask(tmp_path, PID)
        journal._deadline = Deadline(0)
        os.kill(pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            with pytest.raises(Unavailable, match="the server ended the connection"):
                journal.recall("x")
            assert time.monotonic() - began < 5
        finally:
            os.kill(pid, signal.SIGCONT)
        assert journal.latest(9)[0].seq == 1

    def test_one_that_is_kept_busy(self, journal, another, monkeypatch):
        """A change that another one holds up for too long says so, and leaves nothing."""
        monkeypatch.setattr(postgres, "LEAST_SECONDS", 0.05)
        journal.append(INTENT)
        late = another()
        late._deadline = Deadline(0)
        with journal._made().changing() as db:
            db.ask("SELECT 1")
            with pytest.raises(Unavailable, match="another process has kept it busy"):
                late.append(INTENT)
            late.remember("viewer", "1", wait=0.05)
        assert [entry.seq for entry in journal.entries()] == [1]
        assert late.recall("viewer") == "1"


class TestTables:
    """Whose tables they are, and how new."""

    def test_newer(self, journal, tmp_path):
        """A later version's journal is refused, to readers too, and is not touched."""
        journal.append(INTENT)
        journal.close()
        mark = f"handoff-markers journal, version {SCHEMA_VERSION + 1}"
        ask(tmp_path, f"COMMENT ON SCHEMA handoff_markers IS '{mark}'")
        for use in (lambda: journal.append(INTENT), lambda: journal.latest(1)):
            with pytest.raises(Refused, match="upgrade handoff-markers") as caught:
                use()
            assert caught.value.reason.code == "journal-newer"
        assert ask(tmp_path, "SELECT count(*) FROM handoff_markers.audit") == [(1,)]

    def test_version_1_is_brought_up(self, journal, tmp_path):
        """Tables of the first version get what is new, and keep what they have."""
        ask(tmp_path, "CREATE SCHEMA handoff_markers")
        first = "; ".join(POSTGRES[0])
        ask(tmp_path, f"SET search_path = handoff_markers; {first}")
        ask(tmp_path, "COMMENT ON SCHEMA handoff_markers IS 'handoff-markers journal, version 1'")
        assert journal.append(INTENT).seq == 1
        assert journal.enqueue(THREAD, "{}") == 1
        mark = ask(tmp_path, "SELECT obj_description('handoff_markers'::regnamespace)")
        assert mark == [(f"handoff-markers journal, version {SCHEMA_VERSION}",)]

    def test_version_2_is_brought_up(self, journal, tmp_path):
        """A question for a base brings the tables of the version before it up first."""
        ask(tmp_path, "CREATE SCHEMA handoff_markers")
        before = "; ".join(statement for script in POSTGRES[:2] for statement in script)
        ask(tmp_path, f"SET search_path = handoff_markers; {before}")
        ask(tmp_path, "COMMENT ON SCHEMA handoff_markers IS 'handoff-markers journal, version 2'")
        assert journal.base(["pair"]) is None
        journal.set_base(["pair"], "text")
        assert journal.base(["pair"]).text == "text"

    def test_another_programs_schema(self, journal, tmp_path):
        """A schema of our name that is not ours is left alone; an empty one will do."""
        ask(tmp_path, "CREATE SCHEMA handoff_markers")
        assert list(journal.entries()) == []
        ask(tmp_path, "CREATE TABLE handoff_markers.songs (title text)")
        with pytest.raises(Unavailable, match="its schema handoff_markers is not ours"):
            journal.append(INTENT)
        ask(tmp_path, "DROP TABLE handoff_markers.songs")
        assert journal.append(INTENT).seq == 1

    def test_many_at_once_from_nothing(self, another):
        """Who find no tables make them once, together."""
        journals = [another() for _ in range(6)]
        gate = threading.Barrier(len(journals))

        def work(journal: PostgresJournal) -> None:
            gate.wait()
            journal.append(INTENT)

        threads = [threading.Thread(target=work, args=(each,)) for each in journals]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(journals[0].latest(9)) == 6
        assert journals[0].verify() == []

    def test_no_right_to_make_them(self, tmp_path):
        """A role that may not make a schema hears what it lacks."""
        ask(tmp_path, "DROP ROLE IF EXISTS guest")
        ask(tmp_path, "CREATE ROLE guest LOGIN")
        url = DATABASES.url(tmp_path).replace("tester@", "guest@")
        with (
            closing(PostgresJournal(address.read(url))) as journal,
            pytest.raises(Unavailable, match="the role lacks a right"),
        ):
            journal.append(INTENT)

    def test_a_database_that_is_not_utf_8(self, tmp_path):
        """Texts have to come back as they were: another encoding is refused."""
        ask(tmp_path, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
        latin = address.read(DATABASES.cluster.url("latin"))
        with (
            closing(PostgresJournal(latin)) as journal,
            pytest.raises(Unavailable, match="is not UTF-8"),
        ):
            journal.latest(1)
        ask(tmp_path, "DROP DATABASE latin")

    def test_intents_are_durable_whatever_the_role_says(self, journal, tmp_path):
        """A role that does without waiting for the disk does not get that here."""
        ask(tmp_path, "ALTER ROLE tester SET synchronous_commit = off")
        try:
            journal.append(INTENT)
            setting = journal._session.ask("SELECT current_setting('synchronous_commit')")
        finally:
            ask(tmp_path, "ALTER ROLE tester RESET synchronous_commit")
        assert setting == [("on",)]


UNGUARDED = "SET search_path = handoff_markers; ALTER TABLE audit DISABLE TRIGGER ALL; "
GUARDED = "; ALTER TABLE audit ENABLE TRIGGER ALL"


class TestTampering:
    """The log only grows; whoever gets around that is found out."""

    @pytest.mark.parametrize(
        "sql",
        [
            "UPDATE handoff_markers.audit SET hash = 'x' WHERE seq = 1",
            "DELETE FROM handoff_markers.audit",
            "TRUNCATE handoff_markers.audit CASCADE",
            "INSERT INTO handoff_markers.audit VALUES (7, '{}', 'x')",
        ],
    )
    def test_the_table_refuses(self, journal, tmp_path, sql):
        """No statement changes, removes or leaves out an entry."""
        journal.append(outcome(99))
        with pytest.raises(Exception, match="the audit log only grows"):
            ask(tmp_path, sql)

    @pytest.mark.parametrize(
        ("sql", "seq", "words"),
        [
            ("UPDATE audit SET entry = replace(entry, 'octo', 'Octo') WHERE seq = 2", 2, "changed"),
            ("DELETE FROM audit WHERE seq = 2", 2, "is missing"),
            ("UPDATE body SET content = 'forged'", 1, "the body kept with entry"),
            ("DELETE FROM open_intent", 3, "the list of open intents is wrong"),
        ],
    )
    def test_found(self, journal, tmp_path, sql, seq, words):
        """Tampering is found at its place, in words."""
        for record in (outcome(99), outcome(99), INTENT):
            journal.append(record, replaced="old" if record.kind is Kind.OUTCOME else None)
        ask(tmp_path, UNGUARDED + sql)
        flaw = journal.verify()[0]
        assert (flaw.seq, words in flaw.problem) == (seq, True)

    def test_what_a_proof_found_stops_the_log(self, journal, another, tmp_path):
        """Damage in the middle stops all who share the journal once a proof has found it."""
        for _ in range(3):
            journal.append(INTENT)
        changed = "UPDATE audit SET hash = 'x' || hash WHERE seq = 2"
        mended = "UPDATE audit SET hash = substr(hash, 2) WHERE seq = 2"
        ask(tmp_path, UNGUARDED + changed + GUARDED)
        assert journal.append(INTENT).seq == 4
        assert another().verify()[0].seq == 2
        with pytest.raises(DamagedJournal, match="--repair-journal"):
            journal.append(INTENT)
        ask(tmp_path, UNGUARDED + mended + GUARDED)
        assert another().verify("f" * 64) != []
        assert journal.append(INTENT).seq == 5

    def test_a_damaged_end_stops_the_log_until_it_is_set_aside(self, journal, another, tmp_path):
        """Nothing is added to an end that was changed; set aside it is kept, and a new one begins.

        Whoever has the old one open goes on in the new one.
        """
        other = another()
        for _ in range(2):
            other.append(INTENT)
        forged = "UPDATE audit SET hash = 'x' WHERE seq = 2"
        ask(tmp_path, UNGUARDED + forged + GUARDED)
        with pytest.raises(DamagedJournal, match=r"its newest entry was changed.*--repair-journal"):
            journal.append(INTENT)
        with clock.use(clock.FakeClock()):
            told = journal.set_aside()
            assert "schema handoff_markers_damaged_20270115t080000z of postgresql://" in told
            assert not journal.exists()
            assert journal.append(INTENT).seq == 1
            assert journal.set_aside().split(" of ")[0].endswith("z_again")
        with pytest.raises(Unavailable, match="its tables were taken away"):
            other.append(INTENT)
        assert other.append(INTENT).seq == 1
        kept = "SELECT count(*) FROM handoff_markers_damaged_20270115t080000z.audit"
        assert ask(tmp_path, kept) == [(2,)]


class TestGettingIn:
    """Connecting, and what is said when that fails; never the driver's own words."""

    def test_without_the_driver(self, monkeypatch):
        """Where psycopg is missing one line says how to get it."""
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(Refused, match=r"pip install 'handoff-markers\[postgres\]'") as caught:
            PostgresJournal(address.read("postgresql://db/x"))
        assert caught.value.reason.code == "journal-driver"

    @pytest.mark.parametrize(
        ("pattern", "instead", "words"),
        [
            ("/journal_", "/nowhere_", "there is no database of that name"),
            ("tester@", "stranger@", "does not accept user and password"),
            ("127[.0-9]+", "nowhere.invalid", "its host is unknown"),
            (":[0-9]+/", ":1/", "nothing listens there"),
        ],
    )
    def test_what_is_wrong(self, tmp_path, monkeypatch, pattern, instead, words):
        """No database, no user, no host, nobody there: each in our own words."""
        monkeypatch.setattr(address, "_is_local", lambda _host: True)
        at = address.read(re.sub(pattern, instead, DATABASES.url(tmp_path)))
        with closing(PostgresJournal(at)) as journal, pytest.raises(Unavailable) as caught:
            journal.latest(1)
        assert words in caught.value.reason.detail
        assert caught.value.__suppress_context__

    def test_a_wrong_password(self):
        """A password that is not accepted is in no message."""
        with ExitStack() as ends:
            server = ends.enter_context(cluster(fsync="off"))
            rules = server.folder / "data" / "pg_hba.conf"
            rules.write_text("local all all trust\nhost all all all scram-sha-256\n")
            server.stop()
            server.start()
            at = address.read(server.url().replace("@", ":wrong-one-entirely@"))
            journal = ends.enter_context(closing(PostgresJournal(at)))
            with pytest.raises(Unavailable, match="does not accept user") as caught:
                journal.latest(1)
        assert "wrong-one" not in str(caught.value) + journal.place + repr(journal.address)

    def test_a_standby_is_not_written_to(self, journal, tmp_path):
        """A server that is read-only says so."""
        journal.append(INTENT)
        journal._session.ask("SELECT set_config('default_transaction_read_only', 'on', false)")
        with pytest.raises(Unavailable, match="the server is read-only"):
            journal.append(INTENT)

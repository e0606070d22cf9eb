"""What every journal does, whatever engine keeps it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from journals import EACH, ENGINES, INTENT, OTHER, THREAD, outcome

from markers import clock
from markers.codec import sha256
from markers.errors import Unavailable
from markers.journal import chain
from markers.journal.interface import Entry, Journal, Kind
from markers.model import Reason


@pytest.fixture(params=EACH)
def open_journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Open one more journal on the same place."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(ENGINES[request.param](tmp_path)))


@pytest.fixture
def journal(open_journal: Callable[[], Journal]) -> Journal:
    """One journal, empty."""
    return open_journal()


@pytest.fixture
def fake() -> Iterator[clock.FakeClock]:
    """Time that passes only when somebody sleeps."""
    with clock.use(clock.FakeClock()) as fake:
        yield fake


class TestAppend:
    """The log and what is in it."""

    def test_counts_and_links(self, journal):
        """Entries count from 1 and each names the hash of the one before."""
        refs = [journal.append(INTENT), journal.append(outcome(1)), journal.append(INTENT)]
        entries = list(journal.entries())
        assert [entry.seq for entry in entries] == [1, 2, 3]
        assert [entry.ref for entry in entries] == refs
        assert [entry.previous for entry in entries] == [
            "0" * 64,
            *(ref.hash for ref in refs[:2]),
        ]

    def test_keeps_every_field(self, journal, fake):
        """What went in comes out, with time and version."""
        full = outcome(
            1,
            reason=Reason(code="moved", detail="it is — elsewhere", line=3),
            above=5,
            sha256_before=None,
        )
        journal.append(INTENT)
        journal.append(full, replaced="old")
        entry = journal.entry(2)
        assert entry.record == full
        assert entry.at == "2027-01-15T08:00:00.000Z"
        assert entry.version.count(".") == 2
        assert entry.replaced == hashlib.sha256(b"old").hexdigest()

    def test_survives_reopening(self, open_journal):
        """Another journal on the same place reads what the first wrote, and goes on from it."""
        first = open_journal()
        first.append(INTENT)
        first.close()
        second = open_journal()
        assert second.append(INTENT).seq == 2
        assert [entry.seq for entry in first.entries()] == [1, 2]
        assert second.verify() == []

    def test_latest_is_the_tail_oldest_first(self, journal):
        """The newest entries come in the order in which they were written."""
        for _ in range(5):
            journal.append(INTENT)
        assert [entry.seq for entry in journal.latest(2)] == [4, 5]
        assert [entry.seq for entry in journal.latest(9)] == [1, 2, 3, 4, 5]
        assert journal.latest(0) == []

    def test_no_such_entry(self, journal):
        """A number that was never given out is None, however large."""
        assert journal.entry(1) is None
        assert journal.entry(10**30) is None

    def test_appending_while_reading(self, journal):
        """A reader of all entries does not stop a writer."""
        journal.append(INTENT)
        for entry in journal.entries():
            if entry.seq < 3:
                journal.append(INTENT)
        assert [entry.seq for entry in journal.latest(9)] == [1, 2, 3]

    def test_threads_and_journals_share_one_chain(self, open_journal):
        """Threads of one journal, and two journals, append to one chain that never forks."""
        journals = [open_journal(), open_journal()]

        def work(journal: Journal) -> None:
            for _ in range(10):
                journal.append(INTENT)

        threads = [threading.Thread(target=work, args=(journal,)) for journal in journals * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [entry.seq for entry in journals[0].entries()] == list(range(1, 41))
        assert journals[1].verify() == []


class TestIntents:
    """Which intents are open, and whose they are."""

    def test_open_until_an_outcome_names_it(self, journal):
        """An intent is open until its outcome is in."""
        journal.append(INTENT)
        journal.append(INTENT)
        journal.append(outcome(1))
        assert [entry.seq for entry in journal.open_intents()] == [2]
        journal.append(outcome(2))
        assert journal.open_intents() == []

    def test_keys_choose_threads(self, journal):
        """Only the intents of the threads asked for, each once, oldest first."""
        for thread in (THREAD, OTHER, "third", THREAD):
            journal.append(replace(INTENT, thread=thread))
        assert [entry.seq for entry in journal.open_intents([OTHER, THREAD, THREAD])] == [1, 2, 4]
        assert journal.open_intents([]) == []

    def test_age(self, journal, fake):
        """How long an intent has been open is told in seconds."""
        journal.append(INTENT)
        fake.sleep(30)
        assert journal.age(journal.entry(1)) == pytest.approx(30, abs=0.5)

    def test_outcome_without_intent_closes_nothing(self, journal):
        """An outcome that names no intent (nothing was to be written) leaves intents open."""
        journal.append(INTENT)
        journal.append(replace(outcome(1), intent=None))
        assert [entry.seq for entry in journal.open_intents()] == [1]


class TestBodies:
    """What was replaced can be brought back."""

    @pytest.mark.parametrize("body", ["", "a\r\nb \n", "é\u2028\x00", "lone \ud800"])
    def test_exact(self, journal, body):
        """A body comes back code point for code point, line ends and blanks included."""
        journal.append(INTENT, replaced=body)
        assert journal.body(journal.entry(1).replaced) == body
        assert journal.verify() == []

    def test_none_was_replaced(self, journal):
        """Nothing replaced is not the same as an empty body replaced."""
        journal.append(INTENT)
        assert journal.entry(1).replaced is None
        assert journal.body("0" * 64) is None

    def test_prune_drops_bodies_and_keeps_the_chain(self, journal, fake):
        """Bodies that only older entries name go; entries and proof stay."""
        for body in ("both", "old", "both", "new"):
            journal.append(replace(INTENT, kind=Kind.OUTCOME), replaced=body)
            fake.sleep(10)
        assert journal.prune(fake.now() - 25) == 1
        kept = [journal.body(entry.replaced) for entry in journal.entries()]
        assert kept == ["both", None, "both", "new"]
        assert journal.verify() == []
        assert journal.prune(fake.now() - 25) == 0

    def test_prune_spares_open_intents(self, journal, fake):
        """The body of an intent that nobody settled may still be needed."""
        journal.append(INTENT, replaced="needed")
        fake.sleep(10)
        assert journal.prune(fake.now()) == 0
        journal.append(outcome(1))
        assert journal.prune(fake.now()) == 1


class TestVerify:
    """The proof (what tampering does to it is each engine's own test)."""

    def test_head(self, journal):
        """Any hash of the chain proves that the log still reaches that far."""
        refs = [journal.append(INTENT) for _ in range(3)]
        assert [journal.verify(ref.hash) for ref in refs] == [[], [], []]

    def test_head_is_not_there(self, journal):
        """A hash that was kept elsewhere and is not in the log means a cut-off tail."""
        journal.append(INTENT)
        (flaw,) = journal.verify("f" * 64)
        assert flaw.seq is None
        assert "ends at entry 1 and was cut off" in flaw.problem

    def test_empty(self, journal):
        """An empty log is whole, but holds no head: not even the zeros before the first entry."""
        assert journal.verify() == []
        assert len(journal.verify(chain.GENESIS)) == 1


class TestLock:
    """One writer a thread."""

    def test_keeps_others_out_for_as_long_as_they_wait(self, open_journal, fake):
        """Who waits in vain is told which thread is held, after the time it gave."""
        with (
            open_journal().lock([THREAD], wait=0),
            pytest.raises(Unavailable, match=f"another writer holds {THREAD}") as caught,
            open_journal().lock([THREAD], wait=5),
        ):
            pytest.fail("two writers at once")
        assert caught.value.reason.code == "locked-out"
        assert sum(fake.slept) == pytest.approx(5)
        assert fake.slept[0] < 0.05
        assert max(fake.slept) < 0.5

    def test_threads_of_one_process(self, journal, fake):
        """The same journal's other threads are kept out too."""
        codes = []

        def second() -> None:
            try:
                with journal.lock([THREAD], wait=0.1):
                    codes.append("in")
            except Unavailable as error:
                codes.append(error.reason.code)

        for inside in (True, False):
            with ExitStack() as held:
                if inside:
                    held.enter_context(journal.lock([THREAD], wait=0))
                other = threading.Thread(target=second)
                other.start()
                other.join()
        assert codes == ["locked-out", "in"]

    def test_let_in_while_waiting(self, journal):
        """A waiter gets the lock when the holder lets go."""
        held = ExitStack()
        held.enter_context(journal.lock([THREAD], wait=0))
        timer = threading.Timer(0.05, held.close)
        timer.start()
        with journal.lock([THREAD], wait=5):
            pass
        timer.join()

    def test_two_threads_side_by_side(self, journal, fake):
        """Another thread's lock is free, at the same time."""
        with journal.lock([THREAD], wait=0), journal.lock([OTHER], wait=0):
            assert fake.slept == []

    def test_any_shared_key_is_enough(self, journal, fake):
        """A thread known by name and by id is held under both; half a lock is given back."""
        with (
            journal.lock(["z", "id", "z"], wait=0),
            pytest.raises(Unavailable, match="holds id"),
            journal.lock(["name", "id", "a"], wait=0),
        ):
            pytest.fail("two writers at once")
        with journal.lock(["name", "a", "id", "z"], wait=0):
            assert fake.slept == []

    def test_checked(self, journal):
        """A lock that is held passes its check, and so does who holds none."""
        journal.check_lock()
        with journal.lock([THREAD], wait=0), journal.lock([OTHER], wait=0):
            journal.check_lock()
            journal.append(INTENT)
            journal.check_lock()
        journal.check_lock()

    def test_freed_by_an_error(self, journal, fake):
        """Whatever ends the block ends the lock."""
        with pytest.raises(KeyboardInterrupt), journal.lock([THREAD], wait=0):
            raise KeyboardInterrupt
        with journal.lock([THREAD], wait=0):
            assert fake.slept == []


class TestBases:
    """What both sides held last."""

    def test_the_surest_name_counts(self, journal, fake):
        """A base is kept under the surest of its names alone, and found under the surest known."""
        journal.set_base(["name"], "one\n")
        fake.sleep(1)
        assert journal.base(["name", "id"]).text == "one\n"
        journal.set_base(["name", "id"], "two\n")
        base = journal.base(["name", "id"])
        assert (base.text, base.sha256) == ("two\n", sha256("two"))
        assert base.at == "2027-01-15T08:00:01.000Z"
        assert journal.base(["name"]) is None

    def test_a_copy_is_in_step_with_one_thread(self, journal):
        """What it held in step with another one is no base any more; other copies keep theirs."""
        journal.set_base(["here a"], "one", copy="a", comment_id=5)
        journal.set_base(["here b"], "two", copy="b")
        journal.set_base(["there a"], "three", copy="a", comment_id=7)
        assert journal.base(["here a"]) is None
        assert journal.base(["here b"]).text == "two"
        assert journal.base(["there a"]).comment_id == 7

    def test_the_newest_replaces_the_one_before(self, open_journal):
        """One pair has one base, whichever journal on the same place kept it."""
        first, second = open_journal(), open_journal()
        first.set_base(["pair"], "old")
        second.set_base(["pair"], "\u00e9 and \ud83d")
        assert first.base(["pair"]).text == "\u00e9 and \ud83d"

    def test_nothing_is_known_and_nothing_made(self, journal):
        """Asking a journal that is not there yet leaves no trace."""
        assert journal.base(["pair"]) is None
        assert not journal.exists()
        journal.set_base(["other"], "text")
        assert journal.base(["pair"]) is None


class TestMemory:
    """Small memories."""

    def test_recall(self, journal):
        """The newest value counts; what was never told is None."""
        journal.append(INTENT)
        assert journal.recall("viewer") is None
        journal.remember("viewer", "1")
        journal.remember("viewer", "é 2")
        journal.remember("other", "3")
        assert (journal.recall("viewer"), journal.recall("other")) == ("é 2", "3")

    def test_several_in_one_question(self, journal):
        """Those that are known come back, by name; of none nothing is asked."""
        journal.append(INTENT)
        journal.remember("viewer", "1")
        journal.remember("other", "")
        assert journal.recall_all(["viewer", "no", "other"]) == {"viewer": "1", "other": ""}
        assert journal.recall_all([]) == {}


ORDER = json.dumps({"text": "é \u2028 \x00 \ud800", "marker": "<!-- plan-issue-12 -->"})


class TestQueue:
    """Writes that wait for their delivery."""

    def test_in_order_by_thread_or_all(self, journal, fake):
        """Ids grow; a thread's own come in order of id, and those of all do."""
        given = [journal.enqueue(key, ORDER) for key in (THREAD, OTHER, "third", THREAD)]
        assert given == sorted(set(given))
        assert [each.id for each in journal.queued()] == given
        assert [each.id for each in journal.queued([THREAD, OTHER, THREAD])] == [
            *given[:2],
            given[3],
        ]
        assert journal.queued([]) == journal.queued(["fourth"]) == []
        first = journal.queued()[0]
        assert (first.thread, first.order, first.problem) == (THREAD, ORDER, None)
        assert first.at == "2027-01-15T08:00:00.000Z"

    @pytest.mark.parametrize("order", [ORDER, "", "lone \ud800 and \x00", "x" * 300_000])
    def test_an_order_comes_back_as_it_was(self, journal, order):
        """The journal does not look into an order, and keeps each character of it."""
        journal.enqueue(THREAD, order)
        assert journal.queued()[0].order == order

    def test_taken_out_once(self, open_journal):
        """Who takes a write out is told whether it was still there; its number is never reused."""
        one, two = open_journal(), open_journal()
        first, second = one.enqueue(THREAD, "a"), one.enqueue(THREAD, "b")
        assert [two.dequeue(second), one.dequeue(second)] == [True, False]
        assert [each.id for each in one.queued()] == [first]
        assert two.enqueue(THREAD, "c") > second

    def test_what_went_wrong_is_noted(self, journal):
        """A note stays until another replaces it or takes it back; what is gone takes none."""
        given = journal.enqueue(THREAD, "a")
        for problem in ("no \x00 network \ud800", "again", None):
            journal.note(given, problem)
            assert journal.queued()[0].problem == problem
        journal.note(given + 1, "nobody")
        assert len(journal.queued()) == 1

    def test_survives_reopening(self, open_journal):
        """What was queued is there for whoever comes next, and the log is not touched by it."""
        first = open_journal()
        given = first.enqueue(THREAD, "a")
        first.close()
        assert [each.id for each in open_journal().queued()] == [given]
        assert open_journal().verify() == []


class TestNotThereYet:
    """A journal that nobody has written to."""

    def test_questions_leave_no_trace(self, journal, tmp_path):
        """Who only asks finds it empty, and makes nothing; what is to be remembered is dropped."""
        assert journal.open_intents() == journal.open_intents([THREAD]) == []
        assert list(journal.entries()) == journal.latest(5) == []
        assert (journal.entry(1), journal.body("a" * 64)) == (None, None)
        journal.remember("viewer", "1")
        assert journal.recall("viewer") is None
        assert journal.prune(0) == 0
        assert journal.verify() == []
        assert len(journal.verify("a" * 64)) == 1
        assert journal.queued() == journal.queued([THREAD]) == []
        journal.note(1, "no")
        assert (journal.dequeue(1), journal.recall_all(["viewer"])) == (False, {})
        assert list(tmp_path.iterdir()) == []
        assert not journal.exists()

    def test_it_is_there_once_somebody_may_write(self, journal):
        """Who has locked a thread is remembered what is learnt before the first entry."""
        with journal.lock([THREAD], wait=0):
            journal.remember("viewer", "1")
        assert journal.recall("viewer") == "1"

    def test_it_is_found_when_another_made_it(self, open_journal):
        """One that was not there when it was asked is asked again."""
        one, two = open_journal(), open_journal()
        assert one.latest(5) == []
        two.append(INTENT)
        assert len(one.latest(5)) == 1


class TestPace:
    """Slots for POSTs, over all who share journal and account."""

    def test_gap_over_two_journals(self, open_journal, fake):
        """Slots of one account are a gap apart, whoever reserves them."""
        one, two = open_journal(), open_journal()
        waits = [j.pace("octo", minute=80, hour=500, gap=1) for j in (one, two, one)]
        assert waits == pytest.approx([0, 1, 2], abs=0.5)
        assert two.pace("cat", minute=80, hour=500, gap=1) == 0

    def test_limits_pass(self, journal, fake):
        """A full minute waits for its first slot to be 60 s old, a full hour 3,600 s."""

        def wait() -> float:
            return journal.pace("octo", minute=2, hour=3, gap=1)

        assert [wait(), wait(), wait()] == pytest.approx([0, 1, 60], abs=0.5)
        fake.sleep(100)
        assert wait() == pytest.approx(3500, abs=0.5)
        fake.sleep(8000)
        assert wait() == 0


def test_interface_is_met(journal):
    """Each engine offers what the interface names."""
    names = {name for name in vars(Journal) if not name.startswith("_")}
    assert names <= set(dir(journal))
    assert isinstance(journal.append(INTENT).seq, int)
    assert isinstance(journal.entry(1), Entry)

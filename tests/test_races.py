"""Races among writers: on one machine, on several, and with people and sleepers in between.

The rules of a race that needs no crowd are in ``test_cases`` and ``test_protocol``; deaths at every
step in ``test_crashes``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from databases import DATABASES
from journals import EACH
from racing import (
    MACHINES,
    RACERS,
    WRITERS,
    End,
    Wish,
    machine,
    open_journal,
    order_at,
    race,
    released,
    setup_at,
    told_by,
)
from worlds import ISSUE, PLAN, PULL, REPO, World, near, world

from markers import clock, writer
from markers.codec import sha256
from markers.errors import Unavailable
from markers.forge import Forge, serve
from markers.forge.server import ForgeServer
from markers.journal.interface import Kind
from markers.model import Action, WriteResult

__all__ = ["near", "world"]

ACCOUNT = f"<!-- completion-account-{ISSUE} -->"
RECORD = f"<!-- design-phase-complete-{ISSUE} -->"
STEPLESS, STEPPED, LOG = "completion-account", "plan-issue", "design-phase-complete"
MARKERS = {STEPLESS: ACCOUNT, STEPPED: PLAN, LOG: RECORD}
POSTED = rf"/issues/{ISSUE}/comments$"
LIST = rf"/issues/{ISSUE}/comments"
ONE = r"/issues/comments/\d+"
PATIENCE = 20.0

SHARED: Mapping[str, Callable[[Path], str]] = {
    "sqlite": lambda folder: str(folder / "shared.sqlite3"),
    "postgres": DATABASES.url,
}
"""Journals that all machines share, by engine; an engine joins the races by one line here."""


@pytest.fixture
def server() -> Iterator[ForgeServer]:
    """A forge in real time on loopback, which other processes can reach."""
    forge = Forge.open()
    with serve(forge) as running:
        yield running
    forge.close()


@pytest.fixture
def real(world: World) -> Iterator[World]:
    """A world in the machine's own time, in process and over REST: threads meet in it."""
    with clock.use(clock.SystemClock()):
        yield world


def of_all(at: str) -> Callable[[int, int], str]:
    """One journal for all."""
    return lambda _machine, _writer: at


def of_machines(folder: Path) -> Callable[[int, int], str]:
    """A journal for each machine."""
    return lambda machine, _writer: str(folder / f"machine-{machine}.sqlite3")


def of_writers(folder: Path) -> Callable[[int, int], str]:
    """No shared journal at all."""
    return lambda machine, writer: str(folder / f"own-{machine}-{writer}.sqlite3")


def crowd(
    server: ForgeServer,
    folder: Path,
    family: str,
    journal: Callable[[int, int], str],
    expect: str | None = None,
) -> list[End]:
    """All 32 write at once, on four machines, each a text of its own."""
    wishes = [
        Wish(
            url=server.url,
            family=family,
            texts=[f"Text {at}-{nth}.\n" for nth in range(WRITERS)],
            journals=[journal(at, nth) for nth in range(WRITERS)],
            expect=expect,
        )
        for at in range(MACHINES)
    ]
    ends = race(wishes, folder)
    assert len(ends) == RACERS
    for at in {journal for wish in wishes for journal in wish.journals}:
        require_whole(at)
    return ends


def require_whole(at: str) -> None:
    """The journal's chain is whole, and each intent has its outcome."""
    opened = open_journal(at)
    assert opened.open_intents() == []
    assert opened.verify() == []
    opened.close()


def carrying(forge: Forge, marker: str) -> list[tuple[int, str]]:
    """Id and text of the comments with the marker."""
    there = forge.comments(REPO, ISSUE)
    return [(c.id, c.body.split("\n\n", 1)[1]) for c in there if c.body.startswith(marker)]


def require_one(server: ForgeServer, family: str, ends: Sequence[End]) -> None:
    """One comment carries the marker, with one of the texts, and every result names it."""
    ((kept, text),) = carrying(server.forge, MARKERS[family])
    assert {(end.comment_id, end.code) for end in ends} == {(kept, None)}
    assert text in {end.text for end in ends}
    assert {end.action for end in ends} <= {"created", "updated"}


def require_winner(server: ForgeServer, family: str, ends: Sequence[End]) -> None:
    """One wrote and all others conflict; his text stands, alone."""
    (won,) = [end for end in ends if end.action in ("created", "updated")]
    assert {end.action for end in ends if end is not won} == {"conflict"}
    assert carrying(server.forge, MARKERS[family]) == [(won.comment_id, won.text)]


@pytest.mark.parametrize("engine", EACH)
class TestCrowdWithAJournal:
    """32 writers on four machines that share a journal."""

    @pytest.mark.parametrize("family", [STEPLESS, STEPPED])
    def test_upsert_leaves_one(
        self, server: ForgeServer, tmp_path: Path, engine: str, family: str
    ) -> None:
        """One comment carries the marker at the end, and every result names it."""
        at = SHARED[engine](tmp_path)
        require_one(server, family, crowd(server, tmp_path, family, of_all(at)))

    def test_every_record_is_there_once(
        self, server: ForgeServer, tmp_path: Path, engine: str
    ) -> None:
        """32 distinct records: each posted once, none lost, none doubled."""
        ends = crowd(server, tmp_path, LOG, of_all(SHARED[engine](tmp_path)))
        require_records(server, ends)

    def test_expect_has_one_winner(self, server: ForgeServer, tmp_path: Path, engine: str) -> None:
        """All expect the same text: one updates it, and the others conflict."""
        old = f"{PLAN}\n\nOld.\n"
        server.forge.comment(REPO, ISSUE, "pat", old)
        at = SHARED[engine](tmp_path)
        ends = crowd(server, tmp_path, STEPPED, of_all(at), expect=sha256(old))
        require_winner(server, STEPPED, ends)


def require_records(server: ForgeServer, ends: Sequence[End]) -> None:
    """Each distinct record is there once, under the id that its result names."""
    there = carrying(server.forge, RECORD)
    assert sorted(there) == sorted((end.comment_id or 0, end.text) for end in ends)
    assert {end.action for end in ends} == {"posted"}


class TestCrowdWithoutAJournal:
    """32 writers of whom no two share anything but the token, or only those of one machine do."""

    @pytest.mark.parametrize("old", [False, True], ids=["first", "over an old one"])
    def test_a_family_with_steps_leaves_one(
        self, server: ForgeServer, tmp_path: Path, old: bool
    ) -> None:
        """Each reads its target again before it patches: all get through, none conflicts."""
        if old:
            body = f"{PLAN}\n\nOld.\n"
            server.forge.comment(REPO, ISSUE, "pat", body, at=clock.now() - 3600)
        ends = crowd(server, tmp_path, STEPPED, of_writers(tmp_path))
        require_one(server, STEPPED, ends)

    def test_upsert_leaves_one(self, server: ForgeServer, tmp_path: Path) -> None:
        """First writers without steps, each machine with a journal of its own."""
        ends = crowd(server, tmp_path, STEPLESS, of_machines(tmp_path))
        require_one(server, STEPLESS, ends)

    def test_every_record_is_there_once(self, server: ForgeServer, tmp_path: Path) -> None:
        """32 distinct records: each posted once, none lost, none doubled."""
        require_records(server, crowd(server, tmp_path, LOG, of_writers(tmp_path)))

    def test_expect_absent_has_one_winner(self, server: ForgeServer, tmp_path: Path) -> None:
        """All expect none: one creates, and the others conflict and leave nothing behind."""
        journal = of_writers(tmp_path)
        ends = crowd(server, tmp_path, STEPLESS, journal, expect="absent")
        require_winner(server, STEPLESS, ends)


class TestTwo:
    """Two writers without a shared journal, at one instant."""

    def _both(self, real: World, texts: tuple[str, str], family: str) -> list[WriteResult]:
        """Both have looked before either writes, and both comments stand before either hears."""
        gate = threading.Barrier(2)
        real.forge.on_request("GET", LIST, lambda _c: gate.wait(PATIENCE), landed=True, times=2)
        real.forge.on_request("POST", POSTED, lambda _c: gate.wait(PATIENCE), landed=True, times=2)

        def one(nth: int) -> WriteResult:
            setup = real.setup(journal=f"own-{nth}")
            return real.write(texts[nth], setup=setup, family=family)

        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(one, range(2)))

    @pytest.mark.parametrize("family", [STEPLESS, STEPPED])
    def test_two_first_upserts_become_one(self, real: World, family: str) -> None:
        """The lower id stays with one of the two texts; both name it."""
        results = self._both(real, ("One.\n", "Two.\n"), family)
        ((kept, text),) = carrying(real.forge, MARKERS[family])
        assert {result.comment_id for result in results} == {kept}
        assert text in ("One.\n", "Two.\n")

    def test_two_records_stay_two(self, real: World) -> None:
        """What is said is not the same: both are kept, each under his writer's id."""
        results = self._both(real, ("One.\n", "Two.\n"), LOG)
        there = carrying(real.forge, RECORD)
        assert sorted(there) == sorted(
            (result.comment_id or 0, text)
            for result, text in zip(results, ("One.\n", "Two.\n"), strict=True)
        )

    def test_two_records_that_say_the_same_become_one(self, real: World) -> None:
        """The later one is one too many; both results name the one that is left."""
        results = self._both(real, ("Same.\n", "Same.\n"), LOG)
        ((kept, _),) = carrying(real.forge, RECORD)
        assert {result.comment_id for result in results} == {kept}
        assert {result.action for result in results} == {Action.POSTED, Action.UNCHANGED}


class Killed(BaseException):
    """The writer's process dies: nothing of it runs any more."""


def die(_call: object) -> None:
    """Let the request's sender be gone."""
    raise Killed


class TestKilledBetweenPostAndSettle:
    """A writer dies when its comment is stored, and others go on without its journal."""

    def _leaves(self, near: World) -> None:
        near.forge.on_request("POST", POSTED, die, landed=True)
        with pytest.raises(Killed):
            near.write("Dead.\n", setup=near.setup(journal="dead"), family=STEPLESS)

    def test_the_next_writer_goes_on_with_its_comment(self, near: World) -> None:
        """Its orphan is the canonical; settling it later neither sends nor takes back anything."""
        self._leaves(near)
        result = near.write("Alive.\n", setup=near.setup(journal="alive"), family=STEPLESS)
        assert result.action is Action.UPDATED
        near.forge.forget()
        writer.recover(near.setup(journal="dead"))
        assert near.sent == []
        assert carrying(near.forge, ACCOUNT) == [(result.comment_id, "Alive.\n")]

    def test_its_twin_is_taken_back_when_it_is_settled(self, near: World) -> None:
        """Somebody was first: the orphan is one too many, and goes with the first recovery."""
        first: list[int] = []
        near.forge.on_request(
            "POST", POSTED, lambda _c: first.append(near.say(f"{ACCOUNT}\n\nFirst.\n"))
        )
        self._leaves(near)
        assert len(carrying(near.forge, ACCOUNT)) == 2
        (settled,) = writer.recover(near.setup(journal="dead"))
        assert settled.outcome == "twin"
        assert carrying(near.forge, ACCOUNT) == [(first[0], "First.\n")]
        require_closed(near, "dead")


def require_closed(near: World, journal: str) -> None:
    """Each intent of that journal has its outcome, and the chain is whole."""
    opened = near.setup(journal=journal).open_journal()
    assert opened.open_intents() == []
    assert opened.verify() == []


class TestPeople:
    """A person acts in the middle of a write, or of several."""

    def test_an_edit_between_read_and_patch_is_kept_in_the_journal(self, world: World) -> None:
        """A plan is planned again on what the person wrote, which `restore` can bring back."""
        human = f"{PLAN}\n\nA human was here.\n"
        ours = world.say(f"{PLAN}\n\nOld.\n")
        world.clock.sleep(3600)
        world.forge.on_request("GET", ONE, lambda _c: world.forge.edit(ours, human))
        result = world.write("New.\n")
        assert (result.action, result.previous_sha256) == (Action.UPDATED, sha256(human))
        assert result.audit is not None
        restored = writer.restore(world.setup(), result.audit.seq)
        assert world.forge.find(ours).body == human
        assert restored.comment_id == ours

    def test_an_edit_within_the_second_of_our_update_is_no_lag(self, near: World) -> None:
        """The listing shows what a person has made of our text: it has seen our write."""
        ours = near.say(f"{ACCOUNT}\n\nOld.\n")
        human = f"{ACCOUNT}\n\nA human was here.\n"
        near.forge.on_request("PATCH", ONE, lambda _c: near.forge.edit(ours, human), landed=True)
        assert near.write("New.\n", family=STEPLESS).action is Action.UPDATED
        assert (near.bodies(), near.clock.slept) == ([human], [])

    @pytest.mark.parametrize("family", [STEPLESS, STEPPED])
    def test_a_canonical_deleted_under_eight_writers(self, real: World, family: str) -> None:
        """Whoever meets the gap plans again: one comment is left, with a text of theirs."""
        marker = MARKERS[family]
        old = real.forge.comment(REPO, ISSUE, "pat", f"{marker}\n\nOld.\n", at=clock.now() - 3600)
        real.forge.on_request(
            "PATCH", ONE, lambda _c: real.forge.delete(old.id), after=2, landed=True
        )

        def one(nth: int) -> WriteResult:
            setup = real.setup(journal=f"own-{nth}")
            return real.write(f"Text {nth}.\n", setup=setup, family=family)

        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(one, range(8)))
        ((kept, text),) = carrying(real.forge, marker)
        assert {result.comment_id for result in results} == {old.id, kept}
        assert text in {f"Text {nth}.\n" for nth in range(8)}


class TestTwinGoesWhileItIsWritten:
    """We are about to delete our twin, and another writer takes it for the canonical."""

    def test_a_text_that_comes_before_our_last_look_keeps_the_twin(self, near: World) -> None:
        """The body is no longer ours: the twin is left, and said."""
        near.forge.on_request("POST", POSTED, lambda _c: near.say(f"{PLAN}\n\nFirst.\n"))
        other = f"{PLAN}\n\nOther.\n"
        near.forge.on_request(
            "PATCH", ONE, lambda _c: near.forge.edit(near.carrying()[1], other), landed=True
        )
        result = near.write("New.\n")
        assert [near.forge.find(each).body for each in near.carrying()][1] == other
        assert result.comment_id == near.carrying()[0]

    def test_a_text_that_comes_after_our_last_look_is_written_again(self, real: World) -> None:
        """The other writer's settling finds its comment gone, and it writes anew."""
        first: list[int] = []
        patched, deleted = threading.Event(), threading.Event()
        pool = ThreadPoolExecutor(1)
        others: list[Callable[[], WriteResult]] = []

        def hold(_call: object) -> None:
            patched.set()
            assert deleted.wait(PATIENCE)

        def interleave(_call: object) -> None:
            real.forge.delete(first[0])
            real.forge.on_request("PATCH", ONE, hold, landed=True)
            plain = real.setup(journal="other")
            setup = replace(plain, timing=replace(plain.timing, visible=0.2))
            others.append(pool.submit(real.write, "Other.\n", setup=setup).result)
            assert patched.wait(PATIENCE)

        real.forge.on_request(
            "POST", POSTED, lambda _c: first.append(real.say(f"{PLAN}\n\nFirst.\n"))
        )
        real.forge.on_request("DELETE", ONE, interleave)
        real.forge.on_request("DELETE", ONE, lambda _c: deleted.set(), landed=True)
        with pool:
            ours = real.write("Ours.\n", setup=real.setup(journal="ours"))
            theirs = others[0]()
        assert ours.comment_id == first[0]
        assert carrying(real.forge, PLAN) == [(theirs.comment_id, "Other.\n")]


class TestAsleep:
    """The holder of the lock is stopped in the middle of its write, and wakes up later."""

    @contextmanager
    def _asleep(
        self, server: ForgeServer, wish: Wish, home: Path
    ) -> Iterator[subprocess.Popen[str]]:
        """A machine of one writer that is stopped when it has looked at the thread."""
        looked = threading.Event()

        def stop(_call: object) -> None:
            os.kill(sleeper.pid, signal.SIGSTOP)
            os.waitpid(sleeper.pid, os.WUNTRACED)  # until then it may still run
            looked.set()

        with machine(wish, home) as sleeper:
            server.forge.on_request("GET", LIST, stop, landed=True)
            released([sleeper])
            assert looked.wait(PATIENCE)
            yield sleeper

    def _wake(self, sleeper: subprocess.Popen[str]) -> End:
        clock.sleep(0.15)  # longer than its look counts as fresh
        os.kill(sleeper.pid, signal.SIGCONT)
        (end,) = told_by([sleeper])
        return end

    @pytest.mark.parametrize("engine", EACH)
    @pytest.mark.parametrize("before", [None, "Old.\n"], ids=["create", "update"])
    def test_nobody_writes_beside_it_and_it_looks_again(
        self, server: ForgeServer, tmp_path: Path, engine: str, before: str | None
    ) -> None:
        """Who shares its journal is locked out; what others wrote meanwhile it sees first."""
        at, forge = SHARED[engine](tmp_path), server.forge
        if before:
            body = f"{ACCOUNT}\n\n{before}"
            forge.comment(REPO, ISSUE, "pat", body, at=clock.now() - 3600)
        wish = Wish(url=server.url, family=STEPLESS, texts=["Asleep.\n"], journals=[at])
        with ExitStack() as stack:
            shared = stack.enter_context(setup_at(server.url, at))
            # What is remembered already is not written beside the look: it sleeps with one lock.
            writer.write(shared, order_at(server.url, LOG, "Before.\n"))
            sleeper = stack.enter_context(self._asleep(server, wish, tmp_path / "home"))
            hasty = replace(shared, timing=replace(shared.timing, deadline=0.3))
            with pytest.raises(Unavailable) as caught:
                writer.write(hasty, order_at(server.url, STEPLESS, "Beside.\n"))
            assert caught.value.reason.code == "locked-out"
            far = stack.enter_context(setup_at(server.url, str(tmp_path / "far.sqlite3")))
            other = writer.write(far, order_at(server.url, STEPLESS, "Far.\n"))
            end = self._wake(sleeper)
        assert (end.action, end.comment_id) == ("updated", other.comment_id)
        assert end.previous_sha256 == sha256(f"{ACCOUNT}\n\nFar.\n")
        assert carrying(forge, ACCOUNT) == [(other.comment_id, "Asleep.\n")]
        require_whole(at)


class TestThreadsOfOneProcess:
    """Several threads share one connection and one journal."""

    def test_one_waits_while_another_writes_and_a_third_goes_on_elsewhere(
        self, real: World
    ) -> None:
        """A thread of comments is written to by one at a time; other threads are not held up."""
        reached, go_on = threading.Event(), threading.Event()

        def hold(_call: object) -> None:
            reached.set()
            assert go_on.wait(PATIENCE)

        real.forge.on_request("POST", POSTED, hold)
        setup = real.setup()
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(real.write, "First.\n", setup=setup)
            assert reached.wait(PATIENCE)
            second = pool.submit(real.write, "Second.\n", setup=setup)
            elsewhere = real.write("Both.\n", setup=setup, family=ELSEWHERE, number=PULL)
            assert elsewhere.action is Action.CREATED
            assert not second.done()
            go_on.set()
            results = [first.result(), second.result()]
        assert [result.action for result in results] == [Action.CREATED, Action.UPDATED]
        assert carrying(real.forge, PLAN) == [(results[0].comment_id, "Second.\n")]

    def test_entries_of_two_threads_do_not_mix(self, real: World) -> None:
        """Each intent is followed by its own outcome, and the chain is whole."""
        setup = real.setup()

        def one(nth: int) -> None:
            for text in range(6):
                real.write(f"{nth} says {text}.\n", setup=setup, family=LOG)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(one, range(2)))
        journal = setup.open_journal()
        entries = list(journal.entries())
        intents = [e.seq for e in entries if e.record.kind is Kind.INTENT]
        assert [e.record.intent for e in entries if e.record.kind is Kind.OUTCOME] == intents
        assert len(intents) == len(carrying(real.forge, RECORD)) == 12
        require_closed(real, "one")

    def test_a_new_journal_opened_by_eight_at_once_is_everybodys(self, tmp_path: Path) -> None:
        """Nobody takes the journal that another one is just making for a stranger's database."""
        gate = threading.Barrier(8)

        def one(at: str) -> None:
            opened = open_journal(at)
            gate.wait(PATIENCE)
            with opened.lock([f"thread-{threading.get_ident()}"], wait=PATIENCE):
                assert opened.open_intents() == []
            opened.close()

        for nth in range(30):
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(one, [str(tmp_path / f"{nth}.sqlite3")] * 8))


ELSEWHERE = "pc-emission-check-report"

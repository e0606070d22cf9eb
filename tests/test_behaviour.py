"""One behaviour over every server: the forge in process, the forge over REST, npm's emulate.

What is here is what any GitHub-like server shows; what needs faults, lag or planted comments is in
``test_cases`` and ``test_protocol``, on the forge alone.  Each outcome is judged by plain requests
that none of our code makes.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from command_line import Shell, shell
from places import Place, emulate_url, far_place, place

from bench.payloads import payload
from markers import reading, writer
from markers.codec import sha256
from markers.errors import Absent, Broken, Conflict, Denied
from markers.model import Action
from markers.setup import Setup, Timing
from markers.transport.api import GitHub
from markers.transport.interface import Request, Response, Sender

__all__ = ["emulate_url", "far_place", "place", "shell"]

TEXT = "A plan.\n"
STAGE = "goal-run-stage"
FINDINGS = "goal-probe-findings"


def composed(place: Place, text: str = TEXT, family: str = "plan-issue") -> str:
    """What is stored for a payload."""
    return f"<!-- {family}-{place.issue} -->\n\n{text}"


class TestUpsert:
    """One comment carries the marker, and it holds the newest text."""

    def test_life_of_a_plan(self, place: Place) -> None:
        """Created, unchanged, updated in place; the talk around it is left alone."""
        place.say("Before.")
        made = place.write(TEXT)
        place.say("After.")
        assert (made.action, made.url) == (Action.CREATED, place.told()[1]["html_url"])
        before = place.told()
        assert place.write(TEXT).action is Action.UNCHANGED
        assert place.told() == before
        changed = place.write("Another plan.\n")
        assert (changed.action, changed.comment_id) == (Action.UPDATED, made.comment_id)
        assert changed.previous_sha256 == made.sha256
        assert place.bodies() == ["Before.", composed(place, "Another plan.\n"), "After."]

    def test_what_is_written_is_read(self, place: Place) -> None:
        """Read gives the stored body, its hash, its author and that he is trusted."""
        made = place.write(TEXT)
        seen = place.read()
        assert (seen.body, seen.comment_id) == (composed(place), made.comment_id)
        assert (seen.sha256, seen.author, seen.trusted) == (sha256(composed(place)), "pat", True)
        assert seen.author_id == place.told()[0]["user"]["id"]

    def test_all_markers_are_listed(self, place: Place) -> None:
        """A list has each marker once, whatever else is said on the thread."""
        place.say("Talk.")
        place.write(TEXT)
        place.write(payload(STAGE, place.issue, "One.\n"), family=STAGE)
        listed = reading.list_markers(place.setup(), place.thread(), None)
        assert {each.family for each in listed} == {"plan-issue", STAGE}
        assert {each.comment_id for each in listed} == {c["id"] for c in place.told()[1:]}

    def test_a_new_journal_finds_what_an_old_one_wrote(self, place: Place) -> None:
        """What governs is on the server, not in anybody's journal."""
        made = place.write(TEXT)
        again = place.write("New.\n", setup=place.setup(journal="another"))
        assert (again.action, again.comment_id) == (Action.UPDATED, made.comment_id)

    def test_a_lost_comment_is_created_anew(self, place: Place) -> None:
        """Somebody deleted ours: the next write notices, warm index or not."""
        made = place.write(TEXT)
        assert made.comment_id is not None
        place.remove(made.comment_id)
        again = place.write(TEXT)
        assert again.action is Action.CREATED
        assert [comment["id"] for comment in place.told()] == [again.comment_id]

    def test_crlf_from_the_web_form_is_no_change(self, place: Place) -> None:
        """An edit that only changed line ends leads to no write."""
        made = place.write(TEXT)
        assert made.comment_id is not None
        place.change(made.comment_id, composed(place).replace("\n", "\r\n"))
        assert place.write(TEXT).action is Action.UNCHANGED
        assert place.bodies() == [composed(place).replace("\n", "\r\n")]

    def test_a_strangers_marker_never_governs(self, place: Place) -> None:
        """It is reported and not touched; ours is created beside it."""
        planted = place.say(composed(place, "Planted.\n"), token=place.stranger)
        result = place.write(TEXT)
        assert (result.action, [it.id for it in result.extras]) == (Action.CREATED, [planted])
        assert place.bodies() == [composed(place, "Planted.\n"), composed(place)]
        assert place.read().comment_id == result.comment_id

    def test_the_137th_of_250_is_found(self, place: Place) -> None:
        """A thread of several pages: the one comment is updated, nothing is created."""
        numbers = range(250)

        def talk(number: int) -> int:
            return place.say(composed(place) if number == 136 else f"Comment {number}.")

        ids = [talk(number) for number in numbers]
        result = place.write("New.\n")
        assert (result.action, result.comment_id) == (Action.UPDATED, ids[136])
        told = place.told()
        assert [comment["id"] for comment in told] == ids
        assert told[136]["body"] == composed(place, "New.\n")
        assert result.requests["POST"] == 0


TEXTS = {
    "astral": "🌈 𝄞 👩‍👩‍👧‍👦\n",
    "not normalised": "e\u0301 is not é; ﬁ is not fi; Å is not Å\n",
    "right to left": "שלום \u202eabc\u202c עולם\n",
    "entities": '&amp; &lt;!-- -- --&gt; "quoted" \\n \\u0041 \\\\\n',
    "tabs and trailing blanks": "a\tb  \n\n\n  c\t\n",
    "percent and plus": "100%25 + %0A & ?a=b#c\n",
    "line separators": "a\u2028b\u2029c\u00a0d\n",
    "no line end": "the end",
}


class TestBytes:
    """What is stored is what was given."""

    @pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
    def test_every_character_arrives(self, place: Place, text: str) -> None:
        """The stored body has the same code points, and writing it again changes nothing."""
        place.write(text)
        assert place.bodies() == [composed(place, text)]
        assert place.write(text).action is Action.UNCHANGED
        assert place.read().body == composed(place, text)

    def test_a_body_of_a_quarter_megabyte(self, place: Place) -> None:
        """The largest body that GitHub takes goes there and back."""
        head = composed(place, "")
        text = "é" * ((262_144 - len(head)) // 2)
        place.write(text)
        assert place.bodies() == [head + text]


class TestLog:
    """A post-new family: one comment a record."""

    def test_two_records_and_no_twin(self, place: Place) -> None:
        """Two texts are two comments; the latest again is none; the latest governs."""
        first = place.write("One.\n", family=FINDINGS)
        second = place.write("Two.\n", family=FINDINGS)
        assert (first.action, second.action) == (Action.POSTED, Action.POSTED)
        assert place.write("Two.\n", family=FINDINGS).action is Action.UNCHANGED
        assert place.read(family=FINDINGS).comment_id == second.comment_id
        assert place.write("One.\n", family=FINDINGS).action is Action.POSTED
        texts = ["One.\n", "Two.\n", "One.\n"]
        assert place.bodies() == [composed(place, text, FINDINGS) for text in texts]


class TestExpect:
    """The caller's picture must hold."""

    def test_expect_holds_or_conflicts(self, place: Place) -> None:
        """The right hash writes; the old one writes nothing, even where the body is equal."""
        made = place.write(TEXT)
        changed = place.write("B.\n", expect=made.sha256)
        assert changed.action is Action.UPDATED
        for text in ("C.\n", "B.\n"):
            error = place.fails(text, expect=made.sha256)
            assert isinstance(error, Conflict)
            assert error.result.sha256 != made.sha256
        assert place.bodies() == [composed(place, "B.\n")]

    def test_expect_absent(self, place: Place) -> None:
        """It writes once, and then conflicts."""
        assert place.write(TEXT, expect="absent").action is Action.CREATED
        assert place.fails("New.\n", expect="absent").reason.code == "expect-absent"

    @pytest.mark.parametrize("shared", [True, False], ids=["one journal", "own journals"])
    def test_a_race_has_one_winner(self, place: Place, shared: bool) -> None:
        """Of six first writers one creates and five conflict; the winner's comment is left."""
        gate = threading.Barrier(6)

        def one(number: int) -> str | None:
            setup = place.setup(journal="one" if shared else f"own-{number}")
            gate.wait(timeout=10)
            try:
                return place.write(f"{number}.\n", expect="absent", setup=setup).sha256
            except Conflict:
                return None

        with ThreadPoolExecutor(6) as pool:
            (won,) = [sha for sha in pool.map(one, range(6)) if sha]
        (left,) = place.bodies()
        assert sha256(left) == won

    def test_first_writers_converge(self, place: Place) -> None:
        """Without --expect all six succeed on the one comment that is left."""
        gate = threading.Barrier(6)

        def one(number: int) -> int | None:
            setup = place.setup(journal=f"own-{number}")
            gate.wait(timeout=10)
            return place.write(f"{number}.\n", setup=setup).comment_id

        with ThreadPoolExecutor(6) as pool:
            ids = set(pool.map(one, range(6)))
        (left,) = place.told()
        assert ids == {left["id"]}


class Lossy:
    """A line that delivers the first POST and loses its answer."""

    def __init__(self, below: Sender) -> None:
        self.below = below
        self.lost = False

    def send(self, request: Request, *, timeout: float) -> Response:
        """Raise ``Broken`` once, after the effect."""
        answer = self.below.send(request, timeout=timeout)
        if request.method == "POST" and not self.lost:
            self.lost = True
            raise Broken("connection-lost", "the answer was lost")
        return answer

    def close(self) -> None:
        """Let go of the line below."""
        self.below.close()


def lossy(place: Place) -> Setup:
    """A writer behind such a line."""
    connection = GitHub(Lossy(place.sender()), place.url, place.token, f"fp-{place.token}")
    place.stack.callback(connection.close)
    timing = Timing(paced=False, settle=0.05)
    return replace(place.setup(), connection=connection, timing=timing)


class TestTrouble:
    """What goes wrong is said, and nothing is written twice."""

    def test_a_lost_answer_makes_no_twin(self, place: Place) -> None:
        """The comment that landed is found and adopted, not sent again."""
        result = place.write(TEXT, setup=lossy(place))
        assert (result.action, result.requests["POST"]) == (Action.CREATED, 1)
        assert [comment["id"] for comment in place.told()] == [result.comment_id]

    def test_an_unknown_account_writes_nothing(self, place: Place) -> None:
        """A token that stands for nobody is denied."""
        error = place.fails(TEXT, setup=place.setup(place.nobody))
        assert isinstance(error, Denied)
        assert place.told() == []

    def test_an_issue_that_is_not_there(self, place: Place) -> None:
        """Writing and reading are denied, not taken for an empty thread."""
        assert isinstance(place.fails(TEXT, number=9_999), Denied)
        with pytest.raises(Denied):
            place.read(number=9_999)


class TestUndoing:
    """Taking back, bringing back, and asking whether it still holds."""

    def test_delete_and_gone(self, place: Place) -> None:
        """Our own comment of a deletable family goes; then there is none to read or delete."""
        place.say("Talk.")
        made = place.write(payload(STAGE, place.issue, "One.\n"), family=STAGE)
        gone = place.delete(family=STAGE)
        assert (gone.action, gone.comment_id) == (Action.DELETED, made.comment_id)
        assert place.bodies() == ["Talk."]
        for again in (place.delete, place.read):
            with pytest.raises(Absent):
                again(family=STAGE)

    def test_restore_brings_an_earlier_body_back(self, place: Place) -> None:
        """The body that an entry replaced is written back to the same comment."""
        made = place.write(TEXT)
        changed = place.write("Wrong.\n")
        assert changed.audit is not None
        back = writer.restore(place.setup(), changed.audit.seq)
        assert (back.action, back.comment_id) == (Action.UPDATED, made.comment_id)
        assert place.bodies() == [composed(place)]

    def test_audit_against_the_server(self, place: Place) -> None:
        """Hand edits and deletions show; what is as we left it does not."""
        plan = place.write(TEXT)
        stage = place.write(payload(STAGE, place.issue, "One.\n"), family=STAGE)
        assert reading.live_flaws(place.setup()) == []
        assert plan.comment_id is not None
        assert stage.comment_id is not None
        place.change(plan.comment_id, composed(place, "By hand.\n"))
        place.remove(stage.comment_id)
        problems = [flaw.problem for flaw in reading.live_flaws(place.setup())]
        assert [problem.split(" ")[1] for problem in problems] == [
            str(plan.comment_id),
            str(stage.comment_id),
        ]
        assert "another text" in problems[0]
        assert problems[1].endswith("is gone")

    def test_every_write_has_intent_and_outcome(self, place: Place) -> None:
        """The chain holds two entries a write, and is whole."""
        place.write(TEXT)
        place.write("New.\n")
        journal = place.setup().open_journal()
        kinds = [entry.record.kind.value for entry in journal.entries()]
        assert kinds == ["intent", "outcome"] * 2
        assert journal.verify() == []


@pytest.fixture
def at(shell: Shell, far_place: Place) -> Shell:
    """A user's shell that knows this server."""
    shell.export(
        GITHUB_API_URL=far_place.url,
        GH_TOKEN=far_place.token,
        GH_REPO=far_place.repo.slug,
        MARKERS_TEST_NO_PACING="1",
        MARKERS_SETTLE_SECONDS="0.1",
    )
    return shell


class TestCommand:
    """The command as a real process, against each server that it can reach."""

    def test_life_of_a_comment(self, at: Shell, far_place: Place) -> None:
        """Write, read, list, restore, audit and delete, each with the exit code it promises."""
        target = ("--family", STAGE, "--number", str(far_place.issue))
        text = payload(STAGE, far_place.issue, TEXTS["astral"])
        body = composed(far_place, text, STAGE)
        other = payload(STAGE, far_place.issue, "Two.\n").encode()
        write = ("write", *target, "--body-file", "-", "--json")
        made = at.spawn(*write, stdin=text.encode())
        assert (made.code, made.document["action"]) == (0, "created")
        assert far_place.bodies() == [body]
        assert at.spawn("read", *target, "--body").out == body.encode()
        changed = at.run(*write, stdin=other).document
        listed = at.run("list", "--number", str(far_place.issue), "--json").document
        assert [each["sha256"] for each in listed["markers"]] == [changed["sha256"]]
        assert at.spawn("restore", str(changed["audit"]["seq"])).code == 0
        assert far_place.bodies() == [body]
        assert at.run("audit", "verify", "--live").code == 0
        far_place.change(made.document["comment_id"], composed(far_place, "By hand.\n", STAGE))
        assert at.spawn("audit", "verify", "--live").code == 1
        assert at.spawn("delete", *target).code == 0
        assert far_place.told() == []
        assert at.run("read", *target).code == 10

    def test_who_may_not_and_what_is_not_there(self, at: Shell, far_place: Place) -> None:
        """A token of nobody and a number of nothing exit 6, and nothing is written."""
        for number, token in ((far_place.issue, far_place.nobody), (9_999, far_place.token)):
            target = ("--family", STAGE, "--number", str(number))
            text = payload(STAGE, number, "x\n").encode()
            ran = at.spawn("write", *target, "--body-file", "-", stdin=text, GH_TOKEN=token)
            assert ran.code == 6, ran.err
        assert far_place.told() == []

    def test_two_processes_race(self, at: Shell, far_place: Place) -> None:
        """Of two processes with --expect absent one exits 0 and one exits 4."""
        target = ("--family", "plan-issue", "--number", str(far_place.issue))
        words = ("write", *target, "--expect", "absent", "--body-file", "-")
        with ThreadPoolExecutor(2) as pool:
            ran = list(pool.map(lambda text: at.spawn(*words, stdin=text), (b"A.\n", b"B.\n")))
        assert sorted(each.code for each in ran) == [0, 4], [each.err for each in ran]
        won = "A.\n" if ran[0].code == 0 else "B.\n"
        assert far_place.bodies() == [composed(far_place, won)]

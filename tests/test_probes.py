"""The 27 probes: ways in which tools that keep one marker comment lose, double or overwrite it.

Each runs the real command line against the embedded server with the trouble of the probe, and
asserts the right end: one comment of ours, with the right text, nobody else's touched, and exit 0
(or, where nothing can be done, a clear refusal).  ``docs/probes.md`` shows them beside what peers
made of the same trouble.
"""

from __future__ import annotations

import ast
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from command_line import PLAN, TARGET, Ran, Shell, at_forge, bodies, forge, shell

from markers import clock
from markers.forge import Forge, ForgeServer, faults, seed

__all__ = ["at_forge", "forge", "shell"]

PAGE = Path(__file__).parents[1] / "docs" / "probes.md"
OLD = "## Plan\n\nThe old text.\n"
NEW = "## Plan\n\nThe new text.\n"
LIST = rf"/issues/{seed.ISSUE}/comments\?"
POSTED = rf"/issues/{seed.ISSUE}/comments$"


def body(text: str) -> str:
    """What the comment holds that carries *text*."""
    return f"{PLAN}\n\n{text}"


class Probe:
    """A checkout whose GitHub is a forge over REST; both share a clock that only sleep moves."""

    def __init__(self, shell: Shell, stack: ExitStack) -> None:
        self.shell = shell
        self.clock = stack.enter_context(clock.use(clock.FakeClock()))
        self.forge = Forge.open(clock=clock.now)
        stack.callback(self.forge.close)
        self.forge.sleep = lambda _seconds: None
        self.url = stack.enter_context(ForgeServer(self.forge, hang=0.2)).url
        self.shell.export(
            GITHUB_API_URL=self.url,
            GH_TOKEN=seed.PAT_TOKEN,
            GH_REPO=seed.REPO,
            MARKERS_TEST_NO_PACING="1",
        )

    def talk(self, count: int) -> None:
        """Let there be *count* more comments of others."""
        self.forge.fill(seed.REPO, seed.ISSUE, count, author="mia")

    def say(self, text: str, author: str = "pat") -> int:
        """Somebody comments; the answer is the id."""
        return self.forge.comment(seed.REPO, seed.ISSUE, author, text).id

    def ours(self, text: str = OLD, *, before: int = 5, after: int = 5) -> int:
        """Our comment stands amid a talk, and an hour has passed since."""
        self.talk(before)
        made = self.say(body(text))
        self.talk(after)
        self.clock.sleep(3600)
        return made

    def write(self, text: str = NEW, *more: str) -> Ran:
        """``persist-marker write`` of *text*."""
        return self.shell.write(text, *more)

    def carrying(self) -> list[str]:
        """The bodies of the comments that carry the marker on line 1."""
        return [each for each in bodies(self.forge) if each.startswith(PLAN)]

    def updated(self, made: int) -> None:
        """Write, and find our comment changed in place, nothing else written."""
        others = [c for c in self.forge.comments(seed.REPO, seed.ISSUE) if c.id != made]
        ran = self.write()
        assert (ran.code, ran.document["action"]) == (0, "updated"), ran
        assert ran.document["comment_id"] == made
        self.holds(made)
        assert [c for c in self.forge.comments(seed.REPO, seed.ISSUE) if c.id != made] == others

    def holds(self, made: int, text: str = NEW) -> None:
        """Of our comment there is one, and it holds *text*."""
        assert self.carrying() == [body(text)]
        assert self.forge.find(made).body == body(text)

    def created(self) -> None:
        """Write, and find exactly one new comment."""
        before = bodies(self.forge)
        ran = self.write()
        assert (ran.code, ran.document["action"]) == (0, "created"), ran
        assert bodies(self.forge) == [*before, body(NEW)]
        assert self.forge.find(ran.document["comment_id"]).body == body(NEW)


@pytest.fixture
def probe(shell: Shell) -> Iterator[Probe]:
    """A fresh world for one probe."""
    with ExitStack() as stack:
        yield Probe(shell, stack)


def test_p01_beyond_the_first_page(probe: Probe) -> None:
    """Ours is the 241st of 250 comments: it is changed, and none is added."""
    probe.updated(probe.ours(before=240, after=9))


def test_p02_quoted_in_prose(probe: Probe) -> None:
    """Another person mentions the marker: that comment is left alone, ours is created."""
    probe.say(f"The plan will carry `{PLAN}`, see {PLAN} there.", "mia")
    probe.created()


def test_p03_quoted_whole_in_a_fence(probe: Probe) -> None:
    """Another person shows our whole comment in a code fence: left alone, ours is created."""
    probe.say(f"```\n{body(OLD)}```\n", "mia")
    probe.created()


def test_p04_fenced_in_another_comment_of_our_own(probe: Probe) -> None:
    """An earlier comment of our own login shows the marker in a fence: the real one is changed."""
    probe.say(f"How we mark plans:\n\n```\n{PLAN}\n```\n")
    probe.updated(probe.ours())


def test_p05_stored_with_crlf(probe: Probe) -> None:
    """Our comment went through the web form, which makes CRLF: the same text writes nothing."""
    made = probe.ours()
    probe.forge.edit_in_browser(made, body(OLD))
    ran = probe.write(OLD)
    assert (ran.code, ran.document["action"]) == (0, "unchanged")
    assert probe.forge.writes == []


def test_p06_crlf_sent(probe: Probe) -> None:
    """A payload with CRLF is written once; the same again is the same."""
    text = "a\r\nb\r\n\r\nc"
    first, again = probe.write(text), probe.write(text)
    assert (first.code, first.document["action"]) == (0, "created")
    assert (again.code, again.document["action"]) == (0, "unchanged")
    (kept,) = probe.carrying()
    assert kept.replace("\r\n", "\n") == body("a\nb\n\nc")


def test_p07_every_letter(probe: Probe) -> None:
    """Emoji of four bytes, joined ones, astral letters, CJK and right-to-left come back whole."""
    text = "🧪 👩\u200d🚀 \U0001d518 漢字 שלום\n"
    ran = probe.write(text)
    assert ran.code == 0
    probe.holds(ran.document["comment_id"], text)


def test_p08_two_of_ours(probe: Probe) -> None:
    """Of two own comments the older takes the text; the other is named, and folded when asked."""
    first = probe.ours(before=3, after=4)
    second = probe.say(body(OLD))
    ran = probe.write()
    assert (ran.code, ran.document["comment_id"]) == (0, first)
    assert [extra["id"] for extra in ran.document["extras"]] == [second]
    assert str(second) in ran.err
    assert probe.write(NEW, "--fold-extras").code == 0
    probe.holds(first)


@pytest.mark.parametrize("trial", range(3))
def test_p09_eight_at_once(at_forge: Shell, forge: Forge, trial: int) -> None:
    """Eight processes without a common journal find no comment at once: one remains for all."""
    gate = threading.Barrier(8)
    forge.on_request("GET", LIST, lambda _call: gate.wait(timeout=30), times=8)
    words = [
        at_forge.command(
            "write", *TARGET, "--json", "--body-file", at_forge.payload(f"{n}.\n", f"{n}.md")
        )
        for n in range(8)
    ]
    running = [
        subprocess.Popen(
            each,
            cwd=at_forge.top,
            env={**at_forge.env, "XDG_STATE_HOME": str(at_forge.home / f"state-{n}")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for n, each in enumerate(words)
    ]
    ends = [(*each.communicate(timeout=60), each.returncode) for each in running]
    rans = [Ran(code, out, err.decode()) for out, err, code in ends]
    assert [ran.code for ran in rans] == [0] * 8, rans
    (kept,) = forge.comments(seed.REPO, seed.ISSUE)
    assert {ran.document["comment_id"] for ran in rans} == {kept.id}
    assert kept.body in {body(f"{n}.\n") for n in range(8)}


def test_p10_created_but_502(probe: Probe) -> None:
    """The comment is stored and the answer is 502: it is found and not posted again."""
    probe.forge.faults.add("POST", POSTED, faults.status(502, landed=True))
    probe.created()
    assert [entry.method for entry in probe.forge.writes] == ["POST"]


def test_p11_created_but_cut_off(probe: Probe) -> None:
    """The comment is stored and the connection breaks: it is found and not posted again."""
    probe.forge.faults.add("POST", POSTED, faults.reset(landed=True))
    probe.created()
    assert [entry.method for entry in probe.forge.writes] == ["POST"]


def test_p12_502_and_not_created(probe: Probe) -> None:
    """The answer is 502 and nothing is stored: posted again once that is certain."""
    probe.forge.faults.add("POST", POSTED, faults.status(502))
    probe.created()


def test_p13_secondary_limit_on_create(probe: Probe) -> None:
    """A limit that says to wait a second is waited out."""
    probe.forge.faults.add("POST", POSTED, faults.secondary(1))
    probe.created()
    assert max(probe.clock.slept) >= 1


def test_p14_secondary_limit_on_the_list(probe: Probe) -> None:
    """The same on the first list request: ours is still found and changed."""
    made = probe.ours()
    fault = probe.forge.faults.add("GET", LIST, faults.secondary(1))
    probe.updated(made)
    assert fault.hits == 1


def test_p15_longer_than_the_server_takes(probe: Probe) -> None:
    """70,000 characters where the server stops at 65,536: refused, with the reason, never cut."""
    probe.forge.switches.body_points = 65_536
    ran = probe.write("x" * 70_000)
    assert (ran.code, ran.document["reason"]["code"]) == (3, "too-large")
    assert "too long" in ran.err
    assert bodies(probe.forge) == []


def test_p16_emoji_within_the_limit(probe: Probe) -> None:
    """40,000 emoji are within either reading of the limit: whole, not one is cut."""
    probe.forge.switches.body_points = 65_536
    text = "🌈" * 40_000
    ran = probe.write(text)
    assert ran.code == 0
    probe.holds(ran.document["comment_id"], text)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same machine", "another machine"])
def test_p17_stale_lists(probe: Probe, elsewhere: bool) -> None:
    """Lists lag five seconds, and the second run comes at once: it finds what the first made."""
    probe.forge.lag.seconds = 5
    first = probe.write(OLD)
    if elsewhere:
        probe.shell.export(XDG_STATE_HOME=str(probe.shell.home / "another"))
    second = probe.write(NEW)
    assert (first.code, second.code) == (0, 0), (first, second)
    assert second.document["comment_id"] == first.document["comment_id"]
    probe.holds(first.document["comment_id"])


PASSING = {
    "test_p18_list_cut_off": faults.truncated(),
    "test_p19_half_a_list": faults.half_json(),
    "test_p20_a_page_for_people": faults.html(200),
    "test_p21_502_on_the_list": faults.status(502),
}


def outlived(probe: Probe, name: str) -> None:
    """The list fails once and ours is there: it is asked for again, and ours is changed."""
    made = probe.ours()
    fault = probe.forge.faults.add("GET", LIST, PASSING[name])
    probe.updated(made)
    assert fault.hits == 1


def test_p18_list_cut_off(probe: Probe) -> None:
    """A list that breaks off within its length is no empty list: read again, ours is changed."""
    outlived(probe, "test_p18_list_cut_off")


def test_p19_half_a_list(probe: Probe) -> None:
    """Half the JSON under a right length is no list: read again, ours is changed."""
    outlived(probe, "test_p19_half_a_list")


def test_p20_a_page_for_people(probe: Probe) -> None:
    """HTML with status 200 is no list: read again, ours is changed."""
    outlived(probe, "test_p20_a_page_for_people")


def test_p21_502_on_the_list(probe: Probe) -> None:
    """A 502 is no list: read again, ours is changed."""
    outlived(probe, "test_p21_502_on_the_list")


def test_p22_deleted_between_two_pages(probe: Probe) -> None:
    """An earlier comment goes while pages are read, and ours slips across: still found."""
    made = probe.ours(before=100, after=50)
    earlier = probe.forge.comments(seed.REPO, seed.ISSUE)[7].id
    first_page = rf"/issues/{seed.ISSUE}/comments\?per_page=100$"
    probe.forge.on_request(
        "GET", first_page, lambda _call: probe.forge.delete(earlier), landed=True
    )
    ran = probe.write()
    assert (ran.code, ran.document["comment_id"]) == (0, made)
    probe.holds(made)
    assert len(bodies(probe.forge)) == 150


def test_p23_nothing_to_change(probe: Probe) -> None:
    """The same text again sends no write at all."""
    probe.ours(NEW)
    ran = probe.write(NEW)
    assert (ran.code, ran.document["action"]) == (0, "unchanged")
    assert probe.forge.writes == []


def test_p24_locked(probe: Probe) -> None:
    """The conversation is locked: nothing can be done, and the line says so."""
    probe.forge.lock(seed.REPO, seed.ISSUE)
    ran = probe.write()
    assert (ran.code, ran.document["reason"]["code"]) == (6, "locked")
    assert "locked: a maintainer has to unlock it" in ran.err
    assert bodies(probe.forge) == []


def test_p25_an_unrelated_comment_of_our_own(probe: Probe) -> None:
    """Our login wrote something else at the top of 250 comments: only the marked one is changed."""
    probe.talk(2)
    probe.say("Good morning.")
    probe.updated(probe.ours(before=237, after=9))


def test_p26_primary_limit_on_create(probe: Probe) -> None:
    """The hour's requests are used up until two seconds from now: waited out."""
    probe.forge.faults.add("POST", POSTED, faults.primary(2))
    probe.created()
    assert max(probe.clock.slept) >= 2


def test_p27_long_where_the_server_counts_bytes(probe: Probe) -> None:
    """70,000 characters under a limit of 262,144 bytes are written whole."""
    text = "x" * 70_000
    ran = probe.write(text)
    assert ran.code == 0
    probe.holds(ran.document["comment_id"], text)


def test_the_page_shows_every_probe() -> None:
    """Each of the 27 probes has its test here and its row on the page, with that test's name."""
    tree = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    tests = [name for name in names if re.match(r"test_p\d\d_", name)]
    assert [name[5:8] for name in tests] == [f"p{n:02}" for n in range(1, 28)]
    rows = re.findall(r"^\| (P\d\d) \|.*\| \*\*pass\*\* `(\w+)` \|$", PAGE.read_text("utf-8"), re.M)
    assert rows == [(name[5:8].upper(), name) for name in tests]

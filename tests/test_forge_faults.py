"""Each fault of the forge, what it does to the answer, and whether the request took effect."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

import pytest
from forge_client import BY_ID, THREAD, ask, data, links, message

from markers import clock
from markers.clock import FakeClock
from markers.errors import Broken, Unreachable
from markers.forge import faults
from markers.forge.app import Forge
from markers.forge.faults import Effect
from markers.testing import ForgeSender
from markers.transport.interface import Request, Response

WIDGETS = ("acme/widgets", 12)


@pytest.fixture
def timed() -> Iterator[tuple[Forge, FakeClock]]:
    """A forge on a clock that only the test moves."""
    with clock.use(FakeClock()) as fake:
        forge = Forge.open(clock=clock.now)
        yield forge, fake
        forge.close()


def bodies(forge: Forge) -> list[str]:
    """What is on the thread, without any fault."""
    return [comment.body for comment in forge.comments(*WIDGETS)]


@pytest.mark.parametrize("landed", [False, True])
def test_status_before_and_after_the_effect(forge: Forge, landed: bool) -> None:
    """A 502 says nothing about the effect: the switch does; it strikes once."""
    fault = forge.faults.add("POST", r"/comments$", faults.status(502, landed=landed))
    answer = ask(forge, "POST", THREAD, {"body": "x"})
    assert (answer.status, message(answer)) == (502, "Server Error")
    assert answer.headers["Date"]
    assert bodies(forge) == ["x"] * landed
    assert ask(forge, "POST", THREAD, {"body": "x"}).status == 201
    assert fault.hits == 1


@pytest.mark.parametrize(
    ("effect", "error"), [("reset", ConnectionResetError), ("timeout", TimeoutError)]
)
@pytest.mark.parametrize("landed", [False, True])
def test_connection_faults_are_raised(
    forge: Forge, effect: str, error: type[OSError], landed: bool
) -> None:
    """In process a reset and a timeout are exceptions; the log has them with status 0."""
    forge.faults.add("POST", "", getattr(faults, effect)(landed=landed))
    with pytest.raises(error):
        ask(forge, "POST", THREAD, {"body": "x"})
    assert bodies(forge) == ["x"] * landed
    assert [entry.status for entry in forge.log] == [0]


def test_faults_match_method_path_and_query(forge: Forge) -> None:
    """A fault leaves other methods, paths and queries alone."""
    fault = forge.faults.add("GET", r"[?&]page=2", faults.status(500), times=None)
    statuses = [
        ask(forge, "GET", f"{THREAD}{query}").status for query in ("", "?page=1", "?page=2")
    ]
    assert statuses == [200, 200, 500]
    assert ask(forge, "POST", f"{THREAD}?page=2", {"body": "x"}).status == 201
    assert ask(forge, "GET", f"{THREAD}?per_page=5&page=2").status == 500
    assert fault.hits == 2


def test_times_and_after(forge: Forge) -> None:
    """The first ones go free, then so many are struck, then it is over; ``off`` ends it at once."""
    forge.faults.add("GET", "", faults.status(500), times=2, after=1)
    assert [ask(forge, "GET", THREAD).status for _ in range(5)] == [200, 500, 500, 200, 200]
    endless = forge.faults.add("*", "", faults.status(500), times=None)
    assert {ask(forge, "GET", THREAD).status for _ in range(9)} == {500}
    endless.off()
    assert ask(forge, "GET", THREAD).status == 200
    forge.faults.add("*", "", faults.status(500), times=None)
    forge.faults.clear()
    assert ask(forge, "GET", THREAD).status == 200


def test_several_faults_in_a_row(forge: Forge) -> None:
    """Faults that are added for one request each are met one after the other."""
    forge.faults.add("POST", "", faults.secondary())
    forge.faults.add("POST", "", faults.secondary(2, 429), after=1)
    answers = [ask(forge, "POST", THREAD, {"body": "x"}) for _ in range(3)]
    assert [answer.status for answer in answers] == [403, 429, 201]
    assert [answer.headers.get("Retry-After") for answer in answers] == [None, "2", None]
    assert bodies(forge) == ["x"]


def test_secondary_limit_has_githubs_text(forge: Forge) -> None:
    """The text is that of content creation; something is left of the primary limit."""
    forge.faults.add("*", "", faults.secondary("Wed, 21 Oct 2026 07:28:00 GMT"))
    answer = ask(forge, "POST", THREAD, {"body": "x"})
    assert "temporarily blocked from content creation" in message(answer)
    assert answer.headers["Retry-After"] == "Wed, 21 Oct 2026 07:28:00 GMT"
    assert answer.headers["x-ratelimit-remaining"] != "0"


@pytest.mark.parametrize("ahead", [2.0, -5.0])
def test_primary_limit_has_a_reset(timed: tuple[Forge, FakeClock], ahead: float) -> None:
    """Nothing is left, and the reset is so many seconds from now, or already past."""
    forge, fake = timed
    forge.faults.add("POST", "", faults.primary(ahead))
    answer = ask(forge, "POST", THREAD, {"body": "x"})
    assert (answer.status, answer.headers["x-ratelimit-remaining"]) == (403, "0")
    assert int(answer.headers["x-ratelimit-reset"]) == fake.now() + ahead
    assert bodies(forge) == []


def test_secondary_limit_with_a_date(timed: tuple[Forge, FakeClock]) -> None:
    """The date lies so many seconds after each request, not after the first."""
    forge, fake = timed
    forge.faults.add("POST", "", faults.dated(30), times=2)
    for _ in range(2):
        answer = ask(forge, "POST", THREAD, {"body": "x"})
        until = parsedate_to_datetime(answer.headers["Retry-After"]).timestamp()
        assert (answer.status, until) == (429, fake.now() + 30)
        fake.sleep(10)
    assert bodies(forge) == []


def test_answer_that_is_not_so(forge: Forge) -> None:
    """The write took effect, and the answer says something else; a refusal is left as it is."""
    forge.faults.add("*", "", faults.reply(lambda it: {**it, "body": "y"}), times=None)
    answer = ask(forge, "POST", THREAD, {"body": "x"})
    assert (answer.status, json.loads(answer.body)["body"]) == (201, "y")
    assert bodies(forge) == ["x"]
    assert ask(forge, "GET", "/repos/acme/nothing").status == 404


def test_truncated_answer(forge: Forge) -> None:
    """The body is shorter than the length that the answer claims."""
    forge.fill(*WIDGETS, 10)
    whole = len(ask(forge, "GET", THREAD).body)
    forge.faults.add("GET", "", faults.truncated())
    answer = ask(forge, "GET", THREAD)
    assert (answer.status, answer.headers["Content-Length"]) == (200, str(whole))
    assert len(answer.body) == whole // 2


def test_half_json(forge: Forge) -> None:
    """The answer claims no other length, but its JSON cannot be read."""
    forge.fill(*WIDGETS, 10)
    forge.faults.add("GET", "", faults.half_json())
    answer = ask(forge, "GET", THREAD)
    assert (answer.status, "Content-Length" in answer.headers) == (200, False)
    with pytest.raises(json.JSONDecodeError):
        data(answer)


@pytest.mark.parametrize("code", [200, 503])
def test_html_page(forge: Forge, code: int) -> None:
    """A page for people, with a status that may even say success."""
    forge.faults.add("GET", "", faults.html(code))
    answer = ask(forge, "GET", THREAD)
    assert (answer.status, answer.body[:15]) == (code, b"<!DOCTYPE html>")
    assert answer.headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("count", [1, 250])
def test_foreign_next_link(forge: Forge, count: int) -> None:
    """``next`` points to another host, where there was such a link and where there was none."""
    forge.fill(*WIDGETS, count)
    forge.faults.add("GET", "", faults.foreign_next("https://elsewhere.example"))
    found = links(ask(forge, "GET", f"{THREAD}?per_page=100"))
    assert found["next"].startswith("https://elsewhere.example/")
    assert "elsewhere" not in found.get("last", "")


def test_proxy_that_strips_html_comments(forge: Forge) -> None:
    """The marker is lost on the way in; answer and store agree; the log has what was sent."""
    forge.faults.add("*", "", faults.strip_comments(), times=None)
    made = data(ask(forge, "POST", THREAD, {"body": "<!-- plan-issue-12 -->\n\ntext"}))
    assert made["body"] == "\ntext"
    assert bodies(forge) == ["\ntext"]
    sent = json.dumps({"body": "<!-- plan-issue-12 -->\n\ntext"}).encode()
    assert forge.log[0].sha256 == hashlib.sha256(sent).hexdigest()
    patched = ask(forge, "PATCH", f"{BY_ID}/{made['id']}", {"body": "a <!-- x --> b"})
    assert data(patched)["body"] == "a  b"


def test_body_changed_on_the_way_in(forge: Forge) -> None:
    """Any change can be made to what is stored."""
    forge.faults.add("POST", "", faults.rewrite(str.upper))
    ask(forge, "POST", THREAD, {"body": "text"})
    assert bodies(forge) == ["TEXT"]


def test_any_answer_can_be_given(forge: Forge) -> None:
    """A test may write an answer of its own; what every answer carries is added."""
    elsewhere = {"Location": "https://elsewhere.example/x"}
    forge.faults.add("GET", "", faults.status(301, "Moved Permanently", headers=elsewhere))
    answer = ask(forge, "GET", THREAD)
    assert (answer.status, answer.headers["Location"]) == (301, elsewhere["Location"])
    assert answer.headers["X-GitHub-Request-Id"]


def test_hook_before_and_after(forge: Forge) -> None:
    """Another's doing can be put right before a request takes effect, and right after it."""
    mine = forge.comment(*WIDGETS, "helper-bot[bot]", "mine")
    forge.on_request("PATCH", "", lambda _: forge.edit(mine.id, "a human's"))
    forge.on_request("PATCH", "", lambda _: forge.edit(mine.id, "a human's"), landed=True, after=1)
    at = f"{BY_ID}/{mine.id}"
    assert data(ask(forge, "PATCH", at, {"body": "one"}))["body"] == "one"
    assert bodies(forge) == ["one"]
    assert data(ask(forge, "PATCH", at, {"body": "two"}))["body"] == "two"
    assert bodies(forge) == ["a human's"]


def test_deletion_between_two_pages_hides_a_comment(forge: Forge) -> None:
    """Numbered pages shift: the one at the boundary is on neither page."""
    ids = forge.fill(*WIDGETS, 150)
    forge.on_request("GET", "page=2", lambda _: forge.delete(ids[5]))
    pages = [data(ask(forge, "GET", f"{THREAD}?per_page=100&page={n}")) for n in (1, 2)]
    seen = {it["id"] for page in pages for it in page}
    assert set(ids) - seen == {ids[100]}


def test_hook_and_fault_meet_in_one_request(forge: Forge) -> None:
    """A PATCH lands, a human edits at once, and the answer is lost."""
    mine = forge.comment(*WIDGETS, "helper-bot[bot]", "mine")
    forge.on_request("PATCH", "", lambda _: forge.edit(mine.id, "a human's"), landed=True)
    forge.faults.add("PATCH", "", faults.reset(landed=True))
    with pytest.raises(ConnectionResetError):
        ask(forge, "PATCH", f"{BY_ID}/{mine.id}", {"body": "ours"})
    assert bodies(forge) == ["a human's"]


def shown(forge: Forge) -> list[str]:
    """What the listing shows."""
    return [it["body"] for it in data(ask(forge, "GET", THREAD))]


def test_lag_in_seconds(timed: tuple[Forge, FakeClock]) -> None:
    """A listing shows the thread as it was so long ago: creations, edits and deletions alike."""
    forge, fake = timed
    first, second = (forge.comment(*WIDGETS, "pat", text).id for text in ("one", "two"))
    fake.sleep(10)
    forge.lag.seconds = 5
    forge.edit(first, "one!")
    forge.delete(second)
    made = data(ask(forge, "POST", THREAD, {"body": "three"}))
    assert shown(forge) == ["one", "two"]
    assert data(ask(forge, "GET", f"{BY_ID}/{made['id']}"))["body"] == "three"
    fake.sleep(5)
    assert shown(forge) == ["one!", "three"]
    assert bodies(forge) == ["one!", "three"]


def test_lag_in_changes_is_ordered(forge: Forge) -> None:
    """The newest changes are hidden, and what shows is always a true earlier state."""
    forge.lag.changes = 2
    it = forge.comment(*WIDGETS, "pat", "a").id
    states = [shown(forge)]
    for change in (
        lambda: forge.edit(it, "b"),
        lambda: forge.comment(*WIDGETS, "lee", "c"),
        lambda: forge.edit(it, "d"),
        lambda: forge.delete(it),
    ):
        change()
        states.append(shown(forge))
    assert states == [[], [], ["a"], ["b"], ["b", "c"]]
    forge.lag.release()
    assert shown(forge) == ["c"]


def test_freeze_and_release(forge: Forge) -> None:
    """A frozen listing shows nothing new until it is let go; reads of one comment may lag, too."""
    forge.fill(*WIDGETS, 1, body=lambda _: "old")
    forge.lag.freeze()
    made = data(ask(forge, "POST", THREAD, {"body": "new"}))
    assert shown(forge) == ["old"]
    assert ask(forge, "GET", f"{BY_ID}/{made['id']}").status == 200
    forge.lag.single = True
    assert ask(forge, "GET", f"{BY_ID}/{made['id']}").status == 404
    assert ask(forge, "PATCH", f"{BY_ID}/{made['id']}", {"body": "newer"}).status == 200
    forge.lag.release()
    assert shown(forge) == ["old", "newer"]


def test_lag_never_hides_what_was_filled_in(timed: tuple[Forge, FakeClock]) -> None:
    """Old comments are old, however short ago the test put them in."""
    forge, _ = timed
    forge.lag.seconds = 60
    forge.fill(*WIDGETS, 3)
    assert len(shown(forge)) == 3


def test_latency_lies_around_the_effect(timed: tuple[Forge, FakeClock]) -> None:
    """Half of the latency is before the effect and half after it."""
    forge, fake = timed
    forge.sleep = fake.sleep
    forge.switches.latency = 0.04
    forge.on_request("GET", "", lambda _: fake.slept.append(-1.0))
    ask(forge, "GET", THREAD)
    assert fake.slept == [0.02, -1.0, 0.02]


def send(sender: ForgeSender, method: str = "GET") -> Response:
    """Send one request to the thread."""
    request = Request(
        method=method,
        url=f"https://api.github.example{THREAD}",
        headers={"User-Agent": "test", "Authorization": "Bearer forge-bot"},
        body=b'{"body": "x"}' if method == "POST" else None,
    )
    return sender.send(request, timeout=1.0)


@pytest.mark.parametrize("effect", [faults.reset(), faults.timeout(), faults.truncated()])
def test_sender_reports_a_broken_exchange(forge_sender: ForgeSender, effect: Effect) -> None:
    """A reset, a timeout and a cut-off answer may have taken effect: ``Broken``."""
    forge_sender.forge.faults.add("POST", "", effect)
    with pytest.raises(Broken):
        send(forge_sender, "POST")


def test_sender_reports_a_refused_connection(forge_sender: ForgeSender) -> None:
    """No connection means no request: ``Unreachable``, and nothing in the log."""
    forge_sender.refuse_connections = True
    with pytest.raises(Unreachable):
        send(forge_sender)
    assert not forge_sender.forge.log


def test_sender_gives_plain_values(forge_sender: ForgeSender) -> None:
    """Header names are lower-case and the body is as it is."""
    response = send(forge_sender)
    assert (response.status, json.loads(response.body)) == (200, [])
    assert all(name == name.lower() for name in response.headers)


def test_a_page_of_a_hundred_is_cheap(forge: Forge) -> None:
    """Bodies are rendered once: reading a page again asks for few statements, not one a comment."""
    forge.fill(*WIDGETS, 300, body=lambda n: f"{n} " + "word " * 500)
    ask(forge, "GET", f"{THREAD}?per_page=100&page=2")
    statements: list[str] = []
    forge.store.db._connection.set_trace_callback(statements.append)
    started = time.perf_counter()
    ask(forge, "GET", f"{THREAD}?per_page=100&page=2")
    assert time.perf_counter() - started < 1.0
    assert len([it for it in statements if "SELECT" in it]) <= 6

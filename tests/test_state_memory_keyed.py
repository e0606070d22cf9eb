"""The store ``memory``: what is found by a key (release hygiene, gate events, marks, deferrals)."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conversations import Conversation, shell, talk
from hypothesis import given
from hypothesis import strategies as st
from stores import state_file

from markers.caches import gate_events, keys, run_once
from markers.caches.checkout import Checkout, common_root, look
from markers.caches.deferral import Deferral, DeferralCodec

__all__ = ["shell", "talk"]

EVENT = {
    "decision_id": "cache-key-shape",
    "phase": "plan",
    "outcome": "asked",
    "classification": "load-bearing",
    "window_position": "pre-ask",
    "timestamp": "2031-03-04T08:15:00Z",
    "issue_number": 12,
}


SOMEWHERE = Path("/x")


def checkout(branch: str | None, sha: str | None) -> Checkout:
    """A worktree at some branch and commit."""
    return Checkout(top=SOMEWHERE, common=SOMEWHERE, branch=branch, sha=sha)


@pytest.mark.parametrize(
    ("session", "branch", "sha", "key", "strategy"),
    [
        ("s-1", "main", "abc", "s-1", "session_id"),
        ("a/b c", "main", "abc", "a-b-c", "session_id"),
        ("", "feature/x_y", "abc", "feature-x_y", "branch_slug"),
        ("///", "feature/x", "abc", "feature-x", "branch_slug"),
        ("", "feature/issue-12-keys", "abc", "12", "branch_slug"),
        ("", None, "abc", "abc", "session_fallback"),
        ("", None, None, "session", "session_fallback"),
        ("---", "---", None, "session", "session_fallback"),
    ],
)
def test_memory_33_release_hygiene_key(
    session: str, branch: str | None, sha: str | None, key: str, strategy: str
) -> None:
    """Session, else branch, else commit, else nobody's; a branch of an issue is the issue's."""
    found = keys.hygiene_key(session, checkout(branch, sha))
    assert (found.slug, found.strategy) == (key, strategy)


def test_memory_33_worktrees_share_the_decision(talk: Conversation) -> None:
    """The file lies below the common root, so that a second worktree finds it."""
    talk.commit("feature/issue-12-x")
    other = talk.shell.home / "other"
    git = ["git", "-C", str(talk.shell.top), "worktree", "add", "-q", "-b", "b", str(other)]
    subprocess.run(git, check=True)
    here = talk.told("release-hygiene", "set", "--session", "s", "--chosen", "minor")
    assert here["path"] == str(talk.shell.top / ".claude/.state/release-hygiene-s.json")
    found = look(other, other)
    assert (found.common, found.top, found.branch) == (talk.shell.top, other, "b")
    assert talk.told("release-hygiene", "show")["strategy"] == "branch_slug"
    assert talk.told("path", "release-hygiene")["path"].endswith("release-hygiene-12.json")


def test_memory_33_the_common_root_of_odd_checkouts() -> None:
    """A bare repository's worktrees share its directory; a submodule is its own."""
    assert common_root(Path("/x/a/.git"), Path("/y")) == Path("/x/a")
    assert common_root(Path("/x/a.git"), Path("/y")) == Path("/x")
    assert common_root(Path("/x/.git/modules/sub"), Path("/x/sub")) == Path("/x/sub")


def test_memory_33_a_decision_adds_up(talk: Conversation) -> None:
    """Defaults, the choice, the touched files each once; other programs' keys stay."""
    at = ("--session", "s")
    first = talk.told("release-hygiene", "set", *at, "--touched", "plugin.json")
    assert first["state"] == {
        "proposed_level": "patch",
        "chosen_level": None,
        "keying_strategy": "session_id",
        "touched_files": ["plugin.json"],
    }
    path = Path(first["path"])
    path.write_text(path.read_text().replace("{\n", '{\n  "theirs": 1e400,\n', 1))
    more = ("--touched", "plugin.json", "--touched", "README.md", "--chosen", "skip")
    second = talk.told("release-hygiene", "set", *at, *more)
    assert second["state"]["touched_files"] == ["plugin.json", "README.md"]
    assert second["state"]["chosen_level"] == "skip"
    assert '"theirs": 1e400' in path.read_text()
    assert talk.told("release-hygiene", "set", *at)["action"] == "unchanged"
    assert talk.run("release-hygiene", "set", *at, "--touched", "a\nb").code == 3


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b"\xff",
        b'{"proposed_level": "huge", "keying_strategy": "session_id", "touched_files": []}',
        b'{"proposed_level": "patch", "keying_strategy": "session_id", "touched_files": [1]}',
        b'{"proposed_level": ["patch"], "keying_strategy": "x", "touched_files": {}}',
    ],
)
def test_memory_33_a_broken_decision_is_none(talk: Conversation, data: bytes) -> None:
    """A reader has no decision; the next command begins anew and keeps a copy."""
    path = talk.shell.top / ".claude/.state/release-hygiene-s.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    assert talk.told("release-hygiene", "show", "--session", "s")["state"] is None
    assert path.read_bytes() == data
    done = talk.told("release-hygiene", "set", "--session", "s", "--chosen", "major")
    assert done["state"]["chosen_level"] == "major"
    [kept] = path.parent.glob("release-hygiene-s.json.corrupt-*")
    assert kept.read_bytes() == data


@pytest.mark.parametrize(
    ("session", "branch", "sha", "key"),
    [
        ("s 1", "main", "abc", "s-s-1"),
        ("---", "main", "abc", "b-main"),
        ("", "feature/issue-12", "abc", "b-feature-issue-12"),
        ("", None, "abc", "sha-abc"),
        ("", None, None, "session"),
    ],
)
def test_memory_34_gate_key(session: str, branch: str | None, sha: str | None, key: str) -> None:
    """Session where anything of it is left, branch unless detached, commit, nobody's."""
    assert keys.gate_key(session, checkout(branch, sha)) == key


def test_memory_34_git_says_where_it_stands(talk: Conversation) -> None:
    """Before the first commit a branch, then its commit, and no branch where none is there."""
    top = talk.shell.top
    assert look(top, top).sha is None
    sha = talk.commit("b")
    assert (look(top, top).branch, look(top, top).sha) == ("b", sha)
    sha = talk.commit(None)
    assert (look(top, top).branch, look(top, top).sha) == (None, sha)
    assert look(None, SOMEWHERE) == checkout(None, None)
    assert talk.told("path", "gate-events")["path"].endswith(f"gate-events-sha-{sha}.jsonl")


def test_memory_34_a_session_comes_from_the_harness(talk: Conversation) -> None:
    """The option wins, then the harness's own variable."""
    talk.shell.export(CLAUDE_SESSION_ID="old", CLAUDE_CODE_SESSION_ID="new")
    assert talk.told("path", "gate-events")["path"].endswith("gate-events-s-new.jsonl")
    named = talk.told("path", "gate-events", "--session", "mine")
    assert named["path"].endswith("gate-events-s-mine.jsonl")


OPTIONS = [f"--{name.replace('_', '-')}={value}" for name, value in EVENT.items()]


def test_memory_21_events_are_lines(talk: Conversation) -> None:
    """Options and standard input make the same line; both come back in their order."""
    at = ("gate-events", "append", "--session", "s")
    assert talk.told(*at, *OPTIONS)["action"] == "created"
    done = talk.told(*at, stdin=json.dumps({**EVENT, "decision_id": "two"}).encode())
    assert (done["action"], done["source"]) == ("updated", "gate-events")
    path = talk.root / "gate-events-s-s.jsonl"
    assert path.read_bytes().count(b"\n") == 2
    events = talk.told("gate-events", "show", "--session", "s")["events"]
    assert [event["decision_id"] for event in events] == ["cache-key-shape", "two"]
    assert events[0] == EVENT


def test_memory_21_a_torn_last_line_is_not_joined(talk: Conversation) -> None:
    """What a crash left stays a line of its own, and is counted as none."""
    path = talk.file("gate-events-s-s.jsonl")
    path.write_bytes(json.dumps(EVENT).encode() + b'\r\n{"decision_id": "to')
    talk.told("gate-events", "append", "--session", "s", *OPTIONS)
    found = talk.told("gate-events", "show", "--session", "s")
    assert (len(found["events"]), found["unread"]) == (2, [2])
    assert path.read_bytes().splitlines()[1] == b'{"decision_id": "to'


@pytest.mark.parametrize(
    "change",
    [{name: None} for name in gate_events.REQUIRED]
    + [
        {"issue_number": None},
        {"pull_request_number": 7},
        {"issue_number": None, "pull_request_number": 7},
        {"window_position": "review-disposition"},
        {"issue_number": 0},
        {"issue_number": True},
        {"issue_number": "12"},
        {"issue_number": 2**31},
        {"phase": "lunch"},
        {"outcome": "maybe"},
        {"classification": "odd"},
        {"window_position": "here"},
        {"decision_id": ""},
        {"decision_id": "two words"},
        {"decision_id": "x" * 201},
        {"timestamp": "yesterday"},
        {"timestamp": "2031-03-04T08:15:00"},
        {"timestamp": 7},
        {"skip_reason": "none"},
        {"session_key": 7},
        {"more": 1},
    ],
    ids=json.dumps,
)
def test_memory_21_what_is_no_event(talk: Conversation, change: dict[str, Any]) -> None:
    """A field that is missing, unknown or wrong, and both numbers or the wrong one, are refused."""
    event = {name: value for name, value in {**EVENT, **change}.items() if value is not None}
    ran = talk.run("gate-events", "append", stdin=json.dumps(event).encode())
    assert (ran.code, ran.document["reason"]["code"]) == (3, "gate-event")
    assert not talk.root.exists()
    assert gate_events.read(json.dumps(event).encode()).unread == (1,)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"7", b"[" * 100_000])
def test_memory_21_what_is_no_json(talk: Conversation, data: bytes) -> None:
    """Standard input that is no JSON object appends nothing."""
    assert talk.run("gate-events", "append", stdin=data).code == 3
    assert not talk.root.exists()


def test_memory_21_fault_keys_of_findings_are_ids() -> None:
    """The key by which reviews know a finding is a decision's id too."""
    event = {
        **EVENT,
        "decision_id": "code-review:M1/no-lock",
        "phase": "review",
        "window_position": "review-disposition",
        "pull_request_number": 7,
    }
    del event["issue_number"]
    assert gate_events.problems(event) == []


def test_memory_21_without_session_memory_the_worktree_has_the_log(talk: Conversation) -> None:
    """Where session memory is not there, the fallback takes the event, and the reader says so."""
    talk.shell.export(MARKERS_MEMORY_ROOT=str(talk.shell.home / "no" / "memories"))
    done = talk.told("gate-events", "append", *OPTIONS)
    assert done["source"] == "gate-events-fallback"
    assert done["path"] == str(talk.shell.top / ".copilot-tracking/gate-events.jsonl")
    assert talk.told("gate-events", "show")["source"] == "gate-events-fallback"
    assert not (talk.shell.home / "no").exists()


def test_memory_21_session_memory_that_cannot_be_written(talk: Conversation) -> None:
    """A directory in place of the log sends the event to the worktree, with a warning."""
    talk.file("gate-events-s-s.jsonl").mkdir()
    done = talk.told("gate-events", "append", "--session", "s", *OPTIONS)
    assert done["source"] == "gate-events-fallback"
    assert "session memory is not to be used" in done["warnings"][0]


APPENDS = """
import sys
sys.path[:0] = {tests!r}
from pathlib import Path
from stores import state_file
file = state_file(Path(sys.argv[1]), "log.jsonl", wait=20)
for number in range(50):
    with file.held(sys.exit) as held:
        held.append(f"{{sys.argv[2]}}-{{number}} {{'x' * 5000}}\\n".encode())
"""
RAISES = """
import sys
sys.path[:0] = {tests!r}
from pathlib import Path
from stores import state_file
from markers.caches.deferral import DeferralCodec, deferred
from markers.caches.engine import Cabinet
from markers.caches.memory import store
file = state_file(Path(sys.argv[1]), "log.jsonl", wait=20)
cabinet = Cabinet(store("rate-limit"), DeferralCodec("s"), file)
for number in range(50):
    more = {{"items": (f"{{sys.argv[2]}}-{{number}}",), "now": ""}}
    cabinet.update(lambda value: deferred(value, interrupted=None, resume=None, **more))
"""


@pytest.mark.parametrize("program", [APPENDS, RAISES], ids=["append", "update"])
def test_memory_two_processes_lose_nothing(tmp_path: Path, program: str) -> None:
    """Two writers of fifty each: a hundred whole lines."""
    tests = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    code = program.format(tests=tests)
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "ab"]
    assert [each.wait(60) for each in running] == [0, 0]
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    words = {line.removeprefix("- ").split()[0] for line in lines if line and line[0] not in "#"}
    assert {f"{name}-{number}" for name in "ab" for number in range(50)} <= words


def test_memory_21_what_others_append_without_a_lock_is_kept(tmp_path: Path) -> None:
    """The log is never replaced: who holds it open goes on appending to the same file."""
    log = tmp_path / "state.json"
    with log.open("ab", buffering=0) as other:
        other.write(b"one\n")
        with state_file(tmp_path).held(pytest.fail) as held:
            held.append(b"two\n")
        other.write(b"three\n")
    assert log.read_bytes() == b"one\ntwo\nthree\n"


HERE = ("--id", "12", "--body-file", "-")


def test_memory_35_equal_body_is_a_skip(talk: Conversation) -> None:
    """Run before the mark, skip after it, run again for another body, issue or session."""
    at = ("--session", "s.1")
    assert talk.told("run-once", "check", *at, *HERE, stdin=b"body\n")["run"] is True
    done = talk.told("run-once", "mark", *at, *HERE, stdin=b"body\n")
    assert done["path"] == str(talk.shell.top / ".tmp/rph-s-1-issue-12.json")
    said = json.loads(Path(done["path"]).read_bytes())
    digest = hashlib.sha256(b"body\n").hexdigest()[:16]
    assert list(said) == ["issue_number", "session_id", "body_hash", "injected_at"]
    assert (said["issue_number"], said["session_id"], said["body_hash"]) == (12, "s.1", digest)
    assert talk.told("run-once", "check", *at, *HERE, stdin=b"body\n")["run"] is False
    assert talk.told("run-once", "mark", *at, *HERE, stdin=b"body\n")["action"] == "unchanged"
    assert talk.told("run-once", "check", *at, *HERE, stdin=b"body")["run"] is True
    assert talk.told("run-once", "check", "--session", "s-1", *HERE, stdin=b"body\n")["run"] is True


MARK = run_once.Mark(number=12, session="s", body_hash=run_once.body_hash("b"))


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"{",
        b"[]",
        b"7",
        b"\xff",
        b"[" * 100_000,
        b"{}",
        MARK.text("now")[:40],
        MARK.text("now").replace(b"12", b"13"),
        MARK.text("now").replace(b'"s"', b'"t"'),
        MARK.text("now").replace(MARK.body_hash.encode(), b"0" * 16),
    ],
)
def test_memory_35_any_failure_is_a_run(data: bytes | None) -> None:
    """Only the same body of the same issue in the same session is a skip."""
    assert run_once.verdict(MARK, data).run is True
    assert run_once.verdict(MARK, b"\xef\xbb\xbf" + MARK.text("now")).run is False


@pytest.mark.parametrize("session", ["", "unknown"])
def test_memory_35_fault_no_session_is_nobodys(talk: Conversation, session: str) -> None:
    """Without a session nothing is marked and everything runs: such marks would collide."""
    at = ("--session", session) if session else ()
    scratch = talk.shell.scratch / "rph-unknown-issue-12.json"
    theirs = run_once.Mark(number=12, session="unknown", body_hash=run_once.body_hash("b"))
    scratch.write_bytes(theirs.text("now"))
    assert talk.told("run-once", "check", *at, *HERE, stdin=b"b")["run"] is True
    ran = talk.run("run-once", "mark", *at, *HERE, stdin=b"b")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "run-once-session")
    assert scratch.read_bytes() == theirs.text("now")


@pytest.mark.parametrize("in_the_way", ["directory", "link"])
def test_memory_35_what_cannot_be_read_is_a_run(talk: Conversation, in_the_way: str) -> None:
    """A directory or a link in place of a mark is a run, and the command ends well."""
    mark = talk.shell.scratch / "rph-s-issue-12.json"
    check = talk.file("session-startup-check-complete.md")
    for path in (mark, check):
        path.mkdir() if in_the_way == "directory" else path.symlink_to("/etc/hostname")
    assert talk.told("run-once", "check", "--session", "s", *HERE, stdin=b"b")["run"] is True
    assert talk.told("startup-check", "show")["run"] is True
    done = talk.told("startup-check", "done")
    assert (done["action"], len(done["warnings"])) == ("unchanged", 1)


def test_memory_07_the_startup_check_runs_once(talk: Conversation) -> None:
    """Presence is all: the first done makes the mark, and the next one leaves it."""
    assert talk.told("startup-check", "show")["run"] is True
    assert talk.told("startup-check", "done")["action"] == "created"
    before = (talk.root / "session-startup-check-complete.md").read_bytes()
    assert talk.told("startup-check", "show")["run"] is False
    assert talk.told("startup-check", "done")["action"] == "unchanged"
    assert (talk.root / "session-startup-check-complete.md").read_bytes() == before


def test_memory_18_the_install_prompt_is_shown_once(talk: Conversation) -> None:
    """Anything in the mark suppresses it; an empty mark does not."""
    place = Path(talk.told("path", "install-prompt")["path"])
    assert place.name.endswith(keys.slug(str(talk.shell.top))[-20:])
    assert talk.told("install-prompt", "show")["run"] is True
    talk.file(place.name).write_bytes(b" \n")
    assert talk.told("install-prompt", "show")["run"] is True
    assert talk.told("install-prompt", "mark")["path"] == str(place)
    assert talk.told("install-prompt", "show")["run"] is False


def test_memory_15_deferrals_add_up(talk: Conversation) -> None:
    """What is put off, where it was interrupted and where it goes on; then it is cleared."""
    at = ("--scope", "issue-12")
    first = ("--defer", "post the plan", "--interrupted", "plan / step 3")
    assert talk.told("rate-limit", "set", *at, *first)["action"] == "created"
    more = ("--defer", "post the plan", "--defer", "close", "--resume", "step 4")
    found = talk.told("rate-limit", "set", *at, *more)["deferral"]
    assert found["items"] == ["post the plan", "close"]
    assert (found["interrupted"], found["resume"]) == ("plan / step 3", "step 4")
    assert talk.told("rate-limit", "show", *at)["deferral"] == found
    assert talk.told("rate-limit", "set", *at)["action"] == "unchanged"
    cleared = talk.told("rate-limit", "clear", *at)
    assert cleared["action"] == "deleted"
    assert "post the plan" in cleared["text"]
    assert talk.told("rate-limit", "show", *at)["condition"] == "missing"
    assert talk.told("rate-limit", "clear", *at)["action"] == "unchanged"


@pytest.mark.parametrize("text", ["a\nb", "x -->", "<!-- x", "\x1b[1m", " ", "a\u2028b"])
def test_memory_15_texts_that_are_refused(talk: Conversation, text: str) -> None:
    """Line breaks, comment delimiters, control characters and blanks make no entry."""
    for option in ("--defer", "--interrupted", "--resume"):
        ran = talk.run("rate-limit", "set", "--scope", "s", option, text)
        assert (ran.code, ran.document["reason"]["code"]) == (3, "memory-text")
    assert not talk.root.exists()


LINES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1)


@given(LINES, LINES, st.lists(LINES, unique=True, max_size=4))
def test_memory_15_a_deferral_reads_back(where: str, resume: str, items: list[str]) -> None:
    """Whatever is put off comes back as it was said."""
    value = Deferral(
        scope="s", interrupted=where, resume=resume, items=tuple(items), last_updated="now"
    )
    assert DeferralCodec("s").load(DeferralCodec("s").dump(value)) == value


@pytest.mark.parametrize("data", [b"", b"free text\n", b"\xff", b"# Deferred by a rate limit: t\n"])
def test_memory_15_another_form_is_shown_and_kept(talk: Conversation, data: bytes) -> None:
    """A file that somebody wrote otherwise is printed as it is, and kept when we write."""
    path = talk.file("rate-limit-deferred-s.md")
    path.write_bytes(data)
    assert talk.shell.run("state", "memory", "rate-limit", "show", "--scope", "s").out == data
    assert talk.told("rate-limit", "show", "--scope", "s")["deferral"] is None
    talk.told("rate-limit", "set", "--scope", "s", "--defer", "x")
    [kept] = talk.root.glob("rate-limit-deferred-s.md.corrupt-*")
    assert kept.read_bytes() == data

"""The store ``memory``: names, whole texts and review states, by the contract's statements."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conversations import Conversation, shell, talk
from hypothesis import given
from hypothesis import strategies as st

from markers.caches import memory
from markers.caches.engine import Broken
from markers.caches.memory import KINDS, Base, bundles_of, path_of, read_name
from markers.caches.review_state import ReviewCodec
from markers.contract import load
from markers.errors import Refused

__all__ = ["shell", "talk"]

STATE = """\
---
issue_id: 12
review_mode: lite
prosecution_complete: true
defense_complete: false
judgment_complete: false
last_updated: 2031-03-04T08:15:00Z
---
"""
BAD_WORDS = ["a/b", "..", "a..b", "../x", "x" * 300, "a b", "a\nb", "ä", "-->", "a\x00b", "{ID}"]
HERE = ("--id", "12", "--body-file", "-")


def test_memory_templates_are_those_of_the_rows() -> None:
    """Each kind's row is active in the registry and names the very template."""
    rows = load().rows
    for name, kind in KINDS.items():
        named = {each.removeprefix("/") for each in rows[kind.row].caches}
        prefix = "memories/session/" if kind.base is Base.MEMORY else ""
        assert prefix + kind.template in named, name
        labels = {survival.label for survival in rows[kind.row].survival}
        assert kind.survival in labels, name


NUMBERS = st.integers(1, 2**31 - 1)


@given(st.lists(NUMBERS, min_size=2, max_size=5, unique=True))
def test_memory_names_of_bundles_keep_their_order(numbers: list[int]) -> None:
    """A bundle's name has its issues in the order in which they were given, and reads back so."""
    [file] = path_of("plan-bundle", memory.value_of("plan-bundle", tuple(numbers)))
    found = read_name(file)
    assert found is not None
    assert (found.kind, list(found.numbers)) == ("plan-bundle", numbers)


@given(st.text(max_size=60) | st.sampled_from([k.parts[-1] for k in KINDS.values()]))
def test_memory_only_our_names_are_read(file: str) -> None:
    """What reads as one of our files is what its parts make."""
    found = read_name(file)
    if found is not None:
        assert path_of(found.kind, found.value) == (file,)


@pytest.mark.parametrize(
    "file",
    [
        "plan-issue-012.md",
        "plan-issue-0.md",
        "plan-issue-12.md.lock",
        "plan-issue-12.md.replaced-20310304T081500Z",
        "plan-issue-12-13.md",
        "plan-bundle-12.md",
        "plan-bundle-12--13.md",
        "plan-bundle-12-13",
        "review-state-x.md",
        "rate-limit-deferred-.md",
        "gate-events-.jsonl",
        "Plan-issue-12.md",
    ],
)
def test_memory_names_that_are_none_of_ours(file: str) -> None:
    """Leading zeros, copies, locks, and names that lack their number or word are other files."""
    assert read_name(file) is None


def test_memory_bundles_of_an_issue() -> None:
    """Those that it leads come first; other files and other issues' bundles are left out."""
    files = [
        "plan-bundle-7-12.md",
        "plan-bundle-12-7.md",
        "plan-bundle-1-2.md",
        "plan-bundle-112-212.md",
        "plan-issue-12.md",
        "plan-bundle-12-7.md.lock",
    ]
    assert bundles_of(12, files) == ("plan-bundle-12-7.md", "plan-bundle-7-12.md")
    assert bundles_of(9, files) == ()


@pytest.mark.parametrize("word", BAD_WORDS)
def test_memory_names_are_checked(talk: Conversation, word: str) -> None:
    """A scope that is no part of a file's name is refused, and nothing is made."""
    if "\x00" in word:
        with pytest.raises(Refused):
            path_of("rate-limit", word)
        return
    for words in (("rate-limit", "set"), ("install-prompt", "mark"), ("path", "rate-limit")):
        ran = talk.run(*words, "--scope", word)
        assert (ran.code, ran.document["reason"]["code"]) == (3, "memory-name"), words
    assert not talk.root.exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("get", "plan-issue"), 3),
        (("get", "plan-issue", "--id", "12", "--id", "13"), 3),
        (("get", "plan-bundle", "--id", "12"), 3),
        (("get", "plan-bundle", "--id", "12", "--id", "12"), 3),
        (("get", "plan-issue", "--id", "0"), 2),
        (("get", "plan-issue", "--id", "../x"), 2),
        (("get", "review-state", "--id", "12"), 2),
        (("get", "nothing"), 2),
        (("path", "rate-limit"), 2),
        (("path", "run-once", "--id", "1"), 2),
        (("rate-limit", "show"), 2),
        (("review-state", "show"), 2),
        (("review-state", "set", "--id", "1", "--defense-complete", "True"), 2),
        (("review-state", "set", "--id", "1", "--review-mode", "both"), 2),
        (("release-hygiene", "set", "--chosen", "huge"), 2),
        (("show", "plan-issue-9.md"), 1),
        (("get", "plan-issue", "--id", "9"), 1),
    ],
)
def test_memory_usage(talk: Conversation, words: tuple[str, ...], code: int) -> None:
    """What is missing or malformed ends the command, and nothing is made."""
    assert talk.run(*words).code == code
    assert not talk.root.exists()


def test_memory_01_texts_are_kept_whole(talk: Conversation) -> None:
    """A plan comes back byte for byte, whatever is in it."""
    text = b'# Plan\r\n\n- [ ] a --> b\n## "x" \\ <!-- y -->\n'
    where = ("plan-issue", "--id", "12")
    assert talk.told("put", *where, "--body-file", "-", stdin=text)["action"] == "created"
    assert talk.shell.run("state", "memory", "get", *where).out == text
    assert (talk.root / "plan-issue-12.md").read_bytes() == text
    assert (talk.root / "plan-issue-12.md").stat().st_mode & 0o777 == 0o600


def test_memory_02_a_bundle_is_a_text_of_its_own(talk: Conversation) -> None:
    """Its name has the issues in their order; the single plans are other files."""
    ids = ("--id", "14", "--id", "12", "--id", "9")
    done = talk.told("put", "plan-bundle", *ids, "--body-file", "-", stdin=b"all\n")
    assert done["path"].endswith("/plan-bundle-14-12-9.md")
    assert talk.told("get", "plan-bundle", *ids)["text"] == "all\n"
    assert talk.run("get", "plan-issue", "--id", "12").code == 1


def test_memory_01_a_bundle_comes_before_the_single_plan(talk: Conversation) -> None:
    """Who asks for the plan of one issue is told of the bundle that covers it."""
    ids = ("--id", "14", "--id", "12")
    bundle = "plan-bundle-14-12.md covers the issue and comes first"
    talk.told("put", "plan-bundle", *ids, "--body-file", "-", stdin=b"all\n")
    ran = talk.run("get", "plan-issue", "--id", "12")
    assert ran.code == 1
    assert bundle in ran.document["reason"]["detail"]
    talk.told("put", "plan-issue", "--id", "12", "--body-file", "-", stdin=b"one\n")
    assert talk.told("get", "plan-issue", "--id", "12")["warnings"] == [bundle]
    assert talk.told("put", "plan-issue", "--id", "1", *HERE[2:], stdin=b"x")["warnings"] == []
    assert talk.told("get", "plan-issue", "--id", "1")["warnings"] == []


def test_memory_04_equal_texts_are_not_written(talk: Conversation) -> None:
    """What differs in line ends and trailing blanks alone is the same text."""
    path = talk.file("plan-issue-12.md")
    path.write_bytes(b"a  \r\nb\r\n\r\n")
    before = path.stat().st_mtime_ns
    done = talk.told("put", "plan-issue", "--id", "12", "--body-file", "-", stdin=b"a\nb\n")
    assert (done["action"], path.stat().st_mtime_ns) == ("unchanged", before)


@pytest.mark.parametrize("old", [b"other\n", b"\xff\x00", b""])
def test_memory_another_text_is_kept_aside(talk: Conversation, old: bytes) -> None:
    """What a text replaces stays in a directory beside it, and is no file of ours any more."""
    talk.file("design-issue-12.md").write_bytes(old)
    done = talk.told("put", "design-issue", "--id", "12", "--body-file", "-", stdin=b"new\n")
    [kept] = done["kept_aside"]
    assert done["action"] == "updated"
    assert Path(kept).read_bytes() == old
    assert Path(kept).parent == talk.root / "kept-aside"
    assert (talk.root / "design-issue-12.md").read_bytes() == b"new\n"
    assert [row["kind"] for row in talk.told("show")["files"]] == ["design-issue"]


@pytest.mark.parametrize("text", [b"", b" \n", b"\xff", b"a\x00b"])
def test_memory_what_is_no_text_is_refused(talk: Conversation, text: bytes) -> None:
    """Blank texts, NUL and other encodings are not put."""
    ran = talk.run("put", "plan-issue", "--id", "12", "--body-file", "-", stdin=text)
    assert (ran.code, ran.document["reason"]["code"]) == (3, "memory-text")
    assert not talk.root.exists()


def test_memory_32_a_new_state_has_its_defaults(talk: Conversation) -> None:
    """Six fields in their order: a full review, nothing done."""
    assert talk.told("review-state", "set", "--id", "12")["action"] == "created"
    lines = (talk.root / "review-state-12.md").read_text().splitlines()
    assert lines[:6] == [
        "---",
        "issue_id: 12",
        "review_mode: full",
        "prosecution_complete: false",
        "defense_complete: false",
        "judgment_complete: false",
    ]
    assert lines[6].startswith("last_updated: 20")
    assert lines[6].endswith("Z")
    assert lines[7:] == ["---"]


@pytest.mark.parametrize("stage", ["prosecution", "defense", "judgment"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_memory_32_a_command_changes_its_own_boolean_only(
    talk: Conversation, stage: str, newline: str
) -> None:
    """All else stays, what stands behind the front matter and the line ends too."""
    path = talk.file("review-state-12.md")
    path.write_bytes((STATE + "notes\n").replace("\n", newline).encode())
    before = talk.told("review-state", "show", "--id", "12")["state"]
    value = "false" if before[f"{stage}_complete"] else "true"
    talk.told("review-state", "set", "--id", "12", f"--{stage}-complete", value)
    after = talk.told("review-state", "show", "--id", "12")["state"]
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {f"{stage}_complete", "last_updated"}
    data = path.read_bytes()
    assert data.endswith(f"---{newline}notes{newline}".encode())
    assert data.count(b"\r\n") == (0 if newline == "\n" else data.count(b"\n"))


def test_memory_32_the_same_again_is_no_write(talk: Conversation) -> None:
    """A new time alone is no reason to write."""
    path = talk.file("review-state-12.md")
    path.write_text(STATE)
    done = talk.told("review-state", "set", "--id", "12", "--prosecution-complete", "true")
    assert (done["action"], path.read_text()) == ("unchanged", STATE)


DEVIATIONS = {
    "order": STATE.replace("issue_id: 12\nreview_mode: lite", "review_mode: lite\nissue_id: 12"),
    "missing field": STATE.replace("defense_complete: false\n", ""),
    "one more": STATE.replace("issue_id", "x: 1\nissue_id"),
    "twice": STATE.replace("issue_id: 12\n", "issue_id: 12\nissue_id: 12\n"),
    "other issue": STATE.replace("12", "13", 1),
    "zero in front": STATE.replace("issue_id: 12", "issue_id: 012"),
    "quoted": STATE.replace("issue_id: 12", 'issue_id: "12"'),
    "True": STATE.replace("true", "True"),
    "yes": STATE.replace("true", "yes"),
    "mode": STATE.replace("lite", "Lite"),
    "no zone": STATE.replace("00Z", "00"),
    "other zone": STATE.replace("00Z", "00+01:00"),
    "no such day": STATE.replace("03-04", "02-30"),
    "blank line": STATE.replace("issue_id", "\nissue_id"),
    "indented": STATE.replace("review_mode", " review_mode"),
    "half-written": STATE[:60],
    "no end": STATE.removesuffix("---\n"),
    "not at the start": "\n" + STATE,
    "empty": "",
    "json": '{"issue_id": 12}',
    "binary": "\udcff\udcfe",
}


@pytest.mark.parametrize("deviation", DEVIATIONS)
def test_memory_32_any_deviation_reads_as_none(talk: Conversation, deviation: str) -> None:
    """A reader has no state and writes nothing; the next command begins anew and keeps a copy."""
    data = DEVIATIONS[deviation].encode(errors="surrogateescape")
    path = talk.file("review-state-12.md")
    path.write_bytes(data)
    seen = talk.told("review-state", "show", "--id", "12")
    assert (seen["state"], path.read_bytes()) == (None, data)
    done = talk.told("review-state", "set", "--id", "12", "--defense-complete", "true")
    assert done["state"]["prosecution_complete"] is False
    assert done["state"]["review_mode"] == "full"
    [kept] = talk.root.glob("review-state-12.md.corrupt-*")
    assert kept.read_bytes() == data


@pytest.mark.parametrize(
    "time", ["2031-03-04T08:15:00Z", "2031-03-04T08:15:00.1234567Z", "2031-03-04T08:15:00+00:00"]
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_memory_32_spellings_that_are_read(time: str, mark: str) -> None:
    """Both spellings of UTC, a fraction of a second, a byte order mark."""
    text = mark + STATE.replace("2031-03-04T08:15:00Z", time)
    assert ReviewCodec(12).load(text.encode()).last_updated == time


@given(st.binary(max_size=80) | st.text().map(str.encode))
def test_memory_32_nothing_but_a_state_is_a_state(data: bytes) -> None:
    """Whatever the bytes are, the codec answers or says that they are none."""
    with pytest.raises(Broken):
        ReviewCodec(12).load(data)


def test_memory_32_a_missing_state_is_none(talk: Conversation) -> None:
    """No file, no state, no lock, no directory."""
    assert talk.told("review-state", "show", "--id", "12")["condition"] == "missing"
    assert not talk.root.exists()


def test_memory_show_lists_what_is_there(talk: Conversation) -> None:
    """Files of session memory, worktree and common root by kind, with their row and label."""
    names = ["plan-issue-12.md", "plan-bundle-1-2.md", "notes.md", "plan-issue-12.md.lock"]
    for name in names:
        talk.file(name).write_text("x")
    talk.told("release-hygiene", "set", "--session", "s")
    talk.told("run-once", "mark", "--session", "s", *HERE, stdin=b"b")
    found = {row["kind"]: row for row in talk.told("show")["files"]}
    assert set(found) == {"plan-issue", "plan-bundle", "release-hygiene", "run-once"}
    assert found["run-once"]["row"] == "SMC-22"
    assert found["release-hygiene"]["survival"] == "within-worktree:hooks"
    assert [row["key"] for row in talk.told("show", "plan-bundle")["files"]] == ["1-2"]
    assert len(talk.told("show", "plan-issue-12.md")["files"]) == 1
    assert talk.told("show", "rate-limit")["files"] == []


def test_memory_where(talk: Conversation) -> None:
    """The directories; of a file its lock and whether git tracks it."""
    found = talk.told("where")["directories"]
    assert found == {
        "memory": str(talk.root),
        "common": str(talk.shell.top),
        "worktree": str(talk.shell.top),
    }
    file = talk.told("where", "release-hygiene", "--session", "s")
    assert file["tracked"] is False
    assert file["lock"].endswith("/.claude/.state/release-hygiene-s.json.lock")
    path = Path(file["path"])
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    subprocess.run(["git", "-C", str(talk.shell.top), "add", "-f", str(path)], check=True)
    again = talk.told("where", "release-hygiene", "--session", "s")
    assert (again["tracked"], len(again["warnings"])) == (True, 1)


def test_memory_the_root_is_settable(talk: Conversation) -> None:
    """By option below the scratch roots, by variable, and else where the rows have it."""
    assert talk.told("--root", ".tmp/m", "startup-check", "done")["action"] == "created"
    assert (talk.shell.scratch / "m/session-startup-check-complete.md").exists()
    assert talk.run("--root", "/etc", "show").code == 3
    assert talk.run("--root", ".tmp/../x", "show").code == 3
    talk.shell.export(MARKERS_MEMORY_ROOT="")
    found = talk.told("path", "plan-issue", "--id", "12")
    assert found["path"] == "/memories/session/plan-issue-12.md"


@pytest.mark.parametrize("what", ["held lock", "linked lock", "linked file", "directory"])
def test_memory_what_is_in_the_way(talk: Conversation, what: str) -> None:
    """A lock held for ever, a linked lock or file, a directory: nothing is written."""
    path = talk.file("review-state-12.md")
    lock = path.with_name(path.name + ".lock")
    outside = talk.shell.home / "outside"
    outside.write_text(STATE)
    words = ("review-state", "set", "--id", "12", "--deadline", "0.1")
    if what == "held lock":
        with lock.open("a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            assert talk.run(*words).code == 7
        assert not path.exists()
        return
    if what == "linked lock":
        lock.symlink_to(outside)
    elif what == "linked file":
        path.symlink_to(outside)
    else:
        path.mkdir()
    assert talk.run(*words).code == (1 if what == "directory" else 3)
    assert outside.read_text() == STATE
    assert talk.told("review-state", "show", "--id", "12")["state"] is None


def test_memory_without_permission(talk: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read is not replaced."""
    path = talk.file("review-state-12.md")
    path.write_text(STATE)
    really = os.open

    def denied(name: Any, *words: Any, **more: Any) -> int:
        if name == path.name:
            raise PermissionError(13, "Permission denied")
        return really(name, *words, **more)

    monkeypatch.setattr(os, "open", denied)
    assert talk.run("review-state", "set", "--id", "12").code == 1
    monkeypatch.undo()
    assert path.read_text() == STATE

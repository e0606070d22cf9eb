"""Bad input and faults: each has its exit code and one line that says what to do."""

from __future__ import annotations

import http.server
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from command_line import PLAN, TARGET, Ran, Shell, at_forge, bodies, forge, shell

from markers.forge import Forge, faults, seed, serve

__all__ = ["at_forge", "forge", "shell"]

PULL = ("--family", "plan-issue", "--number", str(seed.PULL))


def says(ran: Ran, code: int, rule: str, *words: str) -> None:
    """The run ended with *code*, one document, and one line that has the rule and these words."""
    assert ran.code == code, ran
    assert ran.document["reason"]["code"] == rule, ran.err
    action = ran.document["action"].upper()
    (line,) = [x for x in ran.err.splitlines() if x.startswith(f"persist-marker: {action} (")]
    assert line.endswith(f"rule {rule}]")
    for word in words:
        assert word in line, line


def test_no_token(at_forge: Shell) -> None:
    """Without a token the line names the variable to set."""
    at_forge.export(GH_TOKEN="")
    says(at_forge.write("t"), 6, "no-token", "GH_TOKEN")


def test_wrong_token(at_forge: Shell) -> None:
    """A token that the server does not know is denied, and appears nowhere."""
    at_forge.export(GH_TOKEN="forge-" + "nobody")
    ran = at_forge.write("t")
    assert (ran.code, ran.document["action"]) == (6, "denied")
    assert "401" in ran.err
    assert "nobody" not in ran.err + ran.text


def test_token_of_another_host(at_forge: Shell) -> None:
    """A token that is set for other hosts is not used, and the line says so."""
    url = at_forge.env["GITHUB_API_URL"]
    at_forge.export(GITHUB_API_URL="")
    ran = at_forge.write("t", "--api-url", url)
    says(ran, 6, "no-token", "GH_ENTERPRISE_TOKEN", "GH_TOKEN is set, but it is for other hosts")


def test_host_that_is_not_the_users(at_forge: Shell) -> None:
    """--api-url picks among the user's hosts, and plain http goes to loopback only."""
    says(at_forge.write("t", "--api-url", "https://evil.example"), 6, "host-not-allowed")
    says(at_forge.write("t", "--api-url", "http://evil.example"), 6, "plain-http")


@pytest.mark.parametrize("more", [("--repo", "acme/nothing"), ("--number", "999")])
def test_no_such_repository_or_issue(at_forge: Shell, more: tuple[str, str]) -> None:
    """What is not there, or not for this token to see, is denied with what to check."""
    ran = at_forge.write("t", *more)
    says(ran, 6, "not-found", "check repository and number")


def test_wrong_surface(at_forge: Shell, forge: Forge) -> None:
    """A family of issues on a pull request is refused, as is a surface the registry denies."""
    forge.comment(seed.REPO, seed.PULL, "pat", "a talk")
    ran = at_forge.write("t", target=PULL)
    says(ran, 3, "surface", "issue")
    says(at_forge.write("t", "--surface", "pull-request"), 3, "surface")
    assert not forge.writes


def test_locked(at_forge: Shell, forge: Forge) -> None:
    """A locked conversation is denied to those whom the lock binds."""
    forge.switches.lock_binds_writers = True
    at_forge.export(GH_TOKEN=seed.LEE_TOKEN)
    forge.lock(seed.REPO, seed.ISSUE)
    ran = at_forge.write("t")
    assert (ran.code, ran.document["action"]) == (6, "denied")
    assert "lock" in ran.err


def test_archived(at_forge: Shell, forge: Forge) -> None:
    """An archived repository is denied with that reason."""
    forge.archive(seed.REPO)
    ran = at_forge.write("t")
    assert (ran.code, ran.document["action"]) == (6, "denied")
    assert "archived" in ran.err


def test_full(at_forge: Shell, forge: Forge) -> None:
    """A thread that takes no more comments is denied with that reason."""
    forge.switches.thread_size = 3
    forge.fill(seed.REPO, seed.ISSUE, 3)
    ran = at_forge.write("t")
    assert (ran.code, ran.document["action"]) == (6, "denied")
    assert "full" in ran.err or "2,500" in ran.err or "2500" in ran.err


def test_fork_token(at_forge: Shell, forge: Forge) -> None:
    """A fork's token may read and plan, but a write names the permission that is missing."""
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"{PLAN}\n\ntheirs")
    at_forge.export(GH_TOKEN=seed.FORK_TOKEN)
    assert at_forge.run("read", *TARGET, "--json").code == 0
    planned = at_forge.write("ours", "--dry-run", "--take-over")
    assert (planned.code, planned.document["action"]) == (0, "planned")
    assert planned.document["comment_id"]
    assert planned.document["change"]["bytes_after"] > 0
    ran = at_forge.write("ours", "--take-over")
    assert (ran.code, ran.document["action"]) == (6, "denied")
    assert "issues: write" in ran.err
    assert not [entry for entry in forge.writes if entry.status < 300]


def test_two_candidate_remotes(at_forge: Shell) -> None:
    """Two candidate remotes stop the command, both named."""
    at_forge.export(GH_REPO="")
    for name, slug in (("origin", "pat/widgets"), ("upstream", "acme/widgets")):
        url = f"https://github.com/{slug}.git"
        subprocess.run(["git", "remote", "add", name, url], check=True, cwd=at_forge.top)
    ran = at_forge.write("t")
    says(ran, 3, "repo-ambiguous", "acme/widgets", "pat/widgets", "--repo")


def test_body_file_outside_the_roots(at_forge: Shell) -> None:
    """A payload outside the roots is refused with where it may be."""
    (at_forge.top / "plan.md").write_text("t\n", encoding="utf-8")
    ran = at_forge.run("write", *TARGET, "--body-file", "plan.md", "--json")
    says(ran, 3, "path-outside", ".tmp", "MARKERS_ROOTS")


@pytest.mark.parametrize(
    "data",
    ["text\n".encode("utf-16"), b"one\ntwo \xff\n", "grüße".encode("latin-1"), b"\xed\xa0\x80"],
)
def test_not_utf8(at_forge: Shell, forge: Forge, data: bytes) -> None:
    """A payload in another encoding is refused before any request."""
    forge.forget()
    says(at_forge.write(data), 3, "encoding", "UTF-8")
    assert not forge.counts


def test_journal_not_writable(at_forge: Shell, forge: Forge) -> None:
    """A journal that cannot be opened stops a write, and reading goes on."""
    at_forge.export(MARKERS_JOURNAL="/proc/nowhere/journal.sqlite3")
    ran = at_forge.write("t")
    assert (ran.code, ran.document["action"]) == (7, "unavailable")
    assert "/proc/nowhere" in ran.err
    assert bodies(forge) == []
    assert at_forge.run("list", "--number", "12").code == 0


def test_journal_of_a_newer_version(at_forge: Shell, forge: Forge) -> None:
    """A journal of a newer version is refused, and left as it is."""
    import sqlite3

    path = at_forge.home / "journal.sqlite3"
    at_forge.export(MARKERS_JOURNAL=str(path))
    assert at_forge.write("t").code == 0
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    ran = at_forge.write("u")
    says(ran, 3, "journal-newer")
    assert len(bodies(forge)) == 1
    assert at_forge.run("audit", "log", "--json").code == 3


def test_another_journal_engine(at_forge: Shell) -> None:
    """An engine that there is not is refused in one clear line that repeats none of it."""
    for line in (("audit", "log"), ("write", *TARGET, "--body-file", at_forge.payload("t"))):
        at_forge.export(MARKERS_JOURNAL="mysql://me:secret@db/x")
        ran = at_forge.run(*line, "--json")
        says(ran, 3, "journal-engine", "mysql")
        assert "secret" not in ran.err + ran.text


@pytest.mark.parametrize(
    "line", ["trust = 'user:1'", "roots = ['/']", "mentions = 'allow'", "journal = '/tmp/j'"]
)
def test_checkout_settings_that_loosen(at_forge: Shell, line: str) -> None:
    """A checkout's file that would loosen stops every command, naming file and key."""
    file = at_forge.top / "pyproject.toml"
    file.write_text(f"[tool.handoff-markers]\n{line}\n", encoding="utf-8")
    for words in (("list", "--number", "12"), ("write", *TARGET, "--body-file", "-")):
        ran = at_forge.run(*words, "--json")
        says(ran, 3, "checkout-settings", "pyproject.toml", line.split(" ")[0])


@contextmanager
def impostor(kind: str, body: bytes) -> Iterator[str]:
    """A server on loopback that answers everything with *body*."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PATCH = do_GET  # noqa: N815 - the base class's names

        def log_message(self, *args: object) -> None:
            """Keep quiet."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", b"<!DOCTYPE html><html><title>Sign in</title></html>"),
        ("application/json", b'{"hello": "world"}'),
        ("application/json", b'[{"id": 1'),
        ("application/json", b'["x"]'),
        ("application/json", b"null"),
    ],
)
def test_server_that_is_not_github(at_forge: Shell, kind: str, body: bytes) -> None:
    """A server whose list is HTML or not a JSON array of comments is unavailable."""
    with impostor(kind, body) as url:
        at_forge.export(GITHUB_API_URL=url)
        for words in (("list", "--number", "12"), ("read", *TARGET)):
            ran = at_forge.run(*words, "--json", "--deadline", "0.5")
            assert (ran.code, ran.document["action"]) == (7, "unavailable"), ran


def test_nobody_listens(at_forge: Shell, forge: Forge) -> None:
    """A server that does not answer is unavailable within the deadline."""
    at_forge.export(GITHUB_API_URL="http://127.0.0.1:9")
    ran = at_forge.write("t", "--deadline", "0.5")
    assert (ran.code, ran.document["action"]) == (7, "unavailable")


def test_ctrl_c_leaves_a_recoverable_journal(at_forge: Shell, forge: Forge) -> None:
    """Ctrl-C in the middle of a POST is exit 130, and ``recover`` settles what was under way."""
    reached = threading.Event()
    forge.on_request(
        "POST", "/comments", lambda _call: (reached.set(), time.sleep(0.5)), landed=True
    )
    body = at_forge.payload("text")
    process = subprocess.Popen(
        at_forge.command("write", *TARGET, "--body-file", body, "--json"),
        env=at_forge.env,
        cwd=at_forge.top,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert reached.wait(20)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    document = json.loads(out)
    assert document["action"] == "interrupted"
    assert b"Traceback" not in err
    assert b"recover" in err
    settled = at_forge.run("recover", "--json")
    assert settled.code == 0, settled.err
    assert [each["outcome"] for each in settled.document["settled"]] == ["landed"]
    assert at_forge.write("text").document["action"] == "unchanged"
    assert len(bodies(forge)) == 1


def test_ctrl_c_is_prompt(at_forge: Shell, forge: Forge) -> None:
    """Ctrl-C does not wait for a server that keeps silent, side-by-side reads included."""
    reached = threading.Event()
    forge.on_request("GET", "/comments", lambda _call: reached.set())
    forge.faults.add("GET", "/comments", faults.timeout(), times=None)
    body = at_forge.payload("text")
    process = subprocess.Popen(
        at_forge.command("write", *TARGET, "--body-file", body, "--json"),
        env=at_forge.env,
        cwd=at_forge.top,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert reached.wait(20)
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    out, _err = process.communicate(timeout=5)
    assert process.returncode == 130
    assert json.loads(out)["action"] == "interrupted"


def test_recover_needs_each_hosts_server(at_forge: Shell, forge: Forge) -> None:
    """What cannot be looked up stays open and unknown: exit 8, and nothing is lost."""
    forge.faults.add("POST", "/comments", faults.reset(landed=True))
    gone = forge.faults.add("GET", "/comments", faults.status(502), times=None, after=1)
    at_forge.write("t", "--deadline", "1")
    ran = at_forge.run("recover", "--json", "--deadline", "0.5")
    assert ran.code == 8, ran
    assert [each["outcome"] for each in ran.document["settled"]] == ["unknown"]
    gone.off()
    assert at_forge.run("recover", "--json").code == 0


def test_another_forge_is_another_host(at_forge: Shell) -> None:
    """A journal entry is restored on the host that it belongs to, or not at all."""
    at_forge.write("one")
    at_forge.write("two")
    entries = at_forge.run("audit", "log", "--json").document["entries"]
    seq = str(next(e["seq"] for e in entries if e["replaced"]))
    with serve(Forge.open()) as other:
        ran = at_forge.run("restore", seq, "--json", "--api-url", other.url)
        other.forge.close()
    assert ran.code in (3, 6), ran
    assert at_forge.run("restore", seq, "--json").document["action"] == "updated"

"""``registry``, ``audit``, ``doctor``, ``forge`` and ``demo``, as a user meets them."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import urllib.request
from pathlib import Path

import pytest
from command_line import PLAN, TARGET, Shell, at_forge, bodies, forge, shell

from markers.contract import load
from markers.forge import Forge, seed

__all__ = ["at_forge", "forge", "shell"]

OWN_FAMILY = """name = "my-notes"
marker = "<!-- my-notes-{ID} -->"
status = "active"
scope = "comment"
shape = "upsert"
surface = ["issue"]
"""


def test_registry_list(shell: Shell) -> None:
    """All rows and families are listed, without token, repository or journal."""
    document = shell.run("registry", "list", "--json").document
    assert {row["id"] for row in document["rows"]} == set(load().rows)
    assert {family["name"] for family in document["families"]} == set(load().families)
    assert not (shell.home / ".local").exists()


@pytest.mark.parametrize(
    ("name", "selector"),
    [("plan-issue", "lowest trusted id"), ("engagement-record", "highest trusted id")],
)
def test_registry_show_family(shell: Shell, name: str, selector: str) -> None:
    """A family shows rows, surface, shape, scope, selector and payload fields."""
    document = shell.run("registry", "show", name, "--json").document
    family = load().family(name)
    assert document["selector"] == selector
    assert document["rows"] == list(family.rows)
    assert document["surface"] == [surface.value for surface in family.surfaces]
    assert (document["shape"], document["scope"]) == (family.shape, family.scope)
    assert document["marker"] == family.template
    assert document["payload"]
    text = shell.run("registry", "show", name).text
    for word in ("rows:", "surface:", "shape:", "scope:", "selector:", "payload:"):
        assert word in text


def test_registry_show_row(shell: Shell) -> None:
    """A row is shown by its id, in either case; what there is not is refused with a hint."""
    assert shell.run("registry", "show", "smc-01", "--json").document["id"] == "SMC-01"
    ran = shell.run("registry", "show", "plan-isue", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (3, "family-unknown")
    assert "plan-issue" in ran.err


def test_every_family_and_row_can_be_shown(shell: Shell) -> None:
    """``registry show`` works for all names, as text and as JSON."""
    for name in (*load().families, *load().rows):
        assert shell.run("registry", "show", name).code == 0
        assert shell.run("registry", "show", name, "--json").document


def test_registry_check(shell: Shell) -> None:
    """``check`` is 0 for the shipped contract, 1 with file, key and reason for a bad one."""
    assert shell.run("registry", "check").text == "nothing wrong\n"
    families = shell.scratch / "more/families"
    families.mkdir(parents=True)
    (families / "my-notes.toml").write_text(OWN_FAMILY + "colour = 1\n", encoding="utf-8")
    ran = shell.run("registry", "check", ".tmp/more", "--json")
    assert ran.code == 1
    (problem,) = ran.document["problems"]
    assert set(problem) == {"file", "key", "reason"}
    assert problem["key"] == "colour"
    refused = shell.run("registry", "list", "--contract", ".tmp/more", "--json")
    assert (refused.code, refused.document["reason"]["code"]) == (3, "registry")


def test_contract_directories_and_checkout_families(at_forge: Shell, forge: Forge) -> None:
    """--contract adds a family, before and after the command; so may a checkout."""
    families = at_forge.scratch / "more/families"
    families.mkdir(parents=True)
    (families / "my-notes.toml").write_text(OWN_FAMILY, encoding="utf-8")
    target = ("--family", "my-notes", "--number", "12")
    assert at_forge.write("t", target=target).code == 3
    ran = at_forge.write("t", "--contract", ".tmp/more", target=target)
    assert ran.document["action"] == "created", ran.err
    assert at_forge.run("--contract", ".tmp/more", "read", *target).code == 0
    settings = at_forge.top / ".github/handoff-markers.toml"
    settings.parent.mkdir()
    settings.write_text("families = 'markers.d'\n", encoding="utf-8")
    (at_forge.top / "markers.d").mkdir()
    (at_forge.top / "markers.d/my-notes.toml").write_text(OWN_FAMILY, encoding="utf-8")
    assert at_forge.write("t", target=target).document["action"] == "unchanged"


def test_audit_log_and_show(at_forge: Shell) -> None:
    """The log has intent and outcome; ``show --body`` prints the replaced bytes alone."""
    at_forge.write("one")
    updated = at_forge.write("two").document
    entries = at_forge.run("audit", "log", "--json").document["entries"]
    assert [e["kind"] for e in entries] == ["intent", "outcome"] * 2
    assert entries[-1]["hash"] == updated["audit"]["hash"]
    assert at_forge.run("audit", "log", "--limit", "1", "--json").document["entries"] == [
        entries[-1]
    ]
    seq = str(next(e["seq"] for e in entries if e["replaced"]))
    assert at_forge.run("audit", "show", seq, "--body").out == f"{PLAN}\n\none".encode()
    shown = at_forge.run("audit", "show", seq, "--json").document
    assert (shown["seq"], shown["body"]) == (int(seq), f"{PLAN}\n\none")
    assert at_forge.run("audit", "show", "999", "--json").document["reason"]["code"] == "no-entry"
    nothing = at_forge.run("audit", "show", "1", "--body", "--json")
    assert (nothing.code, nothing.document["reason"]["code"]) == (3, "no-body")
    assert at_forge.run("audit", "log").text.count("\n") == 4


def test_audit_export(at_forge: Shell) -> None:
    """``export`` prints one JSON object a line, and one document with --json."""
    at_forge.write("one")
    lines = at_forge.run("audit", "export").text.splitlines()
    entries = [json.loads(line) for line in lines]
    assert at_forge.run("audit", "export", "--json").document["entries"] == entries
    assert [entry["seq"] for entry in entries] == [1, 2]


def test_audit_verify(at_forge: Shell, forge: Forge) -> None:
    """``verify`` is 0 while the log is whole, 1 for another head, a hand edit and tampering."""
    assert at_forge.run("audit", "verify").code == 0
    head = at_forge.write("one").document["audit"]["hash"]
    whole = at_forge.run("audit", "verify", "--live", "--head", head, "--json")
    assert (whole.code, whole.document["problems"]) == (0, [])
    assert whole.document["head"]["hash"] == head
    assert at_forge.run("audit", "verify", "--head", "0" * 64).code == 1
    forge.edit(forge.comments(seed.REPO, seed.ISSUE)[0].id, "by hand")
    live = at_forge.run("audit", "verify", "--live", "--json")
    assert (live.code, len(live.document["problems"])) == (1, 1)
    assert at_forge.run("audit", "verify").code == 0
    path = next(at_forge.home.rglob("journal.sqlite3"))
    with sqlite3.connect(path) as database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            database.execute(f"DROP TRIGGER {name}")
        database.execute("UPDATE audit SET entry = replace(entry, 'created', 'updated')")
    database.close()
    assert at_forge.run("audit", "verify", "--json").document["problems"]


def test_audit_prune(at_forge: Shell) -> None:
    """``prune`` drops old bodies and keeps the chain; what is dropped cannot be restored."""
    at_forge.write("one")
    at_forge.write("two")
    assert at_forge.run("audit", "prune", "--older-than", "1", "--json").document["pruned"] == 0
    ran = at_forge.run("audit", "prune", "--before", "2999-01-01", "--json")
    assert (ran.code, ran.document["pruned"]) == (0, 1)
    assert at_forge.run("audit", "verify").code == 0
    entries = at_forge.run("audit", "log", "--json").document["entries"]
    seq = str(next(e["seq"] for e in entries if e["replaced"]))
    restored = at_forge.run("restore", seq, "--json")
    assert (restored.code, restored.document["reason"]["code"]) == (3, "nothing-to-restore")


def statuses(shell: Shell) -> dict[str, str]:
    """What ``doctor`` says of each check."""
    ran = shell.run("doctor", "--json")
    found = {check["name"]: check["status"] for check in ran.document["checks"]}
    assert ran.code == (1 if "fail" in found.values() else 0)
    assert len(shell.run("doctor").text.splitlines()) == len(found)
    return found


def test_doctor_when_all_is_well(at_forge: Shell) -> None:
    """Everything that a write needs is there: all ok, once .tmp is ignored by git."""
    assert statuses(at_forge)["scratch root"] == "warn"
    (at_forge.top / ".gitignore").write_text("/.tmp/\n", encoding="utf-8")
    assert set(statuses(at_forge).values()) == {"ok"}
    assert seed.PAT_TOKEN not in at_forge.run("doctor").text


def test_doctor_finds_what_is_wrong(at_forge: Shell, forge: Forge) -> None:
    """Each thing that is missing or wrong is found, and the others are still looked at."""
    at_forge.export(GH_TOKEN="")
    found = statuses(at_forge)
    assert (found["token"], found["journal"], found["host"]) == ("fail", "ok", "ok")
    at_forge.export(GH_TOKEN="forge-" + "nobody")
    assert statuses(at_forge)["server"] == "fail"
    at_forge.export(GH_TOKEN=seed.BOT_TOKEN, MARKERS_JOURNAL="/dev/null/j")
    found = statuses(at_forge)
    assert (found["journal"], found["server"]) == ("fail", "ok")
    at_forge.export(GH_REPO="")
    assert statuses(at_forge)["repository"] == "fail"
    at_forge.export(GH_REPO=seed.REPO, GITHUB_API_URL="http://127.0.0.1:9")
    found = statuses(at_forge)
    assert found["server"] == found["account"] == found["clock"] == "fail"


def test_doctor_and_settings_files(at_forge: Shell) -> None:
    """A broken settings file is told, by doctor, too."""
    at_forge.own_file.write_text("nonsense = 1\n", encoding="utf-8")
    ran = at_forge.run("doctor", "--json")
    settings = next(c for c in ran.document["checks"] if c["name"] == "settings")
    assert (ran.code, settings["status"]) == (1, "fail")
    assert "nonsense" in settings["detail"]


def test_doctor_and_the_clock(at_forge: Shell, forge: Forge) -> None:
    """A clock that differs from the server's is a warning with the difference."""
    real = forge.clock
    forge.clock = lambda: real() - 3600
    checks = at_forge.run("doctor", "--json").document["checks"]
    clock = next(c for c in checks if c["name"] == "clock")
    assert clock["status"] == "warn"
    assert clock["detail"].startswith("+36")


def test_demo(shell: Shell) -> None:
    """The demo needs no token, does what it says, and leaves nothing behind."""
    ran = shell.spawn("demo", "--json")
    assert ran.code == 0, ran.err
    steps = ran.document["steps"]
    names = " ".join(step["name"] for step in steps)
    assert names == "write unchanged update planted read list restore audit"
    assert all(step["ok"] for step in steps)
    assert all(set(step) == {"name", "command", "happened", "ok"} for step in steps)
    told = shell.run("demo").text
    assert "lee, a stranger" in told
    assert "All steps did what they say" in told
    left = {path.name for path in shell.home.iterdir()}
    assert left == {"checkout"}


def forge_process(shell: Shell, *more: str) -> subprocess.Popen[str]:
    """``forge serve --json`` as a real process."""
    return subprocess.Popen(
        shell.command("forge", "serve", "--json", *more),
        env=shell.env,
        cwd=shell.top,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def stopped(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Press Ctrl-C; the answer is exit code and what was still printed."""
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    return process.returncode, out, err


def test_forge_serve(shell: Shell) -> None:
    """``forge serve`` says where it listens in one line, serves, keeps its file, and ends well."""
    first = forge_process(shell, "--db", ".tmp/forge.sqlite3")
    assert first.stdout is not None
    where = json.loads(first.stdout.readline())
    assert where["schema_version"] == 1
    shell.export(**where["environment"])
    assert shell.write("kept").document["action"] == "created"
    request = urllib.request.Request(f"{where['url']}/rate_limit")  # noqa: S310 - loopback
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - loopback
        assert answer.status == 200
    assert stopped(first) == (0, "", "")

    port = where["url"].rpartition(":")[2]
    again = forge_process(shell, "--db", ".tmp/forge.sqlite3", "--port", port)
    assert again.stdout is not None
    assert json.loads(again.stdout.readline())["url"] == where["url"]
    assert "kept" in shell.run("read", *TARGET, "--body").text
    assert stopped(again)[0] == 0


def test_forge_serve_for_people(shell: Shell) -> None:
    """People get the address, the exports to paste, and whose token is whose."""
    process = subprocess.Popen(
        shell.command("forge", "serve"),
        env=shell.env,
        cwd=shell.top,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    assert stopped(process)[0] == 0
    assert "http://127.0.0.1:" in lines[0]
    assert lines[1].startswith("export GITHUB_API_URL=http://127.0.0.1:")
    assert seed.LEE_TOKEN in lines[2]


def test_forge_port_taken(shell: Shell) -> None:
    """A port that is taken is unavailable, in one line."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        ran = shell.run("forge", "serve", "--port", str(other.getsockname()[1]), "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (7, "port")


def test_forge_file_that_is_none(shell: Shell) -> None:
    """A file that is no database of the forge is told in one line."""
    (shell.scratch / "text.db").write_text("not a database at all\n" * 99, encoding="utf-8")
    ran = shell.run("forge", "serve", "--db", ".tmp/text.db", "--json")
    assert (ran.code, ran.document["reason"]["code"]) == (7, "forge-db")


def test_journal_is_private(at_forge: Shell, forge: Forge) -> None:
    """The default journal is in the user's state directory, for the user alone."""
    at_forge.write("text")
    path: Path = next(at_forge.home.rglob("journal.sqlite3"))
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert seed.PAT_TOKEN.encode() not in path.read_bytes()
    assert len(bodies(forge)) == 1

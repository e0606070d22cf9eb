"""``write``, ``read``, ``list``, ``delete`` against a real server: JSON, text and exit codes."""

from __future__ import annotations

import hashlib

import pytest
from command_line import PLAN, TARGET, Shell, at_forge, bodies, forge, shell

from bench.payloads import payload
from markers.cli.exits import CODES
from markers.forge import Forge, faults, seed
from markers.model import Action

__all__ = ["at_forge", "forge", "shell"]

WRITE_KEYS = {
    *("schema_version", "action", "reason", "family", "marker", "repo", "number", "surface"),
    *("comment_id", "url", "sha256", "previous_sha256", "change", "extras", "preserved"),
    *("warnings", "requests", "audit"),
}
READ_KEYS = {
    *("schema_version", "marker", "family", "comment_id", "url", "author", "author_id"),
    *("association", "trusted", "why", "created_at", "updated_at", "edited", "minimized", "sha256"),
    *("body", "extras", "valid", "problems", "reading"),
}
STAGE = ("--family", "goal-run-stage", "--number", str(seed.ISSUE))
MISSING = "No such comment."


def test_create_then_unchanged_then_update(at_forge: Shell, forge: Forge) -> None:
    """A write creates, does nothing, and updates, with every field of the document."""
    created = at_forge.write("first\n")
    assert created.code == 0, created.err
    document = created.document
    assert set(document) == WRITE_KEYS
    body = f"{PLAN}\n\nfirst"
    assert bodies(forge)[0].strip() == body
    assert document["action"] == "created"
    assert document["reason"] is None
    assert (document["family"], document["marker"]) == ("plan-issue", PLAN)
    assert (document["repo"], document["number"]) == (seed.REPO, seed.ISSUE)
    assert document["surface"] == "issue"
    assert document["url"].endswith(f"#issuecomment-{document['comment_id']}")
    assert document["sha256"] == hashlib.sha256(body.encode()).hexdigest()
    assert document["previous_sha256"] is None
    assert set(document["change"]) == {
        *("bytes_before", "bytes_after", "lines_added", "lines_removed")
    }
    assert set(document["requests"]) == {"GET", "POST", "PATCH", "DELETE"}
    assert document["requests"]["POST"] == 1
    assert set(document["audit"]) == {"seq", "hash"}

    again = at_forge.write("first\r\n\r\n")
    assert (again.code, again.document["action"]) == (0, "unchanged")
    assert again.document["requests"]["PATCH"] == 0

    updated = at_forge.write("second\n").document
    assert updated["action"] == "updated"
    assert updated["comment_id"] == document["comment_id"]
    assert updated["previous_sha256"] == document["sha256"]
    assert len(bodies(forge)) == 1


def test_marker_instead_of_family(at_forge: Shell, forge: Forge) -> None:
    """--marker says the same as --family, --param and --number."""
    text = f"<!-- engagement-record-plan-{seed.ISSUE} -->"
    target = ("--marker", text)
    record = payload("engagement-record", seed.ISSUE, "a", phase="plan")
    assert at_forge.write(record, target=target).document["action"] == "posted"
    spelled = (
        *("--family", "engagement-record", "--param", "phase=plan"),
        *("--number", str(seed.ISSUE)),
    )
    assert at_forge.write(record, target=spelled).document["action"] == "unchanged"
    assert len(bodies(forge)) == 1


def test_standard_input(at_forge: Shell, forge: Forge) -> None:
    """A payload of ``-`` is standard input."""
    ran = at_forge.run("write", *TARGET, "--body-file", "-", stdin="grüße\n".encode())
    assert ran.code == 0, ran.err
    assert "grüße" in bodies(forge)[0]
    assert ran.text.startswith(f"created {PLAN} on {seed.REPO}#{seed.ISSUE}: comment ")


def test_options_of_the_whole_command_in_both_places(at_forge: Shell) -> None:
    """Common options count before and after the command's name, and the later one wins."""
    body = at_forge.payload("text")
    for first, last in (("acme/other", seed.REPO), (seed.REPO, "acme/other")):
        ran = at_forge.run(
            *("--repo", first, "write", *TARGET, "--body-file", body, "--repo", last, "--json")
        )
        assert ran.document["repo"] == last
    before = at_forge.run("--json", "--repo", seed.REPO, "list", "--number", "12")
    after = at_forge.run("list", "--number", "12", "--repo", seed.REPO, "--json")
    assert before.document == after.document
    assert before.document["markers"]


def test_dry_run_writes_nothing(at_forge: Shell, forge: Forge) -> None:
    """--dry-run tells the plan, and neither GitHub nor the journal hears of it."""
    ran = at_forge.write("text", "--dry-run")
    assert (ran.code, ran.document["action"]) == (0, "planned")
    assert bodies(forge) == []
    assert at_forge.run("audit", "log", "--json").document["entries"] == []


def test_expect(at_forge: Shell) -> None:
    """--expect takes a hash in either case or ``absent``; what does not hold is a conflict."""
    sha = at_forge.write("one", "--expect", "absent").document["sha256"]
    assert at_forge.write("two", "--expect", "absent").code == 4
    assert at_forge.write("two", "--expect", sha.upper()).document["action"] == "updated"
    stale = at_forge.write("three", "--expect", sha)
    assert (stale.code, stale.document["action"]) == (4, "conflict")
    assert stale.document["reason"]["code"] == "expect-changed"
    assert stale.err.startswith("persist-marker: CONFLICT (plan-issue, issue/12): ")


def test_another_account_and_take_over(at_forge: Shell, forge: Forge) -> None:
    """Another member's comment needs --expect or --take-over."""
    forge.comment(seed.REPO, seed.ISSUE, "mia", f"{PLAN}\n\nmia's plan")
    ran = at_forge.write("ours")
    assert (ran.code, ran.document["reason"]["code"]) == (4, "foreign-canonical")
    assert at_forge.write("ours", "--take-over").document["action"] == "updated"


def test_verify_by_fetch_and_fold(at_forge: Shell, forge: Forge) -> None:
    """--verify fetch costs one more read; --fold-extras deletes our own duplicates."""
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"{PLAN}\n\none", at=forge.clock() - 600)
    forge.comment(seed.REPO, seed.ISSUE, "pat", f"{PLAN}\n\ntwo", at=forge.clock() - 500)
    plain = at_forge.write("a").document
    fetched = at_forge.write("b", "--verify", "fetch").document
    assert plain["requests"]["PATCH"] == fetched["requests"]["PATCH"] == 1
    assert len(bodies(forge)) == 2
    folded = at_forge.write("c", "--fold-extras")
    assert folded.code == 0, folded.err
    assert len(bodies(forge)) == 1


def test_read_document_and_body(at_forge: Shell, forge: Forge) -> None:
    """``read --json`` has every field, and ``--body`` the stored bytes and nothing else."""
    stored = f"{PLAN}\r\n\r\nstored \x1b[31mred\x1b[0m \U0001f308  \r\n\r\n"
    forge.comment(seed.REPO, seed.ISSUE, "pat", stored)
    ran = at_forge.run("read", *TARGET, "--json")
    assert ran.code == 0, ran.err
    assert set(ran.document) == READ_KEYS
    assert ran.document["body"] == stored
    assert (ran.document["author"], ran.document["trusted"]) == ("pat", True)
    assert at_forge.run("read", *TARGET, "--body").out == stored.encode()
    assert b"\x1b" not in at_forge.run("read", *TARGET).out


def test_absent(at_forge: Shell, forge: Forge) -> None:
    """No trusted match is exit 10, and the untrusted ones are named with what would trust them."""
    ran = at_forge.run("read", *TARGET, "--json")
    assert (ran.code, ran.document["action"]) == (10, "absent")
    planted = forge.plant(seed.REPO, seed.ISSUE, PLAN)
    for more in ((), ("--all",)):
        ran = at_forge.run("read", *TARGET, "--json", *more)
        assert (ran.code, ran.document["action"]) == (10, "absent")
        assert str(planted.id) in ran.document["reason"]["detail"]
        assert ran.err.startswith("persist-marker: ABSENT (plan-issue, issue/12): ")
    at_forge.export(MARKERS_TRUST="collaborators,user:103")
    assert at_forge.run("read", *TARGET, "--json").document["author"] == "lee"


def test_read_all_and_list(at_forge: Shell, forge: Forge) -> None:
    """``read --all`` has bodies, ``list`` has none; untrusted ones are marked in both."""
    at_forge.write("ours")
    forge.plant(seed.REPO, seed.ISSUE, PLAN)
    every = at_forge.run("read", *TARGET, "--all", "--json").document["markers"]
    assert [(m["author"], m["trusted"]) for m in every] == [("pat", True), ("lee", False)]
    assert every[1]["body"].endswith("Planted.\n")
    listed = at_forge.run("list", "--number", "12", "--json").document["markers"]
    assert [m["author"] for m in listed] == ["pat", "lee"]
    assert all(set(m) == READ_KEYS - {"schema_version", "body"} for m in listed)
    assert at_forge.run("list", "--number", "12", "--family", "frame-slices").text == (
        f"no marker on {seed.REPO}#12\n"
    )
    assert "untrusted" in at_forge.run("list", "--number", "12").text


def test_delete_and_restore(at_forge: Shell, forge: Forge) -> None:
    """``delete`` takes back a deletable family's comment, and ``restore`` brings its text back."""
    assert at_forge.write(payload("goal-run-stage", seed.ISSUE, "One."), target=STAGE).code == 0
    gone = at_forge.run("delete", *STAGE, "--json")
    assert (gone.code, gone.document["action"]) == (0, "deleted")
    assert bodies(forge) == []
    assert at_forge.run("delete", *STAGE).code == 10
    entries = at_forge.run("audit", "log", "--json").document["entries"]
    seq = next(e["seq"] for e in reversed(entries) if e["replaced"])
    dry = at_forge.run("restore", str(seq), "--dry-run", "--json")
    assert dry.document["action"] == "planned"
    back = at_forge.run("restore", str(seq), "--json")
    assert (back.code, back.document["action"]) == (0, "created")
    assert "One." in bodies(forge)[0]
    refused = at_forge.run("delete", *TARGET, "--json")
    assert (refused.code, refused.document["reason"]["code"]) == (3, "not-deletable")


@pytest.mark.parametrize(
    "arguments",
    [
        ("write",),
        ("write", *TARGET),
        ("write", "--body-file", "-"),
        ("write", "--family", "plan-issue", "--body-file", "-"),
        ("write", "--family", "plan-issue", "--marker", PLAN, "--body-file", "-"),
        ("write", "--marker", PLAN, "--param", "a=b", "--body-file", "-"),
        ("write", "--marker", "<!-- pc-emission-check-report -->", "--body-file", "-"),
        ("write", *TARGET, "--body-file", "-", "--param", "phase"),
        ("write", *TARGET, "--body-file", "-", "--param", "a=b", "--param", "a=c"),
        ("write", *TARGET, "--body-file", "-", "--surface", "pull_request"),
        ("write", *TARGET, "--body-file", "-", "--expect", "abc"),
        ("write", *TARGET, "--body-file", "-", "--verify", "hope"),
        ("write", *TARGET, "--body-file", "-", "--no-such-flag"),
        ("write", *TARGET, "--body-file", "-", "--deadline", "nan"),
        ("write", *TARGET, "--body-file", "-", "--repo", "acme"),
        ("write", *TARGET, "--body-file", "-", "--repo", ""),
        ("list", "--number", "12", "--api-url", ""),
        ("list", "--number", "12", "--surface" + "x" * 500),
        ("read", *TARGET, "--all", "--body"),
        ("read",),
        ("list",),
        ("restore",),
        ("restore", "x"),
        ("audit",),
        ("audit", "prune"),
        ("audit", "prune", "--before", "soon"),
        ("audit", "prune", "--before", "2030-01-01", "--older-than", "3"),
        ("audit", "verify", "--head", "abc"),
        ("nonsense",),
        (),
    ],
)
def test_usage(at_forge: Shell, arguments: tuple[str, ...]) -> None:
    """Whatever does not fit together is a usage error, with one document and nothing sent."""
    ran = at_forge.run(*arguments, "--json")
    assert ran.code == 2, ran.err
    assert ran.document["action"] == "usage"
    assert 0 < len(ran.document["reason"]["detail"]) <= 300
    assert "persist-marker: USAGE (" in ran.err


@pytest.mark.parametrize(
    "number", ["0", "-1", "+1", "012", "1_2", "2147483648", "9" * 11, "\u0661", "1.0", "0x1", " 1"]
)
def test_numbers_are_plain(at_forge: Shell, number: str) -> None:
    """A number has no sign, leading zero, underscore, other digits, and at most 31 bits."""
    ran = at_forge.run("list", f"--number={number}", "--json")
    assert (ran.code, ran.document["action"]) == (2, "usage")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--family", "plan-isue", "--number", "12"), "family-unknown"),
        (("--family", "plan-issue", "--number", "12", "--param", "x=y"), "param-unknown"),
        (("--family", "engagement-record", "--number", "12"), "param-missing"),
        (
            ("--family", "engagement-record", "--number", "12", "--param", "phase=lunch"),
            "param-value",
        ),
        (("--marker", "<!-- nobody-12 -->"), "marker-unknown"),
        (("--marker", "<!-- plan-issue-012 -->"), "marker-unknown"),
        (("--marker", PLAN, "--number", "13"), "number-mismatch"),
    ],
)
def test_targets_that_mean_nothing(at_forge: Shell, arguments: tuple[str, ...], code: str) -> None:
    """A target that the contract does not know is refused, in reading as in writing."""
    body = at_forge.payload("text")
    for verb in (("read",), ("write", "--body-file", body)):
        ran = at_forge.run(*verb, *arguments, "--json")
        assert (ran.code, ran.document["reason"]["code"]) == (3, code)
        assert ran.err.startswith("persist-marker: REFUSED (")
        assert ran.err.rstrip().endswith(f"rule {code}]")


def test_refusal_names_line_and_rule(at_forge: Shell, forge: Forge) -> None:
    """A refusal is one bounded line with family, place, line and rule, and nothing is sent."""
    forge.forget()
    hostile = "\x1b[31m" + "x" * 500
    ran = at_forge.write(f"first\n<!-- design-phase-complete-12 --> {hostile}\n")
    assert ran.code == 3
    assert ran.err.startswith("persist-marker: REFUSED (plan-issue, issue/12): ")
    document = ran.document
    assert document["action"] == "refused"
    assert document["reason"]["line"] == 4 or f"line {document['reason']['line']}" in ran.err
    assert document["reason"]["code"] in ran.err
    assert "\x1b" not in ran.err
    assert "x" * 81 not in ran.err
    assert not forge.writes


def test_every_action_has_its_code() -> None:
    """The exit code table covers every action, as designed."""
    table = {
        0: "created updated posted unchanged planned queued deleted",
        1: "failed",
        3: "refused",
        4: "conflict",
        5: "landed-unverified landed-incomplete withdrawn",
        6: "denied",
        7: "unavailable",
        8: "unknown",
        10: "absent",
    }
    wanted = {Action(word): code for code, words in table.items() for word in words.split()}
    assert dict(CODES) == wanted
    assert set(CODES) == set(Action)


def test_withdrawn_by_a_stripping_proxy(at_forge: Shell, forge: Forge) -> None:
    """A proxy that strips HTML comments: what was created is taken back, exit 5, three times."""
    for method in ("POST", "PATCH"):
        forge.faults.add(method, "comments", faults.strip_comments(), times=None)
    for _ in range(3):
        ran = at_forge.write("text")
        assert (ran.code, ran.document["action"]) == (5, "withdrawn"), ran.err
        assert bodies(forge) == []


def test_unknown_and_recover(at_forge: Shell, forge: Forge) -> None:
    """A lost answer and a lost look are exit 8; ``recover`` settles what the server holds."""
    forge.faults.add("POST", "/comments", faults.reset(landed=True))
    broken = forge.faults.add("GET", "/comments", faults.status(502), times=None, after=1)
    ran = at_forge.run(
        "write", *TARGET, "--body-file", at_forge.payload("t"), "--json", "--deadline", "2"
    )
    assert (ran.code, ran.document["action"]) == (8, "unknown"), ran.err
    broken.off()
    settled = at_forge.run("recover", "--json")
    assert settled.code == 0, settled.err
    (only,) = settled.document["settled"]
    assert only["outcome"] == "landed"
    assert only["comment_id"] == forge.comments(seed.REPO, seed.ISSUE)[0].id
    assert at_forge.run("recover").text == "nothing to settle\n"
    assert at_forge.write("t").document["action"] == "unchanged"

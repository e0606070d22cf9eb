"""``persist-marker ledger`` and ``mutex``, as one would call them."""

from __future__ import annotations

import pytest
from checking import github_token
from command_line import Ran, Shell, at_forge, forge, shell

from markers.forge import Forge, seed

__all__ = ["at_forge", "forge", "shell"]

N = str(seed.ISSUE)
PLAN = f"<!-- plan-issue-{N} -->\n\n# Plan\n"
DONE = f"<!-- design-phase-complete-{N} -->\n\nDone.\n"
RULINGS = """<!-- judge-rulings
- finding_id: M1
  judge_ruling: sustained
-->
"""
BRIEF = """brief_dispositions:
  convergence_filter_ran: true
  filtered_count: 2
  findings:
    - finding_id: B1
      disposition: incorporate
"""
BLOCK = f"""<!-- phase-containment-{N} -->
finding_key: {{stage}}:M1
introduced_phase: design
catchable_phase: design
caught_stage: {{stage}}
escape_distance: {{escape}}
severity: low
systemic_fix_type: none
category: pattern
<!-- /phase-containment-{N} -->
"""
PLAN_BLOCK = BLOCK.format(stage="plan-stress-test", escape=1)
DESIGN_BLOCK = BLOCK.format(stage="design-challenge", escape=0)


def bodies(forge: Forge) -> list[str]:
    """What is on the issue now."""
    return [comment.body for comment in forge.comments(seed.REPO, seed.ISSUE)]


def say(forge: Forge, body: str, who: str = "pat") -> int:
    """Somebody comments; the answer is the id."""
    return forge.comment(seed.REPO, seed.ISSUE, who, body).id


def ledger(at: Shell, mode: str, *more: str, **files: str) -> Ran:
    """Call it with files by option name."""
    named = [
        word
        for name, text in files.items()
        for word in (f"--{name.replace('_', '-')}", at.payload(text, f"{name}.md"))
    ]
    return at.run("ledger", "--number", N, "--mode", mode, *named, *more, "--json")


def test_plan_mode_writes_ledger_and_pointer(at_forge: Shell, forge: Forge) -> None:
    """Head before blocks in a comment of its own, stamped, and the plan points to it."""
    say(forge, PLAN)
    ran = ledger(at_forge, "plan", judge_rulings=RULINGS, containment=PLAN_BLOCK)
    assert (ran.code, ran.document["action"]) == (0, "created"), ran.err
    plan, body = bodies(forge)
    assert body.startswith(f"<!-- phase-containment-ledger-{N} -->")
    assert body.index("judge-rulings") < body.index("finding_key")
    assert "appended_at: " in body
    pointer = f"<!-- phase-containment-ledger-ref: {ran.document['comment_id']} -->"
    assert plan.splitlines()[1] == pointer
    again = ledger(at_forge, "plan", judge_rulings=RULINGS, containment=PLAN_BLOCK)
    assert (again.code, again.document["action"]) == (0, "unchanged")
    assert bodies(forge) == [plan, body]


def test_a_block_is_replaced_by_its_key_in_one_edit(at_forge: Shell, forge: Forge) -> None:
    """One PATCH, the new severity, still one block."""
    say(forge, PLAN)
    ledger(at_forge, "plan", judge_rulings=RULINGS, containment=PLAN_BLOCK)
    changed = PLAN_BLOCK.replace("severity: low", "severity: high")
    ran = ledger(at_forge, "plan", containment=changed)
    assert (ran.document["action"], ran.document["requests"]["PATCH"]) == ("updated", 1)
    body = bodies(forge)[1]
    assert body.count("finding_key") == 1
    assert "severity: high" in body


def test_no_findings_still_write_the_placeholder(at_forge: Shell, forge: Forge) -> None:
    """A review that found nothing is known to have run."""
    say(forge, PLAN)
    assert ledger(at_forge, "plan").code == 0
    assert "- finding_id: none" in bodies(forge)[1]


def test_brief_mode_has_its_own_head(at_forge: Shell, forge: Forge) -> None:
    """The head is brief_dispositions, and a head of the other review is not mixed in."""
    say(forge, PLAN)
    ran = ledger(at_forge, "brief", judge_rulings=BRIEF)
    assert ran.code == 0, ran.err
    assert "brief_dispositions:" in bodies(forge)[1]
    mixed = ledger(at_forge, "plan", judge_rulings=RULINGS)
    assert (mixed.code, mixed.document["reason"]["code"]) == (3, "could-not-verify")


def test_design_mode_adds_to_the_phase_record(at_forge: Shell, forge: Forge) -> None:
    """Blocks are added to the latest record in place, or to the one that is named."""
    first, last = say(forge, DONE), say(forge, DONE + "\nAgain.\n")
    ran = ledger(at_forge, "design", containment=DESIGN_BLOCK)
    assert (ran.code, ran.document["action"]) == (0, "updated"), ran.err
    assert ran.document["comment_id"] == last
    named = ledger(at_forge, "design", "--comment-id", str(first), containment=DESIGN_BLOCK)
    assert named.document["comment_id"] == first
    assert len(bodies(forge)) == 2
    assert all(body.count("finding_key") == 1 for body in bodies(forge))
    missing = ledger(at_forge, "design", "--comment-id", "7", containment=DESIGN_BLOCK)
    assert (missing.code, missing.document["reason"]["code"]) == (3, "not-the-comment")


def test_design_mode_needs_a_record(at_forge: Shell, forge: Forge) -> None:
    """Without a design-phase-complete comment there is nothing to add to."""
    say(forge, DONE, "lee")
    ran = ledger(at_forge, "design", containment=DESIGN_BLOCK)
    assert (ran.code, ran.document["action"]) == (10, "absent")


def test_another_accounts_record_needs_take_over(at_forge: Shell, forge: Forge) -> None:
    """A colleague's phase record is not edited unasked."""
    say(forge, DONE, "mia")
    ran = ledger(at_forge, "design", containment=DESIGN_BLOCK)
    assert (ran.code, ran.document["reason"]["code"]) == (4, "foreign-canonical")
    assert ledger(at_forge, "design", "--take-over", containment=DESIGN_BLOCK).code == 0


def test_without_a_plan_it_is_incomplete(at_forge: Shell, forge: Forge) -> None:
    """The ledger stands, the pointer does not; the same call after the plan mends it."""
    ran = ledger(at_forge, "plan", judge_rulings=RULINGS)
    assert (ran.code, ran.document["action"]) == (5, "landed-incomplete")
    assert ran.document["reason"]["code"] == "no-target"
    say(forge, PLAN)
    assert ledger(at_forge, "plan", judge_rulings=RULINGS).code == 0
    assert "phase-containment-ledger-ref" in bodies(forge)[1]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("escape_distance: 1", "escape_distance: 2"), "escape-distance"),
        (("severity: low", "severity: mild"), "enum"),
        ((f"<!-- /phase-containment-{N} -->\n", ""), "unclosed-block"),
        ((f"phase-containment-{N}", "phase-containment-13"), "block-number"),
    ],
    ids=["distance", "enum", "unclosed", "number"],
)
def test_a_bad_block_is_refused_by_name(
    at_forge: Shell, forge: Forge, change: tuple[str, str], code: str
) -> None:
    """Nothing is written, and the rule is named."""
    say(forge, PLAN)
    ran = ledger(at_forge, "plan", judge_rulings=RULINGS, containment=PLAN_BLOCK.replace(*change))
    assert (ran.code, ran.document["reason"]["code"]) == (3, code), ran.err
    assert len(bodies(forge)) == 1


@pytest.mark.parametrize(
    ("files", "code", "line", "words"),
    [
        (
            {
                "containment": PLAN_BLOCK
                + "\n"
                + PLAN_BLOCK.replace(":M1", ":M2").replace("low", "x")
            },
            "enum",
            18,
            "line 18 of the containment file: severity: 'x' is not one of",
        ),
        (
            {"judge_rulings": RULINGS.replace("sustained", "upheld")},
            "enum",
            3,
            "line 3 of the head file: judge-rulings[0].judge_ruling: 'upheld'",
        ),
        (
            {"judge_rulings": "<!-- judge-rulings\n[]\n-->\n"},
            "items",
            2,
            "line 2 of the head file: judge-rulings: has fewer items than 1",
        ),
        (
            {"containment": PLAN_BLOCK.replace("M1", "M1\n<!-- plan-issue-12 -->")},
            "syntax",
            3,
            "line 3 of the containment file: ",
        ),
        ({"judge_rulings": ""}, "empty-head", 1, "line 1 of the head file: it has no rulings"),
    ],
)
def test_a_refusal_names_the_file_and_its_line(
    at_forge: Shell, forge: Forge, files: dict[str, str], code: str, line: int, words: str
) -> None:
    """Not a line of a comment that the caller has never seen."""
    say(forge, PLAN)
    assert ledger(at_forge, "plan", judge_rulings=RULINGS, containment=PLAN_BLOCK).code == 0
    before = bodies(forge)
    ran = ledger(at_forge, "plan", **files)
    assert (ran.code, ran.document["reason"]["code"]) == (3, code), ran.err
    assert ran.document["reason"]["line"] == line
    assert words in ran.err
    assert bodies(forge) == before


def test_a_secret_in_a_file_is_named_with_the_file(at_forge: Shell, forge: Forge) -> None:
    """Rules that are not of a family count the file's lines as well."""
    say(forge, PLAN)
    rulings = RULINGS.replace("M1", github_token())
    ran = ledger(at_forge, "plan", judge_rulings=rulings)
    assert (ran.code, ran.document["reason"]["code"]) == (3, "secret")
    assert "the head file: line 2 looks like a secret" in ran.err


def test_what_stands_there_is_told_from_the_files(at_forge: Shell, forge: Forge) -> None:
    """A rule that the comment itself breaks is told of the comment, by its line."""
    say(forge, PLAN)
    standing = RULINGS.replace("sustained", "upheld")
    say(forge, f"<!-- phase-containment-ledger-{N} -->\n\n{standing}")
    ran = ledger(at_forge, "plan", containment=PLAN_BLOCK)
    assert (ran.code, ran.document["reason"]["line"]) == (3, 5)
    assert "in the comment as it would be: judge-rulings[0].judge_ruling: 'upheld'" in ran.err


def test_the_way_on_is_an_option_that_there_is(at_forge: Shell, forge: Forge) -> None:
    """``ledger`` has no --expect, neither for the ledger nor for the plan that it edits."""
    say(forge, PLAN, "mia")
    ran = ledger(at_forge, "plan", judge_rulings=RULINGS)
    assert (ran.code, ran.document["reason"]["code"]) == (5, "foreign-canonical")
    assert "--take-over" in ran.err
    assert "--expect" not in ran.err
    assert ledger(at_forge, "plan", "--take-over", judge_rulings=RULINGS).code == 0


def test_write_does_not_write_a_ledger(at_forge: Shell, forge: Forge) -> None:
    """The family is the ledger command's own; restore may bring an earlier text back."""
    target = ("--family", "phase-containment-ledger", "--number", N)
    ran = at_forge.write(RULINGS, target=target)
    assert (ran.code, ran.document["reason"]["code"]) == (3, "family-not-writable")
    assert "persist-marker ledger" in ran.err
    say(forge, PLAN)
    ledger(at_forge, "plan", judge_rulings=RULINGS)
    changed = ledger(at_forge, "plan", judge_rulings=RULINGS.replace("M1", "M2")).document
    seqs = [
        entry["seq"]
        for entry in at_forge.run("audit", "log", "--json").document["entries"]
        if entry["comment_id"] == changed["comment_id"] and entry["replaced"]
    ]
    assert at_forge.run("restore", str(seqs[-1])).code == 0
    assert "M1" in bodies(forge)[1]


def test_usage(at_forge: Shell) -> None:
    """--comment-id goes with design alone."""
    assert ledger(at_forge, "plan", "--comment-id", "1").code == 2
    assert at_forge.run("ledger", "--number", N).code == 2
    both = ("--judge-rulings", "-", "--containment", "-")
    ran = at_forge.run("ledger", "--number", N, "--mode", "plan", *both, stdin=RULINGS.encode())
    assert (ran.code, "standard input is one text" in ran.err) == (2, True)


def test_the_mutex_in_three_words(at_forge: Shell, forge: Forge) -> None:
    """Taken, held against another call, adopted, let go."""
    taken = at_forge.run("mutex", "acquire", "--number", N, "--json")
    assert (taken.code, taken.document["action"]) == (0, "posted")
    held = at_forge.run("mutex", "acquire", "--number", N, "--json")
    assert (held.code, held.document["action"]) == (4, "conflict")
    assert held.document["reason"]["code"] == "held"
    assert str(taken.document["comment_id"]) in held.err
    read = ("read", "--family", "goal-run-inflight", "--number", N, "--json")
    adopted = at_forge.run("mutex", "adopt", "--number", N, "--session", "7", "--json")
    assert adopted.document["action"] == "updated"
    assert at_forge.run(*read).document["reading"]["holder"]["status"] == "adopted"
    assert at_forge.run("mutex", "resolve", "--number", N).code == 0
    assert at_forge.run(*read).document["reading"]["holder"] is None
    assert at_forge.run("mutex", "resolve", "--number", N, "--json").code == 10


def test_every_problem_of_a_payload_is_told(at_forge: Shell, forge: Forge) -> None:
    """A line each on stderr with its own line and rule, all of them in the document's reason."""
    target = ("--family", "credit-input", "--number", N, "--param", "port=plan")
    ran = at_forge.write("```yaml\nport: design\nadapter: ' '\n```\n", target=target)
    assert ran.code == 3
    lines = ran.err.splitlines()
    assert len(lines) >= 3
    assert all(
        line.startswith("persist-marker: REFUSED (credit-input, issue/12)") for line in lines
    )
    assert "[line 2, rule" in ran.err
    for word in ("port", "adapter", "evidence"):
        assert word in ran.document["reason"]["detail"]
    assert bodies(forge) == []


def test_lines_are_those_of_the_users_file(at_forge: Shell) -> None:
    """Line and the line that a message names count in the file, without marker and blank line."""
    target = ("--family", "credit-input", "--number", N, "--param", "port=plan")
    ran = at_forge.write("```yaml\nport: design\nport: plans\nadapter: a\n```\n", target=target)
    assert "port: 'port' is there twice, see line 2 [line 3, rule duplicate-key]" in ran.err
    assert "rule missing" in ran.err, "what else is wrong is told at once"
    bad = "<!-- phase-containment-ledger-ref: 7 -->\n" * 2
    ran = at_forge.write(bad)
    assert "[line 2, rule block-twice]" in ran.err
    assert "on line 1 already" in ran.err

"""``persist-marker spine``: each outcome by its name and exit code, and ``read`` beside it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from command_line import Shell, at_forge, forge, shell

from markers.cli.documents import EMPTY
from markers.cli.spine import FAILURES
from markers.forge import Forge, seed

__all__ = ["at_forge", "forge", "shell"]

NUMBER = str(seed.ISSUE)
STAMP = "2026-07-16T18:00:00Z"
OTHER = "2026-07-16T10:00:00Z"
LOOK_UP = ("spine", "--number", NUMBER)


def spine(
    pointer: int | None = None, *, stamp: str = STAMP, slices: Sequence[str] = ("s1", "s2")
) -> str:
    """A plan's comment with a spine."""
    pointed = "" if pointer is None else f"slice_comment_id: {pointer}\n"
    listed = "".join(
        f"  {name}:\n    execution_mode: serial\n    rc: does {name}\n    ac_refs: [AC1]\n"
        "    depends_on: []\n    cycle: 1\n"
        for name in slices
    )
    return (
        f"<!-- plan-issue-{NUMBER} -->\n\n## Plan: text\n\n<!-- frame-spine\n"
        f"spine_schema_version: 2\ngenerated_at: {stamp}\ncoverage: complete\n{pointed}"
        f"ports:\n  implement-code: [{', '.join(slices)}]\nslices:\n{listed}-->\n"
    )


def block(name: str) -> str:
    """A slice."""
    return (
        f"\n<!-- frame-slice\nid: {name}\nprovides: [implement-code]\ndepends-on: []\n"
        f"ac-refs: [AC1]\nrequirement-contract: |\n  Build {name}.\n-->\n"
    )


def slices(*names: str, stamp: str | None = STAMP) -> str:
    """The comment that holds the slices."""
    stamped = f"<!-- frame-slices-generated-at: {stamp} -->\n" if stamp else ""
    return f"<!-- frame-slices-{NUMBER} -->\n{stamped}" + "".join(map(block, names))


def say(forge: Forge, body: str, author: str = "pat") -> int:
    """Somebody comments; the answer is the id."""
    return forge.comment(seed.REPO, seed.ISSUE, author, body).id


def planned(forge: Forge, *names: str, stamp: str | None = STAMP, author: str = "pat") -> int:
    """Slices and a plan that points to them."""
    held = say(forge, slices(*names, stamp=stamp), author)
    say(forge, spine(held))
    return held


def test_a_slice_is_found(at_forge: Shell, forge: Forge) -> None:
    """With its fields and text, and the two comments that it comes from."""
    held = planned(forge, "s1", "s2")
    ran = at_forge.run(*LOOK_UP, "--slice", "s2", "--generated-at", STAMP, "--json")
    document = ran.document
    assert ran.code == 0
    assert set(document) == {*EMPTY["spine"], "summary", "schema_version"}
    assert (document["outcome"], document["generated_at"]) == ("found", STAMP)
    assert document["slices_comment_id"] == document["slice"]["comment_id"] == held
    assert document["plan_comment_id"] > held
    assert document["slice"]["id"] == "s2"
    assert document["slice"]["fields"]["provides"] == ["implement-code"]
    assert "Build s2." in document["slice"]["text"]
    shown = at_forge.run(*LOOK_UP, "--slice", "s2").text.splitlines()
    assert shown[0].startswith(f"slice s2 of {seed.REPO}#{NUMBER}, spine of {STAMP}")
    assert "id: s2" in shown


def test_all_slices_are_listed(at_forge: Shell, forge: Forge) -> None:
    """As the spine orders them, each with what the spine says of it."""
    held = planned(forge, "s2", "s1")
    document = at_forge.run(*LOOK_UP, "--json").document
    assert [(s["id"], s["comment_id"], s["rc"]) for s in document["slices"]] == [
        ("s1", held, "does s1"),
        ("s2", held, "does s2"),
    ]
    assert (document["outcome"], document["slice"]) == ("found", None)
    assert len(at_forge.run(*LOOK_UP).text.splitlines()) == 3


def test_an_older_plan_holds_its_slices_itself(at_forge: Shell, forge: Forge) -> None:
    """Its spine points nowhere, and no stamp is asked for."""
    plan = say(forge, spine() + block("s1") + block("s2"))
    document = at_forge.run(*LOOK_UP, "--slice", "s1", "--json").document
    assert (document["outcome"], document["slice"]["comment_id"]) == ("found", plan)
    assert document["slices_comment_id"] is None


def test_one_slice_is_one(at_forge: Shell, forge: Forge) -> None:
    """A number and its noun agree."""
    held = say(forge, slices("s1"))
    say(forge, spine(held, slices=("s1",)))
    assert at_forge.run(*LOOK_UP).text.startswith(f"1 slice of {seed.REPO}#{NUMBER}, spine of ")


def test_a_line_of_a_slice_stays_one(at_forge: Shell, forge: Forge) -> None:
    """Only what ends a line in a comment ends it on the terminal."""
    text = block("s1").replace("Build s1.", "Build\u2028s1\x0b\x85at once.")
    say(forge, spine(say(forge, slices() + text), slices=("s1",)))
    shown = at_forge.run(*LOOK_UP, "--slice", "s1").text.splitlines()
    assert r"  Build\u2028s1\x0b\x85at once." in shown


def test_a_slice_that_cannot_be_read_says_why(at_forge: Shell, forge: Forge) -> None:
    """Its text is shown all the same; the reason is in the document, too."""
    held = say(forge, slices() + block("s1").replace("id: s1", "id: s1\nid: s1"))
    say(forge, spine(held, slices=("s1",)))
    one = at_forge.run(*LOOK_UP, "--slice", "s1", "--json").document["slice"]
    assert (one["fields"], one["why"].partition(": ")[0]) == (None, f"line 6 of comment {held}")
    shown = at_forge.run(*LOOK_UP, "--slice", "s1").text.splitlines()
    assert shown[1] == f"its fields cannot be read: {one['why']}"
    assert "id: s1" in shown


def test_a_slice_that_is_not_listed_is_found_and_said(at_forge: Shell, forge: Forge) -> None:
    """The outcome is that of its block; that the spine does not list it is told beside it."""
    held = say(forge, slices("s1", "s3"))
    say(forge, spine(held, slices=("s1",)))
    ran = at_forge.run(*LOOK_UP, "--slice", "s3", "--json")
    assert (ran.code, ran.document["outcome"]) == (0, "found")
    assert ran.document["detail"] == f"the spine does not list s3, though comment {held} holds it"
    shown = at_forge.run(*LOOK_UP, "--slice", "s3").text.splitlines()
    assert shown[1] == ran.document["detail"]


def broken(forge: Forge, outcome: str) -> None:
    """A thread on which the look-up of s1 has that outcome."""
    worlds = {
        "missing-spine": lambda: say(forge, f"<!-- plan-issue-{NUMBER} -->\n\nno spine"),
        "invalid-spine": lambda: say(forge, spine().replace("cycle: 1", "cycle: one")),
        "stale-spine": lambda: planned(forge, "s1", stamp=OTHER),
        "sibling-unstamped": lambda: planned(forge, "s1", stamp=None),
        "missing-slice": lambda: planned(forge, "s2"),
        "duplicate-slice-id": lambda: planned(forge, "s1", "s1"),
    }
    worlds[outcome]()


@pytest.mark.parametrize("outcome", FAILURES)
def test_outcomes(at_forge: Shell, forge: Forge, outcome: str) -> None:
    """What is not there exits 10, what contradicts itself 4; the word is in the document."""
    broken(forge, outcome)
    ran = at_forge.run(*LOOK_UP, "--slice", "s1", "--json")
    assert ran.code == (10 if outcome.startswith("missing") else 4)
    assert ran.document["outcome"] == ran.document["reason"]["code"] == outcome
    assert ran.document["slice"] is None
    assert set(ran.document) >= set(EMPTY["spine"])
    assert f"[rule {outcome}]" in ran.err


WAYS_TO_MISS = {
    "no plan": ("missing-spine", lambda forge: say(forge, slices("s1"))),
    "a stranger's plan": ("missing-spine", lambda forge: say(forge, spine() + block("s1"), "lee")),
    "the slices are gone": ("sibling-unstamped", lambda forge: say(forge, spine(77))),
    "they are a stranger's": (
        "sibling-unstamped",
        lambda forge: planned(forge, "s1", author="lee"),
    ),
    "the pointer leads to talk": (
        "sibling-unstamped",
        lambda forge: say(forge, spine(say(forge, "Just talk."))),
    ),
    "slices are only shown": (
        "missing-slice",
        lambda forge: say(forge, spine() + f"\n```\n{block('s1')}```\n"),
    ),
    "a twin in the plan": (
        "duplicate-slice-id",
        lambda forge: say(forge, spine(say(forge, slices("s1"))) + block("s1")),
    ),
}


@pytest.mark.parametrize("how", WAYS_TO_MISS)
def test_ways_to_miss(at_forge: Shell, forge: Forge, how: str) -> None:
    """Each is one of the outcomes, and the detail says what to look at."""
    outcome, make = WAYS_TO_MISS[how]
    make(forge)
    ran = at_forge.run(*LOOK_UP, "--slice", "s1", "--json")
    assert ran.document["outcome"] == outcome, ran
    assert len(ran.document["detail"]) > 20


def test_another_stamp_is_stale(at_forge: Shell, forge: Forge) -> None:
    """Whoever was sent with an older spine learns which one there is now."""
    planned(forge, "s1", "s2")
    ran = at_forge.run(*LOOK_UP, "--slice", "s1", "--generated-at", OTHER, "--json")
    assert (ran.code, ran.document["outcome"]) == (4, "stale-spine")
    assert ran.document["generated_at"] == STAMP
    assert OTHER in ran.document["detail"]


def test_what_is_no_slice_is_wrong_usage(at_forge: Shell) -> None:
    """The id is read strictly."""
    for word in ("1", "S1", "s", "s1 ", "s1;s2", "s\u0661"):
        ran = at_forge.run(*LOOK_UP, "--slice", word, "--json")
        assert (ran.code, ran.document["action"]) == (2, "usage"), word


def test_read_has_the_spine(at_forge: Shell, forge: Forge) -> None:
    """The plan's and the slices' reading is the look-up of all slices; it costs one request."""
    planned(forge, "s1", "s2")
    expected = at_forge.run(*LOOK_UP, "--json").document
    forge.forget()
    for family in ("plan-issue", "frame-slices"):
        found = at_forge.run("read", "--family", family, "--number", NUMBER, "--json").document
        assert found["reading"] == {k: expected[k] for k in found["reading"]}
    assert sum(forge.counts.values()) == 2
    shown = at_forge.run("read", "--family", "plan-issue", "--number", NUMBER).text
    assert f"reading: found: 2 slices, spine of {STAMP}" in shown

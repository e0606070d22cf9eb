"""What a plan that is written again keeps of the one that governs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plans import (
    GOOD,
    MARKER,
    REF,
    RULINGS,
    SECTION,
    SENTINEL,
    block,
    comment,
    plan,
    pointed,
    preserve,
    spine,
)

from markers.errors import Refused, counted
from markers.steps import plan_preserve
from markers.steps.interface import Pointed, Prepared, Seen
from markers.steps.known import LEDGER


class TestPointers:
    """The ledger's pointer and the slices' pointer of the plan that governs."""

    def test_both_are_carried(self) -> None:
        """Each goes where it stood: below the marker, and into the spine."""
        governing = plan(REF.format(600), spine("slice_comment_id: 700\n"), "Old.")
        made = preserve(plan(spine(), "New."), governing)
        assert made.candidate == governing.replace("Old.", "New.")
        assert made.preserved == ("phase-containment-ledger-ref 600", "slice_comment_id 700")
        assert made.warnings == ()

    def test_a_pointer_right_below_the_marker_stays_there(self) -> None:
        """No blank line is put between them where there was none."""
        governing = plan("Old.").replace("\n\n", f"\n{REF.format(600)}\n\n")
        assert preserve(plan("New."), governing).candidate == governing.replace("Old.", "New.")

    def test_the_slices_pointer_needs_a_spine(self) -> None:
        """A plan without a spine has no place for it."""
        governing = plan(spine("slice_comment_id: 700\n"))
        assert preserve(plan("New."), governing) == Prepared(candidate=plan("New."))

    @pytest.mark.parametrize(
        ("there", "why"),
        [
            (None, "that is gone"),
            (pointed(LEDGER, here=False), "on another issue"),
            (pointed(LEDGER, number=13), "without <!-- phase-containment-ledger-12 --> on line 1"),
            (pointed(LEDGER, trusted=False), "of somebody who is not trusted"),
        ],
        ids=["gone", "elsewhere", "another marker", "untrusted"],
    )
    def test_a_bad_one_is_dropped_when_inherited_and_refused_when_own(
        self, there: Pointed | None, why: str
    ) -> None:
        """The plan that governs may be old; the candidate's author says it now."""
        made = preserve(plan("New."), plan(REF.format(600)), {600: there})
        assert made.candidate == plan("New.")
        (warning,) = made.warnings
        assert warning.startswith("pointer-dropped: phase-containment-ledger-ref 600 ")
        assert why in warning
        with pytest.raises(Refused, match=why) as caught:
            preserve(plan(REF.format(600)), None, {600: there})
        assert (caught.value.reason.code, caught.value.reason.line) == ("bad-pointer", 3)

    @pytest.mark.parametrize("value", ["abc", "0", "12 34", "9" * 30, "-1", "٣"])
    def test_what_is_no_id_is_not_asked_for(self, value: str) -> None:
        """It is dropped or refused without a request."""
        made = preserve(plan("New."), plan(REF.format(value)))
        assert "is no comment's id" in made.warnings[0]
        with pytest.raises(Refused, match="is no comment's id"):
            preserve(plan(REF.format(value)), None)

    def test_two_of_a_kind(self) -> None:
        """Of two inherited ones the first good one is carried; two own ones are refused."""
        two = plan(REF.format(599), REF.format(600), REF.format(601))
        made = preserve(plan("New."), two, {**GOOD, 601: pointed(LEDGER)})
        assert made.preserved == ("phase-containment-ledger-ref 600",)
        assert ["599" in made.warnings[0], "601" in made.warnings[1]] == [True, True]
        with pytest.raises(Refused) as caught:
            preserve(plan(REF.format(600), REF.format(600)), None)
        assert "a second one beside that on line 3" in counted(str(caught.value))

    def test_a_bad_slices_pointer_of_the_candidate_is_refused(self) -> None:
        """The first write is no exception."""
        with pytest.raises(Refused, match="slice_comment_id 700 leads to a comment that is gone"):
            preserve(plan(spine("slice_comment_id: 700\n")), None, {})

    def test_the_candidates_own_ones_are_kept(self) -> None:
        """A good pointer of the candidate stands, whatever governs says."""
        own = plan(REF.format(600), spine("slice_comment_id: 700\n"))
        governing = plan(REF.format(601), spine("slice_comment_id: 701\n"), "Old.")
        assert preserve(own, governing) == Prepared(candidate=own)

    def test_what_governs_already_asks_for_nothing(self) -> None:
        """An equal candidate, line ends apart, is let through without a look at its pointers."""
        governing = plan(REF.format(999))
        seen = Seen(marker=MARKER, candidate=plan(REF.format(999), end="\r\n"), governing=None)
        assert plan_preserve.STEP.reads(seen) == (999,)
        candidate = plan(REF.format(999), end="\r\n")
        assert preserve(candidate, governing) == Prepared(candidate=candidate)

    ASTRAY = (
        f" {REF.format(600)}",
        f"    {REF.format(600)}",
        f"- {REF.format(600)}",
        f"1. > {REF.format(600)}",
        f"{REF.format(600)} is the ledger",
        "<!--phase-containment-ledger-ref: 600-->",
        "<!-- Phase-Containment-Ledger-Ref: 600 -->",
        "<!-- phase-containment-ledger-ref:\n600 -->",
    )

    @pytest.mark.parametrize("line", ASTRAY)
    def test_one_that_readers_do_not_see(self, line: str) -> None:
        """The candidate's own refuses, and no other is put beside it; an inherited one warns."""
        with pytest.raises(Refused, match="does not stand alone on its line") as caught:
            preserve(plan("New.", line), plan(REF.format(600)))
        assert (caught.value.reason.code, caught.value.reason.line) == ("bad-pointer", 5)
        made = preserve(plan("New."), plan("Old.", line))
        assert made.candidate == plan("New.")
        (warning,) = made.warnings
        assert warning.startswith("not-carried: line 5 of the plan that governs: a phase-containm")
        own = preserve(plan(REF.format(600)), plan("Old.", line))
        assert own.warnings == (), "what the candidate has itself is not missing"

    @pytest.mark.parametrize(
        "text",
        [
            f"```\n{REF.format(600)}\n```",
            f"As `{REF.format(600)}` says.",
            f"<!-- not\n{REF.format(600)}",
        ],
    )
    def test_a_mention_is_no_pointer(self, text: str) -> None:
        """In code, in a comment or inside a line it is shown, and neither refused nor told."""
        made = preserve(plan(text), plan(REF.format(600)))
        assert made.preserved == ("phase-containment-ledger-ref 600",)
        assert preserve(plan("New."), plan(text)).warnings == ()

    def test_few_of_many_are_looked_at(self) -> None:
        """Each costs a request: ten of a kind, and one warning for all others."""
        many = plan(*(REF.format(n) for n in range(1, 5001)), spine("slice_comment_id: 700\n"))
        seen = Seen(marker=MARKER, candidate=plan(spine()), governing=comment(many))
        assert plan_preserve.STEP.reads(seen) == (*range(1, 11), 700)
        made = preserve(plan(spine()), many)
        assert made.preserved == ("slice_comment_id 700",)
        assert made.warnings[0] == "pointer-dropped: 4,990 more pointers of the plan that governs"
        assert len(made.warnings) == 11

    def test_of_the_candidates_own_one_of_a_kind_is_looked_at(self) -> None:
        """A second one is refused wherever it leads."""
        many = plan(*(REF.format(n) for n in range(1, 5001)))
        seen = Seen(marker=MARKER, candidate=many, governing=None)
        assert plan_preserve.STEP.reads(seen) == (1,)

    def test_a_ledger_that_is_gone_is_no_ledger(self) -> None:
        """Rulings and blocks of a plan whose pointer does not survive are the plan's own."""
        governing = plan(REF.format(601), RULINGS, block("a"))
        made = preserve(plan("New."), governing)
        assert made.candidate == plan("New.", RULINGS, block("a"))
        assert made.preserved == ("judge-rulings", "phase-containment: 1 block")
        assert [warning.partition(":")[0] for warning in made.warnings] == ["pointer-dropped"]

    @pytest.mark.parametrize(
        "broken",
        ["by hand\n", "slices: none\n", "-->\n<!-- frame-spine\n"],
        ids=["prose", "a section with a value", "two spines"],
    )
    def test_a_broken_spine_keeps_its_plain_pointer(self, broken: str) -> None:
        """What a person did to the rest does not lose the slices."""
        governing = plan(spine(f"{broken}  slice_comment_id: 700 \n"), "Old.")
        made = preserve(plan(spine(), "New."), governing)
        assert made.candidate == plan(spine("slice_comment_id: 700\n"), "New.")
        assert (made.preserved, made.warnings) == (("slice_comment_id 700",), ())
        gone = preserve(plan(spine(), "New."), governing, {})
        assert gone.candidate == plan(spine(), "New.")
        assert "700 of the plan that governs leads to a comment that is gone" in gone.warnings[0]

    def test_a_broken_pointer_in_a_broken_spine_is_told(self) -> None:
        """It may be a pointer, and nobody can tell where it leads."""
        governing = plan(spine("slice_comment_id : 700\n"), "Old.")
        made = preserve(plan(spine(), "New."), governing)
        assert made.candidate == plan(spine(), "New.")
        (warning,) = made.warnings
        assert warning.startswith(
            "not-carried: line 7 of the plan that governs: a slice_comment_id"
        )
        assert preserve(plan("New."), governing).warnings == (), "there is no room for it"


class TestText:
    """What a plan holds itself."""

    @pytest.mark.parametrize(
        "behind",
        [
            "",
            "**Decisions**",
            "**Decisions:**",
            "__Decisions__ :",
            "**1. Steps**",
            "## Named",
            "# Part two",
            "  ##",
            SENTINEL,
            RULINGS,
            spine(),
        ],
    )
    def test_the_section_ends_where_something_else_begins(self, behind: str) -> None:
        """The next bold heading, a heading, the named decisions, or the end; no block is in it."""
        governing = plan("Old.", REF.format(600), SECTION, behind)
        made = preserve(plan("New.", REF.format(600)), governing)
        assert made.candidate == plan("New.", REF.format(600), SECTION)
        assert made.preserved == ("Plan Stress-Test section",)

    @pytest.mark.parametrize(
        "more",
        [
            "**M1** sustained: mend it\n**M2** dismissed",
            "**M1**: sustained",
            "**M1** and **M2**",
            "### M1\n\nText.",
            "*M1*",
            "***",
            "****",
            "#M1",
            "    ## code",
            "| **a** | b |",
            "- **Overall**",
        ],
    )
    def test_what_is_bold_in_part_is_text(self, more: str) -> None:
        """Findings that are named in bold are what the section is about."""
        governing = plan("Old.", SECTION, more, "The end of it.", "## Next")
        made = preserve(plan("New."), governing)
        assert made.candidate == plan("New.", SECTION, more, "The end of it.")
        assert made.warnings == ()

    HEADINGS = (
        "**Plan Stress-Test:**",
        "**Plan Stress-Test (standard)**",
        "**Plan Stress-Test**:",
        "**plan stress-test**",
        "__Plan Stress Test__",
        "   **Plan Stress-Test**",
        "## Plan Stress-Test",
        "### **Plan Stress-Test**",
        " # PLAN STRESS-TEST",
    )

    @pytest.mark.parametrize("heading", HEADINGS)
    def test_a_heading_of_any_spelling_is_known(self, heading: str) -> None:
        """On both sides, so that the section is neither lost nor there twice."""
        governing = plan("Old.", heading, "- M1 sustained", "## Next", "Rest.")
        made = preserve(plan("New."), governing)
        assert made.candidate == plan("New.", heading, "- M1 sustained")
        assert made.preserved == ("Plan Stress-Test section",)
        own = plan("New.", heading, "- M1 dismissed")
        assert preserve(own, plan(SECTION)) == Prepared(candidate=own)

    @pytest.mark.parametrize(
        ("heading", "inside", "behind"),
        [
            ("## Plan Stress-Test", "### M1\n\n**Decisions**\n\nText.", "## Next"),
            ("### Plan Stress-Test", "#### M1\n\nText.", "### Next"),
            ("### Plan Stress-Test", "**M1**\n\nText.", "# Next"),
            ("# Plan Stress-Test", "### M1", "## Next"),
        ],
    )
    def test_a_section_under_a_marked_heading(self, heading: str, inside: str, behind: str) -> None:
        """It goes on to the next heading of its level or above; bold lines are inside it."""
        made = preserve(plan("New."), plan(heading, inside, behind, "Rest."))
        assert made.candidate == plan("New.", heading, inside)

    @pytest.mark.parametrize(
        "line",
        [
            "- **Plan Stress-Test**",
            "> **Plan Stress-Test**",
            "1. Plan Stress-Test",
            "Plan stress-test",
        ],
    )
    def test_what_is_no_heading_is_told(self, line: str) -> None:
        """Nobody could say where such a section ends."""
        made = preserve(plan("New."), plan("Old.", line, "  - M1 sustained"))
        assert made.candidate == plan("New.")
        (warning,) = made.warnings
        assert warning.startswith("not-carried: line 5 of the plan that governs: it names the Plan")
        assert preserve(plan("New.", line), plan("Old.", line)).warnings == ()
        beside = preserve(plan("New.", line), plan(SECTION))
        assert beside.candidate == plan("New.", line, SECTION)
        assert counted(beside.warnings[0], 2).startswith("section-twice: line 3 names the Plan")

    def test_blocks_inside_the_section_are_no_part_of_it(self) -> None:
        """They are carried by their own rule, once, and the text behind them goes on."""
        governing = plan(SECTION, RULINGS, "Between.", block("a"), spine(), "- M2 dismissed")
        made = preserve(plan("New."), governing)
        section = (SECTION, "Between.", "- M2 dismissed")
        assert made.candidate == plan("New.", RULINGS, block("a"), *section)
        assert made.warnings == ()
        with_ledger = preserve(plan(REF.format(600), "New."), governing)
        assert with_ledger.candidate == plan(REF.format(600), "New.", *section)

    @pytest.mark.parametrize(
        ("behind", "line"),
        [
            (f"{RULINGS} and a word", 10),
            ("<!-- phase-containment-12 -->\nA word.", 8),
            ("## Next\n\n**Plan Stress-Test**\n\n- M2", 9),
        ],
        ids=["beside an arrow", "in a block without end", "a second section"],
    )
    def test_what_is_left_of_the_section_is_told(self, behind: str, line: int) -> None:
        """Text that may belong to it, and that nothing carries."""
        made = preserve(plan("New."), plan(SECTION, behind))
        assert "Plan Stress-Test section" in made.preserved
        told = f"not-carried: line {line} of the plan that governs: it may belong to the Plan"
        assert any(warning.startswith(told) for warning in made.warnings)

    def test_many_blocks_without_a_finding_are_told_in_few_words(self) -> None:
        """The first ones by line, then how many more there are."""
        made = preserve(plan("New."), plan(*["<!-- phase-containment-12 -->"] * 4000))
        assert len(made.warnings) == 6
        assert made.warnings[-1] == "not-carried: 3,995 more phase-containment blocks of that plan"

    def test_the_section_stands_before_the_named_decisions(self) -> None:
        """Readers look for it there; without them it comes last."""
        tail = f"{SENTINEL}\n\nD1\n\n<!-- named-decisions:end -->"
        made = preserve(plan("New.", tail), plan(SECTION))
        assert made.candidate == plan("New.", SECTION, tail)
        tight = plan("New.").rstrip("\n") + f"\n{tail}\n"
        assert preserve(tight, plan(SECTION)).candidate == plan("New.", SECTION, tail)

    def test_bold_words_in_code_are_no_heading(self) -> None:
        """What stands in a code fence or a comment neither begins a section nor ends it."""
        code = "```\n**Plan Stress-Test**\n**Decisions**\n## More\n```"
        governing = plan(f"{SECTION}\n\n{code}")
        assert preserve(plan("New."), governing).candidate == plan("New.", SECTION, code)
        assert preserve(plan("New."), plan(code)) == Prepared(candidate=plan("New."))
        made = preserve(plan(code), governing)
        assert made.candidate == plan(code, SECTION, code)

    def test_a_section_that_leaves_its_fence_open_comes_last(self) -> None:
        """Before the named decisions it would hide them."""
        made = preserve(plan("New.", SENTINEL), plan(f"{SECTION}\n\n```\ncode"))
        assert made.candidate == plan("New.", SENTINEL, f"{SECTION}\n\n```\ncode")

    def test_an_older_plan_keeps_rulings_and_blocks(self) -> None:
        """A plan without a ledger holds them itself; only what is missing is added."""
        governing = plan(SECTION, RULINGS, block("a"), block("b"), block("c"))
        made = preserve(plan("New.", block("b")), governing)
        assert made.candidate == plan("New.", block("b"), RULINGS, block("a"), block("c"), SECTION)
        assert made.preserved == (
            "judge-rulings",
            "phase-containment: 2 blocks",
            "Plan Stress-Test section",
        )

    def test_of_two_blocks_for_one_finding_the_newer_one_is_carried(self) -> None:
        """Readers take the one with the later stamp, and a comment may have only one."""
        new, old = (f"appended_at: 2026-03-0{day}T12:00:00Z\n<!-- /" for day in (2, 1))
        two = [block("a").replace("<!-- /", stamp) for stamp in (new, old)]
        made = preserve(plan("New."), plan(*two))
        assert made.candidate == plan("New.", two[0])
        assert made.preserved == ("phase-containment: 1 block",)

    def test_a_plan_with_a_ledger_does_not(self) -> None:
        """There they are the ledger's, and what is left of them in the plan may go."""
        governing = plan(REF.format(600), RULINGS, block("a"))
        made = preserve(plan("New."), governing)
        assert made.preserved == ("phase-containment-ledger-ref 600",)
        assert made.candidate == plan(REF.format(600), "New.")
        assert made.warnings[0].startswith("not-carried: line 5 of the plan that governs: 2 of its")

    def test_what_cannot_be_told_apart_is_left_behind_loudly(self) -> None:
        """Two heads, and blocks without a finding."""
        governing = plan(RULINGS, RULINGS, block("a").replace("finding_key", "key"))
        made = preserve(plan("New."), governing)
        assert made.candidate == plan("New.")
        assert [warning.partition(": line ")[0] for warning in made.warnings] == ["not-carried"] * 2

    def test_nothing_is_carried_into_code(self) -> None:
        """A candidate that ends in an open fence is refused rather than added to unseen."""
        with pytest.raises(Refused) as caught:
            preserve(plan("```\ncode"), plan(SECTION))
        assert caught.value.reason.code == "unclosed"
        assert counted(str(caught.value), 2).startswith("line 1: what is opened here")


PARTS = (
    "Words.",
    REF.format(600),
    SECTION,
    SENTINEL,
    RULINGS,
    block("a"),
    block("b"),
    spine(),
    spine("slice_comment_id: 700\n"),
    "## Next",
    "**Decisions**",
    "**M1** sustained.",
    "## Plan Stress-Test\n\n- M3",
    "- **Plan Stress-Test**",
    "- item\n  - inner",
    "> quoted",
    "```\n**Plan Stress-Test**\n```",
)
BY_HAND = (REF.format(601), f"- {REF.format(600)}", spine("slice_comment_id: 700\nby hand\n"))
"""What a person may have made of a plan, and what no candidate gets through with."""


def some(parts: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    """Some of the parts in any order."""
    return st.lists(st.sampled_from(parts), max_size=6, unique=True)


@given(new=some(PARTS), old=some((*PARTS, *BY_HAND)), end=st.sampled_from(["\n", "\r\n"]))
def test_preserving_twice_is_preserving_once(new: list[str], old: list[str], end: str) -> None:
    """Neither the result nor the same candidate beside it is changed again; CRLF stays CRLF."""
    candidate, governing = plan(*new, end=end), plan(*old)
    once = preserve(candidate, governing).candidate
    assert preserve(once, governing) == Prepared(
        candidate=once, warnings=preserve(once, governing).warnings
    )
    assert preserve(candidate, once).candidate == once
    assert once.count("\n") == once.count(end)
    for line in candidate.split(end):
        assert line in once

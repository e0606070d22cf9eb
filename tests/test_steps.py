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


class TestText:
    """What a plan holds itself."""

    @pytest.mark.parametrize(
        "behind",
        ["", "**Decisions**", "## Named", "# Part two", SENTINEL, RULINGS, spine()],
        ids=["end", "bold", "h2", "h1", "sentinel", "rulings", "spine"],
    )
    def test_the_section_ends_where_something_else_begins(self, behind: str) -> None:
        """The next bold heading, a heading, the named decisions, a block, or the end."""
        governing = plan("Old.", REF.format(600), SECTION, behind)
        made = preserve(plan("New.", REF.format(600)), governing)
        assert made.candidate == plan("New.", REF.format(600), SECTION)
        assert made.preserved == ("Plan Stress-Test section",)

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
        with pytest.raises(Refused, match=r"line 3: .* never closed") as caught:
            preserve(plan("```\ncode"), plan(SECTION))
        assert caught.value.reason.code == "unclosed"


PARTS = st.lists(
    st.sampled_from(
        [
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
            "- item\n  - inner",
            "> quoted",
            "```\n**Plan Stress-Test**\n```",
        ]
    ),
    max_size=6,
    unique=True,
)


@given(new=PARTS, old=PARTS, end=st.sampled_from(["\n", "\r\n"]))
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

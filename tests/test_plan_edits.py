"""The two pointers that are put into a plan once the comments that they lead to are written."""

from __future__ import annotations

import pytest
from plans import MARKER, REF, STAMP, comment, plan, preserve, spine
from worlds import CONTRACT

from markers.errors import Refused
from markers.model import Family, Marker
from markers.payload import known
from markers.steps import ledger_pointer, spine_splice
from markers.steps.known import DESIGN, LEDGER, PLAN, SLICES, marker_text


@pytest.mark.parametrize(
    "family",
    [value for value in vars(known).values() if isinstance(value, Family)],
    ids=lambda family: family.name,
)
def test_steps_spell_blocks_as_the_registry_does(family: Family) -> None:
    """Steps know a few blocks without a contract; their names and templates are the registry's."""
    shipped = CONTRACT.family(family.name)
    assert (shipped.template, shipped.scope) == (family.template, family.scope)


@pytest.mark.parametrize("name", [DESIGN, LEDGER, PLAN, SLICES])
def test_steps_spell_markers_as_the_registry_does(name: str) -> None:
    """A target's first line is derived from the family's name."""
    parsed = CONTRACT.parse(marker_text(name, 12))
    assert parsed is not None
    assert (parsed.family, parsed.number) == (name, 12)


class TestLedgerPointer:
    """The plan's edit after its ledger was written."""

    def test_it_stands_below_the_marker(self) -> None:
        """One line is added, nothing else; the second time there is nothing to do."""
        edit = ledger_pointer.STEP.edit
        made = edit(plan("Text.", end="\r\n"), comment("", 600))
        lines = [MARKER.text, REF.format(600), "", "Text.", ""]
        assert made == "\r\n".join(lines)
        assert edit(made, comment("", 600)) == made

    def test_one_that_is_there_is_replaced(self) -> None:
        """It stays where it stands."""
        made = ledger_pointer.STEP.edit(plan("A.", REF.format(5), "B."), comment("", 600))
        assert made == plan("A.", REF.format(600), "B.")

    def test_of_two_nobody_knows_which(self) -> None:
        """The edit is refused."""
        with pytest.raises(Refused, match="lines 3 and 5") as caught:
            ledger_pointer.STEP.edit(plan(REF.format(5), REF.format(6)), comment("", 600))
        assert caught.value.reason.code == "two-pointers"

    def test_a_mention_in_code_is_none(self) -> None:
        """What stands in a fence is left alone."""
        quoted = f"```\n{REF.format(5)}\n```"
        made = ledger_pointer.STEP.edit(plan(quoted), comment("", 600))
        assert quoted in made
        assert REF.format(600) in made

    def test_a_plan_that_is_written_again_keeps_it(self) -> None:
        """The edit and the carrying forward agree byte for byte."""
        there = ledger_pointer.STEP.edit(plan("Text."), comment("", 600))
        assert preserve(plan("Text."), there).candidate == there

    def test_its_target_is_the_plan_of_the_same_issue(self) -> None:
        """The ledger's number is the plan's."""
        written = Marker(text=marker_text(LEDGER, 12), family=LEDGER, number=12)
        assert ledger_pointer.STEP.target(written) == MARKER.text


class TestSplice:
    """The plan's edit after its slices were written."""

    @staticmethod
    def edit(there: str, stamp: str = STAMP) -> str:
        """The plan beside slices of one stamp, as comment 700."""
        body = f"<!-- frame-slices-12 -->\n<!-- frame-slices-generated-at: {stamp} -->\n"
        return spine_splice.STEP.edit(there, comment(body if stamp else "none", 700))

    @pytest.mark.parametrize("before", ["", "slice_comment_id: 5\n", "slice_comment_id:\n"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_one_line_changes(self, before: str, end: str) -> None:
        """It is put in or replaced; the second time there is nothing to do."""
        made = self.edit(plan("Text.", spine(before), "More.  ", end=end))
        assert made == plan("Text.", spine("slice_comment_id: 700\n"), "More.  ", end=end)
        assert self.edit(made) == made

    def test_the_tag_that_is_closed_at_once_is_a_spine_too(self) -> None:
        """Both legal forms of the block are edited."""
        there = plan(spine().replace("<!-- frame-spine", "<!-- frame-spine -->"))
        assert self.edit(there).replace("slice_comment_id: 700\n", "") == there

    @pytest.mark.parametrize(
        ("there", "stamp", "code"),
        [
            (plan("Text."), STAMP, "missing-spine"),
            (plan(f"```\n{spine()}\n```"), STAMP, "missing-spine"),
            (plan(spine("nonsense\n")), STAMP, "invalid-spine"),
            (plan(spine(stamp="2026-03-01T12:00:01Z")), STAMP, "stale-spine"),
            (plan(spine()), "", "sibling-unstamped"),
        ],
    )
    def test_it_refuses_where_both_do_not_belong_together(
        self, there: str, stamp: str, code: str
    ) -> None:
        """The slices stand, the plan is left alone, and the reason is named."""
        with pytest.raises(Refused) as caught:
            self.edit(there, stamp)
        assert caught.value.reason.code == code

    def test_only_the_first_spine_counts(self) -> None:
        """As readers take the first one."""
        made = self.edit(plan(spine(), spine()))
        assert made == plan(spine("slice_comment_id: 700\n"), spine())

    def test_a_plan_that_is_written_again_keeps_it(self) -> None:
        """The edit and the carrying forward agree byte for byte."""
        there = self.edit(plan(spine(), "Text."))
        assert preserve(plan(spine(), "Text."), there).candidate == there

    def test_its_target_is_the_plan_of_the_same_issue(self) -> None:
        """The slices' number is the plan's."""
        written = Marker(text=marker_text(SLICES, 12), family=SLICES, number=12)
        assert spine_splice.STEP.target(written) == MARKER.text

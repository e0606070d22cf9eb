"""A brief's head: upstream's ten rules, what its reader would not count, and edges."""

from __future__ import annotations

import pytest
from judging import Bad, Edit, assert_good, assert_refused, body

LEDGER = "phase-containment-ledger"
GOOD = body(
    """
    <!-- phase-containment-ledger-12 -->

    brief_dispositions:
      convergence_filter_ran: true
      filtered_count: 8
      findings:
        - finding_id: N1
          disposition: incorporate
        - finding_id: N2
          disposition: dismiss
          note: |
            It was said elsewhere.

    <!-- phase-containment-12 -->
    finding_key: brief-review:12:N1
    introduced_phase: plan
    catchable_phase: plan
    caught_stage: brief-review
    escape_distance: 0
    severity: low
    systemic_fix_type: none
    category: pattern
    <!-- /phase-containment-12 -->
    """
)
HEAD = GOOD[GOOD.index("brief_disp") : GOOD.index("\n<!-- phase-containment-12")]
FILTER = "  convergence_filter_ran: true\n"
COUNT = "  filtered_count: 8\n"
FINDINGS = HEAD[HEAD.index("  findings") :]
N1 = "    - finding_id: N1\n"

BAD = (
    Bad("1: no head", "brief_dispositions:\n", "brief_disposition:\n", "head-missing", 1, "head"),
    Bad("2: two heads", HEAD, f"{HEAD}\n{HEAD}", "block-twice", 14, "on line 3 already"),
    Bad("2: one of them fenced", HEAD, f"```yaml\n{HEAD}```\n{HEAD}", "block-twice", 15, "line 4"),
    Bad("3: a ruling", "disposition: dismiss", "judge_ruling: x", "judge-words", 10, "no judge"),
    Bad("3: a ruling in a text", "It was said", "- judge_ruling: said", "judge-words", 12, "judge"),
    Bad("3: a judge's head", "It was said", "<!-- judge-rulings said", "judge-words", 12, "judge"),
    Bad("4: no word of the filter", FILTER, "", "missing", 4, "no filter has narrowed"),
    Bad("4: only inside a finding", FILTER + COUNT + "  findings:\n" + N1,
        f"  findings:\n{N1}      convergence_filter_ran: true\n", "missing", 4, "convergence"),
    Bad("4: a word of its own", "ran: true", "ran: yes", "const", 4, "'yes' is not true"),
    Bad("4: another spelling", "ran: true", "ran: True", "spelling", 4, "readers know"),
    Bad("5: said twice", FILTER, FILTER * 2, "duplicate-key", 5, "see line 4"),
    Bad("6: it did not run", "ran: true", "ran: false", "const", 4, "cannot be counted"),
    Bad("7: no count", COUNT, "", "missing", 4, "filtered_count: is missing"),
    Bad("7: a count in words", "count: 8", "count: eight", "type", 5, "an integer"),
    Bad("7: a count below 0", "count: 8", "count: -8", "minimum", 5, "less than 0"),
    Bad("7: a count too large", "count: 8", "count: 9999999999", "maximum", 5, "2147483647"),
    Bad("7: a count in hex", "count: 8", "count: 0x8", "spelling", 5, "digits"),
    Bad("7: a comment behind it", "count: 8", "count: 8  # or 9", "spelling", 5, "nothing behind"),
    Bad("8: counted twice", COUNT, COUNT * 2, "duplicate-key", 6, "see line 5"),
    Bad("9: a finding's id above", COUNT, f"{COUNT}  finding_id: N0\n", "unknown-field", 6, "not"),
    Bad("9: a disposition above", COUNT, f"{COUNT}  disposition: x\n", "unknown-field", 6, "not"),
    Bad("10: a flat head", FILTER, FILTER.strip() + "\n", "not-indented", 4, "indent what belongs"),
    Bad("10: a flat list", f"\n{N1}", f"\n- finding_id: N1\n{N1}", "not-indented", 7, "indent"),
    Bad("no findings", FINDINGS, "", "missing", 4, "[] for nothing"),
    Bad("findings of no kind", FINDINGS, "  findings: none\n", "type", 6, "a list"),
    Bad("no disposition", "      disposition: incorporate\n", "", "missing", 7, "[0].disposition"),
    Bad("no id", N1 + "      disp", "    - disp", "missing", 7, "findings[0].finding_id"),
    Bad("unknown disposition", "disposition: dismiss", "disposition: defer", "enum", 10, "'defer'"),
    Bad("id twice", "finding_id: N2", "finding_id: N1", "duplicate", 9, "see line 7"),
    Bad("alias", "finding_id: N2", "finding_id: *one", "alias", 9, "*one"),
    Bad("deep", "finding_id: N2", f"finding_id: {'[' * 50}{']' * 50}", "nesting", 9, "levels deep"),
    Bad("nothing in it", FILTER + COUNT + FINDINGS, "", "type", 3, "a mapping"),
)  # fmt: skip

EDGES = (
    Edit("as it is", HEAD, HEAD),
    Edit("nothing left", FINDINGS, "  findings: []\n"),
    Edit("nothing filtered", "count: 8", "count: 0"),
    Edit("in a fence", HEAD, f"```yaml\n{HEAD}```\n"),
    Edit("escalated", "disposition: dismiss", "disposition: escalate"),
    Edit("keys of its own", COUNT, f"{COUNT}  reviewer: somebody\n"),
    Edit("blank lines", COUNT, f"\n{COUNT}  \n"),
    Edit("wider", "filter_ran: true", "filter_ran :   true"),
    Edit("marker-like text", "It was said", "See <!-- plan-issue-12 -->, said"),
    Edit("a judge in prose", "It was said", "No judge-rulings were said"),
    Edit("prose below", HEAD, f"{HEAD}\nAnd so on.\n\n- a list\n"),
    Edit("order does not matter", FILTER + COUNT, COUNT + FILTER),
)  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_bad_heads_are_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, GOOD, LEDGER)


@pytest.mark.parametrize("edit", EDGES, ids=str)
def test_good_heads_are_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, GOOD, LEDGER)

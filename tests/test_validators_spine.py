"""A plan's spine and its slices: what is refused by name, and what is good at the edges."""

from __future__ import annotations

import pytest
from judging import Bad, Edit, assert_good, assert_refused, body, refusals, warned

PLAN = "plan-issue"
GOOD_SPINE = body(
    """
    <!-- plan-issue-12 -->

    <!-- frame-spine
    spine_schema_version: 2
    generated_at: 2026-07-18T22:20:00Z
    coverage: complete
    slice_comment_id: 77
    ports:
      docs: [s1, s3#cycle:2#terminal]
      code: [s2]
    slices:
      s1:
        execution_mode: serial
        rc: what is: done
        ac_refs: [AC1, AC2]
        depends_on: []
        cycle: 1
      s2:
        ac_refs: [AC1]
        depends_on: [s1]
        cycle: 1
      s3:
        ac_refs: []
        depends_on: [s1, s2]
        cycle: 2
        terminal: true
    -->
    """
)
S1 = "  s1:\n    execution_mode"
PORT = "code: [s2]"

BAD_SPINES = (
    Bad("no version", "spine_schema_version: 2\n", "", "missing", 4, "spine_schema_version"),
    Bad("unknown version", "version: 2", "version: 3", "schema-version", 4, "1 or 2"),
    Bad("no stamp", "generated_at: 2026-07-18T22:20:00Z\n", "", "missing", 4, "generated_at"),
    Bad("stamp with offset", "22:20:00Z", "22:20:00+02:00", "pattern", 5, "in UTC"),
    Bad("day that is none", "07-18T", "02-30T", "pattern", 5, "in UTC"),
    Bad("stamp in quotes", "2026-07-18T22:20:00Z", '"2026-07-18T22:20:00Z"', "pattern", 5, "UTC"),
    Bad("duplicate key", "coverage: complete", "coverage: a\ncoverage: b", "duplicate-key", 7,
        "see line 6"),
    Bad("unknown key", "coverage: ", "covered: ", "unknown-field", 6, "did you mean coverage?"),
    Bad("id that is none", "_id: 77", "_id: x7", "pattern", 7, "digits"),
    Bad("id zero", "_id: 77", "_id: 0", "pattern", 7, "digits"),
    Bad("no ports", "ports:\n  docs: [s1, s3#cycle:2#terminal]\n  code: [s2]\n", "", "missing", 4,
        "ports: is missing"),
    Bad("empty ports", "  docs: [s1, s3#cycle:2#terminal]\n  code: [s2]\n", "", "missing", 8,
        "has no port"),
    Bad("port twice", PORT, "docs: [s2]", "duplicate-key", 10, "see line 9"),
    Bad("port in block style", PORT, "code:\n    - s2", "syntax", 11, "two blanks, a port"),
    Bad("port without brackets", PORT, "code: s2", "type", 10, "a list in brackets"),
    Bad("token of no form", PORT, "code: [s2#cycle]", "pattern", 10, "s3#cycle:2"),
    Bad("nested list", PORT, "code: [[s2]]", "type", 10, "commas"),
    Bad("gap in a list", PORT, "code: [s2, ]", "type", 10, "commas"),
    Bad("alias", PORT, "code: *docs", "type", 10, "'*docs'"),
    Bad("a tab", f"  {PORT}", f"\t{PORT}", "syntax", 10, "two blanks"),
    Bad("comment", "ports:\n", "ports: # all\n", "type", 8, "stand below it"),
    Bad("other cycle", "s3#cycle:2", "s3#cycle:1", "cycle", 9, "is in cycle 2"),
    Bad("slice twice", "  s2:\n", "  s1:\n", "duplicate-key", 18, "see line 12"),
    Bad("slice of no form", "  s2:\n", "  step2:\n", "syntax", 18, "in slice s1: four blanks"),
    Bad("no ac_refs", "    ac_refs: [AC1]\n", "", "missing", 18, "slices.s2.ac_refs"),
    Bad("no cycle", "    depends_on: []\n    cycle: 1\n", "    depends_on: []\n", "missing", 12,
        "slices.s1.cycle"),
    Bad("cycle of words", "    cycle: 2", "    cycle: two", "type", 25, "number"),
    Bad("terminal of words", "terminal: true", "terminal: yes", "type", 26, "true or false"),
    Bad("wrong enum", ": serial", ": seriall", "enum", 13, "one of serial, parallel"),
    Bad("dependency of no form", "depends_on: [s1]", "depends_on: [1]", "pattern", 20, "[s1, s2]"),
    Bad("unknown dependency", "depends_on: [s1]", "depends_on: [s9]", "unknown-slice", 20, "s9"),
    Bad("circle", "depends_on: []", "depends_on: [s3]", "dependency-circle", 16, "s1 -> s3 -> s2"),
    Bad("waits for itself", "depends_on: [s1]", "depends_on: [s2]", "dependency-circle", 20, "s2"),
    Bad("deep", "    cycle: 2", "      cycle: 2", "syntax", 25, "four blanks"),
    Bad("marker-like", "code: [s2]", "<!-- plan-issue-12: [s2]", "syntax", 10, "two blanks"),
    Bad("on the tag's line", "<!-- frame-spine\n", "<!-- frame-spine ", "tag-line", 3, "below"),
    Bad("on the arrow's line", "true\n-->", "true -->", "tag-line", 3, "line of its own"),
    Bad("unclosed", "terminal: true\n-->", "terminal: true", "unclosed-block", 3, "-->"),
    Bad("two of it", "<!-- frame-spine\n", "<!-- frame-spine\n-->\n\n<!-- frame-spine\n",
        "block-twice", 6, "on line 3 already"),
    Bad("nothing in it", GOOD_SPINE[GOOD_SPINE.index("spine_schema") : -3], "", "missing", 4,
        "slices: is missing"),
)  # fmt: skip

SPINE_EDGES = (
    Edit("as it is", PORT, PORT),
    Edit("version 1", "version: 2", "version: 1"),
    Edit("fraction of a second", "22:20:00Z", "22:20:00.1234567Z"),
    Edit("no coverage", "coverage: complete\n", ""),
    Edit("no pointer yet", "slice_comment_id: 77\n", ""),
    Edit("an empty pointer", "slice_comment_id: 77", "slice_comment_id:"),
    Edit("other form of the block", "<!-- frame-spine\n", "<!-- frame-spine -->\n"),
    Edit("blank lines", "slices:\n", "\n  \nslices:  \n\n"),
    Edit("an empty port", PORT, "code: []"),
    Edit("a wide list", PORT, "code: [ s2 ,s1#terminal ]"),
    Edit("a key of its own", "    cycle: 2", "    cycle: 2\n    owner: somebody"),
    Edit("marker-like text", "what is: done", "see <!-- plan-issue-12"),
    Edit("scalars below", GOOD_SPINE[GOOD_SPINE.index("coverage") :],
         GOOD_SPINE[GOOD_SPINE.index("ports") : -3] + "coverage: complete\n-->"),
)  # fmt: skip


@pytest.mark.parametrize("bad", BAD_SPINES, ids=str)
def test_bad_spines_are_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, GOOD_SPINE, PLAN)


@pytest.mark.parametrize("edit", SPINE_EDGES, ids=str)
def test_good_spines_are_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, GOOD_SPINE, PLAN)


def test_a_port_may_name_a_slice_that_is_not_there() -> None:
    """A real spine does: it is told, and refuses nothing."""
    text = GOOD_SPINE.replace(PORT, "code: [s2, s9]")
    assert (refusals(text, PLAN), warned(text, PLAN)) == ([], ["unknown-slice"])


def test_all_faults_of_a_spine_are_told_together() -> None:
    """One run names every line."""
    text = GOOD_SPINE.replace("spine_schema_version: 2", "spine_schema_version: x")
    text = text.replace(PORT, "code: s2").replace("cycle: 1\n", "cycle: one\n")
    assert [problem.line for problem in refusals(text, PLAN)] == [4, 10, 17, 21]


SLICES = "frame-slices"
GOOD_SLICES = body(
    """
    <!-- frame-slices-12 -->
    <!-- frame-slices-generated-at: 2026-07-18T22:20:00Z -->

    <!-- frame-slice
    step_id: s1
    commit-index: 1
    provides: [implement-docs]
    adapter: skills/docs/adapter.md
    migration-scan: true
    depends-on: []
    ac-refs: [AC4]
    requirement-contract: |
      All of it: id: s9
      and <!-- frame-slice -- in a text.
    -->

    <!-- frame-slice
    id: s2
    provides: [implement-code, review]
    depends-on: [s1]
    ac-refs: [AC1, AC2]
    cycle: 2
    terminal: false
    -->
    """
)
STAMP = "<!-- frame-slices-generated-at: 2026-07-18T22:20:00Z -->\n"

BAD_SLICES = (
    Bad("no stamp", STAMP, "", "stamp-missing", 1, "generated-at"),
    Bad("two stamps", STAMP, STAMP * 2, "block-twice", 3, "line 2"),
    Bad("stamp below prose", STAMP, f"Slices.\n{STAMP}", "stamp-place", 3, "first thing"),
    Bad("stamp of no form", "22:20:00Z", "22:20Z", "pattern", 2, "'2026-07-18T22:20Z'"),
    Bad("no slices", GOOD_SLICES[GOOD_SLICES.index("<!-- frame-slice\n") :], "", "block-missing", 1,
        "one for each step"),
    Bad("id twice", "\nid: s2", "\nid: s1", "duplicate-slice-id", 17, "line 4"),
    Bad("unclosed", "terminal: false\n-->", "terminal: false", "unclosed-block", 17, "-->"),
    Bad("no id", "step_id: s1\n", "", "missing", 4, "step_id: is missing"),
    Bad("both ids", "step_id: s1", "step_id: s1\nid: s1", "id-twice", 6, "one of the two"),
    Bad("id of no form", "step_id: s1", "step_id: step1", "pattern", 5, "such as s1"),
    Bad("id in quotes", "step_id: s1", 'step_id: "s1"', "pattern", 5, "begins with step_id:"),
    Bad("indented keys", "id: s2\nprovides: [implement-code, review]\ndepends-on: [s1]\n"
        "ac-refs: [AC1, AC2]\ncycle: 2\nterminal: false",
        "  id: s2\n  provides: []", "pattern", 18, "begins with id:"),
    Bad("no list of ports", "provides: [implement-docs]\n", "", "missing", 5, "no coverage"),
    Bad("no dependencies", "depends-on: []\n", "", "missing", 5, "must be done before"),
    Bad("no criteria", "ac-refs: [AC4]\n", "", "missing", 5, "ac-refs: is missing"),
    Bad("dependency of no form", "depends-on: [s1]", "depends-on: [1]", "type", 20, "a text"),
    Bad("port of no form", "[implement-docs]", "[implement docs]", "pattern", 7, "implement docs"),
    Bad("list in block style", "ac-refs: [AC4]", "ac-refs:\n- AC4", "list-form", 12, "brackets"),
    Bad("wrong type", "migration-scan: true", "migration-scan: yes", "type", 9, "boolean"),
    Bad("negative cycle", "cycle: 2", "cycle: -1", "minimum", 22, "less than 0"),
    Bad("duplicate key", "cycle: 2", "cycle: 2\ncycle: 3", "duplicate-key", 23, "see line 22"),
    Bad("alias", "adapter: skills/docs/adapter.md", "adapter: *one\nx: y", "alias", 8, "*one"),
    Bad("deep", "cycle: 2", f"cycle: {'[' * 50}{']' * 50}", "nesting", 22, "levels deep"),
    Bad("no mapping", "id: s2\n", "- id: s2\n", "syntax", 19, "not YAML"),
    Bad("a list", GOOD_SLICES[GOOD_SLICES.index("id: s2") : -4], "- s2", "type", 18, "a mapping"),
    Bad("empty", GOOD_SLICES[GOOD_SLICES.index("id: s2") : -3], "", "type", 18, "a mapping"),
)  # fmt: skip

SLICES_EDGES = (
    Edit("as it is", STAMP, STAMP),
    Edit("blank lines above the stamp", STAMP, f"\n \n{STAMP}"),
    Edit("a fraction in the stamp", "20:00Z", "20:00.5Z"),
    Edit("prose between", "-->\n\n<!-- frame-slice\nid", "-->\n\nThen:\n\n<!-- frame-slice\nid"),
    Edit("a step that explores", "provides: [implement-docs]", "coverage: exploratory - unsure"),
    Edit("a field of its own", "cycle: 2", "cycle: 2\nowner: somebody"),
    Edit("an executor", "cycle: 2", "executor: inline"),
    Edit("wide list", "[AC1, AC2]", "[ AC1 ,AC2 ]"),
    Edit("other form of the block", "<!-- frame-slice\nid: s2", "<!-- frame-slice -->\nid: s2"),
    Edit("a mention in code", "false\n-->", "false\n-->\n\n    <!-- frame-slice"),
    Edit("an example", "terminal: false\n-->",
         "terminal: false\n-->\n\n```\n<!-- frame-slice\nid: s1\n-->\n```"),
)  # fmt: skip


@pytest.mark.parametrize("bad", BAD_SLICES, ids=str)
def test_bad_slices_are_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, GOOD_SLICES, SLICES)


@pytest.mark.parametrize("edit", SLICES_EDGES, ids=str)
def test_good_slices_are_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, GOOD_SLICES, SLICES)


def test_a_step_without_a_port_is_told() -> None:
    """Upstream refuses it elsewhere; a port may still be chosen."""
    text = GOOD_SLICES.replace("[implement-docs]", "[]")
    assert (refusals(text, SLICES), warned(text, SLICES)) == ([], ["no-port"])


def test_an_old_plan_holds_its_slices_itself() -> None:
    """They are judged there, too, and their ids are held apart."""
    old = GOOD_SLICES.replace("frame-slices-12", "plan-issue-12", 1)
    assert refusals(old, PLAN) == []
    (twice,) = refusals(old.replace("\nid: s2", "\nid: s1"), PLAN)
    assert (twice.code, twice.line) == ("duplicate-slice-id", 17)

"""Lint as a pure function: what it finds in a text, where, and what mending makes of it."""

from __future__ import annotations

import gc
import os
import re
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from checking import CONTRACT
from hypothesis import given, settings
from hypothesis import strategies as st
from nasty import TEXTS, filled
from surfaces import lint as lint_bytes
from test_bounds import bounded

from markers.hygiene.fences import blocks
from markers.lint import Finding, Options, Unreadable, decode, is_markdown, lint, mend
from markers.model import Family, Scope, Shape, Status, Surface

M = "<!-- plan-issue-12 -->"


def found(text: str, **options: bool) -> list[Finding]:
    """What lint says of *text* by the shipped contract."""
    return lint(text, CONTRACT, Options(**options))


def codes(text: str, **options: bool) -> list[str]:
    """The codes alone."""
    return [finding.code for finding in found(text, **options)]


def fixed(text: str, **options: bool) -> str:
    """*text* with its findings mended."""
    return mend(text, CONTRACT, Options(**options))[0]


LIVE = {
    "a marker": (M, "live-marker", "plan-issue-12"),
    "a placeholder": ("<!-- plan-issue-{ID} -->", "live-marker", "plan-issue-{ID}"),
    "a word for the number": ("<!-- plan-issue-N -->", "live-marker", "plan-issue-N"),
    "a retired family": (
        "<!-- first-contact-assessed-7 -->", "live-marker", "first-contact-assessed-7"
    ),
    "a hygiene-only family": (
        "<!-- frame-credit-ledger-7 -->", "live-marker", "frame-credit-ledger-7"
    ),
    "a legacy family": ("<!-- design-issue-7 -->", "live-marker", "design-issue-7"),
    "params": (
        "<!-- engagement-record-{phase}-{ID} -->", "live-marker", "engagement-record-{phase}-{ID}"
    ),
    "no number": ("<!-- pc-emission-check-report -->", "live-marker", "pc-emission-check-report"),
    "angle brackets": (
        "<!-- engagement-record-<phase>-<ID> -->", "live-marker", "engagement-record-<phase>-<ID>"
    ),
    "braces in pairs": ("<!-- plan-issue-{{ n }} -->", "live-marker", "plan-issue-{{ n }}"),
    "an expression": (
        "<!-- plan-issue-${{ github.event.issue.number }} -->",
        "live-marker",
        "plan-issue-${{ github.event.issue.number }}",
    ),
    "a command": ("<!-- plan-issue-$(gh issue) -->", "live-marker", "plan-issue-$(gh issue)"),
    "a variable": ("<!-- plan-issue-$ID -->", "live-marker", "plan-issue-$ID"),
    "a format": ("<!-- plan-issue-%s -->", "live-marker", "plan-issue-%s"),
    "a stamp": (
        "<!-- frame-slices-generated-at: <stamp> -->",
        "live-block",
        "frame-slices-generated-at: <stamp>",
    ),
    "a block": ("<!-- frame-spine ... -->", "live-block", "frame-spine ..."),
    "a block with text": ("<!-- judge-rulings pr=778 -->", "live-block", "judge-rulings pr=778"),
    "a pointer": (
        "<!-- phase-containment-ledger-ref: 5013 -->",
        "live-block",
        "phase-containment-ledger-ref: 5013",
    ),
    "a closing": ("<!-- /phase-containment-12 -->", "live-block", "/phase-containment-12"),
}  # fmt: skip


@pytest.mark.parametrize("name", LIVE)
@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ("See ", "."), ("# ", ""), ("- ", " x"), ("> ", ""), ("| a |\n| - |\n| ", " |")],
)
def test_literal_in_prose(name: str, before: str, after: str) -> None:
    """A literal is found wherever prose can be, and its inert form goes into backticks."""
    literal, code, inert = LIVE[name]
    (finding,) = found(f"Text.\n\n{before}{literal}{after}\n")
    line = before.count("\n") + 3
    column = len(before.rpartition("\n")[2]) + 1
    assert (finding.code, finding.line, finding.column) == (code, line, column)
    assert (finding.literal, finding.inert) == (literal, inert)
    assert f"`{inert}`" in finding.detail
    assert fixed(f"Text.\n\n{before}{literal}{after}\n") == f"Text.\n\n{before}`{inert}`{after}\n"


@pytest.mark.parametrize("name", LIVE)
@pytest.mark.parametrize("ticks", ["`", "``"])
def test_backticks_hide_nothing(name: str, ticks: str) -> None:
    """A literal in inline code is live as well, and keeps the backticks that it has."""
    literal, code, inert = LIVE[name]
    text = f"one `x`\ntwo {ticks}{literal}{ticks} three\n"
    assert codes(text) == [code]
    assert fixed(text) == f"one `x`\ntwo {ticks}{inert}{ticks} three\n"


def test_opening_alone_in_inline_code() -> None:
    """An opening that is named alone ends where its inline code ends."""
    text = "It opens with `<!-- judge-rulings` and closes with `-->`.\n"
    assert fixed(text) == "It opens with `judge-rulings` and closes with `-->`.\n"


@pytest.mark.parametrize(
    "text",
    [
        "<!-- prettier-ignore -->",
        "<!-- TODO: plan-issue-12 -->",
        "<!-- [[[cog",
        "<!-- plan-issue -->",
        "<!-- my-plan-issue-12 -->",
        "plan-issue-12 and `frame-spine`",
        "brief_dispositions:\nfinding_dispositions:",
        "<!-- refs-injected-12 -->",
        "&lt;!-- plan-issue-12 --&gt;",
        "<!-- -->",
        "",
    ],
)
def test_nothing_to_find(text: str) -> None:
    """Other comments, names without delimiters, YAML heads and prompt markers are no finding."""
    assert found(text) == found(text, strict=True) == []


EXAMPLES = {
    "a fence": f"```html\n{M}\n```\n",
    "a fence of tildes": f"~~~\n{M}\n",
    "a fence in a list": f"- a\n\n  ```\n  {M}\n  ```\n",
    "indented code": f"Text.\n\n    {M}\n",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_in_code_blocks(name: str) -> None:
    """A code block may hold examples; strictly read they count, and get no backticks."""
    text = EXAMPLES[name]
    assert codes(text) == []
    assert codes(text, strict=True) == ["live-marker"]
    assert fixed(text, strict=True) == text.replace(M, "plan-issue-12")


def test_block_of_several_lines_is_left_to_people() -> None:
    """Taking the opening's delimiter alone would show the rest: it is reported, not mended."""
    text = "Text.\n\n<!-- frame-spine\nports: {}\n-->\n"
    (finding,) = found(text)
    assert (finding.code, finding.line, finding.edit) == ("live-block", 3, None)
    assert "code fence" in finding.detail
    assert fixed(text) == text


FRONT = f"---\nname: x\ndescription: {M} is written\n---\n\n# Title {M}\n"


def test_front_matter() -> None:
    """In YAML front matter a backtick may not begin a value, so the form goes without."""
    assert fixed(FRONT) == (
        "---\nname: x\ndescription: plan-issue-12 is written\n---\n\n# Title `plan-issue-12`\n"
    )


def test_code_below_front_matter() -> None:
    """Lines are counted from the file's first one, front matter included."""
    text = f"---\na: b\n---\n```\n{M}\n```\n`{M}`\n"
    assert [(f.line, f.column) for f in found(text)] == [(7, 2)]
    assert codes(f"---\nno end\n{M}\n") == ["live-marker"]


@pytest.mark.parametrize(
    "text",
    [f"a ` lonely {M}", f"x `{M} beside", f"`x`{M}"],
)
def test_no_backticks_beside_backticks(text: str) -> None:
    """Where new backticks could pair up with others, the inert form goes without."""
    assert fixed(text) == re.sub(r"<!-- (.*?) -->", r"\1", text)


def test_backticks_in_the_literal() -> None:
    """Words that hold backticks are put between longer runs of them."""
    assert fixed("<!-- frame-slice `x` -->") == "`` frame-slice `x` ``"
    assert fixed("See <!-- frame-slice ``x`` -->.") == "See ``` frame-slice ``x`` ```."


def test_comments_and_escapes_pair_no_backticks() -> None:
    """A backtick in a comment or behind a backslash opens no code."""
    assert fixed(f"a <!-- ` --> {M}") == "a <!-- ` --> `plan-issue-12`"
    assert fixed(f"\\` {M}") == "\\` `plan-issue-12`"


def test_two_on_a_line() -> None:
    """Each literal is a finding of its own."""
    assert fixed(f"{M} {M}\n") == "`plan-issue-12` `plan-issue-12`\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_mending_touches_nothing_else(end: str, last: str) -> None:
    """Line ends of every kind, blanks and a missing end stay as they are."""
    text = f"\tA  {end}{M}\t{end}{end}\u2028\x0c é {M}{end}\r\nmixed\n{end}{last}"
    assert fixed(text) == text.replace(M, "`plan-issue-12`")


def test_an_overlays_family_is_live() -> None:
    """Families that the user or the checkout adds count like the shipped ones."""
    note = Family(
        name="team-note",
        template="<!-- team-note-{ID} -->",
        status=Status.ACTIVE,
        scope=Scope.COMMENT,
        shape=Shape.UPSERT,
        surfaces=(Surface.ISSUE,),
    )
    more = MappingProxyType({**CONTRACT.families, note.name: note})
    text = "`<!-- team-note-7 -->`"
    assert codes(text) == []
    assert [f.inert for f in lint(text, replace(CONTRACT, families=more), Options())] == [
        "team-note-7"
    ]


ALLOW = "<!-- persist-marker: allow -->"
ALLOWED = {
    "the same line": f"{M} {ALLOW}\n",
    "the line before": f"{ALLOW}\n{M}\n",
    "with a reason": f"{M} <!-- persist-marker: allow: the template's own line -->\n",
    "in a quote": f"> {ALLOW}\n> {M}\n",
    "the whole file": f"{M}\n\n{M}\n\n<!-- persist-marker: allow-file -->\n",
    "a callout": f"{ALLOW}\nSurvival: for ever; contract: SMC-01\n",
}
NOT_ALLOWED = {
    "two lines before": f"{ALLOW}\n\n{M}\n",
    "the line after": f"{M}\n{ALLOW}\n",
    "before, with text beside it": f"x {ALLOW}\n{M}\n",
    "shown in inline code": f"`{ALLOW}` {M}\n",
    "shown in a fence": f"```\n<!-- persist-marker: allow-file -->\n```\n{M}\n",
    "another word": f"{M} <!-- persist-marker: allowed -->\n",
}


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(name: str) -> None:
    """An author lets a finding stand by a comment."""
    assert codes(ALLOWED[name]) == []


@pytest.mark.parametrize("name", NOT_ALLOWED)
def test_not_allowed(name: str) -> None:
    """A comment that allows covers its line or the next, and nothing as an example of itself."""
    assert codes(NOT_ALLOWED[name]) == ["live-marker"]


def test_other_files_than_markdown() -> None:
    """Code builds markers: only one that begins a line counts, and nothing is mended."""
    text = f'marker = "{M}"\n'
    assert codes(text, markdown=False) == []
    assert codes(text, markdown=False, strict=True) == ["live-marker"]
    (finding,) = found(f'text = """\n  {M}\n"""\n', markdown=False)
    assert (finding.line, finding.column, finding.edit) == (2, 3, None)
    assert codes(f"# {ALLOW}\n{M} # {ALLOW}\n", markdown=False) == []


@pytest.mark.parametrize(
    ("name", "markdown"),
    [("a.md", True), ("A.MD", True), ("b/c.mdx", True), ("n.txt", True), ("a.py", False)],
)
def test_markdown_by_name(name: str, markdown: bool) -> None:
    """The ending of a file's name says whether it is read as Markdown."""
    assert is_markdown(name) is markdown


CALLOUTS: dict[str, tuple[str, list[str]]] = {
    "right": ("Survival: durable; contract: SMC-08", []),
    "right, with surface": ("Survival: within-conversation:hooks; contract: SMC-07", []),
    "decorated": ("> **Survival:** `durable`; **contract:** [SMC-08](rows.md#smc-08).", []),
    "other case": ("survival: durable; Contract: smc-08", []),
    "wrapped": ("text; Survival: durable;\n> contract:\n> SMC-08", []),
    "a row each of two callouts": (
        "Survival: durable; contract: SMC-08. Survival: durable; contract: SMC-01", []
    ),
    "other words": ("Survival under contract SMC-08 is sure. Survival: high, see SMC-08.", []),
    "several rows": ("Survival: durable; contract: SMC-01, SMC-02 and SMC-03", []),
    "several labels": ("Survival: within-conversation, durable; contract: SMC-01", []),
    "a template": ("Survival: {label}; contract: SMC-NN", []),
    "a template in capitals": ("Survival: LABEL; contract: SMC-01", []),
    "an example": ("```\nSurvival: for ever; contract: SMC-01\n```", []),
    "other prose": ("Survival: good; contract: none. Survival; contract: in-memory", []),
    "without a row": ("Survival: `within-worktree`. It is local.", []),
    "unknown label": ("Survival: session; contract: SMC-18", ["survival-label"]),
    "label in other case": ("Survival: Durable; contract: SMC-08", ["survival-label"]),
    "surface on per-process": ("Survival: per-process:hooks; contract: SMC-08", ["survival-label"]),
    "empty surface": ("Survival: durable:; contract: SMC-08", ["survival-label"]),
    "surface is missing": (
        "Survival: within-conversation; contract: SMC-07", ["survival-not-allowed"]
    ),
    "surface too much": ("Survival: durable:hooks; contract: SMC-08", ["survival-not-allowed"]),
    "not the row's label": ("Survival: durable; contract: SMC-05", ["survival-not-allowed"]),
    "not the second row's": (
        "Survival: durable; contract: SMC-08, SMC-05", ["survival-not-allowed"]
    ),
    "unknown row": ("Survival: durable; contract: SMC-99", ["survival-row"]),
    "row not filled in": ("Survival: durable; contract: SMC-XX", ["survival-row"]),
    "retired row": ("Survival: durable; contract: SMC-04", ["survival-retired"]),
    "all wrong": (
        "Survival: session; contract: SMC-04, SMC-99",
        ["survival-label", "survival-retired", "survival-row"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLOUTS)
def test_callout(name: str) -> None:
    """Label, row, the row's status and the row's labels are checked, each with its own code."""
    text, expected = CALLOUTS[name]
    assert codes(text) == expected
    assert codes(text, markdown=False) == (["survival-label"] if name == "an example" else expected)


FAILED = {
    "a comma": "Survival: durable, contract: SMC-08",
    "a dash": "Survival - durable; contract: SMC-08",
    "dashes": "Survival \u2013 durable \u2014 contract SMC-08",
    "nothing between": "Survival: durable contract: SMC-08",
    "a full stop": "Survival: durable. Contract: SMC-08.",
    "equals": "Survival = `durable`; contract = `SMC-08`",
    "brackets": "Survival: durable (contract: SMC-08)",
    "no colon behind survival": "Survival durable; contract: SMC-08",
    "no colon behind contract": "**Survival:** durable; **contract** [SMC-08](rows.md)",
    "a verb": "Survival is durable; contract: SMC-08",
    "no contract": "Survival: durable; SMC-08",
    "two semicolons": "Survival: durable;; contract: SMC-08",
    "more than one contract": "Survival: durable; contracts: SMC-08",
    "wrapped": "Survival: durable,\n> contract: SMC-08",
}


@pytest.mark.parametrize("name", FAILED)
def test_what_was_meant_as_a_callout(name: str) -> None:
    """A callout of another form is none to those who look for it: the right form is told."""
    (finding,) = found(FAILED[name])
    assert (finding.code, finding.edit) == ("survival-form", None)
    assert "write 'Survival: durable; contract: SMC-08'" in finding.detail


def test_what_was_meant_with_more_labels_and_rows() -> None:
    """All labels and rows go into the right form, and a wrong label into a finding."""
    (several,) = found("Survival: within-conversation, durable, contract: SMC-01, SMC-03")
    assert "'Survival: within-conversation, durable; contract: SMC-01, SMC-03'" in several.detail
    assert codes("Survival: session, contract: SMC-99") == ["survival-form"]
    assert codes("Survival: {label}, contract: SMC-01") == []


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("Survival: session; contract: SMC-18", "'session' is not a survival label: per-dispatch"),
        ("Survival: durable; contract: SMC-05", "does not allow 'durable': it lists within-conv"),
        ("Survival: durable; contract: SMC-99", "there is no row 'SMC-99'"),
        ("Survival: durable; contract: SMC-04", "SMC-04 is retired"),
    ],
)
def test_callouts_fault_in_words(text: str, detail: str) -> None:
    """What is wrong with a callout is said with the value and the rule; nothing is mended."""
    (finding,) = found(f"A.\nB {text}")
    assert detail in finding.detail
    assert (finding.line, finding.column, finding.literal) == (2, 3, text)
    assert (finding.inert, finding.edit) == (None, None)


@pytest.mark.parametrize("row_id", [row.id for row in CONTRACT.rows.values()])
def test_every_row_allows_exactly_its_labels(row_id: str) -> None:
    """A callout with one of the row's own labels is right, unless the row is retired."""
    row = CONTRACT.row(row_id)
    expected = ["survival-retired"] if row.status is Status.RETIRED else []
    for survival in row.survival:
        assert codes(f"Survival: {survival.label}; contract: {row_id}") == expected


PLAN = "Write `/memories/session/plan-issue-{ID}.md` first.\n"
SAID = "Survival: within-conversation; contract: SMC-01\n"
FAR = "x\n\n" * 20
STATE = {
    "nothing said": (PLAN, 1),
    "said": (PLAN + SAID, 0),
    "said of another row": (PLAN + SAID.replace("01", "03"), 1),
    "said in the section": (f"# A\n{SAID}{FAR}{PLAN}# B\n", 0),
    "said near, in another section": (f"# A\n{SAID}# B\n{PLAN}", 0),
    "said far, in another section": (f"# A\n{SAID}# B\n{FAR}{PLAN}", 1),
    "once a section": (f"# A\n{PLAN}{PLAN}\n# B\n\n{PLAN}", 2),
    "a heading in code is none": (f"# A\n{SAID}```\n# B\n```\n{FAR}{PLAN}", 0),
    "a concrete file": ("/memories/session/design-issue-12.md", 1),
    "a file of two rows": ("/memories/session/review-state-12.md", 1),
    "several placeholders": ("/memories/session/plan-bundle-1-2-3.md", 1),
    "a namespace": ("List `/memories/session/` and `.copilot-tracking/`.", 0),
    "a retired row": ("/memories/session/first-contact-assessed-{ID}.md", 0),
    "another file": ("/memories/session/plan-issue-12.mdx-2 plan-issue-{ID}.md", 0),
    "an example": (f"```\n{PLAN}```\n", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", STATE)
def test_state_without_callout(name: str) -> None:
    """On demand, a row's local file wants a callout of that row near: same section or ten lines."""
    text, times = STATE[name]
    assert codes(text) == []
    assert codes(text, survival=True) == ["survival-missing"] * times


def test_state_without_callout_in_words() -> None:
    """The rows are named, with a callout that would do."""
    (finding,) = found("a\n/memories/session/review-state-12.md", survival=True)
    assert finding.literal == "/memories/session/review-state-12.md"
    assert "SMC-05 or SMC-06" in finding.detail
    (callout,) = re.findall(r"'(.*)'", finding.detail)
    assert codes(f"{callout}\n/memories/session/review-state-12.md", survival=True) == []


def test_findings_come_in_the_texts_order() -> None:
    """Whatever rule found it, what stands first is told first."""
    text = f"Survival: session; contract: SMC-18 {M}\n{M}\nSurvival: x; contract: SMC-01 {M}\n"
    assert [f.line for f in found(text)] == [1, 1, 2, 3, 3]
    assert codes(text)[:2] == ["survival-label", "live-marker"]


def test_what_is_shown_is_bounded() -> None:
    """A long literal is shown with 80 characters, and mended as a whole."""
    text = f"<!-- frame-slice {'x' * 500} -->"
    (finding,) = found(text)
    assert len(finding.literal) == len(finding.inert or "") == 80
    assert fixed(text) == f"`frame-slice {'x' * 500}`"


def test_bytes() -> None:
    """A byte-order mark is kept and counts for nothing; what is no UTF-8 text is not read."""
    prose = decode(b"\xef\xbb\xbf" + M.encode())
    assert found(prose.text)[0].column == 1
    assert prose.encoded(fixed(prose.text)) == b"\xef\xbb\xbf`plan-issue-12`"
    for data, why in ((b"a\0b", "binary"), (b"\xff\xfe", "UTF-8"), (b"\xed\xa0\x80", "UTF-8")):
        with pytest.raises(Unreadable, match=why):
            decode(data)


PIECES = st.sampled_from(
    [*(row[0] for row in LIVE.values()), "<!--", "-->", "`", "``", "\\", "\n", "\r\n", "\n\n",
     "```\n", "---\n", "    ", "> ", "- ", "| ", "x", " ", "\u200b", "<!-- frame-spine", "<div>",
     "<!", "--", ALLOW, "# ", "Survival: durable; contract: SMC-05", "plan-issue-1 -->"]
)  # fmt: skip
PROSE = st.lists(PIECES, max_size=14).map("".join)


@settings(max_examples=400, deadline=None)
@given(PROSE, st.booleans())
def test_mending_leaves_nothing_to_mend(text: str, strict: bool) -> None:
    """Whatever can be mended is, and each mending takes an opening away."""
    after, done = mend(text, CONTRACT, Options(strict=strict))
    left = found(after, strict=strict)
    assert [finding for finding in left if finding.edit] == []
    assert after.count("<!--") <= text.count("<!--") - len(done)
    lint_bytes(text.encode())


@pytest.mark.needs("recordings")
def test_recorded_mentions() -> None:
    """In real bodies the mention in prose is mended, and the block below it is left to people."""
    folder = Path(os.environ["RECORDED_DIR"]) / "agent-orchestra"
    for name in ("frame-slice", "frame-spine", "judge-rulings", "pipeline-metrics"):
        text = (folder / f"{name}-prose-mention-plus-real.txt").read_bytes().decode()
        mention, block = found(text)
        assert (mention.code, block.code) == ("live-block", "live-block")
        assert mention.edit is not None
        assert block.edit is None
        assert [f.line for f in found(fixed(text))] == [block.line]


def test_the_collector_does_not_double_the_time() -> None:
    """While a long text is parsed the garbage collector rests, and afterwards it is as it was."""
    runs: list[str] = []

    def note(phase: str, _: dict[str, int]) -> None:
        runs.append(phase)

    blocks("# the parser is there\n")
    gc.collect()
    gc.callbacks.append(note)
    try:
        blocks("# x\n" * 5000)
    finally:
        gc.callbacks.remove(note)
    assert (runs, gc.isenabled()) == ([], True)


@pytest.mark.parametrize("name", TEXTS)
def test_bounded_time(name: str) -> None:
    """Whatever stands in a file is looked through in time, also when all rules are asked."""
    text = filled(TEXTS[name])
    for markdown in (True, False):
        with bounded():
            mend(text, CONTRACT, Options(markdown=markdown, survival=True))

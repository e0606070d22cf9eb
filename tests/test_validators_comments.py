"""Credit inputs, sentinels, accounts and queues: what is refused by name, and what is good."""

from __future__ import annotations

import pytest
from checking import CONTRACT
from judging import Bad, Edit, assert_good, assert_refused, body, refusals, told, warned

from markers.body import Body
from markers.payload.account import Verdict, verdict

CREDIT = "credit-input"
GOOD_CREDIT = body(
    """
    <!-- credit-input-plan-12 -->

    ```yaml
    port: plan
    adapter: issue-planner
    evidence: "plan comment 77"
    ```
    """
)
EVIDENCE = 'evidence: "plan comment 77"'

BAD_CREDITS = (
    Bad("no port", "port: plan\n", "", "missing", 4, "port: is missing"),
    Bad("no adapter", "adapter: issue-planner\n", "", "missing", 4, "adapter: is missing"),
    Bad("no evidence", f"{EVIDENCE}\n", "", "missing", 4, "evidence: is missing"),
    Bad("other port", "port: plan", "port: design", "port", 4, "'design' is not what the marker"),
    Bad("no such port", "port: plan", "port: review", "enum", 4, "review"),
    Bad("port is a number", "port: plan", "port: 1", "enum", 4, "1 is not"),
    Bad("blank adapter", "adapter: issue-planner", "adapter:", "type", 5, "null"),
    Bad("empty evidence", EVIDENCE, 'evidence: ""', "pattern", 6, "one text"),
    Bad("evidence in a mapping", EVIDENCE, "evidence:\n  plan: 77", "type", 7, "not a mapping"),
    Bad("evidence in a list", EVIDENCE, "evidence: [plan, 77]", "type", 6, "not a list"),
    Bad("evidence is a number", EVIDENCE, "evidence: 77", "type", 6, "a text"),
    Bad("duplicate key", "port: plan", "port: plan\nport: plan", "duplicate-key", 5, "twice"),
    Bad("two fences", "```yaml", "```yml\na: b\n```\n```yaml", "fence-twice", 6, "on line 3"),
    Bad("no fence", "```yaml\n", "", "fence-missing", 6, "does not say yaml"),
    Bad("fence in a list", "```yaml", "* ```yaml", "fence-missing", 3, "in a list"),
    Bad("fence of tildes", "```yaml", "~~~yaml", "fence-missing", 3, "tildes"),
    Bad("unclosed fence", '77"\n```', '77"', "fence-unclosed", 3, "never closed"),
    Bad("alias", EVIDENCE, "evidence: *plan", "alias", 6, "*plan"),
    Bad("a list", "port: plan", "- port: plan", "syntax", 5, "not YAML"),
)

CREDIT_EDGES = (
    Edit("as it is", "port: plan", "port: plan"),
    Edit("further keys", "port: plan", "port: plan\nnote: [1]"),
    Edit("prose around it", "```yaml", "See below.\n\n```yaml"),
    Edit("a plain text", EVIDENCE, "evidence: yes"),
    Edit("a date is a text", EVIDENCE, "evidence: 2026-05-01"),
    Edit("a block scalar", EVIDENCE, "evidence: |-\n  two\n  lines"),
    Edit("a marker in a text", EVIDENCE, 'evidence: "<!-- plan-issue-12 -->"'),
    Edit("blanks behind the fence", "```yaml", "``` yaml  "),
    Edit("a comment in it", "port: plan", "# the port\nport: plan  # again"),
)


@pytest.mark.parametrize("bad", BAD_CREDITS, ids=str)
def test_a_bad_credit_input_is_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, GOOD_CREDIT, CREDIT, port="plan")


@pytest.mark.parametrize("edit", CREDIT_EDGES, ids=str)
def test_a_good_credit_input_is_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, GOOD_CREDIT, CREDIT, port="plan")


def test_a_contradiction_of_thousands_is_told_in_few_words() -> None:
    """The first lines that contradict one another, and how many more there are."""
    text = "<!-- completion-account-12 -->\n" + f"{LINE}: true\n{LINE}: false\n" * 4000
    (problem,) = told(text, ACCOUNT)
    assert "lines 2, 3, 4, 5, 6 and 7,995 more contradict" in problem.detail


def test_many_warnings_refuse_nothing() -> None:
    """That there are more of them than are told is a warning, too."""
    entry = "- {{stable_finding_key: gh-1, pass: 1, disposition: dismiss, classification: routine,"
    text = (
        "<!-- review-dispositions-12 -->\n\n```yaml\nschema_version: 1\npasses_run: [1]\nentries:\n"
    )
    text += f"{entry.format()} disposition_rationale: a}}\n" * 60 + "```\n"
    assert refusals(text, "review-dispositions") == []
    assert warned(text, "review-dispositions") == ["duplicate"] * 50 + ["more"]


SENTINEL = "review-judge-produced"
MARKER = "<!-- review-judge-produced-12 -->"


@pytest.mark.parametrize(
    "text",
    [MARKER, f"{MARKER}\n", f"{MARKER}  \t\n", f"{MARKER}\r\n", f"{MARKER}\r", f"{MARKER}\n\n\n",
     f"\n{MARKER}", f"{MARKER}\n \t\n"],
)  # fmt: skip
def test_a_sentinel_is_its_marker(text: str) -> None:
    """What normalising takes away does not count."""
    assert told(text, SENTINEL) == ()


@pytest.mark.parametrize(
    ("more", "line", "words"),
    [
        ("\nDone.", 2, "'Done.'"),
        ("\n\n\n.", 4, "'.'"),
        ("\n<!-- -->", 2, "'<!-- -->'"),
        ("\n```yaml\na: 1\n```", 2, "```yaml"),
        ("\n\u00a0", 2, "\\u00a0"),
        ("\n\u200b", 2, "\\u200b"),
        (" Done.", 1, "its marker alone"),
        ("\nverdict: " + "x" * 500, 2, "…"),
    ],
)
def test_a_sentinel_with_more_is_refused(more: str, line: int, words: str) -> None:
    """The first line that is too many is named."""
    (problem,) = told(MARKER + more, SENTINEL)
    assert (problem.code, problem.line) == ("not-empty", line)
    assert words in problem.detail


ACCOUNT = "completion-account"
LINE = "adversarial_review_ran"

VERDICTS = [
    (f"{LINE}: true", Verdict(word="ran", value="true", line=3)),
    (f"{LINE}: Yes", Verdict(word="ran", value="Yes", line=3)),
    (f"{LINE}: on", Verdict(word="ran", value="on", line=3)),
    (f"{LINE}: t", Verdict(word="ran", value="t", line=3)),
    (f"{LINE.upper()}:y", Verdict(word="ran", value="y", line=3)),
    (f"- {LINE}: true", Verdict(word="ran", value="true", line=3)),
    (f"> * {LINE}: true", Verdict(word="ran", value="true", line=3)),
    (f"**{LINE}**: `true`.", Verdict(word="ran", value="true", line=3)),
    (f'{LINE}: "true"  # we did', Verdict(word="ran", value="true", line=3)),
    (f"{LINE}: false", Verdict(word="declared-not-run", value="false", line=3)),
    (f"{LINE}: N", Verdict(word="declared-not-run", value="N", line=3)),
    (f"{LINE}: off", Verdict(word="declared-not-run", value="off", line=3)),
    (f"{LINE}: maybe", Verdict(word="value-unrecognised", value="maybe", line=3)),
    (f'{LINE}: ""', Verdict(word="value-unrecognised", value="", line=3)),
    ("", Verdict(word="unasserted")),
    (f"{LINE}:", Verdict(word="unasserted")),
    (f"{LINE}: true and more", Verdict(word="unasserted")),
    (f"We say {LINE}: true", Verdict(word="unasserted")),
    (f"my_{LINE}: true", Verdict(word="unasserted")),
    (f"```yaml\n{LINE}: true\n```", Verdict(word="unasserted")),
    (f"~~~\n{LINE}: true", Verdict(word="unasserted")),
    (f"<!--\n{LINE}: true\n-->", Verdict(word="unasserted")),
    (f"<!-- {LINE}: true -->", Verdict(word="unasserted")),
    (f"See <!-- here\n{LINE}: true\n--> or there.", Verdict(word="unasserted")),
    (f"See <!-- here\n\n{LINE}: true", Verdict(word="ran", value="true", line=5)),
    (f"note: |\n  {LINE}: true\n", Verdict(word="unasserted")),
    (f"- note: >-  # short\n\n    {LINE}: true", Verdict(word="unasserted")),
    (f"note: |2\n  more\n{LINE}: true", Verdict(word="ran", value="true", line=5)),
    (f"> note: |\n>   {LINE}: true", Verdict(word="unasserted")),
    (f"> note: |\n>\n>   {LINE}: true", Verdict(word="unasserted")),
    (f">note: |\n>  {LINE}: true", Verdict(word="unasserted")),
    (f"> > note: |\n>>   {LINE}: true", Verdict(word="unasserted")),
    (f"> - note: >-\n>     {LINE}: true", Verdict(word="unasserted")),
    (f"- > note: |\n  >   {LINE}: true", Verdict(word="unasserted")),
    (f"> - > note: |\n>   >   {LINE}: true", Verdict(word="unasserted")),
    (f"> note: |\n  {LINE}: true", Verdict(word="unasserted")),
    (f"> note: |\n>   more\n> {LINE}: true", Verdict(word="ran", value="true", line=5)),
    (f">note: |\n> {LINE}: true", Verdict(word="ran", value="true", line=4)),
    (f"> note: |\n{LINE}: true", Verdict(word="ran", value="true", line=4)),
    (f"note: |\n> {LINE}: true", Verdict(word="ran", value="true", line=4)),
    (f"> # note: |\n>   {LINE}: true", Verdict(word="ran", value="true", line=4)),
    (f"- |\n  {LINE}: true", Verdict(word="unasserted")),
    (f"? >\n  {LINE}: true", Verdict(word="unasserted")),
    (f'"a: b": |\n  {LINE}: true', Verdict(word="unasserted")),
    (f"note: !text &a |\n  {LINE}: true", Verdict(word="unasserted")),
    (f"- **{LINE}:** true", Verdict(word="unasserted")),
    (f"**{LINE}: true**", Verdict(word="ran", value="true", line=3)),
    (f"{LINE}: true\n{LINE}: yes", Verdict(word="ran", value="true", line=3, duplicates=(4,))),
    (f"{LINE}: true\n{LINE}: no", Verdict(word="duplicate-assertion", line=3, duplicates=(4,))),
    (f"{LINE}: a\n{LINE}: b\n{LINE}: a",
     Verdict(word="duplicate-assertion", line=3, duplicates=(4, 5))),
    (f"{LINE}: true\n```\n{LINE}: no\n```", Verdict(word="ran", value="true", line=3)),
]  # fmt: skip


@pytest.mark.parametrize(("account", "wanted"), VERDICTS)
def test_the_verdict_on_an_account(account: str, wanted: Verdict) -> None:
    """A live assertion counts, wherever its line may stand; what is only shown does not."""
    assert verdict(Body(f"<!-- completion-account-12 -->\n\n{account}")) == wanted


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@pytest.mark.parametrize(("account", "wanted"), VERDICTS)
def test_line_ends_change_no_verdict(account: str, wanted: Verdict, end: str) -> None:
    """CRLF and CR bodies are read as LF bodies are."""
    text = f"<!-- completion-account-12 -->\n\n{account}"
    assert verdict(Body(text.replace("\n", end))) == wanted


@pytest.mark.parametrize(("account", "wanted"), VERDICTS)
def test_an_account_is_warned_of_and_never_refused(account: str, wanted: Verdict) -> None:
    """Each verdict but `ran` is told with its own name and line."""
    text = f"<!-- completion-account-12 -->\n\n{account}"
    assert refusals(text, ACCOUNT) == []
    said = [(p.code, p.line) for p in told(text, ACCOUNT)]
    assert said == ([] if wanted.word == "ran" else [(wanted.word, wanted.line)])


def test_the_registry_names_the_verdicts() -> None:
    """The words of the registry are the words of the code."""
    names = CONTRACT.family(ACCOUNT).payload["verdicts"]
    assert {wanted.word for _, wanted in VERDICTS} == set(names)


def test_what_a_warning_says() -> None:
    """It shows the value, or the lines that contradict one another."""
    text = f"<!-- completion-account-12 -->\n{LINE}: true\n{LINE}: no"
    (problem,) = told(text, ACCOUNT)
    assert "lines 2, 3 contradict" in problem.detail
    (problem,) = told(text.replace("true", "x").replace("no", "X"), ACCOUNT)
    assert problem.detail.startswith("'x' is neither")


QUEUE = "proposed-followups"
GOOD_QUEUE = body(
    """
    <!-- proposed-followups-12 -->

    state: proposed

    ```yaml
    schema_version: 1
    proposals:
      - canonical_title: "[Follow-up] Cut the knot: at last"
        rationale: "It was \\"tied\\" twice.\\nOnce is enough."
        disposition: "defer"
        severity: "low"
        board_position: "next"
        followup_key: "followup-0123456789abcdef"
        originating_head_sha: "0123abc"
        ruling_link: ""
      - canonical_title: "Tie it again"
        rationale: ""
        disposition: "defer"
        severity: "low"
        board_position: ""
        followup_key: "followup-fedcba9876543210"
        originating_head_sha: ""
        ruling_link: ""
        target_repo: "some/where"
    ```
    """
)
STATE = "state: proposed"
FIRST_KEY = 'followup_key: "followup-0123456789abcdef"'

BAD_QUEUES = (
    Bad("no state", f"{STATE}\n", "", "state", None, "no line 'state: proposed'"),
    Bad("no such state", STATE, "state: done", "state", 3, "'done' is not one of"),
    Bad("two states", STATE, f"{STATE}\nstate: claimed", "state", 4, "see line 3"),
    Bad("state below", f"{STATE}\n\n```yaml", "```yaml", "state", None, "before the payload"),
    Bad("state in capitals", STATE, "state: Proposed", "state", 3, "'Proposed'"),
    Bad("no version", "schema_version: 1\n", "", "missing", 6, "schema_version: is missing"),
    Bad("unknown version", "version: 1", "version: 2", "const", 6, "2 is not 1"),
    Bad("no list", "proposals:\n", "proposals: none\nothers:\n", "type", 7, "a list"),
    Bad("no title", 'canonical_title: "Tie it again"', 'title: "Tie it again"', "missing", 16,
        "proposals[1].canonical_title: is missing"),
    Bad("capitals in a key", "0123456789abcdef", "0123456789ABCDEF", "pattern", 13, "lower case"),
    Bad("short key", "0123456789abcdef", "0123456789abcde", "pattern", 13, "16 hexadecimal"),
    Bad("key twice", "followup-fedcba9876543210", "followup-0123456789abcdef", "duplicate", 21,
        "see line 13"),
    Bad("wrong type", 'board_position: "next"', "board_position: 3", "type", 12, "a text"),
    Bad("duplicate key", FIRST_KEY, f'{FIRST_KEY}\n    {FIRST_KEY}', "duplicate-key", 14, "twice"),
    Bad("alias", FIRST_KEY, "followup_key: *key", "alias", 13, "*key"),
    Bad("two fences", "```yaml", "```yaml\na: 1\n```\n\n```yaml", "fence-twice", 9, "line 5"),
    Bad("fence in a list", "```yaml", "1. ```yaml", "fence-missing", 5, "in a list"),
    Bad("closing fence indented", '"some/where"\n```', '"some/where"\n ```', "fence-closing", 25,
        "three backticks and nothing else"),
    Bad("closing fence too long", '"some/where"\n```', '"some/where"\n````', "fence-closing", 25,
        "nothing else"),
)  # fmt: skip

QUEUE_EDGES = (
    Edit("as it is", STATE, STATE),
    Edit("claimed", STATE, "state: claimed"),
    Edit("consumed, blanks around it", STATE, "  state:\tconsumed  "),
    Edit("nothing queued", GOOD_QUEUE[GOOD_QUEUE.index("proposals:") : -3], "proposals: []\n"),
    Edit("no quotes", '"low"\n    board_position: "next"', "low\n    board_position: next"),
    Edit("backticks in a text", "at last", "```at last```"),
    Edit("a marker in a text", "at last", "<!-- proposed-followups-12 -->"),
    Edit("a state in the payload", "schema_version: 1", "state: unknown\nschema_version: 1"),
    Edit("prose between", STATE, f"{STATE}\n\nTwo of them."),
    Edit("further keys", '"some/where"', '"some/where"\n    note: 1'),
)


@pytest.mark.parametrize("bad", BAD_QUEUES, ids=str)
def test_a_bad_queue_is_refused_by_name(bad: Bad) -> None:
    """Code, line and words say what is wrong."""
    assert_refused(bad, GOOD_QUEUE, QUEUE)


@pytest.mark.parametrize("edit", QUEUE_EDGES, ids=str)
def test_a_good_queue_is_not_refused(edit: Edit) -> None:
    """What is unusual and right passes."""
    assert_good(edit, GOOD_QUEUE, QUEUE)
    assert warned(edit.of(GOOD_QUEUE), QUEUE) == []

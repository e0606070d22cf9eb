"""The text of SESSION-STATE.md: what verbs change of it, what they leave alone, what hooks show."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markers.caches import session_md as store
from markers.caches import session_sections as sections
from markers.caches.session_template import ORCHESTRATED, ORCHESTRATION, TEMPLATE
from markers.errors import Failed, MarkersError, Refused, Usage

DAY = "2031-03-04"
LIVE = """\
<!--
SESSION-STATE: live.
-->

# Session State

## Constraints
- Rust only, no Python in generated code
<!-- Hard rules in force. -->
- <!-- e.g. placeholder, never injected -->

## Decisions
- [2031-03-04] SQLite over Postgres for the spike

## Existing infrastructure
- [surveyed:RabbitMQ] broker on :5552 (docker-compose), reuse
- [redis] cache, and prose about postgres
- <!-- [surveyed:mailhog] placeholder -->

## Open threads
- confirm that the PreCompact hook fires on manual compaction
"""
"""A file as the other writer leaves it."""


def added(verb: str, text: str, before: str = LIVE) -> str:
    """The file after a verb that takes a text."""
    return store.add(before, store.SECTION_OF[verb], store.entry_of(verb, text, today=DAY))


def line_below(heading: str, text: str) -> str:
    """The line that follows a heading."""
    lines = text.split("\n")
    return lines[lines.index(heading) + 1]


ODD = [
    pytest.param(r"C:\new\table \d+ \\ %s & $HOME", id="backslashes"),
    pytest.param("\"double\" 'single' `ticks`", id="quotes"),
    pytest.param("## Decisions", id="a heading"),
    pytest.param("- [ ] -- > <!- ->", id="nearly comments"),
    pytest.param("  blanks around  ", id="blanks"),
    pytest.param("Ünïcödé \U0001f600 \x1b[31m\ttab", id="more than ASCII"),
]


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("verb", ["constraint", "decision", "thread"])
def test_md_05_text_is_verbatim(verb: str, text: str) -> None:
    """What is said is stored letter by letter, backslashes included."""
    stamp = f"[{DAY}] " if verb == "decision" else ""
    heading = f"## {store.SECTION_OF[verb]}"
    assert line_below(heading, added(verb, text)) == f"- {stamp}{text}"


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("[surveyed:Rabbit_1.x-y] broker", "[surveyed:Rabbit_1.x-y] broker"),
        ("[surveyed:a]b", "[surveyed:a]b"),
        ("[Rabbit] broker", "[surveyed:Rabbit] broker"),
        ("[Rabbit]broker", "[surveyed:Rabbit] broker"),
        ("[rabbit]", "[surveyed:rabbit]"),
        ("RabbitMQ broker on :5552", "[surveyed:RabbitMQ] broker on :5552"),
        ("rabbit  two blanks", "[surveyed:rabbit]  two blanks"),
        ("rabbit", "[surveyed:rabbit]"),
        ("queue(s) behind the VPN", "queue(s) behind the VPN"),
        (" rabbit after a blank", " rabbit after a blank"),
        ("postgres:16 database", "postgres:16 database"),
        ("[two words] there", "[two words] there"),
    ],
)
def test_md_06_what_infra_stores(text: str, entry: str) -> None:
    """The subject comes first, in its own case; text that names none stays plain."""
    assert store.entry_of("infra", text, today=DAY) == entry
    assert store.has_subject(entry) is ("surveyed:" in entry)


def test_md_d_a_colon_after_the_name_does_not_hide_it() -> None:
    """``rabbitmq: broker`` is about rabbitmq, and the guard knows."""
    after = added("infra", "rabbitmq: broker")
    assert "- [surveyed:rabbitmq] broker\n" in after
    assert "rabbitmq" in store.surveyed(after)


def test_md_07_drop_takes_the_literal_in_every_section() -> None:
    """All bullets that contain the text go, case counts, and the rest stays as it was."""
    before = added("thread", "ask about SQLite", added("constraint", "no sqlite, no .*"))
    after, gone = store.drop(before, "SQLite")
    assert gone == ["[2031-03-04] SQLite over Postgres for the spike", "ask about SQLite"]
    assert sorted(before.splitlines()) == sorted([*after.splitlines(), *(f"- {g}" for g in gone)])
    assert store.drop(before, ".*")[1] == ["no sqlite, no .*"]
    assert store.drop(before, "nowhere") == (before, [])


def test_md_07_drop_takes_an_entry_as_it_was_printed() -> None:
    """The dash in front, copied along, names the beginning of an entry; alone it names nothing."""
    assert store.drop(LIVE, "- Rust only")[1] == ["Rust only, no Python in generated code"]
    assert store.drop(LIVE, "- only")[1] == []
    for dash in ("-", "- "):
        assert "- Rust only, no Python" in store.drop(LIVE, dash)[0]


@pytest.mark.parametrize("literal", ["", " ", "\t "])
def test_md_d_dropping_nothing_drops_nothing(literal: str) -> None:
    """An empty text, which is in every bullet, is refused."""
    with pytest.raises(Usage):
        store.drop(LIVE, literal)


def test_md_10_the_full_view_is_the_whole_file() -> None:
    """All of it, but for a byte order mark; nothing where there is nothing."""
    assert store.full(LIVE) == store.full("\ufeff" + LIVE) == LIVE
    assert store.full("") == store.full("\ufeff \r\n\t\n") == ""


def test_md_11_the_digest() -> None:
    """Headings and entries of three sections: no infrastructure, no placeholder, no prose."""
    indented = LIVE.replace("<!-- Hard", "  - nested\nprose\n* star\n<!-- Hard")
    assert store.digest(indented) == [
        "## Constraints",
        "- Rust only, no Python in generated code",
        "## Decisions",
        "- [2031-03-04] SQLite over Postgres for the spike",
        "## Open threads",
        "- confirm that the PreCompact hook fires on manual compaction",
    ]


@pytest.mark.parametrize(
    "text",
    ["", TEMPLATE, "## Constraints\n- \n", "## Other\n- x\n", added("infra", "a b", TEMPLATE)],
)
def test_md_11_without_a_real_bullet_there_is_no_digest(text: str) -> None:
    """Headings alone are not worth a turn's tokens."""
    assert store.digest(text) == []


def test_md_11_files_without_decisions_have_a_digest() -> None:
    """A file from before there were decisions is read as it is."""
    old = "## Constraints\n- a\n## Open threads\n- b\n"
    assert store.digest(old) == ["## Constraints", "- a", "## Open threads", "- b"]


def test_md_15_only_surveyed_subjects_count() -> None:
    """Names in brackets, prose, placeholders and other sections suppress no advice."""
    text = added("constraint", "[surveyed:docker] is no finding")
    assert store.surveyed(text) == {"rabbitmq"}


FORGED = """\
# Session State
<!-- an example:
## Constraints
- in a comment
-->
```
## Constraints
- in code
```
- ~~~
  ## Constraints
  ~~~
## Constraints
- real
<!-- ## Decisions
- [2031-03-04] hidden
-->
# Elsewhere
- of no section
"""


def test_headings_and_bullets_in_code_and_comments_are_none() -> None:
    """They are neither shown, nor written to, nor dropped."""
    assert store.digest(FORGED) == ["## Constraints", "- real"]
    assert added("constraint", "new", FORGED) == FORGED.replace("- real", "- new\n- real")
    with pytest.raises(Failed):
        added("decision", "new", FORGED)
    assert store.drop(FORGED, "in ")[1] == store.drop(FORGED, "hidden")[1] == []


@pytest.mark.parametrize("text", ["a\nb", "a\r## Decisions", "a\x0bb", "a\u2028b", "a\x85b", "a\n"])
def test_md_d_no_text_goes_over_a_line(text: str) -> None:
    """Nothing can forge a section, or leave lines behind that drop would not find."""
    with pytest.raises(Refused) as caught:
        added("constraint", text)
    assert caught.value.reason.code == "entry-lines"


@pytest.mark.parametrize("text", ["a <!-- b", "--> a", "<!-- a -->"])
def test_md_d_no_text_has_a_comment_in_it(text: str) -> None:
    """Nothing vanishes from the digest, or opens what hides the lines below."""
    with pytest.raises(Refused) as caught:
        added("thread", text)
    assert caught.value.reason.code == "entry-comment"


@pytest.mark.parametrize("text", ["a\0b", "\udcff"])
def test_what_is_no_text_is_refused(text: str) -> None:
    """A NUL, and a byte of the command line that is not UTF-8."""
    with pytest.raises(Refused) as caught:
        added("thread", text)
    assert caught.value.reason.code == "entry-characters"


def test_an_entry_that_would_hide_others_is_refused() -> None:
    """Code that a bullet opens would swallow the indented lines below it."""
    before = "## Constraints\n\n  ## Decisions\n"
    with pytest.raises(Refused) as caught:
        added("constraint", "```", before)
    assert caught.value.reason.code == "entry-misread"
    assert added("constraint", "```", LIVE).count("- ```\n") == 1


def test_an_entry_that_holds_others_off_is_not_dropped() -> None:
    """Without it, what is indented below would begin a section."""
    before = "## Constraints\n- with code\n\n     ```\n   ## Decisions\n     ```\n- more\n"
    with pytest.raises(Refused) as caught:
        store.drop(before, "with code")
    assert caught.value.reason.code == "entry-misread"


ENDINGS = [
    ("## Constraints\n- a\n", "## Constraints\n- x\n- a\n"),
    ("## Constraints\r\n- a\r\n", "## Constraints\r\n- x\r\n- a\r\n"),
    ("\ufeff## Constraints \t\r\n", "\ufeff## Constraints \t\r\n- x\r\n"),
    ("  ## Constraints\n", "  ## Constraints\n- x\n"),
    ("## Constraints ##\n", "## Constraints ##\n- x\n"),
    ("## Constraints <!-- hard -->\n", "## Constraints <!-- hard -->\n- x\n"),
    ("## Constraints (hard)\n", "## Constraints (hard)\n- x\n"),
    ("## Constraints and more\n## Constraints\n", "## Constraints and more\n## Constraints\n- x\n"),
    ("## Constraints", "## Constraints\n- x\n"),
    ("# A\r\n## Constraints", "# A\r\n## Constraints\r\n- x\r\n"),
]


@pytest.mark.parametrize(("before", "after"), ENDINGS)
def test_md_d_a_heading_is_found_however_its_line_ends(before: str, after: str) -> None:
    """Carriage returns, blanks and text behind a heading do not hinder it; the ending is kept."""
    assert added("constraint", "x", before) == after
    assert "- x" in store.digest(after)


@pytest.mark.parametrize(
    "text", ["", "## constraints\n", "### Constraints\n", "##Constraints\n", "## Constraintsx\n"]
)
def test_md_02_without_its_heading_nothing_is_written(text: str) -> None:
    """The message says how to get the heading back."""
    with pytest.raises(Failed, match="run `init`") as caught:
        added("constraint", "x", text)
    assert caught.value.reason.code == "state-section"


@pytest.mark.parametrize("verb", store.SECTION_OF)
def test_md_d_an_entry_is_not_repeated(verb: str) -> None:
    """The same text in the same section is there once; it may be in another one."""
    once = added(verb, "one thing")
    assert added(verb, "one thing", once) == once
    assert added(verb, "one thing, and another", once) != once


def test_md_04_orchestration_is_added_once() -> None:
    """Whoever wrote the text that tells, and wherever: it is there."""
    once = store.orchestrate(LIVE)
    assert once.count("\n- ") == LIVE.count("\n- ") + len(ORCHESTRATION)
    assert store.digest(once)[1:5] == [f"- {each}" for each in ORCHESTRATION]
    assert store.orchestrate(once) == once
    theirs = f"{LIVE}prose: {ORCHESTRATED} ...\n"
    assert store.orchestrate(theirs) == theirs


def test_md_d_only_the_missing_constraint_is_added_again() -> None:
    """One orchestrator line that was dropped comes back without the other three."""
    once = store.orchestrate(TEMPLATE)
    less, gone = store.drop(once, ORCHESTRATED)
    assert gone == [ORCHESTRATION[0]]
    assert store.orchestrate(less) == once


def test_the_template_is_fit() -> None:
    """It has the four sections in order, and says nothing yet."""
    headings = [line.section for line in sections.read(TEMPLATE) if line.heading]
    assert headings == [None, *sections.SECTIONS]
    assert store.digest(TEMPLATE) == []
    assert store.surveyed(TEMPLATE) == frozenset()
    assert ORCHESTRATED not in TEMPLATE


def test_hooks_import_next_to_nothing() -> None:
    """The views are had without the engine, and without anything that talks or parses."""
    script = (
        "import sys; from markers.caches.session_md import digest, CODEC;"
        "CODEC.load(b'x'); digest('x');"
        "heavy = ('click', 'yaml', 'httpx', 'hmac', 'markdown_it', 'markers.caches.engine');"
        "print([name for name in heavy if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert ran.stdout == b"[]\n"


LINES = st.one_of(
    st.sampled_from(
        [
            *(f"## {name}" for name in sections.SECTIONS),
            *("## Constraints  ", "  ## Decisions", "# Top", "## Other", "```", "  ```", "~~~"),
            *(
                "<!-- open",
                "-->",
                "<!-- one line -->",
                "- <!-- placeholder -->",
                "- ```",
                "",
                "    x",
            ),
            *("- a", "- b", "- [surveyed:a] b", "  - nested", "> quote", "1. one"),
        ]
    ),
    st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]), max_size=12),
)
FILES = st.builds(
    lambda mark, lines, end, last: mark + end.join([*lines, last]),
    st.sampled_from(["", "\ufeff"]),
    st.lists(LINES, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
    LINES,
)
TEXTS = st.one_of(st.sampled_from(["a", "b", "```", "- a", "a ## Decisions"]), st.text(max_size=12))
STEPS = st.lists(st.tuples(st.sampled_from([*store.SECTION_OF, "drop"]), TEXTS), max_size=8)


def stepped(text: str, verb: str, words: str) -> str:
    """The file after a verb; what is refused leaves it as it was."""
    try:
        return store.drop(text, words)[0] if verb == "drop" else added(verb, words, text)
    except MarkersError:
        return text


def without_each(text: str) -> list[str]:
    """All that the text may be without one of its lines."""
    lines = text.split("\n")
    return ["\n".join([*lines[:at], *lines[at + 1 :]]) for at in range(len(lines))]


def assert_dropped(before: str, after: str, literal: str) -> None:
    """Nothing but whole bullets that contain the text is gone."""
    old, new = before.split("\n"), after.split("\n")
    rest = iter([*old, ""])
    assert all(line in rest for line in new)
    for line in Counter(old) - Counter(new):
        assert line.startswith("- ")
        assert literal in line


@given(FILES, STEPS)
def test_bytes_that_no_verb_touched_stay(text: str, steps: list[tuple[str, str]]) -> None:
    """Each verb puts in one whole line or takes whole bullets out, and moves no other byte."""
    assert "\n".join(line.raw for line in sections.read(text)) == text
    for verb, words in steps:
        before, text = text, stepped(text, verb, words)
        if verb == "drop":
            assert_dropped(before, text, words)
        elif text != before:
            assert {before, before + "\n", before + "\r\n"} & {*without_each(text)}


@given(FILES, st.sampled_from([*store.SECTION_OF]), TEXTS)
def test_what_was_added_is_shown(text: str, verb: str, words: str) -> None:
    """An entry that was taken is in its section, and no other verb's reader misses it."""
    try:
        entry = store.entry_of(verb, words, today=DAY)
        after = store.add(text, store.SECTION_OF[verb], entry)
    except MarkersError:
        return
    if verb != "infra":
        assert f"- {entry.rstrip()}" in store.digest(after)
    elif store.has_subject(entry):
        assert entry.split("[surveyed:")[1].split("]")[0].lower() in store.surveyed(after)
    assert store.add(after, store.SECTION_OF[verb], entry) == after

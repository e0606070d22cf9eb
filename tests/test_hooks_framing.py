"""The frame around what hooks show: nothing passes that is not seen, and nothing breaks out."""

from __future__ import annotations

import pytest
from command_line import Shell, shell
from hypothesis import given
from hypothesis import strategies as st
from test_hooks import DIGEST, NOTES, context, fired, inside, noted

from markers.hooks import framing
from markers.hygiene.invisible import INVISIBLE

__all__ = ["shell"]


def test_what_is_too_long_is_cut_by_lines(shell: Shell) -> None:
    """Both harnesses cut what hooks say, and would lose the frame's end: ours is cut before."""
    lines = [f"- constraint {number:04} {'é' * 40}" for number in range(500)]
    noted(shell, "\n".join(["## Constraints", *lines, ""]))
    for event in ("session-start", "user-prompt-submit"):
        text = context(fired(shell, event), event)
        assert len(text.encode()) < 10_000
        shown = inside(text).split("\n")[1:]
        assert shown == lines[: len(shown)]
        left = len(lines) - len(shown)
        lost = f"[cut: 0 lines are shortened and {left} left out; all are in SESSION-STATE.md]"
        assert text.endswith(f"\n{lost}")


def test_a_line_that_is_too_long_does_not_hide_the_others(shell: Shell) -> None:
    """A long entry is shortened, with a mark, wherever it stands; the others are all there."""
    text = NOTES.replace("## Decisions\n", f"## Decisions\n- huge {'é' * 8_000}\n")
    noted(shell, text)
    for event in ("session-start", "user-prompt-submit"):
        shown = context(fired(shell, event), event)
        lines = inside(shown).split("\n")
        (cut,) = [line for line in lines if line.endswith(framing.CUT)]
        assert cut.startswith("- huge éé")
        assert len(cut.encode()) <= framing.LONGEST + len(framing.CUT.encode())
        assert {line for line in DIGEST.split("\n") if line} <= set(lines)
        assert "[cut: 1 lines are shortened and 0 left out" in shown


def test_an_entry_is_not_shown_under_another_heading() -> None:
    """What there is no room for is left out one by one, a heading with all that stands below it."""
    lines = ["## A", "- " + "a" * 30, "- b", f"## {'B' * 30}", "- c", "## D", "- d"]
    text = framed(lines, lambda: "aa", 24)
    assert inside(text).split("\n") == ["## A", "- b", "## D", "- d"]
    assert "3 left out" in text


def test_what_terminals_and_eyes_do_not_show_is_taken_out(shell: Shell) -> None:
    """Escape sequences, control characters, bidi controls and zero-width characters do not pass."""
    unseen = "\x1b[31mred\x1b[0m \x1b]0;title\x07a\u200bb\u202ec\x08\x9bd\ufe0f\te\u00a0f"
    noted(shell, f"## Constraints\n- {unseen}\n")
    shown = inside(context(fired(shell, "session-start"), "session-start"))
    assert shown == "## Constraints\n- red abc\te f"


IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""What Unicode calls ignorable by default."""
BLANKS = (0x2800, 0x1D159, 0x16FE4, 0x13441, 0x13442, 0x1107F, 0x1BC9D, 0xFFFC)
"""Signs whose glyph is a blank, or none without others."""


def test_nothing_that_is_drawn_as_nothing_passes() -> None:
    """All that is ignorable by default, and fillers that are not, are taken out."""
    unseen = [*BLANKS, *(each for first, last in IGNORABLE for each in range(first, last + 1))]
    assert framing.clean("".join(f"{chr(each)}" for each in unseen)) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a </system-reminder> b", "a \u2039/system-reminder> b"),
        ("<SYSTEM-Reminder>", "\u2039SYSTEM-Reminder>"),
        ("<\u200b/\u2800system-reminder>", "\u2039/system-reminder>"),
        ("< / system-reminder>", "\u2039 / system-reminder>"),
        ("</user-prompt-submit-hook>", "\u2039/user-prompt-submit-hook>"),
        ("<div></div> a < b", "<div></div> a < b"),
    ],
)
def test_tags_of_the_harness_are_none_any_more(text: str, shown: str) -> None:
    """What a harness puts around a hook's words cannot be ended from inside."""
    assert framing.clean(text) == shown


@given(st.text(st.characters(codec="utf-8")))
def test_no_control_character_passes(text: str) -> None:
    """Of whatever text only what can be seen is left, with spaces, tabs and line feeds."""
    shown = framing.clean(text)
    assert all(each.isprintable() or each in "\n\t" for each in shown)
    assert not INVISIBLE.search(shown)
    assert framing.clean(shown) == shown
    assert shown.count("\n") == text.replace("\r\n", "\n").replace("\r", "\n").count("\n")


@given(st.text(st.characters(max_codepoint=0x2FFF), max_size=40))
def test_what_can_be_seen_stays(text: str) -> None:
    """A text without any of these comes through as it is."""
    if "\r" not in text and all(each.isprintable() or each in "\n\t" for each in text):
        assert framing.clean(INVISIBLE.sub("", text)) == INVISIBLE.sub("", text)


WORDS = st.sampled_from(["aa", "bb", "ab", "--- end aa", "--- begin bb", "[cut: 3 more lines"])


@given(st.lists(WORDS | st.text(st.characters(codec="utf-8"))), st.integers(0, 200))
def test_the_frame_cannot_be_closed_from_inside(lines: list[str], limit: int) -> None:
    """The word that ends the frame is not in the text, whatever the text says."""
    words = iter(["aa", "bb", "ab", "cccc"])
    clean = framing.clean("\n".join(lines)).split("\n")
    text = framed(clean, lambda: next(words), limit)
    _, begin, *rest = text.split("\n")
    fence = begin.removeprefix("--- begin ")
    at = rest.index(f"--- end {fence}")
    left = iter(clean)
    assert all(line in left for line in rest[:at])  # some of the lines, in their order
    assert not any(fence in line for line in rest[:at])
    assert len("\n".join(rest[:at]).encode()) <= limit
    assert (len(rest) > at + 1) == (at < len(clean))


def framed(lines: list[str], word: object, limit: int) -> str:
    """A frame with words of the test's choice."""
    assert callable(word)
    return framing.framed(lines, source="S", view="whole", word=word, limit=limit)


def test_words_are_random(shell: Shell) -> None:
    """No two frames end alike, so that nobody can write the end beforehand."""
    noted(shell)
    found = {context(fired(shell, "session-start"), "session-start") for _ in range(3)}
    assert len(found) == 3

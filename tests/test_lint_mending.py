"""Mending by lint: nothing around a literal is shown otherwise, or the literal stays."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from checking import CONTRACT
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from nasty import SIZE, Row, filled
from test_bounds import bounded

from markers.lint import Options, lint, mend

M = "<!-- plan-issue-12 -->"
W = "plan-issue-12"
LITERALS = {
    M: W,
    "<!-- design-issue-{ID} -->": "design-issue-{ID}",
    "<!-- plan-issue-<ID> -->": "plan-issue-<ID>",
    "<!-- phase-containment-ledger-ref: 5 -->": "phase-containment-ledger-ref: 5",
}
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def fixed(text: str, *, strict: bool = False) -> str:
    """*text* with what can be mended."""
    return mend(text, CONTRACT, Options(strict=strict))[0]


LEFT = {
    "the end of a comment": f"<!-- note, see {M}\n\n# Install\n\nRun `make`.\n\n<!-- end -->\n",
    "the end of a comment in text": f"a <!-- hidden, see {M} b\n\n<!-- c -->",
    "the end of a comment of several lines": f"<!--\n{M}\n\n# Install\n\n<!-- end -->\n",
    "inside a comment that ends later": f"<!-- note {M} -->",
    "a comment left open by HTML": f"<div>\n<!-- a\n\nb {M} c\n\n-->\n</div>\n",
    "an element left open by HTML": f"<div><script>\n\nb {M} c\n",
    "a tag left open by HTML": f"<div title='\n\nb {M} c\n\n'>\n",
    "a quoted value left open by HTML": f"<p title='a>\n\nb {M} c\n\n'>\n",
    "a comment and one more": f"a <!-- b\n{M} c {M}\n",
    "above an underline": f"{M}\n---\nBody\n",
    "above indented code": f"{M}\n    code\n",
    "above text": f"{M}\nBody\n",
    "below text": f"Text\n{M}\n",
    "between paragraphs": f"Text\n{M}\nBody\n",
    "above a bullet without text": f"{M}\n-\n",
    "above a list from two": f"{M}\n2. two\n",
    "above a link definition": f"{M}\n[a]: b\n\n[a]\n",
    "above a tag": f"{M}\n<b>\n*x*\n",
    "in a list, above lazy text": f"- {M}\ntext\n",
    "Markdown beside it in HTML": f"{M} *not Markdown*\n",
    "a tag's unquoted value": f"<div title={M}\n\ntext\n",
    "an element of HTML": f"<pre>\n{M}\n</pre>\n",
    "a style": f"<style>\n{M}\n</style>\n",
    "a script": f"<script>\n{M}\n</script>\n",
    "a script in text": f"a <script>{M}</script>\n",
    "a tag of a block": f'<p title="{M}">\n',
    "behind an address": f"https://example.com/{M}\n",
    "behind an address without scheme": f"a www.example.com/{M}\n",
    "a link's target": f"[a]({M})\n",
    "a link definition": f'[a]: /b "{M}"\n\nx\n\n[a]\n',
    "a label that becomes a definition": f"[a]: {M}\n\n[a]\n",
    "behind an angle bracket": f"a ` <{M}-->\n",
    "behind a backslash": f"\\{M}\n",
    "a word around it": f"`a{M}b`\n",
    "a pipe in a table": "| a | b |\n| - | - |\n| <!-- frame-slice a | b --> |\n",
}


@pytest.mark.parametrize("name", LEFT)
def test_left_as_it_is(name: str) -> None:
    """Where no form keeps what is around it, the literal is reported and left, and it says so."""
    text = LEFT[name]
    found = lint(text, CONTRACT, Options())
    assert found
    assert fixed(text) == text
    for finding in found:
        assert finding.edit is None
        assert "by hand" in finding.detail


FIXED = {
    "two that touch": (f"x {M}{M} y", f"x `{W}`{W} y"),
    "between blank lines": (f"Text\n\n{M}\n\nBody\n", f"Text\n\n`{W}`\n\nBody\n"),
    "above a heading": (f"{M}\n# Title\n", f"`{W}`\n# Title\n"),
    "below a heading": (f"# Title\n{M}\n", f"# Title\n`{W}`\n"),
    "above a fence": (f"{M}\n```\nx\n```\n", f"`{W}`\n```\nx\n```\n"),
    "above a table": (f"{M}\n| a |\n| - |\n", f"`{W}`\n| a |\n| - |\n"),
    "an entity beside it": (f"{M} &amp;\n", f"`{W}` &amp;\n"),
    "plain words beside it": (f"- {M}: written first\n- b\n", f"- `{W}`: written first\n- b\n"),
    "a tag's value": (f'a <b title="{M}">c</b>', f'a <b title="{W}">c</b>'),
    "a link's title": (f'[a](b "{M}")', f'[a](b "{W}")'),
    "a link's text": (f"[{M}](b)", f"[`{W}`](b)"),
    "emphasis": (f"*{M}* **{M}**", f"*`{W}`* **`{W}`**"),
    "a cell": (f"| a |\n| - |\n| {M} |\n", f"| a |\n| - |\n| `{W}` |\n"),
    "a word before it": (f"a{M}b", f"a`{W}`b"),
    "math beside it": (f"a ${M}$", f"a ${W}$"),
    "angle brackets": ("a <!-- plan-issue-<ID> -->", "a `plan-issue-<ID>`"),
    "a comment before it": (f"a <!-- b --> {M}", f"a <!-- b --> `{W}`"),
    "a closed element before it": (f"<script>\nx\n</script>\n\n{M}\n",
                                   f"<script>\nx\n</script>\n\n`{W}`\n"),
    "one of two": (f"{M}\ntext\n\na {M}\n", f"{M}\ntext\n\na `{W}`\n"),
    "YAML": (f"---\na: {M}\n---\n", f"---\na: {W}\n---\n"),
    "TOML": (f"+++\na = '{M}'\n+++\n\n{M}\n", f"+++\na = '{W}'\n+++\n\n`{W}`\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", FIXED)
def test_form_that_fits(name: str) -> None:
    """The form is code where backticks make code, and the bare words where they do not."""
    before, after = FIXED[name]
    assert fixed(before) == after


def test_one_that_stays_keeps_no_other_from_being_mended() -> None:
    """Of many literals those that can be mended are, wherever the others stand."""
    text = "".join(f"{M} *x*\n\ny {M}\n\n" for _ in range(20))
    assert fixed(text) == "".join(f"{M} *x*\n\ny `{W}`\n\n" for _ in range(20))


class Seen(HTMLParser):
    """What a browser shows of HTML, and the titles of its elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """The values that a reader may come to see, unlike a fence's language."""
        self.text += " ".join(value or "" for name, value in attrs if name != "class")

    def handle_data(self, data: str) -> None:
        """Text outside of comments."""
        self.text += data


FORMS = re.compile("|".join(map(re.escape, [*LITERALS, *LITERALS.values()])))


def seen(text: str) -> str:
    """What is shown of a page, without literals, their words, and blanks."""
    return re.sub(r"\s+", "", FORMS.sub("", Seen(PARSER.render(text)).text))


def blocks(text: str) -> dict[int, list[tuple[str, int]]]:
    """The blocks that hold each line, outermost first, each with the line where it begins."""
    found: dict[int, list[tuple[str, int]]] = {}
    for token in PARSER.parse(text):
        if token.map and token.nesting >= 0 and token.type != "inline":
            for line in range(*token.map):
                found.setdefault(line, []).append((token.type, token.map[0]))
    return found


def codes(text: str) -> list[str]:
    """All code of a page that is not a literal, in order."""
    tokens = [part for token in PARSER.parse(text) for part in (token, *(token.children or ()))]
    code = [token.content for token in tokens if token.type.startswith(("code", "fence"))]
    return [text for text in (FORMS.sub("", each).strip() for each in code) if text]


PIECES = st.sampled_from(
    [*LITERALS, *LITERALS, "word ", "`code`", "``a`b``", "`", "\n", "\n\n", "- ", "> ", "# ", "*",
     "```\ncode\n```\n", "    x", "| a | b |\n|---|---|\n| c | d |\n", "---\n", "***\n", "<div>\n",
     "</div>\n\n", "<p>", '<p title="', '">', "<pre>", "</pre>\n", "<script>", "</script>", "**",
     "\\", "<!-- note -->", "<!-- note ", "--> ", "[a](", ")", "[", "]", "]: ", '"', "&amp;", "1. ",
     "\r\n", "   ", "<", ">", "==="]
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join), st.booleans())
@example(f"<!-- hidden note, see {M}\n\n# Install\n", False)
@example(f"{M}\n---\nBody\n", False)
@example(f"x {M}{M} y", False)
def test_all_around_is_shown_as_before(text: str, strict: bool) -> None:
    """After mending each other line is in the same blocks, and the page shows the same text."""
    after, done = mend(text, CONTRACT, Options(strict=strict))
    lines = {finding.line - 1 for finding in done}
    here, there = blocks(text), blocks(after)
    for line in (here.keys() | there.keys()) - lines:
        assert here.get(line) == there.get(line), line
    assert seen(text) == seen(after)
    assert codes(text) == codes(after)


ROWS: dict[str, Row] = {
    "lines": ("", f"{M}\n", ""),
    "paragraphs": ("", f"x {M}\n\n", ""),
    "one paragraph": ("", f"x {M}\n", ""),
    "none that can be mended": ("", f"{M} *x*\n\n", ""),
    "brackets": ("", "[" * 100 + f"{M}\n\n", ""),
    "HTML": ("", f"<div>{M}\n\n", ""),
    "front matter": ("---\n", f"a: {M}\n", "---\n"),
    "front matter without end": ("---\n", f"a: {M}\n", ""),
    "a key without end": ("---\n", "a:b", f"{M}\n---\n"),
}


@pytest.mark.parametrize("name", ROWS)
def test_proofs_take_bounded_time(name: str) -> None:
    """However many literals there are, what cannot be proved in time is left."""
    text = filled(ROWS[name], SIZE)
    mend(f"x {M}", CONTRACT, Options())  # what is imported once is not the text's fault
    with bounded():
        mend(text, CONTRACT, Options())


FRONT = {
    "mapping": ("---\nname: x\n\n# note\nlist:\n- a\n- b\nmore: |\n  ```\n---\n", True),
    "dots at its end": ("---\nog:title: x\n...\n", True),
    "quoted keys": ("---\n\"a b\": x\n'c': [\n  d\n]\n---\n", True),
    "TOML": ('+++\na = "b"\n[c]\nd = """\n```\n"""\n+++\n', True),
    "a rule": ("---\n\n# Title\n\n", False),
    "a rule and text": ("---\n\nA word: more, and it\ngoes on.\n\n", False),
    "a rule and a list": ("---\n\n- a: b\n\n", False),
    "no end": ("---\na: b\n", False),
}


@pytest.mark.parametrize("name", FRONT)
def test_front_matter_looks_like_a_mapping(name: str) -> None:
    """A page may begin with a rule: what is between it and a later one is no front matter then."""
    head, is_front = FRONT[name]
    marked = f"```\n{M}\n```\n"
    assert fixed(f"{head}{marked}\n---\n") == f"{head}{marked}\n---\n"
    assert lint(f"{head}{marked}\n---\n", CONTRACT, Options()) == []
    inside = head.replace("\n", f"\n# {M}\n", 1)
    assert fixed(inside) == inside.replace(M, W if is_front else f"`{W}`")

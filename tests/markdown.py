"""Bodies of Markdown for the tests of lines, regions and blocks."""

from __future__ import annotations

import re

from hypothesis import strategies as st

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
LINES = st.text(st.sampled_from("ab `~<!->:\t#\f\u2028\u200b"), max_size=12)

_HOLDERS = st.sampled_from(
    ["", "- ", "> ", "1. ", "2) ", "* ", "  ", "   ", "    ", "\t", "> > ", "- - ", "  - ", "-  "]
)
_LEAVES = st.sampled_from(
    [
        *("", "", "", "text", "`", "# h", "===", "---", "***", "- - -", "-", "+", "1.", ">"),
        *("```", "````", "~~~", "~~~~", "``` yaml", "~~~ a`b", "``` a`b", "   ```", "```x y"),
        *("<!--", "<!-- x", "-->", "a -->", "<!-- a -->", "<!-->"),
    ]
)
# CommonMark takes no ">" behind four columns for a quote's sign; the parser that answers here does
# where a fence is open, and it counts tabs behind a quote's sign from another column.
_IN_DISPUTE = re.compile(r"(?m)^.*(?: {4}|\t).*>|>.*\t")


@st.composite
def _line(draw: st.DrawFn) -> str:
    return "".join(draw(st.lists(_HOLDERS, max_size=2))) + draw(_LEAVES)


MARKDOWN = (
    st.lists(_line(), min_size=1, max_size=10)
    .map(lambda lines: "\n".join(lines) + "\n")
    .filter(lambda text: not _IN_DISPUTE.search(text))
)
"""Paragraphs, lists, quotes, headings, rules, fences of all kinds and comments, in any disorder."""


@st.composite
def bodies(draw: st.DrawFn, lines: st.SearchStrategy[str] = LINES) -> str:
    """Lines with one kind of end, or with any."""
    ends = draw(st.one_of(ENDS.map(st.just), st.just(ENDS)))
    text = "".join(line + draw(ends) for line in draw(st.lists(lines, max_size=8)))
    return text + draw(st.one_of(st.just(""), lines))

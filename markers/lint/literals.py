"""Marker literals in prose, which readers of the raw text take for real.

What may live here: finding them and saying what to write instead.  What may not: which strings are
markers (the contract).  Inline code hides nothing from those readers; taking the comment
delimiters out does (contract, statement 31).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..codec import inert
from ..errors import echo
from ..model import Family, Scope
from .findings import Edit, Finding
from .interface import Known
from .page import Page

# From the opening to the closing on the same line, or to the end of the line or another opening.
_WHOLE = re.compile(r"<!--(?:[^<\r\n-]++|(?!<!--|-->)[<-])*+(?:-->)?")
# The same up to a backtick: inline code that holds an opening alone ends there.
_HEAD = re.compile(r"<!--(?:[^<`\r\n-]++|(?!<!--|-->)[<-])*+(?:-->)?")


def literals(page: Page, contract: Known) -> Iterator[Finding]:
    """The marker literals of *page*, in order.

    In a file that is not Markdown only those that begin a line, unless it is read strictly: what
    looks like prose there is mostly code that builds markers.
    """
    for head in _HEAD.finditer(page.text):
        family = contract.live_family(head[0]) or contract.live_block(head[0])
        if family is None or not page.counts(head.start()):
            continue
        if page.markdown or page.strict or page.begins_line(head.start()):
            yield _finding(page, head.start(), family)


def _finding(page: Page, start: int, family: Family) -> Finding:
    around = page.inline_at(start)
    code_end = around.end_at(start) if around else None
    literal = _literal(page, start, code_end)
    end = start + len(literal)
    whole = literal.endswith("-->") or code_end is not None
    shown = inert(literal)
    quoted = f"`{shown}`" if code_end is None and _may_quote(page, start, end) else shown
    part = "marker" if family.scope is Scope.COMMENT else family.scope.value
    return Finding(
        line=page.line_of(start),
        column=page.column_of(start),
        code="live-marker" if family.scope is Scope.COMMENT else "live-block",
        detail=_detail(f"{family.name} {part}", shown, whole=whole),
        literal=echo(literal),
        inert=echo(shown),
        edit=Edit(start, end, quoted) if whole and page.markdown else None,
    )


def _literal(page: Page, start: int, code_end: int | None) -> str:
    found = _WHOLE.match(page.text, start)
    assert found is not None  # noqa: S101 - a head was found here
    end = found.end() if code_end is None else min(found.end(), code_end)
    return page.text[start:end].rstrip()


def _may_quote(page: Page, start: int, end: int) -> bool:
    """Whether backticks around it would make code: not where others could pair up with them."""
    around = page.inline_at(start)
    if page.in_code(start) or page.line_of(start) <= page.front_lines:
        return False
    beside = page.text[max(0, start - 1) : end + 1]
    return "`" not in beside and not (around is not None and around.lonely)


def _detail(what: str, shown: str, *, whole: bool) -> str:
    if whole:
        return f"readers of the raw text take this for a {what}: write `{echo(shown)}`"
    return f"a {what} begins here and goes on below: put all of it into a code fence"

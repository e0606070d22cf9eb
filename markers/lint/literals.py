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
from .mending import Effort, Literal, edits
from .page import Page

# From the opening to the closing on the same line, or to the end of the line or another opening.
_WHOLE = re.compile(r"<!--(?:[^<\r\n-]++|(?!<!--|-->)[<-])*(?:-->)?")
# The same up to a backtick: inline code that holds an opening alone ends there.
_HEAD = re.compile(r"<!--(?:[^<`\r\n-]++|(?!<!--|-->)[<-])*(?:-->)?")


def literals(page: Page, contract: Known, effort: Effort) -> Iterator[Finding]:
    """The marker literals of *page* that its author does not allow, in order.

    In a file that is not Markdown only those that begin a line, unless it is read strictly: what
    looks like prose there is mostly code that builds markers.
    """
    found = list(_found(page, contract))
    whole = [literal for literal, _ in found if _is_whole(literal)] if page.markdown else []
    mends = edits(page, whole, effort)
    for literal, family in found:
        yield _finding(page, literal, family, mends.get(literal.start))


def _found(page: Page, contract: Known) -> Iterator[tuple[Literal, Family]]:
    for head in _HEAD.finditer(page.text):
        start = head.start()
        family = contract.live_family(head[0]) or contract.live_block(head[0])
        if family is None or not page.counts(start) or page.allows(page.line_of(start)):
            continue
        if page.markdown or page.strict or page.begins_line(start):
            yield _literal(page, start), family


def _literal(page: Page, start: int) -> Literal:
    around = page.inline_at(start)
    code_end = around.end_at(start) if around else None
    found = _WHOLE.match(page.text, start)
    assert found is not None  # noqa: S101 - a head was found here
    end = found.end() if code_end is None else min(found.end(), code_end)
    text = page.text[start:end].rstrip()
    return Literal(start=start, text=text, words=inert(text), in_span=code_end is not None)


def _is_whole(literal: Literal) -> bool:
    return literal.in_span or literal.text.endswith("-->")


def _finding(page: Page, literal: Literal, family: Family, edit: Edit | None) -> Finding:
    is_marker = family.scope is Scope.COMMENT
    what = f"{family.name} {'marker' if is_marker else family.scope.value}"
    return Finding(
        line=page.line_of(literal.start),
        column=page.column_of(literal.start),
        code="live-marker" if is_marker else "live-block",
        detail=_detail(page, literal, what, edit),
        literal=echo(literal.text),
        inert=echo(literal.words),
        edit=edit,
    )


def _detail(page: Page, literal: Literal, what: str, edit: Edit | None) -> str:
    if not _is_whole(literal):
        return f"a {what} begins here and goes on below: put all of it into a code fence"
    told = f"readers of the raw text take this for a {what}: write `{echo(literal.words)}`"
    by_hand = ", by hand: --fix might change how the text around it is shown"
    return told if edit or not page.markdown else told + by_hand

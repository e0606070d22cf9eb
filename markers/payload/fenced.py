"""The one YAML fence that carries a comment's payload.

What may live here: which lines of a body are the payload.  What may not: reading YAML (``yaml12``),
what the payload means (``validators``).

A payload fence is opened by three or more backticks in the first column and the word ``yaml`` or
``yml`` in any letter case.  One that stands in a list, a quote, an HTML comment or another fence is
not seen by the readers that search for it at a line's start, and does not count.

The first line of as many backticks ends it, as CommonMark has it: also one that was meant for a
text of the payload, with which all that follows would get lost.  So a payload that seems to go on
behind its end is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..body import BLANKS, Body, Fence
from ..errors import line_at
from .flawed import Flawed
from .problems import Problem

_WORDS = (["yaml"], ["yml"])
_TICKS = "```"
_BARE = re.compile(r" {0,3}`{3,}[ \t]*\Z")
_GOES_ON = re.compile(r"[ \t]+\S|(?:- )?[a-z_][\w-]*:(?:[ \t]|\Z)")
"""How a line of YAML begins that is part of something."""
_HOW = (
    "write other marks than backticks there (~~~), or put four backticks around the payload where "
    "its readers take them"
)
_LIKE_ONE = re.compile(r"[ \t>*+-]*```+[ \t]*ya?ml\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fenced:
    """A payload's text and the line of the body on which it begins."""

    text: str
    first_line: int


def the_fence(body: Body) -> Fenced:
    """The payload between the fences.

    Raises ``Flawed`` with code ``fence-missing``, ``fence-twice``, ``fence-unclosed`` or
    ``backticks``.
    """
    found = yaml_fences(body)
    if not found:
        raise Flawed(_missing(body))
    if len(found) > 1:
        raise Flawed(_twice(found))
    return inside(body, found[0])


def inside(body: Body, fence: Fence) -> Fenced:
    """What stands between a fence's ends.

    Raises ``Flawed`` with code ``fence-unclosed`` or ``backticks``.
    """
    if not fence.closed:
        raise Flawed(_unclosed(fence))
    ended = _ended_early(body, fence)
    if ended is not None:
        raise Flawed(ended)
    return _of_lines(body, fence.inner)


def the_fence_or_rest(body: Body) -> Fenced:
    """The payload between the fences; in a body without any fence all that follows line 1.

    Raises as ``the_fence`` does: a fence that is there but does not count is an accident.
    """
    if body.fences or _hidden(body) is not None:
        return the_fence(body)
    return _of_lines(body, range(2, len(body.lines) + 1))


def _ended_early(body: Body, fence: Fence) -> Problem | None:
    """That the payload seems to go on behind the line that ends it."""
    below = range(fence.last + 1, len(body.lines) + 1)
    left = next((n for n in below if body.line(n).strip(BLANKS)), None)
    if left is None:
        return None
    return _indented_end(body, fence, left) or _left_open(body, fence) or _goes_on(body, fence)


def _indented_end(body: Body, fence: Fence, left: int) -> Problem | None:
    """An end that is rather a line of a text, with something left behind it."""
    if body.line(fence.last)[0] not in BLANKS:
        return None
    detail = (
        f"this line ends the payload though it is indented, and {line_at(left)} and what follows "
        f"are no part of it: {_HOW}; the payload's own end stands in the first column"
    )
    return Problem(code="backticks", detail=detail, line=fence.last)


def _left_open(body: Body, payload: Fence) -> Problem | None:
    """A fence without end below the payload's: the payload's own end, where backticks ended it."""
    for fence in body.fences:
        if fence.first > payload.last and not fence.closed and _BARE.match(body.line(fence.first)):
            detail = (
                "this opens a fence that is never closed; if it was to close the payload, then "
                f"backticks inside the payload closed it on {line_at(payload.last)}: {_HOW}"
            )
            return Problem(code="backticks", detail=detail, line=fence.first)
    return None


def _goes_on(body: Body, fence: Fence) -> Problem | None:
    """A line right below the end that is rather one of YAML."""
    below = fence.last + 1
    if not _GOES_ON.match(body.line(below)):
        return None
    detail = (
        f"this looks like a part of the payload, which ends on {line_at(fence.last)}: {_HOW}; text "
        "that is no part of it begins below a blank line"
    )
    return Problem(code="backticks", detail=detail, line=below)


def yaml_fences(body: Body) -> tuple[Fence, ...]:
    """The fences that count as a payload's, in the order of the text."""
    return tuple(
        fence
        for fence in body.fences
        if fence.at_line_start and _is_yaml(fence) and body.line(fence.first).startswith(_TICKS)
    )


def _is_yaml(fence: Fence) -> bool:
    return fence.info.lower().split(maxsplit=1)[:1] in _WORDS


def _of_lines(body: Body, lines: range) -> Fenced:
    return Fenced(text="\n".join(body.between(lines)), first_line=lines.start)


def _missing(body: Body) -> Problem:
    detail = "there is no ```yaml fence that opens in the first column of a line"
    line, hint = _nearly(body)
    return Problem(code="fence-missing", detail=f"{detail}: {hint}" if hint else detail, line=line)


def _nearly(body: Body) -> tuple[int | None, str]:
    """The line of what was probably meant for it, and why it does not count."""
    yaml = [fence for fence in body.fences if _is_yaml(fence)]
    for fence in yaml:
        if not fence.at_line_start:
            return (
                fence.first,
                f"the one on {line_at(fence.first)} is indented, in a list or in a quote",
            )
    if yaml:
        return yaml[0].first, f"the one on {line_at(yaml[0].first)} is made of tildes"
    hidden = _hidden(body)
    if hidden is not None:
        return (
            hidden,
            f"the one on {line_at(hidden)} stands inside an HTML comment or another fence",
        )
    if body.fences:
        first = body.fences[0].first
        return first, f"the fence on {line_at(first)} does not say yaml"
    return None, ""


def _hidden(body: Body) -> int | None:
    """The line of a YAML fence inside a comment or another fence."""
    numbers = (n for n, line in enumerate(body.lines, 1) if _LIKE_ONE.match(line))
    opened = {fence.first for fence in body.fences}
    return next((n for n in numbers if n not in opened), None)


def _twice(found: tuple[Fence, ...]) -> Problem:
    first, second = found[0].first, found[1].first
    return Problem(
        code="fence-twice",
        detail=f"there is a ```yaml fence on {line_at(first)} and one on {line_at(second)}: "
        "the payload stands in exactly one",
        line=second,
    )


def _unclosed(fence: Fence) -> Problem:
    return Problem(
        code="fence-unclosed",
        detail=f"the ```yaml fence on {line_at(fence.first)} is never closed by a line of ```",
        line=fence.first,
    )

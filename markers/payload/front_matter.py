"""The YAML between two lines of ``---`` at the top of a comment.

What may live here: where it stands, and where one line of it is.  What may not: what it says.
"""

from __future__ import annotations

from ..body import BLANKS, Body

_FENCE = "---"


def front_matter(body: Body) -> range:
    """The lines between the two; none where there is no front matter.

    It comes first below the marker, but for blank lines and HTML comments.  A line of dashes that
    no other one closes is a rule between paragraphs.
    """
    first = _first_text(body)
    if first is None or not _is_fence(body, first):
        return range(0)
    closing = range(first + 1, len(body.lines) + 1)
    last = next((n for n in closing if _is_fence(body, n)), None)
    return range(first + 1, last) if last else range(0)


def _first_text(body: Body) -> int | None:
    """The first line below the marker that is neither blank nor part of a comment."""
    hidden = {n for lines in body.regions.comments for n in lines}
    below = range(2, len(body.lines) + 1)
    return next((n for n in below if n not in hidden and body.line(n).strip(BLANKS)), None)


def _is_fence(body: Body, number: int) -> bool:
    return body.line(number).strip(BLANKS) == _FENCE

"""``goal-halt-report-render``: the object that was handed in becomes the bullets that people read.

A candidate that has no YAML fence is in bullets already, and stays as it is (contract, statement
25).
"""

from __future__ import annotations

from collections.abc import Mapping

from ..body import BLANKS, Body
from ..errors import line_at
from ..payload.fenced import yaml_fences
from ..payload.flawed import Flawed
from ..payload.halt_report import is_handed_in, read_report, shown_report
from .interface import Before, Pointed, Prepared, Seen


def _apply(seen: Seen, _read: Mapping[int, Pointed | None]) -> Prepared:
    """Marker, a blank line, bullets."""
    body = Body(seen.candidate)
    unchanged = Prepared(candidate=seen.candidate)
    if not is_handed_in(body):
        return unchanged
    try:
        bullets = shown_report(read_report(body))
    except (Flawed, ValueError):
        return unchanged  # the family's validator says why
    return Prepared(candidate="\n".join([seen.marker.text, "", *bullets]), warnings=_prose(body))


def _prose(body: Body) -> tuple[str, ...]:
    """That what stands around the object is not kept."""
    fence = yaml_fences(body)[0]
    for number, line in enumerate(body.lines[1:], 2):
        if line.strip(BLANKS) and not fence.first <= number <= fence.last:
            return (
                f"prose-dropped: {line_at(number)} and whatever else stands around the payload",
            )
    return ()


STEP = Before(apply=_apply)

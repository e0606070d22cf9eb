"""A halt report's two forms: the YAML that is handed in, and the bullets that a comment shows.

What may live here: reading either form, and making the bullets of the first.  What may not: what a
report must say (its schema), what becomes of prose around it (``steps``).

Free text comes from whoever ran: in the bullets it is inert, so that no reader finds a marker in it
and no part of the comment is hidden by it.
"""

from __future__ import annotations

import re
from typing import Any

from ..body import Body
from ..codec import inert
from .bullets import read_bullets, write_bullets
from .document import Document
from .fenced import the_fence, yaml_fences
from .yaml12 import read_yaml

LONGEST = 2000
"""Characters of one free text."""
NOTHING_LEFT = "(nothing that can be shown)"
_FREE = ("target_ref", "plan_remediation", "recommended_next_owner", "evidence", "budget_snapshot")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_FENCE = re.compile("`{3,}|~{3,}")


def is_handed_in(body: Body) -> bool:
    """Whether a comment has the form that is handed in, a YAML fence."""
    return bool(yaml_fences(body))


def read_report(body: Body) -> Document:
    """Read either form; raises ``Flawed``."""
    if not is_handed_in(body):
        document = read_bullets(body.lines[1:], first_line=2)
        if document.value:
            return document
    fenced = the_fence(body)
    return read_yaml(fenced.text, first_line=fenced.first_line)


def shown_report(report: Document) -> list[str]:
    """The bullets of a report, all free text made inert.

    Raises ``ValueError`` for what bullets cannot say; no report that keeps to its schema has that.
    """
    if not isinstance(report.value, dict):
        raise ValueError("a report is a mapping")
    return write_bullets({k: _inert(v) if k in _FREE else v for k, v in report.value.items()})


def _inert(value: Any) -> Any:
    if isinstance(value, str):
        return inert_line(value)
    if isinstance(value, list):
        return [_inert(each) for each in value]
    if isinstance(value, dict):
        return {key: _inert(each) for key, each in value.items()}
    return value


def inert_line(text: str) -> str:
    """One line of at most 2,000 characters, in which nothing opens or closes a comment or fence."""
    plain = _FENCE.sub(lambda run: run[0][:2], inert(_UNSEEN.sub(" ", text)))
    line = " ".join(plain.split())
    if len(line) > LONGEST:
        line = line[: LONGEST - 1].rstrip() + "…"
    return line or NOTHING_LEFT

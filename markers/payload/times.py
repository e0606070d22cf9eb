"""Stamps: moments in UTC, spelled the one way that all readers compare as text.

What may live here: whether a text is one.  What may not: which stamps must be equal.
"""

from __future__ import annotations

import re
from datetime import datetime

STAMP_FORM = "a moment in UTC such as 2026-07-18T22:20:00Z"
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,7})?Z", re.ASCII)


def is_stamp(text: str) -> bool:
    """Whether *text* is ISO 8601 in UTC with a ``Z``, and a day and an hour that exist."""
    if not _STAMP.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True

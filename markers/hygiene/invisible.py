"""Characters that are drawn as nothing, and text without them.

What may live here: seeing through them.  What may not: what a line means.
"""

from __future__ import annotations

import re

# Format characters (Cf), fillers, joiners and variation selectors: drawn as nothing.
UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""For use inside the brackets of a regular expression."""
INVISIBLE = re.compile(f"[{UNSEEN}]")
_LEAD = re.compile(rf"[\s{UNSEEN}]+")
_EMPTY = re.compile(rf"[\s{UNSEEN}]*")


def visible(text: str) -> str:
    """*text* without invisible characters; its lines stay where they are."""
    return text if text.isascii() else INVISIBLE.sub("", text)


def bare(line: str) -> str:
    """*line* without leading blanks and invisible characters and without trailing blanks."""
    lead = _LEAD.match(line)
    return (line[lead.end() :] if lead else line).rstrip(" \t")


def is_blank(text: str) -> bool:
    """Whether nothing in *text* can be seen."""
    return _EMPTY.fullmatch(text) is not None

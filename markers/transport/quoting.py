"""What a server sent, where our own words repeat it: masked, on one line, bounded.

What may live here: pure functions from a server's text to text that may be shown and journaled.
What may not: reading answers.  Everything in an error of this package that a server chose, the
addresses it names included, has gone through ``told`` or ``address``: a server that reflects a
request, or a proxy that explains itself, would else put the token into a log.
"""

from __future__ import annotations

import re

from .interface import Request

LONGEST = 200
"""How much is repeated unless said otherwise, in characters."""
MASK = "***"

_LOGIN = re.compile(r"(?<=//)[^/@]*@")
_QUERY = re.compile(r"[?#].*", re.DOTALL)


def told(text: str, request: Request, longest: int = LONGEST) -> str:
    """*text* as one line of at most *longest* characters, without the token of *request*."""
    clear = masked(text, request)
    if clear.isprintable() and len(clear) <= longest:
        return clear
    visible = "".join(ch if ch.isprintable() else " " for ch in clear[: longest * 4])
    return " ".join(visible.split())[:longest]


def masked(text: str, request: Request) -> str:
    """*text* without the token of *request*, in upper or lower case."""
    token = request.headers.get("Authorization", "").rpartition(" ")[2]
    if not 0 < len(token) <= len(text) or token.lower() not in text.lower():
        return text
    return re.sub(re.escape(token), MASK, text, flags=re.IGNORECASE)


def address(url: str, request: Request) -> str:
    """An address that may be a server's, without login and query, as ``told``."""
    return told(shown(masked(url, request)), request)


def target(request: Request) -> str:
    """Where *request* goes; links and redirects have a say in that."""
    return address(request.url, request)


def shown(url: str) -> str:
    """An address of our own for people's eyes: no login, no query."""
    return _LOGIN.sub("", _QUERY.sub("", url))

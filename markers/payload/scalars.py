"""Plain scalars, read by the core schema of YAML 1.2 (chapter 10.3.2).

What may live here: what a plain, unquoted text stands for.  What may not: where a scalar begins
and ends.

``yes``, ``on`` and dates are texts; numbers that no JSON has (``.inf``, ``.nan``) are refused, and
so are numbers of so many digits that reading and showing them is work.
"""

from __future__ import annotations

import re
from math import isinf

MOST_DIGITS = 20
"""Of an integer; 64 bits have no more."""
MOST_OF_A_FLOAT = 40
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMERIC = frozenset("-+.0123456789")
_INTEGERS = (
    (re.compile(r"[-+]?[0-9]+\Z"), 10),
    (re.compile(r"0o[0-7]+\Z"), 8),
    (re.compile(r"0x[0-9a-fA-F]+\Z"), 16),
)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NO_NUMBER = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")


def resolved(text: str) -> str | int | float | bool | None:
    """What a plain scalar stands for; raises ``ValueError`` (a sentence) for some numbers."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in _NUMERIC:
        return text
    for pattern, base in _INTEGERS:
        if pattern.match(text):
            return _integer(text, base)
    if _FLOAT.match(text):
        return _float(text)
    if _NO_NUMBER.match(text):
        raise ValueError("is a number that JSON does not have; put quotes around a text")
    return text


def _integer(text: str, base: int) -> int:
    digits = text.lstrip("+-") if base == 10 else text[2:]
    if len(digits) > MOST_DIGITS:
        why = f"is a number of more than {MOST_DIGITS} digits; put quotes around a text"
        raise ValueError(why)
    return int(text, base)


def _float(text: str) -> float:
    value = float(text) if len(text) <= MOST_OF_A_FLOAT else float("inf")
    if isinf(value):
        raise ValueError("is a number that is too long or too large; put quotes around a text")
    return value

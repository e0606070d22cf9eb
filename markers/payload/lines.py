"""Plain ``key: value`` lines, as phase-containment blocks have them.

What may live here: one line, one key at its start, one scalar.  What may not: what the keys mean.

A line is read as YAML 1.2 reads it alone, quotes and comments included, so that a block means the
same to a YAML reader.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import echo
from .document import Document, Path, Place, repeated
from .flawed import Flawed
from .problems import Problem, dotted, told
from .yaml12 import read_yaml

_EMPTY = re.compile(r"[ \t]*(?:#.*)?\Z")
_LINE = re.compile(r"[A-Za-z_][\w.-]*:(?:[ \t].*)?\Z", re.ASCII)
_FORM = "is not of the form 'key: value'"


def read_lines(lines: Sequence[str], *, first_line: int) -> Document:
    """Read a mapping; *first_line* is the first line's number in the comment.

    Blank lines and comments are passed over; one that stands in the place of a scalar is noted.
    Raises ``Flawed`` with every problem.
    """
    value: dict[str, object] = {}
    empty: list[Path] = []
    places: dict[str, Place] = {}
    problems: list[Problem] = []
    for number, line in enumerate(lines, first_line):
        if _EMPTY.match(line):
            continue
        try:
            key, scalar, cut = _read(line, number)
        except Flawed as flawed:
            problems += flawed.problems
            continue
        if key in value:
            problems.append(repeated((key,), number, places[key]))
        value[key], places[key] = scalar, number
        empty += cut if scalar is None else ()
    if problems:
        raise Flawed(*told(problems))
    return Document(value=value, place=(first_line, places), cut=tuple(empty))


def _read(line: str, number: int) -> tuple[str, object, tuple[Path, ...]]:
    """Key, scalar, and whether a comment stands behind it."""
    if not _LINE.match(line):
        raise Flawed(Problem(code="syntax", detail=f"{echo(line)!r} {_FORM}", line=number))
    document = read_yaml(line, first_line=number)
    ((key, scalar),) = document.value.items()
    if isinstance(scalar, dict | list):
        detail = "a line holds one text, number or boolean; put quotes around a text"
        raise Flawed(Problem(code="type", detail=detail, field=dotted((key,)), line=number))
    return key, scalar, document.cut

"""What rules across fields are made of.

What may live here: questions about a document that several families ask.  What may not: what any
one family wants.

The value is a mapping, and nothing else about it is certain: what the schema refuses is looked at
all the same, and left out where it does not fit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ..errors import echo, line_at
from ..payload.document import Document, Path
from ..payload.problems import Problem, dotted
from .interface import Case


def problem_at(
    document: Document, path: Path, code: str, detail: str, *, warns: bool = False
) -> Problem:
    """A problem with what stands at *path*."""
    return Problem(
        code=code, detail=detail, field=dotted(path), line=document.line_of(path), warns=warns
    )


def unknown_version(document: Document, known: Collection[int]) -> Iterator[Problem]:
    """A ``schema_version`` that is not among *known*; that one is missing is said by the schema."""
    value = document.value
    given = value.get("schema_version") if isinstance(value, dict) else None
    if given is not None and (isinstance(given, bool) or given not in known):
        *most, last = map(str, sorted(known))
        choices = f"{', '.join(most)} or {last}" if most else last
        detail = f"{echo(repr(given))} is not a version that is known here: {choices}"
        yield problem_at(document, ("schema_version",), "schema-version", detail)


def entries(document: Document, listed: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The mappings in the list at *listed*, each with its path; what is no mapping is left out."""
    value = document.value
    for key in listed:
        value = value.get(key) if isinstance(value, dict) else None
    for number, entry in enumerate(value if isinstance(value, list) else ()):
        if isinstance(entry, dict):
            yield (*listed, number), entry


def repeated(
    document: Document, listed: Path, key: str, *, warns: bool = False
) -> Iterator[Problem]:
    """Texts under *key* that an earlier entry of the list at *listed* has, too."""
    lines: dict[str, int] = {}
    for path, entry in entries(document, listed):
        text = entry.get(key)
        if not isinstance(text, str):
            continue
        if text in lines:
            detail = f"{echo(text)!r} is there twice, see {line_at(lines[text])}"
            yield problem_at(document, (*path, key), "duplicate", detail, warns=warns)
        lines.setdefault(text, document.line_of((*path, key)))


def as_in_marker(case: Case, document: Document, key: str, meant: object) -> Iterator[Problem]:
    """A value under *key* that is not what the marker says; its code is *key*.

    One of another type is left to the schema.
    """
    value = document.value.get(key)
    if type(value) is type(meant) and value != meant:
        detail = f"{echo(str(value))!r} is not what the marker says: {echo(case.marker.text)}"
        yield problem_at(document, (key,), key, detail)

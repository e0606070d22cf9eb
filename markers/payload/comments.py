"""YAML comments that take away what was rather meant for a text: ``evidence: see #3``.

What may live here: which comments are suspicious, and how that is told.  What may not: finding
comments (``yaml12``).

Behind a word of a closed list a comment is nothing but one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import few, line_at
from .document import Document, Path
from .engine import value_at
from .problems import Problem, dotted

_HINT = "what begins with # is a comment in YAML: put quotes around a text"
_MOST_REFERENCES = 20
_CLOSED = frozenset(("enum", "const"))


def hinted(problems: Iterable[Problem], document: Document) -> list[Problem]:
    """The problems, with what to do where a comment stands in a value's place."""
    empty = {dotted(path) for path in document.cut if _at(path, document) is None}
    return [
        replace(each, detail=f"{each.detail}; {_HINT}") if each.field in empty else each
        for each in problems
    ]


def cut_texts(
    document: Document, schema: Any, at: Path, refused: Collection[str]
) -> Iterator[Problem]:
    """One warning (``comment-cut``) for all texts below *at* that may have lost their end.

    Those of the fields *refused* are told already.
    """
    cut = [path for path in document.cut if path[: len(at)] == at and dotted(path) not in refused]
    texts = [path for path in cut if _is_text(_at(path, document), path[len(at) :], schema)]
    if texts:
        first, *others = [document.line_of(path) for path in texts]
        detail = (
            f"a comment begins at ' #'{_also(others)}, and the text ends before it: put quotes "
            "around a text to which that belongs"
        )
        field = dotted(texts[0])
        yield Problem(code="comment-cut", detail=detail, field=field, line=first, warns=True)


def _at(path: Path, document: Document) -> Any:
    """The value at *path*; a number where none is, because its key was there twice."""
    try:
        return value_at(path, document.value)
    except (LookupError, TypeError):
        return 0


def _is_text(value: Any, path: Path, schema: Any) -> bool:
    """Whether it may have been meant for a longer text, or for one at all."""
    return value is None or (isinstance(value, str) and not _CLOSED & _place(path, schema).keys())


def _place(path: Path, schema: Any) -> Mapping[str, Any]:
    """The subschema of a place, as far as properties and items say it; else an empty one."""
    part = _resolved(schema, schema)
    for step in path:
        inside = part.get("properties", {}).get(step) if isinstance(step, str) else None
        part = _resolved(part.get("items") if isinstance(step, int) else inside, schema)
    return part


def _resolved(part: Any, schema: Any) -> Mapping[str, Any]:
    for _ in range(_MOST_REFERENCES):
        if not isinstance(part, dict) or "$ref" not in part:
            break
        part = value_at(str(part["$ref"]).split("/")[1:], schema)
    return part if isinstance(part, dict) else {}


def _also(lines: Sequence[int]) -> str:
    return f" (so on {few([line_at(line) for line in lines])}, too)" if lines else ""

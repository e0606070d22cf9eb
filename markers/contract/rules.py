"""What the entries of a registry must satisfy, alone and among each other.

What may live here: the rules, each a small function that yields key and reason, and the tables that
list them.  What may not: reading files (``book``) and what becomes of a problem
(``contract``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import combinations

from .. import codec
from ..model import Family, Row, Scope
from ..payload.problems import likely
from . import overlap
from .book import CUT, Book, Entry, Problem
from .names import READERS, STEPS, VALIDATORS
from .schemas import faults

Finding = tuple[str, str]
"""Key and reason."""

_LITERAL = r"[A-Za-z0-9._:/]|-(?!-)"
_PLACEHOLDER = r"\{(?:[A-Z]+|[a-z][a-z_]*)\}"
_FORMS = {
    Scope.COMMENT: (rf"<!-- (?:{_LITERAL}|{_PLACEHOLDER})+ -->", "<!-- name-{PLACEHOLDER} -->"),
    Scope.POINTER: (rf"<!-- (?:{_LITERAL}|{_PLACEHOLDER}| )+ -->", "<!-- name: {placeholder} -->"),
    Scope.BLOCK: (r"\S.*? \.\.\.(?: \S.*)?", "OPENING ... CLOSING"),
}
_INSIDE = (Scope.BLOCK, Scope.POINTER)
_TOO_MANY = "its params allow too many texts: use fewer, shorter or no values"


def judge(book: Book, *, since: int = 0) -> list[Problem]:
    """Everything wrong with the entries of source *since* and later, seen beside all others."""
    found = list(book.problems)
    for family in book.families.values():
        if family.source >= since:
            for rule in _OF_A_FAMILY:
                found += _told(family, rule(family.value))
            found += _told(family, _family_among(family, book))
    for row in book.rows.values():
        if row.source >= since:
            found += _told(row, _row_among(row, book))
    for schema in book.schemas.values():
        if schema.source >= since:
            found += _told(schema, faults(schema.value))
    return found + list(_clashes(book, since))


def _told(
    entry: Entry[Family] | Entry[Row] | Entry[str], findings: Iterator[Finding]
) -> list[Problem]:
    return [Problem(entry.file, key, reason[:CUT]) for key, reason in findings]


def _form(family: Family) -> Iterator[Finding]:
    pattern, example = _FORMS.get(family.scope, ("", ""))
    if pattern and not re.fullmatch(pattern, family.template):
        yield "marker", f"is not of the form '{example}', as scope {family.scope} wants it"


def _placeholders(family: Family) -> Iterator[Finding]:
    """One number at most, each param once, and none that is not declared."""
    if family.scope is Scope.BLOCK:
        return
    names = codec.pieces(family.template)[1::2]
    declared = [param.name for param in family.params]
    if sum(not codec.is_param(name) for name in names) > 1:
        yield "marker", "has more than one placeholder for the number"
    for name in sorted({name for name in names if codec.is_param(name)}):
        if name not in declared:
            yield "marker", f"the placeholder {{{name}}} is not declared under params"
    for name in declared:
        if names.count(name) != 1:
            yield f"params.{name}", f"is in the marker {names.count(name)} times, not once"
        if name == "number":
            yield "params.number", "a param may not be named 'number'; {ID} stands for it"


def _one_reading(family: Family) -> Iterator[Finding]:
    if family.scope is not Scope.COMMENT:
        return
    try:
        text = overlap.ambiguity(family)
    except overlap.TooMany:
        yield "marker", _TOO_MANY
        return
    if text:
        yield "marker", f"can be read in two ways, such as in '{text}'"


def _surface_when(family: Family) -> Iterator[Finding]:
    values = {param.name: param.values for param in family.params}
    for name, by_value in family.surface_when.items():
        if name not in values:
            yield f"surface_when.{name}", "is not a param of this family"
            continue
        for value in by_value:
            if values[name] and value not in values[name]:
                yield f"surface_when.{name}.{value}", f"is not a value of {name}"


def _surface(family: Family) -> Iterator[Finding]:
    if family.writable and not family.surfaces:
        yield "surface", "is missing: a family that is written needs one"
    if family.scope is not Scope.COMMENT and family.surfaces:
        yield "surface", f"only a comment has a surface, and this is a {family.scope}"


def _shape(family: Family) -> Iterator[Finding]:
    if family.scope is not Scope.COMMENT and family.shape:
        yield "shape", f"only a comment is written on its own, and this is a {family.scope}"


def _gap(family: Family) -> Iterator[Finding]:
    if not family.writable and not family.carriers and not family.gap:
        yield "gap", "is missing: nothing writes this family, and it must say why"


def _inside(family: Family) -> Iterator[Finding]:
    if family.carriers and family.scope not in _INSIDE:
        yield "carriers", f"only blocks and pointers have carriers, and this is a {family.scope}"


def _called(family: Family) -> Iterator[Finding]:
    """The code that it names must be there."""
    named = [("validator", family.validator, VALIDATORS), ("reader", family.reader, READERS)]
    named += [(f"steps[{at}]", step, STEPS) for at, step in enumerate(family.steps)]
    for key, name, known in named:
        if name is not None and name not in known:
            yield key, f"there is none of the name {name!r}{_meant(name, known)}"


def _schema(family: Family) -> Iterator[Finding]:
    if family.validator == "fenced-yaml" and not family.schema:
        yield "schema", "is missing: fenced-yaml judges a payload by it"
    if family.schema and not family.validator and family.scope is not Scope.COMMENT:
        yield (
            "validator",
            f"is missing: only a comment is judged by its schema alone, no {family.scope}",
        )


def _meant(name: str, known: Iterable[str]) -> str:
    near = likely(name, known)
    return f"; did you mean {near}?" if near else ""


_OF_A_FAMILY: tuple[Callable[[Family], Iterator[Finding]], ...] = (
    _form,
    _placeholders,
    _one_reading,
    _surface_when,
    _surface,
    _shape,
    _gap,
    _inside,
    _called,
    _schema,
)


def _family_among(entry: Entry[Family], book: Book) -> Iterator[Finding]:
    family = entry.value
    if family.schema and family.schema not in book.schemas:
        yield "schema", f"there is no schemas/{family.schema}{_meant(family.schema, book.schemas)}"
    for at, name in enumerate(family.carriers):
        carrier = book.families.get(name)
        if carrier is None:
            yield f"carriers[{at}]", f"there is no family {name!r}"
        elif carrier.value.scope is not Scope.COMMENT:
            yield f"carriers[{at}]", f"{name!r} is not a comment family"
    for at, name in enumerate(family.rows):
        row = book.rows.get(name)
        if row is None:
            yield f"rows[{at}]", f"there is no row {name!r}"
        elif _apart(entry, row) or family.scope is not Scope.COMMENT:
            continue
        elif family.name not in row.value.families:
            yield f"rows[{at}]", f"{name} does not name {family.name} among its families"


def _row_among(entry: Entry[Row], book: Book) -> Iterator[Finding]:
    row = entry.value
    for at, name in enumerate(row.families):
        family = book.families.get(name)
        if family is None:
            yield f"families[{at}]", f"there is no family {name!r}"
        elif not _apart(entry, family) and row.id not in family.value.rows:
            yield f"families[{at}]", f"{name} does not name {row.id} among its rows"
    served = [book.families[name].value for name in row.families if name in book.families]
    if not any(family.writable for family in served) and not row.gap:
        yield "gap", "is missing: no family writes this row durably, and it must say why"
    yield from _chained(row, {family.name for family in served if family.writable})


_LOCAL = frozenset({"bundle", "cache", "store"})


def _chained(row: Row, writable: Collection[str]) -> Iterator[Finding]:
    """What readers look for must be declared, and what is kept in two places needs an owner."""
    if row.owner is not None and row.owner not in writable:
        yield "owner", f"{row.owner!r} is none of the row's families that are written"
    if row.owner is None and not row.gap and "comment" in row.chain and _LOCAL & {*row.chain}:
        yield "owner", "is missing: a local copy and a comment are kept in step through one family"
    for key, named in (("caches", "cache"), ("store", "store")):
        if named in row.chain and not getattr(row, key):
            yield key, f"is missing: the chain names the row's {named}"
    if row.publishes and not row.store:
        yield "store", "is missing: publishes names fields of a store"


def _apart(one: Entry[Family] | Entry[Row], other: Entry[Family] | Entry[Row]) -> bool:
    """Whether two entries come from different directories: an overlay cannot make ours name it."""
    return one.source != other.source


def _clashes(book: Book, since: int) -> Iterator[Problem]:
    """Pairs of families that one and the same line can be a marker of."""
    entries = sorted(book.families.values(), key=lambda entry: (entry.source, entry.file))
    lines = [(entry, _as_line(entry.value)) for entry in entries]
    judged = [(entry, line) for entry, line in lines if line.template.startswith("<!--")]
    for (_, earlier), (entry, later) in combinations(judged, 2):
        if entry.source >= since and (reason := _shared(earlier, later)):
            yield Problem(entry.file, "marker", reason[:CUT])


def _shared(earlier: Family, later: Family) -> str | None:
    try:
        text = overlap.clash(earlier, later)
    except overlap.TooMany:
        return f"cannot be told from {earlier.name}: {_TOO_MANY}"
    return f"can be the same as one of {earlier.name}, such as '{text}'" if text else None


def _as_line(family: Family) -> Family:
    """The family with the one line that a reader would take for its marker."""
    if family.scope is not Scope.BLOCK:
        return family
    opening = family.template.partition(" ...")[0]
    ending = "" if opening.endswith("-->") else " -->"
    return replace(family, template=opening + ending)

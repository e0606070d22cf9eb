"""The session-memory contract: families and rows, looked up, parsed and recognised in text.

What may live here: the contract as the rest of the house asks for it, and the choice of which
files make it up.  What may not: reading files (``files``, ``book``), the rules
they must satisfy (``rules``), and what is done about a marker in a text (``hygiene``).

The shipped files are proved by the tests and by ``check``, so that a start reads only what it needs
of them and judges nothing; overlays are read whole and judged each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from .. import codec
from ..errors import Refused, echo
from ..model import Family, Marker, Row, Scope
from .files import (
    FAMILIES,
    FAMILY_SCHEMA,
    ROWS,
    SCHEMAS,
    Shelf,
    listing,
    schema_listing,
    shipped,
    shipped_family,
    shipped_labels,
    shipped_row,
)

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from .book import Book, Problem

# A placeholder may be written as any word, and a word may hold {ID}, {{ ID }}, <ID>, $(a command).
# Each of these is read in one way only, and whole: nothing is tried again for a longer word.
_BRACES = r"\{++[^<>{}]*+\}++"
_ANGLES = r"<(?!!--)[^<>]*+>"
_DOLLAR = r"\$(?:\((?:[^()<>]|\([^()<>]*+\))*+\))?+"
_WILDCARD = rf"(?:[^\s<>{{}}$]|{_BRACES}|{_ANGLES}|{_DOLLAR})+?"
_INSIDE = (Scope.BLOCK, Scope.POINTER)

T = TypeVar("T")


@dataclass(frozen=True)
class Contract:
    """Families and rows by name, and how a line of text relates to them."""

    families: Mapping[str, Family]
    rows: Mapping[str, Row]
    schemas: Mapping[str, str]
    """The text of each JSON Schema by file name."""

    def family(self, name: str) -> Family:
        """The family of that name; raises ``Refused`` (``family-unknown``)."""
        return _found(name, self.families, "family")

    def row(self, row_id: str) -> Row:
        """The row of that id; raises ``Refused`` (``row-unknown``)."""
        return _found(row_id, self.rows, "row")

    @cached_property
    def comment_families(self) -> tuple[Family, ...]:
        """The families whose marker is line 1 of a comment, whatever their status."""
        return tuple(f for f in self.families.values() if f.scope is Scope.COMMENT)

    @cached_property
    def survival_labels(self) -> tuple[re.Pattern[str], str]:
        """The form of a survival label, and the same in words; no overlay adds labels."""
        return shipped_labels()

    def parse(self, text: str) -> Marker | None:
        """Read a marker back; None when *text* is not exactly the marker of a comment family."""
        return codec.parse(text, self.comment_families)

    def blocks_for(self, family_name: str) -> tuple[Family, ...]:
        """The blocks and pointers that a comment of this family may hold."""
        return tuple(f for f in self.families.values() if family_name in f.carriers)

    def live_family(self, line: str) -> Family | None:
        """The comment family whose marker *line* begins with, in any status.

        *line* comes without leading blanks and invisible characters.  Any word will do for a
        placeholder (a number with leading zeros, an unknown value, ``{ID}``, ``<ID>``, ``$ID``),
        and text may follow: readers that search for the marker would find it there, at the latest
        when somebody has filled the placeholder in.
        """
        family = self._live(line)
        return family if family and family.scope is Scope.COMMENT else None

    def live_block(self, line: str) -> Family | None:
        """The block or pointer that *line* opens or, where its closing has a name, closes."""
        family = self._live(line)
        return family if family and family.scope in _INSIDE else None

    def _live(self, line: str) -> Family | None:
        """The family with the most literal text of those whose line this can be."""
        if not line.startswith(self._beginnings):
            return None
        fits = [
            (sum(map(len, literal)), family)
            for literal, family in self._line_forms
            if line.startswith(literal[0]) and _loose(literal).match(line)
        ]
        return max(fits, key=lambda fit: fit[0])[1] if fits else None

    @cached_property
    def _beginnings(self) -> tuple[str, ...]:
        """With what a live line can begin: most lines are dismissed by it."""
        return tuple({literal[0] for literal, _ in self._line_forms})

    @cached_property
    def _line_forms(self) -> tuple[tuple[tuple[str, ...], Family], ...]:
        """The literal text of each live line, cut where a placeholder stands, and its family."""
        live = (f for f in self.families.values() if f.scope in (Scope.COMMENT, *_INSIDE))
        return tuple(
            (tuple(codec.pieces(form)[::2]), family) for family in live for form in _forms(family)
        )


def _forms(family: Family) -> Iterator[str]:
    """A marker or pointer as it is; of a block the opening, and the closing if it has a name."""
    if family.scope is not Scope.BLOCK:
        yield family.template
        return
    opening, _, closing = family.template.partition(" ...")
    yield opening
    if closing.strip(" ->"):
        yield closing.strip()


@lru_cache(maxsize=512)
def _loose(literal: tuple[str, ...]) -> re.Pattern[str]:
    """What begins a live line: a whole comment, a comment's first line, or a whole YAML head.

    Each word ends where the text after it is first met, and is not tried longer: a later place
    would only lengthen it at the next word's cost, and trying all of them takes quadratic time.
    """
    first, *following = map(re.escape, literal)
    if not literal[0].startswith("<!--"):
        end = r"\s*\Z"
    else:
        end = "" if literal[-1].endswith("-->") else r"(?=\s|-->|\Z)"
    texts = [first, *following]
    texts[-1] += end
    return re.compile(texts[0] + "".join(f"(?>{_WILDCARD}{text})" for text in texts[1:]))


def _found(name: str, among: Mapping[str, T], what: str) -> T:
    if name in among:
        return among[name]
    from ..payload.problems import likely  # only for those who mistype

    near = likely(name, among)
    hint = f"did you mean {near}?" if near else "'persist-marker registry list' shows all"
    raise Refused(f"{what}-unknown", f"there is no {what} {echo(name)!r}: {hint}")


def load(
    overlays: Sequence[Traversable] = (), *, families_only: Sequence[Traversable] = ()
) -> Contract:
    """The shipped contract with *overlays* laid over it, in order.

    *overlays* are directories in the registry's own format, which the user named himself;
    *families_only* come from a checkout and may only add families.  Raises ``Refused``
    (``registry``) with file, key and reason of the first problem.
    """
    if not overlays and not families_only:
        return _shipped_contract()
    book = _read(overlays, families_only)
    _refuse(_judged(book, since=1))
    return Contract(
        families=MappingProxyType({name: entry.value for name, entry in book.families.items()}),
        rows=MappingProxyType({name: entry.value for name, entry in book.rows.items()}),
        schemas=MappingProxyType({name: entry.value for name, entry in book.schemas.items()}),
    )


def _shipped_contract() -> Contract:
    root = shipped()
    return Contract(
        families=Shelf(listing(root.joinpath(FAMILIES)), shipped_family),
        rows=Shelf(listing(root.joinpath(ROWS)), shipped_row),
        schemas=Shelf(schema_listing(root), str),
    )


def problems(
    overlays: Sequence[Traversable] = (), *, families_only: Sequence[Traversable] = ()
) -> list[Problem]:
    """Everything wrong with the shipped contract and what is laid over it."""
    return _judged(_read(overlays, families_only), since=0)


def check(directory: Traversable) -> list[Problem]:
    """Everything wrong with the registry files below *directory*.

    A directory that has the schema of families is a registry of its own and is judged alone; any
    other is judged as an overlay on the shipped one.
    """
    from .book import Book

    book = Book()
    alone = directory.joinpath(SCHEMAS, FAMILY_SCHEMA).is_file()
    if not alone:
        book.add(shipped(), source=0)
    book.add(directory, source=1)
    return _judged(book, since=1)


def _read(overlays: Sequence[Traversable], families_only: Sequence[Traversable]) -> Book:
    from .book import Book  # judging costs imports that the shipped contract can spare

    book = Book()
    for source, root in enumerate([shipped(), *overlays]):
        book.add(root, source)
    for source, root in enumerate(families_only, start=1 + len(overlays)):
        book.add_families_only(root, source)
    return book


def _judged(book: Book, *, since: int) -> list[Problem]:
    from .rules import judge

    return judge(book, since=since)


def _refuse(found: Sequence[Problem]) -> None:
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        hint = "'persist-marker registry check DIR' lists all"
        raise Refused("registry", f"{found[0]}{more}; {hint}")

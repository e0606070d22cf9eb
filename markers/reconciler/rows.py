"""Rows: the local copy that each has for a number, and what becomes of those that have none.

What may live here: from a row and a number to what is reconciled.  What may not: templates
(``naming``), what a chain's sources hold (``chains``), the reconciling itself.

A bundle, one file for several numbers, comes before the file of a single one, and is never split or
overwritten: while one covers the number, the single file's row leaves all to the bundle's row,
which carries the whole bundle to the comment of each of its numbers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..caches.files import ASIDE, StateFile
from ..caches.places import SPOTS, Surroundings, named
from ..codec import derive
from ..contract import Contract
from ..errors import few
from ..model import Action, Reason, Row, Status, Thread
from ..paths import Place, Roots, missing_is_fine, walked
from ..plan import OnConflict, Word
from . import chains, reconcile
from .cached import CacheFile
from .chains import Desk
from .interface import Outcome, Source, Wish
from .naming import Template, template_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the caller says about one row and one number."""

    row: Row
    number: int
    cache: Place | None = None
    """The file that is meant instead of the usual one."""
    apply: bool = False
    create: bool = False
    on_conflict: OnConflict = OnConflict.REFUSE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copy:
    """The local copy of a row; with a *gap* it is not reconciled."""

    place: Place | None = None
    source: Source | None = None
    gap: Reason | None = None


def reconcile_row(desk: Desk, contract: Contract, at: Surroundings, asked: Asked) -> Outcome:
    """Reconcile one row; raises what ``reconcile`` raises, and ``Refused`` (``path-...``)."""
    row = asked.row
    copy = _copy(contract, at, asked)
    if copy.gap is not None or copy.place is None or row.owner is None:
        return _gapped(desk, at, asked, copy)
    setup, repo = desk()
    family = contract.family(row.owner)
    wish = Wish(
        row=row.id,
        thread=Thread(repo, asked.number),
        family=family,
        marker=derive(family, asked.number),
        local=CacheFile(StateFile(place=copy.place, mode=0o600)),
        source=copy.source or Source.CACHE,
        chain=row.chain,
        shared=copy.source is Source.BUNDLE,
        apply=asked.apply,
        create=asked.create,
        on_conflict=asked.on_conflict,
    )
    return reconcile(setup, wish)


def rows_with_files(contract: Contract, number: int, at: Surroundings) -> Iterator[Row]:
    """The rows in use that have a file for *number* here, in order."""
    for row in contract.rows.values():
        found = (_existing(template, number, at) for template in _templates(row))
        if row.status is not Status.RETIRED and any(found):
            yield row


def _templates(row: Row) -> list[Template]:
    """Those of the row's files whose names say which number they are about."""
    found = map(template_of, row.caches)
    return [template for template in found if template.numbered]


def _copy(contract: Contract, at: Surroundings, asked: Asked) -> _Copy:
    row, templates = asked.row, _templates(asked.row)
    given = _given(templates, at, asked)
    if row.gap is not None:
        return _Copy(place=given, gap=Reason(code="gap", detail=row.gap))
    if row.owner is None or not templates:
        return _Copy(gap=_without_files(row))
    if templates[0].bundled:
        return _bundle(templates[0], at, asked, given)
    bundles = _bundles_over(contract, at, asked)
    if bundles:
        return _Copy(source=Source.BUNDLE, gap=_behind(bundles, asked.number))
    usual = _place(templates[0], templates[0].spelled(asked.number) or "", at)
    return _Copy(place=given or usual, source=Source.CACHE)


def _without_files(row: Row) -> Reason:
    if row.store is not None:
        detail = (
            f"it is the content of a store: `persist-marker state {row.store} publish` and "
            "`restore` keep it in step"
        )
        return Reason(code="store", detail=detail)
    detail = "it has no file of its own on this machine: there is nothing to keep in step"
    return Reason(code="no-local", detail=detail)


def _given(templates: Sequence[Template], at: Surroundings, asked: Asked) -> Place | None:
    """The file that the caller names; raises ``Refused`` where the row has none of that name."""
    cache = asked.cache
    if cache is None:
        return None
    if ASIDE in cache.path.parts:
        raise cache.refused("path-aside", "is a copy that was kept aside: nothing is written there")
    for template in templates:
        if template.covers(cache.path.name, asked.number):
            return named("memory", cache.given, at) if template.memory else cache
    names = [template.spelled(asked.number) or template.name for template in templates]
    called = (
        f"must be called {' or '.join(names)}" if names else "is none of its files: it has none"
    )
    raise cache.refused("path-name", f"{called}, for {asked.row.id} and number {asked.number}")


def _bundle(template: Template, at: Surroundings, asked: Asked, given: Place | None) -> _Copy:
    found = [given] if given else _existing(template, asked.number, at)
    if len(found) == 1:
        return _Copy(place=found[0], source=Source.BUNDLE)
    if found:
        names = few([place.path.name for place in found])
        detail = f"several bundles cover {asked.number}: name one of {names} with --cache"
        return _Copy(source=Source.BUNDLE, gap=Reason(code="several-bundles", detail=detail))
    detail = f"no bundle covers {asked.number}: its plan is a single one"
    return _Copy(gap=Reason(code="no-bundle", detail=detail))


def _bundles_over(contract: Contract, at: Surroundings, asked: Asked) -> list[tuple[Row, Place]]:
    """The bundles, each with its row, that cover the number and come before the row's own file."""
    if Source.BUNDLE not in asked.row.chain:
        return []
    return [
        (row, place)
        for row in contract.rows.values()
        if row.owner == asked.row.owner
        for template in _templates(row)
        if template.bundled
        for place in _existing(template, asked.number, at)
    ]


def _behind(bundles: Sequence[tuple[Row, Place]], number: int) -> Reason:
    row, place = bundles[0]
    detail = f"{place.path.name} covers {number} and comes first: reconcile {row.id}"
    return Reason(code="bundle", detail=detail)


def _gapped(desk: Desk, at: Surroundings, asked: Asked, copy: _Copy) -> Outcome:
    """Why it is not reconciled, and which place of the row's chain is the first to have something.

    Only a row whose files say which number they are about has a chain that can be asked for one.
    """
    row, found = asked.row, chains.Found(source=copy.source)
    if copy.source is None and row.status is not Status.RETIRED and _templates(row):
        files = [copy.place] if copy.place else _files(asked, at)
        found = chains.first(desk, row, asked.number, files)
    trouble = found.trouble
    return Outcome(
        decision=Word.UNKNOWN if trouble else Word.GAP,
        row=row.id,
        number=asked.number,
        source=found.source,
        comment_id=found.comment_id,
        reason=trouble or copy.gap,
        ended=Action.UNKNOWN if trouble else Action.UNCHANGED,
    )


def _files(asked: Asked, at: Surroundings) -> list[Place]:
    templates = _templates(asked.row)
    return [place for each in templates for place in _existing(each, asked.number, at)]


def _existing(template: Template, number: int, at: Surroundings) -> list[Place]:
    """The files for *number* that are there, by name."""
    folder = _place(template, "", at)
    names: list[str] = []
    with missing_is_fine(), walked(folder, template.above) as directory:
        names = os.listdir(directory)  # noqa: PTH208 - a descriptor cannot be swapped, a path can
    return [_place(template, name, at) for name in sorted(names) if template.covers(name, number)]


def _place(template: Template, name: str, at: Surroundings) -> Place:
    root = SPOTS["memory"].root(at) if template.memory else at.top or at.directory
    parts = (*template.above, name)
    return Place(str(root.joinpath(*parts)), root, parts, Roots((root,)))

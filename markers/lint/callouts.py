"""Survival callouts: whether label and rows are what the contract says.

What may live here: reading ``Survival: LABEL; contract: ROW`` and judging it.  What may not: where
a callout is missing (``caches``).

The grammar: blanks, bold, italics, backticks and quotes around each word do not count, nor does
the letter case of "survival" and "contract"; several labels and several rows are separated by
commas, rows may be links.  A label in braces, in angle brackets or in capitals stands for any
label: such a callout is a template, not a statement.

A callout that is not of this form says nothing to those who look for callouts.  What was meant as
one is told from other prose by a label of the vocabulary, or by signs behind both words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import echo
from ..model import Row, Status
from .findings import Finding
from .interface import Known
from .page import Page

_AROUND = " \t*_`\"'~\u201c\u201d\u2018\u2019"
_SOFT = rf"[\s>{_AROUND}]{{0,12}}"
_ID = r"[A-Za-z][A-Za-z0-9]{0,19}-[0-9]{1,9}"
_LINK = r"(?:\]\([^()\s]{0,200}\))?"
# Whoever forgets to fill in SMC-NN means a row; "in-memory" is no row.
_FIRST = rf"\[?(?:{_ID}|(?-i:[A-Z][A-Z0-9]{{0,19}}-[A-Z]{{1,9}}))\b{_LINK}"
_NEXT = rf"{_SOFT}(?:,|&|/|\band\b){_SOFT}\[?{_ID}\b{_LINK}"
_CALLOUT = re.compile(
    rf"(?<![\w-])survival{_SOFT}:{_SOFT}(?P<label>[^;\r\n]{{1,160}}+);"
    rf"{_SOFT}contract{_SOFT}:{_SOFT}(?P<rows>{_FIRST}(?:{_NEXT}){{0,20}})",
    re.IGNORECASE,
)
_SIGN = r"[:=\u2013\u2014-]"
_WORD = r"(?!contract)[A-Za-z{<\u2026][\w{}<>\u2026-]{0,40}+(?::[\w-]{1,40}+)?"
_NEARLY = re.compile(
    rf"(?<![\w-])survival{_SOFT}(?P<sign>(?:{_SIGN}|is\b)?){_SOFT}"
    rf"(?P<label>{_WORD}(?:{_SOFT}[,&/]{_SOFT}{_WORD}){{0,4}})"
    rf"[{_AROUND}]{{0,12}}(?:[;,.(|/]{{1,3}}|{_SIGN})?{_SOFT}"
    rf"(?P<contract>contracts?)?{_SOFT}{_SIGN}?{_SOFT}(?P<rows>{_FIRST}(?:{_NEXT}){{0,20}})",
    re.IGNORECASE,
)
_TARGET = re.compile(r"\([^()]*\)")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*-[A-Za-z0-9]+")
_PLACEHOLDER = re.compile(r"[{}<>\u2026]")


@dataclass(frozen=True, slots=True)
class Callout:
    """One callout as it is written."""

    start: int
    text: str
    labels: tuple[str, ...]
    rows: tuple[str, ...]


def callouts_of(page: Page) -> list[Callout]:
    """The callouts of *page*, in order, templates left out."""
    found = (_read(match) for match in _CALLOUT.finditer(page.text) if page.counts(match.start()))
    return [callout for callout in found if not any(map(_is_template, callout.labels))]


def _read(match: re.Match[str]) -> Callout:
    labels = tuple(part.strip(_AROUND) for part in match["label"].split(","))
    rows = tuple(name.upper() for name in _NAME.findall(_TARGET.sub("", match["rows"])))
    return Callout(match.start(), match[0], labels, tuple(dict.fromkeys(rows)))


def _is_template(label: str) -> bool:
    return label.isupper() or _PLACEHOLDER.search(label) is not None


def callouts(page: Page, contract: Known) -> Iterator[Finding]:
    """What is wrong with the callouts of *page*."""
    for callout in callouts_of(page):
        for code, detail in _faults(callout, contract):
            yield _finding(page, callout, code, detail)
    for callout in _failed(page, contract):
        meant = f"Survival: {', '.join(callout.labels)}; contract: {', '.join(callout.rows)}"
        detail = f"this is not the form of a callout: write '{echo(meant)}'"
        yield _finding(page, callout, "survival-form", detail)


def _finding(page: Page, callout: Callout, code: str, detail: str) -> Finding:
    return Finding(
        line=page.line_of(callout.start),
        column=page.column_of(callout.start),
        code=code,
        detail=detail,
        literal=echo(" ".join(callout.text.split())),
    )


def _failed(page: Page, contract: Known) -> Iterator[Callout]:
    """What was meant as a callout and is none."""
    form, _ = contract.survival_labels
    for match in _NEARLY.finditer(page.text):
        if _CALLOUT.match(page.text, match.start()) or not page.counts(match.start()):
            continue
        callout = _read(match)
        known = all(map(form.fullmatch, callout.labels)) and callout.rows[0] in contract.rows
        signed = match["sign"] and match["contract"]
        if known or (signed and not any(map(_is_template, callout.labels))):
            yield callout


def _faults(callout: Callout, contract: Known) -> Iterator[tuple[str, str]]:
    form, meaning = contract.survival_labels
    known = [label for label in callout.labels if form.fullmatch(label)]
    for label in callout.labels:
        if label not in known:
            yield "survival-label", f"{echo(label)!r} is not {meaning}"
    for row_id in callout.rows:
        row = contract.rows.get(row_id)
        if row is None:
            hint = "'persist-marker registry list' shows all"
            yield "survival-row", f"there is no row {echo(row_id)!r}: {hint}"
        else:
            yield from _against(row, known)


def _against(row: Row, labels: list[str]) -> Iterator[tuple[str, str]]:
    if row.status is Status.RETIRED:
        yield "survival-retired", f"{row.id} is retired: cite the row that owns this state now"
        return
    allowed = [survival.label for survival in row.survival]
    for label in labels:
        if label not in allowed:
            detail = f"{row.id} does not allow {echo(label)!r}: it lists {', '.join(allowed)}"
            yield "survival-not-allowed", detail

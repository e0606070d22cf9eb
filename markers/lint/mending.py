"""What to write instead of marker literals, such that all around them is shown as before.

What may live here: choosing the form, and proving it.  What may not: what is a literal
(``literals``), and how Markdown is shown (``rendering``).

Each form is tried on the blocks around it, together with those of other literals; where that
changes more than the literals, on each half of them, down to one.  What cannot be proved is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from .findings import Edit, edited
from .page import Page
from .rendering import MARK, alike, leaves_open

LONGEST = 32_768
"""Characters of the blocks around a literal, above which it is not tried."""

_FAR = 2000
"""How long the beginning of an address may be."""
_TICKS = re.compile(r"`+")


@dataclass(slots=True)
class Effort:
    """How many characters may still be tried: what bounds the time."""

    left: int = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """A marker literal that ends on its line."""

    start: int
    text: str
    words: str
    """Its inert form."""
    in_span: bool
    """Whether it stands in inline code."""

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)

    def marked(self, text: str) -> str:
        """The literal, or a form of it, with the mark behind the first character of its words."""
        at = text.index(self.words) + 1
        return text[:at] + MARK + text[at:]


@dataclass(frozen=True, slots=True)
class _Wish:
    literal: Literal
    forms: tuple[str, ...]
    """What could take its place, best first."""

    def edit(self, text: str) -> Edit:
        return Edit(self.literal.start, self.literal.end, text)


def edits(page: Page, literals: Sequence[Literal], effort: Effort) -> dict[int, Edit]:
    """How to mend those of *literals*, which come in order, that can be; by where they start."""
    if not literals or MARK in page.text:
        return {}
    found = [_Wish(literal, _forms(page, literal)) for literal in literals]
    wishes = [wish for wish in found if wish.forms]
    front = [wish for wish in wishes if page.in_front(wish.literal.start)]
    trial = _Trial(page, [wish.edit(wish.forms[0]) for wish in front], effort)
    end = _open_end(page)
    for group in _groups(page, wishes[len(front) :]):
        trial.run([wish for wish in group if wish.literal.start < end])
    return {edit.start: edit for edit in trial.proved}


def _forms(page: Page, literal: Literal) -> tuple[str, ...]:
    ahead = page.text[max(0, literal.start - _FAR) : literal.start]
    beside = ahead[-1:] + page.text[literal.end : literal.end + 1]
    if literal.words not in literal.text:
        return ()
    bare = () if any(map(_is_of_word, beside)) else (literal.words,)
    if literal.in_span or page.in_code(literal.start) or page.in_front(literal.start):
        return bare
    if _is_address(ahead):
        return ()
    return bare if set(beside) & {"`", "$"} else (_coded(literal.words), *bare)


def _coded(words: str) -> str:
    ticks = "`" * (1 + max(map(len, _TICKS.findall(words)), default=0))
    pad = " " if len(ticks) > 1 else ""
    return f"{ticks}{pad}{words}{pad}{ticks}"


def _is_of_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _is_address(ahead: str) -> bool:
    """Whether *ahead* ends in what GitHub makes a link of, which would go on with what follows."""
    word = ahead[1 + max(map(ahead.rfind, " \t\r\n<")) :].lower()
    return "://" in word or "www." in word


def _open_end(page: Page) -> int:
    """Where HTML ends that holds or hides what follows in Markdown; the page's end if none does."""
    opened = (end for end, html in page.html_blocks() if leaves_open(html))
    return next(opened, len(page.text))


def _groups(page: Page, wishes: Sequence[_Wish]) -> list[list[_Wish]]:
    """Those together that have blocks around them in common."""
    groups: list[list[_Wish]] = []
    end = -1
    for wish in wishes:
        around = page.surroundings(wish.literal.start, wish.literal.start)
        if around.start > end:
            groups.append([])
        groups[-1].append(wish)
        end = around.stop
    return groups


@dataclass(slots=True)
class _Trial:
    """What was proved so far, in order."""

    page: Page
    proved: list[Edit]
    effort: Effort

    def run(self, wishes: Sequence[_Wish]) -> None:
        """Prove as many of *wishes* as can be: all at once, or each half for itself."""
        if (
            not wishes
            or self.effort.left <= 0
            or self._proves(wishes, [wish.forms[0] for wish in wishes])
        ):
            return
        if len(wishes) > 1:
            middle = len(wishes) // 2
            self.run(wishes[:middle])
            self.run(wishes[middle:])
        else:
            any(self._proves(wishes, [form]) for form in wishes[0].forms[1:])

    def _proves(self, wishes: Sequence[_Wish], forms: Sequence[str]) -> bool:
        around = self.page.surroundings(wishes[0].literal.start, wishes[-1].literal.start)
        if not 0 < len(around) <= LONGEST:
            return False
        self.effort.left -= len(around)
        each = [(wish, wish.literal) for wish in wishes]
        before = self._with(around, [w.edit(lit.marked(lit.text)) for w, lit in each])
        marked = zip(wishes, forms, strict=True)
        after = self._with(around, [w.edit(w.literal.marked(form)) for w, form in marked])
        words = {lit.marked(lit.words) for _, lit in each}
        if not alike(before, after, words, len(wishes)):
            return False
        self.proved += [w.edit(form) for w, form in zip(wishes, forms, strict=True)]
        return True

    def _with(self, around: range, new: Sequence[Edit]) -> str:
        """A part of the page with what was proved there, and with *new* edits."""
        near = takewhile(lambda edit: edit.start >= around.start, reversed(self.proved))
        return edited(self.page.text, [*near, *new], around)

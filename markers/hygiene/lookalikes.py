"""Lines that look like a marker but are none, and the one fault that each of them has.

What may live here: seeing through what shells, editors and sanitisers do to a marker.  What may
not: the grammar itself (``codec``), and whether such a line is allowed (``compose``, ``hygiene``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from .. import codec
from ..errors import Refused
from ..model import Family, Marker
from .invisible import INVISIBLE, bare, is_blank, visible
from .secrets import safe_echo


class Known(Protocol):
    """What hygiene asks of a contract."""

    @property
    def families(self) -> Mapping[str, Family]:
        """All families by name."""

    @property
    def comment_families(self) -> Iterable[Family]:
        """Those whose marker is line 1 of a comment."""

    def family(self, name: str) -> Family:
        """The family of that name."""

    def parse(self, text: str) -> Marker | None:
        """Read a comment family's marker back."""

    def live_family(self, line: str) -> Family | None:
        """The comment family whose marker a bare line begins with."""

    def live_block(self, line: str) -> Family | None:
        """The block or pointer that a bare line opens or closes."""


# Unicode's dashes (Pd) and minus signs that compatibility folding leaves as they are.
_DASH = re.compile(
    "[\u058a\u05be\u1400\u1806\u2010-\u2015\u2043\u207b\u208b\u2212\u2e3a\u2e3b\u2e40\u301c\u3030"
    "\u30a0\ufe31\ufe32]"
)
_OPENING = re.compile(r"<\s*\\*!\s*-+\s*")
_SEPARATORS = re.compile(r"[\s_-]+")
_NUMBERED = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*-#?[0-9]+")


def folded(line: str) -> str:
    """*line* with plain hyphens for all dashes, and plain characters for their other forms."""
    if line.isascii():
        return line
    import unicodedata  # hardly any line that is asked about needs it

    return _DASH.sub("-", unicodedata.normalize("NFKC", line))


def repaired(line: str) -> str | None:
    r"""What a bare line with a damaged comment opening or closing was meant to be, if anything.

    ``<\!-- x -->``, ``<!-x-->``, a dash that is no hyphen, a missing or cut-off ``-->``.
    """
    line = folded(line)
    opening = _OPENING.match(line)
    if opening is None:
        return None
    inside, end, after = line[opening.end() :].partition("-->")
    text = inside if end else inside.rstrip().removesuffix(">").rstrip("-!")
    return f"<!-- {text.rstrip()} -->{after}"


HEAD = 1024


@dataclass(frozen=True)
class FirstLine:
    """A payload's first line beside the marker that is wanted there."""

    line: str
    wanted: Marker
    contract: Known

    @cached_property
    def decoded(self) -> str:
        """The line's beginning with its entities read; a longer one is no marker's likeness."""
        head = self.line[:HEAD]
        if "&" not in head:
            return head
        import html  # its table of names is long, and hardly any first line has one

        return html.unescape(head)

    @cached_property
    def inside(self) -> str | None:
        """What stands between the delimiters, seen through all damage; None without an opening."""
        meant = repaired(visible(self.decoded).strip())
        return None if meant is None else meant[5:].partition("-->")[0].strip().casefold()

    @cached_property
    def family(self) -> str | None:
        """The comment family whose name the line begins with."""
        words = _SEPARATORS.sub("-", self.inside or "")
        names = (f.name for f in self.contract.comment_families if _begins(words, _stem(f)))
        return max(names, key=len, default=None)

    @cached_property
    def parsed(self) -> Marker | None:
        """The line as a marker, where it is exactly one."""
        return self.contract.parse(self.line.rstrip(" \t"))

    def is_lookalike(self) -> bool:
        """Whether somebody meant a marker: a family's name, or a name that ends in a number."""
        if not self.inside or self.contract.live_block(bare(self.line)):
            return False
        return self.family is not None or _NUMBERED.fullmatch(self.inside) is not None


def _stem(family: Family) -> str:
    return codec.pieces(family.template)[0].removeprefix("<!-- ").removesuffix(" -->").rstrip("-")


def _begins(words: str, stem: str) -> bool:
    return words.startswith(stem) and not words[len(stem) : len(stem) + 1].isalpha()


def _same_family(first: FirstLine) -> bool:
    return first.parsed is not None and first.parsed.family == first.wanted.family


_FAULTS: tuple[tuple[str, Callable[[FirstLine], bool], str], ...] = (
    ("invisible-marker", lambda f: bool(INVISIBLE.search(f.line)), "holds invisible characters"),
    ("entity-marker", lambda f: f.decoded != f.line[:HEAD], "is entity-coded"),
    ("indented-marker", lambda f: f.line[:1].isspace(), "is indented"),
    ("broken-marker", lambda f: not f.line.startswith("<!--"), "does not open with '<!--'"),
    ("unclosed-marker", lambda f: "-->" not in f.line, "has no closing '-->'"),
    (
        "text-after-marker",
        lambda f: not is_blank(f.line.partition("-->")[2]),
        "has text after its closing '-->'",
    ),
    ("marker-placeholder", lambda f: "{" in f.line, "still has a placeholder in it"),
    ("other-number", lambda f: _same_family(f) and _number_differs(f), "has another number"),
    ("other-param", _same_family, "has another parameter"),
    (
        "foreign-marker",
        lambda f: f.family is not None and f.family != f.wanted.family,
        "belongs to another family",
    ),
    ("unknown-marker", lambda f: f.family is None, "belongs to no family of the contract"),
    (
        "marker-characters",
        lambda f: folded(f.line[:HEAD]) != f.line[:HEAD],
        "has a dash or another character that only looks like the plain one",
    ),
    ("marker-case", lambda f: f.line != f.line.casefold(), "is in another letter case"),
    ("marker-spelling", lambda _: True, "is spelled differently"),
)
"""The first fault that holds is the one that is named."""


def _number_differs(first: FirstLine) -> bool:
    return first.parsed is not None and first.parsed.number != first.wanted.number


def refusal(first: FirstLine) -> Refused:
    """The refusal of a lookalike; it names the fault and what to do."""
    code, words = next((code, words) for code, holds, words in _FAULTS if holds(first))
    return Refused(
        code,
        f"the first line looks like a marker but {words}: {safe_echo(first.line)}; write exactly "
        f"{first.wanted.text} there, or begin with the text and let the marker be put in front",
        line=1,
    )

"""Looking through prose for live markers and for false statements about survival.

What may live here: the order of the rules.  What may not: files, and what is printed.  Pure: text
in, findings out; ``cli.lint`` reads and replaces the files.
"""

from __future__ import annotations

from dataclasses import dataclass

from .caches import missing
from .callouts import callouts
from .encoding import Prose, Unreadable, decode
from .findings import Edit, Finding, mended
from .interface import Known
from .literals import literals
from .mending import Effort
from .page import Page

__all__ = [
    "Edit",
    "Finding",
    "Known",
    "Options",
    "Prose",
    "Unreadable",
    "decode",
    "is_markdown",
    "lint",
    "mend",
]

MARKDOWN = (".md", ".markdown", ".mdx", ".mdc", ".txt")
"""Endings of names of files that are read as Markdown."""


ROUNDS = 4
"""Mending one literal can make another: as often a text is looked through again."""


def is_markdown(name: str) -> bool:
    """Whether a file of that name is read as Markdown."""
    return name.lower().endswith(MARKDOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is looked for."""

    markdown: bool = True
    """The text is Markdown; in any other only what begins a line counts, and nothing is mended."""
    strict: bool = False
    """Look into code blocks, and at whole lines of what is not Markdown."""
    survival: bool = False
    """Ask for a callout where a row's file is named."""


def lint(text: str, contract: Known, options: Options) -> list[Finding]:
    """Everything wrong with *text*, in its order, but what its author allows."""
    return _look(text, contract, options, Effort())


def _look(text: str, contract: Known, options: Options, effort: Effort) -> list[Finding]:
    page = Page(text, options.markdown, options.strict)
    found = [*literals(page, contract, effort), *callouts(page, contract)]
    if options.survival:
        found += missing(page, contract)
    kept = (finding for finding in found if not page.allows(finding.line))
    return sorted(kept, key=lambda finding: (finding.line, finding.column))


def mend(text: str, contract: Known, options: Options) -> tuple[str, list[Finding]]:
    """*text* with its marker literals inert, and the findings that were mended."""
    done: list[Finding] = []
    effort = Effort()
    for _ in range(ROUNDS):
        found = [each for each in _look(text, contract, options, effort) if each.edit]
        if not found:
            break
        done += found
        text = mended(text, found)
    return text, done

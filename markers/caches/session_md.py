"""``SESSION-STATE.md``: a session's constraints, decisions, findings and open threads.

What may live here: what the store declares, what its verbs make of its text, and the views that
hooks inject.  What may not: files and locks (``engine``), how lines are read
(``session_sections``).  All is pure, and hooks import it at every turn: hence the one late import.

The rules are those of the stores' page, "Store session-md"; its numbers are in the names of the
tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import Failed, Refused, Usage, echo
from . import session_sections as sections
from .declared import Path, Store
from .session_template import ORCHESTRATED, ORCHESTRATION, TEMPLATE

CONSTRAINTS, DECISIONS, INFRASTRUCTURE, THREADS = sections.SECTIONS
SECTION_OF: Mapping[str, str] = {
    "constraint": CONSTRAINTS,
    "decision": DECISIONS,
    "infra": INFRASTRUCTURE,
    "thread": THREADS,
}
"""Where the verbs that take a text put it."""

STORE = Store(
    name="session-md",
    file="SESSION-STATE.md",
    owner="persist-marker state session-md",
    survival="within-worktree",
    chain=("SESSION-STATE.md",),
)

_COMMENT = "<!--"
_DIGESTED = (CONSTRAINTS, DECISIONS, THREADS)
_SUBJECT = r"[A-Za-z0-9._-]+"
_SURVEYED = re.compile(rf"\[surveyed:({_SUBJECT})\]")
_BRACKETED = re.compile(rf"\[({_SUBJECT})\] ?(.*)", re.DOTALL)
_WORDED = re.compile(rf"({_SUBJECT}):?(?: (.*))?", re.DOTALL)
_HEADING = re.compile(r" {0,3}#{1,6}(?![^ \t])")
_ALONE = re.compile(r"\r(?![\r\n]|\Z)")
_LINES = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""What one reader or another takes for the end of a line."""


def full(text: str) -> str:
    """What is shown when a session starts: all of it, and nothing where there is nothing."""
    return text.removeprefix(sections.MARK) if text.strip(sections.MARK + " \t\r\n") else ""


def digest(text: str) -> list[str]:
    """What is shown at every turn: headings and entries of all sections but the infrastructure.

    Entries with a comment are placeholders.  Without a real entry there is nothing.
    """
    lines = [line for line in sections.read(text) if line.section in _DIGESTED]
    real = [line for line in lines if line.heading or _is_real(line)]
    if not any(line.entry for line in real):
        return []
    return [
        f"## {line.section}" if line.heading else f"- {(line.entry or '').rstrip()}"
        for line in real
    ]


def says_nothing(text: str) -> bool:
    """Whether nothing was noted yet: no real entry, and nothing else but headings and comments."""
    if any(_is_real(line) for line in sections.read(text)):
        return False
    lines = "".join(_outside_comments(text)).replace("\r", "").removeprefix(sections.MARK)
    return all(_is_bare(line) for line in lines.split("\n"))


def _is_bare(line: str) -> bool:
    """Whether it is blank, a heading, or a bullet, of which the real ones were looked for."""
    bullet = line.startswith(sections.BULLET) or line.rstrip() == sections.BULLET.rstrip()
    return bullet or not line.strip() or _HEADING.match(line) is not None


def _outside_comments(text: str) -> Iterator[str]:
    """What no comment holds, found in one pass: a pattern would look ahead from each beginning."""
    at = 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 4)) >= 0:
        yield text[at:begin]
        at = end + 3
    yield text[at:]


def surveyed(text: str) -> frozenset[str]:
    """The names, in lower case, of what was surveyed; only the infrastructure's entries count."""
    return frozenset(
        name.lower()
        for line in sections.read(text)
        if line.section == INFRASTRUCTURE and _is_real(line)
        for name in _SURVEYED.findall(line.entry or "")
    )


def entry_of(verb: str, text: str, *, today: str) -> str:
    """The entry that a verb of ``SECTION_OF`` stores; *today* is for decisions.

    Raises ``Usage`` (``entry-empty``) and ``Refused`` (``entry-lines``, ``entry-comment``,
    ``entry-characters``).
    """
    _require_entry(verb, text)
    if verb == "decision":
        return f"[{today}] {text}"
    return _subject_first(text) if verb == "infra" else text


def has_subject(entry: str) -> bool:
    """Whether the survey guard knows an entry of the infrastructure by name."""
    return _SURVEYED.search(entry) is not None


def add(text: str, section: str, *entries: str) -> str:
    """Put entries that are not there yet under a heading, so that they stand in this order.

    Raises ``Failed`` (``state-section``) and ``Refused`` (``entry-misread``, ``state-lines``).
    """
    _require_lines(text)
    for entry in reversed(entries):
        try:
            text = sections.add(text, section, entry)
        except sections.NoSection:
            raise _no_section(section) from None
        except sections.Misread:
            raise _misread(f"'{echo(entry)}'; begin the text with a word") from None
    return text


def orchestrate(text: str) -> str:
    """Add what a dispatching main thread holds to, unless the file speaks of it already."""
    return text if ORCHESTRATED in text else add(text, CONSTRAINTS, *ORCHESTRATION)


def require_literal(literal: str) -> None:
    """Refuse to drop what is in every entry; raises ``Usage`` (``entry-empty``)."""
    if not literal.strip():
        raise Usage("entry-empty", "drop needs a text; an empty one would drop every entry")


def drop(text: str, literal: str) -> tuple[str, list[str]]:
    """Take out the entries that contain *literal*; the answer is what is left, and they.

    Raises ``Usage`` (``entry-empty``) and ``Refused`` (``entry-misread``, ``state-lines``).
    """
    require_literal(literal)
    _require_lines(text)
    try:
        return sections.drop(text, literal)
    except sections.Misread:
        raise _misread("what is indented below these entries") from None


def entries(text: str, section: str) -> list[str]:
    """The real entries of a section, from the top; raises ``Failed`` (``state-section``)."""
    lines = [line for line in sections.read(text) if line.section == section]
    if not any(line.heading for line in lines):
        raise _no_section(section)
    return list(dict.fromkeys((line.entry or "").rstrip() for line in filter(_is_real, lines)))


def set_entries(text: str, section: str, wanted: Sequence[str]) -> str:
    """Let a section have these real entries and no others; placeholders and the rest stay.

    Raises ``Failed`` (``state-section``) and ``Refused`` (``entry-...``).
    """
    _require_lines(text)
    there = entries(text, section)
    if there == [*wanted]:
        return text
    for entry in wanted:
        if not entry.strip():
            raise Refused("entry-empty", f"an entry of {section} says nothing")
        _require_entry(section, entry)
    try:
        return sections.swap(text, section, there, wanted)
    except sections.NoSection:
        raise _no_section(section) from None
    except sections.Misread:
        raise _misread(f"the entries of {section}") from None


class Codec:
    """The form of the store: UTF-8 text, whose every byte is kept."""

    def load(self, data: bytes) -> str:
        """Read it; raises ``Broken`` for what is no text."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise _broken("it is not UTF-8") from None
        if "\0" in text:
            raise _broken("it holds a NUL, so it is no text")
        return text

    def dump(self, value: str) -> bytes:
        """The same bytes again."""
        return value.encode()

    def fresh(self) -> str:
        """The template."""
        return TEMPLATE

    def version(self, value: str) -> None:
        """There is none."""

    def fields(self, value: str) -> Mapping[Path, Any]:
        """The whole text is one field."""
        return {("text",): value}


CODEC = Codec()


def _broken(why: str) -> ValueError:
    from .engine import Broken

    return Broken(why)


def _require_lines(text: str) -> None:
    """Refuse a text whose lines one reader counts otherwise than another."""
    if _ALONE.search(text):
        why = "has carriage returns without a line feed, which end a line for some readers only"
        raise Refused("state-lines", f"{STORE.file} {why}: give it one ending of lines")


def _no_section(section: str) -> Failed:
    why = f"there is no heading '## {section}' in {STORE.file}: nothing was written"
    return Failed("state-section", f"{why}; put it back, or move the file aside and run `init`")


def _misread(what: str) -> Refused:
    return Refused("entry-misread", f"{STORE.file} would be read differently around {what}")


def _is_real(line: sections.Line) -> bool:
    """Whether it is an entry, and no placeholder of the template."""
    return line.entry is not None and bool(line.entry.strip()) and _COMMENT not in line.entry


def _subject_first(text: str) -> str:
    """Mark what a finding is about, by its first word; text that begins otherwise stays plain."""
    if _SURVEYED.match(text):
        return text
    named = _BRACKETED.fullmatch(text) or _WORDED.fullmatch(text)
    if named is None:
        return text
    subject, rest = named.groups()
    return f"[surveyed:{subject}]" + (f" {rest}" if rest else "")


def _require_entry(verb: str, text: str) -> None:
    if not text.strip():
        raise Usage("entry-empty", f"{verb} needs a text")
    if any(each in text for each in _LINES):
        why = "an entry is one line: write several entries, or one sentence"
        raise Refused("entry-lines", f"'{echo(text)}' goes over more than one line; {why}")
    if _COMMENT in text or "-->" in text:
        why = "no reader would see an entry with a comment's beginning or end in it"
        raise Refused("entry-comment", f"'{echo(text)}': {why}")
    if any(each == "\0" or "\ud800" <= each <= "\udfff" for each in text):
        raise Refused("entry-characters", f"'{echo(text)}' holds what is no character of UTF-8")

"""The checks that need no network: what may be published as a marker comment.

What may live here: the rules as a table, each a small function from the case to its findings.  What
may not: I/O, the thread, payload validators, changes to the text other than making mentions quiet.
Design, section 4, step 3; composing the body (step 2) is in ``compose``, and offered here too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ..codec import lines_of, matches
from ..errors import Refused
from ..model import Family, Marker, Scope, Status, Surface
from . import mentions, secrets
from .compose import Composed, compose, decode, legal, payload_of
from .fences import Blocks, blocks
from .invisible import bare, is_blank
from .live_lines import faults, never_closed
from .lookalikes import Known
from .secrets import safe_echo

__all__ = [
    "Checked",
    "Composed",
    "Known",
    "Policy",
    "check",
    "compose",
    "decode",
    "legal",
]

MAX_BYTES = 262_144
"""What GitHub takes for a comment, in UTF-8 bytes."""
WARN_CODEPOINTS = 65_536
"""What GitHub's own message names as the limit; an older server may mean it."""
SHOWN = 3
"""How many names a message about mentions shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the user lets into a comment."""

    mentions: str = "warn"
    """``allow``, ``warn``, ``neutralise`` (into inline code: nobody is told) or ``refuse``."""
    max_bytes: int = MAX_BYTES
    warn_codepoints: int = WARN_CODEPOINTS
    allowed_secret_rules: frozenset[str] = frozenset()
    """Ids of ``registry/secrets.toml`` whose hits are false ones here."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A candidate that passed, as it is to be written, and what to tell the user about it."""

    candidate: str
    warnings: tuple[str, ...] = ()
    """``code: detail``."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule found: a refusal unless *warns*; *line* counts in the candidate."""

    code: str
    detail: str
    line: int | None = None
    warns: bool = False


@dataclass(frozen=True)
class Case:
    """One candidate and all that the rules may ask about it."""

    candidate: str
    in_front: int
    """How many lines of it were put in front of what the caller handed over."""
    marker: Marker
    family: Family
    surface: Surface | None
    contract: Known
    policy: Policy
    command: str

    @cached_property
    def lines(self) -> list[str]:
        """The candidate's lines; the marker's is the first."""
        return lines_of(self.candidate)

    @cached_property
    def payload(self) -> str:
        """All that follows line 1."""
        return payload_of(self.candidate)

    @cached_property
    def code(self) -> Blocks:
        """The lines of code; asks the Markdown parser."""
        return blocks(self.candidate)

    def given(self, line: int | None) -> int | None:
        """The line of what the caller handed over; None for a line that was put in front."""
        return line - self.in_front if line and line > self.in_front else None

    def named(self, line: int) -> str:
        """The line in words, as the caller counts."""
        number = self.given(line)
        return f"line {number}" if number else "the marker"


def check(
    composed: Composed,
    marker: Marker,
    *,
    family: Family,
    surface: Surface | None,
    contract: Known,
    policy: Policy,
    command: str = "write",
) -> Checked:
    """Check *composed* by every rule; the answer holds the text to write.

    *surface* is where it is meant to go, None where that is not known yet; *command* is who asks,
    since some families have a command of their own.  Raises ``Refused`` with
    the first refusal in the table's order.  Lines are named as the caller counts them, without what
    was put in front.
    """
    candidate = composed.text
    if policy.mentions == "neutralise":
        candidate = mentions.neutralise(candidate, most=policy.max_bytes)
    case = Case(candidate, composed.in_front, marker, family, surface, contract, policy, command)
    warnings = []
    for rule in RULES:
        for found in rule(case):
            if not found.warns:
                raise Refused(found.code, found.detail, line=case.given(found.line))
            warnings.append(f"{found.code}: {found.detail}")
    return Checked(candidate, tuple(warnings))


_UNDOING = ("restore", "recover")
_WHY = {
    Scope.BLOCK: "it is a block inside a comment of another family",
    Scope.POINTER: "it is a pointer inside a comment of another family",
    Scope.NAME_ONLY: "it is a name without a marker",
    Scope.PROMPT: "it belongs in a prompt and not on GitHub",
    Status.RETIRED: "it is retired",
    Status.RESERVED: "its name is reserved",
    Status.HYGIENE_ONLY: "another program writes it",
}


def family_is_writable(case: Case) -> Iterator[Finding]:
    """Retired, reserved and hygiene-only families, and what is no comment, are not written.

    A family that one command alone writes may also be settled and brought back.
    """
    family = case.family
    own = family.command is not None and case.command in (family.command, *_UNDOING)
    if not family.writable and not own:
        default = _WHY.get(family.scope) or _WHY.get(family.status) or "nothing writes it"
        why = family.gap or default
        yield Finding("family-not-writable", f"{family.name} is not written by this tool: {why}")


def surface_is_declared(case: Case) -> Iterator[Finding]:
    """A marker goes where the registry says, which may depend on a parameter."""
    declared = case.family.surfaces_for(dict(case.marker.params))
    if case.surface is not None and case.surface not in declared:
        places = " or ".join(surface.value for surface in declared) or "nowhere"
        detail = f"{case.marker.text} belongs on: {places}; not on: {case.surface.value}"
        yield Finding("surface", detail)


def text_is_legal(case: Case) -> Iterator[Finding]:
    """A step may have changed the text since it was composed."""
    legal(case.candidate, case.in_front)
    yield from ()


def marker_is_first(case: Case) -> Iterator[Finding]:
    """Readers look at line 1 and nowhere else."""
    if not matches(case.candidate, case.marker.text):
        yield Finding("own-marker-missing", f"line 1 is not {case.marker.text}", 1)


def payload_is_there(case: Case) -> Iterator[Finding]:
    """A comment without a text is a mistake, unless the family is a sentinel."""
    blank = is_blank(case.payload)
    if blank and not case.family.empty:
        yield Finding("empty", "the payload is empty or blank: there is nothing to persist")
    if not blank and case.family.empty:
        detail = f"a {case.family.name} comment is its marker alone: hand over an empty payload"
        line = next(n for n, each in enumerate(case.lines, 1) if n > 1 and not is_blank(each))
        yield Finding("not-empty", detail, line)


_AT_PATH = re.compile(r"@(?:-|\S+|[\"'~./\\].*|[A-Za-z]:[\\/].*)")


def payload_is_no_path(case: Case) -> Iterator[Finding]:
    """``@file`` is how other tools are told to read a file: here it would be published as it is."""
    text = case.payload.strip()
    if _AT_PATH.fullmatch(text):
        line = next(n for n, each in enumerate(case.lines, 1) if n > 1 and each.strip())
        detail = (
            f"the whole payload is {safe_echo(text)}, which looks like the name of a file and not "
            "like its text: pass the file itself (--body-file PATH, or - for standard input)"
        )
        yield Finding("at-path", detail, line)


def size_is_allowed(case: Case) -> Iterator[Finding]:
    """GitHub counts UTF-8 bytes; its message speaks of characters."""
    size, limit = len(case.candidate.encode()), case.policy.max_bytes
    points = len(case.candidate)
    if size > limit:
        detail = f"the body is {size:,} bytes, the limit is {limit:,}: shorten it (nothing is cut)"
        yield Finding("too-large", detail)
    if points > case.policy.warn_codepoints:
        detail = f"{points:,} characters: a server may stop at {case.policy.warn_codepoints:,}"
        yield Finding("large", detail, warns=True)


def no_secret(case: Case) -> Iterator[Finding]:
    """Rule and line are named, the value never is."""
    for hit in secrets.find(case.candidate, allowed=case.policy.allowed_secret_rules):
        detail = (
            f"{case.named(hit.line)} looks like a secret ({hit.rule.description}, rule "
            f"{hit.rule.id}): take it out and revoke it; a false hit is allowed by that rule's "
            "name in your own settings"
        )
        yield Finding("secret", detail, hit.line)


def no_other_marker(case: Case) -> Iterator[Finding]:
    """The own marker once, no other live one, no block astray, none damaged; fenced ones warn."""
    for fault in faults(case.lines, case.marker, case.contract):
        shown = (
            f"{case.named(fault.line)} {fault.what}: {safe_echo(bare(case.lines[fault.line - 1]))}"
        )
        if fault.line in case.code.fenced:
            detail = f"{shown}; it is in a code fence, but older readers take it for real"
            yield Finding("marker-in-fence", detail, fault.line, warns=True)
        else:
            detail = f"{shown}; take it out, or put it in a code fence"
            yield Finding(fault.code, detail, fault.line)


def nothing_is_hidden(case: Case) -> Iterator[Finding]:
    """A comment that is opened and never closed hides all that follows."""
    line = never_closed(case.lines)
    if line is not None and line not in case.code.fenced | case.code.indented:
        detail = (
            f"{case.named(line)} opens an HTML comment that nothing closes: the rest is not shown"
        )
        yield Finding("unclosed-comment", detail, line, warns=True)


def mentions_are_allowed(case: Case) -> Iterator[Finding]:
    """GitHub notifies whoever is mentioned, each time a comment is made."""
    found = [] if case.policy.mentions == "allow" else mentions.find(case.candidate)
    if not found:
        return
    names = list(dict.fromkeys(f"@{mention.name}" for mention in found))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    detail = (
        f"{case.named(found[0].line)} mentions {', '.join(names[:SHOWN])}{more}, whom GitHub will "
        "notify: write names as inline code if that is not meant"
    )
    yield Finding("mention", detail, found[0].line, warns=case.policy.mentions == "warn")


RULES: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    family_is_writable,
    surface_is_declared,
    text_is_legal,
    marker_is_first,
    payload_is_there,
    size_is_allowed,
    no_secret,
    payload_is_no_path,
    no_other_marker,
    nothing_is_hidden,
    mentions_are_allowed,
)
"""In the order in which they are asked: secrets before any rule that shows some of the text."""

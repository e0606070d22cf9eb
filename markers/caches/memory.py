"""The files that the contract's rows keep in session memory and in the worktree (store ``memory``).

What may live here: which kinds there are, how their files are called, which one serves an issue;
pure.  What may not: what is in the files (a module for each kind), reading them.

A name is made of checked parts and read back by the same table.  Whole texts (plan, bundle, design)
are served whole: nothing is cut out of a bundle for one of its issues.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..errors import Refused, echo
from .declared import OnBroken, Store
from .places import is_name

LONGEST_WORD = 150
_WORD = re.compile(rf"(?!.*\.\.)[A-Za-z0-9._-]{{1,{LONGEST_WORD}}}", re.ASCII)
_NUMBER = r"[1-9][0-9]{0,9}"
_NUMBERS = re.compile(rf"{_NUMBER}(?:-{_NUMBER})*", re.ASCII)
_FILLED = re.compile(r"\{.*\}")


class Base(StrEnum):
    """The directory that a kind's file lies below."""

    MEMORY = "memory"
    """Session memory: ``/memories/session`` unless told otherwise."""
    COMMON = "common"
    """What all worktrees of a repository share."""
    WORKTREE = "worktree"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of file."""

    row: str
    template: str
    """As the row's registry file writes it, below *base*."""
    survival: str = "within-conversation"
    base: Base = Base.MEMORY
    numbers: tuple[int, int] | None = None
    """How many issue numbers its name has, at least and at most; None for a word, or nothing."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The template's path, part by part."""
        return tuple(self.template.split("/"))

    @property
    def is_fixed(self) -> bool:
        """Whether there is one such file only."""
        return _FILLED.search(self.template) is None


ONE, MANY = (1, 1), (2, 50)
KINDS: Mapping[str, Kind] = {
    "plan-issue": Kind(row="SMC-01", template="plan-issue-{ID}.md", numbers=ONE),
    "plan-bundle": Kind(
        row="SMC-02",
        template="plan-bundle-{primary}-{secondary1}-{secondaryN}.md",
        numbers=MANY,
    ),
    "design-issue": Kind(row="SMC-03", template="design-issue-{ID}.md", numbers=ONE),
    "review-state": Kind(row="SMC-05", template="review-state-{ID}.md", numbers=ONE),
    "startup-check": Kind(
        row="SMC-07",
        template="session-startup-check-complete.md",
        survival="within-conversation:hooks",
    ),
    "release-hygiene": Kind(
        row="SMC-12",
        template=".claude/.state/release-hygiene-{slug}.json",
        survival="within-worktree:hooks",
        base=Base.COMMON,
    ),
    "rate-limit": Kind(row="SMC-15", template="rate-limit-deferred-{scope}.md"),
    "install-prompt": Kind(row="SMC-18", template="cost-collection-install-prompt-{repo-cwd}"),
    "gate-events": Kind(row="SMC-21", template="gate-events-{key}.jsonl"),
    "gate-events-fallback": Kind(
        row="SMC-21",
        template=".copilot-tracking/gate-events.jsonl",
        survival="within-worktree",
        base=Base.WORKTREE,
    ),
    "run-once": Kind(
        row="SMC-22",
        template=".tmp/rph-{session-slug}-issue-{N}.json",
        survival="within-conversation:hooks",
        base=Base.WORKTREE,
    ),
}
TEXTS = ("plan-issue", "plan-bundle", "design-issue")
"""Kinds whose files are texts as they are."""


def store(name: str) -> Store:
    """What the store declares of a kind's files."""
    kind = KINDS[name]
    return Store(
        name="memory",
        file=kind.template,
        owner="markers",
        survival=kind.survival,
        mode=0o600,
        on_broken=OnBroken.START_ANEW,
        volatile=(("last_updated",),),
    )


@dataclass(frozen=True, slots=True)
class Found:
    """What a file is, by its name: *value* stands for the braces of the template."""

    kind: str
    value: str = ""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The issues that the name names."""
        if KINDS[self.kind].numbers is None:
            return ()
        return tuple(map(int, self.value.split("-")))


def path_of(name: str, value: str = "") -> tuple[str, ...]:
    """The path of a kind's file below its base; raises ``Refused`` (``memory-name``)."""
    kind = KINDS[name]
    filled = _FILLED.sub(value, kind.parts[-1])
    if not kind.is_fixed:
        require_word(value)
    if not is_name(filled):
        raise Refused("memory-name", f"'{echo(filled)}' cannot be the name of a file")
    return (*kind.parts[:-1], filled)


def require_word(text: str) -> str:
    """What may stand in the name of a file; raises ``Refused`` (``memory-name``)."""
    if not _WORD.fullmatch(text):
        rule = f"up to {LONGEST_WORD} of A-Z a-z 0-9 . _ and -, no two dots together"
        raise Refused("memory-name", f"'{echo(text)}' cannot be part of a file's name: {rule}")
    return text


def value_of(name: str, numbers: tuple[int, ...]) -> str:
    """The numbers as a file's name has them, in the order in which they were given.

    Raises ``Refused`` (``memory-name``) for too few, too many, or one twice.
    """
    least, most = KINDS[name].numbers or (0, 0)
    if not least <= len(numbers) <= most:
        wanted = "one number" if most == 1 else f"{least} to {most} different numbers"
        raise Refused("memory-name", f"a {name} is of {wanted}, not of {len(numbers)}")
    if len(set(numbers)) != len(numbers):
        raise Refused("memory-name", f"a {name} names each number once")
    return "-".join(map(str, numbers))


def read_name(file: str, base: Base = Base.MEMORY) -> Found | None:
    """What a file of *base* is, by its name; None for what is none of ours."""
    kinds = ((name, kind) for name, kind in KINDS.items() if kind.base is base)
    return next((found for name, kind in kinds if (found := _read(file, name, kind))), None)


def _read(file: str, name: str, kind: Kind) -> Found | None:
    template = kind.parts[-1]
    if kind.is_fixed:
        return Found(name) if file == template else None
    before, after = _FILLED.split(template)
    value = file[len(before) : len(file) - len(after)]
    return Found(name, value) if file == before + value + after and _fits(kind, value) else None


def _fits(kind: Kind, value: str) -> bool:
    if kind.numbers is None:
        return _WORD.fullmatch(value) is not None
    least, most = kind.numbers
    return bool(_NUMBERS.fullmatch(value)) and least <= value.count("-") + 1 <= most


def bundles_of(number: int, files: Iterable[str]) -> tuple[str, ...]:
    """The bundles among *files* that contain the issue; those that it leads come first.

    The row's chain asks a bundle before the issue's own plan.  More than one is for the caller to
    tell: none of them is better by its name.
    """
    found = [(file, read) for file in files if (read := read_name(file)) is not None]
    bundles = [(file, read.numbers) for file, read in found if read.kind == "plan-bundle"]
    fitting = [(numbers[0] != number, file) for file, numbers in bundles if number in numbers]
    return tuple(file for _, file in sorted(fitting))

"""Judging comments by the shipped contract, and tables of payloads that are edits of a good one."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

from checking import CONTRACT, marker

from markers.validators import Problem, judge


def told(text: str, family: str, number: int = 12, **params: str) -> tuple[Problem, ...]:
    """All that is told of a comment, warnings included."""
    return judge(text, marker(family, number, **params), CONTRACT)


def refusals(text: str, family: str, **params: str) -> list[Problem]:
    """What refuses a comment."""
    return [problem for problem in told(text, family, **params) if not problem.warns]


def warned(text: str, family: str, **params: str) -> list[str]:
    """The codes of what is only told."""
    return [problem.code for problem in told(text, family, **params) if problem.warns]


def body(text: str) -> str:
    """A comment that is written indented in a test."""
    return dedent(text).strip("\n")


@dataclass(frozen=True, slots=True)
class Edit:
    """A good comment with *old* replaced by *new*."""

    name: str
    old: str
    new: str

    def of(self, good: str) -> str:
        """The edited comment; the edit is one that does something."""
        assert good.count(self.old) == 1, f"{self.old!r} stands there {good.count(self.old)} times"
        return good.replace(self.old, self.new)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Bad(Edit):
    """An edit that is refused: with which code, on which line, in which words."""

    code: str
    line: int | None
    words: str


def assert_refused(bad: Bad, good: str, family: str, **params: str) -> None:
    """The edited comment is refused by that name, at that line, in these words."""
    found = refusals(bad.of(good), family, **params)
    said = [(problem.code, problem.line, problem.reason().detail) for problem in found]
    fits = [one for one in said if one[:2] == (bad.code, bad.line) and bad.words in one[2]]
    assert fits, f"not among {said}"


def assert_good(edit: Edit, good: str, family: str, **params: str) -> None:
    """The edited comment is not refused."""
    assert refusals(edit.of(good), family, **params) == []

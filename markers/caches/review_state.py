"""How far the review of an issue has come before it has a pull request (row SMC-05).

What may live here: the form of ``review-state-{ID}.md`` and the change that a command makes; pure.
What may not: files.

Six fields in front matter, in their order, each literal; any deviation reads as no state, and the
missing stages run again (contract, statement 32).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from .declared import Path
from .engine import Broken

MODES = ("full", "lite")
STAGES = ("prosecution_complete", "defense_complete", "judgment_complete")
FIELDS = ("issue_id", "review_mode", *STAGES, "last_updated")
_BOOLEANS = {"true": True, "false": False}
_WORDS = {value: word for word, value in _BOOLEANS.items()}
_LINE = r"{}:[ \t]*(\S+)[ \t]*\r?\n"
_HEAD = re.compile(
    r"\ufeff?---\r?\n" + "".join(map(_LINE.format, FIELDS)) + r"---(?:\r?\n|\Z)", re.ASCII
)
_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]{1,7})?(?:Z|\+00:00)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewState:
    """The six fields, and what stands behind them in the file."""

    issue_id: int
    review_mode: str = "full"
    prosecution_complete: bool = False
    defense_complete: bool = False
    judgment_complete: bool = False
    last_updated: str = ""
    rest: str = ""
    newline: str = "\n"

    def document(self) -> dict[str, Any]:
        """The six fields, in their order."""
        return {name: value for name, value in asdict(self).items() if name in FIELDS}


@dataclass(frozen=True, slots=True)
class ReviewCodec:
    """Reads and writes the state of one issue."""

    number: int

    def load(self, data: bytes) -> ReviewState:
        """Read it; raises ``Broken`` for any deviation, another issue's number included."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise Broken("it is not UTF-8") from None
        head = _HEAD.match(text)
        if head is None:
            raise Broken(f"it does not begin with exactly the fields {', '.join(FIELDS)}")
        said = dict(zip(FIELDS, head.groups(), strict=True))
        self._require_valid(said)
        return ReviewState(
            issue_id=self.number,
            review_mode=said["review_mode"],
            last_updated=said["last_updated"],
            rest=text[head.end() :],
            newline="\r\n" if "\r\n" in head[0] else "\n",
            **{stage: _BOOLEANS[said[stage]] for stage in STAGES},
        )

    def _require_valid(self, said: Mapping[str, str]) -> None:
        if said["issue_id"] != str(self.number):
            raise Broken(f"its issue_id is not {self.number}")
        if said["review_mode"] not in MODES:
            raise Broken(f"its review_mode is not one of {', '.join(MODES)}")
        for stage in STAGES:
            if said[stage] not in _BOOLEANS:
                raise Broken(f"its {stage} is neither true nor false")
        if not _is_time(said["last_updated"]):
            raise Broken("its last_updated is no time in UTC")

    def dump(self, value: ReviewState) -> bytes:
        """Write it; what stood behind the front matter stays."""
        fields = {**value.document(), **{stage: _WORDS[getattr(value, stage)] for stage in STAGES}}
        lines = ["---", *(f"{name}: {field}" for name, field in fields.items()), "---", ""]
        return (value.newline.join(lines) + value.rest).encode()

    def fresh(self) -> ReviewState:
        """Nothing is done yet, and the review is a full one."""
        return ReviewState(issue_id=self.number)

    def version(self, value: ReviewState) -> None:
        """It states none."""
        del value

    def fields(self, value: ReviewState) -> Mapping[Path, Any]:
        """Its six fields."""
        return {(name,): field for name, field in value.document().items()}


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    try:
        return found is not None and bool(datetime.fromisoformat(found[1]))
    except ValueError:
        return False


def changed(
    state: ReviewState, *, mode: str | None, stages: Mapping[str, bool | None], now: str
) -> ReviewState:
    """Change what is named and no other field; None names nothing."""
    said: dict[str, Any] = {stage: done for stage, done in stages.items() if done is not None}
    return replace(state, review_mode=mode or state.review_mode, last_updated=now, **said)

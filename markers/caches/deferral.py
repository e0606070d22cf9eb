"""Work that a rate limit has put off (row SMC-15).

What may live here: the form of ``rate-limit-deferred-{scope}.md`` and the change that a command
makes; pure.  What may not: files.

The row says what the file has to tell (what is deferred, where it was interrupted, where it goes
on) and leaves the form open; this is ours, and a file of another form is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import Refused, echo
from .declared import Path
from .engine import Broken

_ITEMS = "## Deferred items"
_FORM = re.compile(
    r"# Deferred by a rate limit: (?P<scope>[^\n]*)\n\n"
    r"- interrupted: (?P<interrupted>[^\n]*)\n"
    r"- resume: (?P<resume>[^\n]*)\n"
    r"- last_updated: (?P<last_updated>[^\n]*)\n\n"
    rf"{_ITEMS}\n\n(?P<items>(?:- [^\n]+\n)*)"
)
_DELIMITERS = ("<!--", "-->")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferral:
    """What one scope has put off."""

    scope: str
    interrupted: str = ""
    """The phase and step."""
    resume: str = ""
    """Where it goes on."""
    items: tuple[str, ...] = ()
    last_updated: str = ""

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "scope": self.scope,
            "interrupted": self.interrupted,
            "resume": self.resume,
            "items": [*self.items],
            "last_updated": self.last_updated,
        }


@dataclass(frozen=True, slots=True)
class DeferralCodec:
    """Reads and writes the file of one scope."""

    scope: str

    def load(self, data: bytes) -> Deferral:
        """Read it; raises ``Broken`` for another form or another scope."""
        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            raise Broken("it is not UTF-8") from None
        found = _FORM.fullmatch(text)
        if found is None or found["scope"] != self.scope:
            raise Broken("it is not in the form that this program writes")
        return Deferral(
            scope=self.scope,
            interrupted=found["interrupted"],
            resume=found["resume"],
            items=tuple(line.removeprefix("- ") for line in found["items"].splitlines()),
            last_updated=found["last_updated"],
        )

    def dump(self, value: Deferral) -> bytes:
        """Write it."""
        lines = [
            f"# Deferred by a rate limit: {value.scope}",
            "",
            f"- interrupted: {value.interrupted}",
            f"- resume: {value.resume}",
            f"- last_updated: {value.last_updated}",
            "",
            _ITEMS,
            "",
            *(f"- {item}" for item in value.items),
            "",
        ]
        return "\n".join(lines).encode()

    def fresh(self) -> Deferral:
        """Nothing is put off."""
        return Deferral(scope=self.scope)

    def version(self, value: Deferral) -> None:
        """It states none."""
        del value

    def fields(self, value: Deferral) -> Mapping[Path, Any]:
        """What it says."""
        return {(name,): field for name, field in value.document().items()}


def deferred(
    value: Deferral,
    *,
    interrupted: str | None,
    resume: str | None,
    items: tuple[str, ...],
    now: str,
) -> Deferral:
    """Change what is named; items add up, each once."""
    return replace(
        value,
        interrupted=value.interrupted if interrupted is None else interrupted,
        resume=value.resume if resume is None else resume,
        items=tuple(dict.fromkeys((*value.items, *items))),
        last_updated=now,
    )


def require_line(text: str) -> str:
    """A text of one line that ends no comment; raises ``Refused`` (``memory-text``)."""
    if not text.strip() or not text.isprintable() or any(each in text for each in _DELIMITERS):
        rule = "one printable line, not blank, without <!-- and -->"
        raise Refused("memory-text", f"'{echo(text)}' is refused: it has to be {rule}")
    return text

"""Which version step the edits of a session ask for (row SMC-12).

What may live here: the form of ``release-hygiene-{slug}.json`` and the change that a command makes;
pure.  What may not: its key (``keys``), files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .engine import Broken
from .json_codec import JsonCodec
from .json_text import JsonText

LEVELS = ("patch", "minor", "major", "skip")
STRATEGIES = ("session_id", "branch_slug", "session_fallback")
_NEW = """{
  "proposed_level": "patch",
  "chosen_level": null,
  "keying_strategy": "session_fallback",
  "touched_files": []
}
"""


@dataclass(frozen=True, slots=True)
class HygieneCodec(JsonCodec):
    """A JSON object of four fields; others are kept."""

    def load(self, data: bytes) -> JsonText:
        """Read it; raises ``Broken`` where one of the four is not what it should be."""
        document = JsonCodec.load(self, data)
        found = document.value
        touched = found.get("touched_files")
        for wrong, what in (
            (found.get("proposed_level") not in LEVELS, "proposed_level"),
            (found.get("chosen_level") not in (None, *LEVELS), "chosen_level"),
            (found.get("keying_strategy") not in STRATEGIES, "keying_strategy"),
            (not isinstance(touched, list) or not all(map(_is_text, touched)), "touched_files"),
        ):
            if wrong:
                raise Broken(f"its {what} is not what it should be")
        return document


CODEC = HygieneCodec("schema_version", _NEW)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def decided(
    document: JsonText,
    *,
    proposed: str | None,
    chosen: str | None,
    strategy: str,
    touched: Iterable[str],
) -> JsonText:
    """Change what is named; files add up, each once and in the order of their coming."""
    files = document.value["touched_files"]
    wanted = {
        "proposed_level": proposed or document.value["proposed_level"],
        "chosen_level": chosen or document.value.get("chosen_level"),
        "keying_strategy": strategy,
        "touched_files": list(dict.fromkeys((*files, *touched))),
    }
    for name, value in wanted.items():
        if name not in document.value or document.value[name] != value:
            document = document.put((name,), value)
    return document

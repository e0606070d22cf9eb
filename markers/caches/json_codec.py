"""The form that the JSON stores share: an object with its version under a key of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .declared import Path
from .engine import Broken
from .json_text import JsonText, NotJson


@dataclass(frozen=True, slots=True)
class JsonCodec:
    """Reads and writes a JSON object; what nobody touched keeps its bytes."""

    version_key: str
    new: str = "{}"
    """The text that a new file begins with."""

    def load(self, data: bytes) -> JsonText:
        """Read UTF-8 JSON; raises ``Broken``."""
        try:
            return JsonText.read(data)
        except NotJson as error:
            raise Broken(str(error)) from None

    def dump(self, value: JsonText) -> bytes:
        """The text as it stands."""
        return value.text.encode()

    def fresh(self) -> JsonText:
        """A new file's object."""
        return JsonText(self.new)

    def version(self, value: JsonText) -> int | None:
        """The whole number under the version's key; raises ``Broken`` for anything else."""
        found = value.value.get(self.version_key)
        if found is None and self.version_key not in value.value:
            return None
        if type(found) is not int:
            raise Broken(f"its {self.version_key} is not a whole number")
        return found

    def fields(self, value: JsonText) -> Mapping[Path, Any]:
        """Every leaf by its path."""
        return value.fields()

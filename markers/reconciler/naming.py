"""The files of rows, as their templates name them.

What may live here: templates and names, all pure.  What may not: any file.

A path that begins with ``memories/session`` lies below the memory root, any other below the git top
level.  ``{ID}`` and other upper-case words stand for the number, ``{primary}-{secondary1}-...`` for
several numbers, of which ours is one (a *bundle*); lower-case words for any name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..codec import NUMBER, is_param

_MEMORY = ("memories", "session")
_WORD = re.compile(r"\{([^{}]+)\}")
_BUNDLE = "{primary}-{secondary1}-{secondaryN}"
_NUMBERS = "numbers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Where a row keeps a file."""

    memory: bool
    """Below the memory root; else below the git top level."""
    above: tuple[str, ...]
    name: str
    """Of the file, with its placeholders."""

    @property
    def bundled(self) -> bool:
        """Whether one file serves several numbers."""
        return _BUNDLE in self.name

    @property
    def numbered(self) -> bool:
        """Whether the name says which issue or pull request the file is about."""
        words: list[str] = _WORD.findall(self.name)
        return self.bundled or any(not is_param(word) for word in words if word.isalpha())

    def spelled(self, number: int) -> str | None:
        """The one name for *number*; None where there may be several."""
        filled = _WORD.sub(lambda word: word[0] if is_param(word[1]) else str(number), self.name)
        return None if _WORD.search(filled) else filled

    def covers(self, name: str, number: int) -> bool:
        """Whether *name* is that of a file for *number*."""
        found = self._pattern(number).fullmatch(name)
        if found is None:
            return False
        return not self.bundled or str(number) in found[_NUMBERS].split("-")

    def _pattern(self, number: int) -> re.Pattern[str]:
        numbers = f"(?P<{_NUMBERS}>{NUMBER}(?:-{NUMBER})+)"
        whole = re.escape(self.name).replace(re.escape(_BUNDLE), numbers)
        return re.compile(
            re.sub(r"\\\{(.+?)\\\}", lambda word: _any_of(word[1], number), whole), re.ASCII
        )


def _any_of(word: str, number: int) -> str:
    return r"[A-Za-z0-9._-]+" if is_param(word.replace("\\", "")) else str(number)


def template_of(path: str) -> Template:
    """Read one of a row's paths."""
    parts = tuple(part for part in path.split("/") if part)
    memory = parts[:2] == _MEMORY
    *above, name = parts[2:] if memory else parts
    return Template(memory=memory, above=tuple(above), name=name)

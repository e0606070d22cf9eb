"""The part of a store that goes to another machine, as a ``Local``.

What may live here: a store's file seen as the text that its comment holds.  What may not: which
fields that are (the store's row, and ``caches.handover``), how an agent asks for it (``cli``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..body import Body
from ..caches.engine import Cabinet, Condition, require_usable
from ..caches.handover import Content, Handover
from ..contract import Contract
from ..errors import Invalid, Refused, echo
from ..model import Marker
from ..payload.session_state import read, written
from ..validators import judge
from .cached import CacheFile, changed

T = TypeVar("T")
_NOT_FINITE = "holds a number that is none for YAML: mend it first"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCopy(Generic[T]):
    """What a row lets a store publish."""

    cabinet: Cabinet[T]
    handover: Handover[T]
    publishes: tuple[str, ...]
    marker: Marker
    contract: Contract

    @property
    def place(self) -> str:
        """The store's file."""
        return str(self.cabinet.file)

    @property
    def key(self) -> str:
        """That of the file."""
        return CacheFile(self.cabinet.file).key

    def says_nothing(self, text: str) -> bool:
        """Whether a store that was just made would say the same."""
        return text == self._text(self.handover.codec.fresh())

    def read(self) -> str | None:
        """What there is to publish; None where there is no file.  Raises ``Failed``."""
        seen = self.cabinet.look()
        if seen.condition is Condition.MISSING:
            return None
        return self._text(require_usable(seen, self.cabinet.file))

    def spelled(self, text: str) -> str:
        """The same content, written as it is published from here."""
        try:
            return written(self.cabinet.store.name, self._content(text))
        except Refused:
            return text

    def write(self, text: str, seen: str | None) -> str:
        """Take in what was published; the answer is what would be published now.

        Raises ``Conflict`` (``cache-changed``), ``Invalid`` for what breaks the family's rules, and
        ``Refused`` for what the store cannot hold; nothing was written then.
        """
        content = self._content(text)

        expected = self._text(self.handover.codec.fresh()) if seen is None else seen

        def change(before: T) -> T:
            if self._text(before) != expected:
                raise changed(self.place)
            return self.handover.take(before, content)

        return self._text(self.cabinet.update(change, writer=self.handover.writer).value)

    def keep(self, text: str, why: str) -> str:
        """Keep the whole file where *text* is what it publishes, else *text* itself."""
        file = self.cabinet.file
        whole = file.read() if self.read() == text else None
        return file.keep_aside(text.encode() if whole is None else whole, why)

    def _text(self, value: T) -> str:
        content = self._given(value)
        try:
            return written(self.cabinet.store.name, content)
        except ValueError:
            raise Refused("state-number", f"{echo(self.place)} {_NOT_FINITE}") from None

    def _given(self, value: T) -> Content:
        given = self.handover.give(value)
        return {name: given[name] for name in self.publishes}

    def _content(self, text: str) -> dict[str, Any]:
        body = f"{self.marker.text}\n\n{text}"
        wrong = [each for each in judge(body, self.marker, self.contract) if not each.warns]
        if wrong:
            raise Invalid([each.reason() for each in wrong])
        content: dict[str, Any] = read(Body(body)).value["content"]
        return content

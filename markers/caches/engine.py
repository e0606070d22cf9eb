"""The one engine over all stores: who may read what, who may write what, and when it is written.

What may live here: versions, broken files, ownership of fields, write-on-change.  What may not: the
form of one store (its own module), bytes and locks (``files``, ``locks``).

The rules (stores, "How the five fit one model"): a reader that meets a newer version or a shape
that it does not know has no usable state and touches nothing; the owner refuses a newer version and
never downgrades it; of a broken file a copy is kept before the owner starts anew, where the store
allows that at all.  Nothing is ever written after a failed read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from ..errors import Failed, MarkersError, Refused, Unavailable, echo
from ..model import Action
from .declared import OnBroken, Path, Store, matches
from .files import Held, StateFile

T = TypeVar("T")


class Broken(ValueError):
    """The bytes are not what the store holds; the message says why."""


class Codec(Protocol[T]):
    """The form of one store: bytes to a value and back, all pure."""

    def load(self, data: bytes) -> T:
        """Read the file; raises ``Broken``."""

    def dump(self, value: T) -> bytes:
        """Write it, with every byte that nobody touched as it was."""

    def fresh(self) -> T:
        """What the owner begins with where there is no file."""

    def version(self, value: T) -> int | None:
        """The version that it states; None where it states none.  Raises ``Broken``."""

    def fields(self, value: T) -> Mapping[Path, Any]:
        """All that it says, by field, as far as a change of it matters."""


class Condition(StrEnum):
    """How a file was found."""

    MISSING = "missing"
    USABLE = "usable"
    NEWER = "newer"
    BROKEN = "broken"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen(Generic[T]):
    """What a reader sees; without a *value* there is no usable prior state."""

    condition: Condition
    value: T | None = None
    why: str = ""
    refusal: Refused | None = None
    """Why the file is not opened at all, such as for being a link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated(Generic[T]):
    """What a change has come to."""

    value: T
    action: Action
    """``created``, ``updated`` or ``unchanged``."""
    warnings: tuple[str, ...] = ()
    kept: str | None = None
    """The copy of a file that was broken, or that had something in it which the change undid."""


def _nothing_amiss(_value: object) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Cabinet(Generic[T]):
    """One store's file, read and written by the store's rules."""

    store: Store
    codec: Codec[T]
    file: StateFile

    def look(self) -> Seen[T]:
        """Read as a reader does: never raises for what is there, writes nothing."""
        try:
            data = self.file.read()
        except MarkersError as error:
            refusal = error if isinstance(error, Refused) else None
            why = error.reason.detail
            return Seen(condition=Condition.UNREADABLE, why=why, refusal=refusal)
        if data is None:
            return Seen(condition=Condition.MISSING, why=f"{self.file} does not exist")
        return self._judged(data)

    def update(
        self,
        change: Callable[[T], T],
        *,
        writer: str | None = None,
        touch: bool = False,
        amiss: Callable[[T], str] = _nothing_amiss,
    ) -> Updated[T]:
        """Read, change and write under the lock; *change* is pure and may raise.

        A change of nothing but volatile fields is not written unless *touch*.  *amiss* says what
        of the file a write does not carry over; then a copy is kept first.  Raises ``Failed``
        (``state-...``), ``Refused`` (``state-newer``, ``state-broken``, ``state-field``) and
        ``Unavailable`` (``state-locked``, ``state-changed``); nothing was written then.
        """
        warnings: list[str] = []
        with self.file.held(warnings.append) as held:
            done = self.update_held(held, change, writer=writer, touch=touch, amiss=amiss)
        return replace(done, warnings=(*warnings, *done.warnings))

    def update_held(
        self,
        held: Held,
        change: Callable[[T], T],
        *,
        writer: str | None = None,
        touch: bool = False,
        amiss: Callable[[T], str] = _nothing_amiss,
    ) -> Updated[T]:
        """The same under a lock that the caller holds, for what else belongs under it."""
        warnings: list[str] = []
        data = held.read()
        before, kept = self._owned(data, held, warnings)
        after = change(before)
        self._require_own(before, after, writer)
        written = self.codec.dump(after)
        action = self._action(data, before, after, written, kept, touch=touch)
        if action is not Action.UNCHANGED:
            if data is not None and kept is None and (what := amiss(before)):
                kept = held.keep_copy(data, "corrupt")
                warnings.append(f"{self.file}: {what}; the old file is kept as {kept}")
            held.write(written, last=lambda: require_unmoved(held, data))
        return Updated(
            value=after if action is not Action.UNCHANGED else before,
            action=action,
            warnings=tuple(warnings),
            kept=kept,
        )

    def _judged(self, data: bytes) -> Seen[T]:
        try:
            value = self.codec.load(data)
            version = self.codec.version(value)
        except Broken as error:
            return Seen(condition=Condition.BROKEN, why=f"{self.file}: {error}")
        if version is not None and version not in self.store.accepts:
            known = ", ".join(map(str, sorted(self.store.accepts)))
            why = f"{self.file} is of version {version}; this program knows {known}"
            newer = version > max(self.store.accepts)
            return Seen(condition=Condition.NEWER if newer else Condition.BROKEN, why=why)
        return Seen(condition=Condition.USABLE, value=value)

    def _owned(self, data: bytes | None, held: Held, warnings: list[str]) -> tuple[T, str | None]:
        """What the owner works on, and the copy of what it could not read."""
        if data is None:
            return self.codec.fresh(), None
        seen = self._judged(data)
        if seen.value is not None:
            return seen.value, None
        if seen.condition is Condition.NEWER:
            raise Refused("state-newer", f"{seen.why}; it is not downgraded: upgrade this program")
        if self.store.on_broken is OnBroken.REFUSE:
            raise Refused("state-broken", f"{seen.why}; mend or remove it: nothing was written")
        kept = held.keep_copy(data, "corrupt")
        warnings.append(f"{seen.why}; started anew, the old file is kept as {kept}")
        return self.codec.fresh(), kept

    def _require_own(self, before: T, after: T, writer: str | None) -> None:
        if writer is None or writer not in self.store.writers:
            return
        own = self.store.writers[writer]
        changed = self._changed(before, after)
        # What turns into an object, or was one, is judged by the fields inside it.
        objects = {path[:depth] for path in changed for depth in range(len(path))}
        for path in changed:
            if path not in objects and not any(matches(pattern, path) for pattern in own):
                raise Refused("state-field", self._not_own(path, writer))

    def _not_own(self, path: Path, writer: str) -> str:
        writers = self.store.writers.items()
        may = [who for who, own in writers if any(matches(pattern, path) for pattern in own)]
        rather = f", but for {' or '.join(may)}" if may else ""
        field = f"{echo('.'.join(path))} of {self.file}"
        return f"{field} is not for {echo(writer)} to change{rather}"

    def _changed(self, before: T, after: T) -> list[Path]:
        old, new = self.codec.fields(before), self.codec.fields(after)
        absent = object()
        return [
            path
            for path in {**old, **new}
            if old.get(path, absent) != new.get(path, absent)
            or type(old.get(path)) is not type(new.get(path))
        ]

    def _action(
        self,
        data: bytes | None,
        before: T,
        after: T,
        written: bytes,
        kept: str | None,
        *,
        touch: bool,
    ) -> Action:
        if data is None:
            return Action.CREATED
        volatile = self.store.volatile
        changed = [
            path
            for path in self._changed(before, after)
            if not any(matches(pattern, path) for pattern in volatile)
        ]
        if kept or changed or (touch and written != data):
            return Action.UPDATED
        return Action.UNCHANGED


def require_unmoved(held: Held, data: bytes | None) -> None:
    """Raise where somebody who takes no lock, such as an editor, wrote after the read."""
    if held.read() != data:
        why = "was changed meanwhile by what takes no lock: nothing was written, run it again"
        raise Unavailable("state-changed", f"{held.file} {why}")


def require_allowed(seen: Seen[Any]) -> None:
    """Raise ``Refused`` (``path-...``) for what is not opened, such as a link."""
    if seen.refusal is not None:
        raise seen.refusal


def require_usable(seen: Seen[T], file: StateFile) -> T:
    """The value; raises ``Failed`` (``state-...``) where there is none to use.

    Raises ``Refused`` (``path-...``) where a writer would, too.
    """
    require_allowed(seen)
    if seen.value is None:
        raise Failed(f"state-{seen.condition}", seen.why or f"{file} holds nothing usable")
    return seen.value

"""A desk with local copies: cache files of rows beside a forge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from worlds import CONTRACT, ISSUE, World

from markers.caches.files import StateFile
from markers.caches.places import MEMORY, Surroundings
from markers.model import Row
from markers.paths import Place, Roots
from markers.plan import OnConflict
from markers.reconciler import Outcome, Wish, reconcile
from markers.reconciler.cached import CacheFile
from markers.reconciler.interface import Source
from markers.reconciler.rows import Asked, reconcile_row

NAMES = {"plan-issue": "SMC-01", "design-issue": "SMC-03"}
"""The rows that are written durably from a file of one number, by their family."""


def cache_at(folder: Path, name: str) -> CacheFile:
    """The copy in a file of that name, which need not be there."""
    place = Place(name, folder, (name,), Roots((folder,)))
    return CacheFile(StateFile(place=place, wait=0.2))


class Meddled:
    """A copy at which something else happens when it is read for the *nth* time."""

    def __init__(self, real: CacheFile, nth: int, happening: Callable[[], object]) -> None:
        self.real = real
        self.left = nth
        self.happening = happening

    @property
    def place(self) -> str:
        """As the real one's."""
        return self.real.place

    @property
    def key(self) -> str:
        """As the real one's."""
        return self.real.key

    def read(self) -> str | None:
        """As the real one reads, after what happens."""
        self.left -= 1
        if self.left == 0:
            self.happening()
        return self.real.read()

    def spelled(self, text: str) -> str:
        """As the real one."""
        return self.real.spelled(text)

    def write(self, text: str, seen: str | None) -> str:
        """As the real one writes."""
        return self.real.write(text, seen)

    def says_nothing(self, text: str) -> bool:
        """As the real one."""
        return self.real.says_nothing(text)

    def keep(self, text: str, why: str) -> str:
        """As the real one keeps."""
        return self.real.keep(text, why)


class Worktree:
    """A checkout with session memory of its own, at a desk in *world*."""

    def __init__(self, world: World, name: str = "one", journal: str = "one") -> None:
        self.world = world
        self.top = world.tmp / name
        self.memory = self.top / "memories"
        self.memory.mkdir(parents=True)
        self.journal = journal

    @property
    def at(self) -> Surroundings:
        """Where its files are."""
        environ = {MEMORY: str(self.memory), "HOME": str(self.top)}
        return Surroundings(
            environ=environ,
            directory=self.top,
            top=self.top,
            allowed=Roots((self.top / ".tmp",)),
        )

    def wish(self, family: str = "plan-issue", **more: Any) -> Wish:
        """To reconcile the row's usual file with the issue's comment."""
        row: Row = CONTRACT.row(NAMES[family])
        wish = Wish(
            row=row.id,
            thread=self.world.thread(),
            family=CONTRACT.family(family),
            marker=self.world.marker(family),
            local=cache_at(self.memory, f"{family}-{ISSUE}.md"),
            source=Source.CACHE,
            chain=row.chain,
        )
        return replace(wish, **more)

    def run(
        self,
        on_conflict: str = "refuse",
        *,
        apply: bool = True,
        setup: dict[str, Any] | None = None,
        **more: Any,
    ) -> Outcome:
        """Reconcile, and carry it out unless told otherwise."""
        wish = self.wish(apply=apply, on_conflict=OnConflict(on_conflict), **more)
        return reconcile(self.world.setup(journal=self.journal, **(setup or {})), wish)

    def row(self, name: str, *, number: int = ISSUE, **more: Any) -> Outcome:
        """Reconcile a row as the command does."""
        asked = Asked(row=CONTRACT.row(name), number=number, **more)
        desk = (self.world.setup(journal=self.journal), self.world.repo)
        return reconcile_row(lambda: desk, CONTRACT, self.at, asked)

    def file(self, family: str = "plan-issue") -> Path:
        """The row's usual file."""
        return self.memory / f"{family}-{ISSUE}.md"

    def type(self, text: str, family: str = "plan-issue") -> None:
        """Somebody saves the file."""
        self.file(family).write_text(text, encoding="utf-8", newline="")

    def text(self, family: str = "plan-issue") -> str | None:
        """What the file holds."""
        file = self.file(family)
        return file.read_bytes().decode() if file.exists() else None

    def aside(self) -> dict[str, str]:
        """The copies that were kept aside, by name."""
        folder = self.memory / "kept-aside"
        found = sorted(folder.glob("[!.]*")) if folder.exists() else []
        return {file.name: file.read_bytes().decode() for file in found}

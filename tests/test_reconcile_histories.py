"""Random histories of edits on both sides: no text that anybody wrote is ever gone."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from reconciling import Worktree
from worlds import PLAN, World, memory_folder

from markers.codec import normalise
from markers.plan import OnConflict, Word

LINES = ["# Plan", "- [ ] one", "- [x] one", "middle", "- [ ] two", "- [x] two", "more"]
TEXTS = st.lists(st.sampled_from(LINES), min_size=1, max_size=5).map("\n".join)
STEPS = st.one_of(
    st.tuples(st.just("type"), TEXTS),
    st.tuples(st.just("edit"), TEXTS),
    st.tuples(st.sampled_from(["remove cache", "remove comment", "forget", "other worktree"])),
    st.tuples(st.just("reconcile"), st.sampled_from([w.value for w in OnConflict]), st.booleans()),
)
HISTORIES = st.lists(STEPS, min_size=2, max_size=14)


@dataclass
class History:
    """Two worktrees and a thread, and the texts that must still be somewhere."""

    world: World
    trees: list[Worktree]
    written: set[str] = field(default_factory=set)
    at: int = 0

    @property
    def here(self) -> Worktree:
        """The worktree in which somebody works."""
        return self.trees[self.at]

    def comment(self) -> str | None:
        """The text of the comment."""
        there = [body for body in self.world.bodies() if body.startswith(PLAN)]
        assert len(there) <= 1
        return normalise(there[0].removeprefix(PLAN)) if there else None

    def cache(self, tree: Worktree) -> str | None:
        """The text of a cache."""
        text = tree.text()
        return None if text is None else normalise(text)

    def wrote(self, over: str | None, text: str | None) -> None:
        """Somebody overwrites on purpose what he sees: that text may go."""
        self.written.discard(over or "")
        if text is not None:
            self.written.add(normalise(text))

    def do(self, what: str, *said: object) -> None:
        """One step."""
        getattr(self, what.replace(" ", "_"))(*said)

    def type(self, text: str) -> None:
        """Somebody saves the cache."""
        self.wrote(self.cache(self.here), text)
        self.here.type(text)

    def edit(self, text: str) -> None:
        """Somebody edits the comment on GitHub, or posts one."""
        self.wrote(self.comment(), text)
        for there in self.world.carrying():
            self.world.forge.edit(there, f"{PLAN}\n\n{text}")
            return
        self.world.say(f"{PLAN}\n\n{text}")

    def remove_cache(self) -> None:
        """Somebody deletes the cache."""
        self.wrote(self.cache(self.here), None)
        self.here.file().unlink(missing_ok=True)

    def remove_comment(self) -> None:
        """Somebody deletes the comment."""
        self.wrote(self.comment(), None)
        for there in self.world.carrying():
            self.world.forge.delete(there)

    def forget(self) -> None:
        """All bases are lost."""
        path = self.world.tmp / "one.sqlite3"
        if path.exists():
            with closing(sqlite3.connect(path)) as db, db:
                db.execute("DELETE FROM base")

    def other_worktree(self) -> None:
        """Somebody goes on elsewhere, with the same journal."""
        self.at = 1 - self.at

    def reconcile(self, wish: str, create: bool) -> None:
        """Look, then act; acting does what looking said, and leaves both sides as told."""
        foreseen = self.here.run(wish, apply=False, create=create)
        outcome = self.here.run(wish, create=create)
        # Only carrying out a merge tells whether the two contradict each other.
        assert outcome.decision in (foreseen.decision, Word.CONFLICT)
        acted = outcome.decision not in (Word.CONFLICT, Word.ABSENT)
        if acted and not (outcome.reason and outcome.reason.code == "needs-create"):
            assert self.cache(self.here) == self.comment()
            assert self.here.run().decision is Word.IN_SYNC

    def everything(self) -> set[str]:
        """All texts that are still somewhere: on both sides, kept aside, in the journal."""
        kept = [text for tree in self.trees for text in tree.aside().values()]
        journal = self.world.setup().open_journal()
        kept += [
            journal.body(entry.replaced) or "" for entry in journal.entries() if entry.replaced
        ]
        sides = [self.comment(), *map(self.cache, self.trees)]
        return {normalise(text.removeprefix(PLAN)) for text in kept} | {s for s in sides if s}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HISTORIES)
@example([("type", "a"), ("edit", "b"), ("reconcile", "refuse", False)])
@example(
    [
        ("edit", "a"),
        ("reconcile", "refuse", False),
        ("other worktree",),
        ("type", "a"),
        ("reconcile", "refuse", False),
        ("type", "b"),
        ("reconcile", "refuse", False),
        ("other worktree",),
        ("reconcile", "refuse", False),
        ("type", "c"),
        ("edit", "d"),
        ("reconcile", "merge", False),
        ("forget",),
        ("reconcile", "cache", False),
    ]
)
def test_no_text_is_ever_gone(steps: list[tuple[object, ...]]) -> None:
    """Whatever is edited, removed, forgotten and taken: each text is still somewhere.

    A text that its own author wrote over, or deleted, on either side is not looked for.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(memory_folder())
        world = World("in-process", folder, stack)
        history = History(world, [Worktree(world, "one"), Worktree(world, "two")])
        for what, *said in steps:
            history.do(str(what), *said)
            assert history.written <= history.everything(), what

"""A box of supervised agents at work: the registry and the side files, changed together.

What may live here: what is read and written, in which order and under which lock.  What may not:
the decisions (``launching``, ``agent_box``).

The registry's lock covers what is decided from it: a name is free, a session is still listed, a
side file is nobody's.  Looking for transcripts is slow and happens before it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial

from ..errors import Failed, MarkersError, echo
from ..model import Action
from ..paths import Place
from . import agent_box, launching, side_files
from .agent_box import Wish
from .declared import Posture
from .engine import Cabinet, Condition, Seen, Updated, require_usable
from .json_text import JsonText
from .launching import Launch, Recorded
from .side_files import Reclaimed

OPERATOR, SUPERVISOR = "operator", "supervisor"
_CHANCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a verb has come to."""

    action: Action
    name: str | None = None
    launch_id: str | None = None
    warnings: tuple[str, ...] = ()
    side_file: bool = False
    """Whether the side file was written."""
    registry: bool = False
    """Whether the registry was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep has deleted; *why* it was none of its business, where it was not."""

    side_files: Reclaimed = field(default_factory=Reclaimed)
    live_records: Reclaimed = field(default_factory=Reclaimed)
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """The places of one box."""

    registry: Cabinet[JsonText]
    side: Place
    live: Place
    transcripts: Place

    def look(self) -> Seen[JsonText]:
        """The registry as a reader sees it; never raises."""
        return self.registry.look()

    def recorded(self, document: JsonText, name: str) -> Recorded:
        """What is known of a session; raises as ``agent_box.entry`` does."""
        found = agent_box.entry(document, name)
        return launching.recorded(found, side_files.launch_id(self.side, name))

    def launch(self, name: str) -> Launch:
        """How a session is to be started; writes nothing.

        Raises ``Failed`` (``state-...``) where the registry cannot be read: a new id would orphan
        the conversation that it may name.
        """
        document = require_usable(self.look(), self.registry.file)
        return self.resolved(self.recorded(document, name))

    def resolved(self, known: Recorded) -> Launch:
        """The same of what is known already."""
        return launching.resolve(
            known,
            mint=lambda: str(uuid.uuid4()),
            follow=partial(side_files.live_id, self.live),
            has_transcript=partial(side_files.has_transcript, self.transcripts),
        )

    def record_launch(self, name: str, launch_id: str) -> Done:
        """Note with which id a session was started.

        Raises ``Failed`` (``session-gone``) where it was taken off the list or stopped meanwhile:
        what was started is to be ended again.
        """
        require_usable(self.look(), self.registry.file)
        warnings: list[str] = []
        with self.registry.file.held(warnings.append) as held:
            document = require_usable(self.look(), self.registry.file)
            if not _is_wanted(document, name):
                why = f"{echo(name)} was delisted or stopped meanwhile: end what was started"
                raise Failed("session-gone", why)
            todo = launching.to_record(self.recorded(document, name), launch_id)
            side = todo.side and self._record_side(name, launch_id, warnings)
            if todo.mirror:
                change = partial(agent_box.started, name=name, launch_id=launch_id)
                done = self.registry.update_held(held, change, writer=SUPERVISOR)
        registry = todo.mirror and done.action is not Action.UNCHANGED
        return Done(
            action=Action.UPDATED if side or registry else Action.UNCHANGED,
            name=name,
            launch_id=launch_id,
            warnings=tuple(warnings),
            side_file=side,
            registry=registry,
        )

    def _record_side(self, name: str, launch_id: str, warnings: list[str]) -> bool:
        try:
            side_files.record_launch(self.side, name, launch_id)
        except MarkersError as error:  # it costs an id that is derived again, and no start
            warnings.append(f"the side file was not written: {error.reason.detail}")
            return False
        return True

    def rotate(self, launch_id: str, now: str) -> Done:
        """Note that a session launched as *launch_id* goes on as *now*."""
        same = side_files.live_id(self.live, launch_id) == now
        if not same:
            side_files.record_live(self.live, launch_id, now)
        return Done(action=Action.UNCHANGED if same else Action.UPDATED, launch_id=launch_id)

    def add(self, wish: Wish, name: str | None, home: str) -> Done:
        """List a new session, under a name that is free; raises ``Usage`` (``name-taken``).

        What an earlier session of that name left behind is deleted first, so that its conversation
        does not go on under the new one.
        """
        launch_id = str(uuid.uuid4())
        warnings: list[str] = []
        with self.registry.file.held(warnings.append) as held:
            seen = self.look()
            taken = agent_box.sessions(seen.value) if seen.value else {}
            chosen = name or agent_box.free_name(taken, wish, home, _chance)
            if seen.value and chosen not in taken:
                side_files.forget(self.side, chosen)
            change = partial(agent_box.add, name=chosen, found=wish.entry(launch_id))
            done = self.registry.update_held(held, change, writer=OPERATOR)
        return Done(
            action=done.action,
            name=chosen,
            launch_id=launch_id,
            warnings=(*warnings, *done.warnings),
            registry=True,
        )

    def remove(self, name: str) -> Done:
        """Take a session off the list, and its side file away; one that is gone is fine."""
        if self.look().condition is Condition.MISSING:
            return Done(action=Action.UNCHANGED, name=name)
        warnings: list[str] = []
        with self.registry.file.held(warnings.append) as held:
            change = partial(agent_box.remove, name=name)
            done = self.registry.update_held(held, change, writer=OPERATOR)
            try:
                side_files.forget(self.side, name)
            except MarkersError as error:
                warnings.append(f"its side file is left to the next sweep: {error.reason.detail}")
        return Done(
            action=done.action,
            name=name,
            warnings=(*warnings, *done.warnings),
            registry=done.action is not Action.UNCHANGED,
        )

    def flag(self, change: Callable[..., JsonText], name: str) -> Done:
        """Apply ``agent_box.stop`` or ``restart``; raises ``Usage`` (``no-session``)."""
        if self.look().condition is Condition.MISSING:
            raise agent_box.no_session(name)
        done: Updated[JsonText] = self.registry.update(partial(change, name=name), writer=OPERATOR)
        return Done(
            action=done.action,
            name=name,
            warnings=done.warnings,
            registry=done.action is not Action.UNCHANGED,
        )

    def sweep(self, *, records: bool = False) -> Swept:
        """Delete the side files of sessions that are not listed, and on demand dead live records.

        A registry that cannot be read deletes nothing; one that is read and lists nobody deletes
        all.  Raises ``Unavailable`` (``state-locked``): without the lock nothing is deleted.
        """
        if (seen := self.look()).value is None:
            return Swept(why=seen.why)
        strict = replace(self.registry.file, posture=Posture.FAIL_CLOSED)
        with strict.held(lambda _warning: None):
            if (seen := self.look()).value is None:
                return Swept(why=seen.why)
            alive = self._launch_ids(seen.value) if records else None
            swept = side_files.sweep(self.side, agent_box.sessions(seen.value))
            if alive is None:
                return Swept(side_files=swept)
            return Swept(side_files=swept, live_records=side_files.sweep_records(self.live, alive))

    def _launch_ids(self, document: JsonText) -> Collection[str]:
        """Every id with which a listed session may have been launched last.

        Raises ``Failed`` where a side file cannot be read: its id may be any.
        """
        entries = agent_box.sessions(document)
        objects = [found for found in entries.values() if isinstance(found, dict)]
        copies = {str(found.get("boxSessionId")) for found in objects}
        names = filter(side_files.is_possible, entries)
        sides = {side_files.read_launch_id(self.side, name) or "" for name in names}
        return copies | sides


def _is_wanted(document: JsonText, name: str) -> bool:
    found = agent_box.sessions(document).get(name)
    return isinstance(found, dict) and not agent_box.is_stopped(found)


def _chance() -> str:
    return uuid.uuid4().hex[:_CHANCE]

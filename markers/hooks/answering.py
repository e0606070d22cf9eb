"""One event answered: the notes are read, judged, framed; what went wrong is told, never raised on.

What may live here: which hook does what, in which order.  What may not: standard input and output,
exit codes, the journal (all of them the command line's).

The notes are ``SESSION-STATE.md`` of the store ``session-md``.  They come from nobody but the
user's own checkout: a file that git tracks may be a stranger's and is not used, nor is one that git
does not tell about; a link is not followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..caches import places, session_md
from ..caches.files import StateFile
from ..errors import Failed, MarkersError
from ..model import Reason
from ..paths import Place, Roots, find_git_top
from . import EVENTS, events, framing, guard, trails
from .events import Event
from .tracked import Standing, is_misspelt, standing

STATE = "SESSION-STATE.md"
_TRIGGER = re.compile(r"[A-Za-z0-9_-]{1,40}")
LARGEST = 256 * 1024
"""Bytes of notes that are looked through: a hook is waited for at every turn."""
Answer = Mapping[str, Any]
Tell = Callable[[Reason], None]
_UNFIT: Mapping[Standing, str] = {
    Standing.TRACKED: (
        f"{STATE} is tracked by git, so it may be a stranger's: it is not shown to the model; read "
        f"it, and if it is yours, run `git rm --cached {STATE}`, add it to .gitignore and commit"
    ),
    Standing.UNTOLD: (
        f"git does not tell whether it tracks {STATE} (is git installed, and the checkout yours?): "
        "it is not shown to the model"
    ),
}
_UNKEPT: Mapping[Standing, str] = {
    Standing.TRACKED: "it is tracked by git, and what is noted there is of this machine",
    Standing.UNTOLD: "git does not tell whether it tracks it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Where a hook was started."""

    root: Path
    """Spelled without links."""
    logs: str
    """The directory for the harness's logs, below the root."""
    environ: Mapping[str, str]


def project(environ: Mapping[str, str], directory: Path) -> Project:
    """Find the project: the harness's variable, else the git top level, else the *directory*."""
    known = {name: value for name, value in environ.items() if value}
    at = places.Surroundings(
        environ=known, directory=directory, top=find_git_top(directory), allowed=Roots(())
    )
    root = Path(os.path.realpath(places.default("session-md", at).root))
    return Project(root=root, logs=".claude" if at.project else ".codex", environ=known)


def respond(event: str, data: bytes, here: Project, tell: Tell) -> Answer | None:
    """Answer the *event* (a word of ``EVENTS``) that *data* describes; None says nothing.

    *tell* hears what went wrong.
    """
    try:
        described = events.read(data)
    except events.Unreadable as error:
        why = f"the event cannot be read: {error}"
        tell(Reason(code="hook-event", detail=f"{why}; it is taken for one that says nothing"))
        described = Event()
    try:
        context = _CONTEXT[event](described, here, tell)
    except MarkersError as error:
        tell(error.reason)
        return None
    return events.answer(EVENTS[event], context) if context else None


def _session_start(_event: Event, here: Project, tell: Tell) -> str | None:
    text = _notes(here)
    if text is None or session_md.says_nothing(text) or not _is_fit(here, tell):
        return None
    return _framed(session_md.full(text).rstrip("\n").split("\n"), "as it stands")


def _user_prompt_submit(_event: Event, here: Project, tell: Tell) -> str | None:
    lines = session_md.digest(_notes(here) or "")
    if not lines or not _is_fit(here, tell):
        return None
    return _framed(lines, "what holds in every turn")


def _pre_compact(event: Event, here: Project, tell: Tell) -> None:
    """Leave a line; undated, as the program that owns the log writes it."""
    try:
        present = _file(here).read() is not None
    except MarkersError as error:
        tell(error.reason)
        present = False
    trigger = event.trigger if _TRIGGER.fullmatch(event.trigger or "") else "unknown"
    line = f"compaction-checkpoint trigger={trigger} state_present={'yes' if present else 'no'}"
    _append(here, here.logs, trails.CHECKPOINTS, line)


def _pre_tool_use(event: Event, here: Project, tell: Tell) -> str | None:
    if event.command is None or not guard.provisions(event.command):
        return None
    names = session_md.surveyed(_notes(here) or "")
    if guard.was_surveyed(event.command, names) and _is_fit(here, tell):
        return None
    folder = ".claude" if (here.root / ".claude").is_dir() else here.logs
    try:
        _append(here, folder, trails.WARNINGS, guard.logged(event.command))
    except MarkersError as error:
        tell(error.reason)
    return guard.ADVICE


_CONTEXT: Mapping[str, Callable[[Event, Project, Tell], str | None]] = {
    "session-start": _session_start,
    "user-prompt-submit": _user_prompt_submit,
    "pre-compact": _pre_compact,
    "pre-tool-use": _pre_tool_use,
}


def _file(here: Project) -> StateFile:
    return StateFile(place=Place(STATE, here.root, (STATE,), Roots((here.root,))))


def _notes(here: Project) -> str | None:
    """The text of the notes, made harmless; None where there are none.

    Raises ``Failed`` (``state-...``) and ``Refused`` (``path-...``).
    """
    data = _file(here).read()
    if data is None:
        return None
    if len(data) > LARGEST:
        why = f"it has more than {LARGEST:,} bytes"
        raise Failed("state-large", f"{STATE} is not shown to the model: {why}")
    try:
        return framing.clean(session_md.CODEC.load(data))
    except ValueError as error:
        raise Failed("state-broken", f"{STATE} is not shown to the model: {error}") from None


def _is_fit(here: Project, tell: Tell) -> bool:
    """Whether the notes can only be the user's own."""
    path = here.root / STATE
    if is_misspelt(path):
        why = f"{STATE} is spelled otherwise in its directory: it is not shown to the model"
        tell(Reason(code="hook-spelling", detail=why))
        return False
    unfit = _UNFIT.get(standing(path, here.environ))
    if unfit is not None:
        tell(Reason(code="hook-tracked", detail=unfit))
    return unfit is None


def _append(here: Project, folder: str, name: str, line: str) -> None:
    """Add to a log that git has nothing to do with.

    Raises ``Failed`` (``hook-log``, ``hook-tracked``) and ``Refused`` (``path-...``).
    """
    said = _UNKEPT.get(standing(here.root / folder / name, here.environ))
    if said is not None:
        raise Failed("hook-tracked", f"nothing is added to {folder}/{name}: {said}")
    trails.append(here.root, folder, name, line)


def _framed(lines: list[str], view: str) -> str:
    return framing.framed(lines, source=STATE, view=view, word=_word)


def _word() -> str:
    """Sixteen digits that nobody can foresee, without the many imports of ``secrets``."""
    return os.urandom(8).hex()

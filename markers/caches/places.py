"""Where each store's files lie, and which other places a caller may name.

What may live here: the order in which a root is looked for, one line a store, and the names that
files must bear.  What may not: what is in the files.

Defaults are those of the programs that own the stores (stores, section 12).  A place that the
caller names must bear the store's own file name and lie below the store's own root, the scratch
roots or the user's roots (design, section 3).
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import Refused, Usage, echo
from ..paths import Place, Roots, locate

PROJECT = "CLAUDE_PROJECT_DIR"
MEMORY = "MARKERS_MEMORY_ROOT"
LONGEST_NAME = 255
"""Bytes that a file's name may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where the program runs, as far as the places of stores depend on it."""

    environ: Mapping[str, str]
    """Without the variables that are empty."""
    directory: Path
    """The working directory."""
    top: Path | None
    """The nearest directory from there upwards that holds ``.git``."""
    allowed: Roots
    """The scratch roots and the user's own."""

    @property
    def home(self) -> Path:
        """The user's home directory.

        Raises ``Usage`` (``home``) where neither the environment nor the system knows it.
        """
        named = self.environ.get("HOME")
        try:
            return self.directory / (named or pwd.getpwuid(os.getuid()).pw_dir)
        except KeyError:
            raise Usage("home", "HOME is not set, and the system knows no home of yours") from None

    @property
    def project(self) -> Path | None:
        """The project that the harness says it works in."""
        named = self.environ.get(PROJECT)
        return _by_the_user(self.directory / named) if named else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One kind of file (or directory) of a store."""

    root: Callable[[Surroundings], Path]
    inside: tuple[str, ...]
    """Its path below the root; empty for the root itself."""
    name: str | None = None
    """What a place that the caller names must be called; None for directories."""
    variable: str = ""
    """The environment variable that names another file: the user's own, which may lie anywhere."""


def _by_the_user(root: Path) -> Path:
    """A root that the user's variables name: links on the way to it are the user's own."""
    return Path(os.path.realpath(root))


def _project_first(at: Surroundings) -> Path:
    return at.project or at.top or at.directory


def _checkout_first(at: Surroundings) -> Path:
    project = at.project
    there = project if project is not None and project.is_dir() else None
    return at.top or there or at.directory


def _memory(at: Surroundings) -> Path:
    return _by_the_user(at.directory / at.environ.get(MEMORY, "/memories/session"))


def _temporary(_at: Surroundings) -> Path:
    return Path(os.path.realpath("/tmp"))  # noqa: S108 - the owner's own choice


SPOTS: Mapping[str, Spot] = {
    "session-md": Spot(root=_project_first, inside=("SESSION-STATE.md",), name="SESSION-STATE.md"),
    "session-yaml": Spot(
        root=_checkout_first, inside=(".agent", "sessions", "latest.yaml"), name="latest.yaml"
    ),
    "trusted-memory": Spot(
        root=lambda _at: Path("/workspace/group"),
        inside=("session-state.json",),
        name="session-state.json",
    ),
    "sentinel": Spot(
        root=_temporary, inside=("session_bootstrapped",), name="session_bootstrapped"
    ),
    "addresses": Spot(
        root=lambda _at: Path("/workspace/trusted"),
        inside=("user_profile.md",),
        name="user_profile.md",
        variable="USER_PROFILE_PATH",
    ),
    "messages": Spot(
        root=lambda _at: Path("/workspace/store"),
        inside=("messages.db",),
        name="messages.db",
        variable="MARKERS_MESSAGES_DB",
    ),
    "agent-box": Spot(
        root=lambda at: at.home / ".config" / "agent-box",
        inside=("sessions.json",),
        name="sessions.json",
        variable="AGENT_BOX_SESSIONS_FILE",
    ),
    "side-dir": Spot(
        root=lambda at: at.home / ".local" / "state" / "agent-box" / "session", inside=()
    ),
    "live-dir": Spot(
        root=lambda at: at.home / ".local" / "state" / "agent-box" / "live-session-id", inside=()
    ),
    "transcripts": Spot(root=lambda at: at.home / ".claude" / "projects", inside=()),
    "memory": Spot(root=_memory, inside=()),
}
"""By the store's name, or that of a further file of it."""


def default(name: str, at: Surroundings) -> Place:
    """Where the programs that own the store look for it."""
    spot = SPOTS[name]
    stated = at.environ.get(spot.variable)
    if stated:
        given = at.directory / stated
        path = _by_the_user(given.parent) / given.name
        return Place(str(path), path.parent, (path.name,), Roots((path.parent,)))
    root = spot.root(at)
    path = root.joinpath(*spot.inside)
    return Place(str(path), root, spot.inside, Roots((root,)))


def require_project(place: Place, at: Surroundings) -> Place:
    """The place; raises ``Usage`` (``project-missing``) below a project that is not there."""
    if place.root == at.project and not place.root.is_dir():
        why = f"{PROJECT} names {echo(str(place.root))}, which is no directory: is it misspelt?"
        raise Usage("project-missing", why)
    return place


def named(name: str, path: str, at: Surroundings) -> Place:
    """The place that a caller names instead.

    Raises ``Refused``: ``path-name`` for another file name than the store's, ``path-outside`` and
    the like.
    """
    spot = SPOTS[name]
    roots = Roots(tuple(dict.fromkeys((default(name, at).root, *at.allowed.directories))))
    place = locate(unlinked(path, at), roots, cwd=at.directory)
    if spot.name is not None and place.path.name != spot.name:
        raise place.refused("path-name", f"must be called {spot.name}, as its readers know it")
    return place


def unlinked(path: str, at: Surroundings) -> str:
    """A path below a directory that the user's variables name, spelled as that is resolved."""
    whole = at.directory / path
    variables = (PROJECT, MEMORY, *(spot.variable for spot in SPOTS.values()))
    for variable in filter(at.environ.get, variables):
        given = at.directory / at.environ[variable]
        directory = given if variable in (PROJECT, MEMORY) else given.parent
        if path and whole.is_relative_to(directory):
            return str(_by_the_user(directory) / whole.relative_to(directory))
    return path


def below(directory: Place, name: str) -> Place:
    """The file *name* in a directory; raises ``Refused`` (``path-name``) for what is no name."""
    if not is_name(name):
        raise Refused("path-name", f"'{echo(name)}' cannot be the name of a file")
    return Place(
        f"{directory.given}/{name}", directory.root, (*directory.parts, name), directory.roots
    )


def is_name(name: str) -> bool:
    """Whether a file can be called so: one part, visible, not too long, none of the two dots."""
    return bool(
        name not in ("", ".", "..")
        and len(os.fsencode(name)) <= LONGEST_NAME
        and not re.search(r"[/\x00-\x1f\x7f]", name)
    )

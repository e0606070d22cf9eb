"""The registry of a box of supervised agents: what its operator wants (store ``agent-box``).

What may live here: the form of the registry, names and ids, the changes that its writers make, all
pure.  What may not: observations (``side_files``), what a start resumes (``launching``), files.

Five programs in three languages edit the registry, so an entry that another one wrote by hand is
kept as it stands, whatever it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from ..errors import Refused, Usage, echo
from .declared import ANY, Mirror, Posture, Store
from .engine import Broken
from .json_codec import JsonCodec
from .json_text import JsonText

SESSIONS = "sessions"
LONGEST_NAME = 150
"""Of a name that is given anew; the web page of the box does not see longer ones."""
CLAUDE = "claude"
_NAME = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_ID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)
_UNFIT = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)
_TRIES = range(2, 10)

STORE = Store(
    name="agent-box",
    file="sessions.json",
    owner="agent-box",
    survival="within-worktree:supervisor",
    mode=0o600,
    posture=Posture.GO_ON,
    writers={
        "operator": ((SESSIONS,),),
        "supervisor": (
            (SESSIONS, ANY, "hasRun"),
            (SESSIONS, ANY, "boxSessionId"),
            (SESSIONS, ANY, "initialPrompt"),
        ),
    },
    mirrors=(
        Mirror(
            field=(SESSIONS, ANY, "boxSessionId"),
            repeats="launchSessionId of the side file",
            until="the supervisor's release after the one that brought side files",
        ),
        Mirror(
            field=(SESSIONS, ANY, "hasRun"),
            repeats="whether a transcript is there, or a start was recorded",
            until="the supervisor's release after the one that brought side files",
        ),
    ),
    chain=("side file", "registry", "minted"),
)


@dataclass(frozen=True, slots=True)
class RegistryCodec(JsonCodec):
    """A JSON object with ``version`` and an object of ``sessions``."""

    def load(self, data: bytes) -> JsonText:
        """Read it; raises ``Broken``, also where no object of sessions is in it."""
        document = JsonCodec.load(self, data)  # super() does not survive a dataclass's slots
        if not isinstance(document.value.get(SESSIONS), dict):
            raise Broken(f"it has no object of {SESSIONS}")
        return document


CODEC = RegistryCodec("version", '{\n  "version": 1,\n  "sessions": {}\n}\n')


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What an operator says of a new session."""

    agent: str
    working_directory: str | None = None
    extra_args: tuple[str, ...] = ()
    initial_prompt: str | None = None
    resume_prompt: str | None = None
    remote_control_name: str | None = None
    skip_permissions: bool = True
    remote_control: bool = True

    def entry(self, launch_id: str) -> dict[str, Any]:
        """The registry's entry, with the id that its first start is to use."""
        return {
            "agent": self.agent,
            "skipPermissions": self.skip_permissions,
            "remoteControl": self.remote_control,
            "remoteControlName": self.remote_control_name,
            "workingDirectory": self.working_directory,
            "extraArgs": list(self.extra_args),
            "initialPrompt": self.initial_prompt,
            "resumePrompt": self.resume_prompt,
            "boxSessionId": launch_id,
            "hasRun": False,
        }


def is_name(text: str) -> bool:
    """Whether a session can be called so; long names of old are still names."""
    return _NAME.fullmatch(text) is not None


def is_id(value: object) -> bool:
    """Whether it is a UUID by its shape; all that is read back is asked this before it is used."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def require_name(text: str, *, new: bool = False) -> str:
    """The name; raises ``Usage`` (``session-name``)."""
    if not is_name(text) or (new and len(text) > LONGEST_NAME):
        most = f", at most {LONGEST_NAME}" if new else ""
        raise Usage("session-name", f"'{echo(text)}': names are of A-Z a-z 0-9 _ and -{most}")
    return text


def require_id(text: str) -> str:
    """The id; raises ``Usage`` (``session-id``)."""
    if not is_id(text):
        raise Usage("session-id", f"'{echo(text)}' is not a UUID such as uuidgen prints")
    return text


def sessions(document: JsonText) -> Mapping[str, Any]:
    """All entries by name, those that are no objects too."""
    found: Mapping[str, Any] = document.value[SESSIONS]
    return found


def entry(document: JsonText, name: str) -> Mapping[str, Any]:
    """One entry; raises ``Usage`` (``no-session``), ``Refused`` (``session-entry``)."""
    if name not in sessions(document):
        raise no_session(name)
    found = sessions(document)[name]
    if not isinstance(found, dict):
        raise Refused("session-entry", f"the entry {echo(name)} is no object: mend it by hand")
    return found


def no_session(name: str) -> Usage:
    """Nothing of that name is in the registry."""
    return Usage("no-session", f"there is no session {echo(name)}")


def agent_of(found: Mapping[str, Any]) -> str:
    """The program that a session runs; empty where its entry does not say."""
    named = found.get("agent")
    return named if isinstance(named, str) else ""


def is_stopped(found: Mapping[str, Any]) -> bool:
    """Whether it stays down until somebody restarts it."""
    return found.get("stopped") is True


def add(document: JsonText, *, name: str, found: Mapping[str, Any]) -> JsonText:
    """List a new session; raises ``Usage`` (``name-taken``)."""
    if name in sessions(document):
        raise Usage("name-taken", f"there is a session {echo(name)} already")
    return document.put((SESSIONS, name), dict(found))


def remove(document: JsonText, *, name: str) -> JsonText:
    """Take a session off the list; one that is gone already is fine."""
    return document.remove((SESSIONS, name))


def stop(document: JsonText, *, name: str) -> JsonText:
    """Flag that it stays down; raises as ``entry`` does."""
    return document if is_stopped(entry(document, name)) else _put(document, name, "stopped", True)


def restart(document: JsonText, *, name: str) -> JsonText:
    """Take that flag away; raises as ``entry`` does."""
    entry(document, name)
    return document.remove((SESSIONS, name, "stopped"))


def started(document: JsonText, *, name: str, launch_id: str) -> JsonText:
    """Repeat what a start has shown, for older readers; a session that is gone stays gone."""
    if name not in sessions(document):
        return document
    fields = {"hasRun": True, "boxSessionId": launch_id, "initialPrompt": None}
    for field, value in fields.items():
        document = _put(document, name, field, value)
    return document


def _put(document: JsonText, name: str, field: str, value: Any) -> JsonText:
    return document.put((SESSIONS, name, field), value)


def free_name(taken: Container[str], wish: Wish, home: str, chance: Callable[[], str]) -> str:
    """A name for a session that was given none; *chance* makes four hex digits."""
    return next(name for name in _names(wish, home, chance) if name not in taken)


def _names(wish: Wish, home: str, chance: Callable[[], str]) -> Iterator[str]:
    """The agent's name, then that of its directory, then a number or chance behind it."""
    yield wish.agent
    where = wish.working_directory or home
    base = "" if where == home else _UNFIT.sub("-", PurePath(where).name).strip("-")
    if base and len(base) <= LONGEST_NAME - 2:
        yield base
        yield from (f"{base}-{number}" for number in _TRIES)
    while True:
        yield f"{wish.agent}-{chance()}"

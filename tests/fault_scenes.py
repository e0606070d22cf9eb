"""Where a fault strikes: what a call of each shape sends on a thread, and one of its requests.

A scene is a thread and a write that goes well on it; a place is one request of a scene.  The sender
here fails below HTTP as the real one does, through the very translation of its errors, and lets no
write pass that has no intent in the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn

from worlds import ISSUE, REPO, World

from markers import clock
from markers.codec import sha256
from markers.errors import Broken
from markers.forge import faults
from markers.forge.app import read
from markers.forge.faults import Fault
from markers.model import Action, WriteResult
from markers.setup import Setup
from markers.testing import ForgeSender
from markers.transport import rest
from markers.transport.interface import Request, Response
from markers.writer import Fold

OLD, NEW = "Old.\n", "New.\n"
UPSERT, RECORD, STAGE = "completion-account", "design-phase-complete", "goal-run-stage"
STEPPED = "plan-issue"
LONG_AGO = 3600.0
Trouble = Callable[[float], NoReturn]
"""Raises, before anything is sent, what httpx raises; it is told the seconds that are left."""


class Line(World):
    """A world whose network fails, too: *cuts* are the armed faults below HTTP."""

    def __init__(self, tmp: Path, stack: ExitStack) -> None:
        super().__init__("in-process", tmp, stack)
        self.cuts: list[tuple[Fault, Trouble]] = []

    def sender(self) -> LineSender:
        """Into the forge, over the line."""
        return LineSender(self)

    def _make(self, token: str, journal: str) -> Setup:
        """One request after the other: which of them a fault strikes is certain then."""
        made = super()._make(token, journal)
        made.connection.crew.size = 1
        return made


class LineSender(ForgeSender):
    """Fails as ``rest`` does where the line is cut; no write goes out without an intent."""

    def __init__(self, world: Line) -> None:
        super().__init__(world.forge)
        self.world = world

    def send(self, request: Request, *, timeout: float) -> Response:
        """Send one request; silence takes all the time that there is for it."""
        call = read(request.method, request.url, {}, request.body or b"", at=clock.now())
        with rest._translated(request, timeout):
            for cut, trouble in self.world.cuts:
                if cut.strikes(call):
                    trouble(timeout)
        if call.writing and not call.path.endswith("/graphql"):
            assert self.world.setup().open_journal().open_intents(), f"{call.method}: no intent"
        try:
            return super().send(request, timeout=timeout)
        except Broken as error:
            if error.reason.code == "timeout":
                clock.sleep(timeout)
            raise


class Role(StrEnum):
    """What a request is for: that decides what its failure means."""

    LOOK = "look"
    """A read before anything is written."""
    TARGET = "target"
    """The read of the target that an expectation relies on."""
    TARGET_AGAIN = "target again"
    """The same without an expectation, which is planned again."""
    SETTLE = "settle"
    """The listing after the write."""
    BACK = "back"
    """Reading an update back."""
    BACK_NEW = "back, new"
    """Reading back what was created."""
    CREATE = "create"
    UPDATE = "update"
    REPAIR = "repair"
    """The one update that mends what was just created."""
    LOSER = "loser"
    """Deleting what is one too many, when all else is done."""
    DELETE = "delete"

    @property
    def writes(self) -> bool:
        """Whether the request itself is one of the scene's writes."""
        return self in (Role.CREATE, Role.UPDATE, Role.REPAIR, Role.LOSER, Role.DELETE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A thread and a write on it, that goes well unless a fault strikes."""

    shape: str
    done: Action
    sends: tuple[str, ...]
    """The writes that the server sees then."""
    family: str = UPSERT
    order: Mapping[str, Any] = field(default_factory=dict)
    long: int = 0
    """How many comments of others come first, beside one."""
    old: float | None = None
    """How many seconds ago a comment of ours was written, where there is one."""
    empty: bool = False
    pauses: int = 0
    """How often it is waited though nothing fails."""
    rival: Callable[[Line], None] | None = None
    """Interferes, once."""

    @property
    def marker(self) -> str:
        """On line 1."""
        return f"<!-- {self.family}-{ISSUE} -->"

    def body(self, text: str) -> str:
        """A comment of this scene."""
        return f"{self.marker}\n\n{text}"

    def set_up(self, world: Line) -> None:
        """Let the thread be as it is before the write."""
        if not self.empty:
            world.say("How is it going?", author="lee")
        world.forge.fill(REPO, ISSUE, self.long)
        if self.old is not None:
            at = world.clock.now() - self.old
            world.forge.comment(REPO, ISSUE, "pat", self.body(OLD), at=at)
        if self.rival is not None:
            self.rival(world)

    def run(self, world: Line, **changes: Any) -> WriteResult:
        """Write, or take back."""
        order = {**self.order, **changes}
        if self.done is Action.DELETED:
            return world.delete(family=self.family, **order)
        return world.write(NEW, family=self.family, **order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One request of a scene."""

    operation: str
    role: Role
    scene: Scene
    method: str
    path: str
    at: int = 0
    """How many of the scene's writes come before it."""
    stands: bool = False
    """Whether a comment of ours, from this call, stands on GitHub by then."""

    @property
    def name(self) -> str:
        """As a test is called."""
        return f"{self.operation}, {self.scene.shape}"


POSTED = rf"/issues/{ISSUE}/comments$"
FIRST_PAGE = rf"/issues/{ISSUE}/comments\?per_page=100$"
NEXT_PAGE = r"[?&]page=2"
SETTLING = r"[?&]since="
ONE = r"/issues/comments/\d+$"
ISSUE_ITSELF = rf"/issues/{ISSUE}$"


def _another_first(text: str, family: str) -> Callable[[Line], None]:
    """Another machine of ours posts while our request is on its way."""

    def rival(world: Line) -> None:
        body = f"<!-- {family}-{ISSUE} -->\n\n{text}"
        world.forge.on_request("POST", POSTED, lambda _call: world.say(body))

    return rival


def _twin_of_old(world: Line) -> None:
    at = world.clock.now() - LONG_AGO
    world.forge.comment(REPO, ISSUE, "pat", f"<!-- {UPSERT}-{ISSUE} -->\n\n{OLD}", at=at)


def _deleted(world: Line) -> None:
    """Somebody deletes the comment while our update is on its way."""

    def delete(_call: object) -> None:
        world.forge.delete(world.carrying(f"<!-- {UPSERT}-{ISSUE} -->")[0])

    world.forge.on_request("PATCH", ONE, delete)


def _stripped(world: Line) -> None:
    world.forge.faults.add("POST", POSTED, faults.strip_comments())


OLD_SHA = sha256(f"<!-- {UPSERT}-{ISSUE} -->\n\n{OLD}")
FETCH = {"verify": "fetch"}
FOLDING = {"fold": Fold.DELETE}

FIRST = Scene(shape="first", done=Action.CREATED, sends=("POST",))
CHANGE = Scene(shape="change", done=Action.UPDATED, sends=("PATCH",), old=LONG_AGO)
POST = Scene(shape="record", done=Action.POSTED, sends=("POST",), family=RECORD)


RACED = replace(
    FIRST,
    done=Action.UPDATED,
    sends=("POST", "PATCH", "DELETE"),
    rival=_another_first(OLD, UPSERT),
)
RECREATED = replace(CHANGE, done=Action.CREATED, sends=("PATCH", "POST"), rival=_deleted, pauses=1)
FOLDED = replace(CHANGE, sends=("PATCH", "DELETE"), rival=_twin_of_old, order=FOLDING)
MENDED = replace(POST, sends=("POST", "PATCH"), rival=_stripped)
SAME = replace(
    POST, done=Action.UNCHANGED, sends=("POST", "DELETE"), rival=_another_first(NEW, RECORD)
)
TAKEN_BACK = Scene(
    shape="taken back", done=Action.DELETED, sends=("DELETE",), family=STAGE, old=LONG_AGO
)


def _place(operation: str, role: Role, scene: Scene, method: str, path: str, **more: Any) -> Place:
    return Place(operation=operation, role=role, scene=scene, method=method, path=path, **more)


def _looks() -> list[Place]:
    shapes = (FIRST, CHANGE, POST)
    pages = [_place("list page 1", Role.LOOK, scene, "GET", FIRST_PAGE) for scene in shapes]
    long = [replace(scene, long=100) for scene in shapes]
    pages += [_place("list page n", Role.LOOK, scene, "GET", NEXT_PAGE) for scene in long]
    empty = [replace(scene, empty=True) for scene in (FIRST, POST)]
    pages += [_place("issue", Role.LOOK, scene, "GET", ISSUE_ITSELF) for scene in empty]
    return pages


def _gets() -> list[Place]:
    expecting = replace(CHANGE, order={"expect": OLD_SHA})
    stepped = replace(CHANGE, shape="change with steps", family=STEPPED)
    first, change, record = (replace(scene, order=FETCH) for scene in (FIRST, CHANGE, POST))
    after: dict[str, Any] = {"at": 1, "stands": True}
    return [
        _place("get", Role.TARGET, expecting, "GET", ONE),
        _place("get", Role.TARGET_AGAIN, stepped, "GET", ONE),
        _place("get back", Role.BACK_NEW, first, "GET", ONE, **after),
        _place("get back", Role.BACK, change, "GET", ONE, **after),
        _place("get back", Role.BACK_NEW, record, "GET", ONE, **after),
    ]


def _settles() -> list[Place]:
    young = (FIRST, replace(CHANGE, old=0.0), POST)
    after: dict[str, Any] = {"at": 1, "stands": True}
    return [_place("list again", Role.SETTLE, it, "GET", SETTLING, **after) for it in young]


def _writes() -> list[Place]:
    return [
        _place("create", Role.CREATE, FIRST, "POST", POSTED),
        _place("create", Role.CREATE, RECREATED, "POST", POSTED, at=1),
        _place("create", Role.CREATE, POST, "POST", POSTED),
        _place("update", Role.UPDATE, RACED, "PATCH", ONE, at=1, stands=True),
        _place("update", Role.UPDATE, CHANGE, "PATCH", ONE),
        _place("update", Role.REPAIR, MENDED, "PATCH", ONE, at=1),
        _place("delete", Role.LOSER, RACED, "DELETE", ONE, at=2, stands=True),
        _place("delete", Role.LOSER, FOLDED, "DELETE", ONE, at=1),
        _place("delete", Role.LOSER, SAME, "DELETE", ONE, at=1, stands=True),
        _place("delete", Role.DELETE, TAKEN_BACK, "DELETE", ONE),
    ]


PLACES = (*_looks(), *_gets(), *_settles(), *_writes())

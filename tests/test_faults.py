"""The fault table: what the server does, to which request, of which shape: the right end.

Each cell runs a real write against the forge with one fault armed and looks at both the result and
the server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from worlds import ISSUE, World, near

from markers.codec import sha256
from markers.errors import MarkersError
from markers.forge import faults
from markers.forge.faults import Effect

__all__ = ["near"]

LIST, POST, PATCH = "list", "post", "patch"
ACCOUNT = f"<!-- completion-account-{ISSUE} -->"
WHERE = {
    LIST: ("GET", rf"/issues/{ISSUE}/comments"),
    POST: ("POST", rf"/issues/{ISSUE}/comments$"),
    PATCH: ("PATCH", r"/issues/comments/\d+"),
}
SHAPES: dict[str, dict[str, Any]] = {
    "record": {"family": "design-phase-complete"},
    "first": {"family": "completion-account"},
    "update": {"family": "completion-account"},
}
WRITE = {"record": POST, "first": POST, "update": PATCH}
DONE = {"record": "posted", "first": "created", "update": "updated"}

ONCE_BEFORE: dict[str, Callable[[], Effect]] = {
    "500": lambda: faults.status(500),
    "502": lambda: faults.status(502),
    "503 page": lambda: faults.html(503),
    "reset": faults.reset,
    "silence": faults.timeout,
}
ONCE_AFTER: dict[str, Callable[[], Effect]] = {
    "500": lambda: faults.status(500, landed=True),
    "502": lambda: faults.status(502, landed=True),
    "200 page": lambda: faults.html(200, landed=True),
    "reset": lambda: faults.reset(landed=True),
    "silence": lambda: faults.timeout(landed=True),
    "half": faults.half_json,
    "cut": faults.truncated,
}
LIMITS: dict[str, Callable[[], Effect]] = {
    "secondary": faults.secondary,
    "secondary 1 s": lambda: faults.secondary(1),
    "429 2 s": lambda: faults.secondary(2, code=429),
    "429": lambda: faults.secondary(code=429),
    "primary": lambda: faults.primary(2),
    "primary past": lambda: faults.primary(-2),
}
FINAL: dict[str, Callable[[], Effect]] = {
    "401": lambda: faults.status(401, "Bad credentials"),
    "403": lambda: faults.status(403, "Resource not accessible by integration"),
    "410": lambda: faults.status(410, "This issue was deleted"),
    "451": lambda: faults.status(451, "Repository access blocked"),
}


def run(world: World, shape: str) -> str:
    """Write and name the end; the text is new and there is an old one where it is an update."""
    if shape == "update":
        world.say(f"{ACCOUNT}\n\nOld.\n")
    try:
        result = world.write("New.\n", **SHAPES[shape])
    except MarkersError as error:
        result = error.result
    return str(result.action.value)


def stored(world: World) -> list[str]:
    """Hashes of what carries a marker, without the marker's line."""
    return [sha256(body.split("\n", 1)[1]) for body in world.bodies() if body.startswith("<!--")]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fault", ONCE_BEFORE)
@pytest.mark.parametrize("where", ["look", "write"])
def test_a_failure_before_the_effect(near: World, where: str, fault: str, shape: str) -> None:
    """It passes: the write is done, once."""
    method, path = WHERE[LIST if where == "look" else WRITE[shape]]
    near.forge.faults.add(method, path, ONCE_BEFORE[fault]())
    assert run(near, shape) == DONE[shape]
    assert stored(near) == [sha256("New.")]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fault", ONCE_AFTER)
def test_a_failure_after_the_effect(near: World, fault: str, shape: str) -> None:
    """The write is found: done, and sent once."""
    method, path = WHERE[WRITE[shape]]
    near.forge.faults.add(method, path, ONCE_AFTER[fault]())
    assert run(near, shape) == DONE[shape]
    assert stored(near) == [sha256("New.")]
    assert len(near.sent) == 1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fault", LIMITS)
@pytest.mark.parametrize("where", ["look", "write"])
def test_a_limit_is_waited_out(near: World, where: str, fault: str, shape: str) -> None:
    """As told, or a minute; never not at all."""
    method, path = WHERE[LIST if where == "look" else WRITE[shape]]
    near.forge.faults.add(method, path, LIMITS[fault]())
    assert run(near, shape) == DONE[shape]
    assert stored(near) == [sha256("New.")]
    longest = max(near.clock.slept)
    told = {"secondary": 60, "secondary 1 s": 1, "429 2 s": 2, "429": 60, "primary": 1}
    assert longest >= told.get(fault, 0.5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fault", ONCE_BEFORE)
@pytest.mark.parametrize("where", ["look", "write"])
def test_a_failure_that_stays(near: World, where: str, fault: str, shape: str) -> None:
    """A look that fails writes nothing; a write that is never seen to land is not claimed."""
    method, path = WHERE[LIST if where == "look" else WRITE[shape]]
    near.forge.faults.add(method, path, ONCE_BEFORE[fault](), times=None)
    end = run(near, shape)
    unclear = where == "write" and shape != "update"
    assert end == ("unknown" if unclear else "unavailable")
    assert sha256("New.") not in stored(near)
    assert len(near.setup().open_journal().open_intents()) == unclear
    if where == "look":
        assert near.sent == []


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fault", ONCE_AFTER)
def test_a_lost_answer_and_no_look(near: World, fault: str, shape: str) -> None:
    """The write landed, its answer is lost, and nothing can be read: `unknown`, said as such."""
    method, path = WHERE[WRITE[shape]]
    near.forge.faults.add(method, path, ONCE_AFTER[fault]())
    look = r"/issues/comments/\d+" if shape == "update" else WHERE[LIST][1]
    near.forge.faults.add(
        "GET", look, faults.status(502), times=None, after=0 if shape == "update" else 1
    )
    assert run(near, shape) == "unknown"
    assert len(near.sent) == 1
    assert len(near.setup().open_journal().open_intents()) == 1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fault", FINAL)
@pytest.mark.parametrize("where", ["look", "write"])
def test_a_final_no(near: World, where: str, fault: str, shape: str) -> None:
    """Denied, once, without a wait; a PATCH whose target is gone is planned again."""
    method, path = WHERE[LIST if where == "look" else WRITE[shape]]
    near.forge.faults.add(method, path, FINAL[fault](), times=None)
    end = run(near, shape)
    again = where == "write" and shape == "update" and fault == "410"
    assert end == ("conflict" if again else "denied")
    assert sha256("New.") not in stored(near)
    assert near.clock.slept == []

"""A few cells of the fault table over real sockets: what the tables of faults pretend is so."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from authority import Authority
from fault_scenes import CHANGE, FIRST, NEW, POST, Scene
from worlds import REPO, World

from markers import clock, writer
from markers.errors import MarkersError, Unavailable, Unknown
from markers.forge import faults
from markers.forge.faults import Effect
from markers.forge.server import ForgeServer
from markers.journal.interface import Kind
from markers.model import Repo
from markers.setup import Timing
from markers.writer.recovery import LANDED

SHAPES = {scene.shape: scene for scene in (FIRST, CHANGE, POST)}
Elsewhere = Callable[[World, Path], str]


@pytest.fixture(params=SHAPES)
def scene(request: pytest.FixtureRequest) -> Scene:
    """One of the three shapes."""
    return SHAPES[request.param]


@pytest.fixture
def far(tmp_path: Path, scene: Scene) -> Iterator[World]:
    """A world behind a socket, as it is before the scene's write."""
    with ExitStack() as stack:
        world = World("rest", tmp_path, stack)
        scene.set_up(world)
        yield world


def texts(world: World, scene: Scene) -> list[str]:
    """The comments that carry the marker."""
    return [body for body in world.bodies() if body.startswith(scene.marker)]


def _closed_port(world: World, _folder: Path) -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def _not_tls(world: World, _folder: Path) -> str:
    """Where plain HTTP is spoken, asked in TLS."""
    return world.url.replace("http:", "https:")


def _untrusted(world: World, folder: Path) -> str:
    """Where a certificate is shown that nobody here vouches for."""
    server = ForgeServer(world.forge, tls=Authority(folder).server())
    return world.stack.enter_context(server).url


ELSEWHERE: dict[str, Elsewhere] = {
    "closed port": _closed_port,
    "not TLS": _not_tls,
    "untrusted": _untrusted,
}


@pytest.mark.parametrize("where", ELSEWHERE)
def test_no_connection(far: World, scene: Scene, where: str, tmp_path: Path) -> None:
    """Nothing leaves, nothing was to be written, and it is said so after some tries."""
    far.url = ELSEWHERE[where](far, tmp_path)
    far.repo = Repo(far.url, *REPO.split("/"))
    before = far.bodies()
    with pytest.raises(Unavailable) as caught:
        scene.run(far)
    assert caught.value.reason.code == "unreachable"
    assert far.bodies() == before
    kinds = {entry.record.kind for entry in far.setup().open_journal().entries()}
    assert kinds == {Kind.OUTCOME}


BROKEN: dict[str, Callable[[], Effect]] = {
    "reset before": faults.reset,
    "reset after": lambda: faults.reset(landed=True),
    "silence": faults.timeout,
    "silence after": lambda: faults.timeout(landed=True),
    "truncated": faults.truncated,
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_lost_answer(far: World, scene: Scene, fault: str) -> None:
    """What was lost is looked for, and sent again only where it is not there."""
    (method,) = scene.sends
    far.forge.faults.add(method, "/comments", BROKEN[fault]())
    assert scene.run(far).action is scene.done
    assert texts(far, scene) == [scene.body(NEW)]
    repeated = fault in ("reset before", "silence")
    assert far.sent == [method] * (1 + repeated)


def test_silence_to_the_end(far: World, scene: Scene) -> None:
    """A server that took the write and answers nothing more: unknown, and settled later."""
    (method,) = scene.sends
    with clock.use(clock.SystemClock()):
        hasty = replace(far.setup(), timing=Timing(paced=False, settle=0.01, deadline=0.2))
        far.forge.faults.add(method, "/comments", faults.timeout(landed=True))
        with pytest.raises(MarkersError) as caught:
            scene.run(far, setup=hasty)
        assert isinstance(caught.value, Unknown)
        (intent,) = far.setup().open_journal().open_intents()
        patient = replace(hasty, timing=Timing(paced=False, settle=0.01))
        (settled,) = writer.recover(patient)
    assert (settled.intent, settled.outcome) == (intent.seq, LANDED)
    assert texts(far, scene) == [scene.body(NEW)]

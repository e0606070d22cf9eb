"""Public pytest fixtures: a forge of one's own, in memory or on loopback.

::

    pytest_plugins = ["markers.testing"]          # in conftest.py

    def test_it(forge_server):
        forge_server.forge.comment("acme/widgets", 12, "pat", "hello")
        ...                                       # talk to forge_server.url with token forge-pat

``forge.seed`` says who and what is there.  The forge's clock is ``markers.clock``, so that
``clock.use(FakeClock())`` moves both ends.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from . import clock
from .errors import Broken, Unreachable
from .forge.app import Forge
from .forge.server import ForgeServer, serve
from .transport.interface import Request, Response

__all__ = ["ForgeSender", "forge", "forge_sender", "forge_server"]


class ForgeSender:
    """Speaks to a forge in the same process: a ``Sender`` without a socket.

    *refuse_connections* makes every connection fail before it is made.
    """

    def __init__(self, forge: Forge) -> None:
        self.forge = forge
        self.refuse_connections = False

    def send(self, request: Request, *, timeout: float) -> Response:  # noqa: ARG002 - silence here is told at once
        """Raise ``Unreachable`` and ``Broken`` where a real connection would fail."""
        if self.refuse_connections:
            raise Unreachable("unreachable", "No connection was made: it was refused.")
        try:
            answer = self.forge.handle(
                request.method, request.url, request.headers, request.body or b""
            )
        except ConnectionResetError:
            raise Broken("connection-lost", "The connection was reset before the answer.") from None
        except TimeoutError:
            raise Broken("timeout", "No answer came in time.") from None
        headers = {name.lower(): value for name, value in answer.headers.items()}
        if int(headers.get("content-length", len(answer.body))) != len(answer.body):
            raise Broken("connection-lost", "The answer broke off.")
        return Response(status=answer.status, headers=headers, body=answer.body)

    def close(self) -> None:
        """There is nothing to let go of."""


@pytest.fixture
def forge() -> Iterator[Forge]:
    """A forge in memory with the default world."""
    made = Forge.open(clock=clock.now)
    yield made
    made.close()


@pytest.fixture
def forge_sender(forge: Forge) -> ForgeSender:
    """Speaks to ``forge`` without a socket."""
    return ForgeSender(forge)


@pytest.fixture
def forge_server(forge: Forge) -> Iterator[ForgeServer]:
    """``forge`` on loopback."""
    with serve(forge) as server:
        yield server

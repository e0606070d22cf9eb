"""psycopg, imported here alone and only by those who share a journal.

What may live here: making a connection, seeing whether it is still up, and bounding the wait for an
answer.  What may not: statements.
"""

from __future__ import annotations

import logging
import os
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import Refused
from . import services
from .address import Address, tls

if TYPE_CHECKING:
    from psycopg import Connection

    Line: TypeAlias = Connection[Any]

_KEEPALIVES = {
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
_SYSTEM_ROOTS = 160_000
"""The version of libpq that knows the machine's own root certificates."""


def driver_error() -> type[Exception]:
    """What psycopg raises; ``Refused`` (``journal-driver``) where it is not installed."""
    try:
        import psycopg
    except ImportError:
        raise Refused(
            "journal-driver",
            "a journal on PostgreSQL needs psycopg: pip install 'handoff-markers[postgres]'",
        ) from None
    return psycopg.Error


def state_of(error: Exception) -> str | None:
    """The SQLSTATE that the server gave, where it is the server that speaks."""
    state = getattr(error, "sqlstate", None)
    return None if state is None else str(state)


_SILENT = logging.NullHandler()
"""Takes what psycopg logs about lost connections, which otherwise ends up on standard error."""


def connect(address: Address, patience: float) -> Line:
    """Make a connection, within *patience* seconds or the two that are the driver's least."""
    import psycopg
    from psycopg.conninfo import make_conninfo

    logging.getLogger("psycopg").addHandler(_SILENT)
    known = services.effective(address.parts)
    system = psycopg.pq.version() >= _SYSTEM_ROOTS
    return psycopg.connect(
        make_conninfo(
            **{"application_name": "handoff-markers", **address.parts},
            **tls(known, roots=services.has_roots(known), system=system),
            **_KEEPALIVES,
            client_encoding="UTF8",
            connect_timeout=max(2, round(patience)),
        ),
        autocommit=True,
        prepare_threshold=None,
    )


def is_up(line: Line) -> bool:
    """Whether nothing is known against it, and nothing is under way on it.

    A server that ends a session says so, which makes the line readable.
    """
    if line.closed or line.info.transaction_status.name != "IDLE":
        return False
    news = select.poll()
    news.register(line.fileno(), select.POLLIN)
    with suppress(driver_error()):
        while line.info.status.name == "OK" and news.poll(0):
            line.pgconn.consume_input()  # its last words first, then the end
    return line.info.status.name == "OK"


@contextmanager
def answering(line: Line, *, within: float) -> Iterator[None]:
    """Hang up on a server that takes what we say and does not answer *within* so many seconds."""
    timer = threading.Timer(within, _hang_up, [line.fileno()])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _hang_up(line: int) -> None:
    with suppress(OSError), socket.socket(fileno=os.dup(line)) as own:
        own.shutdown(socket.SHUT_RDWR)

"""What goes wrong with a request, each fault with what a client can know by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from ssl import SSLCertVerificationError
from typing import Any, NoReturn

import httpx
from fault_scenes import Trouble

from markers import clock
from markers.forge import answers, faults
from markers.forge.faults import Effect
from markers.transport.rest import CONNECT_TIMEOUT
from markers.transport.streams import NotConnected


class Tells(StrEnum):
    """What a client can know of its request by how it failed."""

    NOT_SENT = "not sent"
    LOST = "lost, without effect"
    DONE = "lost, with effect"
    """Between these two nobody can tell without a look."""
    LIMIT = "a limit"
    NO = "a final no"
    GONE = "gone"
    TOO_LONG = "too long"
    ALTERED = "another text"
    """Of the right comment: it was changed on its way to us."""
    MANGLED = "stored as another text"
    """It was changed on its way to the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ill:
    """One sort of fault: something on the line, or an effect at the server."""

    name: str
    tells: Tells
    line: Trouble | None = None
    effect: Callable[[], Effect] | None = None
    spoils: bool = False
    """Whether it is the body of the answer that is spoilt: there must be one."""
    wait: float = 0.0
    """The seconds that a limit asks for, at least."""
    waits: int = 0
    """How many such waits fit into the deadline of 120 s."""


def _line(name: str, error: Callable[[], Exception], takes: float = 0.0) -> Ill:
    def trouble(timeout: float) -> NoReturn:
        clock.sleep(min(takes, timeout))
        raise error()

    return Ill(name=name, tells=Tells.NOT_SENT, line=trouble)


def _untrusted() -> Exception:
    error = httpx.ConnectError("certificate verify failed: self-signed certificate")
    error.__cause__ = SSLCertVerificationError("self-signed certificate")
    return error


def _anothers(document: Any) -> Any:
    """What the server says of another comment, issue or thread."""
    if isinstance(document, list):
        return [{**each, "issue_url": each["issue_url"] + "9"} for each in document]
    if "number" in document:
        return {**document, "number": document["number"] + 1, "pull_request": {}}
    return {**document, "id": document["id"] - 1, "body": "Somebody else's text.\n"}


def _other_text(document: Any) -> Any:
    return {**document, "body": "Somebody else's text.\n"}


def _unmarked(document: Any) -> Any:
    return {**document, "body": str(document["body"]).split("\n", 1)[-1]}


def _wrong_shape(document: Any) -> Any:
    return {"unexpected": True} if isinstance(document, list) else [document]


def _cached() -> Effect:
    """Not our request was answered, but one of before: something on the way keeps answers."""
    stale = {"id": 1, "body": "Somebody else's text.\n", "number": 1}
    return faults.answer_with(answers.as_json(stale))


def _refusal(code: int, message: str) -> Callable[[], Effect]:
    return lambda: faults.status(code, message)


def _ills() -> Iterator[Ill]:
    yield _line("DNS", lambda: NotConnected("Name or service not known"))
    yield _line("refused", lambda: httpx.ConnectError("Connection refused"))
    yield _line("TLS", _untrusted)
    yield _line("connect timeout", lambda: httpx.ConnectTimeout(""), takes=CONNECT_TIMEOUT)
    for name, tells, effect in (
        ("read timeout", Tells.LOST, faults.timeout),
        ("read timeout after", Tells.DONE, lambda: faults.timeout(landed=True)),
        ("reset before", Tells.LOST, faults.reset),
        ("reset after", Tells.DONE, lambda: faults.reset(landed=True)),
        ("401", Tells.NO, _refusal(401, "Bad credentials")),
        ("403 plain", Tells.NO, _refusal(403, "Resource not accessible by integration")),
        ("403 locked", Tells.NO, _refusal(403, answers.LOCKED)),
        ("404", Tells.GONE, _refusal(404, "Not Found")),
        ("410", Tells.GONE, _refusal(410, "This issue was deleted")),
        ("422", Tells.TOO_LONG, _refusal(422, "body is too long (maximum is 65536 characters)")),
        ("500", Tells.LOST, lambda: faults.status(500)),
        ("502 before", Tells.LOST, lambda: faults.status(502)),
        ("502 after", Tells.DONE, lambda: faults.status(502, landed=True)),
        ("503 HTML", Tells.LOST, lambda: faults.html(503)),
        ("200 HTML", Tells.DONE, lambda: faults.html(200, landed=True)),
        ("another's, kept", Tells.LOST, _cached),
        ("stored without marker", Tells.MANGLED, faults.strip_comments),
    ):
        yield Ill(name=name, tells=tells, effect=effect)
    for name, tells, effect in (
        ("truncated", Tells.DONE, faults.truncated),
        ("half JSON", Tells.DONE, faults.half_json),
        ("wrong JSON", Tells.DONE, lambda: faults.reply(_wrong_shape)),
        ("another's", Tells.DONE, lambda: faults.reply(_anothers)),
        ("other text", Tells.ALTERED, lambda: faults.reply(_other_text)),
        ("no marker", Tells.ALTERED, lambda: faults.reply(_unmarked)),
    ):
        yield Ill(name=name, tells=tells, effect=effect, spoils=True)
    for name, effect, wait, waits in (
        ("403 secondary, 30 s", lambda: faults.secondary(30), 30, 3),
        ("403 secondary", faults.secondary, 60, 1),
        ("429, 30 s", lambda: faults.secondary(30, code=429), 30, 3),
        ("429, a date", lambda: faults.dated(30), 30, 3),
        ("429", lambda: faults.secondary(code=429), 60, 1),
        ("403 primary", lambda: faults.primary(29), 30, 3),
    ):
        yield Ill(name=name, tells=Tells.LIMIT, effect=effect, wait=wait, waits=waits)


ILLS = tuple(_ills())

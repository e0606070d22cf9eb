"""``hook EVENT`` as a harness calls it: without click, and with exit code 0 whatever happens.

What may live here: standard input and output of a hook, and whom trouble is told.  What may not:
what a hook answers (``hooks``).

A harness takes exit code 2 for a veto and others for a fault of the session, and a hook runs at
every turn: so nothing is imported here that the answer does not need, and trouble is one line on
standard error and an entry in the journal, which gets less than a second for it.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

from .. import clock
from ..caches.places import PROJECT
from ..errors import MarkersError, Refused
from ..hooks.answering import Answer, project, respond
from ..hooks.events import LARGEST
from ..model import Reason

if TYPE_CHECKING:
    from ..journal.interface import Entry, Record

LISTENING = 5.0
"""Seconds in which the event has to have arrived."""
KEEPING = 0.8
"""Seconds that the journal may take."""
AGAIN = 3600.0
"""Seconds before the journal gets the same trouble again: a hook may have it at every turn."""
_RECENT = 100
"""Entries of the journal that are looked through for the same trouble."""


@dataclass(slots=True)
class Heard:
    """What a hook has to say, and what went wrong meanwhile."""

    answer: Answer | None = None
    troubles: list[Reason] = field(default_factory=list)


def run(event: str) -> None:
    """Answer *event* (a word of ``hooks.EVENTS``); never raises, but when it is interrupted."""
    heard = hear(event)
    if heard.answer is not None:
        _put(sys.stdout, json.dumps(heard.answer) + "\n", heard.troubles)
    for trouble in [*heard.troubles, *keep(event, heard.troubles)]:
        _put(sys.stderr, told(event, trouble), [])


def hear(event: str) -> Heard:
    """Take the event from standard input and answer it; never raises, but when interrupted."""
    heard = Heard()
    try:
        data = drained(sys.stdin)
        here = project(os.environ, _directory())
        heard.answer = respond(event, data, here, heard.troubles.append)
    except MarkersError as error:
        heard.troubles.append(error.reason)
    except Exception as error:  # a session does not fail for a fault of ours
        heard.troubles.append(_bug(error))
    return heard


def told(event: str, trouble: Reason) -> str:
    """The one line for standard error."""
    line = f"persist-marker: hook {event}: {trouble.detail} [rule {trouble.code}]"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in line) + "\n"


def drained(stream: IO[Any] | None) -> bytes:
    """What comes in, up to its end; of what is too long, as much as shows that it is.

    It is read on to the end all the same: a harness that cannot get rid of its event takes the hook
    for broken.  A terminal is not waited for.
    """
    if stream is None:
        return b""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # a stream of Python's own
        return bytes(stream.buffer.read(LARGEST + 1)) if hasattr(stream, "buffer") else b""
    return b"" if os.isatty(descriptor) else _read(descriptor)


def _read(descriptor: int) -> bytes:
    kept, end = bytearray(), clock.monotonic() + LISTENING
    with suppress(OSError):  # what cannot be read says nothing
        while (left := end - clock.monotonic()) > 0:
            ready, _, _ = select.select([descriptor], [], [], left)
            piece = os.read(descriptor, 65_536) if ready else b""
            if not piece:
                break
            kept += piece[: LARGEST + 1 - len(kept)]
    return bytes(kept)


def _directory() -> Path:
    """The working directory; raises ``Refused`` (``directory``) where it is gone and matters."""
    try:
        return Path.cwd()
    except OSError as error:
        named = Path(os.environ.get(PROJECT, ""))
        if named.is_absolute():
            return named
        why = f"the working directory cannot be told ({error.strerror}), "
        why += f"and {PROJECT} is {'relative to it' if named.parts else 'not set'}"
        raise Refused("directory", why) from None


def _bug(error: Exception) -> Reason:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    at = f" in {trace.tb_frame.f_globals.get('__name__')}, line {trace.tb_lineno}" if trace else ""
    why = f"{type(error).__name__}{at}: this is a fault of persist-marker, please report it"
    return Reason(code="bug", detail=why)


def _put(stream: IO[str] | None, text: str, troubles: list[Reason]) -> None:
    """Write all of *text*; a stream that does not take it is turned away from."""
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError) as error:
        troubles.append(Reason(code="unprinted", detail=f"the answer was not taken ({error})"))
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def keep(event: str, troubles: Sequence[Reason]) -> list[Reason]:
    """Put *troubles* into the journal; the answer is what hindered that.

    It is done beside, and left to itself where it takes too long: the journal writes an entry
    whole or not at all.
    """
    if not troubles:
        return []
    hindered: list[Reason] = []
    worker = Thread(target=_keep, args=(event, tuple(troubles), hindered), daemon=True)
    worker.start()
    worker.join(KEEPING)
    if worker.is_alive():
        why = f"the journal did not take this within {KEEPING:g} s"
        return [Reason(code="journal", detail=why)]
    return hindered


def _keep(event: str, troubles: Sequence[Reason], hindered: list[Reason]) -> None:
    from ..config import local_journal
    from ..config.settings import stand

    try:
        journal = local_journal(stand(os.environ, _directory()), seconds=KEEPING)
        if journal is None:
            return
        try:
            for trouble in troubles:
                record = _record(event, trouble)
                if not _is_known(record, journal.latest(_RECENT)):
                    journal.append(record)
        finally:
            journal.close()
    except MarkersError as error:
        hindered.append(error.reason)
    except Exception as error:  # as in ``hear``
        hindered.append(_bug(error))


def _is_known(record: Record, entries: Sequence[Entry]) -> bool:
    """Whether the same went wrong in the same hook a short while ago."""
    begin = clock.now() - AGAIN
    return any(
        (entry.record.command, entry.record.reason) == (record.command, record.reason)
        and clock.epoch(entry.at) > begin
        for entry in entries
    )


def _record(event: str, trouble: Reason) -> Record:
    from ..journal.interface import Kind, Record
    from ..model import Action

    return Record(
        kind=Kind.OUTCOME,
        command=f"hook {event}",
        actor="",
        thread="",
        api_url="",
        repo="",
        number=0,
        family="",
        marker="",
        action=Action.FAILED.value,
        reason=trouble,
    )

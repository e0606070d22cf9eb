"""Printing: at most one answer on stdout, everything else on stderr, nothing that can do harm.

Terminal escapes and control characters in what others wrote are shown, not sent.  An output
stream that is closed or cannot spell a character never turns a finished write into a failure.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Any

from ..errors import echo
from ..model import Reason
from .documents import SCHEMA_VERSION, Document, Subject
from .masking import Mask, cleaned


class Unprinted(Exception):
    """The answer could not be written to stdout; *why* is the system's reason."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command has to say in the end."""

    document: Document | None
    """None where everything has been said already."""
    lines: Sequence[str] = ()
    """For people; each is printed as one line, whatever a server has put into it."""
    code: int = 0
    raw: bytes | None = None
    """Printed instead of *lines*, byte for byte."""
    warnings: tuple[str, ...] = field(default=())


def harmless(text: str) -> str:
    """Show control, format and line-separating characters as escapes; one line comes back."""
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def complaint(action: str, subject: Subject, reason: Reason) -> str:
    """The one line of a command that did not end well; names family, place, line and rule."""
    place = f"{subject.surface or '-'}/{subject.number or '-'}"
    rule = f"line {reason.line}, rule {reason.code}" if reason.line else f"rule {reason.code}"
    family = echo(subject.family or "-")
    head = f"persist-marker: {action.upper()} ({family}, {place})"
    return f"{head}: {reason.detail} [{rule}]"


def render(document: Document) -> str:
    """One line of ASCII JSON, so that no locale can change it."""
    return json.dumps({"schema_version": SCHEMA_VERSION, **document})


def say(text: str) -> None:
    """Write one line to stderr; there is nobody left to tell if that fails."""
    with suppress(Unprinted):
        _write(sys.stderr, harmless(text) + "\n")


def show(lines: Sequence[str]) -> None:
    """Write lines to stdout, each made harmless; none writes nothing."""
    if lines:
        _write(sys.stdout, "".join(harmless(line) + "\n" for line in lines))


def show_raw(data: bytes) -> None:
    """Write exactly these bytes to stdout."""
    stream = sys.stdout
    if stream is None:
        return
    with _closed_is_fine(stream):
        stream.flush()
        stream.buffer.write(data)
        stream.flush()


def deliver(answer: Answer, *, as_json: bool, quiet: bool, mask: Mask) -> int:
    """Print the answer and return its exit code; raises ``Unprinted``."""
    clean = mask.thorough if answer.code else mask.known
    if not quiet:
        for warning in answer.warnings:
            say(mask.thorough(f"persist-marker: warning: {warning}"))
    if answer.document is None:
        return answer.code
    if as_json:
        show([render(cleaned(answer.document, clean))])
    elif answer.raw is not None:
        show_raw(answer.raw)
    else:
        show([clean(line) for line in answer.lines])
    return answer.code


def _write(stream: IO[Any] | None, text: str) -> None:
    """Write *text*, spelling what the stream's encoding lacks as escapes."""
    if stream is None:
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    with _closed_is_fine(stream):
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()


@contextmanager
def _closed_is_fine(stream: IO[Any]) -> Iterator[None]:
    """A reader that went away: point the stream at nothing, so that the exit does not fail.

    A full disk is raised as ``Unprinted``: somebody waits for what is lost there.
    """
    try:
        yield
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, OSError) and error.errno != errno.EPIPE:
            raise Unprinted(error.strerror or type(error).__name__) from error

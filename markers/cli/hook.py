"""``persist-marker hook``: what harnesses call, with help and the options of every command.

Called as harnesses should, with the event's name alone, it never comes here (``hooking``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import click

from ..model import Reason
from .common import MarkerCommand, MarkerGroup, documented
from .output import Answer

if TYPE_CHECKING:
    from .hooking import Heard

_EXITS = "0 whatever happens; 2 where no hook is named"


@click.group(
    "hook",
    cls=MarkerGroup,
    short_help="What the hooks of agent harnesses call.",
    **documented(example="persist-marker hook session-start < event.json", exits=_EXITS),
)
def command() -> None:
    """Answer the hooks of Claude Code and Codex; docs/hooks.md has the settings to paste.

    The event comes on standard input. What goes wrong is told on standard error and in the
    journal, and never fails the session: neither does an option that is wrong, with which nothing
    is answered.
    """


def refused(event: str, reason: Reason) -> Answer:
    """What is said where the command line is wrong: as a failure, it would stop the user's prompt.

    The event is taken all the same, as the harness wants to get rid of it.
    """
    from .hooking import Heard, drained

    drained(sys.stdin)
    return _told(event, Heard(troubles=[reason]))


def _answered(event: str) -> Answer:
    from .hooking import hear

    return _told(event, hear(event))


def _told(event: str, heard: Heard) -> Answer:
    from .documents import plain
    from .hooking import keep

    troubles = [*heard.troubles, *keep(event, heard.troubles)]
    raw = b"" if heard.answer is None else json.dumps(heard.answer).encode("ascii") + b"\n"
    return Answer(
        document={"event": event, "answer": heard.answer, "troubles": plain(troubles)},
        raw=raw,
        warnings=tuple(trouble.detail for trouble in troubles),
    )


_HELP: Mapping[str, tuple[str, str]] = {
    "session-start": (
        "All of SESSION-STATE.md, when a session begins.",
        "Hand the whole SESSION-STATE.md to the model, framed as data, unless git tracks it.",
    ),
    "user-prompt-submit": (
        "Constraints, decisions and open threads, at every turn.",
        "Hand the digest of SESSION-STATE.md to the model, framed as data, unless git tracks it.",
    ),
    "pre-compact": (
        "A line in the log, before the context is compacted.",
        "Add a line to session-state.checkpoints in .claude/ or .codex/.",
    ),
    "pre-tool-use": (
        "Advice before a command that sets up a service.",
        "Advise to look first, unless the service was surveyed; the command is never held up.",
    ),
}
"""What each hook does, in short and in a sentence."""

for _event, (_short, _text) in _HELP.items():
    command.add_command(
        MarkerCommand(
            _event,
            callback=partial(_answered, _event),
            short_help=_short,
            help=_text,
            **documented(example=f"persist-marker hook {_event} < event.json", exits=_EXITS),
        )
    )

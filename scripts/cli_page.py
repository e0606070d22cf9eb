"""The generated parts of docs/cli.md, from the command's own help; run by ``make docs``, by cog."""

from __future__ import annotations

from collections.abc import Iterator

import click

from markers.cli.common import SHARED
from markers.cli.exits import ALSO, BUG, CODES
from markers.cli.root import PROGRAM, root

WIDTH = 88


def codes() -> str:
    """The exit code of each action."""
    known = {action.value: code for action, code in CODES.items()} | dict(ALSO.values())
    known["bug"] = BUG
    rows = [f"| `{action}` | {code} |" for action, code in known.items()]
    return "\n".join(["| action | exit |", "| --- | --- |", *rows])


def helps() -> str:
    """The help of every command; the options of every command are shown at the root only."""
    return "\n\n".join(_section(each) for each in _contexts(_context(root, PROGRAM, None)))


def _contexts(context: click.Context) -> Iterator[click.Context]:
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            if command is not None:
                yield from _contexts(_context(command, name, context))


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(
        command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH
    )


def _section(context: click.Context) -> str:
    text = context.command.get_help(context)
    if context.parent is not None:
        text = "\n".join(_without_shared(text.splitlines()))
    return f"### {context.command_path}\n\n```text\n{text.strip()}\n```"


def _without_shared(lines: list[str]) -> Iterator[str]:
    skipping = False
    for line in lines:
        if line == f"{SHARED}:":
            skipping = True
        elif skipping and not line:
            skipping = False
        elif not skipping:
            yield line

"""The verbs of ``state agent-box`` that say what is wanted of a session; nothing is killed."""

from __future__ import annotations

from typing import Any

import click

from ..caches import agent_box
from .box import CALL, EXITS, answer_of, box_of, environ, home_of, name_argument
from .common import MarkerCommand, documented
from .output import Answer


@click.command(
    "add",
    cls=MarkerCommand,
    short_help="List a new session.",
    **documented(example=f"{CALL} add portal --cwd /srv/portal", exits=EXITS),
)
@click.argument("name", required=False, metavar="[NAME]")
@click.option("--agent", "--harness", metavar="AGENT", help="The program to run (claude).")
@click.option("--cwd", metavar="WHERE", help="Where it works; the home directory otherwise.")
@click.option("--prompt", metavar="TEXT", help="What its first start, and no other, is told.")
@click.option("--resume-prompt", metavar="TEXT", help="What every later start is told.")
@click.option("--arg", "extra_args", multiple=True, metavar="ARG", help="One more argument.")
@click.option("--remote-control-name", metavar="TEXT", help="Its name for remote control.")
@click.option("--ask-permissions", is_flag=True, help="Let it ask before it acts.")
@click.option("--no-remote-control", is_flag=True, help="No remote control.")
@click.pass_context
def add(context: click.Context, /, name: str | None, **said: Any) -> Answer:
    """List a session under a name that is free; without a name one is made.

    That is the agent's name, else that of the directory, else one of both with something behind it.
    """
    agent = said["agent"] or environ(context).get("AGENT_BOX_DEFAULT_AGENT", agent_box.CLAUDE)
    wish = agent_box.Wish(
        agent=agent_box.require_name(agent),
        working_directory=said["cwd"],
        extra_args=said["extra_args"],
        initial_prompt=said["prompt"],
        resume_prompt=said["resume_prompt"],
        remote_control_name=said["remote_control_name"],
        skip_permissions=not said["ask_permissions"],
        remote_control=not said["no_remote_control"],
    )
    if name is not None:
        agent_box.require_name(name, new=True)
    return answer_of(context, box_of(context).add(wish, name, str(home_of(context))))


@click.command(
    "rm",
    cls=MarkerCommand,
    short_help="Take a session off the list.",
    **documented(example=f"{CALL} rm portal", exits=EXITS),
)
@name_argument
@click.pass_context
def remove(context: click.Context, /, name: str) -> Answer:
    """Delist it and delete its side file; a session that is gone already is fine."""
    return answer_of(context, box_of(context).remove(agent_box.require_name(name)))


@click.command(
    "stop",
    cls=MarkerCommand,
    short_help="Flag that a session stays down.",
    **documented(example=f"{CALL} stop portal", exits=EXITS),
)
@name_argument
@click.pass_context
def stop(context: click.Context, /, name: str) -> Answer:
    """Set the flag; whoever ends the program does so after it."""
    return answer_of(context, box_of(context).flag(agent_box.stop, agent_box.require_name(name)))


@click.command(
    "restart",
    cls=MarkerCommand,
    short_help="Let a stopped session start again.",
    **documented(example=f"{CALL} restart portal", exits=EXITS),
)
@name_argument
@click.pass_context
def restart(context: click.Context, /, name: str) -> Answer:
    """Take the flag away, so that the supervisor starts it."""
    return answer_of(context, box_of(context).flag(agent_box.restart, agent_box.require_name(name)))


COMMANDS = (add, remove, stop, restart)

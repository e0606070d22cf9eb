"""Groups of commands whose modules are imported when they are called, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from .common import Documented, MarkerGroup


class LazyGroup(MarkerGroup):
    """Finds its commands in *modules*: from a name to the module that holds it as ``command``."""

    def __init__(self, *args: Any, modules: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All commands, in the order in which a newcomer needs them."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - the same
        """Import one command; None when there is no such command."""
        if cmd_name not in self.modules:
            return None
        command: Documented = import_module(f".{self.modules[cmd_name]}", __package__).command
        return command

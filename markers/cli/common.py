"""What all commands share: the invocation, the options of the whole command, the command class.

Options of the whole command are accepted before and after the command's name; both places merge,
and the later one wins.
"""

from __future__ import annotations

import os
import textwrap
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import Refused
from ..model import Reason
from .documents import Subject
from .masking import Mask
from .output import Answer, complaint, say

if TYPE_CHECKING:
    from ..config.settings import Place, Settings
    from ..contract import Contract
    from ..journal.interface import Journal
    from ..model import Repo
    from ..setup import Setup

SHARED = "Options of every command"


class Invocation:
    """One run of the command line: its common options, and what is known so far."""

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.command = ""
        self.subject = Subject()
        self.mask = Mask(os.environ)
        self.closing = ExitStack()
        """Lets go of connections and journal at the end."""

    def take(self, name: str, value: Any) -> None:
        """Keep a common option; one that may be repeated adds up."""
        before = self.options.get(name)
        self.options[name] = (*before, *value) if isinstance(before, tuple) else value

    @property
    def as_json(self) -> bool:
        """Whether stdout is for a program."""
        return bool(self.options.get("json"))

    @property
    def quiet(self) -> bool:
        """Whether warnings and progress are unwanted."""
        return self.options.get("talk") == "quiet"

    @property
    def verbose(self) -> bool:
        """Whether a bug shows its traceback."""
        return self.options.get("talk") == "verbose"

    @cached_property
    def place(self) -> Place:
        """What environment and user say; needed before all options are read, to bound paths."""
        from ..config.settings import stand

        try:
            here = Path.cwd()
        except OSError as error:
            why = (
                f"the working directory cannot be told ({error.strerror}): go to one that is there"
            )
            raise Refused("directory", why) from None
        return stand(os.environ, here)

    @cached_property
    def settings(self) -> Settings:
        """All sources merged; asked for only once the whole command line has been read."""
        from ..config.settings import Flags, merge

        names = ("repo", "api_url", "contract", "journal", "deadline")
        given = {name: self.options[name] for name in names if name in self.options}
        return merge(Flags(**given), self.place)

    @cached_property
    def contract(self) -> Contract:
        """Rows and families, the extra directories included."""
        from ..config import contract

        return contract(self.settings)

    @cached_property
    def repo(self) -> Repo:
        """The repository; also the host to speak to."""
        from ..config import repository

        repo = repository(self.settings)
        self.subject.repo = repo.slug
        return repo

    @cached_property
    def journal(self) -> Journal:
        """The journal, opened when it is first asked for; the first write makes it."""
        self.unopened_journal.recall("")
        return self.unopened_journal

    @cached_property
    def unopened_journal(self) -> Journal:
        """The same, for who also wants to hear of one that does not open."""
        from ..config import unopened_journal
        from ..journal.address import Address

        place = self.settings.journal()
        for secret in place.secrets if isinstance(place, Address) else ():
            self.mask.learn(secret)
        made = unopened_journal(self.settings)
        self.closing.callback(made.close)
        return made

    @property
    def no_journal(self) -> str | None:
        """What to say where there is no journal yet: a name may be misspelt."""
        journal = self.unopened_journal
        if journal.exists():
            return None
        return f"there is no journal yet at {journal.place}; the first write makes it"

    def connect(self, api_url: str) -> Setup:
        """The pieces of a call on one host."""
        from ..config import build

        setup = build(
            self.settings,
            api_url,
            contract=self.contract,
            open_journal=lambda: self.journal,
            on_wait=self.on_wait,
            on_token=self.mask.learn,
        )
        self.closing.callback(setup.connection.close)
        return setup

    def on_wait(self, seconds: float, why: str) -> None:
        """Show a wait, unless nobody wants to see it."""
        if not self.quiet and seconds >= 1:
            say(self.mask.thorough(f"persist-marker: waiting {seconds:.0f} s: {why}"))

    def complain(self, action: str, subject: Subject, reason: Reason) -> None:
        """Say the one line of a command that did not end well, without any token."""
        say(self.mask.thorough(complaint(action, subject, reason)))


class NoCommand(click.UsageError):
    """A group of commands was named, and none of them."""

    def __init__(self, context: click.Context) -> None:
        super().__init__("no command was named; these are all there are", context)


class Told(Exception):
    """Ends parsing with an answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


def _keep(context: click.Context, param: click.Parameter, value: Any) -> Any:
    call = context.find_root().obj
    name = str(param.name)
    given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    if given and value == "":
        # An unset variable in a script must not mean "take the default instead".
        raise click.BadParameter("it is empty", context, param)
    if given and isinstance(call, Invocation):
        call.take(name.removeprefix("shared_"), value)
    return value


def _help(context: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        text = context.get_help()
        raise Told(Answer(document={"help": text}, lines=text.splitlines()))


def shared(*names: str, **options: Any) -> click.Option:
    """An option of the whole command; its value goes to the invocation, not to the function."""
    return _Shared(names, expose_value=False, callback=_keep, **options)


class _Shared(click.Option):
    """Told apart in help."""


def _shared_options() -> list[click.Parameter]:
    from .params import SECONDS
    from .paths import CONTRACT, JOURNAL

    return [
        shared("--repo", "shared_repo", metavar="OWNER/NAME", help="The repository."),
        shared("--api-url", "shared_api_url", metavar="URL", help="The REST API to speak to."),
        shared(
            "--contract",
            "shared_contract",
            type=CONTRACT,
            multiple=True,
            metavar="DIR",
            help="A directory with more rows and families; may be repeated.",
        ),
        shared(
            "--journal",
            "shared_journal",
            type=JOURNAL,
            metavar="FILE|URL|NAME",
            help="The journal: a file below the scratch roots, a name of yours, or postgresql://...",
        ),
        shared(
            "--deadline",
            "shared_deadline",
            type=SECONDS,
            metavar="SECONDS",
            help="Bound on the whole command, waits included (120).",
        ),
        shared("--json", "shared_json", is_flag=True, help="One JSON document on stdout."),
        shared(
            "-v",
            "--verbose",
            "shared_talk",
            flag_value="verbose",
            help="Show a traceback if there is a bug.",
        ),
        shared(
            "-q", "--quiet", "shared_talk", flag_value="quiet", help="No warnings, no progress."
        ),
    ]


class Documented(click.Command):
    """Appends the common options, tells them apart in help, and answers help through ``Told``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params = [*self.params, *_shared_options()]
        self._help_once: click.Option | None = None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note which command is being read, for the report of a failure."""
        if isinstance(ctx.obj, Invocation):
            ctx.obj.command = ctx.command_path.partition(" ")[2]
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            raise NoCommand(ctx)
        return super().parse_args(ctx, args)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:  # noqa: ARG002 - click's
        """``-h`` and ``--help``; one object, as click compares it by identity."""
        if self._help_once is None:
            self._help_once = click.Option(
                ("-h", "--help"),
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_help,
                help="Show this text.",
            )
        return self._help_once

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options first, then those of every command."""
        sections: dict[str, list[tuple[str, str]]] = {"Options": [], SHARED: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                sections[SHARED if isinstance(param, _Shared) else "Options"].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class MarkerCommand(Documented):
    """A command that does something and returns an ``Answer``."""


class MarkerGroup(Documented, click.Group):
    """A group of commands."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write options, then commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def documented(*, example: str, exits: str) -> dict[str, Any]:
    """What every command's help ends with: an example and the exit codes."""
    lines = "\n".join(f"  {line}" for line in example.strip().splitlines())
    codes = textwrap.fill(f"Exit codes: {exits}", 76)
    return {"epilog": f"\b\nExample:\n{lines}\n\n\b\n{codes}"}

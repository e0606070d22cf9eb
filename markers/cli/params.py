"""The kinds of value that options and arguments take, each read strictly.

What may live here: click types.  A value that is not spelled as help says is click's usage error; a
path that escapes its bounds is ``Refused``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from ..errors import Usage, echo
from ..model import MAX_NUMBER

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # older releases of click cannot subscript it

_NUMBER = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)
_ID = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
_SLICE = re.compile(r"s[0-9]{1,9}", re.ASCII)
_HASH = re.compile(r"[0-9A-Fa-f]{64}", re.ASCII)
_PARAM = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


class Number(ParamType):
    """A positive integer as GitHub counts: no sign, no leading zero, at most 31 bits."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Fail on anything that is not plainly such a number."""
        if isinstance(value, int):
            return value
        if not _NUMBER.fullmatch(value) or int(value) > MAX_NUMBER:
            self.fail(f"'{echo(value)}' is not a number from 1 to {MAX_NUMBER}", param, ctx)
        return int(value)


class CommentId(ParamType):
    """The id of a comment, as its address ends with it."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Fail on anything that is not plainly such an id."""
        if isinstance(value, int):
            return value
        if not _ID.fullmatch(value):
            self.fail(f"'{echo(value)}' is not the id of a comment", param, ctx)
        return int(value)


class Slice(ParamType):
    """The id of a plan's slice."""

    name = "slice"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Fail on anything that no slice can be called."""
        if not _SLICE.fullmatch(value):
            self.fail(f"'{echo(value)}' is not the id of a slice, such as s3", param, ctx)
        return str(value)


class Expect(ParamType):
    """``absent`` or the hex SHA-256 of a normalised body."""

    name = "sha256|absent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Answer in lower case."""
        if value == "absent":
            return "absent"
        if not _HASH.fullmatch(value):
            self.fail(f"'{echo(value)}' is neither 'absent' nor 64 hex digits", param, ctx)
        return str(value).lower()


class Hash(ParamType):
    """A hex SHA-256."""

    name = "hash"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Answer in lower case."""
        if not _HASH.fullmatch(value):
            self.fail(f"'{echo(value)}' is not 64 hex digits", param, ctx)
        return str(value).lower()


class KeyValue(ParamType):
    """``key=value``."""

    name = "key=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Split at the first equals sign."""
        match = _PARAM.fullmatch(value)
        if match is None:
            self.fail(f"'{echo(value)}' is not KEY=VALUE", param, ctx)
        return match[1], match[2]


class Seconds(ParamType):
    """A plain decimal number of seconds above zero, as in ``MARKERS_DEADLINE``."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Hold it to the same rule as the environment variable."""
        del ctx
        from ..config.files import seconds

        source = param.opts[0] if param else self.name
        return seconds(value, lambda what: Usage("value", f"{source} {what}"))


NUMBER = Number()
COMMENT_ID = CommentId()
SLICE = Slice()
EXPECT = Expect()
HASH = Hash()
KEY_VALUE = KeyValue()
SECONDS = Seconds()

"""The marker grammar: derive, parse, match, normalise, hash, and the inert form.

What may live here: pure functions over text and families.  What may not: anything that knows of
GitHub, files or settings.

The grammar (design, sections 1, 4.6 and 5)::

    marker      = "<!-- " name " -->"       alone on line 1
    name        = literal and placeholders, as the family's template says
    {ID} {PR}   = a number: 1 to 2147483647, decimal, no leading zero   (any upper-case name)
    {phase}     = a slug: a-z 0-9 in words joined by single hyphens     (any lower-case name)
    line 1      = up to the first LF, CRLF or CR; trailing U+0020 and U+0009 do not count
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from .errors import Refused, echo
from .model import MAX_NUMBER, Family, Marker

SLUG = r"[a-z0-9]+(?:-[a-z0-9]+)*"
NUMBER = r"[1-9][0-9]{0,9}"
_PLACEHOLDER = re.compile(r"\{([A-Za-z_|]+)\}")
_BLANKS = " \t"
_DELIMITERS = [list("<!--"), list("-->"), list("--!>")]
_DELIMITER_ENDS = "->"


def derive(family: Family, number: int | None, params: Mapping[str, str] | None = None) -> Marker:
    """Build the marker of *family* for a thread's *number*.

    *number* is ignored by a family whose marker carries none.  Raises ``Refused`` with code
    ``param-missing``, ``param-unknown``, ``param-value`` or ``number``.
    """
    given = dict(params or {})
    _check_params(family, given)

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        return given[name] if is_param(name) else str(_checked(family, number))

    text = _PLACEHOLDER.sub(fill, family.template)
    kept = tuple((param.name, given[param.name]) for param in family.params)
    return Marker(
        text=text,
        family=family.name,
        number=number if carries_number(family) else None,
        params=kept,
    )


def _checked(family: Family, number: int | None) -> int:
    if number is None or isinstance(number, bool) or not 1 <= number <= MAX_NUMBER:
        raise Refused("number", f"{family.name} needs a number from 1 to {MAX_NUMBER}")
    return number


def _check_params(family: Family, given: Mapping[str, str]) -> None:
    known = {param.name: param for param in family.params}
    for name in given:
        if name not in known:
            hint = f"it takes {', '.join(known)}" if known else "it takes none"
            raise Refused("param-unknown", f"{family.name} has no parameter {echo(name)!r}: {hint}")
    for name, param in known.items():
        value = given.get(name)
        if value is None:
            raise Refused("param-missing", f"{family.name} needs --param {name}=VALUE")
        if param.values and value not in param.values:
            choices = ", ".join(param.values)
            raise Refused("param-value", f"{name} is {echo(value)!r}, not one of {choices}")
        if not re.fullmatch(SLUG, value):
            raise Refused(
                "param-value", f"{name} is {echo(value)!r}, not a slug such as 'two-words'"
            )


def is_param(placeholder: str) -> bool:
    """Whether a placeholder's name is a parameter; upper-case names stand for the number."""
    return placeholder.islower()


def carries_number(family: Family) -> bool:
    """Whether the family's marker names the issue or pull request."""
    return any(not is_param(name) for name in pieces(family.template)[1::2])


def pieces(template: str) -> list[str]:
    """Literal text and names of placeholders in turn; begins and ends with (maybe empty) text."""
    return _PLACEHOLDER.split(template)


@lru_cache(maxsize=512)
def pattern(family: Family) -> re.Pattern[str]:
    """The regular expression that matches exactly the markers of *family*.

    Groups are named after the params, and ``number``.
    """
    values = {param.name: param.values for param in family.params}

    def group(name: str) -> str:
        if not is_param(name):
            return f"(?P<number>{NUMBER})"
        choices = "|".join(
            re.escape(v) for v in sorted(values.get(name, ()), key=len, reverse=True)
        )
        return f"(?P<{name}>{choices or SLUG})"

    parts = enumerate(pieces(family.template))
    return re.compile("".join(group(p) if i % 2 else re.escape(p) for i, p in parts))


def parse(text: str, families: Iterable[Family]) -> Marker | None:
    """Read a marker back; None when *text* is not exactly one family's marker.

    Where several templates fit, the one with the most literal text is meant (the longest); the
    registry check sees to it that no two fit equally well.
    """
    fits = [m for family in families if (m := _parse_as(text, family)) is not None]
    return max(fits, key=lambda fit: fit[0])[1] if fits else None


def _parse_as(text: str, family: Family) -> tuple[int, Marker] | None:
    literal = pieces(family.template)[::2]
    if not text.startswith(literal[0]):  # spares compiling the patterns of all other families
        return None
    match = pattern(family).fullmatch(text)
    if match is None:
        return None
    groups = match.groupdict()
    number = int(groups.pop("number")) if "number" in groups else None
    if number is not None and number > MAX_NUMBER:
        return None
    params = tuple((param.name, groups[param.name]) for param in family.params)
    return len("".join(literal)), Marker(
        text=text, family=family.name, number=number, params=params
    )


def lines_of(text: str) -> list[str]:
    """Split at LF, CRLF and CR only: U+2028 and form feed do not end a line for GitHub."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def first_line(body: str) -> str:
    """Line 1 without its end and its trailing blanks."""
    end = min((at for at in (body.find("\n"), body.find("\r")) if at >= 0), default=len(body))
    return body[:end].rstrip(_BLANKS)


def matches(body: str, marker: str) -> bool:
    """Whether line 1 of *body* is exactly *marker* (ordinal; nothing but trailing blanks off)."""
    return first_line(body) == marker


def normalise(text: str) -> str:
    """Remove what transports change and nobody means.

    CRLF and CR to LF, U+0020 and U+0009 off each line's end, blank lines off both ends; nothing
    else (design, section 4.6).  The one function for change detection, read-back and hashes.
    """
    return "\n".join(line.rstrip(_BLANKS) for line in lines_of(text)).strip("\n")


def sha256(text: str) -> str:
    """Hex SHA-256 of the normalised text in UTF-8.

    A lone surrogate, which a server's JSON may hold, is hashed as what it is: reading a comment
    must not fail on it.
    """
    return hashlib.sha256(normalise(text).encode("utf-8", "surrogatepass")).hexdigest()


def inert(text: str) -> str:
    """Take the comment delimiters out, to a fixpoint, so that the text can be shown in prose.

    A delimiter that the removal of another one completes goes as well.
    """
    kept: list[str] = []
    for char in text:
        kept.append(char)
        if char in _DELIMITER_ENDS:
            for delimiter in _DELIMITERS:
                if kept[-len(delimiter) :] == delimiter:
                    del kept[-len(delimiter) :]
    return "".join(kept).strip()

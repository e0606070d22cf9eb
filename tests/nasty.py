"""Inputs of 256 kB that make a careless reader slow, deep or fall over; one table a surface.

A row is what stands in front, what is repeated until it is enough, and what stands at the end.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Iterator, Mapping
from functools import partial

SIZE = 256 * 1024
PAYLOAD = SIZE - 64
"""What leaves room for the marker in front, so that a payload is not just too large."""

Row = tuple[str, str, str]


def filled(row: Row, size: int = SIZE) -> str:
    """The row as a text of *size* bytes in UTF-8, or a little less."""
    head, unit, tail = row
    room = size - len((head + tail).encode())
    return head + unit * (room // len(unit.encode())) + tail


def _random() -> bytes:
    return random.Random(1).randbytes(SIZE * 3 // 4 - 3500)  # noqa: S311 - the same each time


def _steps(unit: str, tail: str = "a") -> str:
    """Lines that grow by a unit each, as long as there is room."""
    lines, room = [], SIZE
    while room > 100 + len(lines) * len(unit) + len(tail) + 1:
        lines.append(unit * len(lines) + tail)
        room -= len(lines[-1]) + 1
    return "\n".join(lines)


_M = "<!-- plan-issue-12 -->"
_PEM = "-" * 5 + "BEGIN "

TEXTS: Mapping[str, Row] = {
    "letters": ("", "a", ""),
    "blanks": ("", " ", "x"),
    "tabs": ("", "\t", "x"),
    "line ends": ("", "\n", "x"),
    "carriage returns": ("", "\r", "x"),
    "CRLF": ("", "\r\n", "x"),
    "nothing to be seen": ("", "\u200b", "x"),
    "nothing to be seen, in lines": ("", "\u200b\n", "x"),
    "no-break blanks": ("", "\u00a0", "x"),
    "separators": ("", "\u2028", "x"),
    "accents": ("a", "\u0301", ""),
    "emoji": ("", "\U0001f308", ""),
    "backticks": ("", "`", ""),
    "backticks, a line each": ("", "`\n", ""),
    "fences": ("", "```\n", ""),
    "fences of two kinds": ("", "````x\n~~~\n```\n", ""),
    "fences with info": ("", "```" + "x" * 50 + "\n", ""),
    "a fence of markers": ("```\n", "<!-- plan-issue-13 -->\n", "```\n"),
    "openings": ("", "<!--", ""),
    "openings, a line each": ("", "<!--\n", ""),
    "closings": ("", "-->", ""),
    "less-than": ("", "<", ""),
    "less-than, a line each": ("", "<\n", ""),
    "half openings": ("", "<!", ""),
    "a wide opening": ("<", " ", "!-- x -->"),
    "a dashed opening": ("<!", "-", "x -->"),
    "a backslashed opening": ("<", "\\", "!-- x -->"),
    "at": ("", "@", ""),
    "mentions": ("", "@a ", ""),
    "mentions in a row": ("", "@a@b", ""),
    "mentions, a line each": ("", "@a\n", ""),
    "mentions in lone backticks": ("", "`@a ", ""),
    "escaped mentions": ("", "\\@a", ""),
    "coded mentions": ("", "&#64;a ", ""),
    "teams": ("", "@a/b ", ""),
    "half teams": ("", "@a/", ""),
    "ampersands": ("", "&", ""),
    "half entities": ("", "&#0", ""),
    "one long entity": ("&#", "0", "64;a"),
    "brackets": ("", "[", ""),
    "closing brackets": ("", "](", ""),
    "links": ("", "[@a](@b)", ""),
    "open links": ("", "[a](", ""),
    "reference definitions": ("", "[a]: b\n", ""),
    "titles that never end": ("", '[a]: b "\n', ""),
    "one label": ("[", "\\]", ""),
    "quotes": ("", ">", ""),
    "quotes apart": ("", "> ", ""),
    "quotes, a line each": ("", ">\n", ""),
    "deep quotes, a line each": ("", ">" * 40 + "\n", ""),
    "a deep quote and lazy lines": ("> " * 2000 + "a\n", "b\n", ""),
    "bullets": ("", "- ", ""),
    "a list": ("", "- a\n", ""),
    "a list with gaps": ("", "- a\n\n", ""),
    "deep lists": ("", "- " * 20 + "\n", ""),
    "a number each": ("", "123456789. ", ""),
    "stars": ("", "*", ""),
    "indented": ("", "\t\tx\n\n", ""),
    "a deep quote, left open": ("> " * 2000 + "@a `\n", "b\n", ""),
    "a deep list, left open": ("> - " * 1000 + "@a `\n", "b\n", ""),
    "a long table": ("| a |\n| - |\n", "| @a |\n", ""),
    "tables": ("", "|a|\n|-|\n", ""),
    "a wide table, short rows": ("|a" * 900 + "\n" + "|-" * 900 + "\n", "a\n", ""),
    "tags": ("", "<a ", ""),
    "attributes": ("<a ", "a=b ", ""),
    "quoted attributes": ("<a ", 'a="b" ', "@x"),
    "open attributes": ("", '<a x="', ""),
    "a tag of blanks": ("<a", " ", ""),
    "quiet tags": ("", "<code>", ""),
    "quiet tags, closed": ("", "<code></code>", ""),
    "blocks of HTML": ("", "<div>\n\n", ""),
    "details": ("", "<details>\n@a\n", ""),
    "addresses": ("", "http://", ""),
    "half addresses": ("", "<https:", ""),
    "backslashes": ("", "\\", ""),
    "all kinds": ("", "> - `@a` <!-- \n  1. ```\n", ""),
    "all kinds in a row": ("", "`<!--@a[](>*_\n", ""),
    "own markers": ("", f"{_M}\n", ""),
    "near markers": ("", "<!-- plan-issue- -->\n", ""),
    "damaged markers": ("", "<\\!-- plan-issue-12 -->\n", ""),
    "open markers": ("", "<!-- plan-issue-12\n", ""),
    "hidden markers": ("", " \u200b<!-- plan-issue-12 x\n", ""),
    "a marker's number": ("<!-- plan-issue-", "9", " -->"),
    "a marker's words": ("<!-- engagement-record-", "a-", " -->"),
    "markers' words": ("", "<!-- engagement-record-" + "a-" * 500 + "\n", ""),
    "a marker's braces": ("<!-- plan-issue-", "{{", " -->"),
    "a marker's angles": ("<!-- plan-issue-", "<a", " -->"),
    "a marker's commands": ("<!-- engagement-record-", "$(a)(", " -->"),
    "a marker's placeholders": ("<!-- engagement-record-", "{a}<b>$(c)", " -->"),
    "a pointer's words": ("<!-- phase-containment-ledger-ref: ", "{a", ""),
    "blocks": ("", "<!-- frame-spine\n", ""),
    "heads": ("", "finding_dispositions:\n", ""),
    "keys": ("", "a:\n", ""),
    "one long key": ("", "a_-", ":"),
    "a path": ("@", "a/", ""),
    "PEM": ("", _PEM, ""),
    "PEM headers": ("", _PEM + "RSA PRIVATE KEY-----\n", ""),
    "PEM labels": ("", _PEM + "A" * 20 + " ", ""),
    "web tokens": ("", "eyJa.", ""),
    "a login": ("https://", "a:", ""),
    "logins": ("", "https://a:b", ""),
    "hex": ("", "0123456789abcdef", ""),
    "JSON": ("", '{"a":', ""),
}
"""What somebody may hand over as a payload."""

BUILT: Mapping[str, Callable[[], str]] = {
    "base64": lambda: base64.b64encode(_random()).decode(),
    "base64 in lines": lambda: base64.encodebytes(_random()).decode()[:PAYLOAD],
    "growing backticks": lambda: " ".join("`" * n for n in range(1, 720)),
    "growing quotes": lambda: _steps(">"),
    "growing lists": lambda: _steps("  ", "- @a `"),
    "growing stars": lambda: _steps("* "),
    "a wide table": lambda: "\n".join("|".join([cell] * 20_000) for cell in ("a", "-", "@b")),
}

FAMILY = """
name = "zz"
marker = "<!-- zz-{ID} -->"
status = "active"
scope = "comment"
shape = "upsert"
surface = ["issue"]
"""
_PARAM = FAMILY.replace("zz-{ID}", "zz-{x}-{ID}") + "[params.x]\n"
_PARAMS = FAMILY.replace("zz-{ID}", "zz-{x}{y}{x}-{ID}")


def _listed(many: int, form: str) -> str:
    return ",".join(form.format(n) for n in range(many))


def _letters(number: int) -> str:
    return "".join(chr(97 + int(digit)) for digit in str(number))


TOML: Mapping[str, Callable[[], str]] = {
    "nest of arrays": lambda: "a=" + "[" * (SIZE // 2),
    "nest of arrays, closed": lambda: "a=" + "[" * 900 + "]" * 900,
    "nest of tables": lambda: filled(("a=", "{a=", "")),
    "one key of many parts": lambda: filled(("a", ".a", "=1")),
    "keys of 20 parts": lambda: ".".join("a" * 19) + "=1\n" + filled(("", "a.b\n", "")),
    "nested keys": lambda: FAMILY + "notes=" + ("{" + "a." * 9 + "a=") * 80 + "1" + "}" * 80,
    "headers of many parts": lambda: filled(("[a", ".a", "]")),
    "growing headers": lambda: "".join(f"[{'.'.join('a' * n)}]\n" for n in range(1, 500)),
    "growing arrays of tables": lambda: "".join(
        f"[[{'.'.join('a' * n)}]]\n" for n in range(1, 500)
    ),
    "headers": lambda: "".join(f"[a{n}]\n" for n in range(24_000)),
    "arrays of tables": lambda: filled(("", "[[a]]\n", "")),
    "keys": lambda: "".join(f"a{n}=1\n" for n in range(24_000)),
    "digits": lambda: filled(("a=", "9", "")),
    "4,400 digits": lambda: FAMILY + "notes=1" + "0" * 4400,
    "hex digits": lambda: filled((FAMILY + "notes=0x", "f", "")),
    "octal digits": lambda: filled((FAMILY + "rows=[0o", "7", "]")),
    "a fraction": lambda: filled((FAMILY + "notes=1.", "9", "")),
    "not a number": lambda: FAMILY + "notes=nan\ngap=inf\nkey=1979-05-27\n",
    "a text": lambda: filled((FAMILY + 'notes="', "a", '"')),
    "escapes": lambda: filled((FAMILY + 'notes="', "\\n", '"')),
    "a long text": lambda: filled((FAMILY + 'notes="""', '"a', '"""')),
    "continued lines": lambda: filled((FAMILY + 'notes="""', "\\\n", '"""')),
    "an open text": lambda: filled(('a="', "a", "")),
    "comments": lambda: filled(("", "#\n", "")),
    "blanks": lambda: filled(("a=", " ", "1")),
    "lines": lambda: filled(("", "\n", "")),
    "marker": lambda: filled((FAMILY.replace("zz-", "{}"), "a", "")),
    "values": lambda: _PARAM + f"values=[{_listed(24_000, chr(34) + 'v{}' + chr(34))}]",
    "one value": lambda: filled((_PARAM + 'values=["', "a", '"]')),
    "growing values": lambda: _PARAM
    + f"values=[{','.join(chr(34) + 'a' * n + chr(34) for n in range(1, 600))}]",
    "values that tell little": lambda: _PARAMS + "".join(
        f"[params.{name}]\nvalues=[{_listed(100, chr(34) + 'a' * 70 + '{}' + chr(34))}]\n"
        for name in "xy"
    ),
    "params": lambda: FAMILY + "".join(f"[params.{_letters(n)}]\n" for n in range(15_000)),
    "surfaces": lambda: FAMILY + "".join(
        f'[surface_when.{_letters(n)}]\na="issue"\n' for n in range(7_000)
    ),
    "rows": lambda: FAMILY + f"rows=[{_listed(25_000, chr(34) + 'A-{}' + chr(34))}]",
    "carriers": lambda: FAMILY + f"carriers=[{_listed(25_000, chr(34) + 'a{}' + chr(34))}]",
    "unknown keys": lambda: FAMILY + "".join(f"q{n}=1\n" for n in range(22_000)),
    "a slug": lambda: filled((FAMILY + 'validator="', "a-", '-"')),
    "payload": lambda: FAMILY + "[payload]\n" + "".join(f"a{n}=1\n" for n in range(22_000)),
    "deep payload": lambda: FAMILY + "[payload]\n" + (".".join("a" * 15) + "={") * 30 + "}" * 30,
}  # fmt: skip
"""What may stand in a registry file or in settings."""

_ENTRY = '[{{"bodyFile":"a","marker":"m"{}}}]'

_WRONG = """{"bodyFile":1,"family":[],"number":"x","params":[1.5],"marker":{},"expect":1,
"targetSurface":0,"takeOver":1,"noPreserve":[],"u":1}"""

MANIFESTS: Mapping[str, Callable[[], str]] = {
    "arrays": lambda: "[" * SIZE,
    "arrays, closed": lambda: "[" * (SIZE // 2) + "]" * (SIZE // 2),
    "60 arrays": lambda: _ENTRY.format(',"params":' + "[" * 60 + "]" * 60),
    "objects": lambda: filled(("", '{"a":', "")),
    "objects in params": lambda: filled(('[{"params":', '{"a":', "")),
    "digits": lambda: filled(("[", "9", "]")),
    "a number": lambda: _ENTRY.format(filled((',"number":', "9", ""))[:-60]),
    "a fraction": lambda: _ENTRY.format(filled((',"number":1.', "9", ""))[:-60]),
    "an exponent": lambda: _ENTRY.format(filled((',"number":1e', "9", ""))[:-60]),
    "keys": lambda: "[{" + _listed(24_000, '"a{0}":1') + "}]",
    "one key": lambda: "[{" + ",".join(['"a":1'] * 40_000) + "}]",
    "a long key": lambda: filled(('[{"', "a", '":1}]')),
    "keys that nearly fit": lambda: "[{"
    + ",".join('"bodyFil' + "e" * n + '":1' for n in range(700))
    + "}]",
    "empty objects": lambda: filled(("[{}", ",{}", "]")),
    "numbers": lambda: filled(("[1", ",1", "]")),
    "entries": lambda: "[" + ",".join(['{"bodyFile":"a","marker":"b"}'] * 500) + "]",
    "wrong entries": lambda: f"[{','.join([_WRONG] * 500)}]",
    "a text": lambda: filled(('["', "a", '"]')),
    "escapes": lambda: filled(('["', "\\u0041", '"]')),
    "half pairs": lambda: filled(('["', "\\ud800", '"]')),
    "many half pairs": lambda: filled(('["\\ud800"', ',["\\ud800"]', "]")),
    "blanks": lambda: filled(("[", " ", "")),
    "params": lambda: _ENTRY.format(',"params":{' + _listed(20_000, '"a{0}":1') + "}"),
    "keys like numbers": lambda: _ENTRY.format(',"params":{' + _listed(20_000, '"0{0}":1') + "}"),
    "an expectation": lambda: _ENTRY.format(filled((',"expect":"', "a", '"'))[:-60] + '"'),
}  # fmt: skip

ANSWERS: Mapping[str, Callable[[], str]] = {
    "arrays": lambda: "[" * SIZE,
    "900 arrays": lambda: "[" * 900 + "]" * 900,
    "objects": lambda: filled(("", '{"a":', "")),
    "digits": lambda: filled(("[", "9", "]")),
    "an id": lambda: filled(('{"id":', "9", "}")),
    "an exponent": lambda: filled(('{"id":1e', "9", "}")),
    "keys": lambda: "{" + _listed(24_000, '"a{0}":1') + "}",
    "a text": lambda: filled(('"', "a", '"')),
    "escapes": lambda: filled(('"', "\\ud800", '"')),
    "blanks": lambda: filled(("", " ", "[]")),
    "a page": lambda: filled(("", "<html", "")),
    "nothing": lambda: filled(("", "\0", "")),
    "a message": lambda: filled(('{"message":"', "must have ", '"}')),
    "messages": lambda: filled(('{"message":"m","errors":[[]', ",[]", "]}")),
    "errors": lambda: filled(('{"errors":[{"field":', "[", "")),
    "comments": lambda: filled(('[{"id":1}', ',{"id":1}', "]")),
    "a moment": lambda: filled(('[{"id":1,"created_at":"2022-07-19T04:38:30.', "0", 'Z"}]')),
}
"""What a server may answer."""

HEADERS: Mapping[str, tuple[str, Row]] = {
    "openings": ("link", ("", "<", "")),
    "links": ("link", ("", '<a>; rel="next", ', "")),
    "half links": ("link", ("", "<a>;", "")),
    "open values": ("link", ("<a>", ';a="', "")),
    "spaced parameters": ("link", ("<a>", ' ; a = "b"', "")),
    "blanks in a link": ("link", ("<a>", " ", "")),
    "blanks in a value": ("link", ("<a>; x = ", " ", "")),
    "relations": ("link", ('<a>; rel="', "next ", '"')),
    "names": ("link", ("<a>", "; a*", "")),
    "pages": ("link", ("<https://api.github.com/a?x", "&page=9", ">; rel=last")),
    "a page": ("link", ("<https://api.github.com/a?page=", "9", ">; rel=last")),
    "days": ("date", ("", "Mon, ", "")),
    "digits": ("date", ("Tue, 19 Jul 2022 04:40:", "9", " GMT")),
    "a zone": ("date", ("Tue, 19 Jul 2022 04:40:37 +", "9", "")),
    "parentheses": ("date", ("", "(a", "")),
    "quotes": ("date", ("", '"', "")),
    "commas": ("date", ("", ",", "")),
    "a wait": ("retry-after", ("", "9", "")),
    "a blank wait": ("retry-after", ("", " ", "")),
    "slashes": ("location", ("", "/", "")),
    "parents": ("location", ("https://api.github.com/", "../a/", "")),
    "logins": ("location", ("https://", "@", "")),
    "a host": ("location", ("https://", "[", "")),
    "a port": ("location", ("https://api.github.com:", "9", "")),
    "repositories": ("location", ("https://api.github.com", "/repos/a/b", "")),
    "a reference": ("x-github-request-id", ("", "a", "")),
    "a reset": ("x-ratelimit-reset", ("", "9", "")),
    "a tag": ("etag", ("", '"', "")),
}
"""What a server may answer in one header."""


def texts() -> Iterator[tuple[str, Callable[[], str]]]:
    """All payloads by name, each built when it is asked for."""
    for name, row in TEXTS.items():
        yield name, partial(filled, row, PAYLOAD)
    yield from BUILT.items()

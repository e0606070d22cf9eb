"""Whatever comes in from others ends in a value or a named error, never in another exception.

The surfaces are those of ``surfaces``, and the command's own arguments.  ``make fuzz`` feeds the
same surfaces by coverage.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest
from command_line import Shell, at_forge, forge, shell
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from nasty import FAMILY
from surfaces import SURFACES, answer, manifest, payload, registry

from markers import clock
from markers.burst.manifest import _WANTED
from markers.cli.common import Documented, MarkerGroup
from markers.cli.exits import ALSO, BUG, CODES, FOUND, OK
from markers.cli.root import root
from markers.forge import seed

__all__ = ["at_forge", "forge", "shell"]

many = settings(max_examples=250, deadline=None)
some = settings(max_examples=100, deadline=None)
"""For the registry: a check reads the shipped one, too."""


def joined(pieces: list[str], most: int = 12) -> st.SearchStrategy[bytes]:
    """Some of *pieces* in any order with any text between them, as bytes."""
    text = st.sampled_from(pieces) | st.text(max_size=6)
    return st.lists(text, max_size=most).map(
        lambda parts: "".join(parts).encode("utf-8", "surrogatepass")
    )


@pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES)
def test_any_bytes(surface: Callable[[bytes], None]) -> None:
    """Bytes that mean nothing."""
    (some if surface is registry else many)(given(st.binary(max_size=300))(surface))()


PIECES = [
    "<!-- plan-issue-12 -->", "<!-- plan-issue-13 -->", "<!-- design-issue-12",
    "<\\!-- plan-issue-12", "<!-- frame-spine", "-->", "<!--", "\n", "\r\n", "\r", "```", "~~~",
    "`", "    ", "\t", "> ", "- ", "@pat", "&#64;pat", "\\@", "@org/team", "[", "](", "<a ",
    "<code>", "</code>", "\u200b", "\ufeff", "\0", "\ud800", "finding_dispositions:", "| a |",
    "| - |", "https://", "gh" + "p_", "\u2028",
]  # fmt: skip


@many
@given(joined(PIECES))
def test_any_payload(raw: bytes) -> None:
    """Markers, fences, mentions and letters nobody can see, in any order."""
    payload(raw)


KEYS = [*_WANTED, "writes", "schema_version", "bodyfile", "\ud800", "0", "__proto__", "a/b~0c"]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=10,
)
RIGHT_ENTRY = {"bodyFile": "a", "family": "plan-issue", "number": 12}


@many
@given(st.dictionaries(st.sampled_from(KEYS), JSON_VALUES, max_size=4), st.booleans())
@example({"params": {"0": 1, "00": 1, "+7": 1, "0" * 30: 1, "writes": []}}, False)
@example({"\ud800": "\udfff"}, True)
def test_any_manifest(more: dict[str, Any], envelope: bool) -> None:
    """A right entry with any keys and values over it, and the same as a whole."""
    entries = [RIGHT_ENTRY, {**RIGHT_ENTRY, **more}]
    made = {"schema_version": 1, "writes": entries} if envelope else entries
    for document in (made, more, {**more, "writes": entries}):
        manifest(json.dumps(document).encode())
        manifest(json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass"))


TOML_PIECES = [
    *[f"{line}\n" for line in FAMILY.split("\n") if line], "[params.x]\n", 'values=["a"]\n',
    "[payload]\n", "[surface_when.x]\n", 'a="issue"\n', 'rows=["SMC-01"]\n', 'id="ZZ-01"\n',
    'marker="<!-- zz-{x}-{ID} -->"\n', 'marker="{"\n', 'marker="x ... y"\n', 'scope="block"\n',
    'carriers=["plan-issue"]\n', "[[survival]]\n", 'label="durable"\n', 'when="ever"\n', "=", "[",
    "]", "{", "}", '"', "'", "\n", ".", "a", "0x", "1e9", "1979-05-27", "true", "nan", "#",
    "\ud800", "\0",
]  # fmt: skip


@some
@given(joined(TOML_PIECES, 20))
def test_any_registry_file(raw: bytes) -> None:
    """Lines of families and rows in any order, with anything between them."""
    registry(raw)


HEADS = [
    "link: ", "date: ", "retry-after: ", "location: ", "etag: ", "x-ratelimit-reset: ", "\n",
    "\n\n", '<https://api.github.com/x?page=2>; rel="next"', "Tue, 19 Jul 2022 04:40:37 GMT", "9",
    "-1", "/", "content-type: text/html", "[", "]", '{"id": 1', '"user": ', "}", ",", '"', "null",
    "1e999", "\ud800",
]  # fmt: skip


@many
@given(st.sampled_from([200, 301, 403, 404, 422, 429, 502]), joined(HEADS))
def test_any_answer(status: int, raw: bytes) -> None:
    """Headers and JSON in any order, under the statuses that mean something."""
    answer((status - 100).to_bytes(2, "big") + raw)


VALUES = [
    "12", "0", "-1", "plan-issue", "acme/widgets", "http://127.0.0.1:1", "https://x", "-", "--", "",
    ".tmp/body.md", "..", "/dev/zero", "phase=plan", "absent", "0" * 64, "<!-- plan-issue-12 -->",
    "nan", "1e9", "\udc80", "\x1b[31m", "SMC-01", "x" * 5000, ".tmp", "response", "issue", "1", "sqlite://",
]  # fmt: skip
NEVER_ENDING = {"serve", "demo"}


def commands(command: Documented, *path: str) -> Iterator[tuple[tuple[str, ...], Documented]]:
    """Every command with the words that call it, but those that wait for a user to end them."""
    yield path, command
    if isinstance(command, MarkerGroup):
        context = click.Context(command)
        for name in set(command.list_commands(context)) - NEVER_ENDING:
            below = command.get_command(context, name)
            assert isinstance(below, Documented)
            yield from commands(below, *path, name)


TARGET = ["--family", "plan-issue", "--number", "12"]
RIGHT = {
    "write": [*TARGET, "--body-file", ".tmp/body.md"],
    "read": TARGET,
    "delete": ["--family", "goal-run-stage", "--number", "12"],
    "list": ["--number", "12"],
    "restore": ["1"],
    "show": ["1"],
    "burst": [".tmp/burst.json"],
    "lint": [".tmp/body.md", "--fix"],
}
"""What makes a command do something, so that more than the parser is met."""


def lines(path: tuple[str, ...], command: Documented) -> st.SearchStrategy[list[str]]:
    """Command lines that name this command: its own options with any values, and any words."""
    value = st.sampled_from(VALUES) | st.text(max_size=4)
    pairs = [
        st.just([param.opts[-1]])
        if getattr(param, "is_flag", False)
        else value.map(lambda v, n=param.opts[-1]: [n, v])
        for param in command.params
        if param.opts[-1].startswith("-")
    ]
    parts = st.lists(st.one_of(*pairs, value.map(lambda v: [v])), max_size=3)
    start = st.sampled_from([[], RIGHT.get(path[-1] if path else "", [])])
    return st.builds(
        lambda given, right: [*path, *right, *(word for part in given for word in part)],
        parts,
        start,
    )


LINES = st.one_of([lines(path, command) for path, command in sorted(commands(root), key=str)])
TABLE = {OK, FOUND, *CODES.values(), *(code for _, code in ALSO.values())}


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(LINES, st.binary(max_size=30), st.booleans())
def test_any_arguments(at_forge: Shell, words: list[str], stdin: bytes, token: bool) -> None:
    """Any command line ends in a code of the table and, with --json, in one document; no bug."""
    at_forge.payload("A plan.\n")
    at_forge.payload(json.dumps([{**RIGHT_ENTRY, "bodyFile": ".tmp/body.md"}]), "burst.json")
    at_forge.export(GH_TOKEN=seed.PAT_TOKEN if token else "")
    with clock.use(clock.FakeClock()):
        ran = at_forge.run(*words, stdin=stdin)
    assert BUG not in TABLE
    assert ran.code in TABLE, (words, ran)
    if "--json" in words[: words.index("--") if "--" in words else None]:
        assert ran.document

"""Where bytes of others come in: each surface takes any and ends in a value or a named error.

For fuzzers: whatever else comes out of one of these is a bug.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from checking import CONTRACT, PLAN
from nasty import HEADERS, TEXTS, filled
from test_wire import JSON, NOW, READERS, comment, get, post

from markers import contract
from markers.burst import Faulty, read_manifest
from markers.errors import MarkersError, Refused
from markers.hygiene import Policy, check, compose, decode
from markers.lint import Options, Unreadable, mend
from markers.lint import decode as decode_prose
from markers.lint import lint as lint_text
from markers.transport.failures import failure
from markers.transport.interface import Response

RULES = ("allow", "warn", "neutralise", "refuse")


def payload(raw: bytes) -> None:
    """What a caller wants stored: accepted or refused, under each rule for mentions."""
    for rule in RULES:
        try:
            text = decode(raw)
            composed = compose(text, PLAN, CONTRACT)
            checked = check(
                composed,
                PLAN,
                family=CONTRACT.family(PLAN.family),
                surface=None,
                contract=CONTRACT,
                policy=Policy(mentions=rule),
            )
            assert checked.candidate.startswith(PLAN.text)
        except Refused as refused:
            _named(refused)


def manifest(raw: bytes) -> None:
    """A burst's manifest: read, or every problem with its entry."""
    try:
        assert read_manifest(raw).wishes
    except Faulty as faulty:
        _named(faulty)
        told = [problem.entry >= 0 and str(problem) for problem in faulty.problems]
        assert all(told)


def registry(raw: bytes) -> None:
    """A registry file, as a family and as a row: problems, each with its file, or none."""
    with tempfile.TemporaryDirectory() as name:
        for folder in ("families", "rows"):
            (Path(name) / folder).mkdir()
            (Path(name) / folder / "zz.toml").write_bytes(raw)
        for problem in contract.check(Path(name)):
            assert problem.reason
            assert problem.file.startswith(name)


def answer(raw: bytes) -> None:
    """A server's answer: two bytes of status, header lines, a blank line, a body."""
    head, _, body = raw[2:].partition(b"\n\n")
    lines = (line.partition(":") for line in head.decode("latin-1").splitlines())
    headers = {**JSON, **{name.lower(): value for name, _, value in lines}}
    status = 100 + int.from_bytes(raw[:2], "big") % 600
    response = Response(status=status, headers=headers, body=body)
    for asked in (get(), post()):
        _named(failure(response, asked, NOW))
        for reader in READERS:
            try:
                reader(response, asked)
            except MarkersError as error:
                _named(error)


def lint(raw: bytes) -> None:
    """A file that lint looks at: findings with their place, or a reason not to look."""
    try:
        prose = decode_prose(raw)
    except Unreadable:
        return
    for markdown in (True, False):
        options = Options(markdown=markdown, strict=not markdown, survival=True)
        found = lint_text(prose.text, CONTRACT, options)
        assert all(f.line >= 1 and f.column >= 1 and f.code and f.detail for f in found)
        text, done = mend(prose.text, CONTRACT, options)
        assert (prose.encoded(text) == raw) is not bool(done)


def _named(error: MarkersError) -> None:
    assert error.reason.code
    assert error.reason.detail


def _shipped() -> Iterator[bytes]:
    for folder in ("families", "rows"):
        for file in files("markers.registry").joinpath(folder).iterdir():
            yield file.read_bytes()


SEEDS: Mapping[str, Callable[[], Iterable[bytes]]] = {
    "payload": lambda: (filled(row, 400).encode() for row in TEXTS.values()),
    "manifest": lambda: (
        b'[{"bodyFile":"a","family":"plan-issue","number":12,"params":{"a":"b"},"takeOver":true}]',
        b'{"schema_version":1,"writes":[{"bodyFile":"a","marker":"m","expect":"absent"}]}',
    ),
    "registry": _shipped,
    "answer": lambda: (
        (status - 100).to_bytes(2, "big") + f"{header}: {filled(row, 200)}\n\n".encode() + body
        for header, row in HEADERS.values()
        for status in (200, 301, 403)
        for body in (json.dumps([comment()]).encode(), b'{"message": "m", "errors": [{}]}')
    ),
    "lint": lambda: (
        *(filled(row, 400).encode() for row in TEXTS.values()),
        b"---\na: b\n---\n# A\n`<!-- plan-issue-12 -->` <!-- persist-marker: allow -->\n",
        b"Survival: durable; contract: SMC-01, [SMC-05](x)\n/memories/session/plan-issue-1.md\n",
    ),
}
"""Where coverage begins."""

SURFACES: Mapping[str, Callable[[bytes], None]] = {
    "payload": payload,
    "manifest": manifest,
    "registry": registry,
    "answer": answer,
    "lint": lint,
}

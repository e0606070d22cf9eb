"""``persist-marker lint``: live markers in prose, and false statements about survival."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from ..errors import MarkersError, Refused
from . import exits
from .common import Invocation, MarkerCommand, documented
from .documents import Document
from .output import Answer, say
from .paths import PROSE

if TYPE_CHECKING:
    from ..lint import Finding
    from ..paths import Place


@dataclass(slots=True)
class _Report:
    """What became of the files so far."""

    findings: list[tuple[str, Finding, bool]] = field(default_factory=list)
    """The file as it was named, what is wrong in it, and whether that was mended."""
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Files that are not looked at, and why."""

    @property
    def fixed(self) -> int:
        """How many findings were mended."""
        return sum(mended for _, _, mended in self.findings)

    def document(self) -> Document:
        """The JSON document."""
        return {
            "findings": [_entry(*each) for each in self.findings],
            "skipped": [{"file": file, "why": why} for file, why in self.skipped],
            "fixed": self.fixed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    fix: bool
    strict: bool
    survival: bool


@click.command(
    "lint",
    cls=MarkerCommand,
    short_help="Find marker literals in prose, and wrong survival callouts.",
    **documented(
        example="persist-marker lint README.md docs/*.md",
        exits="0 nothing found, or all of it fixed; 1 found; 2 usage; 3 a file refused",
    ),
)
@click.argument("files", type=PROSE, nargs=-1, required=True, metavar="FILE...")
@click.option("--fix", is_flag=True, help="Rewrite marker literals to their inert form.")
@click.option("--strict", is_flag=True, help="Look into code blocks, too.")
@click.option(
    "--survival", is_flag=True, help="Ask for a callout wherever a row's local file is named."
)
@click.pass_obj
def command(
    call: Invocation, /, files: Sequence[Place], fix: bool, strict: bool, survival: bool
) -> Answer:
    """Find in each FILE, which lies in this checkout, what readers would take for a real marker.

    Inline code hides no marker from a reader of the raw text; a code block may hold examples.
    Survival callouts must name labels and rows that the contract knows and that belong together.
    An HTML comment 'persist-marker: allow', on the same line or alone on the line before, lets a
    finding stand; 'persist-marker: allow-file' lets all of a file stand.
    """
    report, wish = _Report(), _Wish(fix=fix, strict=strict, survival=survival)
    once = {file.path: file for file in files}.values()
    try:
        for file in once:
            _look(call, file, wish, report)
    except MarkersError as error:
        error.result = report.document()
        raise
    if not call.quiet:
        say(f"persist-marker: {_summary(report, len(once) - len(report.skipped))}")
    return Answer(
        document=report.document(),
        lines=[_line(*each) for each in report.findings],
        code=exits.FOUND if report.fixed < len(report.findings) else exits.OK,
        warnings=tuple(f"{file} {why}: not looked at" for file, why in report.skipped),
    )


def _look(call: Invocation, file: Place, wish: _Wish, report: _Report) -> None:
    """Look through one file and, if that is wished, replace it."""
    from ..lint import Options, Unreadable, decode, is_markdown, lint, mend
    from ..replacing import replace

    try:
        data = _read(file)
        prose = decode(data)
    except Unreadable as unreadable:
        report.skipped.append((file.given, unreadable.why))
        return
    options = Options(markdown=is_markdown(file.given), strict=wish.strict, survival=wish.survival)
    text, done = mend(prose.text, call.contract, options) if wish.fix else (prose.text, [])
    left = lint(text, call.contract, options)
    if done:
        replace(file, data, prose.encoded(text))
    found = [(file.given, finding, True) for finding in done]
    found += [(file.given, finding, False) for finding in left]
    report.findings += sorted(found, key=lambda each: (each[1].line, each[1].column))


def _read(file: Place) -> bytes:
    """The file's bytes; one that is too large is no prose, either."""
    from ..lint import Unreadable
    from ..paths import LIMIT, read_place

    try:
        return read_place(file, LIMIT)
    except Refused as refused:
        if refused.reason.code != "path-too-large":
            raise
        raise Unreadable(f"holds more than {LIMIT:,} bytes") from None


def _entry(file: str, finding: Finding, mended: bool) -> Document:
    return {
        "file": file,
        "line": finding.line,
        "column": finding.column,
        "code": finding.code,
        "literal": finding.literal,
        "inert": finding.inert,
        "detail": finding.detail,
        "fixed": mended,
    }


def _line(file: str, finding: Finding, mended: bool) -> str:
    end = " (fixed)" if mended else ""
    return f"{file}:{finding.line}:{finding.column}: {finding.code}: {finding.detail}{end}"


def _summary(report: _Report, files: int) -> str:
    looked = f"looked at {files} file{'' if files == 1 else 's'}"
    if not report.findings:
        return f"{looked}: nothing found"
    fixed = f", {report.fixed} of them fixed" if report.fixed else ""
    return f"{looked}: {len(report.findings)} found{fixed}"

"""``persist-marker read``: the comment that governs, as GitHub stores it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import Absent, Usage, few
from ..model import ReadResult, Thread
from .common import Invocation, MarkerCommand, documented
from .documents import found
from .output import Answer
from .standing import problem_line, standing_of
from .target import Target, asked, resolve, target_options

if TYPE_CHECKING:
    from ..reading import Everything


@click.command(
    "read",
    cls=MarkerCommand,
    short_help="Show the comment that governs.",
    **documented(
        example="persist-marker read --repo acme/widgets --family plan-issue --number 12 --body",
        exits="0 found; 3 refused; 6 denied; 7 unavailable; 10 no trusted comment",
    ),
)
@target_options
@click.option("--all", "every", is_flag=True, help="All comments that carry the marker.")
@click.option("--body", "body_only", is_flag=True, help="The stored body alone, byte for byte.")
@click.pass_obj
def command(call: Invocation, /, **given: Any) -> Answer:
    """Show the governing comment, straight from the REST API.

    Beside it stands who wrote it, whether to trust it, whether it is valid, and what its family's
    comments say together by the family's own rule.
    """
    from .. import reading

    if given["every"] and given["body_only"]:
        raise Usage("body", "--body prints one body; with --all use --json")
    target = resolve(call, asked(given))
    setup = call.connect(target.thread.repo.api_url)
    if given["every"]:
        return _all(reading.read_all(setup, target.thread, target.marker), target)
    result = reading.read(setup, target.thread, target.marker)
    body = (result.body or "").encode("utf-8", "surrogatepass")
    return Answer(
        document=found(result, body=True),
        lines=described(result, target.thread),
        raw=body if given["body_only"] else None,
    )


def described(result: ReadResult, thread: Thread) -> list[str]:
    """A few short lines about one comment, and one for each that does not govern."""
    edited = f", edited {result.updated_at}" if result.edited else ""
    trusted = "trusted" if result.trusted else "NOT trusted"
    standing = f"{result.association or 'no association'}, {trusted}"
    lines = [
        f"{result.marker} on {thread}: comment {result.comment_id} {result.url}",
        f"by {result.author} ({standing}), written {result.created_at}{edited}",
        f"sha256 {result.sha256}",
        standing_of(result),
    ]
    lines += [problem_line(problem) for problem in result.problems]
    if result.reading is not None:
        lines.append(f"reading: {result.reading['summary']}")
    lines += [f"does not govern: comment {e.id} by {e.author}: {e.why}" for e in result.extras]
    return lines


def _all(every: Everything, target: Target) -> Answer:
    results, reading = every.results, every.reading
    document = {"markers": [found(result, body=True) for result in results], "reading": reading}
    if not any(result.trusted for result in results):
        named = few([f"{r.comment_id} by {r.author} is {r.why}" for r in results])
        parts = (
            f"no trusted comment on {target.thread} has {target.marker.text} on line 1",
            named,
            str(reading["summary"]) if reading else "",
        )
        raise Absent("absent", "; ".join(filter(None, parts)), result=document)
    lines = [line for result in results for line in described(result, target.thread)]
    return Answer(document=document, lines=lines)

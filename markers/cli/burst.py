"""``persist-marker burst``: persist an ordered list of markers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from ..errors import MarkersError
from ..model import Reason
from . import exits
from .common import Invocation, MarkerCommand, documented
from .documents import Subject, bursted
from .output import Answer
from .paths import PAYLOAD, read_payload
from .progress import progress

if TYPE_CHECKING:
    from ..burst import BurstResult, EntryResult


@click.command(
    "burst",
    cls=MarkerCommand,
    short_help="Persist an ordered list, all checked before the first write.",
    **documented(
        example="""
cat > .tmp/handoff.json <<'END'
[{"family": "plan-issue", "number": 12, "bodyFile": ".tmp/plan.md"},
 {"family": "experience-owner-complete", "number": 12, "bodyFile": ".tmp/done.md"}]
END
persist-marker burst .tmp/handoff.json
""",
        exits="0 all landed or unchanged; 3 refused, nothing written; 8 an entry is unknown; "
        "5 stopped after something landed; else the failing entry's own",
    ),
)
@click.argument("manifest", type=PAYLOAD)
@click.option(
    "--queue", is_flag=True, help="With GitHub away, keep what is left for `persist-marker flush`."
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and write nothing.")
@click.pass_obj
def command(
    call: Invocation, /, manifest: Callable[[], bytes], queue: bool, dry_run: bool
) -> Answer:
    """Persist the markers of MANIFEST in order; run it again and it goes on where it stopped.

    MANIFEST is a JSON array of objects with bodyFile and either family and number (and params) or
    marker; targetSurface, expect and takeOver are optional. It lies below a scratch root, as the
    body files do; - is standard input.
    """
    from ..burst import BurstResult, Faulty, burst, orders_of, read_manifest
    from ..hygiene import decode

    try:
        with call.settings.until.paused():  # whoever pipes it in takes the time it takes
            content = manifest()
        wishes = read_manifest(content)
        orders = orders_of(
            wishes,
            call.contract,
            call.repo,
            lambda path: decode(read_payload(path, call.place)),
            queue=queue,
        )
        setup = call.connect(call.repo.api_url)
        with progress(call, len(orders)) as on_entry:
            result = burst(setup, orders, dry_run=dry_run, on_entry=on_entry)
    except MarkersError as error:
        known = error.result
        if not isinstance(known, BurstResult):
            problems = error.problems if isinstance(error, Faulty) else ()
            known = BurstResult(action=error.action, reason=error.reason, problems=problems)
        return _failed(call, known, error)
    return Answer(
        document=bursted(result),
        lines=_lines(result),
        code=_code_of_queued(result),
        warnings=_warnings(result),
    )


def _code_of_queued(result: BurstResult) -> int:
    """A burst whose rest is queued is no success where what stands already is not as meant."""
    from ..burst import Status

    landed = any(entry.status is Status.LANDED_INCOMPLETE for entry in result.results)
    return exits.INCOMPLETE if landed else exits.OK


def _failed(call: Invocation, result: BurstResult, error: MarkersError) -> Answer:
    """Say every problem, or the failing entry's own, and what became of the others."""
    for problem in result.problems:
        entry = result.results[problem.entry - 1] if problem.entry and result.results else None
        reason = Reason(code=problem.code, detail=str(problem))
        call.complain(error.action, _subject(entry), reason)
    if not result.problems:
        failing = next((e for e in result.results if e.reason == error.reason), None)
        call.complain(error.action, _subject(failing), error.reason)
    return Answer(
        document=bursted(result),
        lines=_lines(result),
        code=_code(result, error),
        warnings=_warnings(result),
    )


def _code(result: BurstResult, error: MarkersError) -> int:
    """Unknown before landed before the failing entry's own (design, section 3)."""
    from ..burst import Status

    statuses = {entry.status for entry in result.results}
    if Status.UNKNOWN in statuses:
        return exits.UNKNOWN
    if statuses & {Status.LANDED, Status.LANDED_INCOMPLETE}:
        return exits.INCOMPLETE
    return exits.of(error)[1]


def _subject(entry: EntryResult | None) -> Subject:
    if entry is None:
        return Subject()
    return Subject(family=entry.family, number=entry.number, surface=entry.surface)


def _lines(result: BurstResult) -> list[str]:
    return [
        f"{at} {entry.status}: {entry.marker} on {entry.repo}#{entry.number}"
        + (f": comment {entry.comment_id} {entry.url}" if entry.comment_id else "")
        for at, entry in enumerate(result.results, 1)
    ]


def _warnings(result: BurstResult) -> tuple[str, ...]:
    return tuple(
        f"entry {at}: {warning}"
        for at, entry in enumerate(result.results, 1)
        for warning in entry.warnings
    )

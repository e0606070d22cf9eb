"""``persist-marker audit``: what this writer did, and whether the log is whole."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import click

from .. import clock
from ..codec import lines_of
from ..errors import Refused, Usage, echo
from ..journal.interface import DamagedJournal, Entry
from ..model import AuditRef
from . import exits
from .common import Invocation, MarkerCommand, MarkerGroup, documented
from .documents import entry, plain
from .output import Answer
from .params import HASH, NUMBER

DAY = 86_400


@click.group(
    "audit",
    cls=MarkerGroup,
    short_help="What this writer did, and whether the log is whole.",
    **documented(
        example="persist-marker audit log --limit 5",
        exits="0 shown; 1 `verify` found something; 3 refused; 7 the journal cannot be opened",
    ),
)
def command() -> None:
    """Show, prove, export and prune the journal of this writer."""


@command.command(
    "log",
    cls=MarkerCommand,
    short_help="The newest entries.",
    **documented(
        example="persist-marker audit log --limit 5",
        exits="0 shown; 7 the journal cannot be opened",
    ),
)
@click.option("--limit", type=NUMBER, default=20, show_default=True, metavar="N", help="How many.")
@click.pass_obj
def log(call: Invocation, /, limit: int) -> Answer:
    """Show the newest entries, oldest first; an intent and its outcome are two."""
    entries = call.journal.latest(limit)
    nothing = call.no_journal or "the journal has no entries"
    return Answer(
        document={"entries": [entry(each) for each in entries]},
        lines=[_line(each) for each in entries] or [nothing],
    )


@command.command(
    "show",
    cls=MarkerCommand,
    short_help="One entry, or the body it replaced.",
    **documented(
        example="persist-marker audit show 42 --body",
        exits="0 shown; 3 no such entry or body; 7 the journal cannot be opened",
    ),
)
@click.argument("seq", type=NUMBER)
@click.option("--body", "body_only", is_flag=True, help="The replaced body alone, byte for byte.")
@click.pass_obj
def show(call: Invocation, /, seq: int, body_only: bool) -> Answer:
    """Show entry SEQ and the body that it replaced or deleted, if that is still kept."""
    found = call.journal.entry(seq)
    if found is None:
        none = f"the journal has no entry {seq}; see `persist-marker audit log`"
        raise Refused("no-entry", call.no_journal or none)
    body = call.journal.body(found.replaced) if found.replaced else None
    if body is None and body_only:
        why = "its body was pruned" if found.replaced else "it replaced nothing"
        raise Refused("no-body", f"journal entry {seq} has no body: {why}")
    document = {**entry(found), "body": body}
    told = {key: value for key, value in document.items() if value not in (None, [], {})}
    lines = [f"{key}: {value}" for key, value in told.items() if key != "body"]
    if body is not None:
        lines += ["body:", *(f"  {line}" for line in lines_of(body))]
    raw = (body or "").encode("utf-8", "surrogatepass") if body_only else None
    return Answer(document=document, lines=lines, raw=raw)


@command.command(
    "verify",
    cls=MarkerCommand,
    short_help="Prove that no entry was changed or removed.",
    **documented(
        example="persist-marker audit verify --live",
        exits="0 whole; 1 something was found; 6 denied; 7 unavailable",
    ),
)
@click.option("--live", is_flag=True, help="Also ask GitHub whether it holds what was written.")
@click.option("--head", type=HASH, metavar="HASH", help="Also prove that this hash is in the log.")
@click.pass_obj
def verify(call: Invocation, /, live: bool, head: str | None) -> Answer:
    """Recompute the hash chain of the whole log.

    A tail that was cut off shows only with --head and a hash that was kept elsewhere.
    """
    flaws = list(call.unopened_journal.verify(head))
    if live:
        from ..config import host
        from ..reading import live_flaws

        flaws += live_flaws(call.connect(host(call.settings)))
    ref = _end(call)
    empty = call.no_journal or "the log is empty"
    whole = f"the log is whole: {ref.seq} entries, head {ref.hash}" if ref else empty
    return Answer(
        document={"problems": plain(flaws), "head": plain(ref)},
        lines=[f"entry {flaw.seq or '-'}: {flaw.problem}" for flaw in flaws] or [whole],
        code=exits.FOUND if flaws else exits.OK,
    )


def _end(call: Invocation) -> AuditRef | None:
    """The newest entry, where it can still be read."""
    try:
        newest = call.journal.latest(1)
    except DamagedJournal:
        return None
    return newest[0].ref if newest else None


@command.command(
    "export",
    cls=MarkerCommand,
    short_help="All entries, one JSON object a line.",
    **documented(
        example="persist-marker audit export > audit.jsonl",
        exits="0 written out; 7 the journal cannot be opened",
    ),
)
@click.pass_obj
def export(call: Invocation, /) -> Answer:
    """Print all entries as JSON lines; with --json as one document under `entries`."""
    entries = [entry(each) for each in call.journal.entries()]
    lines = "".join(json.dumps(each) + "\n" for each in entries)
    return Answer(document={"entries": entries}, raw=lines.encode("ascii"))


@command.command(
    "prune",
    cls=MarkerCommand,
    short_help="Drop old bodies; the chain stays.",
    **documented(
        example="persist-marker audit prune --older-than 90",
        exits="0 pruned; 2 usage; 7 the journal cannot be opened",
    ),
)
@click.option("--before", metavar="DATE", help="Bodies of entries older than this ISO 8601 date.")
@click.option("--older-than", type=NUMBER, metavar="DAYS", help="The same, in days from now.")
@click.pass_obj
def prune(call: Invocation, /, before: str | None, older_than: int | None) -> Answer:
    """Drop the replaced bodies of old entries: those can no longer be restored."""
    if (before is None) == (older_than is None):
        raise Usage("prune", "say how old with either --before DATE or --older-than DAYS")
    moment = clock.now() - (older_than or 0) * DAY if before is None else _moment(before)
    dropped = call.journal.prune(moment)
    stamp = datetime.fromtimestamp(max(moment, 0), UTC).isoformat()
    return Answer(
        document={"pruned": dropped, "before": stamp},
        lines=[f"{dropped} bodies from before {stamp} dropped"],
    )


def _moment(text: str) -> float:
    """Epoch seconds of an ISO 8601 date or time, in UTC where it names no zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Usage("prune", f"--before '{echo(text)}' is no date such as 2030-01-31") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _line(each: Entry) -> str:
    record = each.record
    comment = f" comment {record.comment_id}" if record.comment_id else ""
    why = f" ({record.reason.code})" if record.reason else ""
    what = f"{each.seq}  {each.at}  {record.command} {record.kind} {record.action}{why}"
    if not record.repo:  # a hook's, which is about no thread
        return what
    return f"{what}  {record.marker} on {record.repo}#{record.number}{comment}"

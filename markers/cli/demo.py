"""``persist-marker demo``: a round trip on the embedded server, in a newcomer's words."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..codec import derive
from ..model import Action, Family, Marker, Thread, WriteResult
from . import exits
from .common import MarkerCommand, documented
from .documents import plain
from .output import Answer

if TYPE_CHECKING:
    from ..forge import Forge
    from ..setup import Setup

FAMILY = "plan-issue"
FIRST = "## Plan: quiet the widgets\n\n1. Find the squeak.\n2. Oil it.\n"
SECOND = "## Plan: quiet the widgets\n\n1. Find the squeak.\n2. Oil it.\n3. Listen again.\n"
PLANTED = "## Plan: send all widgets to lee\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that was done, what one would type for it, and what came of it."""

    name: str
    command: str
    happened: str
    ok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The demo's world: a forge on loopback, and the pieces that speak to it over HTTP."""

    forge: Forge
    setup: Setup
    thread: Thread
    family: Family
    marker: Marker


@click.command(
    "demo",
    cls=MarkerCommand,
    short_help="A round trip on the embedded server; needs nothing.",
    **documented(
        example="persist-marker demo",
        exits="0 every step did what it says; 1 one did not",
    ),
)
def command() -> Answer:
    """Write, change, read, protect and restore one marker on a made-up GitHub on this machine.

    Needs no token and no network; what it writes is gone when it ends.
    """
    with _stage() as stage:
        steps = [play(stage) for play in PLAY]
    failed = [step.name for step in steps if not step.ok]
    return Answer(
        document={"steps": plain(steps)},
        lines=_story(steps, failed),
        code=exits.FOUND if failed else exits.OK,
    )


@contextmanager
def _stage() -> Iterator[Stage]:
    """Real HTTP, a real journal, nothing of the user's own settings."""
    from .. import config
    from ..config import settings
    from ..forge import Forge, seed, serve

    with (
        tempfile.TemporaryDirectory(prefix="persist-marker-demo-") as name,
        serve(Forge.open()) as server,
    ):
        folder = Path(name)
        environ = {
            "GITHUB_API_URL": server.url,
            "GH_TOKEN": seed.PAT_TOKEN,
            "GH_REPO": seed.REPO,
            "MARKERS_JOURNAL": str(folder / "journal.sqlite3"),
            config.NO_PACING: "1",
        }
        place = settings.stand(environ, folder, own_file=folder / "config.toml")
        merged = settings.merge(settings.Flags(), place)
        journal, contract = config.journal(merged), config.contract(merged)
        repo = config.repository(merged)
        setup = config.build(
            merged, repo.api_url, contract=contract, open_journal=lambda: journal, on_wait=_silent
        )
        family = contract.family(FAMILY)
        try:
            yield Stage(
                forge=server.forge,
                setup=setup,
                thread=Thread(repo, seed.ISSUE),
                family=family,
                marker=derive(family, seed.ISSUE),
            )
        finally:
            setup.connection.close()
            journal.close()


def _silent(_seconds: float, _why: str) -> None:
    return None


def _write(stage: Stage, text: str) -> WriteResult:
    from ..writer import Order, write

    order = Order(thread=stage.thread, family=stage.family, marker=stage.marker, payload=text)
    return write(stage.setup, order)


def _typed(stage: Stage, verb: str, more: str = "") -> str:
    tail = f" {more}" if more else ""
    return f"persist-marker {verb} --family {FAMILY} --number {stage.thread.number}{tail}"


def _created(stage: Stage) -> Step:
    result = _write(stage, FIRST)
    return Step(
        name="write",
        command=_typed(stage, "write", "--body-file .tmp/plan.md"),
        happened=f"A plan was put on {stage.thread} as comment {result.comment_id}. Its first line "
        f"is {stage.marker.text}, which GitHub does not show: that is how it is found again.",
        ok=result.action is Action.CREATED,
    )


def _unchanged(stage: Stage) -> Step:
    before = len(stage.forge.writes)
    result = _write(stage, FIRST)
    return Step(
        name="unchanged",
        command=_typed(stage, "write", "--body-file .tmp/plan.md"),
        happened="The same plan once more: nothing was sent, since it is there already.",
        ok=result.action is Action.UNCHANGED and len(stage.forge.writes) == before,
    )


def _updated(stage: Stage) -> Step:
    result = _write(stage, SECOND)
    return Step(
        name="update",
        command=_typed(stage, "write", "--body-file .tmp/better-plan.md"),
        happened=f"A better plan: the same comment {result.comment_id} was changed, and the "
        "earlier text went into the journal on this machine.",
        ok=result.action is Action.UPDATED and _on_github(stage) == 1,
    )


def _on_github(stage: Stage) -> int:
    return len(stage.forge.comments(stage.thread.repo.slug, stage.thread.number))


def _planted(stage: Stage) -> Step:
    slug, number = stage.thread.repo.slug, stage.thread.number
    planted = stage.forge.plant(slug, number, stage.marker.text, text=PLANTED)
    return Step(
        name="planted",
        command="(somebody else writes on the issue)",
        happened=f"lee, a stranger to the repository, put the same marker on comment {planted.id} "
        "of his own, to be taken for the plan.",
        ok=_on_github(stage) == 2,
    )


def _read(stage: Stage) -> Step:
    from ..reading import read

    result = read(stage.setup, stage.thread, stage.marker)
    named = "; ".join(f"comment {e.id} by {e.author}" for e in result.extras)
    return Step(
        name="read",
        command=_typed(stage, "read"),
        happened=f"What governs is still comment {result.comment_id} by {result.author}, whom the "
        f"repository trusts. Reported, and left alone: {named}.",
        ok=SECOND.strip() in (result.body or "") and len(result.extras) == 1,
    )


def _listed(stage: Stage) -> Step:
    from ..reading import list_markers

    results = list_markers(stage.setup, stage.thread, None)
    trusted = [result for result in results if result.trusted]
    return Step(
        name="list",
        command=f"persist-marker list --number {stage.thread.number}",
        happened=f"{len(results)} comments on the issue carry a marker; {len(trusted)} is trusted.",
        ok=len(results) == 2 and len(trusted) == 1,
    )


def _restored(stage: Stage) -> Step:
    from ..reading import read
    from ..writer.undoing import restore

    journal = stage.setup.open_journal()
    seq = max(each.seq for each in journal.entries() if each.replaced)
    result = restore(stage.setup, seq)
    body = read(stage.setup, stage.thread, stage.marker).body or ""
    return Step(
        name="restore",
        command=f"persist-marker restore {seq}",
        happened=f"Journal entry {seq} holds the text that the update replaced: it is back.",
        ok=result.action is Action.UPDATED and FIRST.strip() in body and SECOND.strip() not in body,
    )


def _verified(stage: Stage) -> Step:
    from ..reading import live_flaws

    journal = stage.setup.open_journal()
    flaws = [*journal.verify(), *live_flaws(stage.setup)]
    count = sum(1 for _ in journal.entries())
    found = "; ".join(flaw.problem for flaw in flaws)
    return Step(
        name="audit",
        command="persist-marker audit verify --live",
        happened=found
        or f"The journal's {count} entries are chained and whole, and GitHub holds what was "
        "written last.",
        ok=not flaws and count > 0,
    )


PLAY: tuple[Callable[[Stage], Step], ...] = (
    _created,
    _unchanged,
    _updated,
    _planted,
    _read,
    _listed,
    _restored,
    _verified,
)


def _story(steps: list[Step], failed: list[str]) -> list[str]:
    lines = [
        "A made-up GitHub runs on this machine for a moment; it is spoken to over real HTTP.",
        "",
    ]
    for number, step in enumerate(steps, 1):
        mark = "" if step.ok else "   <- THIS DID NOT DO WHAT IT SAYS"
        lines += [f"{number}. $ {step.command}{mark}", f"   {step.happened}", ""]
    ending = (
        f"Not as told: {', '.join(failed)}."
        if failed
        else "All steps did what they say. Next: persist-marker doctor, then write to an issue of "
        "your own."
    )
    return [*lines, ending]

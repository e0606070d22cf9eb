"""What a writer is killed at: calls of every kind, the thread before them and the thread after."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench.payloads import payload
from markers import clock, mutex, writer
from markers.burst import burst, orders_of, read_manifest
from markers.caches.files import StateFile
from markers.codec import derive
from markers.errors import Absent, Conflict
from markers.forge import seed
from markers.forge.app import Forge
from markers.model import Action, Repo, Thread
from markers.paths import Place, Roots
from markers.plan import OnConflict
from markers.reconciler import Wish, reconcile
from markers.reconciler.cached import CacheFile
from markers.reconciler.observing import names_of
from markers.setup import Setup
from markers.steps.ledger import Mode, ledger
from markers.writer import Fold, Order

N = seed.ISSUE
NEW, OLD = "New.\n", "Old.\n"
POSTED = rf"/issues/{N}/comments$"
STAMP = "2026-07-01T00:00:00Z"
HASH = "ab" * 32
SLICE = """<!-- frame-slice
id: s1
provides: [implement-code]
depends-on: []
ac-refs: [AC1]
-->
"""
SLICES = f"<!-- frame-slices-generated-at: {STAMP} -->\n\n{SLICE}"
SPINE = f"""# Plan

<!-- frame-spine
spine_schema_version: 2
generated_at: {STAMP}
coverage: complete
ports:
  implement-code: [s1#terminal]
slices:
  s1:
    execution_mode: serial
    ac_refs: [AC1]
    depends_on: []
    cycle: 1
-->
"""
RULINGS = "<!-- judge-rulings\n- finding_id: M1\n  judge_ruling: sustained\n-->\n"


def mark(family: str) -> str:
    """The family's marker here."""
    return f"<!-- {family}-{N} -->"


def say(forge: Forge, family: str, text: str) -> int:
    """A comment of ours from an hour ago; the answer is its id."""
    body = f"{mark(family)}\n\n{text}"
    return forge.comment(seed.REPO, N, "pat", body, at=clock.now() - 3600).id


def carrying(forge: Forge, family: str) -> list[tuple[int, str]]:
    """Id and body of what carries the family's marker."""
    there = forge.comments(seed.REPO, N)
    return [(one.id, one.body) for one in there if one.body.startswith(mark(family))]


def one(forge: Forge, family: str) -> tuple[int, str]:
    """The only comment of the family."""
    (only,) = carrying(forge, family)
    return only


Call = Callable[[Setup, str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One call: what is there before, the call itself, and what must be there in the end."""

    call: Call
    prepare: Callable[[Forge], object]
    check: Callable[[Forge], None]


def order(setup: Setup, url: str, family: str, text: str = "", **more: Any) -> Order:
    """What the writer is to write."""
    found = setup.contract.family(family)
    thread = Thread(Repo(url, *seed.REPO.split("/")), N)
    return Order(thread=thread, family=found, marker=derive(found, N), payload=text, **more)


def writes(family: str, text: str = NEW, **more: Any) -> Call:
    """One write."""
    return lambda setup, url: writer.write(setup, order(setup, url, family, text, **more))


def nothing(_forge: Forge) -> None:
    """An empty thread."""


def holds(family: str, text: str = NEW) -> Callable[[Forge], None]:
    """One comment of the family with this text."""

    def check(forge: Forge) -> None:
        assert one(forge, family)[1] == f"{mark(family)}\n\n{text}"

    return check


def _pointing(forge: Forge) -> None:
    target = say(forge, "phase-containment-ledger", RULINGS)
    say(forge, "plan-issue", f"<!-- phase-containment-ledger-ref: {target} -->\n# Plan\n")


def _carried(forge: Forge) -> None:
    target, _ = one(forge, "phase-containment-ledger")
    _, body = one(forge, "plan-issue")
    assert f"<!-- phase-containment-ledger-ref: {target} -->" in body
    assert "New." in body


def _spliced(forge: Forge) -> None:
    sibling, _ = one(forge, "frame-slices")
    assert f"slice_comment_id: {sibling}\n" in one(forge, "plan-issue")[1]


def _write_ledger(setup: Setup, url: str) -> Any:
    marker = derive(setup.contract.family("phase-containment-ledger"), N)
    revise = partial(
        ledger, marker=marker, mode=Mode.PLAN, head=RULINGS, containment=None, now=STAMP
    )
    return writer.write(
        setup, order(setup, url, "phase-containment-ledger", revise=revise, command="ledger")
    )


def _pointed(forge: Forge) -> None:
    target, body = one(forge, "phase-containment-ledger")
    assert "finding_id: M1" in body
    assert f"<!-- phase-containment-ledger-ref: {target} -->" in one(forge, "plan-issue")[1]


def _acquire(setup: Setup, url: str) -> Any:
    """A lock that a killed call has taken is held: by its own record."""
    thread = Thread(Repo(url, *seed.REPO.split("/")), N)
    with suppress(Conflict):
        return mutex.acquire(setup, thread, contract_hash=HASH, run_id="run-1")


def _locked(forge: Forge) -> None:
    _, body = one(forge, "goal-run-inflight")
    assert "**status**: unresolved" in body


BURST: Sequence[dict[str, Any]] = [
    {"family": "completion-account", "number": N, "bodyFile": "account"},
    {"family": "design-phase-complete", "number": N, "bodyFile": "record"},
    {"family": "frame-slices", "number": N, "bodyFile": "slices"},
    {"family": "experience-owner-complete", "number": N, "bodyFile": "record"},
]
FILES = {"account": payload("completion-account", N, NEW), "record": NEW, "slices": SLICES}


def _burst(setup: Setup, url: str) -> Any:
    manifest = read_manifest(json.dumps(BURST).encode())
    repo = Repo(url, *seed.REPO.split("/"))
    return burst(setup, orders_of(manifest, setup.contract, repo, FILES.__getitem__))


def _handed_off(forge: Forge) -> None:
    for entry in BURST:
        holds(entry["family"], FILES[entry["bodyFile"]])(forge)
    _spliced(forge)


def _rival(family: str, text: str) -> Callable[[Forge], object]:
    """Another machine of ours posts while our own request is on its way."""

    def post(forge: Forge) -> None:
        forge.comment(seed.REPO, N, "pat", f"{mark(family)}\n\n{text}")

    return lambda forge: forge.on_request("POST", POSTED, lambda _call: post(forge))


def _take_back(setup: Setup, url: str) -> Any:
    with suppress(Absent):
        return writer.delete(setup, order(setup, url, "goal-run-stage"))


def _gone(forge: Forge) -> None:
    assert carrying(forge, "goal-run-stage") == []


def _twice(forge: Forge) -> None:
    say(forge, "plan-issue", OLD)
    say(forge, "plan-issue", OLD)


class _Copy:
    """A local copy whose steps are points of the protocol, too."""

    def __init__(self, real: CacheFile, reach: Callable[[str], None]) -> None:
        self.real = real
        self.reach = reach
        self.place, self.read = real.place, real.read

    @property
    def key(self) -> str:
        """As the real one's."""
        return self.real.key

    def says_nothing(self, text: str) -> bool:
        """As the real one."""
        return self.real.says_nothing(text)

    def spelled(self, text: str) -> str:
        """As the real one."""
        return self.real.spelled(text)

    def write(self, text: str, seen: str | None) -> str:
        """As the real one writes."""
        self.reach("before copy")
        held = self.real.write(text, seen)
        self.reach("after copy")
        return held

    def keep(self, text: str, why: str) -> str:
        """As the real one keeps."""
        self.reach("before aside")
        kept = self.real.keep(text, why)
        self.reach("after aside")
        return kept


BASE = "# Plan\n\n- [ ] one\n\nmiddle\n\n- [ ] two\n"
TICKED, DONE = BASE.replace("] one", "x] one"), BASE.replace("] two", "x] two")
BOTH = TICKED.replace("] two", "x] two")


def _copied(setup: Setup) -> CacheFile:
    """The copy of this journal's machine; when it is first asked for, an edit of what both held."""
    journal: Any = setup.open_journal()
    folder = journal.path.with_name(f"{journal.path.name}.memories")
    name = f"plan-issue-{N}.md"
    made = CacheFile(StateFile(place=Place(name, folder, (name,), Roots((folder,)))))
    if not folder.exists():
        made.write(TICKED, None)
    return made


def _reconciles(*, taken: str, lost: frozenset[str]) -> Call:
    """A reconciliation in which both sides have moved; in the end no text is gone."""

    def call(setup: Setup, url: str) -> Any:
        real, journal = _copied(setup), setup.open_journal()
        reach: Callable[[str], None] = getattr(journal, "reach", lambda _name: None)
        asked = order(setup, url, "plan-issue")
        wish = Wish(
            row="SMC-01",
            thread=asked.thread,
            family=asked.family,
            marker=asked.marker,
            local=_Copy(real, reach),
            apply=True,
            on_conflict=OnConflict(taken),
        )
        names = names_of(setup, wish)
        if journal.base(names) is None:
            journal.set_base(names, f"{mark('plan-issue')}\n\n{BASE}")
        outcome = reconcile(setup, wish)
        assert outcome.ended is Action.UNCHANGED, outcome
        aside = real.file.place.path.parent / "kept-aside"
        kept = {each.read_text() for each in aside.iterdir()} | {real.read()}
        assert {text.removeprefix(f"{mark('plan-issue')}\n\n") for text in kept if text} >= lost
        return outcome

    return call


SCENES = {
    "create": Scene(call=writes("plan-issue"), prepare=nothing, check=holds("plan-issue")),
    "update": Scene(
        call=writes("plan-issue"),
        prepare=lambda forge: say(forge, "plan-issue", OLD),
        check=holds("plan-issue"),
    ),
    "post": Scene(
        call=writes("design-phase-complete"),
        prepare=nothing,
        check=holds("design-phase-complete"),
    ),
    "preserve": Scene(
        call=writes("plan-issue", "# Plan\n\nNew.\n"), prepare=_pointing, check=_carried
    ),
    "slices": Scene(
        call=writes("frame-slices", SLICES),
        prepare=lambda forge: say(forge, "plan-issue", SPINE),
        check=_spliced,
    ),
    "ledger": Scene(
        call=_write_ledger,
        prepare=lambda forge: say(forge, "plan-issue", "# Plan\n"),
        check=_pointed,
    ),
    "mutex": Scene(call=_acquire, prepare=nothing, check=_locked),
    "burst": Scene(
        call=_burst, prepare=lambda forge: say(forge, "plan-issue", SPINE), check=_handed_off
    ),
    "raced": Scene(
        call=writes("plan-issue"),
        prepare=_rival("plan-issue", OLD),
        check=holds("plan-issue"),
    ),
    "same record": Scene(
        call=writes("design-phase-complete"),
        prepare=_rival("design-phase-complete", NEW),
        check=holds("design-phase-complete"),
    ),
    "fold": Scene(
        call=writes("plan-issue", fold=Fold.DELETE), prepare=_twice, check=holds("plan-issue")
    ),
    "take back": Scene(
        call=_take_back, prepare=lambda forge: say(forge, "goal-run-stage", OLD), check=_gone
    ),
    "fetch": Scene(
        call=_reconciles(taken="durable", lost=frozenset({TICKED, DONE})),
        prepare=lambda forge: say(forge, "plan-issue", DONE),
        check=holds("plan-issue", DONE),
    ),
    "bring": Scene(
        call=_reconciles(taken="cache", lost=frozenset({TICKED, DONE})),
        prepare=lambda forge: say(forge, "plan-issue", DONE),
        check=holds("plan-issue", TICKED),
    ),
    "merge": Scene(
        call=_reconciles(taken="merge", lost=frozenset({TICKED, DONE, BOTH})),
        prepare=lambda forge: say(forge, "plan-issue", DONE),
        check=holds("plan-issue", BOTH),
    ),
}

"""Plans of some parts, and the step that carries parts of an older one into a new one."""

from __future__ import annotations

from collections.abc import Mapping

from markers.model import Account, Comment, Marker
from markers.steps import plan_preserve
from markers.steps.interface import Pointed, Prepared, Seen
from markers.steps.known import LEDGER, SLICES

MARKER = Marker(text="<!-- plan-issue-12 -->", family="plan-issue", number=12)
STAMP = "2026-03-01T12:00:00Z"
REF = "<!-- phase-containment-ledger-ref: {} -->"
RULINGS = "<!-- judge-rulings\n- finding_id: M1\n  judge_ruling: sustained\n-->"
SECTION = "**Plan Stress-Test** (standard)\n\n- M1 sustained"
SENTINEL = "<!-- named-decisions:begin -->"


def spine(pointer: str = "", *, stamp: str = STAMP) -> str:
    """A spine with one slice; *pointer* is a whole line."""
    return (
        f"<!-- frame-spine\nspine_schema_version: 2\ngenerated_at: {stamp}\ncoverage: complete\n"
        f"{pointer}ports:\n  implement-code: [s1#terminal]\nslices:\n  s1:\n"
        "    execution_mode: serial\n    rc: it works\n    ac_refs: [AC1]\n    depends_on: []\n"
        "    cycle: 1\n-->"
    )


def block(name: str) -> str:
    """A phase-containment block."""
    tag = "phase-containment-12"
    return f"<!-- {tag} -->\nfinding_key: plan-stress-test:12:{name}\n<!-- /{tag} -->"


def plan(*parts: str, end: str = "\n") -> str:
    """A plan of some parts, blank lines between them."""
    return ("\n\n".join([MARKER.text, *parts]) + "\n").replace("\n", end)


def comment(body: str, number: int = 100) -> Comment:
    """A comment on the issue."""
    return Comment(
        id=number,
        body=body,
        html_url="",
        issue_url="",
        created_at="",
        updated_at="",
        author=Account(1, "pat"),
        association="OWNER",
    )


def pointed(family: str, *, number: int = 12, trusted: bool = True, here: bool = True) -> Pointed:
    """What a pointer leads to."""
    body = f"<!-- {family}-{number} -->\n\nText.\n"
    return Pointed(comment=comment(body), trusted=trusted, here=here)


GOOD: Mapping[int, Pointed | None] = {600: pointed(LEDGER), 700: pointed(SLICES)}


def preserve(
    candidate: str, governing: str | None, there: Mapping[int, Pointed | None] = GOOD
) -> Prepared:
    """Run the step with what it asks for, and nothing else."""
    seen = Seen(
        marker=MARKER,
        candidate=candidate,
        governing=None if governing is None else comment(governing),
    )
    step = plan_preserve.STEP
    return step.apply(seen, {each: there.get(each) for each in step.reads(seen)})

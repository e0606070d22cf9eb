"""Comments as a reader is shown them, made of plain texts, and the texts of some families."""

from __future__ import annotations

from typing import Any

from markers import readers
from markers.codec import derive, first_line
from markers.contract import Contract, load
from markers.model import Account, Comment, Marker
from markers.payload.problems import Problem
from markers.readers import Sighting, View
from markers.validators import judge

CONTRACT: Contract = load()
NUMBER = 12
HASH = "a" * 64
INTERIM = f"**Open-for-work affirmation (interim form, issue 957 Amendment 8) - issue {NUMBER}**"
COMPLETIONS = {
    "experience": "experience-owner-complete",
    "design": "design-phase-complete",
    "plan": "plan-issue",
    "orchestration": "engagement-record-orchestration",
}


def at(second: int) -> str:
    """A moment, as GitHub spells it."""
    return f"2026-03-04T05:{second // 60:02}:{second % 60:02}Z"


def comment(
    number: int, body: str, *, created: int = 0, edited: int | None = None, author: str = "pat"
) -> Comment:
    """A comment of the made-up thread, written *created* seconds after it began."""
    return Comment(
        id=number,
        body=body,
        html_url="",
        issue_url="",
        created_at=at(created or number),
        updated_at=at((created or number) if edited is None else edited),
        author=Account(len(author), author),
        association="MEMBER",
    )


def marker(family: str, **params: str) -> Marker:
    """A marker of the shipped contract on the made-up thread."""
    return derive(CONTRACT.family(family), NUMBER, params)


def sighting(
    seen: Comment, *, trusted: bool = True, judged: bool = True, astray: str | None = None
) -> Sighting:
    """How a look saw it, judged by its own family's rules; *astray* says why it stands wrong."""
    line = first_line(seen.body)
    meant = CONTRACT.parse(line)
    problems = judge(seen.body, meant, CONTRACT) if meant else ()
    return Sighting(
        line=line,
        comment=seen,
        trusted=trusted,
        astray=Problem(code="surface", detail=astray, line=1) if astray else None,
        problems=problems if judged and trusted else None,
    )


def view(meant: Marker, *seen: Sighting, **param: str) -> View:
    """What a reader is shown of *seen*: only the lines that it asked for."""
    lines = (meant.text, *readers.needs(meant, CONTRACT).lines)
    found = tuple(s for s in seen if s.line in lines)
    mine = [s.comment for s in found if s.trusted and s.line == meant.text]
    shape = CONTRACT.family(meant.family).shape
    governing = (mine[0] if shape == "upsert" else mine[-1]) if mine else None
    return View(marker=meant, contract=CONTRACT, sightings=found, governing=governing, param=param)


def reading(meant: Marker, *seen: Sighting, **param: str) -> dict[str, Any]:
    """The reading of *seen*; it must not come from a broken reader."""
    found = readers.read(view(meant, *seen, **param))
    assert found is not None
    assert "broken" not in found, found
    assert next(iter(found)) == "summary"
    return dict(found)


def record(phase: str, *decisions: str, version: int = 3, prose: str = "") -> str:
    """An engagement record."""
    entries = "".join(
        f"  - decision_id: {name}\n    engineer_choice: of {phase}{prose}\n" for name in decisions
    )
    return (
        f"<!-- engagement-record-{phase}-{NUMBER} -->\n\n```yaml\nschema_version: {version}\n"
        f'phase: {phase}\ncapture_session: "normal-{phase}-v1.2"\n'
        f"load_bearing_decisions:{'' if decisions else ' []'}\n{entries}```\n"
    )


def credit(port: str = "plan", body: str = "adapter: x.md\nevidence: seen") -> str:
    """A credit input."""
    return f"<!-- credit-input-{port}-{NUMBER} -->\n\n```yaml\nport: {port}\n{body}\n```\n"


def run(status: str, **fields: str) -> str:
    """A record of a run."""
    told = {
        "schema_version": "1",
        "issue": str(NUMBER),
        "status": status,
        "contract_hash": HASH,
        "launched_at": "2026-03-04T05:06:07Z",
        **fields,
    }
    bullets = "".join(f"- **{key}**: {value}\n" for key, value in told.items())
    return f"<!-- goal-run-inflight-{NUMBER} -->\n\n{bullets}"

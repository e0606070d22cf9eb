"""How long a large payload is judged, inside a process: ``python -m bench.judging`` prints seconds.

The figure comes from a process of its own, since the one that measures stays small (``measure``).
"""

from __future__ import annotations

from statistics import median

from .inside import seconds_of, tell
from .page import Figure, ms
from .stats import spread

SIZE = 200_000
BAR = 0.15
TIMES = 9
MARKER = "<!-- engagement-record-plan-12 -->"
HEAD = f"""\
{MARKER}

Named decisions, for people.

```yaml
schema_version: 2
phase: plan
capture_session: "normal-plan-v2"
load_bearing_decisions:
"""
DECISION = """\
  - decision_id: decision-{number}
    classification: load-bearing
    audit_rationale: |-
      Two tools must derive the same key, and each of them knows the branch.
      A key that only one of them can derive would split what belongs together.
    engineer_choice: "branch slug, then sha"
    teaching_paragraph_excerpt: "A key is what two tools agree on: it is derived, not stored."
    articulation_text: ""
    articulation_status: pending
"""


def figures_of_judging() -> list[Figure]:
    """An engagement record of 200 kB; imports and the reading of the contract do not count."""
    took = seconds_of("judging")
    return [
        Figure(
            what="an engagement record of 200 kB, validated in process",
            measured=f"{ms(median(took))} ms (spread {spread(took):.0%})",
            bar=f"under {ms(BAR)} ms",
            holds=median(took) < BAR,
        )
    ]


def record() -> str:
    """A valid record of so many decisions that it has the size."""
    decisions: list[str] = []
    size = 0
    while size < SIZE:
        decisions.append(DECISION.format(number=len(decisions)))
        size += len(decisions[-1])
    return f"{HEAD}{''.join(decisions)}```\n"


def main() -> None:
    """Judge it so many times, after one time that is not counted."""
    from markers import codec
    from markers.contract import load
    from markers.validators import judge

    text, contract = record(), load()
    marker = codec.derive(contract.family("engagement-record"), 12, {"phase": "plan"})

    def act(_nth: int) -> None:
        assert not judge(text, marker, contract)  # noqa: S101 - what is measured is a record with which nothing is wrong

    tell(TIMES, act)


if __name__ == "__main__":
    main()

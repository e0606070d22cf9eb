"""Bounded time and memory: no payload of 256 kB takes a second to judge, by whatever schema."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from checking import CONTRACT, PLAN, M, marker
from nasty import PAYLOAD, SIZE, filled
from nasty_schemas import SCHEMAS, payload
from test_bounds import bounded

from markers.contract.schemas import faults
from markers.payload.problems import MOST
from markers.payload.schema import check
from markers.payload.yaml12 import read_yaml
from markers.validators import judge

ONE = 1.0
"""A second, all that is done to a payload."""
MEMORY = 150_000
"""Kilobytes, the program itself included."""

LISTS = {
    "proposed-followups": "schema_version: 1\nproposals:\n",
    "review-dispositions": "schema_version: 4\npasses_run: [1]\nentries:\n",
    "goal-halt-report": "schema_version: 1\nevidence:\n",
    "engagement-record": "schema_version: 2\nphase: plan\nload_bearing_decisions:\n",
}
BLOCKS = {
    "a wrong block": "<!-- goal-contract\na: 1\n-->\n",
    "an open block": "<!-- goal-contract\n",
    "a numbered block": "<!-- phase-containment-12 -->\na: 1\n<!-- /phase-containment-12 -->\n",
    "an open numbered block": "<!-- phase-containment-12 -->\n",
    "rulings": "<!-- judge-rulings\n- {id: a, judge_ruling: sustained}\n-->\n",
    "a slice": "<!-- frame-slice\nid: s1\n-->\n",
    "a pointer": "<!-- phase-containment-ledger-ref: 12 -->\n",
}


@pytest.mark.parametrize("unit", ["- {}\n", "- [[[]]]\n", "- # b\n"])
@pytest.mark.parametrize("family", LISTS)
def test_list_of_what_is_wrong(family: str, unit: str) -> None:
    """A payload that is wrong all over is refused in time, however much there is to be told."""
    params = {"phase": "plan"} if family == "engagement-record" else {}
    wanted = marker(family, **params)
    head = f"{wanted.text}\n\nstate: proposed\n\n```yaml\n{LISTS[family]}"
    text = filled((head, unit, "```\n"), PAYLOAD)
    with bounded(ONE):
        problems = judge(text, wanted, CONTRACT)
    assert 1 < len(problems) <= MOST + 1


@pytest.mark.parametrize("name", BLOCKS)
def test_plan_full_of_blocks(name: str) -> None:
    """So is a plan of nothing but blocks, of which at most one may be there."""
    text = filled((f"{M}\n\n# A plan\n\n", BLOCKS[name], ""), PAYLOAD)
    with bounded(ONE):
        problems = judge(text, PLAN, CONTRACT)
    assert 0 < len(problems) <= MOST + 1


def test_plan_full_of_slices() -> None:
    """Thousands of blocks with which nothing is wrong are as quick."""
    slices = [
        f"<!-- frame-slice\nid: s{n}\nprovides: [a]\ndepends-on: []\nac-refs: []\n-->\n"
        for n in range(3500)
    ]
    text = f"{M}\n\n# A plan\n\n{''.join(slices)}"
    assert SIZE * 0.9 < len(text) < SIZE
    with bounded(ONE):
        assert judge(text, PLAN, CONTRACT) == ()


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema(name: str) -> None:
    """Whatever schema a checkout brings, no payload takes long by it; none of these is right."""
    schema, text = json.dumps(SCHEMAS[name][0]), payload(name)
    assert SIZE // 2 < len(text.encode()) <= SIZE
    assert list(faults(schema)) == []
    with bounded(ONE):
        assert check(read_yaml(text), schema)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told by /proc")
@pytest.mark.parametrize(
    "name", ["any of 50", "any of any", "8 names", "1,900 names for the whole", "what is left"]
)
def test_memory(name: str) -> None:
    """Nor does it take much memory."""
    done = subprocess.run(
        [sys.executable, "-m", "weighing", name],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < MEMORY

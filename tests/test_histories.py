"""The state machine: random histories, each settled and held against what was reported."""

from __future__ import annotations

import os

import pytest
from histories import Histories
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

SHARDS = 4
ASKED = os.environ.get("HISTORIES")
"""How many histories, each run new ones; without it 2,000 that are the same each time."""
EXAMPLES = int(ASKED or 2000) // SHARDS


@pytest.mark.timeout(0)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_what_was_reported_is_true_of_the_server(shard: int) -> None:
    """However writers, people, faults, lag and deaths interleave."""
    machine = type(f"Histories{shard}", (Histories,), {})
    run_state_machine_as_test(
        machine if ASKED else seed(shard)(machine),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=8,
            deadline=None,
            database=None,
            derandomize=False,
            suppress_health_check=list(HealthCheck),
        ),
    )

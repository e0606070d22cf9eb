"""A small soak; ``make soak`` runs the large one."""

from __future__ import annotations

from soak import PROCESSES, Wish, soak


def test_a_small_soak_breaks_no_rule() -> None:
    """No twin, no lost record, no unaudited write; memory and file handles stay flat."""
    report = soak(Wish(writes=120))
    assert report.broken == [], "\n".join(report.lines())
    assert len(report.written) == 120
    assert len(report.sizes) == PROCESSES
    assert report.struck > 0

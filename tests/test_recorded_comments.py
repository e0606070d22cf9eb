"""Real marker comments, kept outside the project, go through write and read unchanged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from worlds import CONTRACT, REPO, World, near, world

from markers import reading
from markers.codec import first_line
from markers.errors import MarkersError

__all__ = ["near", "world"]

FOLDER = Path(os.environ.get("RECORDED_DIR", "/nonexistent")) / "agent-orchestra"
LEDGER = 5_013_464_861
"""The comment that the recorded plan points to."""
WHOLE = ("plan-issue-878-historical", "design-phase-complete-878-historical")

pytestmark = pytest.mark.needs("recordings")


def text_of(name: str) -> str:
    """One recorded body, byte for byte."""
    return (FOLDER / f"{name}.txt").read_bytes().decode()


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_real_comment_is_written_and_read_unchanged(world: World, name: str) -> None:
    """What is stored and what is read is what was there, marker included; again is `unchanged`."""
    body = text_of(name)
    marker = CONTRACT.parse(first_line(body))
    assert marker is not None
    world.forge.add_issue(REPO, 878)
    ledger = "<!-- phase-containment-ledger-878 -->\n\nWhat the plan's pointer names.\n"
    others = [world.forge.comment(REPO, 878, "pat", ledger, comment_id=LEDGER).body]
    order = {"family": marker.family, "number": 878}
    written = world.write(body, **order)
    assert sorted(world.bodies(878)) == sorted([*others, body])
    read = world.read(**order)
    assert (read.body, read.valid) == (body, True)
    assert world.write(body, **order).comment_id == written.comment_id


def test_a_real_slice_is_looked_up(near: World) -> None:
    """The real spine and the real slice, in comments of their own, fit together."""
    stamp = "<!-- frame-slices-generated-at: 2026-07-18T22:20:00Z -->"
    near.forge.add_issue(REPO, 878)
    held = near.say(
        f"<!-- frame-slices-878 -->\n{stamp}\n\n{text_of('frame-slice-s1-878-historical')}",
        number=878,
    )
    spine = text_of("frame-spine-878-historical").replace("5013460780", str(held))
    near.say(f"<!-- plan-issue-878 -->\n\n{spine}", number=878)
    plan = near.marker(number=878)
    found = reading.look_up(near.setup(), near.thread(878), plan, {"slice": "s1"})
    assert (found["outcome"], found["slice"]["fields"]["step_id"]) == ("found", "s1")
    assert [entry["id"] for entry in found["slices"]] == [f"s{n}" for n in range(1, 10)]


def test_prose_that_mentions_markers_is_found_by_nobody(world: World) -> None:
    """Bodies that only mention markers are no marker comments."""
    world.forge.add_issue(REPO, 878)
    for path in sorted(FOLDER.glob("*prose-mention*.txt")):
        text = path.read_bytes().decode()
        if CONTRACT.parse(first_line(text)) is None:
            world.say(text, number=878)
    assert world.bodies(878)
    assert reading.list_markers(world.setup(), world.thread(878), None) == ()
    with pytest.raises(MarkersError):
        world.read(number=878)

"""The examples of docs/reading.md are what the command really reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from worlds import CONTRACT, World, near

from markers import reading
from markers.cli.documents import plain
from markers.codec import first_line
from markers.errors import Absent
from markers.model import Marker

__all__ = ["near"]

PAGE = (Path(__file__).parents[1] / "docs" / "reading.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## ([a-z-]+)\b[^\n]*\n(.*?)(?=^## [a-z]|\Z)", re.DOTALL | re.MULTILINE)
SECTIONS = dict(SECTION.findall(PAGE))
COMMENT = re.compile(r"^````markdown\n(.*?)^````$", re.DOTALL | re.MULTILINE)
READING = re.compile(r"^```json\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_every_reader_has_its_section() -> None:
    """A family with a reading is explained, with an example."""
    named = {family.name for family in CONTRACT.families.values() if family.reader}
    assert set(SECTIONS) | {"frame-slices"} == named


def marker_of(world: World, family: str, comments: list[str]) -> Marker:
    """The marker of *family* that one of the comments carries, else that of the issue."""
    found = (CONTRACT.parse(first_line(body)) for body in comments)
    return next((m for m in found if m and m.family == family), None) or world.marker(family)


@pytest.mark.parametrize("family", sorted(SECTIONS))
def test_examples_are_read_as_they_say(near: World, family: str) -> None:
    """The comments, posted as they stand there, have the reading that stands below them."""
    comments = COMMENT.findall(SECTIONS[family])
    (expected,) = READING.findall(SECTIONS[family])
    for body in comments:
        near.say(body)
        near.clock.sleep(1)
    marker = marker_of(near, family, comments)
    try:
        found = reading.read(near.setup(), near.thread(), marker)
    except Absent as absent:
        found = absent.result
    assert plain(found.reading) == json.loads(expected)

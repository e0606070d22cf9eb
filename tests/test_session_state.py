"""``session-state``: what a store hands over reads back as what it was, whatever is in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markers.body import Body
from markers.codec import derive
from markers.contract import load
from markers.payload.session_state import read, written
from markers.validators import judge

LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)
CONTRACT = load()
FAMILY = CONTRACT.family("session-state")


def body(store: str, content: Any) -> str:
    """The whole comment."""
    return f"{derive(FAMILY, 12, {'store': store}).text}\n\n{written(store, content)}"


def problems(text: str, store: str = "session-md") -> list[str]:
    """The codes of what refuses the comment."""
    found = judge(text, derive(FAMILY, 12, {"store": store}), CONTRACT)
    return [problem.code for problem in found if not problem.warns]


@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_what_is_written_reads_back(content: dict[str, Any]) -> None:
    """Texts of any kind, nested as they may be, come back as they were."""
    assert read(Body(body("session-md", content))).value["content"] == content


@given(st.lists(LINES))
def test_no_line_begins_with_what_a_user_wrote(lines: list[str]) -> None:
    """Nothing can be taken for a marker, a heading or the end of the fence."""
    text = written("session-md", {"constraints": lines, "decisions": [], "open_threads": []})
    for line in text.split("\n")[text.split("\n").index("content:") + 1 : -2]:
        assert line.lstrip().startswith(("- ", "constraints:", "decisions:", "open_threads:"))


@given(st.lists(LINES), st.lists(LINES))
def test_every_content_of_its_shape_is_valid(some: list[str], more: list[str]) -> None:
    """The family's rules take whatever lines a store holds."""
    content = {"constraints": some, "decisions": more, "open_threads": []}
    assert problems(body("session-md", content)) == []


CONTENTS: dict[str, Any] = {
    "session-md": {"constraints": ["a"], "decisions": [], "open_threads": []},
    "session-yaml": {
        "mode": "EXECUTION",
        "current_task": {"name": "Import", "status": "Wiring", "predicted_steps": 4},
        "context_summary": "One.\nTwo.",
        "active_blockers": ["x"],
        "recent_decisions": [],
        "completed_tasks": [],
    },
    "trusted-memory": {"muted_threads": {"t-77": True}},
    "agent-box": {"sessions": {"portal": {"agent": "claude", "remoteControlName": "door"}}},
    "memory": {"review_state": None},
}


@pytest.mark.parametrize("store", CONTENTS)
def test_each_store_has_its_shape(store: str) -> None:
    """A good one passes; what no row publishes, and what is missing, is refused."""
    good = CONTENTS[store]
    assert problems(body(store, good), store) == []
    assert problems(body(store, {**good, "session_id": "x"}), store)
    assert problems(body(store, {}), store)


def test_the_marker_names_the_store_of_the_payload() -> None:
    """One store's content never goes under another one's marker."""
    text = body("session-md", CONTENTS["session-md"])
    marker = derive(FAMILY, 12, {"store": "memory"})
    swapped = text.replace("<!-- session-state-session-md-12 -->", marker.text)
    assert "store" in problems(swapped, "memory")


BAD = [
    ("store: session-md", "store: elsewhere", "enum"),
    ("schema_version: 1", "schema_version: 2", "schema-version"),
    ("schema_version: 1", "version: 1", "missing"),
    ("content:", "contents:", "missing"),
    ("```yaml", "```", "fence-missing"),
    ("decisions: []", "decisions: {}", "type"),
    ("decisions: []", 'decisions: ["a\\nb"]', "pattern"),
    ("decisions: []", "decisions: []\n  infra: []", "unknown-field"),
]


@pytest.mark.parametrize(("good", "bad", "code"), BAD)
def test_what_is_wrong_is_named(good: str, bad: str, code: str) -> None:
    """Each rule refuses with its own code."""
    text = body("session-md", CONTENTS["session-md"])
    assert good in text
    assert code in problems(text.replace(good, bad, 1))

"""One record of a run's lock: its text, and how its status may move."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markers.body import Body
from markers.errors import Conflict, Refused
from markers.payload.bullets import read_bullets
from markers.steps.mutex import acquired, adopted, resolved

MARKER = "<!-- goal-run-inflight-12 -->"
HASH = "ab" * 32


def record(end: str = "\n") -> str:
    """A new record as it stands on the thread, with words around the bullets."""
    payload = acquired(number=12, contract_hash=HASH, now="2026-03-01T12:00:00Z", run_id="r1")
    return f"{MARKER}\n\nA run.\n\n{payload}\nMore  \n".replace("\n", end)


def fields(body: str) -> dict[str, object]:
    """What the record says."""
    read: dict[str, object] = read_bullets(Body(body).lines[1:], first_line=2).value
    return read


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_only_the_status_and_its_reason_change(end: str) -> None:
    """All other lines stay byte for byte, through adoption and resolution."""
    taken = adopted(record(end), "s1")
    status = f"- **status**: unresolved{end}"
    adoption = f"- **status**: adopted{end}- **adopted_by_session_id**: s1{end}"
    assert taken == record(end).replace(status, adoption)
    over = adoption.replace(f"adopted{end}", f"resolved{end}- **resolved_reason**: done{end}", 1)
    assert resolved(taken, "done") == record(end).replace(status, over)


def test_the_same_again_is_the_same_text() -> None:
    """The adopter adopts again; a run that is over stays over, with its first reason."""
    taken = adopted(record(), "s1")
    assert adopted(taken, "s1") == taken
    over = resolved(record(), "done")
    assert resolved(over, "another reason") == over


@pytest.mark.parametrize("session", ["123", "null", "s 1", '"q"'])
def test_a_session_is_a_text_whatever_it_looks_like(session: str) -> None:
    """A number or a quote as its id reads back as it was given, and is still known."""
    taken = adopted(record(), session)
    assert fields(taken)["adopted_by_session_id"] == session
    assert adopted(taken, session) == taken


def test_nobody_adopts_what_is_anothers_or_over() -> None:
    """Both are told apart from a record that cannot be read."""
    with pytest.raises(Conflict, match="session s1 has adopted it") as caught:
        adopted(adopted(record(), "s1"), "s2")
    assert caught.value.reason.code == "already-adopted"
    with pytest.raises(Conflict, match=r"the run is over \(done\)") as caught:
        adopted(resolved(record(), "done"), "s1")
    assert caught.value.reason.code == "already-resolved"


@pytest.mark.parametrize(
    ("bad", "line"),
    [
        (MARKER, 2),
        (record().replace("unresolved", "open"), 7),
        (record().replace("- **status**: unresolved\n", "- **status**: unresolved\n" * 2), 8),
    ],
    ids=["empty", "unknown status", "two statuses"],
)
def test_a_record_that_cannot_be_read_is_left_alone(bad: str, line: int) -> None:
    """Its line is named; a person must look at it."""
    for move in (adopted, resolved):
        with pytest.raises(Refused) as caught:
            move(bad, "s1")
        assert (caught.value.reason.code, caught.value.reason.line) == ("record-unreadable", line)


@pytest.mark.parametrize("nothing", ["", " \n", "<!---->"])
def test_a_reason_says_something(nothing: str) -> None:
    """Nor is a session called nothing."""
    for move in (adopted, resolved):
        with pytest.raises(Refused, match="is empty"):
            move(record(), nothing)


@given(st.text(max_size=60))
def test_a_reason_is_one_harmless_line(reason: str) -> None:
    """Whatever a caller gives as a reason, no other line and no marker comes of it."""
    over = resolved(record(), f"because {reason}")
    assert len(Body(over).lines) == len(Body(record()).lines) + 1
    assert over.count("<!--") == 1
    assert fields(over).keys() == {*fields(record()), "resolved_reason"}

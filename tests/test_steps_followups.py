"""The queue of follow-ups goes on by one state at a time, and loses no key silently."""

from __future__ import annotations

import pytest
from checking import CONTRACT, marker

from markers.errors import Refused
from markers.model import Comment
from markers.payload.followups import STATES
from markers.steps import Prepared, Seen, before
from markers.steps.followups_state import STEP

FAMILY = "proposed-followups"
M = marker(FAMILY)
KEYS = [f"followup-{n:016x}" for n in range(9)]


def queue(state: str, *keys: str) -> str:
    """A queue in a state."""
    proposals = "\n".join(f'  - followup_key: "{key}"' for key in keys) or "  []"
    fence = f"```yaml\nschema_version: 1\nproposals:\n{proposals}\n```"
    return f"{M.text}\n\nstate: {state}\n\n{fence}"


def comment(body: str) -> Comment:
    """The comment that governs."""
    return Comment(
        id=7, body=body, html_url="", issue_url="", created_at="", updated_at="", author=None,
        association="OWNER",
    )  # fmt: skip


def after(earlier: str | None, candidate: str) -> Prepared:
    """What the step makes of *candidate* where *earlier* stands."""
    governing = None if earlier is None else comment(earlier)
    return STEP.apply(Seen(marker=M, candidate=candidate, governing=governing), {})


def refusal(earlier: str | None, candidate: str) -> tuple[str, int | None, str]:
    """Code, line and words of the refusal."""
    with pytest.raises(Refused) as caught:
        after(earlier, candidate)
    reason = caught.value.reason
    return reason.code, reason.line, reason.detail


def test_the_registry_names_the_step() -> None:
    """Writing the family runs it."""
    assert before(CONTRACT.family(FAMILY)) == (STEP,)


@pytest.mark.parametrize("now", STATES)
@pytest.mark.parametrize("earlier", STATES)
def test_one_step_forward_or_none(earlier: str, now: str) -> None:
    """The same state and the next one pass, unchanged; skipping and going back do not."""
    candidate = queue(now, KEYS[0])
    step = STATES.index(now) - STATES.index(earlier)
    if step in (0, 1):
        assert after(queue(earlier, KEYS[0]), candidate) == Prepared(candidate=candidate)
    else:
        code, line, words = refusal(queue(earlier, KEYS[0]), candidate)
        assert (code, line) == ("state-step", 3)
        assert ("goes back" if step < 0 else "leaves out claimed") in words
        assert f"says {now}, and the queue is {earlier}" in words


def test_a_queue_begins_as_proposed() -> None:
    """The first comment is in the first state."""
    assert after(None, queue("proposed")).warnings == ()
    for state in STATES[1:]:
        code, line, words = refusal(None, queue(state))
        assert (code, line) == ("state-first", 3)
        assert f"says {state}, and a queue begins as proposed" in words


def test_lost_keys_are_told_loudly() -> None:
    """A key of the earlier comment that the new one lacks is named; nothing is refused."""
    (warning,) = after(queue("proposed", *KEYS[:2]), queue("claimed", KEYS[1], KEYS[5])).warnings
    assert warning.startswith("followups-lost: 1 PROPOSALS")
    assert warning.endswith(KEYS[0])
    (warning,) = after(queue("claimed", *KEYS), queue("claimed")).warnings
    assert "9 PROPOSALS" in warning
    assert warning.endswith(f"{KEYS[4]} and 4 more")


@pytest.mark.parametrize(
    "earlier",
    [M.text, queue("done"), queue("proposed").replace("state: proposed", "s"),
     queue("proposed").replace("state: proposed", "state: proposed\nstate: claimed")],
)  # fmt: skip
def test_an_earlier_state_that_cannot_be_read_only_warns(earlier: str) -> None:
    """Somebody broke the comment by hand: the way out is to write it again."""
    for state in STATES:
        (warning,) = after(earlier, queue(state)).warnings
        assert warning.startswith("state-unreadable: comment 7 has no state")


def test_keys_of_an_unreadable_comment_count_too() -> None:
    """They are found in the text, whether or not it can be read."""
    earlier = queue("done", KEYS[0]).replace("schema_version: 1", "schema_version: [")
    unreadable, lost = after(earlier, queue("claimed")).warnings
    assert unreadable.startswith("state-unreadable")
    assert KEYS[0] in lost


def test_a_candidate_without_a_state_is_left_to_the_validator() -> None:
    """It is refused there with all else that is wrong with it."""
    candidate = queue("done")
    assert after(queue("consumed"), candidate) == Prepared(candidate=candidate)

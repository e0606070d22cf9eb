"""Composing and checking as a write does, by the shipped contract: for the tests of hygiene."""

from __future__ import annotations

import random

import pytest

from markers.codec import derive
from markers.contract import load
from markers.errors import Refused
from markers.hygiene import Checked, Composed, Policy, check, compose
from markers.model import Marker, Surface

CONTRACT = load()
M = "<!-- plan-issue-12 -->"


def marker(family: str = "plan-issue", number: int = 12, **params: str) -> Marker:
    """A marker of the shipped contract."""
    return derive(CONTRACT.family(family), number, params)


PLAN = marker()


def composed(payload: str, wanted: Marker = PLAN) -> str:
    """The body that *payload* becomes."""
    return compose(payload, wanted, CONTRACT).text


def checked(
    candidate: str | Composed,
    wanted: Marker = PLAN,
    *,
    surface: Surface | None = None,
    policy: Policy | None = None,
) -> Checked:
    """Check a candidate against the shipped contract."""
    return check(
        candidate if isinstance(candidate, Composed) else Composed(candidate),
        wanted,
        family=CONTRACT.family(wanted.family),
        surface=surface,
        contract=CONTRACT,
        policy=policy or Policy(),
    )


def payload_checked(payload: str, wanted: Marker = PLAN, policy: Policy | None = None) -> Checked:
    """Compose and check as a write does."""
    return checked(compose(payload, wanted, CONTRACT), wanted, policy=policy)


def refusal(payload: str, wanted: Marker = PLAN, policy: Policy | None = None) -> Refused:
    """The refusal that composing or checking *payload* ends in."""
    with pytest.raises(Refused) as caught:
        payload_checked(payload, wanted, policy)
    return caught.value


def codes(found: Checked) -> list[str]:
    """The codes of the warnings."""
    return [warning.partition(":")[0] for warning in found.warnings]


def github_token() -> str:
    """A made-up token, put together at run time."""
    letters = random.Random(7).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=36)  # noqa: S311 (made up)
    return "gh" + "p_" + "".join(letters)

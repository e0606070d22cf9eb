"""What messages are made of."""

from __future__ import annotations

import pytest

from markers.errors import few


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, ""),
        (1, "1"),
        (5, "1, 2, 3, 4, 5"),
        (6, "1, 2, 3, 4, 5 and 1 more"),
        (4005, "1, 2, 3, 4, 5 and 4,000 more"),
    ],
)
def test_a_list_in_a_message_is_bounded(count: int, words: str) -> None:
    """The first five, and how many more there are."""
    assert few(range(1, count + 1)) == words

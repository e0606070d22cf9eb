"""The page about the protocol names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")


def test_every_rule_of_the_protocol_has_its_row_and_its_tests() -> None:
    """Thirteen rules, and every test that the page names is in its file."""
    assert re.findall(r"^\| (\d+) \| \*\*", PAGE, re.MULTILINE) == [str(n) for n in range(1, 14)]
    named = re.findall(r"`(test_\w+\.py)(?:::(\w+))?`", PAGE)
    assert len(named) > 20
    for file, test in named:
        source = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in source, f"{file} has no {test}"

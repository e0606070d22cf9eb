"""What lint asks of a contract."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from ..model import Family, Row


class Known(Protocol):
    """Markers, rows and labels, as the contract in use has them."""

    @property
    def rows(self) -> Mapping[str, Row]:
        """All rows by id."""

    @property
    def survival_labels(self) -> tuple[re.Pattern[str], str]:
        """The form of a survival label, and the same in words."""

    def live_family(self, line: str) -> Family | None:
        """The comment family whose marker a bare line begins with."""

    def live_block(self, line: str) -> Family | None:
        """The block or pointer that a bare line opens or closes."""

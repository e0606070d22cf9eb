"""The files that a command puts together into one comment, each judged by itself.

What may live here: naming a file and its line where a rule is broken.  What may not: the rules, and
the whole comment, which the writer checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..contract import Contract
from ..errors import Invalid, Refused
from ..hygiene import Composed, Policy, check
from ..model import Family, Marker, Reason
from ..validators import judge

_IN_FRONT = 1
"""The marker's line, without which no text is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """What the files are judged by: the rules of the comment that they go into."""

    family: Family
    marker: Marker
    contract: Contract
    policy: Policy
    command: str

    def require_good(self, **files: str | None) -> None:
        """Raise ``Refused`` or ``Invalid`` with the lines of the first file that breaks a rule."""
        for name, text in files.items():
            if text and text.strip():
                self._require_good(name, text)

    def _require_good(self, name: str, text: str) -> None:
        composed = Composed(f"{self.marker.text}\n{text}", _IN_FRONT)
        try:
            self._require_clean(composed)
        except Refused as error:
            reason = error.reason
            detail = f"the {name} file: {reason.detail}"
            raise Refused(reason.code, detail, line=reason.line) from error
        wrong = [*self._wrong(name, composed.text)]
        if wrong:
            raise Invalid(wrong)

    def _require_clean(self, composed: Composed) -> None:
        check(
            composed,
            self.marker,
            family=self.family,
            surface=None,
            contract=self.contract,
            policy=self.policy,
            command=self.command,
        )

    def _wrong(self, name: str, text: str) -> Iterator[Reason]:
        """The problems of what stands in the file; what only the whole can have is left out."""
        for problem in judge(text, self.marker, self.contract):
            if not problem.warns and problem.line and problem.line > _IN_FRONT:
                reason = problem.reason(_IN_FRONT)
                where = f"line {reason.line} of the {name} file"
                yield replace(reason, detail=f"{where}: {reason.detail}")

"""The end of reading a payload that is not as it should be."""

from __future__ import annotations

from .document import Document
from .problems import Problem


class Flawed(Exception):
    """A payload that cannot be read as it stands.

    *problems* say why, *problem* is the first of them; *document* is what could be read all the
    same, so that more can be said about it at once.
    """

    def __init__(self, *problems: Problem, document: Document | None = None) -> None:
        super().__init__(problems[0].reason().detail)
        self.problems = problems
        self.document = document

    @property
    def problem(self) -> Problem:
        """The first one."""
        return self.problems[0]

"""Replicas that lag, in order: what is seen later was written later."""

from __future__ import annotations

from .comments import Comments


class Lag:
    """How far reads are behind; each setting may be changed at any time.

    *seconds*: listings show the state of so long ago.  *changes*: listings hide so many of the
    newest changes.  ``freeze`` holds the present state until ``release``.  *single* makes reads of
    one comment lag, too.
    """

    def __init__(self, comments: Comments) -> None:
        self._comments = comments
        self.seconds = 0.0
        self.changes = 0
        self.single = False
        self._frozen: int | None = None

    def freeze(self) -> None:
        """Show nothing that is written from now on."""
        self._frozen = self._comments.newest_change()

    def release(self) -> None:
        """Catch up at once."""
        self.seconds, self.changes, self._frozen = 0.0, 0, None

    def cut(self, now: float) -> int | None:
        """The last change that shows; None when nothing lags."""
        cuts = [self._frozen] if self._frozen is not None else []
        if self.changes > 0:
            cuts.append(max(0, self._comments.newest_change() - self.changes))
        if self.seconds > 0:
            cuts.append(self._comments.change_before(now - self.seconds))
        return min(cuts, default=None)

"""Facts that are asked once and remembered: who a token is, what surface a number is.

A remembered fact may save a request; it never refuses a write.  Whoever would say no because of
one asks again first (``fresh=True``).
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field

from .errors import Unavailable
from .journal.interface import Journal
from .model import Account, Surface, Thread
from .transport.interface import Transport

NOTE_SECONDS = 0.2
"""How long a note may wait for whoever keeps the journal busy; the next call asks again."""


@dataclass(slots=True)
class Memory:
    """One call's view of what the journal remembers; without a journal it remembers nothing."""

    transport: Transport
    thread: Thread
    journal: Journal | None
    _me: Account | None = field(default=None, init=False)
    _asked: bool = field(default=False, init=False)
    _known: dict[str, str | None] = field(default_factory=dict, init=False)
    """What the journal said at the first question, and what was learnt since."""

    @property
    def asked(self) -> bool:
        """Whether GitHub itself was asked who we are in this call."""
        return self._asked

    def me(self, *, fresh: bool = False) -> Account | None:
        """The account behind the token; None when it cannot be learnt."""
        if self._me is None and not self._asked:
            self._me = self.remembered_me()
        if not self._asked and (fresh or self._me is None):
            self._asked = True
            self.learn_me(self.transport.viewer())
        return self._me

    def remembered_me(self) -> Account | None:
        """The account as learnt earlier, without a request."""
        if self._me is not None:
            return self._me
        known = self._recall(self._token_key())
        return Account(**json.loads(known)) if known else None

    def learn_me(self, account: Account | None) -> None:
        """Keep who we are, from an answer to our own write or to the question."""
        if account is not None and account != self._me:
            self._me = account
            self._remember(
                self._token_key(), json.dumps({"id": account.id, "login": account.login})
            )

    def surface(self, *, fresh: bool = False) -> Surface:
        """What the thread's number is; asked of the issue itself when not known."""
        known = None if fresh else self._recall(self._surface_key())
        if known is not None:
            return Surface(known)
        surface = self.transport.issue(self.thread).surface
        self.learn_surface(surface)
        return surface

    def learn_surface(self, surface: Surface | None) -> None:
        """Keep what the thread's number is."""
        if surface is not None:
            self._remember(self._surface_key(), surface.value)

    def learn_repo_id(self, repo_id: int | None) -> None:
        """Keep the repository's id, so that a rename does not split locks and intents."""
        if repo_id is not None:
            self._remember(self._repo_key(), str(repo_id))

    def entry(self, burst: str) -> int | None:
        """The comment that this entry of a manifest has posted already."""
        known = self.journal.recall(f"burst:{burst}") if self.journal else None
        return int(known) if known else None

    def learn_entry(self, burst: str, comment_id: int) -> None:
        """Keep which comment an entry of a manifest has posted."""
        if self.journal:
            self.journal.remember(f"burst:{burst}", str(comment_id))

    def names(self) -> list[str]:
        """All names under which the thread may be locked or have intents."""
        repo_id = self._recall(self._repo_key())
        known = [self.thread.key(int(repo_id))] if repo_id else []
        return [self.thread.key(), *known]

    def _repo_key(self) -> str:
        return f"repo-id:{self.thread.key().rpartition('#')[0]}"

    def _surface_key(self) -> str:
        return f"surface:{self.thread.key()}"

    def _token_key(self) -> str:
        return f"me:{self.thread.repo.api_url.lower()}:{self.transport.fingerprint}"

    def _recall(self, key: str) -> str | None:
        """One of the three facts; all are asked for at once, since the journal may be far away."""
        if not self._known:
            keys = (self._repo_key(), self._token_key(), self._surface_key())
            found = self.journal.recall_all(keys) if self.journal else {}
            self._known = {each: found.get(each) for each in keys}
        return self._known[key]

    def _remember(self, key: str, value: str) -> None:
        """Note what saves a request next time; whoever keeps the journal busy hinders nobody."""
        with suppress(Unavailable):
            if self.journal and self._recall(key) != value:
                self.journal.remember(key, value, wait=NOTE_SECONDS)
                self._known[key] = value

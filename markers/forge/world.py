"""The world behind the API, and what people do to it from outside.

The methods here are the doings of others: they ask no rule, send no request and meet no fault.
Repositories are named by their present ``owner/name``, users by login.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from . import render
from .answers import encode
from .comments import Scope, Window
from .database import Database
from .lag import Lag
from .limits import Limits
from .store import Store
from .values import Call, Comment, Issue, Kind, Repository, Token, User

T = TypeVar("T")

_RENDERED = 20_000
_DAY = 86_400


@dataclass(slots=True)
class Switches:
    """What GitHub's limits are on this forge; each may be changed at any time."""

    body_bytes: int = 262_144
    """The longest body in UTF-8 bytes."""
    body_points: int | None = None
    """The longest body in code points, the figure of GitHub's message; None: not looked at."""
    thread_size: int = 2_500
    """How many comments a thread takes."""
    lock_binds_writers: bool = True
    """Whether a lock stops those with write access, too; on GitHub it does not."""
    latency: float = 0.0
    """Seconds added to each request, half before it takes effect and half after."""


class World:
    """Users, repositories, conversations, and the forge's own clock (seconds since the epoch)."""

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self.store = Store(Database(path))
        self.clock = clock
        self.sleep: Callable[[float], None] = time.sleep
        self.switches = Switches()
        self.limits = Limits()
        self.lag = Lag(self.store.comments)
        self._rendered: dict[tuple[int, str], bytes] = {}

    def close(self) -> None:
        """Let go of the database."""
        self.store.db.close()

    def add_user(
        self, login: str, user_id: int, *, bot: bool = False, app: str | None = None
    ) -> User:
        """Make an account; *app* is the slug of the GitHub App that it belongs to."""
        user = User(id=user_id, login=login, type="Bot" if bot else "User", app=app)
        self.store.add_user(user)
        self._rendered.clear()
        return user

    def add_token(
        self, value: str, login: str, *, kind: Kind = Kind.PAT, writes: bool = True
    ) -> None:
        """Issue a token."""
        self.store.add_token(Token(value=value, user=self._user(login), kind=kind, writes=writes))

    def revoke(self, value: str) -> None:
        """Make a token unknown."""
        self.store.remove_token(value)

    def ghost(self, login: str) -> None:
        """Delete an account: its comments stay, with no user."""
        self.store.remove_user(self._user(login).id)
        self._rendered.clear()

    def add_repo(self, slug: str, repo_id: int, *, private: bool = False) -> None:
        """Make a repository."""
        self.store.add_repo(slug, repo_id, private=private, at=int(self.clock()) - _DAY)

    def associate(self, slug: str, login: str, association: str) -> None:
        """Say what a user is to a repository: OWNER, MEMBER, COLLABORATOR, NONE and so on."""
        self.store.associate(self.repo(slug).id, self._user(login).id, association)
        self._rendered.clear()

    def add_issue(
        self,
        slug: str,
        number: int | None = None,
        *,
        title: str = "A title",
        body: str | None = None,
        author: str | None = "pat",
        pull: bool = False,
    ) -> int:
        """Open an issue or pull request; the answer is its number."""
        repo = self.repo(slug)
        number = number or self.store.next_number(repo.id)
        who = self._user(author) if author else None
        at = int(self.clock())
        self.store.add_issue(
            repo.id, number, title=title, body=body, author=who, is_pull=pull, at=at
        )
        return number

    def comment(
        self,
        slug: str,
        number: int,
        author: str | None,
        body: str,
        *,
        comment_id: int | None = None,
        at: float | None = None,
    ) -> Comment:
        """Write a comment; *author* None is a deleted account."""
        who = self._user(author) if author else None
        new = self.store.comments.add(
            self.issue(slug, number).id,
            who,
            body,
            at=self.clock() if at is None else at,
            comment_id=comment_id,
            app=who.app if who else None,
        )
        return self.find(new)

    def plant(
        self, slug: str, number: int, marker: str, *, author: str = "lee", text: str = "Planted."
    ) -> Comment:
        """Let somebody put *marker* on line 1 of a comment of his own."""
        return self.comment(slug, number, author, f"{marker}\n\n{text}\n")

    def fill(
        self,
        slug: str,
        number: int,
        count: int,
        *,
        author: str | None = "pat",
        body: Callable[[int], str] = "Comment {} of a long talk.".format,
    ) -> list[int]:
        """Put *count* old comments in, a second apart up to now; the answer is their ids.

        *body* gets the count from 0.  They count as having always been there: no lag hides them.
        """
        issue, who = self.issue(slug, number), self._user(author) if author else None
        start = int(self.clock()) - count
        self.store.comments.add_old(
            issue.id, ((who, body(nth), start + nth) for nth in range(count))
        )
        return [comment.id for comment in self.comments(slug, number)[-count:]] if count else []

    def edit(self, comment_id: int, body: str) -> Comment:
        """Change a comment's text."""
        self.store.comments.edit(comment_id, body, at=self.clock())
        return self.find(comment_id)

    def edit_in_browser(self, comment_id: int, body: str) -> Comment:
        """Change a comment's text in the web form, which makes all line ends CRLF."""
        return self.edit(comment_id, body.replace("\r\n", "\n").replace("\n", "\r\n"))

    def delete(self, comment_id: int) -> None:
        """Delete a comment."""
        self.store.comments.remove(comment_id, at=self.clock())

    def minimize(self, comment_id: int, reason: str | None = "outdated") -> None:
        """Hide a comment; None shows it again."""
        self.store.comments.minimize(comment_id, reason, at=self.clock())

    def lock(self, slug: str, number: int, on: bool = True, *, reason: str | None = None) -> None:
        """Lock a conversation, or unlock it."""
        self.store.lock(self.issue(slug, number).id, on, reason)

    def archive(self, slug: str, on: bool = True) -> None:
        """Make a repository read-only, or writable again."""
        self.store.archive(self.repo(slug).id, on)

    def rename(self, slug: str, new: str) -> None:
        """Give a repository another name or owner; the old name redirects."""
        self.store.rename(self.repo(slug).id, new)
        self._rendered.clear()

    def transfer(self, slug: str, number: int, to: str) -> int:
        """Move an issue to another repository; the answer is its number there."""
        target = self.repo(to)
        new = self.store.next_number(target.id)
        self.store.move(self.issue(slug, number), target.id, new)
        self._rendered.clear()
        return new

    def delete_issue(self, slug: str, number: int) -> None:
        """Delete an issue with all its comments."""
        self.store.delete_issue(self.issue(slug, number).id)

    def comments(self, slug: str, number: int) -> list[Comment]:
        """What is on a thread now, whatever any replica shows; ascending by id."""
        window = Window(scope=Scope.ISSUE, place=self.issue(slug, number).id)
        return self.store.comments.page(window)

    def find(self, comment_id: int) -> Comment:
        """One comment; ``KeyError`` when there is none."""
        return _there(self.store.comments.get(comment_id), f"comment {comment_id}")

    def repo(self, slug: str) -> Repository:
        """One repository; ``KeyError`` when there is none."""
        return _there(self.store.repo_named(slug), f"repository {slug}")

    def issue(self, slug: str, number: int) -> Issue:
        """One issue or pull request; ``KeyError`` when there is none."""
        return _there(self.store.issue(self.repo(slug).id, number), f"{slug}#{number}")

    def _user(self, login: str) -> User:
        return _there(self.store.user(login), f"user {login}")

    def rendered(self, comment: Comment, call: Call) -> bytes:
        """A comment's JSON for this client, made once for each text."""
        key = (comment.version, call.base)
        found = self._rendered.get(key)
        if found is None:
            if len(self._rendered) >= _RENDERED:
                self._rendered.clear()
            slug = _there(self.store.repo(comment.repo_id), "repository").slug
            found = encode(render.comment(comment, slug, call.base, call.web))
            self._rendered[key] = found
        return found


def _there(found: T | None, what: str) -> T:
    if found is None:
        raise KeyError(f"the forge has no {what}")
    return found

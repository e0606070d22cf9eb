"""Comments and their past: what a conversation looks like now, and looked like before.

Every change puts the state before it into ``past``, in order, so that a lagging replica can be
shown: the state as of a change is what is there now with all later changes undone.  Hence the order
that is promised: what is seen later was written later.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .database import Database
from .values import Comment, User

_OWN = "id, issue_id, user_id, app, body, created_at, updated_at, version, minimized"
_PAST = """(
WITH undone AS (SELECT id, MIN(seq) AS seq FROM past WHERE seq > :cut GROUP BY id)
SELECT <own> FROM comments WHERE id NOT IN (SELECT id FROM undone)
UNION ALL SELECT <own> FROM past WHERE existed AND seq IN (SELECT seq FROM undone)
)""".replace("<own>", _OWN)
_MATCHING = """
FROM <source> c JOIN issues i ON i.id = c.issue_id AND NOT i.deleted
WHERE <scope> = :place AND c.updated_at >= :since
"""
_COUNT = "SELECT COUNT(*)" + _MATCHING
# Authors are joined to the page alone: for the rows that OFFSET skips it would cost as much again.
_PAGE = """
SELECT c.id, c.issue_id, i.repo_id, i.number, i.is_pull, c.user_id, u.login, u.type, u.app,
       COALESCE(a.association, 'NONE'), c.app, c.body, c.created_at, c.updated_at, c.version,
       c.minimized
FROM (SELECT c.* <matching> ORDER BY <order> LIMIT :limit OFFSET :offset) c
JOIN issues i ON i.id = c.issue_id
LEFT JOIN users u ON u.id = c.user_id
LEFT JOIN associations a ON a.repo_id = i.repo_id AND a.user_id = c.user_id
ORDER BY <order>
""".replace("<matching>", _MATCHING)


class Scope(StrEnum):
    """What a listing is over; the values are columns."""

    ISSUE = "c.issue_id"
    REPO = "i.repo_id"
    COMMENT = "c.id"


class Order(StrEnum):
    """The orders of a listing; equal times go by id."""

    CREATED = "c.id"
    CREATED_DOWN = "c.id DESC"
    UPDATED = "c.updated_at, c.id"
    UPDATED_DOWN = "c.updated_at DESC, c.id DESC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What part of the comments is asked for; *cut* is the last change that shows (None: all)."""

    scope: Scope
    place: int
    since: int = 0
    order: Order = Order.CREATED
    limit: int = -1
    offset: int = 0
    cut: int | None = None


class Comments:
    """The comment tables."""

    def __init__(self, db: Database) -> None:
        self._db = db
        newest = db.row(
            "SELECT MAX(version) FROM (SELECT version FROM comments"
            " UNION ALL SELECT version FROM past)"
        )
        self._versions = itertools.count((newest[0] or 0) + 1)

    def page(self, window: Window) -> list[Comment]:
        """The comments in a window, in its order."""
        return [_comment(row) for row in self._ask(_PAGE, window, self._db.rows)]

    def count(self, window: Window) -> int:
        """How many comments a window would show without limit and offset."""
        return int(self._ask(_COUNT, window, self._db.row)[0])

    def get(self, comment_id: int, *, cut: int | None = None) -> Comment | None:
        """One comment; None when it is not there or its issue was deleted."""
        found = self.page(Window(scope=Scope.COMMENT, place=comment_id, cut=cut))
        return found[0] if found else None

    def add(
        self,
        issue_id: int,
        author: User | None,
        body: str,
        *,
        at: float,
        comment_id: int | None = None,
        app: str | None = None,
    ) -> int:
        """Put a comment in; the answer is its id, above all that ever were unless one is given."""
        with self._db.transaction():
            new = self._db.run(
                _INSERT,
                comment_id,
                issue_id,
                author and author.id,
                app,
                body,
                int(at),
                int(at),
                next(self._versions),
                None,
            )
            self._db.run("INSERT INTO past (at, existed, id) VALUES (?, 0, ?)", at, new)
        return new

    def add_old(self, issue_id: int, rows: Iterable[tuple[User | None, str, int]]) -> None:
        """Put many comments in that were always there: no lag ever hides them.

        *rows* are author, body and time.
        """
        self._db.run_many(
            _INSERT,
            (
                (
                    None,
                    issue_id,
                    author and author.id,
                    author and author.app,
                    body,
                    at,
                    at,
                    next(self._versions),
                    None,
                )
                for author, body, at in rows
            ),
        )

    def edit(self, comment_id: int, body: str, *, at: float) -> None:
        """Replace a comment's text."""
        with self._db.transaction():
            self._keep(comment_id, at)
            self._db.run(
                "UPDATE comments SET body = ?, updated_at = ?, version = ? WHERE id = ?",
                body,
                int(at),
                next(self._versions),
                comment_id,
            )

    def minimize(self, comment_id: int, reason: str | None, *, at: float) -> None:
        """Hide a comment for a reason, or show it again; its time does not move."""
        with self._db.transaction():
            self._keep(comment_id, at)
            self._db.run(
                "UPDATE comments SET minimized = ?, version = ? WHERE id = ?",
                reason,
                next(self._versions),
                comment_id,
            )

    def remove(self, comment_id: int, *, at: float) -> None:
        """Delete a comment."""
        with self._db.transaction():
            self._keep(comment_id, at)
            self._db.run("DELETE FROM comments WHERE id = ?", comment_id)

    def newest_change(self) -> int:
        """The number of the newest change."""
        return int(self._db.row("SELECT COALESCE(MAX(seq), 0) FROM past")[0])

    def change_before(self, time: float) -> int:
        """The number of the newest change that is not after *time*."""
        row = self._db.row("SELECT COALESCE(MIN(seq), 0) FROM past WHERE at > ?", time)
        return int(row[0]) - 1 if row[0] else self.newest_change()

    def _keep(self, comment_id: int, at: float) -> None:
        self._db.run(_REMEMBER, at, comment_id)

    def _ask(self, sql: str, window: Window, ask: Any) -> Any:
        """Fill in what no parameter can stand for, from the enums above; the rest as values."""
        source = "comments" if window.cut is None else _PAST
        for name, text in (
            ("<source>", source),
            ("<scope>", window.scope.value),
            ("<order>", window.order.value),
        ):
            sql = sql.replace(name, text)
        return ask(sql, **{name: getattr(window, name) for name in _VALUES})


_VALUES = ("place", "since", "limit", "offset", "cut")
_INSERT = "INSERT INTO comments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_REMEMBER = (
    "INSERT INTO past (at, existed, <own>) SELECT ?, 1, <own> FROM comments WHERE id = ?"
).replace("<own>", _OWN)


def _comment(row: Any) -> Comment:
    author = None
    if row[6] is not None:
        author = User(id=row[5], login=row[6], type=row[7], app=row[8])
    return Comment(
        id=row[0],
        issue_id=row[1],
        repo_id=row[2],
        number=row[3],
        is_pull=bool(row[4]),
        author=author,
        association=row[9],
        app=row[10],
        body=row[11],
        created_at=row[12],
        updated_at=row[13],
        version=row[14],
        minimized=row[15],
    )

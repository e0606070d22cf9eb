"""Users, tokens, repositories and issues as SQLite holds them.

What may live here: rows in, values out.  What may not: GitHub's rules about them (``rules``), or
comments, which have a past (``comments``).
"""

from __future__ import annotations

from typing import Any

from .comments import Comments
from .database import Database
from .values import Issue, Kind, Repository, Token, User

_ISSUE = """
SELECT i.id, i.repo_id, i.number, i.title, i.body, i.user_id, u.login, u.type, u.app,
       i.is_pull, i.locked, i.lock_reason, i.deleted, i.created_at, i.updated_at
FROM issues i LEFT JOIN users u ON u.id = i.user_id
"""
_REPO = "SELECT id, owner, name, private, archived, created_at FROM repos "


class Store:
    """The forge's tables; *comments* has those of the conversations."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.comments = Comments(db)

    @property
    def empty(self) -> bool:
        """Whether nothing was ever put in."""
        return self.db.row("SELECT 1 FROM repos UNION SELECT 1 FROM users") is None

    def add_user(self, user: User) -> None:
        """Put an account in, or change it."""
        self.db.run(
            "INSERT OR REPLACE INTO users VALUES (?, ?, ?, ?)",
            user.id,
            user.login,
            user.type,
            user.app,
        )

    def user(self, login: str) -> User | None:
        """The account of that login, in any letter case."""
        row = self.db.row("SELECT id, login, type, app FROM users WHERE login = ?", login)
        return _user(*row) if row else None

    def remove_user(self, user_id: int) -> None:
        """Delete an account: what it wrote stays, without an author."""
        with self.db.transaction():
            self.db.run("UPDATE comments SET user_id = NULL WHERE user_id = ?", user_id)
            self.db.run("UPDATE past SET user_id = NULL WHERE user_id = ?", user_id)
            self.db.run("UPDATE issues SET user_id = NULL WHERE user_id = ?", user_id)
            self.db.run("DELETE FROM tokens WHERE user_id = ?", user_id)
            self.db.run("DELETE FROM users WHERE id = ?", user_id)

    def add_token(self, token: Token) -> None:
        """Put a token in, or change it."""
        self.db.run(
            "INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?)",
            token.value,
            token.user.id,
            token.kind.value,
            token.writes,
        )

    def token(self, value: str) -> Token | None:
        """The token of that value."""
        row = self.db.row(
            "SELECT t.kind, t.writes, u.id, u.login, u.type, u.app"
            " FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.value = ?",
            value,
        )
        if row is None:
            return None
        return Token(value=value, user=_user(*row[2:]), kind=Kind(row[0]), writes=bool(row[1]))

    def remove_token(self, value: str) -> None:
        """Revoke a token."""
        self.db.run("DELETE FROM tokens WHERE value = ?", value)

    def associate(self, repo_id: int, user_id: int, association: str) -> None:
        """Say what a user is to a repository."""
        self.db.run(
            "INSERT OR REPLACE INTO associations VALUES (?, ?, ?)", repo_id, user_id, association
        )

    def association(self, repo_id: int, user_id: int) -> str:
        """What a user is to a repository; NONE unless somebody said."""
        row = self.db.row(
            "SELECT association FROM associations WHERE repo_id = ? AND user_id = ?",
            repo_id,
            user_id,
        )
        return str(row[0]) if row else "NONE"

    def add_repo(self, slug: str, repo_id: int, *, private: bool, at: int) -> None:
        """Put a repository in."""
        owner, name = slug.split("/")
        with self.db.transaction():
            self.db.run(
                "INSERT INTO repos (id, owner, name, private, created_at) VALUES (?, ?, ?, ?, ?)",
                repo_id,
                owner,
                name,
                private,
                at,
            )
            self.db.run("INSERT OR REPLACE INTO names VALUES (?, ?)", slug, repo_id)

    def repo(self, repo_id: int) -> Repository | None:
        """The repository of that id."""
        row = self.db.row(_REPO + "WHERE id = ?", repo_id)
        return _repo(row) if row else None

    def repo_named(self, slug: str) -> Repository | None:
        """The repository that has or once had that name; compare its slug to tell which."""
        row = self.db.row("SELECT repo_id FROM names WHERE slug = ?", slug)
        return self.repo(row[0]) if row else None

    def rename(self, repo_id: int, slug: str) -> None:
        """Give a repository another name; the old one still leads to it."""
        owner, name = slug.split("/")
        with self.db.transaction():
            self.db.run("UPDATE repos SET owner = ?, name = ? WHERE id = ?", owner, name, repo_id)
            self.db.run("INSERT OR REPLACE INTO names VALUES (?, ?)", slug, repo_id)

    def archive(self, repo_id: int, on: bool) -> None:
        """Make a repository read-only, or writable again."""
        self.db.run("UPDATE repos SET archived = ? WHERE id = ?", on, repo_id)

    def next_number(self, repo_id: int) -> int:
        """The number that the repository's next issue gets; numbers are never used twice."""
        row = self.db.row(
            "SELECT MAX(number) FROM (SELECT number FROM issues WHERE repo_id = ?1"
            " UNION ALL SELECT number FROM moves WHERE repo_id = ?1)",
            repo_id,
        )
        return int(row[0] or 0) + 1

    def add_issue(
        self,
        repo_id: int,
        number: int,
        *,
        title: str,
        body: str | None,
        author: User | None,
        is_pull: bool,
        at: int,
    ) -> Issue:
        """Open an issue or pull request."""
        new = self.db.run(
            "INSERT INTO issues (repo_id, number, title, body, user_id, is_pull, created_at,"
            " updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            repo_id,
            number,
            title,
            body,
            author and author.id,
            is_pull,
            at,
            at,
        )
        return _issue(self.db.row(_ISSUE + "WHERE i.id = ?", new))

    def issue(self, repo_id: int, number: int) -> Issue | None:
        """The issue of that number, deleted ones included."""
        row = self.db.row(_ISSUE + "WHERE i.repo_id = ? AND i.number = ?", repo_id, number)
        return _issue(row) if row else None

    def moved(self, repo_id: int, number: int) -> Issue | None:
        """The issue that once had that number and was transferred."""
        row = self.db.row(
            _ISSUE + "JOIN moves m ON m.issue_id = i.id WHERE m.repo_id = ? AND m.number = ?",
            repo_id,
            number,
        )
        return _issue(row) if row else None

    def move(self, issue: Issue, repo_id: int, number: int) -> None:
        """Transfer an issue; its old place remembers where it went."""
        with self.db.transaction():
            self.db.run("INSERT INTO moves VALUES (?, ?, ?)", issue.repo_id, issue.number, issue.id)
            self.db.run(
                "UPDATE issues SET repo_id = ?, number = ? WHERE id = ?", repo_id, number, issue.id
            )

    def lock(self, issue_id: int, on: bool, reason: str | None = None) -> None:
        """Lock a conversation, or unlock it."""
        self.db.run(
            "UPDATE issues SET locked = ?, lock_reason = ? WHERE id = ?", on, reason, issue_id
        )

    def touch(self, issue_id: int, at: int) -> None:
        """Let an issue's time move, as it does with each new comment."""
        self.db.run("UPDATE issues SET updated_at = ? WHERE id = ?", at, issue_id)

    def delete_issue(self, issue_id: int) -> None:
        """Delete an issue; its comments cannot be seen any more."""
        self.db.run("UPDATE issues SET deleted = 1 WHERE id = ?", issue_id)


def _user(id: int, login: str, type: str, app: str | None) -> User:  # noqa: A002 - column names
    return User(id=id, login=login, type=type, app=app)


def _repo(row: Any) -> Repository:
    return Repository(
        id=row[0],
        owner=row[1],
        name=row[2],
        private=bool(row[3]),
        archived=bool(row[4]),
        created_at=row[5],
    )


def _issue(row: Any) -> Issue:
    author = _user(*row[5:9]) if row[5] is not None and row[6] is not None else None
    return Issue(
        id=row[0],
        repo_id=row[1],
        number=row[2],
        title=row[3],
        body=row[4],
        author=author,
        is_pull=bool(row[9]),
        locked=bool(row[10]),
        lock_reason=row[11],
        deleted=bool(row[12]),
        created_at=row[13],
        updated_at=row[14],
    )

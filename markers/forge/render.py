"""The forge's values as GitHub's JSON: pure functions, full-size documents.

*base* is the address of the API and *web* that of the pages, both as the client spelled the host.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from .values import Comment, Issue, Repository, User

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
_USER_LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}
_REPO_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
_REPO_COUNTS = (
    "forks", "forks_count", "network_count", "open_issues", "open_issues_count", "size",
    "stargazers_count", "subscribers_count", "watchers", "watchers_count",
)  # fmt: skip
_PERSON_EMPTY = (
    "bio", "blog", "company", "email", "hireable", "location", "name", "twitter_username",
)  # fmt: skip
_PERSON_COUNTS = (
    "collaborators", "disk_usage", "followers", "following", "owned_private_repos",
    "private_gists", "public_gists", "public_repos", "total_private_repos",
)  # fmt: skip


def iso(at: float) -> str:
    """GitHub's times: UTC, whole seconds, ``Z``."""
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def node_id(prefix: str, number: int) -> str:
    """An opaque global id."""
    return f"{prefix}_{base64.urlsafe_b64encode(number.to_bytes(8)).decode().rstrip('=')}"


def number_of(prefix: str, node: str) -> int | None:
    """The number behind a global id of that kind; None for any other text."""
    try:
        number = int.from_bytes(base64.urlsafe_b64decode(f"{node.partition('_')[2]}="))
    except ValueError:
        return None
    return number if number < 2**63 and node_id(prefix, number) == node else None


def user(who: User, base: str, web: str) -> dict[str, Any]:
    """A simple user."""
    url = f"{base}/users/{quote(who.login)}"
    page = f"{web}/apps/{who.app}" if who.app else f"{web}/{who.login}"
    return {
        "login": who.login,
        "id": who.id,
        "node_id": node_id("BOT" if who.app else "U", who.id),
        "avatar_url": f"{web}/avatars/u/{who.id}?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": page,
        **{name: url + path for name, path in _USER_LINKS.items()},
        "type": who.type,
        "user_view_type": "public",
        "site_admin": False,
    }


def private_user(who: User, base: str, web: str, since: int) -> dict[str, Any]:
    """The account behind the token, as it sees itself."""
    return {
        **user(who, base, web),
        **dict.fromkeys(_PERSON_EMPTY),
        **dict.fromkeys(_PERSON_COUNTS, 0),
        "two_factor_authentication": True,
        "created_at": iso(since),
        "updated_at": iso(since),
    }


def app(slug: str, base: str, web: str, since: int) -> dict[str, Any]:
    """The GitHub App through which something was made."""
    owner = User(id=1, login="acme", type="Organization")
    return {
        "id": 1,
        "client_id": f"forge-{slug}",
        "slug": slug,
        "node_id": node_id("A", 1),
        "owner": user(owner, base, web),
        "name": slug,
        "description": "",
        "external_url": f"{web}/apps/{slug}",
        "html_url": f"{web}/apps/{slug}",
        "created_at": iso(since),
        "updated_at": iso(since),
        "permissions": {"issues": "write", "metadata": "read", "pull_requests": "write"},
        "events": [],
    }


def reactions(url: str) -> dict[str, Any]:
    """Nobody reacts on the forge."""
    return {"url": f"{url}/reactions", "total_count": 0, **dict.fromkeys(REACTIONS, 0)}


def comment(it: Comment, slug: str, base: str, web: str) -> dict[str, Any]:
    """An issue comment, full size."""
    url = f"{base}/repos/{slug}/issues/comments/{it.id}"
    kind = "pull" if it.is_pull else "issues"
    return {
        "url": url,
        "html_url": f"{web}/{slug}/{kind}/{it.number}#issuecomment-{it.id}",
        "issue_url": f"{base}/repos/{slug}/issues/{it.number}",
        "id": it.id,
        "node_id": node_id("IC", it.id),
        "user": user(it.author, base, web) if it.author else None,
        "created_at": iso(it.created_at),
        "updated_at": iso(it.updated_at),
        "body": it.body,
        "author_association": it.association,
        "reactions": reactions(url),
        "performed_via_github_app": app(it.app, base, web, it.created_at) if it.app else None,
        "pin": None,
        "minimized": {"reason": it.minimized} if it.minimized else None,
    }


def issue(
    it: Issue, slug: str, base: str, web: str, *, comments: int, association: str
) -> dict[str, Any]:
    """An issue; pull requests are issues with one more key."""
    url = f"{base}/repos/{slug}/issues/{it.number}"
    page = f"{web}/{slug}/{'pull' if it.is_pull else 'issues'}/{it.number}"
    document = {
        "url": url,
        "repository_url": f"{base}/repos/{slug}",
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": page,
        "id": it.id,
        "node_id": node_id("PR" if it.is_pull else "I", it.id),
        "number": it.number,
        "title": it.title,
        "body": it.body,
        "user": user(it.author, base, web) if it.author else None,
        "labels": [],
        "state": "open",
        "state_reason": None,
        "locked": it.locked,
        "active_lock_reason": it.lock_reason,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": comments,
        "created_at": iso(it.created_at),
        "updated_at": iso(it.updated_at),
        "closed_at": None,
        "closed_by": None,
        "author_association": association,
        "reactions": reactions(url),
        "performed_via_github_app": None,
    }
    if it.is_pull:
        document |= {"draft": False, "pull_request": _pull(it, slug, base, page)}
    return document


def _pull(it: Issue, slug: str, base: str, page: str) -> dict[str, Any]:
    return {
        "url": f"{base}/repos/{slug}/pulls/{it.number}",
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": None,
    }


def repository(it: Repository, owner: User, base: str, web: str, *, writes: bool) -> dict[str, Any]:
    """A repository, as much of it as is always there."""
    url, page = f"{base}/repos/{it.slug}", f"{web}/{it.slug}"
    host = web.partition("://")[2]
    return {
        "id": it.id,
        "node_id": node_id("R", it.id),
        "name": it.name,
        "full_name": it.slug,
        "owner": user(owner, base, web),
        "private": it.private,
        "visibility": "private" if it.private else "public",
        "html_url": page,
        "description": None,
        "fork": False,
        "url": url,
        **{name: url + path for name, path in _REPO_LINKS.items()},
        "git_url": f"git://{host}/{it.slug}.git",
        "ssh_url": f"git@{host}:{it.slug}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        **dict.fromkeys(_REPO_COUNTS, 0),
        "default_branch": "main",
        "has_issues": True,
        "has_projects": False,
        "has_wiki": False,
        "has_pages": False,
        "has_discussions": False,
        "archived": it.archived,
        "disabled": False,
        "pushed_at": iso(it.created_at),
        "created_at": iso(it.created_at),
        "updated_at": iso(it.created_at),
        "permissions": {"admin": False, "push": writes, "pull": True},
    }

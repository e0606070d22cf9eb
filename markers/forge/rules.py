"""Who may do what: GitHub's checks, each of which lets pass or answers by raising ``Halt``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .answers import (
    ARCHIVED,
    DOCS,
    FULL,
    LOCKED,
    NO_RIGHT,
    Halt,
    error,
    malformed,
    moved,
    not_found,
)
from .comments import Scope, Window
from .values import WRITERS, Answer, Call, Comment, Issue, Kind, Repository, Token
from .world import World

API_VERSIONS = ("2022-11-28",)
_SCHEMES = ("bearer", "token")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One request with what is known about it: whose it is, and where it is aimed."""

    world: World
    call: Call
    token: Token | None
    args: Mapping[str, str]
    repo: Repository | None = None

    @property
    def here(self) -> Repository:
        """The repository of the address."""
        if self.repo is None:
            raise Halt(not_found())
        return self.repo

    @property
    def api(self) -> str:
        """Base of the repository's address by id, the way GitHub writes its own links."""
        return f"/repositories/{self.here.id}"


def bearer(call: Call) -> str:
    """The token that came along; empty without one."""
    scheme, _, value = call.headers.get("authorization", "").partition(" ")
    return value.strip() if scheme.lower() in _SCHEMES else ""


def admit(call: Call, token: Token | None) -> None:
    """Turn away who does not say what he is, asks for an unknown version, or has a bad token."""
    if not call.headers.get("user-agent"):
        raise Halt(error(403, "Request forbidden by administrative rules: send a User-Agent."))
    version = call.headers.get("x-github-api-version", API_VERSIONS[0])
    if version not in API_VERSIONS:
        raise Halt(error(400, f'API version "{version[:40]}" is not a supported version.'))
    if "authorization" in call.headers and token is None:
        raise Halt(error(401, "Bad credentials"))


def locate(world: World, call: Call, token: Token | None, args: Mapping[str, str]) -> Repository:
    """The repository of an address; a former name redirects, a private one hides."""
    by_id = args.get("repo_id")
    slug = f"{args.get('owner')}/{args.get('name')}"
    repo = world.store.repo(int(by_id)) if by_id else world.store.repo_named(slug)
    if repo is None or (repo.private and not _belongs(world, repo, token)):
        raise Halt(not_found())
    if not by_id and repo.slug.lower() != slug.lower():
        rest = call.path.removeprefix(f"/repos/{slug}")
        raise Halt(elsewhere(call, f"/repositories/{repo.id}{rest}"))
    return repo


def elsewhere(call: Call, path: str) -> Answer:
    """The redirect to another address: reads may change their method, writes must not."""
    query = f"?{call.raw_query}" if call.raw_query else ""
    return moved(307 if call.writing else 301, f"{call.base}{path}{query}")


def _belongs(world: World, repo: Repository, token: Token | None) -> bool:
    if token is None:
        return False
    return (
        token.kind is Kind.INSTALLATION
        or world.store.association(repo.id, token.user.id) in WRITERS
    )


def has_write_access(scene: Scene) -> bool:
    """Whether the token may change what others wrote."""
    token = scene.token
    return token is not None and token.writes and _belongs(scene.world, scene.here, token)


def writing(scene: Scene) -> Token:
    """The token of a write that may go on: signed in, not read-only, not into an archive."""
    token = scene.token
    if token is None:
        raise Halt(error(401, "Requires authentication"))
    if not token.writes:
        raise Halt(error(403, NO_RIGHT[token.kind]))
    if scene.here.archived:
        raise Halt(error(403, ARCHIVED))
    return token


def maintaining(scene: Scene) -> Token:
    """The token of a write that only those with write access may make."""
    token = writing(scene)
    if not has_write_access(scene):
        refusal = NO_RIGHT[token.kind] if token.kind is Kind.INSTALLATION else _NO_ADMIN
        raise Halt(error(403, refusal))
    return token


_NO_ADMIN = "Must have admin rights to Repository."


def conversation(scene: Scene) -> Issue:
    """The issue or pull request of the address: 404, 410 when deleted, a redirect when moved."""
    number = int(scene.args["number"])
    found = scene.world.store.issue(scene.here.id, number)
    if found is None:
        found = scene.world.store.moved(scene.here.id, number)
        if found is None:
            raise Halt(not_found())
        rest = scene.call.path.partition(f"/issues/{number}")[2]
        path = f"/repositories/{found.repo_id}/issues/{found.number}{rest}"
        raise Halt(elsewhere(scene.call, path))
    if found.deleted:
        raise Halt(error(410, "This issue was deleted"))
    return found


def commenting(scene: Scene, issue: Issue) -> None:
    """Turn a new comment away from a locked or full thread."""
    binds = scene.world.switches.lock_binds_writers or not has_write_access(scene)
    if issue.locked and binds:
        docs = f"{DOCS}/articles/locking-conversations/"
        raise Halt(error(403, LOCKED, docs=docs))
    there = scene.world.store.comments.count(Window(scope=Scope.ISSUE, place=issue.id))
    if there >= scene.world.switches.thread_size:
        raise Halt(error(403, FULL))


def one_comment(scene: Scene, *, lagging: bool = False) -> Comment:
    """The comment of the address, if it is in this repository."""
    world = scene.world
    cut = world.lag.cut(scene.call.at) if lagging and world.lag.single else None
    found = world.store.comments.get(int(scene.args["comment"]), cut=cut)
    if found is None or found.repo_id != scene.here.id:
        raise Halt(not_found())
    return found


def own_comment(scene: Scene) -> Comment:
    """The comment of the address, if this token may change it: its own, or by write access."""
    token, found = writing(scene), one_comment(scene)
    own = found.author is not None and found.author.id == token.user.id
    if not own:
        maintaining(scene)
    return found


def document(call: Call) -> dict[str, Any]:
    """The JSON object of a request."""
    try:
        found = json.loads(call.body)
    except ValueError:
        raise Halt(error(400, "Problems parsing JSON")) from None
    if not isinstance(found, dict):
        raise Halt(error(400, "Body should be a JSON object"))
    return found


def field(call: Call, name: str) -> str:
    """A text in the JSON object of a request that must be there."""
    found = document(call)
    if name not in found:
        raise Halt(malformed(f'"{name}" wasn\'t supplied.'))
    value = found[name]
    if not isinstance(value, str):
        raise Halt(malformed(f"For 'properties/{name}', {json.dumps(value)[:80]} is not a string."))
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Halt(error(400, "Problems parsing JSON")) from None
    return value

"""What each route answers: one small function for each, over ``rules`` and the world."""

from __future__ import annotations

from typing import Any

from . import render, rules
from .answers import Halt, as_json, error, invalid, no_content, raw_json
from .comments import Order, Scope, Window
from .paging import asked, links, since
from .rules import Scene
from .values import Answer, Comment, Issue, Kind, User

_BLANK = {
    "resource": "IssueComment",
    "code": "unprocessable",
    "field": "data",
    "message": "Body cannot be blank",
}
_ORDERS = {
    ("created", "asc"): Order.CREATED,
    ("created", "desc"): Order.CREATED_DOWN,
    ("updated", "asc"): Order.UPDATED,
    ("updated", "desc"): Order.UPDATED_DOWN,
}


def user(scene: Scene) -> Answer:
    """GET /user: refused to installation tokens, which stand for no user."""
    token = scene.token
    if token is None:
        raise Halt(error(401, "Requires authentication"))
    if token.kind is Kind.INSTALLATION:
        raise Halt(error(403, "Resource not accessible by integration"))
    call = scene.call
    return as_json(render.private_user(token.user, call.base, call.web, 1_500_000_000))


def rate_limit(scene: Scene) -> Answer:
    """GET /rate_limit: says what is left and costs nothing."""
    core = scene.world.limits.state(scene.token, scene.call.at)
    search = {"limit": 30, "used": 0, "remaining": 30, "reset": core["reset"]}
    return as_json({"resources": {"core": core, "search": search, "graphql": core}, "rate": core})


def repository(scene: Scene) -> Answer:
    """GET one repository."""
    repo, call = scene.here, scene.call
    owner = scene.world.store.user(repo.owner)
    owner = owner or User(id=repo.id + 1, login=repo.owner, type="Organization")
    writes = rules.has_write_access(scene)
    return as_json(render.repository(repo, owner, call.base, call.web, writes=writes))


def issue(scene: Scene) -> Answer:
    """GET one issue or pull request."""
    return as_json(_issue(scene, rules.conversation(scene)))


def create_issue(scene: Scene) -> Answer:
    """POST an issue."""
    token, store = rules.writing(scene), scene.world.store
    title = rules.field(scene.call, "title")
    if not title.strip():
        raise Halt(invalid([{"resource": "Issue", "code": "missing_field", "field": "title"}]))
    scene.world.limits.create(token, scene.call.at)
    body = rules.document(scene.call).get("body")
    made = store.add_issue(
        scene.here.id,
        store.next_number(scene.here.id),
        title=title,
        body=body if isinstance(body, str) else None,
        author=token.user,
        is_pull=False,
        at=int(scene.call.at),
    )
    document = _issue(scene, made)
    return as_json(document, 201, {"Location": document["url"]})


def _issue(scene: Scene, it: Issue) -> dict[str, Any]:
    store, call = scene.world.store, scene.call
    association = store.association(it.repo_id, it.author.id) if it.author else "NONE"
    count = store.comments.count(Window(scope=Scope.ISSUE, place=it.id))
    return render.issue(
        it, scene.here.slug, call.base, call.web, comments=count, association=association
    )


def lock(scene: Scene) -> Answer:
    """PUT a lock on a conversation."""
    rules.maintaining(scene)
    reason = rules.document(scene.call).get("lock_reason") if scene.call.body else None
    found = rules.conversation(scene)
    scene.world.store.lock(found.id, True, reason if isinstance(reason, str) else None)
    return no_content()


def unlock(scene: Scene) -> Answer:
    """DELETE the lock of a conversation."""
    rules.maintaining(scene)
    scene.world.store.lock(rules.conversation(scene).id, False)
    return no_content()


def list_comments(scene: Scene) -> Answer:
    """GET a thread's comments: ascending by id, whatever order is asked for."""
    found = rules.conversation(scene)
    path = f"{scene.api}/issues/{found.number}/comments"
    return _listing(scene, path, Scope.ISSUE, found.id, Order.CREATED)


def list_repository_comments(scene: Scene) -> Answer:
    """GET a repository's comments, in the order asked for."""
    sort = scene.call.param("sort") or ""
    direction = (scene.call.param("direction") or "asc") if sort else "asc"
    order = _ORDERS.get((sort, direction), Order.CREATED)
    return _listing(scene, f"{scene.api}/issues/comments", Scope.REPO, scene.here.id, order)


def _listing(scene: Scene, path: str, scope: Scope, place: int, order: Order) -> Answer:
    world, page = scene.world, asked(scene.call)
    window = Window(
        scope=scope,
        place=place,
        since=since(scene.call),
        order=order,
        limit=page.size,
        offset=page.offset,
        cut=world.lag.cut(scene.call.at),
    )
    total = world.store.comments.count(window)
    found = (world.rendered(it, scene.call) for it in world.store.comments.page(window))
    return raw_json(b"[" + b",".join(found) + b"]", headers=links(scene.call, path, page, total))


def create_comment(scene: Scene) -> Answer:
    """POST a comment."""
    token, world = rules.writing(scene), scene.world
    found = rules.conversation(scene)
    body = _text(scene, "Body")
    rules.commenting(scene, found)
    world.limits.create(token, scene.call.at)
    app = token.user.app if token.kind is Kind.INSTALLATION else None
    new = world.store.comments.add(found.id, token.user, body, at=scene.call.at, app=app)
    world.store.touch(found.id, int(scene.call.at))
    made = world.find(new)
    at = f"{scene.call.base}/repos/{scene.here.slug}/issues/comments/{new}"
    return _one(scene, made, 201, {"Location": at})


def comment(scene: Scene) -> Answer:
    """GET one comment."""
    return _one(scene, rules.one_comment(scene, lagging=True))


def edit_comment(scene: Scene) -> Answer:
    """PATCH a comment: the last writer wins, no condition is ever looked at."""
    found = rules.own_comment(scene)
    body = _text(scene, "body")
    scene.world.store.comments.edit(found.id, body, at=scene.call.at)
    return _one(scene, scene.world.find(found.id))


def delete_comment(scene: Scene) -> Answer:
    """DELETE a comment."""
    found = rules.own_comment(scene)
    scene.world.store.comments.remove(found.id, at=scene.call.at)
    return no_content()


def _one(
    scene: Scene, it: Comment, status: int = 200, headers: dict[str, str] | None = None
) -> Answer:
    return raw_json(scene.world.rendered(it, scene.call), status, headers)


def _text(scene: Scene, spelling: str) -> str:
    """The body of a comment to be; POST and PATCH spell their complaint differently."""
    text, switches = rules.field(scene.call, "body"), scene.world.switches
    if not text.strip():
        raise Halt(invalid([_BLANK]))
    points = switches.body_points
    if len(text.encode()) > switches.body_bytes or (points is not None and len(text) > points):
        message = f"{spelling} is too long (maximum is 65536 characters)"
        raise Halt(invalid([{**_BLANK, "message": message}]))
    return text

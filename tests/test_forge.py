"""What the forge answers, without a socket: GitHub's shapes, rules and texts."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from forge_client import BY_ID, HOST, THREAD, ask, data, links, message

from markers import clock
from markers.clock import FakeClock
from markers.forge.app import Forge

COMMENT_KEYS = {
    "id", "node_id", "url", "html_url", "issue_url", "user", "body", "created_at", "updated_at",
    "author_association", "reactions", "performed_via_github_app", "pin", "minimized",
}  # fmt: skip
USER_KEYS = {
    "login", "id", "node_id", "avatar_url", "gravatar_id", "url", "html_url", "followers_url",
    "following_url", "gists_url", "starred_url", "subscriptions_url", "organizations_url",
    "repos_url", "events_url", "received_events_url", "type", "site_admin", "user_view_type",
}  # fmt: skip


def test_created_comment_has_githubs_full_shape(forge: Forge) -> None:
    """POST answers 201 with the whole comment, its address and the app that made it."""
    answer = ask(forge, "POST", THREAD, {"body": "hello"})
    it = data(answer)
    assert answer.status == 201
    assert set(it) == COMMENT_KEYS
    assert set(it["user"]) == USER_KEYS
    assert it["user"] | {"login": "helper-bot[bot]", "id": 900, "type": "Bot"} == it["user"]
    assert it["performed_via_github_app"]["slug"] == "helper-bot"
    assert it["author_association"] == "COLLABORATOR"
    assert it["id"] > 2**32
    assert it["html_url"] == f"http://{HOST}/acme/widgets/issues/12#issuecomment-{it['id']}"
    assert it["issue_url"] == f"http://{HOST}/repos/acme/widgets/issues/12"
    assert answer.headers["Location"] == it["url"]


def test_comment_on_a_pull_request_says_pull(forge: Forge) -> None:
    """A pull request's comment has ``/pull/`` in its page, and the issue has ``pull_request``."""
    it = data(ask(forge, "POST", "/repos/acme/widgets/issues/30/comments", {"body": "x"}))
    assert f"/acme/widgets/pull/30#issuecomment-{it['id']}" in it["html_url"]
    assert it["issue_url"].endswith("/issues/30")
    assert "pull_request" in data(ask(forge, "GET", "/repos/acme/widgets/issues/30"))
    assert "pull_request" not in data(ask(forge, "GET", "/repos/acme/widgets/issues/12"))


@pytest.mark.parametrize(
    "text",
    [
        "a\r\nb\r\n\r\nc",
        " lead and trail \n\n",
        "🌈 e\u0301 漢字 \u2028 \u00a0",
        "nul \0 in",
        "<!-- m -->",
    ],
)
def test_bodies_are_kept_exactly(forge: Forge, text: str) -> None:
    """What is sent is what is stored and returned, by POST, GET, list and PATCH."""
    made = data(ask(forge, "POST", THREAD, {"body": text}))
    assert made["body"] == text
    assert data(ask(forge, "GET", f"{BY_ID}/{made['id']}"))["body"] == text
    assert data(ask(forge, "GET", THREAD))[0]["body"] == text
    changed = data(ask(forge, "PATCH", f"{BY_ID}/{made['id']}", {"body": text + "!"}))
    assert changed["body"] == text + "!"
    assert forge.find(made["id"]).body == text + "!"


def test_ids_ascend_and_are_never_used_again(forge: Forge) -> None:
    """A deleted comment's id is not given to the next one."""
    ids = []
    for _ in range(3):
        ids.append(data(ask(forge, "POST", THREAD, {"body": "x"}))["id"])
        ask(forge, "DELETE", f"{BY_ID}/{ids[-1]}")
    assert ids == sorted(set(ids))


def test_times_are_whole_seconds_and_move_on_patch() -> None:
    """``updated_at`` is ``created_at`` at first, moves on PATCH, and has no fraction."""
    with clock.use(FakeClock(1_800_000_000.9)) as fake:
        forge = Forge.open(clock=clock.now)
        made = data(ask(forge, "POST", THREAD, {"body": "x"}))
        assert made["created_at"] == made["updated_at"] == "2027-01-15T08:00:00Z"
        fake.sleep(61)
        changed = data(ask(forge, "PATCH", f"{BY_ID}/{made['id']}", {"body": "y"}))
        assert changed["created_at"] == "2027-01-15T08:00:00Z"
        assert changed["updated_at"] == "2027-01-15T08:01:01Z"
        forge.close()


def test_delete_answers_204_and_the_comment_is_gone(forge: Forge) -> None:
    """DELETE is 204 without a body; a second one, and GET and PATCH, are 404."""
    at = f"{BY_ID}/{forge.comment('acme/widgets', 12, 'helper-bot[bot]', 'x').id}"
    answer = ask(forge, "DELETE", at)
    assert (answer.status, answer.body) == (204, b"")
    again = [ask(forge, method, at, {"body": "x"}).status for method in ("DELETE", "GET", "PATCH")]
    assert again == [404, 404, 404]


def test_page_sizes(forge: Forge) -> None:
    """30 by default, 100 at most, nonsense counts as not there."""
    forge.fill("acme/widgets", 12, 150)
    sizes = {q: len(data(ask(forge, "GET", THREAD + q))) for q in (
        "", "?per_page=100", "?per_page=500", "?per_page=0", "?per_page=x", "?per_page=100&page=2",
        "?per_page=100&page=3", "?per_page=-5",
    )}  # fmt: skip
    assert list(sizes.values()) == [30, 100, 100, 30, 30, 50, 0, 30]


def test_links_have_githubs_shape(forge: Forge) -> None:
    """Links name the repository's id, the client's own host, and the relations of the place."""
    forge.fill("acme/widgets", 12, 250)
    at = f"http://{HOST}/repositories/1296269/issues/12/comments?per_page=100&page="
    query = f"{THREAD}?per_page=100"
    first, second, third = (ask(forge, "GET", f"{query}&page={n}") for n in (1, 2, 3))
    assert links(first) == {"next": f"{at}2", "last": f"{at}3"}
    assert list(links(second)) == ["prev", "next", "last", "first"]
    assert links(second) == {
        "prev": f"{at}1", "next": f"{at}3", "last": f"{at}3", "first": f"{at}1",
    }  # fmt: skip
    assert links(third) == {"prev": f"{at}2", "first": f"{at}1"}


def test_no_link_when_all_fits(forge: Forge) -> None:
    """100 comments at 100 a page are one page, and 101 are two."""
    forge.fill("acme/widgets", 12, 100)
    assert "Link" not in ask(forge, "GET", f"{THREAD}?per_page=100").headers
    forge.fill("acme/widgets", 12, 1)
    assert "last" in links(ask(forge, "GET", f"{THREAD}?per_page=100"))


def test_links_lead_on_and_keep_the_query(forge: Forge) -> None:
    """Following ``next`` shows every comment once, ``since`` included."""
    ids = forge.fill("acme/widgets", 12, 70)
    target, seen = f"{THREAD}?since=2000-01-01T00:00:00Z", []
    while target:
        answer = ask(forge, "GET", target)
        seen += [it["id"] for it in data(answer)]
        target = links(answer).get("next", "")
        assert not target or "since=2000-01-01T00%3A00%3A00Z" in target
    assert seen == ids


def test_enterprise_prefix_is_kept_in_every_address(forge: Forge) -> None:
    """Under ``/api/v3`` all addresses of the API have the prefix, those of pages have not."""
    forge.fill("acme/widgets", 12, 31)
    answer = ask(forge, "GET", f"/api/v3{THREAD}")
    assert links(answer)["next"].startswith(f"http://{HOST}/api/v3/repositories/")
    assert data(answer)[0]["url"].startswith(f"http://{HOST}/api/v3/repos/")
    assert data(answer)[0]["html_url"].startswith(f"http://{HOST}/acme/")


def test_a_whole_url_as_target_gives_host_and_scheme(forge: Forge) -> None:
    """An absolute target counts before ``Host``; pages are on the host without ``api.``."""
    at = "https://api.github.example/repos/acme/widgets"
    it = data(ask(forge, "GET", at))
    assert it["url"] == at
    assert it["html_url"] == "https://github.example/acme/widgets"


def test_addresses_by_repository_id_work(forge: Forge) -> None:
    """What works under the name works under the id, and letter case of a name does not count."""
    made = data(ask(forge, "POST", "/repositories/1296269/issues/12/comments", {"body": "x"}))
    for place in ("/repositories/1296269", "/repos/acme/widgets", "/repos/ACME/Widgets"):
        assert data(ask(forge, "GET", f"{place}/issues/comments/{made['id']}")) == made


def test_since_is_inclusive_over_updated_at() -> None:
    """``since`` shows what was updated in that very second and later, whatever its id."""
    with clock.use(FakeClock()) as fake:
        forge = Forge.open(clock=clock.now)
        old, _, new = (forge.comment("acme/widgets", 12, "pat", t, at=fake.now() + n).id
                       for n, t in enumerate("abc"))  # fmt: skip
        fake.sleep(10)
        forge.edit(old, "a2")
        seen = [it["id"] for it in data(ask(forge, "GET", f"{THREAD}?since=2027-01-15T08:00:02Z"))]
        assert seen == [old, new]
        same = ask(forge, "GET", f"{THREAD}?since=2027-01-15T17:00:02%2B09:00")
        assert [it["id"] for it in data(same)] == seen
        assert ask(forge, "GET", f"{THREAD}?since=yesterday").status == 422
        forge.close()


def test_the_thread_list_cannot_be_reversed(forge: Forge) -> None:
    """``sort`` and ``direction`` are ignored on a thread and obeyed on the repository."""
    ids = [forge.comment("acme/widgets", n, "pat", "x").id for n in (12, 30, 12)]
    down = "?sort=created&direction=desc"
    assert [it["id"] for it in data(ask(forge, "GET", THREAD + down))] == [ids[0], ids[2]]
    assert [it["id"] for it in data(ask(forge, "GET", BY_ID + down))] == ids[::-1]
    assert [it["id"] for it in data(ask(forge, "GET", f"{BY_ID}?direction=desc"))] == ids


def test_repository_list_sorts_by_update(forge: Forge) -> None:
    """``sort=updated`` goes by the time of the last change."""
    forge.clock = lambda: 1_800_000_000.0
    first, second = (forge.comment("acme/widgets", 12, "pat", "x").id for _ in range(2))
    forge.clock = lambda: 1_800_000_060.0
    forge.edit(first, "y")
    seen = [it["id"] for it in data(ask(forge, "GET", f"{BY_ID}?sort=updated"))]
    assert seen == [second, first]


@pytest.mark.parametrize("target", [THREAD, BY_ID, "/repos/acme/widgets", "/rate_limit"])
def test_etag_and_304(forge: Forge, target: str) -> None:
    """Every GET has a weak tag; asked again with it, 304 without a body."""
    first = ask(forge, "GET", target)
    tag = first.headers["ETag"]
    assert tag.startswith('W/"')
    again = ask(forge, "GET", target, headers={"If-None-Match": f'"other", {tag}'})
    if target != "/rate_limit":
        assert (again.status, again.body) == (304, b"")
        assert again.headers["ETag"] == tag


def test_a_304_ends_with_any_change(forge: Forge) -> None:
    """A new comment, an edit and a deletion each give another tag."""
    it = forge.comment("acme/widgets", 12, "pat", "x").id
    changes: list[Callable[[], object]] = [
        lambda: forge.comment("acme/widgets", 12, "pat", "y"),
        lambda: forge.edit(it, "x2"),
        lambda: forge.delete(it),
    ]
    for change in changes:
        tag = ask(forge, "GET", THREAD).headers["ETag"]
        change()
        assert ask(forge, "GET", THREAD, headers={"If-None-Match": tag}).status == 200


def test_tags_belong_to_a_token(forge: Forge) -> None:
    """Another token's tag never hits, with the very same content."""
    tag = ask(forge, "GET", THREAD, token="forge-pat").headers["ETag"]
    assert (
        ask(forge, "GET", THREAD, token="forge-mia", headers={"If-None-Match": tag}).status == 200
    )


def test_a_304_costs_nothing(forge: Forge) -> None:
    """A 304 leaves the primary limit as it was."""
    first = ask(forge, "GET", THREAD)
    again = ask(forge, "GET", THREAD, headers={"If-None-Match": first.headers["ETag"]})
    left = [it.headers["x-ratelimit-remaining"] for it in (first, again)]
    assert left == ["4999", "4999"]


def test_every_answer_says_when_who_and_how_much(forge: Forge) -> None:
    """Date (the forge's clock), request id and rate headers are on successes and errors."""
    forge.clock = lambda: 1_800_000_000.5
    for answer in (ask(forge, "GET", THREAD), ask(forge, "GET", "/nothing")):
        assert parsedate_to_datetime(answer.headers["Date"]).timestamp() == 1_800_000_000
        assert answer.headers["X-GitHub-Request-Id"]
        assert answer.headers["x-ratelimit-limit"] == "5000"
        assert answer.headers["Cache-Control"] == "private, max-age=60, s-maxage=60"
    assert ask(forge, "GET", THREAD).headers != ask(forge, "GET", THREAD).headers


def test_association_is_about_author_and_repository(forge: Forge) -> None:
    """The same comment changes its association when the author's standing changes."""
    it = forge.comment("acme/widgets", 12, "lee", "x").id
    assert data(ask(forge, "GET", f"{BY_ID}/{it}"))["author_association"] == "NONE"
    forge.associate("acme/widgets", "lee", "MEMBER")
    assert data(ask(forge, "GET", f"{BY_ID}/{it}"))["author_association"] == "MEMBER"
    people = {"pat": "OWNER", "mia": "MEMBER"}
    for login, association in people.items():
        answer = ask(forge, "POST", THREAD, {"body": "x"}, token=f"forge-{login}")
        assert data(answer)["author_association"] == association
        assert data(answer)["performed_via_github_app"] is None


def test_deleted_account_is_a_null_user(forge: Forge) -> None:
    """A deleted account's comments stay, with ``user`` null and no association."""
    it = forge.comment("acme/widgets", 12, "mia", "x").id
    ask(forge, "GET", THREAD)
    forge.ghost("mia")
    seen = data(ask(forge, "GET", THREAD))[0]
    assert (seen["id"], seen["user"], seen["author_association"]) == (it, None, "NONE")
    assert ask(forge, "GET", THREAD, token="forge-mia").status == 401


def test_hidden_comment_says_why(forge: Forge) -> None:
    """``minimized`` is null, or the reason."""
    it = forge.comment("acme/widgets", 12, "pat", "x").id
    assert data(ask(forge, "GET", THREAD))[0]["minimized"] is None
    forge.minimize(it, "outdated")
    assert data(ask(forge, "GET", THREAD))[0]["minimized"] == {"reason": "outdated"}


def test_web_edit_makes_crlf(forge: Forge) -> None:
    """An edit in the browser turns all line ends into CRLF; the API leaves them alone."""
    it = forge.comment("acme/widgets", 12, "pat", "a\nb").id
    assert forge.edit_in_browser(it, "a\nb\r\nc").body == "a\r\nb\r\nc"


@pytest.mark.parametrize(
    ("raw", "status", "text"),
    [
        (b"{", 400, "Problems parsing JSON"),
        (b"[]", 400, "Body should be a JSON object"),
        (b'{"body": "\\ud800"}', 400, "Problems parsing JSON"),
        (b"{}", 422, 'Invalid request.\n\n"body" wasn\'t supplied.'),
        (b'{"body": 5}', 422, "Invalid request.\n\nFor 'properties/body', 5 is not a string."),
        (b'{"body": " \\n\\t"}', 422, "Validation Failed"),
    ],
)
def test_bad_documents(forge: Forge, raw: bytes, status: int, text: str) -> None:
    """Bad JSON is 400, a missing, mistyped or blank body 422, and nothing is written."""
    it = forge.comment("acme/widgets", 12, "helper-bot[bot]", "x").id
    for method, target in (("POST", THREAD), ("PATCH", f"{BY_ID}/{it}")):
        answer = ask(forge, method, target, raw=raw)
        assert (answer.status, message(answer)) == (status, text)
    assert [c.body for c in forge.comments("acme/widgets", 12)] == ["x"]


@pytest.mark.parametrize("unit", ["a", "🌈"])
def test_size_limit_is_in_bytes(forge: Forge, unit: str) -> None:
    """262,144 UTF-8 bytes are taken and one more is not, by POST and by PATCH."""
    longest = unit * (262_144 // len(unit.encode()))
    it = data(ask(forge, "POST", THREAD, {"body": longest}))["id"]
    post = ask(forge, "POST", THREAD, {"body": longest + "a"})
    patch = ask(forge, "PATCH", f"{BY_ID}/{it}", {"body": longest + "a"})
    texts = [data(answer)["errors"][0]["message"] for answer in (post, patch)]
    assert (post.status, patch.status) == (422, 422)
    assert texts == [
        f"{word} is too long (maximum is 65536 characters)" for word in ("Body", "body")
    ]
    assert data(post)["errors"][0]["code"] == "unprocessable"
    assert [c.body for c in forge.comments("acme/widgets", 12)] == [longest]


def test_size_limit_in_code_points_is_a_switch(forge: Forge) -> None:
    """A server that takes GitHub's message by its word can be had."""
    forge.switches.body_points = 10
    assert ask(forge, "POST", THREAD, {"body": "🌈" * 10}).status == 201
    assert ask(forge, "POST", THREAD, {"body": "🌈" * 11}).status == 422


def test_tokens(forge: Forge) -> None:
    """An unknown token is 401 everywhere; none at all may read what is public and write nothing."""
    assert message(ask(forge, "GET", THREAD, token="no-such")) == "Bad credentials"
    assert ask(forge, "GET", THREAD, token=None).status == 200
    answer = ask(forge, "POST", THREAD, {"body": "x"}, token=None)
    assert (answer.status, message(answer)) == (401, "Requires authentication")
    assert ask(forge, "GET", "/user", token=None).status == 401
    old = {"Authorization": "token forge-pat"}
    assert data(ask(forge, "GET", "/user", headers=old))["login"] == "pat"
    forge.revoke("forge-pat")
    assert ask(forge, "GET", THREAD, token="forge-pat").status == 401


def test_installation_has_no_user_but_is_a_viewer(forge: Forge) -> None:
    """GET /user is refused to an installation; GraphQL names it without ``[bot]``."""
    answer = ask(forge, "GET", "/user")
    assert (answer.status, message(answer)) == (403, "Resource not accessible by integration")
    query = {"query": "query { viewer { login databaseId } }"}
    for at in ("/graphql", "/api/graphql"):
        viewer = data(ask(forge, "POST", at, query))["data"]["viewer"]
        assert viewer == {"login": "helper-bot", "databaseId": 900}
    assert data(ask(forge, "POST", "/graphql", query, token="forge-pat")) == {
        "data": {"viewer": {"login": "pat", "databaseId": 101}}
    }


@pytest.mark.parametrize(
    "query", ["{ viewer { email } }", "{ repository { id } }", "{ viewer {} }"]
)
def test_graphql_says_what_it_cannot(forge: Forge, query: str) -> None:
    """Any other query is a 200 with ``errors``, as GraphQL does it; no token is 401."""
    answer = ask(forge, "POST", "/graphql", {"query": query})
    assert answer.status == 200
    assert "errors" in data(answer)
    assert ask(forge, "POST", "/graphql", {"query": query}, token=None).status == 401


def test_fork_token_reads_and_does_not_write(forge: Forge) -> None:
    """A read-only token gets 403 with GitHub's words for every write, and all reads."""
    it = forge.comment("acme/widgets", 12, "helper-bot[bot]", "x").id
    assert ask(forge, "GET", THREAD, token="forge-fork").status == 200
    writes = (("POST", THREAD), ("PATCH", f"{BY_ID}/{it}"), ("DELETE", f"{BY_ID}/{it}"))
    for method, target in writes:
        answer = ask(forge, method, target, {"body": "y"}, token="forge-fork")
        assert (answer.status, message(answer)) == (403, "Resource not accessible by integration")
    assert forge.find(it).body == "x"


def test_private_repository_is_404_to_strangers(forge: Forge) -> None:
    """Who does not belong to a private repository sees 404, never 403."""
    forge.add_repo("acme/secret", 77, private=True)
    forge.add_issue("acme/secret", 1)
    forge.associate("acme/secret", "pat", "OWNER")
    for method, target in (("GET", "/repos/acme/secret"), ("GET", "/repositories/77"),
                           ("POST", "/repos/acme/secret/issues/1/comments")):  # fmt: skip
        for token in (None, "forge-lee"):
            assert ask(forge, method, target, {"body": "x"}, token=token).status == 404
    assert ask(forge, "GET", "/repos/acme/secret", token="forge-pat").status == 200


def test_editing_anothers_comment_takes_write_access(forge: Forge) -> None:
    """Members may change and delete what others wrote; a stranger only his own."""
    pats, lees = (forge.comment("acme/widgets", 12, who, "x").id for who in ("pat", "lee"))
    assert ask(forge, "PATCH", f"{BY_ID}/{pats}", {"body": "y"}, token="forge-lee").status == 403
    assert ask(forge, "DELETE", f"{BY_ID}/{pats}", token="forge-lee").status == 403
    assert ask(forge, "PATCH", f"{BY_ID}/{lees}", {"body": "y"}, token="forge-lee").status == 200
    assert ask(forge, "PATCH", f"{BY_ID}/{lees}", {"body": "z"}, token="forge-mia").status == 200
    assert ask(forge, "DELETE", f"{BY_ID}/{pats}", token="forge-bot").status == 204


def test_locked_thread(forge: Forge) -> None:
    """A locked thread takes no comment from anyone, unless the switch spares those with access."""
    forge.lock("acme/widgets", 12, reason="spam")
    answer = ask(forge, "POST", THREAD, {"body": "x"})
    assert message(answer) == "Unable to create comment because issue is locked."
    assert "locking-conversations" in data(answer)["documentation_url"]
    it = data(ask(forge, "GET", "/repos/acme/widgets/issues/12"))
    assert (it["locked"], it["active_lock_reason"]) == (True, "spam")
    forge.switches.lock_binds_writers = False
    posts = {who: ask(forge, "POST", THREAD, {"body": "x"}, token=who).status
             for who in ("forge-lee", "forge-mia")}  # fmt: skip
    assert posts == {"forge-lee": 403, "forge-mia": 201}


def test_lock_and_unlock_over_the_api(forge: Forge) -> None:
    """PUT and DELETE of the lock take write access and answer 204."""
    at = "/repos/acme/widgets/issues/12/lock"
    assert ask(forge, "PUT", at, token="forge-lee").status == 403
    assert ask(forge, "PUT", at, {"lock_reason": "too heated"}, token="forge-mia").status == 204
    assert forge.issue("acme/widgets", 12).lock_reason == "too heated"
    assert ask(forge, "DELETE", at, token="forge-mia").status == 204
    assert not forge.issue("acme/widgets", 12).locked


def test_archived_repository_is_read_only(forge: Forge) -> None:
    """Every write into an archive is 403 with its reason; reads go on."""
    it = forge.comment("acme/widgets", 12, "helper-bot[bot]", "x").id
    forge.archive("acme/widgets")
    for method, target in (
        ("POST", THREAD),
        ("PATCH", f"{BY_ID}/{it}"),
        ("DELETE", f"{BY_ID}/{it}"),
    ):
        answer = ask(forge, method, target, {"body": "y"})
        assert (answer.status, message(answer)) == (403, "Repository was archived so is read-only.")
    assert data(ask(forge, "GET", "/repos/acme/widgets"))["archived"] is True
    forge.archive("acme/widgets", on=False)
    assert ask(forge, "PATCH", f"{BY_ID}/{it}", {"body": "y"}).status == 200


def test_full_thread(forge: Forge) -> None:
    """The 2,500th comment is taken, the next is not; edits go on."""
    ids = forge.fill("acme/widgets", 12, 2_499, author="helper-bot[bot]")
    assert ask(forge, "POST", THREAD, {"body": "x"}).status == 201
    answer = ask(forge, "POST", THREAD, {"body": "x"})
    assert answer.status == 403
    assert message(answer) == "Commenting is disabled on issues with more than 2500 comments"
    assert ask(forge, "PATCH", f"{BY_ID}/{ids[0]}", {"body": "y"}).status == 200


def test_deleted_issue_is_410(forge: Forge) -> None:
    """A deleted issue is 410 for issue, list and POST; its comments are 404."""
    it = forge.comment("acme/widgets", 12, "pat", "x").id
    forge.delete_issue("acme/widgets", 12)
    for method, target in (
        ("GET", "/repos/acme/widgets/issues/12"),
        ("GET", THREAD),
        ("POST", THREAD),
    ):
        assert ask(forge, method, target, {"body": "x"}).status == 410
    assert ask(forge, "GET", f"{BY_ID}/{it}").status == 404
    assert data(ask(forge, "GET", BY_ID)) == []


@pytest.mark.parametrize(
    "target",
    [
        "/nothing", "/repos/acme/none", "/repos/acme/widgets/", f"{THREAD}/",
        "/repos/acme/widgets/issues/99", "/repos/acme/widgets/issues/99/comments", f"{BY_ID}/1",
        "/repositories/5", "/repos/acme/widgets/issues/x",
    ],
)  # fmt: skip
def test_what_is_not_there_is_404(forge: Forge, target: str) -> None:
    """Unknown addresses, and known ones with a slash at the end, are 404 with GitHub's document."""
    answer = ask(forge, "GET", target)
    assert answer.status == 404
    assert data(answer)["message"] == "Not Found"
    assert data(answer)["status"] == "404"


def test_comment_of_another_repository_is_404(forge: Forge) -> None:
    """A comment's id counts only together with its own repository."""
    forge.add_repo("acme/other", 78)
    it = forge.comment("acme/widgets", 12, "pat", "x").id
    assert ask(forge, "GET", f"/repos/acme/other/issues/comments/{it}").status == 404


def test_renamed_repository_redirects(forge: Forge) -> None:
    """The old name answers 301 to reads and 307 to writes, with the address by id and the query."""
    forge.rename("acme/widgets", "acme/gadgets")
    read = ask(forge, "GET", f"{THREAD}?per_page=100&page=2")
    write = ask(forge, "POST", THREAD, {"body": "x"})
    at = f"http://{HOST}/repositories/1296269/issues/12/comments"
    assert (read.status, read.headers["Location"]) == (301, f"{at}?per_page=100&page=2")
    assert (write.status, write.headers["Location"]) == (307, at)
    assert data(write)["message"] == "Moved Permanently"
    assert data(write)["url"] == at
    assert forge.comments("acme/gadgets", 12) == []
    made = data(ask(forge, "POST", at, {"body": "x"}))
    assert "/acme/gadgets/issues/12#" in made["html_url"]


def test_a_former_name_can_be_taken(forge: Forge) -> None:
    """A new repository under a former name ends the redirect."""
    forge.rename("acme/widgets", "acme/gadgets")
    forge.add_repo("acme/widgets", 79)
    assert data(ask(forge, "GET", "/repos/acme/widgets"))["id"] == 79
    assert data(ask(forge, "GET", "/repos/acme/gadgets"))["id"] == 1296269


def test_transferred_issue_redirects(forge: Forge) -> None:
    """An issue that moved leads to its new repository and number, comments and all."""
    forge.add_repo("acme/other", 78)
    forge.add_issue("acme/other", 4)
    forge.comment("acme/widgets", 12, "pat", "x")
    assert forge.transfer("acme/widgets", 12, "acme/other") == 5
    at = f"http://{HOST}/repositories/78/issues/5/comments"
    read, write = ask(forge, "GET", THREAD), ask(forge, "POST", THREAD, {"body": "y"})
    assert [(a.status, a.headers["Location"]) for a in (read, write)] == [(301, at), (307, at)]
    assert data(ask(forge, "GET", at))[0]["html_url"].startswith(
        f"http://{HOST}/acme/other/issues/5#"
    )


def test_issue_can_be_opened(forge: Forge) -> None:
    """POST of an issue gives it the next number; it can be commented on at once."""
    answer = ask(forge, "POST", "/repos/acme/widgets/issues", {"title": "New", "body": "b"})
    it = data(answer)
    assert (answer.status, it["number"], it["comments"], it["body"]) == (201, 31, 0, "b")
    assert answer.headers["Location"] == it["url"]
    ask(forge, "POST", "/repos/acme/widgets/issues/31/comments", {"body": "x"})
    assert data(ask(forge, "GET", "/repos/acme/widgets/issues/31"))["comments"] == 1
    assert ask(forge, "POST", "/repos/acme/widgets/issues", {"title": " "}).status == 422
    assert ask(forge, "POST", "/repos/acme/widgets/issues", {"body": "b"}).status == 422


def test_client_must_say_what_it_is(forge: Forge) -> None:
    """No User-Agent is 403, an unknown API version 400, the known one is fine."""
    assert ask(forge, "GET", THREAD, headers={"User-Agent": None}).status == 403
    name = "X-GitHub-Api-Version"
    assert ask(forge, "GET", THREAD, headers={name: "1999-01-01"}).status == 400
    assert ask(forge, "GET", THREAD, headers={name: "2022-11-28"}).status == 200


def test_primary_limit_and_its_reset() -> None:
    """Used up is 403 with nothing left and the reset's time; after it requests pass again."""
    with clock.use(FakeClock()) as fake:
        forge = Forge.open(clock=clock.now)
        forge.limits.per_hour = 2
        assert [ask(forge, "GET", THREAD).status for _ in range(2)] == [200, 200]
        answer = ask(forge, "GET", THREAD)
        assert (answer.status, answer.headers["x-ratelimit-remaining"]) == (403, "0")
        assert message(answer) == "API rate limit exceeded for installation ID 900."
        assert "Retry-After" not in answer.headers
        left = data(ask(forge, "GET", "/rate_limit"))["resources"]["core"]
        assert (left["remaining"], left["used"]) == (0, 2)
        assert ask(forge, "GET", THREAD, token="forge-pat").status == 200
        fake.sleep(int(answer.headers["x-ratelimit-reset"]) - fake.now())
        assert ask(forge, "GET", THREAD).status == 200
        forge.close()


def test_content_creation_limit_is_a_switch() -> None:
    """With a number set, one POST too many in a minute is the secondary limit: unwritten."""
    with clock.use(FakeClock()) as fake:
        forge = Forge.open(clock=clock.now)
        forge.limits.creations_per_minute = 2
        for _ in range(2):
            ask(forge, "POST", THREAD, {"body": "x"})
            fake.sleep(10)
        answer = ask(forge, "POST", THREAD, {"body": "x"})
        assert (answer.status, answer.headers["Retry-After"]) == (403, "40")
        assert "secondary rate limit" in message(answer)
        fake.sleep(40)
        assert ask(forge, "POST", THREAD, {"body": "x"}).status == 201
        assert len(forge.comments("acme/widgets", 12)) == 3
        forge.close()


def test_log_and_counts(forge: Forge) -> None:
    """Each request is logged with method, path, query, status, owner and the hash of its body."""
    ask(forge, "GET", f"{THREAD}?page=2")
    ask(forge, "POST", THREAD, raw=b'{"body":"x"}', token="forge-fork")
    ask(forge, "POST", "/graphql", {"query": "{viewer{login}}"})
    read, write, query = forge.log
    assert (read.method, read.path, read.query, read.status) == ("GET", THREAD, "page=2", 200)
    assert (write.owner, write.status) == ("helper-bot[bot]", 403)
    assert write.sha256 == hashlib.sha256(b'{"body":"x"}').hexdigest()
    assert forge.counts == {"GET": 1, "POST": 2}
    assert forge.writes == [write]
    assert query.path == "/graphql"
    forge.forget()
    assert (list(forge.log), forge.counts) == ([], {})


def test_plant_and_fill(forge: Forge) -> None:
    """A planted marker is on line 1 of a stranger's comment; filling gives ids in order."""
    ids = forge.fill("acme/widgets", 12, 3, author="mia", body=lambda n: f"text {n}")
    it = forge.plant("acme/widgets", 12, "<!-- plan-issue-12 -->")
    assert it.body.split("\n")[0] == "<!-- plan-issue-12 -->"
    assert (it.author and it.author.login, it.association) == ("lee", "NONE")
    there = forge.comments("acme/widgets", 12)
    assert [c.id for c in there] == [*ids, it.id]
    assert [c.body for c in there[:3]] == ["text 0", "text 1", "text 2"]


def test_comment_with_an_id_of_ones_own(forge: Forge) -> None:
    """A test may choose id, time and a deleted author; the next id is still above all."""
    it = forge.comment("acme/widgets", 12, None, "x", comment_id=1001, at=1_700_000_000)
    assert (it.id, it.author, it.created_at) == (1001, None, 1_700_000_000)
    assert forge.comment("acme/widgets", 12, "pat", "y").id > 2**32


def test_world_on_file_outlives_the_process(tmp_path: Path) -> None:
    """A forge on a file is seeded once and has everything again when it is opened again."""
    path = tmp_path / "forge.db"
    first = Forge.open(path)
    made = first.comment("acme/widgets", 12, "pat", "kept")
    first.close()
    again = Forge.open(path)
    assert again.comments("acme/widgets", 12) == [made]
    assert again.edit(made.id, "new").version > made.version
    again.close()


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    """A file of another kind is refused and left as it is."""
    path = tmp_path / "notes.txt"
    path.write_text("not a database " * 100)
    before = path.read_bytes()
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        Forge.open(path)
    assert path.read_bytes() == before


def test_unknown_names_are_named(forge: Forge) -> None:
    """What a test misspells is told, not made up."""
    for wrong in (
        lambda: forge.comment("acme/none", 1, "pat", "x"),
        lambda: forge.comment("acme/widgets", 99, "pat", "x"),
        lambda: forge.comment("acme/widgets", 12, "nobody", "x"),
        lambda: forge.find(5),
    ):
        with pytest.raises(KeyError, match="the forge has no"):
            wrong()


def test_cap_holds_under_threads(forge: Forge) -> None:
    """Rule and effect belong together: eight writers at once do not overfill a thread."""
    forge.switches.thread_size = 5
    answers: list[int] = []

    def post() -> None:
        answers.append(ask(forge, "POST", THREAD, {"body": "x"}).status)

    threads = [threading.Thread(target=post) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [201] * 5 + [403] * 3
    assert len(forge.comments("acme/widgets", 12)) == 5

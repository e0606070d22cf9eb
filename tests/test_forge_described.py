"""The forge's every answer is one that GitHub's own description of its API allows.

``github-openapi.json`` is cut from that description (``scripts/openapi.py`` says how and from
where).  Each route meets each trouble that can befall it; a route without a line here fails.

A status that the description leaves out for an operation (it leaves out many) is held to the shape
of GitHub's errors; a success that it leaves out is a failure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from forge_client import ask
from jsonschema_rs import Draft4Validator, ValidationError

from markers.forge import faults, seed
from markers.forge.app import ROUTES, Forge
from markers.forge.values import Answer

DESCRIPTION = json.loads(
    Path(__file__).with_name("github-openapi.json").read_text(encoding="utf-8")
)
HERE, NUMBER = seed.REPO, seed.ISSUE
REPO = f"/repos/{HERE}"
SUCCESS = frozenset({200, 201, 204})
UNDESCRIBED = {"validation-error": {"status"}}
"""What GitHub sends beyond its description: all its newer error documents repeat the status."""


@dataclass(frozen=True)
class Asked:
    """A request that succeeds, and where the description has its operation."""

    method: str
    target: str
    operation: str
    status: int = 200
    body: Any = None

    @property
    def writes(self) -> bool:
        """Whether it changes something."""
        return self.method != "GET"


def _of(method: str, path: str, status: int = 200, body: Any = None) -> Asked:
    """An operation on the seeded repository; numbers stand in for the names in braces."""
    target = path.replace("{issue_number}", "12").replace("{comment_id}", "5000000001")
    return Asked(method, REPO + target, "/repos/{owner}/{repo}" + path, status, body)


BODY = {"body": "Text."}
REQUESTS = {
    "user": Asked("GET", "/user", "/user"),
    "rate_limit": Asked("GET", "/rate_limit", "/rate_limit"),
    "repository": _of("GET", ""),
    "create_issue": _of("POST", "/issues", 201, {"title": "A title", **BODY}),
    "issue": _of("GET", "/issues/{issue_number}"),
    "lock": _of("PUT", "/issues/{issue_number}/lock", 204),
    "unlock": _of("DELETE", "/issues/{issue_number}/lock", 204),
    "list_comments": _of("GET", "/issues/{issue_number}/comments"),
    "create_comment": _of("POST", "/issues/{issue_number}/comments", 201, BODY),
    "list_repository_comments": _of("GET", "/issues/comments"),
    "comment": _of("GET", "/issues/comments/{comment_id}"),
    "edit_comment": _of("PATCH", "/issues/comments/{comment_id}", 200, BODY),
    "delete_comment": _of("DELETE", "/issues/comments/{comment_id}", 204),
}
NOT_DESCRIBED = {"graphql"}
"""The description is of the REST API."""
EVERY = tuple(REQUESTS)
IN_REPO = tuple(name for name in EVERY if REQUESTS[name].target.startswith(REPO))
READS = tuple(name for name in EVERY if not REQUESTS[name].writes)
WRITES = tuple(name for name in EVERY if REQUESTS[name].writes)
ON_ISSUE = tuple(name for name in EVERY if "{issue_number}" in REQUESTS[name].operation)
ON_COMMENT = tuple(name for name in EVERY if "{comment_id}" in REQUESTS[name].operation)
WITH_BODY = ("create_issue", "create_comment", "edit_comment")
LISTS = ("list_comments", "list_repository_comments")
WITH_TEXT = ("create_comment", "edit_comment")
FOREIGN = ("lock", "unlock", "edit_comment", "delete_comment")


def struck(effect: faults.Effect) -> Callable[[Forge], object]:
    """A world in which every request meets *effect*."""
    return lambda forge: forge.faults.add("*", "", effect, times=None)


def moved_away(forge: Forge) -> None:
    """Issue 12 is now another repository's."""
    forge.add_repo("acme/gadgets", 77)
    forge.transfer(HERE, NUMBER, "acme/gadgets")


@dataclass(frozen=True)
class Trouble:
    """What befalls which requests, and the status that they are answered with."""

    status: int
    requests: tuple[str, ...]
    before: Callable[[Forge], object] = Forge.forget
    write_status: int = 0
    token: str | None = seed.PAT_TOKEN
    headers: Mapping[str, str | None] = field(default_factory=dict)
    raw: bytes | None = None
    target: tuple[str, str] = ("", "")


TROUBLE = {
    "bad token": Trouble(401, EVERY, token="nobodys"),
    "no user agent": Trouble(403, EVERY, headers={"User-Agent": None}),
    "unknown version": Trouble(400, EVERY, headers={"X-GitHub-Api-Version": "1999-01-01"}),
    "hour used up": Trouble(403, EVERY, struck(faults.primary())),
    "too fast": Trouble(403, EVERY, struck(faults.secondary(7))),
    "too fast, newer": Trouble(429, EVERY, struck(faults.secondary(code=429))),
    "outage": Trouble(502, EVERY, struck(faults.status(502))),
    "no such repository": Trouble(404, IN_REPO, target=("widgets", "nothing")),
    "renamed": Trouble(301, IN_REPO, lambda it: it.rename(HERE, "acme/gadgets"), 307),
    "no such issue": Trouble(404, ON_ISSUE, target=("issues/12", "issues/99")),
    "issue deleted": Trouble(410, ON_ISSUE, lambda it: it.delete_issue(HERE, NUMBER)),
    "issue moved": Trouble(301, ON_ISSUE, moved_away, 307),
    "no such comment": Trouble(404, ON_COMMENT, target=("5000000001", "7")),
    "anonymous": Trouble(401, ("user", *WRITES), token=None),
    "app asks who it is": Trouble(403, ("user",), token=seed.BOT_TOKEN),
    "fork's token": Trouble(403, WRITES, token=seed.FORK_TOKEN),
    "stranger": Trouble(403, FOREIGN, token=seed.LEE_TOKEN),
    "archived": Trouble(403, WRITES, lambda it: it.archive(HERE)),
    "locked": Trouble(403, ("create_comment",), lambda it: it.lock(HERE, NUMBER)),
    "full": Trouble(403, ("create_comment",), lambda it: setattr(it.switches, "thread_size", 1)),
    "no JSON": Trouble(400, WITH_BODY, raw=b"{"),
    "a list": Trouble(400, WITH_BODY, raw=b"[]"),
    "half a character": Trouble(400, WITH_BODY, raw=b'{"title": "\\ud800", "body": "\\ud800"}'),
    "nothing in it": Trouble(422, WITH_BODY, raw=b"{}"),
    "a number": Trouble(422, WITH_BODY, raw=b'{"title": 1, "body": 1}'),
    "blank": Trouble(422, WITH_BODY, raw=b'{"title": " ", "body": " "}'),
    "no time": Trouble(422, LISTS, target=("/comments", "/comments?since=yesterday")),
    "too long": Trouble(422, WITH_TEXT, lambda it: setattr(it.switches, "body_bytes", 3)),
}


def peopled(forge: Forge) -> None:
    """Comments of every kind: by people, apps and nobody, hidden, edited, on a pull request."""
    for author in ("pat", "mia", "lee", seed.BOT):
        forge.comment(HERE, NUMBER, author, f"By {author}: 🌈 \r\n.")
    forge.ghost("mia")
    forge.minimize(forge.comment(HERE, NUMBER, "pat", "Old news.").id)
    forge.edit(forge.comment(HERE, NUMBER, "lee", "Tpyo.").id, "Typo.")
    forge.comment(HERE, seed.PULL, "pat", "On a pull request.")


@pytest.fixture
def world(forge: Forge) -> Forge:
    """A forge in which comment 5000000001 is pat's."""
    peopled(forge)
    return forge


def sent(forge: Forge, name: str, trouble: Trouble | None = None, **more: Any) -> Answer:
    """One request of the table, as pat; *trouble* changes it."""
    asked = REQUESTS[name]
    target, raw, headers, token = asked.target, None, more.pop("headers", {}), seed.PAT_TOKEN
    if trouble:
        target = target.replace(*trouble.target)
        raw, headers, token = trouble.raw, dict(trouble.headers), trouble.token
    return ask(
        forge, asked.method, target + more.pop("query", ""), asked.body,
        token=token, raw=raw, headers=headers,
    )  # fmt: skip


def in_draft_4(value: Any) -> Any:
    """A schema of OpenAPI 3.0 in JSON Schema's own words: what may be null, says so."""
    if isinstance(value, list):
        return [in_draft_4(each) for each in value]
    if not isinstance(value, dict):
        return value
    plain = {name: in_draft_4(each) for name, each in value.items() if name != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if value.get("nullable") is True else plain


def closed(value: Any) -> Any:
    """A schema that allows no property beside those that it names."""
    if isinstance(value, list):
        return [closed(each) for each in value]
    if not isinstance(value, dict):
        return value
    inner = {name: closed(each) for name, each in value.items()}
    if isinstance(value.get("properties"), dict) and "additionalProperties" not in value:
        inner["additionalProperties"] = False
    return inner


@cache
def validator(schema: str) -> Draft4Validator:
    """Checks formats as well; *schema* is JSON."""
    components = closed(in_draft_4(DESCRIPTION["components"]))
    for name, beyond in UNDESCRIBED.items():
        components["schemas"][name]["properties"] |= {each: {} for each in beyond}
    whole = {"allOf": [closed(in_draft_4(json.loads(schema)))], "components": components}
    return Draft4Validator(whole, validate_formats=True)


def described(name: str, status: int) -> dict[str, Any] | None:
    """What the description says of that answer."""
    asked = REQUESTS[name]
    responses = DESCRIPTION["paths"][asked.operation][asked.method.lower()]
    found = responses.get(str(status))
    if found and "$ref" in found:
        kind, _, key = found["$ref"].removeprefix("#/components/").partition("/")
        found = DESCRIPTION["components"][kind][key]
    return found


def errors(status: int) -> dict[str, Any]:
    """GitHub's error documents, for what the description leaves out."""
    name = "validation-error" if status == 422 else "basic-error"
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def conforms(name: str, answer: Answer) -> None:
    """Hold an answer against the description."""
    told = described(name, answer.status)
    assert told is not None or answer.status not in SUCCESS
    content = errors(answer.status) if told is None else told.get("content", {})
    if not content:
        assert (answer.body, answer.headers.get("Content-Type")) == (b"", None)
        return
    kind = answer.headers["Content-Type"].partition(";")[0]
    validator(json.dumps(content[kind]["schema"])).validate(json.loads(answer.body))
    for header in set((told or {}).get("headers", {})) - {"Link"}:
        assert header.lower() in {each.lower() for each in answer.headers}


def test_the_description_is_strict() -> None:
    """A document that lacks something, has too much or has a wrong type does not conform."""
    forge = Forge.open()
    made = forge.comment(HERE, NUMBER, "pat", "Text.")
    answer = ask(forge, "GET", f"{REPO}/issues/comments/{made.id}")
    good = json.loads(answer.body)
    without = {name: value for name, value in good.items() if name != "node_id"}
    wrong = ({"id": "5"}, {"created_at": "yesterday"}, {"user": 1}, {"colour": "red"})
    for bad in (without, *({**good, **change} for change in wrong)):
        with pytest.raises(ValidationError):
            conforms("comment", replace(answer, body=json.dumps(bad).encode()))
    conforms("comment", answer)
    forge.close()


def test_every_route_is_described() -> None:
    """A new route must get its line in the table above, and the operation's in the description."""
    assert {route.handler.__name__ for route in ROUTES} == set(REQUESTS) | NOT_DESCRIBED
    for name, asked in REQUESTS.items():
        assert described(name, asked.status) is not None


@pytest.mark.parametrize("name", EVERY)
def test_success(world: Forge, name: str) -> None:
    """Each request of the table succeeds, as the description says."""
    answer = sent(world, name)
    assert answer.status == REQUESTS[name].status
    conforms(name, answer)


@pytest.mark.parametrize("name", READS)
def test_not_modified(world: Forge, name: str) -> None:
    """304 where the tag still holds; the rate limit moves with each request but its own."""
    tag = sent(world, name).headers["ETag"]
    answer = sent(world, name, headers={"If-None-Match": tag})
    assert answer.status == 304
    assert answer.body == b""


CASES = [(trouble, name) for trouble, it in TROUBLE.items() for name in it.requests]


@pytest.mark.parametrize(("trouble", "name"), CASES, ids=[f"{t}-{n}" for t, n in CASES])
def test_trouble(world: Forge, trouble: str, name: str) -> None:
    """Each trouble is answered with its status and with a document of GitHub's shape."""
    it = TROUBLE[trouble]
    it.before(world)
    answer = sent(world, name, it)
    writing = REQUESTS[name].writes
    assert answer.status == (it.write_status if writing and it.write_status else it.status)
    conforms(name, answer)


@pytest.mark.parametrize(
    "query",
    [
        "?per_page=2&page=2",
        "?since=2020-01-01T00:00:00Z",
        "?per_page=0",
        "?page=99",
        "?sort=updated",
    ],
)
@pytest.mark.parametrize("name", LISTS)
def test_lists(world: Forge, name: str, query: str) -> None:
    """Every page of every listing is as described."""
    answer = sent(world, name, query=query)
    assert answer.status == 200
    conforms(name, answer)


@pytest.mark.parametrize("number", [seed.ISSUE, seed.PULL])
def test_issues_of_both_kinds(world: Forge, number: int) -> None:
    """A locked issue and a locked pull request, with a reason and without an author."""
    world.lock(HERE, number, reason="resolved")
    world.ghost("pat")
    conforms("issue", ask(world, "GET", f"{REPO}/issues/{number}"))


@pytest.mark.parametrize("author", ["pat", "lee", seed.BOT, None])
def test_comments_of_all(world: Forge, author: str | None) -> None:
    """A person's, a stranger's, an app's, a deleted account's; seen as a company's server, too."""
    made = world.comment(HERE, NUMBER, author, "Text.")
    for prefix in ("", "/api/v3"):
        conforms("comment", ask(world, "GET", f"{prefix}{REPO}/issues/comments/{made.id}"))


def test_private_repository_of_an_organisation(world: Forge) -> None:
    """Visibility and owner vary; so does what the token may do."""
    world.add_repo("acme/hidden", 78, private=True)
    conforms("repository", ask(world, "GET", "/repos/acme/hidden"))


def test_statuses_that_the_forge_names_are_met() -> None:
    """Every status in the forge's own code is among those that are checked above."""
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (Path(__file__).parents[1] / "markers" / "forge").glob("*.py")
        if path.name not in ("faults.py", "server.py")
    )
    named = {int(it) for it in re.findall(r"(?:error\(|status=|, |else )([2-5]\d\d)\b", code)}
    met = {it.status for it in TROUBLE.values()} | {it.write_status for it in TROUBLE.values()}
    met |= {it.status for it in REQUESTS.values()} | {304}
    assert {201, 204, 301, 304, 307, 401, 403, 404, 410, 422} <= named
    assert named <= met

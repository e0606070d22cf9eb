"""POST /graphql: who the viewer is, and hiding a comment; nothing else.

What is refused is told as GitHub does: status 200, ``errors``, and null where an answer would be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from . import render, rules
from .answers import NO_RIGHT, Halt, as_json, error
from .rules import Scene
from .values import Answer, Comment, Kind, Token

_VIEWER = re.compile(r"\bviewer\s*\{([^{}]*)\}")
_MINIMISE = re.compile(
    r"\bmutation\b[^{}]*\{\s*minimizeComment\s*\(\s*input\s*:\s*(\$\w+|\{[^{}]*\})\s*\)"
    r"\s*\{\s*minimizedComment\s*\{([^{}]*)\}\s*\}\s*\}"
)
_ARGUMENT = re.compile(r'(\w+)\s*:\s*(?:"([^"]*)"|\$(\w+)|(\w+))')
_CLASSIFIERS = ("ABUSE", "DUPLICATE", "OFF_TOPIC", "OUTDATED", "RESOLVED", "SPAM")
_NO_ACCESS = "{login} does not have the correct permissions to execute `MinimizeComment`"


def graphql(scene: Scene) -> Answer:
    """Answer the two questions that the forge knows."""
    if scene.token is None:
        raise Halt(error(401, "This endpoint requires you to be authenticated."))
    query = rules.field(scene.call, "query")
    found = _MINIMISE.search(query)
    if found is None:
        return _viewer(scene.token, query)
    return _minimised(scene, scene.token, _arguments(scene, found[1]), _names(found[2]))


def mutates(body: bytes) -> bool:
    """Whether a query is one that could change something."""
    return b"mutation" in body


def _viewer(token: Token, query: str) -> Answer:
    asked_for = _VIEWER.search(query)
    known = {
        "login": token.user.login.removesuffix("[bot]"),
        "databaseId": token.user.id,
        "id": render.node_id("BOT" if token.user.app else "U", token.user.id),
        "__typename": "User",
    }
    names = _names(asked_for[1]) if asked_for else []
    if not names or not set(names) <= set(known):
        return _unknown("viewer { login databaseId id __typename }")
    return as_json({"data": {"viewer": {name: known[name] for name in names}}})


def _minimised(scene: Scene, token: Token, given: Mapping[str, Any], names: list[str]) -> Answer:
    reason, node = given.get("classifier"), given.get("subjectId")
    if reason not in _CLASSIFIERS or not isinstance(node, str):
        return _unknown("minimizeComment with a subjectId and a classifier")
    found = _subject(scene, node)
    if found is None:
        return _no("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'")
    if not _may_hide(scene, found):
        words = NO_RIGHT[token.kind] if token.kind is Kind.INSTALLATION else _NO_ACCESS
        return _no("FORBIDDEN", words.format(login=token.user.login))
    hidden = str(reason).lower().replace("_", "-")
    scene.world.store.comments.minimize(found.id, hidden, at=scene.call.at)
    known = {"isMinimized": True, "minimizedReason": hidden, "__typename": "IssueComment"}
    if not names or not set(names) <= set(known):
        return _unknown("minimizedComment { isMinimized minimizedReason __typename }")
    answer = {"minimizedComment": {name: known[name] for name in names}}
    return as_json({"data": {"minimizeComment": answer}})


def _subject(scene: Scene, node: str) -> Comment | None:
    number = render.number_of("IC", node)
    return None if number is None else scene.world.store.comments.get(number)


def _may_hide(scene: Scene, comment: Comment) -> bool:
    """Whoever may write to the repository may hide its comments, and nobody else."""
    repo = scene.world.store.repo(comment.repo_id)
    return (
        repo is not None and not repo.archived and rules.has_write_access(replace(scene, repo=repo))
    )


def _arguments(scene: Scene, text: str) -> Mapping[str, Any]:
    """The input as a whole variable, or spelled out with values and variables in it."""
    variables = rules.document(scene.call).get("variables") or {}
    if text.startswith("$"):
        given = variables.get(text[1:])
        return given if isinstance(given, dict) else {}
    return {
        name: variables.get(variable) if variable else quoted or bare
        for name, quoted, variable, bare in _ARGUMENT.findall(text)
    }


def _names(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _unknown(what: str) -> Answer:
    message = f"The forge answers {what} only"
    return as_json({"errors": [{"type": "undefinedField", "message": message}]})


def _no(kind: str, message: str) -> Answer:
    told = {"type": kind, "path": ["minimizeComment"], "message": message}
    return as_json({"data": {"minimizeComment": None}, "errors": [told]})

"""Cut GitHub's own description of its API down to what the forge answers.

    python scripts/openapi.py .../generated/api.github.com.json > tests/github-openapi.json

The whole file is part of npm's ``@octokit/openapi`` 23.0.2 (MIT); its licence goes along.
Kept are the operations below and what they refer to, without words and examples; nothing else is
changed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = "npm @octokit/openapi 23.0.2, generated/api.github.com.json"
REPO = "/repos/{owner}/{repo}"
OPERATIONS = {
    "/user": ("get",),
    "/rate_limit": ("get",),
    REPO: ("get",),
    f"{REPO}/issues": ("post",),
    f"{REPO}/issues/{{issue_number}}": ("get",),
    f"{REPO}/issues/{{issue_number}}/lock": ("put", "delete"),
    f"{REPO}/issues/{{issue_number}}/comments": ("get", "post"),
    f"{REPO}/issues/comments": ("get",),
    f"{REPO}/issues/comments/{{comment_id}}": ("get", "patch", "delete"),
}
WORDS = {"description", "example", "examples", "externalDocs", "summary", "tags", "title"}


def main() -> int:
    """Print the cut-down description of the file that is named."""
    path = Path(sys.argv[1])
    raw = path.read_bytes()
    notice = " ".join((path.parents[1] / "LICENSE").read_text(encoding="utf-8").split())
    told = {"x-cut-from": SOURCE, "x-sha256": hashlib.sha256(raw).hexdigest(), "x-notice": notice}
    json.dump(cut(json.loads(raw), told), sys.stdout, indent=1)
    print()  # noqa: T201 - the file ends with a line end
    return 0


def cut(whole: dict[str, Any], told: dict[str, str]) -> dict[str, Any]:
    """The description with the operations above and all that they reach."""
    paths = {
        path: {method: _plain(whole["paths"][path][method]["responses"]) for method in methods}
        for path, methods in OPERATIONS.items()
    }
    kept: dict[str, dict[str, Any]] = {}
    waiting = list(_references(paths))
    while waiting:
        _, _, kind, name = waiting.pop().split("/")
        if name not in kept.setdefault(kind, {}):
            kept[kind][name] = _plain(whole["components"][kind][name])
            waiting += _references(kept[kind][name])
    return {
        "openapi": whole["openapi"],
        "info": {"license": whole["info"]["license"], **told},
        "paths": paths,
        "components": {kind: dict(sorted(kept[kind].items())) for kind in sorted(kept)},
    }


def _plain(value: Any, names: bool = False) -> Any:
    """Without words; *names* where the keys are names of properties, which may be such words."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _plain(each, names=key == "properties" and not names)
        for key, each in value.items()
        if names or not (key in WORDS or key.startswith("x-"))
    }


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)


if __name__ == "__main__":
    sys.exit(main())

"""The keys of the documents of ``state``, beside those that all its verbs have.

Lists that a success may leave empty are empty here too; all else is null until it is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DONE = "name launch_id wrote"
_PLACED = "lock root exists tracked"
_READ = "condition why"
_ENTRY = "section entry"
_WORDS: Mapping[str, str] = {
    "session-md show": "text",
    "session-md constraint": _ENTRY,
    "session-md decision": _ENTRY,
    "session-md infra": _ENTRY,
    "session-md thread": _ENTRY,
    "session-md drop": "dropped",
    "session-md digest": "digest",
    "session-md where": _PLACED,
    "session-yaml update": "kept state",
    "session-yaml show": f"{_READ} state",
    "session-yaml boot": f"{_READ} restore",
    "session-yaml where": _PLACED,
    "trusted-memory register": "kept session_id session_name wrote_state wrote_sentinel",
    "trusted-memory needs-bootstrap": "needs_bootstrap current stored reason",
    "trusted-memory show": f"{_READ} state session_name session_id source",
    "trusted-memory pending set": "pending",
    "trusted-memory pending clear": "cleared",
    "trusted-memory seen": "seen",
    "trusted-memory mute": "thread muted",
    "trusted-memory unmute": "thread muted",
    "trusted-memory heartbeat": "last_seen",
    "trusted-memory address get": "key values",
    "trusted-memory address migrate": "migrated from to",
    "trusted-memory where": f"{_PLACED} sentinel profile messages_db",
    "agent-box show": "condition sessions",
    "agent-box launch-id": "name launch_id source launched has_run rotated_from",
    "agent-box record-launch": _DONE,
    "agent-box rotate": _DONE,
    "agent-box sweep": "deleted left",
    "agent-box add": _DONE,
    "agent-box rm": _DONE,
    "agent-box stop": _DONE,
    "agent-box restart": _DONE,
    "agent-box where": f"{_PLACED} side_dir live_dir transcripts",
    "memory show": "files",
    "memory path": "kind row survival exists",
    "memory where": "exists",
    "memory get": "kind row text",
    "memory put": "kind row kept_aside",
    "memory review-state show": "condition state",
    "memory review-state set": "state",
    "memory release-hygiene show": "condition strategy state",
    "memory release-hygiene set": "strategy state",
    "memory startup-check show": "run why",
    "memory install-prompt show": "run why",
    "memory run-once check": "run why",
    "memory gate-events append": "source",
    "memory gate-events show": "source events unread",
    "memory rate-limit set": "deferral",
    "memory rate-limit show": "condition deferral text",
    "memory rate-limit clear": "text",
}
_LISTS = frozenset({"kept_aside", "deleted", "left", "events", "unread", "files"})
RECONCILE: dict[str, Any] = {
    **dict.fromkeys(("decision", "row", "number", "source", "proof", "hint")),
    **dict.fromkeys(("local_sha256", "durable_sha256", "base_sha256", "comment_id")),
    "kept_aside": [],
}
_HANDED = ("publish", "restore")
_STORES = ("session-md", "session-yaml", "trusted-memory", "agent-box", "memory")
STATES: Mapping[str, dict[str, Any]] = {
    **{
        f"state {verb}": {word: [] if word in _LISTS else None for word in words.split()}
        for verb, words in _WORDS.items()
    },
    **{f"state {store} {verb}": {**RECONCILE} for store in _STORES for verb in _HANDED},
}

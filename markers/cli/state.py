"""``persist-marker state``: the local stores, each with the verbs of the program that owns it."""

from __future__ import annotations

from collections.abc import Mapping

from .common import documented
from .lazy import LazyGroup

STORES: Mapping[str, str] = {
    "session-md": "state_session_md",
    "session-yaml": "state_session_yaml",
    "trusted-memory": "state_trusted_memory",
    "agent-box": "state_agent_box",
    "memory": "state_memory",
}
"""From a store's name to the module that holds its verbs."""

command = LazyGroup(
    "state",
    modules=STORES,
    short_help="Read and write the local stores.",
    help="""Read and write the files in which agents keep their working state.

    Each store has the verbs of the program that owns it, and `where`, `publish` and `restore`.""",
    **documented(
        example="persist-marker state session-md where",
        exits="0 done; 1 failed; 2 usage; 3 refused; 7 unavailable; those of publish and restore",
    ),
)
